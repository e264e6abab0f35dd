extension PropertyList {
    /// Reads the XML form in any encoding.
    static func readXML(
        _ bytes: [UInt8], limits: Limits, options: ReadingOptions, sources: inout SourceMap?
    ) throws(DecodingFailure) -> PropertyList {
        let (encoding, start) = try xmlEncoding(of: bytes)
        let text = DecodedText(bytes, as: encoding, from: start)
        return try text.read(bytes, as: .xml, sources: &sources) { text, isASCII in
            XMLReader(text, isASCII: isASCII, limits: limits, options: options)
        }
    }

    /// The encoding, from a byte order mark, the zeros around the first tag, or the declaration.
    static func xmlEncoding(
        of bytes: [UInt8]
    ) throws(DecodingFailure) -> (encoding: TextEncoding, start: Int) {
        if let mark = TextEncoding.byteOrderMark(in: bytes) { return (mark.encoding, mark.length) }
        if let encoding = TextEncoding.ofLeadingTag(in: bytes) { return (encoding, 0) }
        guard let (name, offset) = XMLDeclaration.encodingName(in: bytes) else { return (.utf8, 0) }
        guard let encoding = TextEncoding(xmlName: name) else {
            throw DecodingFailure(.unknownEncoding(name), offset: offset, format: .xml)
        }
        switch encoding {
        case .utf16, .utf32: throw DecodingFailure(.encodingMismatch(declared: name), offset: offset, format: .xml)
        default: return (encoding, 0)
        }
    }
}

/// The line `<?xml version="1.0" encoding="…"?>`.
enum XMLDeclaration {
    /// The name of the encoding in a declaration, and its offset. The bytes must be in an encoding that extends ASCII.
    static func encodingName(in text: [UInt8]) -> (name: String, offset: Int)? {
        guard text.count > 5, text.starts(with: "<?xml".utf8), isXMLSpace(text[5]) else { return nil }
        let end = text.firstIndex(of: UInt8(ascii: ">")) ?? text.count
        var at = 6
        while at < end {
            let byte = text[at]
            if byte == UInt8(ascii: "e"), isXMLSpace(text[at - 1]),
                let name = quotedName(in: text, after: "encoding", at: at, to: end)
            {
                return name
            }
            at += 1
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                // The value of another attribute.
                while at < end, text[at] != byte { at += 1 }
                at += 1
            }
        }
        return nil
    }

    /// The name in quotes after `word` and an equals sign, if these are at `start`.
    private static func quotedName(
        in text: [UInt8], after word: String, at start: Int, to end: Int
    ) -> (name: String, offset: Int)? {
        var at = start + word.utf8.count
        guard at < end, text[start...].starts(with: word.utf8) else { return nil }
        func skipSpace() { while at < end, isXMLSpace(text[at]) { at += 1 } }
        skipSpace()
        guard at < end, text[at] == UInt8(ascii: "=") else { return nil }
        at += 1
        skipSpace()
        guard at < end, text[at] == UInt8(ascii: "\"") || text[at] == UInt8(ascii: "'") else { return nil }
        guard let close = text[(at + 1)..<end].firstIndex(of: text[at]) else { return nil }
        return (String(decoding: text[(at + 1)..<close], as: UTF8.self), at + 1)
    }

    /// The encoding in the declaration, or nil if it is missing or unknown.
    static func encoding(of text: [UInt8]) -> TextEncoding? {
        encodingName(in: text).flatMap { TextEncoding(xmlName: $0.name) }
    }
}

extension TextEncoding {
    /// Creates an encoding from its name in a declaration. The byte order of UTF-16 and UTF-32 is detected from the
    /// bytes.
    init?(xmlName name: String) {
        switch name.lowercased() {
        case "utf-8", "utf8": self = .utf8
        case "utf-16", "utf-16le", "utf-16be", "utf16": self = .utf16(bigEndian: !name.lowercased().hasSuffix("le"))
        case "utf-32", "utf-32le", "utf-32be", "utf32": self = .utf32(bigEndian: !name.lowercased().hasSuffix("le"))
        case "us-ascii", "ascii": self = .ascii
        case "iso-8859-1", "iso8859-1", "latin1": self = .latin1
        case "windows-1252", "cp1252": self = .windows1252
        default: return nil
        }
    }
}
