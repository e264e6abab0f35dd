/// Quotes text for shell source, so that it is always taken literally.
package enum ShellQuoting {
    /// Returns one word for POSIX shells, bash and zsh. Within single quotes, only a single quote is special.
    package static func word(_ text: String) -> String {
        var result = "'"
        // By Unicode scalar, since Swift combines a quote and a following combining mark into one character.
        for scalar in text.unicodeScalars {
            if scalar == "'" { result += "'\\''" } else { result.unicodeScalars.append(scalar) }
        }
        return result + "'"
    }

    /// Returns one word for fish. Newlines are escaped because `eval (…)` splits its input at line breaks.
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
