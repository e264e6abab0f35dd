/// Text and words as a manual page in mdoc has them, so that nothing in them is taken for a macro.
enum ManualText {
    /// Running text: a sentence a line, and no line longer than the style wants.
    static func paragraph(_ text: String) -> [String] {
        sentences(text).flatMap { sentence in sentence.wrapped(to: 70).map(line) }.filter { !$0.isEmpty }
    }

    /// A line of text.
    private static func line(_ text: String) -> String {
        let escaped = escaped(text)
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    /// A word as the argument of a macro.
    static func word(_ text: String) -> String {
        let escaped = escaped(text)
        // A short word may be the name of a macro, and a lone sign a delimiter.
        let guarded = text.count <= 3 ? "\\&" + escaped : escaped
        return escaped.contains(" ") || escaped.isEmpty
            ? "\"\(guarded.replacing("\"", with: "\\(dq"))\"" : guarded.replacing("\"", with: "\\(dq")
    }

    /// A flag with two dashes, as a macro.
    static func flag(_ name: String) -> String { "Fl \(word("-\(name)"))" }

    private static func sentences(_ text: String) -> [String] {
        var sentences: [String] = []
        var current = ""
        var isAtEnd = false
        for character in text {
            if isAtEnd, character.isWhitespace {
                sentences.append(current)
                current = ""
            } else {
                current.append(character)
            }
            isAtEnd = ".!?".contains(character)
        }
        return (sentences + [current]).map { String($0.drop(while: \.isWhitespace)) }.filter { !$0.isEmpty }
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "`": result += "\\(ga"
            case "'": result += "\\(aq"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case " "..."~": result.unicodeScalars.append(scalar)
            case "\n", "\t": result += " "
            default:
                guard scalar.value >= 0xA0 else { continue }
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\[u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)]"
            }
        }
        return result
    }
}
