// Text of strangers, in messages and on terminals: names, keys and values come from files and command lines.

extension String {
    /// The text on one line, with what steers a terminal spelled out.
    package var shown: String {
        guard unicodeScalars.contains(where: \.steersTerminal) else { return self }
        var result = ""
        for scalar in unicodeScalars {
            if scalar.steersTerminal { result += scalar.spelledOut } else { result.unicodeScalars.append(scalar) }
        }
        return result
    }
}

/// Enough of a text to recognise it, on one line.
package func shortened(_ text: String, to length: Int = 40) -> String { beginning(of: text, length).shown }

private func beginning(of text: String, _ length: Int) -> String {
    let beginning = text.unicodeScalars.prefix(length)
    return beginning.endIndex == text.endIndex ? text : String(beginning) + "…"
}

extension EntryPath {
    /// The path for a message: keys come from files, and may be of any length or hold what steers a terminal.
    var shown: String { EntryPath(components.map { Component(beginning(of: $0.text, 200)) }).description.shown }
}

extension Unicode.Scalar {
    /// Whether a terminal does not show it but what it asks for: another place of the cursor, another line, another
    /// direction of writing.
    package var steersTerminal: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// As a string literal has it: `\n`, `\u{1B}`.
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
