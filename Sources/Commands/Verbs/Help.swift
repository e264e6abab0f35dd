internal import Platform

extension Verb {
    package static let help = Verb(
        "help", .classic, "print help about the command or one verb",
        forms: [[Operand("VERB", .verb, .zeroOrMore)]]
    ) { invocation, context in
        var path: [Verb] = []
        for word in invocation.words("VERB") {
            let known = path.last?.parts ?? Verb.all
            guard let verb = Verb.named(word, among: known) else {
                throw UsageFailure(
                    .unknownVerb(word, known: known.filter { $0.kind != .hidden }.map(\.name)), path: path.map(\.name))
            }
            path.append(verb)
        }
        try context.terminal.write(HelpText.text(of: path, program: context.program), to: .output)
        return .done
    }
}
