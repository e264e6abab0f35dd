extension PropertyList {
    /// Reads bytes whose format was not given.
    ///
    /// Binary and XML are known by their first bytes, whatever the name of the file. Then the extension decides. Other
    /// text is JSON if it is valid JSON, else OpenStep, and GNUstep only if it has GNUstep's syntax. If no reader
    /// accepts it, the failure of the one that came furthest is thrown.
    ///
    /// - Parameter named: The format that the extension of the file states.
    static func readSniffed(
        _ bytes: UnsafeBufferPointer<UInt8>, as named: Format? = nil, limits: Limits, options: ReadingOptions
    ) throws(DecodingFailure) -> (value: PropertyList, format: Format) {
        let candidates: [Format]
        switch (Sniffing(bytes), named) {
        case (.binary, _): return (try readBinary(bytes, limits: limits, options: options), .binary)
        case (.xml, _): return (try readXML(bytes, limits: limits, options: options), .xml)
        case (.nothing, _): throw DecodingFailure(.emptyInput, offset: 0, format: named ?? .openstep)
        case (_, .json): candidates = [.json]
        case (.bracket, nil): candidates = [.json, .openstep, .gnustep]
        case (.scalar, nil) where options.readsScalarsAsJSON: candidates = [.json, .openstep, .gnustep]
        default: candidates = [.openstep, .gnustep]
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
    /// Whether the first bytes are those of a binary file, or all bytes are the beginning of such a file.
    package static func isBinary(_ bytes: some Collection<UInt8>) -> Bool {
        // A strings file may have a key that begins with `bplist`; a version begins with a digit.
        let head = Array(bytes.prefix(7))
        if head.count < 7 { return head.count >= 3 && "bplist".utf8.starts(with: head) }
        return head.starts(with: "bplist".utf8) && head[6] &- 0x30 <= 9
    }
}

/// A format that the extension of a file's name states.
package enum NamedFormat {
    case json, json5, jsonc, openstep

    package init?(fileName: String) {
        guard let dot = fileName.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        switch fileName[fileName.index(after: dot)...].lowercased() {
        case "json": self = .json
        case "json5": self = .json5
        case "jsonc": self = .jsonc
        case "strings": self = .openstep
        default: return nil
        }
    }

    var format: PropertyList.Format { self == .openstep ? .openstep : .json }
}

/// What the first bytes of an input look like.
enum Sniffing {
    case binary, xml, bracket, text, nothing
    /// Text that begins as a scalar of JSON does.
    case scalar

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
        guard let first = body.first else { return .nothing }
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .bracket
        case UInt8(ascii: "<"): return looksLikeXML(body.dropFirst()) ? .xml : .text
        case UInt8(ascii: "\""), UInt8(ascii: "-"), 0x30...0x39, UInt8(ascii: "t"), UInt8(ascii: "f"): return .scalar
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
