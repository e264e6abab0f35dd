internal import PropertyLists

// Measuring and wrapping text in terminal columns.
extension String {
    /// The width in terminal columns: the sum of the widths of its scalars. Terminals add them up too, even where they
    /// then draw several scalars as one character.
    package var columns: Int {
        let bytes = utf8Span.span
        if bytes.indices.allSatisfy({ 0x20...0x7E ~= bytes[$0] }) { return bytes.count }
        return unicodeScalars.reduce(0) { $0 + $1.columns }
    }

    /// Returns the text padded with spaces to a number of columns.
    package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - columns)) }

    /// Wraps the text between words. A word longer than `width` gets its own line.
    package func wrapped(to width: Int) -> [String] {
        var lines: [String] = []
        for paragraph in split(separator: "\n", omittingEmptySubsequences: false) {
            var line = ""
            for word in paragraph.split(separator: " ") {
                for (index, part) in word.unbrokenParts.enumerated() {
                    let space = line.isEmpty || index > 0 ? "" : " "
                    if line.isEmpty || (line + space + part).columns <= width {
                        line += space + part
                    } else {
                        lines.append(line)
                        line = String(part)
                    }
                }
            }
            lines.append(line)
        }
        return lines
    }

    /// Wraps the text between words, and words that are longer than `width` anywhere, if possible after a bar or dot.
    package func broken(to width: Int) -> [String] {
        wrapped(to: width).flatMap { line -> [String] in
            var (lines, rest) = ([String](), Substring(line))
            while String(rest).columns > width {
                var end = rest.startIndex
                while end < rest.endIndex, String(rest[...end]).columns <= width { end = rest.index(after: end) }
                let bar = rest[..<end].lastIndex { "|.,/-_".contains($0) }.map { rest.index(after: $0) }
                let cut = max(bar ?? end, rest.index(after: rest.startIndex))
                lines.append(String(rest[..<cut]))
                rest = rest[cut...]
            }
            return lines + [String(rest)]
        }
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

extension Substring {
    /// The parts of a word between which a line can end: after a wide character, such as those of Chinese and Japanese,
    /// unless punctuation follows.
    fileprivate var unbrokenParts: [Substring] {
        guard unicodeScalars.contains(where: { $0.columns == 2 }) else { return [self] }
        var parts: [Substring] = []
        var start = startIndex
        for index in indices.dropFirst() {
            let isWide = self[self.index(before: index)].unicodeScalars.first?.columns == 2
            guard isWide || self[index].unicodeScalars.first?.columns == 2 else { continue }
            let isOpen = "（「『【〈《".contains(self[self.index(before: index)])
            guard !isOpen, !"。、，．！？：；）」』】〉》ー".contains(self[index]), !self[index].isPunctuation else { continue }
            parts.append(self[start..<index])
            start = index
        }
        return parts + [self[start...]]
    }
}

extension Unicode.Scalar {
    /// The width in terminal columns: 0, 1 or 2. It is 1 for scalars that the table does not know.
    package var columns: Int {
        if value < 0x300 { return 1 }
        return isInside(ScalarWidths.zero) ? 0 : isInside(ScalarWidths.two) ? 2 : 1
    }

    /// Returns whether the scalar is inside a range. The boundaries are ascending; each range begins at one and ends
    /// before the next.
    private func isInside(_ boundaries: [UInt32]) -> Bool {
        var (low, high) = (0, boundaries.count)
        while low < high {
            let middle = (low + high) / 2
            if boundaries[middle] <= value { low = middle + 1 } else { high = middle }
        }
        return !low.isMultiple(of: 2)
    }
}

extension String {
    /// The text without terminal control characters other than newlines, so that column widths stay correct.
    package var printable: String {
        func isOmitted(_ scalar: Unicode.Scalar) -> Bool { scalar.steersTerminal && scalar != "\n" }
        guard unicodeScalars.contains(where: isOmitted) else { return self }
        var result = ""
        for scalar in unicodeScalars where !isOmitted(scalar) { result.unicodeScalars.append(scalar) }
        return result
    }
}
