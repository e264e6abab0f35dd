// Untrusted text in messages and on terminals: names, keys and values from files and command lines.

extension String {
    /// The text on one line, with control characters escaped. Bytes in the notation of `ByteText` are written as
    /// `\xE9`.
    package var shown: String {
        guard unicodeScalars.contains(where: \.steersTerminal) || ByteText.holdsRaw(self) else { return self }
        var result = ""
        for scalar in unicodeScalars {
            if let byte = ByteText.byte(scalar) {
                result += "\\x" + String(byte, radix: 16, uppercase: true)
            } else if scalar.steersTerminal {
                result += scalar.spelledOut
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// Returns the beginning of a text on one line, enough to recognize it.
package func shortened(_ text: String, to length: Int = 40) -> String { beginning(of: text, length).shown }

private func beginning(of text: String, _ length: Int) -> String {
    if text.utf8.count <= length { return text }
    let beginning = text.unicodeScalars.prefix(length)
    return beginning.endIndex == text.endIndex ? text : String(beginning) + "…"
}

extension EntryPath {
    /// The path for a message. Keys come from files, and may be long or contain control characters.
    var shown: String { EntryPath(components.map { Component(beginning(of: $0.text, 200)) }).description.shown }
}

extension Unicode.Scalar {
    /// Whether the character controls a terminal instead of being displayed: it moves the cursor, breaks the line or
    /// changes the writing direction.
    package var steersTerminal: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Whether a terminal would obey the character, or show nothing for it. Newlines and tabs are excluded, and so are
    /// the joiners, which only shape their neighbors in Persian words and in emoji.
    package var isInvisible: Bool {
        if value < 0x7F { return value < 0x20 && self != "\n" && self != "\t" }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return self != "\u{200C}" && self != "\u{200D}"
        default: return false
        }
    }

    /// The escape in a Swift string literal, such as `\n` or `\u{1B}`.
    fileprivate var spelledOut: String {
        switch value {
        case 0x00: "\\0"
        case 0x09: "\\t"
        case 0x0A: "\\n"
        case 0x0D: "\\r"
        default: "\\u{\(String(value, radix: 16, uppercase: true))}"
        }
    }
}
