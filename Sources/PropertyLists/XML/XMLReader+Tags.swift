/// A tag with its attributes left out.
struct XMLTag {
    var name: XMLElement
    var isClosing: Bool
    /// Whether it opens and closes in one, `<array/>`.
    var isEmpty: Bool
}

extension XMLReader {
    /// Reads the tag that begins here, in any spelling.
    @inline(never)
    mutating func readTag() throws(Fault) -> XMLTag {
        let start = position
        guard position < end, base[position] == UInt8(ascii: "<") else { throw Fault(.misplacedText, at: position) }
        position += 1
        let isClosing = position < end && base[position] == UInt8(ascii: "/")
        if isClosing { position += 1 }
        let name = try readName(of: "a tag", from: start)
        guard position < end else { throw Fault(.unexpectedEnd(inside: "a tag"), at: end) }
        guard let element = XMLElement(name: name) else {
            throw Fault(.unknownElement(String(decoding: name, as: UTF8.self)), at: start)
        }
        if position < end, base[position] == UInt8(ascii: ">") {
            position += 1
            return XMLTag(name: element, isClosing: isClosing, isEmpty: false)
        }
        let isEmpty = try readAttributes(of: element.rawValue, isClosing: isClosing)
        return XMLTag(name: element, isClosing: isClosing, isEmpty: isEmpty)
    }

    /// Reads attributes and the end of the tag; true if the tag closes itself.
    private mutating func readAttributes(of name: String, isClosing: Bool) throws(Fault) -> Bool {
        // Bytes, for two strings are equal where they differ in nothing but the form of a letter.
        var seen: Set<[UInt8]> = []
        while true {
            let hadSpace = position < end && isXMLSpace(base[position])
            skipSpace()
            guard position < end else { throw Fault(.unexpectedEnd(inside: "the tag <\(name)"), at: end) }
            if base[position] == UInt8(ascii: ">") {
                position += 1
                return false
            }
            if !isClosing, hasPrefix("/>") {
                position += 2
                return true
            }
            if base[position] == UInt8(ascii: "/"), position + 1 == end {
                throw Fault(.unexpectedEnd(inside: "the tag <\(name)"), at: end)
            }
            guard hadSpace, !isClosing else {
                throw Fault(.malformedTag("an unexpected character in <\(name)>"), at: position)
            }
            let start = position
            let attribute = try readName(of: "an attribute", from: position)
            guard seen.insert(Array(attribute)).inserted else {
                let name = shortened(String(decoding: attribute, as: UTF8.self))
                throw Fault(.malformedTag("the attribute \(name) stands twice"), at: start)
            }
            try readAttributeValue()
        }
    }

    private mutating func readAttributeValue() throws(Fault) {
        skipSpace()
        guard position < end else { throw Fault(.unexpectedEnd(inside: "an attribute"), at: end) }
        guard position < end, base[position] == UInt8(ascii: "=") else {
            throw Fault(.malformedTag("an attribute without a value"), at: position)
        }
        position += 1
        skipSpace()
        guard position < end else { throw Fault(.unexpectedEnd(inside: "an attribute"), at: end) }
        guard try readQuoted(inside: "an attribute", forbidding: UInt8(ascii: "<")) else {
            throw Fault(.malformedTag("an attribute's value without quotes"), at: position)
        }
    }

    /// Passes over what stands in quotes; false where no quote begins.
    mutating func readQuoted(
        inside place: String, forbidding forbidden: UInt8? = nil
    ) throws(Fault) -> Bool {
        guard position < end, base[position] == UInt8(ascii: "\"") || base[position] == UInt8(ascii: "'") else {
            return false
        }
        let quote = base[position]
        position += 1
        while position < end, base[position] != quote {
            if base[position] < 0x20, !isXMLSpace(base[position]) {
                throw Fault(.invalidCharacter(UInt32(base[position])), at: position)
            }
            if base[position] == forbidden {
                throw Fault(.malformedTag("“<” in an attribute's value"), at: position)
            }
            position += 1
        }
        guard position < end else { throw Fault(.unexpectedEnd(inside: place), at: end) }
        position += 1
        return true
    }

    mutating func readName(of what: String, from start: Int) throws(Fault) -> UnsafeBufferPointer<UInt8> {
        let first = position
        while position < end, isNameByte(base[position], isFirst: position == first) { position += 1 }
        guard position > first else {
            if position == end { throw Fault(.unexpectedEnd(inside: what), at: end) }
            throw Fault(.malformedTag("\(what) without a name"), at: start)
        }
        return UnsafeBufferPointer(start: base + first, count: position - first)
    }

    private func isNameByte(_ byte: UInt8, isFirst: Bool) -> Bool {
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x80..., UInt8(ascii: "_"), UInt8(ascii: ":"): true
        case 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "."): !isFirst
        default: false
        }
    }

    /// Passes over the closing tag of `element`, which begins here.
    @inline(__always)
    mutating func expectClosingTag(_ element: XMLElement) throws(Fault) {
        let raw = UnsafeRawPointer(base)
        switch element {
        case .string where position + 9 <= end:
            if raw.word(position) == ClosingTag.string, base[position + 8] == UInt8(ascii: ">") {
                position += 9
                return
            }
        case .key where position + 8 <= end:
            if raw.word(position) & 0xFFFF_FFFF_FFFF == ClosingTag.key {
                position += 6
                return
            }
        case .real where position + 8 <= end:
            if raw.word(position) & 0xFF_FFFF_FFFF_FFFF == ClosingTag.real {
                position += 7
                return
            }
        case .date where position + 8 <= end:
            if raw.word(position) & 0xFF_FFFF_FFFF_FFFF == ClosingTag.date {
                position += 7
                return
            }
        case .data where position + 8 <= end:
            if raw.word(position) & 0xFF_FFFF_FFFF_FFFF == ClosingTag.data {
                position += 7
                return
            }
        case .integer where position + 10 <= end:
            if raw.word(position) == ClosingTag.integer, base[position + 8] == UInt8(ascii: "r"),
                base[position + 9] == UInt8(ascii: ">")
            {
                position += 10
                return
            }
        default: break
        }
        try expectUnusualClosingTag(element)
    }

    private enum ClosingTag {
        @inline(__always) static var string: UInt64 { wordOf("</string") }
        @inline(__always) static var key: UInt64 { wordOf("</key>") }
        @inline(__always) static var real: UInt64 { wordOf("</real>") }
        @inline(__always) static var integer: UInt64 { wordOf("</intege") }
        @inline(__always) static var date: UInt64 { wordOf("</date>") }
        @inline(__always) static var data: UInt64 { wordOf("</data>") }
    }

    @inline(never)
    private mutating func expectUnusualClosingTag(_ element: XMLElement) throws(Fault) {
        let start = position
        let tag = try readTag()
        guard tag.isClosing, tag.name == element else {
            throw Fault(.mismatchedTag(expected: element.rawValue, found: tag.name.rawValue), at: start)
        }
    }
}
