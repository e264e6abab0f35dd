/// The encodings of text.
enum TextEncoding: Equatable {
    case utf8, utf16(bigEndian: Bool), utf32(bigEndian: Bool), ascii, latin1, windows1252

    /// The encoding that a byte order mark declares, and the length of the mark.
    static func byteOrderMark(in bytes: [UInt8]) -> (encoding: TextEncoding, length: Int)? {
        func begins(_ mark: [UInt8]) -> Bool { bytes.starts(with: mark) }
        if begins([0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
        if begins([0xFF, 0xFE, 0, 0]) { return (.utf32(bigEndian: false), 4) }
        if begins([0, 0, 0xFE, 0xFF]) { return (.utf32(bigEndian: true), 4) }
        if begins([0xFF, 0xFE]) { return (.utf16(bigEndian: false), 2) }
        if begins([0xFE, 0xFF]) { return (.utf16(bigEndian: true), 2) }
        return nil
    }

    /// The encoding of text without a byte order mark, from the zeros around a leading `<` and the white space before
    /// it.
    static func ofLeadingTag(in bytes: [UInt8]) -> TextEncoding? {
        func leadsToTag(unit: Int, significant: Int) -> Bool {
            for start in stride(from: 0, through: bytes.count - unit, by: unit) {
                let byte = bytes[start + significant]
                guard (0..<unit).allSatisfy({ $0 == significant || bytes[start + $0] == 0 }) else { return false }
                if byte == UInt8(ascii: "<") { return true }
                guard isXMLSpace(byte) else { return false }
            }
            return false
        }
        if leadsToTag(unit: 4, significant: 0) { return .utf32(bigEndian: false) }
        if leadsToTag(unit: 4, significant: 3) { return .utf32(bigEndian: true) }
        if leadsToTag(unit: 2, significant: 0) { return .utf16(bigEndian: false) }
        if leadsToTag(unit: 2, significant: 1) { return .utf16(bigEndian: true) }
        return nil
    }

    /// UTF-16 or UTF-32 if there is no byte order mark and the first two characters are ASCII, or nil.
    static func withoutMark(in bytes: [UInt8]) -> TextEncoding? {
        func isEncoded(unit: Int, significant: Int) -> Bool {
            bytes.count >= 2 * unit
                && (0..<2 * unit).allSatisfy { (bytes[$0] != 0) == ($0 % unit == significant) && bytes[$0] < 0x80 }
        }
        if isEncoded(unit: 2, significant: 0) { return .utf16(bigEndian: false) }
        if isEncoded(unit: 2, significant: 1) { return .utf16(bigEndian: true) }
        if isEncoded(unit: 4, significant: 0) { return .utf32(bigEndian: false) }
        return isEncoded(unit: 4, significant: 3) ? .utf32(bigEndian: true) : nil
    }

    /// The name of the encoding in messages.
    var name: String {
        switch self {
        case .utf8: "UTF-8"
        case .utf16: "UTF-16"
        case .utf32: "UTF-32"
        case .ascii: "US-ASCII"
        case .latin1: "ISO-8859-1"
        case .windows1252: "windows-1252"
        }
    }
}

/// A text in UTF-8, and the mapping of its offsets to those of the original bytes.
struct DecodedText {
    let encoding: TextEncoding
    /// The length of the byte order mark before the text.
    let start: Int
    /// The text in UTF-8, or nil if the original is in UTF-8.
    let converted: [UInt8]?
    /// The offset in `converted` from which the original is invalid, or nil.
    let invalidFrom: Int?

    /// Decodes the bytes after a mark of `start` bytes.
    init(_ bytes: [UInt8], as encoding: TextEncoding, from start: Int) {
        self.encoding = encoding
        self.start = start
        guard encoding != .utf8 else {
            (converted, invalidFrom) = (nil, nil)
            return
        }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var invalid: Int?
        encoding.walk(bytes, from: start) { scalar, _ in
            guard let scalar else {
                invalid = output.count
                return false
            }
            output.append(scalar)
            return true
        }
        (converted, invalidFrom) = (output, invalid)
    }

    /// The text in UTF-8.
    func text(of bytes: [UInt8]) -> [UInt8] { converted ?? (start == 0 ? bytes : Array(bytes[start...])) }

    /// Returns a function that maps offsets in the text to those in the original. It is fast for many offsets.
    func originalOffsets(in bytes: [UInt8]) -> (Int) -> Int {
        guard encoding != .utf8 else { return { $0 + start } }
        var offsets: [Int] = []
        encoding.walk(bytes, from: start) { scalar, place in
            offsets += Array(repeating: place, count: scalar.map { UTF8.width($0) } ?? 0)
            return scalar != nil
        }
        let count = bytes.count
        return { [offsets] in $0 < offsets.count ? offsets[$0] : count }
    }

    /// Returns the offset in the original that corresponds to `offset` in the text.
    func originalOffset(_ offset: Int, in bytes: [UInt8]) -> Int {
        guard encoding != .utf8 else { return offset + start }
        var written = 0
        var result = bytes.count
        encoding.walk(bytes, from: start) { scalar, place in
            if written >= offset {
                result = place
                return false
            }
            written += scalar.map { UTF8.width($0) } ?? 0
            return true
        }
        return result
    }
}

extension TextEncoding {
    /// Calls `body` with each character, or nil for invalid bytes, and its offset, until `body` returns false.
    fileprivate func walk(
        _ bytes: [UInt8], from start: Int, _ body: (Unicode.Scalar?, Int) -> Bool
    ) {
        switch self {
        case .utf8: break
        case .ascii:
            for at in start..<bytes.count where !body(bytes[at] < 0x80 ? Unicode.Scalar(bytes[at]) : nil, at) { return }
        case .latin1:
            for at in start..<bytes.count where !body(Unicode.Scalar(bytes[at]), at) { return }
        case .windows1252:
            for at in start..<bytes.count where !body(windows1252Scalar(bytes[at]), at) { return }
        case .utf32(let bigEndian):
            for at in stride(from: start, to: bytes.count, by: 4) {
                let unit: UInt32? = at + 4 <= bytes.count ? Self.unit(bytes, at, width: 4, bigEndian) : nil
                guard body(unit.flatMap { Unicode.Scalar($0) }, at) else { return }
            }
        case .utf16(let bigEndian): Self.walkUTF16(bytes, from: start, bigEndian, body)
        }
    }

    private static func walkUTF16(
        _ bytes: [UInt8], from start: Int, _ bigEndian: Bool,
        _ body: (Unicode.Scalar?, Int) -> Bool
    ) {
        var at = start
        while at < bytes.count {
            let place = at
            guard at + 2 <= bytes.count else {
                _ = body(nil, place)
                return
            }
            var code = unit(bytes, at, width: 2, bigEndian)
            at += 2
            if code & 0xFC00 == 0xD800, at + 2 <= bytes.count,
                let pair = Unicode.Scalar(high: code, low: unit(bytes, at, width: 2, bigEndian))
            {
                code = pair.value
                at += 2
            }
            guard body(Unicode.Scalar(code), place) else { return }
        }
    }

    private static func unit(_ bytes: [UInt8], _ at: Int, width: Int, _ bigEndian: Bool) -> UInt32 {
        (0..<width).reduce(0) { unit, step in
            unit << 8 | UInt32(bytes[bigEndian ? at + step : at + width - 1 - step])
        }
    }
}

private func windows1252Scalar(_ byte: UInt8) -> Unicode.Scalar? {
    guard (0x80...0x9F).contains(byte) else { return Unicode.Scalar(byte) }
    let code = windows1252[Int(byte) - 0x80]
    return code == 0 ? nil : Unicode.Scalar(code)
}

/// The characters of windows-1252 at 0x80–0x9F, or 0 if none is assigned.
private let windows1252: [UInt32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
    0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
    0x0178,
]

/// A reader of one text in one of the text formats.
protocol TextReader: ~Copyable {
    mutating func read() throws(Fault) -> PropertyList
    /// The path to the entry that is being read or is invalid.
    var path: EntryPath { get }
    var builder: TreeBuilder { get set }
}

extension DecodedText {
    /// Reads the text with a new reader, and maps the offset of a failure to the original bytes.
    ///
    /// Invalid text is read up to the first invalid byte. A failure before this byte is reported unchanged. Otherwise
    /// the invalid byte is reported, with the entry in which the valid text ended.
    func read<Reader: TextReader & ~Copyable>(
        _ bytes: [UInt8], as format: PropertyList.Format, sources: inout SourceMap?,
        with makeReader: (_ text: [UInt8], _ isASCII: Bool) -> Reader
    ) throws(DecodingFailure) -> PropertyList {
        let text = text(of: bytes)
        let traits = TextTraits(of: text)
        let fault = (traits.firstInvalid ?? invalidFrom).map {
            Fault(.invalidText(encoding: encoding.name), at: $0)
        }
        var reader = makeReader(fault.map { Array(text[..<$0.offset]) } ?? text, traits.isASCII)
        reader.builder.sources = sources
        do throws(Fault) {
            let value = try reader.read()
            if let fault { throw fault }
            if let recorded = reader.builder.sources { sources = recorded.mapped(originalOffsets(in: bytes)) }
            return value
        } catch {
            if start == 0, encoding == .utf8, let unmarked = TextEncoding.withoutMark(in: bytes) {
                throw DecodingFailure(.missingByteOrderMark(encoding: unmarked.name), offset: 0, format: format)
            }
            // A string without an end is an effect of the invalid byte at which the text was cut.
            let first = fault.map { error.isBefore($0) ? error : $0 } ?? error
            throw DecodingFailure(
                first.problem, offset: originalOffset(first.offset, in: bytes), path: reader.path, format: format)
        }
    }
}

extension Fault {
    fileprivate func isBefore(_ invalidText: Fault) -> Bool {
        offset < invalidText.offset && problem != .unterminatedString
    }
}
