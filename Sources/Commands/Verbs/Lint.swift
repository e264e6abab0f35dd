internal import Platform
internal import PropertyLists

extension Verb {
    package static let lint = Verb(
        "lint", .new, "check whether files are valid property lists, and locate errors",
        details: [
            "A duplicate key in a dictionary is an error here, though reading takes its last value.",
            "JSON with comments or trailing commas is an error, unless the name of the file allows them, as .jsonc and tsconfig.json do.",
            "A note names what other programs may refuse or read differently, such as a control character in XML.",
        ],
        options: [.from, Option("--strict", "treat notes as errors")], forms: [[.files]],
        statuses: [.notFound, .damaged, .systemFailed], scope: .nothing
    ) { invocation, context in
        var (names, listed) = ([String](), ExitStatus.done)
        for word in invocation.words("FILE") {
            let files = try context.files(matching: word, isWriting: false)
            names += files?.words ?? [word]
            if let status = files?.status, status != .done { listed = status }
        }
        let status = try context.worst(of: names) { name in
            do {
                let file = try InputFile(
                    name, invocation, context, refusesDuplicateKeys: true, inexactIntegers: .rounded, json: .strict)
                let notes = try file.notes()
                for note in notes {
                    let place = note.location.map { "\($0.line):\($0.column)" } ?? " byte \(note.offset)"
                    try context.say("\(file.name):\(place): note: \(note.message.onOneLine)")
                }
                if !notes.isEmpty, invocation.has(.strict) { return .damaged }
                try context.say("\(file.name): OK")
                return .done
            } catch let damage as InvalidInput {
                try context.say(damage.lines.joined(separator: "\n"))
                return .damaged
            }
        }
        return status == .done ? listed : status
    }
}
