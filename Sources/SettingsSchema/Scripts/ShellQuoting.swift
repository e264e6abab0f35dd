/// Text as a shell's source has it, so that it is a value and nothing else.
package enum ShellQuoting {
    /// One word for a POSIX shell, bash or zsh: in single quotes nothing is special but these.
    package static func word(_ text: String) -> String {
        var result = "'"
        // By scalars: a combining mark behind a quote makes it another character to Swift, but not to a shell.
        for scalar in text.unicodeScalars {
            if scalar == "'" { result += "'\\''" } else { result.unicodeScalars.append(scalar) }
        }
        return result + "'"
    }

    /// One word for fish. A newline is written as an escape, because `eval (…)` would break the text there.
    static func fishWord(_ text: String) -> String {
        var result = "'"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'", "\\": result += "\\\(scalar)"
            case "\n": result += "'\\n'"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "'"
    }

    static func word(_ text: String, for output: ScriptOutput) -> String {
        output == .fish ? fishWord(text) : word(text)
    }
}
