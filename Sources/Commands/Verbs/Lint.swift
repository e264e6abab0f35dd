internal import Platform

extension Verb {
    package static let lint = Verb(
        "lint", .new, "say whether files are property lists, and if not, what is wrong and where",
        details: ["A key that stands twice in one dictionary is wrong here, though reading takes its last value."],
        options: [.from], forms: [[.files]], statuses: [.notFound, .damaged, .systemFailed]
    ) { invocation, surroundings in
        try surroundings.worst(of: invocation.words("FILE")) { name in
            do {
                let file = try InputFile(name, invocation, surroundings, refusesDuplicateKeys: true)
                _ = try file.value()
                try surroundings.say("\(file.name): good")
                return .done
            } catch let damage as DamagedInput {
                try surroundings.say(damage.lines.joined(separator: "\n"))
                return .damaged
            }
        }
    }
}
