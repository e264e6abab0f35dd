internal import PropertyLists

// Measuring and wrapping text in terminal columns.
extension String {
    /// The width in terminal columns: two for wide characters, none for combining ones.
    package var columns: Int {
        reduce(0) { sum, character in
            guard let scalar = character.unicodeScalars.first else { return sum }
            // A variation selector asks for the picture of a character that is a letter or sign otherwise.
            let isPicture = character.unicodeScalars.dropFirst().first == "\u{FE0F}"
            return sum + (scalar.isWide || isPicture ? 2 : scalar.properties.generalCategory == .nonspacingMark ? 0 : 1)
        }
    }

    /// Returns the text padded with spaces to a number of columns.
    package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - columns)) }

    /// Wraps the text between words. A word longer than `width` gets its own line.
    package func wrapped(to width: Int) -> [String] {
        var lines: [String] = []
        for paragraph in split(separator: "\n", omittingEmptySubsequences: false) {
            var line = ""
            for word in paragraph.split(separator: " ") {
                if line.isEmpty {
                    line = String(word)
                } else if line.columns + 1 + String(word).columns <= width {
                    line += " " + word
                } else {
                    lines.append(line)
                    line = String(word)
                }
            }
            lines.append(line)
        }
        return lines
    }
}

extension Unicode.Scalar {
    /// Whether terminals show this character two columns wide: East Asian scripts and emoji.
    fileprivate var isWide: Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x1B2FF, 0x1F200...0x1F265,
            0x20000...0x3FFFD:
            true
        default: value > 0x2300 && properties.isEmojiPresentation
        }
    }
}

extension String {
    /// The text without terminal control characters other than newlines, so that column widths stay correct.
    var printable: String {
        func isOmitted(_ scalar: Unicode.Scalar) -> Bool { scalar.steersTerminal && scalar != "\n" }
        guard unicodeScalars.contains(where: isOmitted) else { return self }
        var result = ""
        for scalar in unicodeScalars where !isOmitted(scalar) { result.unicodeScalars.append(scalar) }
        return result
    }
}
