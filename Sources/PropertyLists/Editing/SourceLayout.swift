/// The white space, comments and separators around the entries of a text.
struct SourceLayout {
    /// The text in UTF-8.
    let text: [UInt8]
    let format: PropertyList.Format
    let syntax: TextSyntax
    let map: SourceMap
    /// The positions of the entries of each container, in the order of the text.
    let children: [[Int]]
    /// The position after the last entry inside each entry.
    let endsOfEntries: [Int]
    /// Whether the root is a dictionary without braces.
    let isStringsFile: Bool

    init(_ text: [UInt8], _ format: PropertyList.Format, _ syntax: TextSyntax, _ map: SourceMap) {
        (self.text, self.format, self.syntax, self.map) = (text, format, syntax, map)
        children = map.positionsOfChildren
        var ends = Array(map.entries.indices.map { $0 + 1 })
        for (position, entry) in map.entries.enumerated().reversed() {
            if let container = entry.container { ends[container] = max(ends[container], ends[position]) }
        }
        endsOfEntries = ends
        guard syntax.bareCharacters != nil else {
            isStringsFile = false
            return
        }
        let opening = map.entries.first.map { text[$0.value.lowerBound] }
        isStringsFile =
            (opening == nil || !children[0].isEmpty && opening != UInt8(ascii: "{") && opening != UInt8(ascii: "("))
    }

    /// The separator of a container's entries, or nil in XML.
    func separator(inDictionary: Bool) -> UInt8? {
        inDictionary ? syntax.dictionary.separator : syntax.array.separator
    }
}

extension SourceLayout {
    /// Returns whether a string has double quotes that it does not need, which shows the style of the text.
    func hasOptionalQuotes(_ range: Range<Int>) -> Bool {
        guard let bare = syntax.bareCharacters else { return true }
        let inside = text[range].dropFirst().dropLast()
        return inside.first != UInt8(ascii: "/") && !inside.isEmpty && inside.allSatisfy { bare.contains($0) }
    }
}

// MARK: White space and comments

extension SourceLayout {
    /// A part of a text that contains only white space and comments.
    struct Gap {
        /// Whether there is no comment.
        var isBlank = true
        /// The last line break outside of comments.
        var newline: Range<Int>?
        /// The white space at the beginning of the last line, if there is a line break.
        var indent: Range<Int>?
    }

    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0B || byte == 0x0C }

    /// The line break at `offset`.
    func newline(at offset: Int) -> Range<Int>? {
        guard offset < text.count else { return nil }
        if text[offset] == 0x0A { return offset..<offset + 1 }
        guard text[offset] == 0x0D else { return nil }
        return offset..<(offset + 1 < text.count && text[offset + 1] == 0x0A ? offset + 2 : offset + 1)
    }

    /// The end of the comment that begins at `offset`, or nil if none begins there.
    func endOfComment(at offset: Int) -> Int? {
        func begins(_ mark: StaticString, at place: Int) -> Bool {
            let count = mark.utf8CodeUnitCount
            guard place + count <= text.count else { return false }
            return text[place..<place + count].elementsEqual(mark.description.utf8)
        }
        func end(after mark: StaticString, from start: Int) -> Int {
            var at = start
            while at < text.count, !begins(mark, at: at) { at += 1 }
            return min(at + mark.utf8CodeUnitCount, text.count)
        }
        if syntax.hasTags {
            if begins("<!--", at: offset) { return end(after: "-->", from: offset + 4) }
            return begins("<?", at: offset) ? end(after: "?>", from: offset + 2) : nil
        }
        if syntax.hasHashComments {
            guard text[offset] == UInt8(ascii: "#") else { return nil }
            return text[offset...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? text.count
        }
        if begins("/*", at: offset) { return end(after: "*/", from: offset + 2) }
        guard begins("//", at: offset) else { return nil }
        var at = offset
        while at < text.count, newline(at: at) == nil, !text.isLineSeparator(at: at) { at += 1 }
        return at
    }

    /// The end of the white space and comments at `offset`.
    func skippingBlank(_ offset: Int) -> Int {
        var at = offset
        while at < text.count {
            if isSpace(text[at]) || newline(at: at) != nil {
                at += 1
            } else if let end = endOfComment(at: at) {
                at = end
            } else {
                let length = syntax.lengthOfWideSpace(text, at)
                if length == 0 { break }
                at += length
            }
        }
        return at
    }

    /// Returns the gap between two tokens.
    func gap(_ range: Range<Int>) -> Gap {
        var gap = Gap()
        var at = range.lowerBound
        while at < range.upperBound {
            if let newline = newline(at: at) {
                at = newline.upperBound
                gap.newline = newline
                gap.indent = at..<at
            } else if let end = endOfComment(at: at) {
                at = end
                gap.isBlank = false
            } else {
                if text[at] >= 0x80 { gap.isBlank = false }
                if let indent = gap.indent, indent.upperBound == at, text[at] == 0x20 || text[at] == 0x09 {
                    gap.indent = indent.lowerBound..<at + 1
                }
                at += 1
            }
        }
        return gap
    }

    /// The end of the line, which is a line break or the end of the text, if only white space and comments follow
    /// `offset` on it. Nil if there is other text. A comment of several lines belongs to the line on which it begins.
    func endOfLine(after offset: Int) -> Int? {
        var at = offset
        while at < text.count {
            if newline(at: at) != nil { return at }
            if isSpace(text[at]) {
                at += 1
            } else if let end = endOfComment(at: at) {
                at = end
            } else {
                return nil
            }
        }
        return at
    }

    /// The white space at the beginning of the line of `offset`.
    func indent(ofLineAt offset: Int) -> [UInt8] {
        var start = offset
        while start > 0, text[start - 1] != 0x0A, text[start - 1] != 0x0D { start -= 1 }
        return Array(text[start..<offset].prefix { $0 == 0x20 || $0 == 0x09 })
    }
}

