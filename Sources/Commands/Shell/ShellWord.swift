internal import SettingsSchema

/// Quoting for POSIX shells.
package enum ShellWord {
    /// Returns the word that any shell reads as `text`, which must not contain a NUL.
    package static func quoted(_ text: String) -> String {
        !text.isEmpty && text.utf8.allSatisfy(isPlain) ? text : ShellQuoting.word(text)
    }

    /// Returns the line that a shell reads as `words`.
    package static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    /// Returns whether a byte has no special meaning in any shell, at any position in a word.
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
    /// Returns the text of a typed word, which may be incomplete. Expansions are not performed.
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
