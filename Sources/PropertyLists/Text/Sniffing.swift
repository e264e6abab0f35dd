extension PropertyList {
    /// Reads bytes whose format nobody named.
    ///
    /// Binary and XML are known by how they begin. What begins with a bracket is JSON if it is valid as such; any other
    /// text is OpenStep, or GNUstep's kind of it. If it is none of them, the reader that came furthest says why.
    static func readSniffed(
        _ bytes: UnsafeBufferPointer<UInt8>, limits: Limits, options: ReadingOptions
    ) throws(DecodingFailure) -> (value: PropertyList, format: Format) {
        let candidates: [Format]
        switch Sniffing(bytes) {
        case .binary: return (try readBinary(bytes, limits: limits, options: options), .binary)
        case .xml: return (try readXML(bytes, limits: limits, options: options), .xml)
        case .nothing: throw DecodingFailure(.emptyInput, offset: 0, format: .openstep)
        case .bracket: candidates = [.json, .openstep, .gnustep]
        case .text: candidates = [.openstep, .gnustep]
        }
        var furthest: DecodingFailure?
        for format in candidates {
            do throws(DecodingFailure) {
                return (try PropertyList.read(bytes, as: format, limits: limits, options: options), format)
            } catch {
                // GNUstep's kind has more, so at the same place it has more to say.
                let isFurther = furthest.map {
                    error.offset > $0.offset || format == .gnustep && error.offset == $0.offset
                }
                if isFurther ?? true { furthest = error }
            }
        }
        throw furthest ?? DecodingFailure(.emptyInput, offset: 0, format: .openstep)
    }
}

extension PropertyList {
    /// Whether bytes are those of a binary file, as far as their beginning tells.
    package static func isBinary(_ bytes: some Collection<UInt8>) -> Bool {
        // A strings file may well have a key that begins so; a version is two digits.
        bytes.starts(with: "bplist".utf8) && bytes.dropFirst(6).prefix(2).allSatisfy { $0 &- 0x30 <= 9 }
    }
}

/// What the first bytes of an input look like.
enum Sniffing {
    case binary, xml, bracket, text, nothing

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        if PropertyList.isBinary(bytes) {
            self = .binary
            return
        }
        let mark = TextEncoding.byteOrderMark(in: bytes)
        if mark == nil, TextEncoding.ofLeadingTag(in: bytes) != nil {
            self = .xml
            return
        }
        func kind(of bytes: UnsafeBufferPointer<UInt8>, isWhole: Bool) -> Sniffing {
            let text = DecodedText(bytes, as: mark?.encoding ?? .utf8, from: mark?.length ?? 0)
            return text.withText(of: bytes) { Self.kind(ofText: $0, isWhole: isWhole) }
        }
        // Mostly enough for a look at the first characters behind white space, whatever the encoding.
        let head = kind(of: UnsafeBufferPointer(rebasing: bytes.prefix(4096)), isWhole: bytes.count <= 4096)
        self = head == .nothing && bytes.count > 4096 ? kind(of: bytes, isWhole: true) : head
    }

    private static func kind(ofText text: UnsafeBufferPointer<UInt8>, isWhole: Bool) -> Sniffing {
        let body = text.drop { isXMLSpace($0) || $0 == 0x0B || $0 == 0x0C }
        // A tag may go on behind the head.
        guard isWhole || body.count > 16 else { return .nothing }
        switch body.first {
        case nil: return .nothing
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .bracket
        case UInt8(ascii: "<"): return looksLikeXML(body.dropFirst()) ? .xml : .text
        default: return .text
        }
    }

    /// Whether what follows `<` makes it a tag, not data in hexadecimal digits.
    private static func looksLikeXML(_ rest: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        if rest.first == UInt8(ascii: "?") || rest.first == UInt8(ascii: "!") { return true }
        let name = rest.prefix { (0x61...0x7A).contains($0) }
        return XMLElement(rawValue: String(decoding: name.prefix(16), as: UTF8.self)) != nil
    }
}
