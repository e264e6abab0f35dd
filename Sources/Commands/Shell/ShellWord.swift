internal import SettingsSchema

/// Text as a word of a POSIX shell.
package enum ShellWord {
    /// The word that any shell reads back as `text`, which has no NUL in it.
    package static func quoted(_ text: String) -> String {
        !text.isEmpty && text.utf8.allSatisfy(isPlain) ? text : ShellQuoting.word(text)
    }

    /// The line that a shell reads back as `words`.
    package static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    /// Whether a byte means nothing but itself to every shell, wherever in a word it stands.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-_./:,@%+".utf8.contains(byte)
        }
    }
}

extension ShellWord {
    /// The text that a word stands for as it is typed, be it not finished yet. Nothing in it is expanded.
    package static func unquoted(_ word: String) -> String {
        var result = ""
        var quote: Unicode.Scalar?
        var rest = word.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch (scalar, quote) {
            case ("'", nil), ("\"", nil): quote = scalar
            case ("'", "'"), ("\"", "\""): quote = nil
            case ("\\", nil): if let next = rest.popFirst() { result.unicodeScalars.append(next) }
            case ("\\", "\"") where rest.first.map { "\"\\$`".unicodeScalars.contains($0) } ?? false:
                result.unicodeScalars.append(rest.removeFirst())
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
