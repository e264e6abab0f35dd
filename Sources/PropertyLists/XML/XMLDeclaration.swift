/// The line `<?xml version="1.0" encoding="…"?>`.
enum XMLDeclaration {
    /// The name of the encoding that a declaration in bytes of ASCII's kind states, and where that name stands.
    static func encodingName(in text: UnsafeBufferPointer<UInt8>) -> (name: String, offset: Int)? {
        guard text.starts(with: "<?xml".utf8), text.count > 5, isXMLSpace(text[5]) else { return nil }
        // A declaration is short; a longer search would make every other file pay.
        let head = text.prefix(1024)
        guard let close = head.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let declaration = String(decoding: head[..<close], as: UTF8.self)
        guard let found = declaration.utf8.firstRange(of: "encoding".utf8) else { return nil }
        var at = found.upperBound
        let utf8 = declaration.utf8
        func skipSpace() { while at < utf8.endIndex, isXMLSpace(utf8[at]) { at = utf8.index(after: at) } }
        skipSpace()
        guard at < utf8.endIndex, utf8[at] == UInt8(ascii: "=") else { return nil }
        at = utf8.index(after: at)
        skipSpace()
        guard at < utf8.endIndex, utf8[at] == UInt8(ascii: "\"") || utf8[at] == UInt8(ascii: "'") else { return nil }
        let start = utf8.index(after: at)
        guard let end = utf8[start...].firstIndex(of: utf8[at]) else { return nil }
        return (String(declaration[start..<end]), utf8.distance(from: utf8.startIndex, to: start))
    }

    /// The encoding that the declaration states; nil where it states none, or one that is not known.
    static func encoding(of text: UnsafeBufferPointer<UInt8>) -> TextEncoding? {
        encodingName(in: text).flatMap { TextEncoding(xmlName: $0.name) }
    }
}

extension TextEncoding {
    /// The encoding of that name in a declaration. Of UTF-16 and UTF-32 the byte order is left to the bytes.
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
