internal import Platform

extension Verb {
    package static let help = Verb(
        "help", .classic, "print help about the command or one verb",
        forms: [[Operand("VERB", .verb, .zeroOrMore)]], scope: .nothing
    ) { invocation, context in
        var path: [Verb] = []
        for word in invocation.words("VERB") {
            path.append(try Verb.named(word, among: path.last?.parts ?? Verb.all, after: path))
        }
        try context.terminal.write(HelpText.text(of: path, program: context.program), to: .output)
        return .done
    }
}
