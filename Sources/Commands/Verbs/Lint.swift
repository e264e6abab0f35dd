internal import Platform

extension Verb {
    package static let lint = Verb(
        "lint", .new, "say whether files are property lists, and if not, what is wrong and where",
        details: ["A key that stands twice in one dictionary is wrong here, though reading takes its last value."],
        options: [.from], forms: [[.files]], statuses: [.notFound, .damaged, .systemFailed]
    ) { invocation, surroundings in
        var worst = ExitStatus.done
        for name in invocation.words("FILE") {
            do {
                let file = try InputFile(name, invocation, surroundings, refusesDuplicateKeys: true)
                _ = try file.value()
                try surroundings.say("\(name.onOneLine): good")
            } catch let damage as DamagedInput {
                try surroundings.say(damage.lines.joined(separator: "\n"))
                worst = .damaged
            } catch let failure as CommandFailure where failure.status == .notFound {
                // The other files are looked at all the same.
                try surroundings.note(failure.lines.joined(separator: "\n"))
                if worst == .done { worst = .notFound }
            } catch let failure as SystemFailure where failure.path != nil {
                try surroundings.note(failure.description)
                if worst != .damaged { worst = .systemFailed }
            }
        }
        return worst
    }
}
