// What stands between elements.
extension XMLReader {
    @inline(__always)
    mutating func skipSpace() {
        while position < end, isXMLSpace(base[position]) { position += 1 }
    }

    func hasPrefix(_ text: StaticString) -> Bool {
        position + text.utf8CodeUnitCount <= end && sameBytes(base + position, text.utf8Start, text.utf8CodeUnitCount)
    }

    /// Passes over white space, comments and instructions.
    mutating func skipMisc() throws(Fault) {
        repeat { skipSpace() } while try skipCommentOrInstruction()
    }

    /// Passes over a comment or a processing instruction, if one begins here.
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

    private mutating func skip(from start: Int, past terminator: StaticString, inside place: String) throws(Fault) {
        position = start
        while position < end {
            if base[position] == terminator.utf8Start[0], hasPrefix(terminator) {
                position += terminator.utf8CodeUnitCount
                return
            }
            if base[position] == 0 { throw Fault(.invalidCharacter(0), at: position) }
            position += 1
        }
        throw Fault(.unexpectedEnd(inside: place), at: end)
    }

    /// Passes over the declaration, the document type, and what stands between them.
    mutating func skipProlog() throws(Fault) {
        if hasPrefix("<?xml"), position + 5 < end, isXMLSpace(base[position + 5]) {
            try skip(from: position + 5, past: "?>", inside: "the declaration")
        }
        try skipMisc()
        guard hasPrefix("<!DOCTYPE") else { return }
        try skipDocumentType()
        try skipMisc()
    }

    /// Passes over a document type, whose external part is never fetched and whose internal one is refused.
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
