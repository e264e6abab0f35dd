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

    /// Returns this term, indented by two columns, with its meaning wrapped in a second column. A term that is too long
    /// for the first column is above its meaning.
    package func explained(by meaning: String, at column: Int, width: Int) -> [String] {
        let lines = meaning.isEmpty ? [] : meaning.wrapped(to: width - column)
        let (term, margin) = ("  " + self, String(repeating: " ", count: column))
        guard term.columns + 2 <= column, let first = lines.first else {
            return term.wrappedFlags(to: width) + lines.map { margin + $0 }
        }
        return [term.padded(to: column) + first] + lines.dropFirst().map { margin + $0 }
    }

    /// Returns the flags on separate lines if they do not fit on one.
    private func wrappedFlags(to width: Int) -> [String] {
        guard columns > width else { return [self] }
        let parts = split(separator: ", ").map(String.init)
        return parts.enumerated().map { $0.offset == 0 ? $0.element : "      " + $0.element }
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