// MARK: Entries

extension SourceLayout {
    /// The entry of a container with its separator.
    struct Child {
        let entry: SourceMap.Entry
        /// The gap before the entry, after the previous entry or the opening bracket.
        let gap: Gap
        /// The end of the previous entry with its separator, or of the opening bracket.
        let gapStart: Int
        /// The separator after the entry.
        let separator: Range<Int>?

        var start: Int { entry.start }
        /// The end of the entry with its separator.
        var end: Int { separator?.upperBound ?? entry.value.upperBound }
    }

    /// The range between the brackets or tags of a container.
    func interior(of position: Int) -> Range<Int> {
        if position == 0, isStringsFile { return 0..<text.count }
        let range = map.entries[position].value
        guard syntax.hasTags else { return range.lowerBound + 1..<range.upperBound - 1 }
        return interior(ofElement: range) ?? range.upperBound..<range.upperBound
    }

    /// The end of the tag that begins at `offset`.
    func endOfTag(at offset: Int) -> Int {
        var at = offset
        var quote: UInt8?
        while at < text.count {
            let byte = text[at]
            at += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                break
            }
        }
        return at
    }

    /// The range between the tags of an XML element, or nil if there is only one tag.
    func interior(ofElement range: Range<Int>) -> Range<Int>? {
        let open = endOfTag(at: range.lowerBound)
        guard open < range.upperBound, let close = text[..<range.upperBound].lastIndex(of: UInt8(ascii: "<")),
            close >= open
        else { return nil }
        return open..<close
    }

    /// The name of the XML element that begins at `offset`.
    func element(at offset: Int) -> XMLElement? {
        let name = text[(offset + 1)...].prefix { $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") }
        return XMLElement(rawValue: String(decoding: name, as: UTF8.self))
    }

    /// The index in its container of the entry at a position, or nil for the root.
    func index(of position: Int) -> Int? {
        guard let container = map.entries[position].container else { return nil }
        let siblings = children[container]
        // The positions are ascending.
        var (low, high) = (0, siblings.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if siblings[middle] < position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The entry at an index of a container.
    func child(_ index: Int, of container: Int) -> Child {
        let entry = map.entries[children[container][index]]
        func separator(of entry: SourceMap.Entry) -> Range<Int>? {
            guard let mark = self.separator(inDictionary: entry.key != nil) else { return nil }
            let place = skippingBlank(entry.value.upperBound)
            return place < text.count && text[place] == mark ? place..<place + 1 : nil
        }
        var start = interior(of: container).lowerBound
        if index > 0 {
            let previous = map.entries[children[container][index - 1]]
            start = separator(of: previous)?.upperBound ?? previous.value.upperBound
        }
        return Child(
            entry: entry, gap: gap(start..<entry.start), gapStart: start, separator: separator(of: entry))
    }
}
