internal import PropertyLists

extension Verb {
    package static let lint = Verb(
        "lint", .new, "say whether files are property lists, and if not, what is wrong and where",
        details: ["A key that stands twice in one dictionary is wrong here, though reading takes its last value."],
        options: [.from], forms: [[.files]], statuses: [.notFound, .damaged, .systemFailed]
    ) { invocation, surroundings in
        let format = invocation[.from].flatMap { FormatName(word: $0)?.ofPropertyList }
        var worst = ExitStatus.done
        for name in invocation.words("FILE") {
            do {
                let options = PropertyList.ReadingOptions(refusesDuplicateKeys: true)
                _ = try surroundings.propertyList(name, from: format, options: options)
                try surroundings.say("\(name.onOneLine): good")
            } catch let damage as DamagedInput {
                try surroundings.say(damage.lines.joined())
                worst = .damaged
            } catch let failure as CommandFailure where failure.status == .notFound {
                // The other files are looked at all the same.
                try surroundings.note(failure.lines.joined())
                if worst == .done { worst = .notFound }
            }
        }
        return worst
    }
}
