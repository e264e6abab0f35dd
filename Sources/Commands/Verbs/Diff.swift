internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let diff = Verb(
        "diff", .new, "compare two domains, files or layers",
        details: [
            "Each of A and B is a domain, DOMAIN@LAYER (user, user-host, site, forced, or effective for the values in force), a file by its path, or - for the standard input.",
            "The values in force are those of the domain's own layers; --global adds those of the global domain.",
            "With --format commands it prints the commands that turn A into B.",
        ],
        options: [.globalKeys, .format([.text, .json, .commands]), .fromLines],
        forms: [[Operand("A", .domainOrFile), Operand("B", .domainOrFile)]],
        statuses: [.notFound, .invalidValue, .damaged, .systemFailed, .different]
    ) { invocation, context in
        let access = try StoreAccess(invocation, context)
        let words = (invocation[operand: "A"] ?? "", invocation[operand: "B"] ?? "")
        guard words != ("-", "-") else {
            throw CommandFailure(.usage, "diff: the standard input can be read only once")
        }
        let old = try access.operand(words.0, invocation)
        let new = try access.operand(words.1, invocation)
        let differences = Differences(from: old.values, to: new.values)
        let masking = Masking(old.masking, new.masking)
        switch invocation.format {
        case .json:
            let (rendering, value) = (Rendering(invocation), differences.json(masking: masking))
            try context.print(rendering.bytes(of: value), of: value, rendering)
        case .commands:
            guard let command = old.command else {
                throw CommandFailure(
                    .usage, "\(words.0.onOneLine): no command can change that; name a domain or a file")
            }
            let lines = CommandLines(from: old.values, to: new.values, command, masking: masking)
            try context.terminal.write(lines.text(), to: .output)
        default: try context.terminal.write(differences.text(masking: masking), to: .output)
        }
        return differences.isEmpty ? .done : .different
    }
}
