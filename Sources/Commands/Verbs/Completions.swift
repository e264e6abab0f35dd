internal import Platform

extension Verb {
    package static let completions = Verb(
        "completions", .new, "print the completion script for a shell",
        details: [
            "bash: eval \"$(prefs completions bash)\". zsh: the same with zsh. fish: prefs completions fish | source. NAME is the name that prefs is linked as."
        ],
        forms: [[shell], [shell, Operand("NAME", .choice(.words(CompletionScript.programs)))]], scope: .nothing
    ) { invocation, context in
        guard let script = CompletionScript(rawValue: invocation[operand: "SHELL"] ?? "") else { return .usage }
        let own = Dialect(program: context.program) == .classic ? context.program : Prefs.name
        try context.terminal.write(script.text(for: invocation[operand: "NAME"] ?? own), to: .output)
        return .done
    }

    private static let shell = Operand("SHELL", .choice(.words(CompletionScript.allCases.map(\.rawValue))))

    /// Called by the completion scripts with the shell and the words up to the one being completed.
    package static let complete = Verb(
        "__complete", .hidden, "answer a shell's question",
        forms: [[Operand("SHELL", .word), Operand("WORD", .word, .zeroOrMore)]]
    ) { invocation, context in
        let isRaw = invocation[operand: "SHELL"] == CompletionScript.bash.rawValue
        let words = invocation.words("WORD").map { isRaw ? ShellWord.unquoted($0) : $0 }
        try context.terminal.write(
            Completion.answer(to: words, source: .live(words, context), in: context.dialect).text, to: .output)
        return .done
    }
}
