/// Escapes text for manual pages in mdoc, so that no part of it is taken as a macro.
enum ManualText {
    /// Returns running text with a new line for each sentence, wrapped to the recommended width.
    static func paragraph(_ text: String) -> [String] {
        sentences(text).flatMap { sentence in sentence.wrapped(to: 70).map(line) }.filter { !$0.isEmpty }
    }

    private static func line(_ text: String) -> String {
        let escaped = escaped(text)
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    /// Returns a word as a macro argument.
    static func word(_ text: String) -> String {
        let escaped = escaped(text)
        // A short word could be a macro name, and a single punctuation mark a delimiter.
        let guarded = text.count <= 3 ? "\\&" + escaped : escaped
        return escaped.contains(" ") || escaped.isEmpty
            ? "\"\(guarded.replacing("\"", with: "\\(dq"))\"" : guarded.replacing("\"", with: "\\(dq")
    }

    /// Returns a long flag as a macro.
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
