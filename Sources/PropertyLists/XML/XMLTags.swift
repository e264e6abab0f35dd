/// A tag without its attributes.
struct XMLTag {
    var name: XMLElement
    var isClosing: Bool
    /// Whether the tag closes itself, like `<array/>`.
    var isEmpty: Bool
}

extension XMLReader {
    /// Reads a tag in any spelling.
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

    /// Reads attributes and the end of the tag. Returns whether the tag closes itself.
    private mutating func readAttributes(of name: String, isClosing: Bool) throws(Fault) -> Bool {
        // Names are compared as bytes, because canonically equivalent strings are equal.
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
                throw Fault(.malformedTag("duplicate attribute \(name)"), at: start)
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

    /// Skips quoted text. Returns false if there is no quote here.
    mutating func readQuoted(
        inside place: String, forbidding forbidden: UInt8? = nil
    ) throws(Fault) -> Bool {
        guard position < end, base[position] == UInt8(ascii: "\"") || base[position] == UInt8(ascii: "'") else {
            return false
        }
        let quote = base[position]
        position += 1
        while position < end, base[position] != quote {
            if base[position] == 0 { throw Fault(.invalidCharacter(0), at: position) }
            if base[position] == forbidden {
                throw Fault(.malformedTag("“<” in an attribute's value"), at: position)
            }
            position += 1
        }
        guard position < end else { throw Fault(.unexpectedEnd(inside: place), at: end) }
        position += 1
        return true
    }

    mutating func readName(of what: String, from start: Int) throws(Fault) -> Bytes {
        let first = position
        while position < end, isNameByte(base[position], isFirst: position == first) { position += 1 }
        guard position > first else {
            if position == end { throw Fault(.unexpectedEnd(inside: what), at: end) }
            throw Fault(.malformedTag("\(what) without a name"), at: start)
        }
        return Bytes(base, first..<position)
    }

    private func isNameByte(_ byte: UInt8, isFirst: Bool) -> Bool {
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x80..., UInt8(ascii: "_"), UInt8(ascii: ":"): true
        case 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "."): !isFirst
        default: false
        }
    }

    /// Skips the closing tag of `element`, which is required here.
    mutating func expectClosingTag(_ element: XMLElement) throws(Fault) {
        let isUsual =
            switch element {
            case .string: isByte(8, UInt8(ascii: ">")) && skip(ClosingTag.string, ofBytes: 8, length: 9)
            case .key: skip(ClosingTag.key, ofBytes: 6, length: 6)
            case .real: skip(ClosingTag.real, ofBytes: 7, length: 7)
            case .date: skip(ClosingTag.date, ofBytes: 7, length: 7)
            case .data: skip(ClosingTag.data, ofBytes: 7, length: 7)
            case .integer:
                isByte(9, UInt8(ascii: ">")) && isByte(8, UInt8(ascii: "r"))
                    && skip(ClosingTag.integer, ofBytes: 8, length: 10)
            default: false
            }
        if !isUsual { try expectUnusualClosingTag(element) }
    }

    private func isByte(_ offset: Int, _ byte: UInt8) -> Bool {
        position + offset < end && base[position + offset] == byte
    }

    /// Skips a tag in its usual spelling, whose first bytes are in a word. Returns false for any other tag.
    private mutating func skip(_ tag: UInt64, ofBytes count: UInt64, length: Int) -> Bool {
        guard position + 8 <= end, base.word(position) & (.max >> (64 - 8 * count)) == tag else {
            return false
        }
        position += length
        return true
    }

    private enum ClosingTag {
        static var string: UInt64 { wordOf("<", "/", "s", "t", "r", "i", "n", "g") }
        static var key: UInt64 { wordOf("<", "/", "k", "e", "y", ">") }
        static var real: UInt64 { wordOf("<", "/", "r", "e", "a", "l", ">") }
        static var integer: UInt64 { wordOf("<", "/", "i", "n", "t", "e", "g", "e") }
        static var date: UInt64 { wordOf("<", "/", "d", "a", "t", "e", ">") }
        static var data: UInt64 { wordOf("<", "/", "d", "a", "t", "a", ">") }
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

// The text between elements.
extension XMLReader {
    mutating func skipSpace() {
        while position < end, isXMLSpace(base[position]) { position += 1 }
    }

    func hasPrefix(_ text: String) -> Bool { base[min(position, end)...].starts(with: text.utf8) }

    /// Skips white space, comments and instructions.
    mutating func skipMisc() throws(Fault) {
        repeat { skipSpace() } while try skipCommentOrInstruction()
    }

    /// Skips a comment or a processing instruction. Returns false if neither begins here.
    @inline(never)
    mutating func skipCommentOrInstruction() throws(Fault) -> Bool {
        if hasPrefix("<!--") {
            try skip(from: position + 4, past: "-->", inside: "a comment")
            return true
        }
        guard hasPrefix("<?") else { return false }
        let start = position
        position += 2
        let target = try readName(of: "an instruction", from: start)
        if String(decoding: target, as: UTF8.self).lowercased() == "xml" {
            throw Fault(.malformedTag("a declaration that is not at the beginning"), at: start)
        }
        try skip(from: position, past: "?>", inside: "an instruction")
        return true
    }

    private mutating func skip(from start: Int, past terminator: String, inside place: String) throws(Fault) {
        position = start
        while position < end {
            if base[position] == terminator.utf8.first, hasPrefix(terminator) {
                position += terminator.utf8.count
                return
            }
            if base[position] == 0 { throw Fault(.invalidCharacter(0), at: position) }
            position += 1
        }
        throw Fault(.unexpectedEnd(inside: place), at: end)
    }

    /// Skips the declaration, the document type, and the text between them.
    mutating func skipProlog() throws(Fault) {
        if hasPrefix("<?xml"), position + 5 < end, isXMLSpace(base[position + 5]) {
            try skip(from: position + 5, past: "?>", inside: "the declaration")
        }
        try skipMisc()
        guard hasPrefix("<!DOCTYPE") else { return }
        try skipDocumentType()
        try skipMisc()
    }

    /// Skips a document type. An external subset is never fetched, and an internal one is refused.
    private mutating func skipDocumentType() throws(Fault) {
        position += 9
        while position < end {
            switch base[position] {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): _ = try readQuoted(inside: "the document type")
            case UInt8(ascii: "["): throw Fault(.internalSubset, at: position)
            case UInt8(ascii: "<"): throw Fault(.malformedTag("“<” in the document type"), at: position)
            case UInt8(ascii: ">"):
                position += 1
                return
            case 0: throw Fault(.invalidCharacter(0), at: position)
            default: position += 1
            }
        }
        throw Fault(.unexpectedEnd(inside: "the document type"), at: end)
    }
}
