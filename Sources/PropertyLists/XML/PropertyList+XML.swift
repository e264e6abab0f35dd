extension PropertyList {
    /// Reads the XML form in any of its encodings.
    static func readXML(
        _ bytes: UnsafeBufferPointer<UInt8>, limits: Limits, options: ReadingOptions
    ) throws(DecodingFailure) -> PropertyList {
        let (encoding, start) = try xmlEncoding(of: bytes)
        let text = DecodedText(bytes, as: encoding, from: start)
        return try text.read(bytes, as: .xml) { text, isASCII in
            XMLReader(text, isASCII: isASCII, limits: limits, options: options)
        }
    }

    /// The encoding, by mark, by the zeros around the first tag, or by the declaration.
    static func xmlEncoding(
        of bytes: UnsafeBufferPointer<UInt8>
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
