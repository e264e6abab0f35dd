/// Why bytes cannot be read as a property list: the problem, its offset, and its entry.
public struct DecodingFailure: Error, Hashable, Sendable {
    /// What is wrong with the bytes.
    public let problem: Problem
    /// The offset of the byte at which the problem was found.
    public let offset: Int
    /// The entry in which the problem was found, as far as it was known.
    public let path: EntryPath
    /// The format that was being read.
    public let format: PropertyList.Format

    package init(_ problem: Problem, offset: Int, path: EntryPath = EntryPath(), format: PropertyList.Format) {
        self.problem = problem
        self.offset = offset
        self.path = path
        self.format = format
    }
}

extension DecodingFailure {
    /// The kinds of problem. New kinds may be added.
    @nonexhaustive
    public enum Problem: Hashable, Sendable {
        // Any format.
        /// The input is empty or white space.
        case emptyInput
        case tooLarge(limit: Int)
        case nestedTooDeeply(limit: Int)
        /// The input ends inside the named construct.
        case unexpectedEnd(inside: String)
        /// The named construct is missing.
        case expected(String)
        /// Unexpected text after the value.
        case trailingContent
        case duplicateKey(String)

        // Text.
        case invalidText(encoding: String)
        case unknownEncoding(String)
        /// The bytes are not in the declared encoding.
        case encodingMismatch(declared: String)
        /// A character that the format does not allow at this place.
        case invalidCharacter(UInt32)
        case loneSurrogate
        case invalidEscape(String)
        /// A string without a closing quote. The offset is that of its opening quote.
        case unterminatedString
        case missingByteOrderMark(encoding: String)

        // Values.
        case invalidInteger(String)
        case invalidReal(String)
        /// A number that does not match JSON's grammar.
        case invalidNumber(String)
        case invalidDate(String)
        case invalidData(String)
        case integerOutOfRange(String)
        case realOutOfRange(String)
        case dateOutOfRange(String)

        // XML.
        case unknownElement(String)
        case misplacedElement(String)
        case mismatchedTag(expected: String, found: String)
        case malformedTag(String)
        case unknownEntity(String)
        /// A known reference without its semicolon.
        case unterminatedReference(String)
        /// An ampersand that does not begin a reference.
        case bareAmpersand
        case internalSubset
        case misplacedText
        case keyWithoutValue(String)
        case valueWithoutKey
        case noValue
        case severalValues

        // JSON.
        /// A null where the options or the format do not allow it.
        case null
        /// A comment, which only JSON5 allows.
        case commentInJSON

        // Binary.
        case unsupportedVersion(String)
        case invalidTrailer(String)
        case invalidOffset(object: Int, offset: UInt64)
        case invalidReference(UInt64)
        case unknownMarker(UInt8)
        case invalidSize(String)
        case cycle
        case overlappingObjects
        case tooManyNodes(limit: Int)
        case tooManyBytes(limit: Int)
        case keyIsNotText
    }
}

extension DecodingFailure.Problem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .emptyInput: "nothing there"
        case .tooLarge(let limit): "larger than the limit of \(limit) bytes"
        case .nestedTooDeeply(let limit): "containers more than \(limit) levels deep"
        case .unexpectedEnd(let place): "ends inside \(place)"
        case .expected(let what): "expected \(what)"
        case .trailingContent: "something stands behind the value"
        case .duplicateKey(let key): "the key \(quoted(key)) stands twice"
        case .invalidText(let encoding): "not valid \(encoding)"
        case .unknownEncoding(let name): "unknown encoding \(quoted(name))"
        case .encodingMismatch(let name): "declared as \(quoted(name)), but in another encoding"
        case .invalidCharacter(let code): "the character \(codePoint(code)) is not allowed here"
        case .loneSurrogate: "half of a surrogate pair"
        case .invalidEscape(let text): "unknown escape \(quoted(text))"
        case .invalidInteger(let text): "not an integer: \(quoted(text))"
        case .invalidReal(let text): "not a real: \(quoted(text))"
        case .invalidNumber(let text): "not a number as JSON writes it: \(quoted(text))"
        case .invalidDate(let text): "not a date: \(quoted(text))"
        case .invalidData(let text): "not data: \(text)"
        case .integerOutOfRange(let text): "integer out of range: \(quoted(text))"
        case .realOutOfRange(let text): "real out of range: \(quoted(text))"
        case .dateOutOfRange(let text): "date out of range: \(quoted(text))"
        case .unterminatedString: "a string without a closing quote"
        case .missingByteOrderMark(let encoding): "\(encoding) without a byte order mark"
        case .unknownElement(let name): complaint(aboutElement: name)
        case .misplacedElement(let name): "<\(shortened(name))> may not stand here"
        case .mismatchedTag(let expected, let found): "expected </\(shortened(expected))>, found </\(shortened(found))>"
        case .malformedTag(let what): "malformed tag: \(what)"
        case .unknownEntity(let name): "unknown entity &\(shortened(name));"
        case .unterminatedReference(let name): "missing “;” after “&\(shortened(name))”"
        case .bareAmpersand: "bare “&”: write “&amp;”"
        case .internalSubset: "a document type with declarations of its own is not allowed"
        case .misplacedText: "text may not stand here"
        case .keyWithoutValue(let key): "the key \(quoted(key)) has no value"
        case .valueWithoutKey: "a value without a key"
        case .noValue: "there is no value"
        case .severalValues: "there is more than one value"
        case .null: "null, which settings cannot hold"
        case .commentInJSON: "comments are not JSON"
        case .unsupportedVersion(let version): "unsupported version \(quoted(version)) of the binary format"
        case .invalidTrailer(let what): "invalid trailer: \(what)"
        case .invalidOffset(let object, let offset): "object \(object) would begin at \(offset), outside the objects"
        case .invalidReference(let reference): "reference to object \(reference), which does not exist"
        case .unknownMarker(let marker): "unknown object marker 0x\(String(marker, radix: 16))"
        case .invalidSize(let what): "invalid size: \(what)"
        case .cycle: "a container that contains itself"
        case .overlappingObjects: "objects overlap"
        case .tooManyNodes(let limit): "stands for more than \(limit) values"
        case .tooManyBytes(let limit): "stands for more than \(limit) bytes"
        case .keyIsNotText: "a key that is not a string"
        }
    }
}

extension DecodingFailure: CustomStringConvertible {
    /// The problem with its offset and entry.
    public var description: String {
        let entry = path.components.isEmpty ? "" : " (at \(path.shown))"
        return "byte \(offset): \(problem)\(entry)"
    }
}

private func quoted(_ text: String) -> String { "\u{201C}\(shortened(text))\u{201D}" }

private func codePoint(_ code: UInt32) -> String {
    let digits = String(code, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}

private func complaint(aboutElement name: String) -> String {
    let known = ["plist", "dict", "array", "string", "integer", "real", "true", "false", "date", "data", "key"]
    let hint = known.nearest(to: name).map { "; did you mean <\($0)>?" } ?? ""
    return "unknown element <\(shortened(name))>\(hint)"
}

/// A problem found while reading; the path of its entry is added later.
struct Fault: Error {
    let problem: DecodingFailure.Problem
    let offset: Int

    init(_ problem: DecodingFailure.Problem, at offset: Int) {
        self.problem = problem
        self.offset = offset
    }
}

/// A line and column of a text. Columns count characters.
public struct TextLocation: Hashable, Sendable {
    /// Counted from 1.
    public let line: Int
    /// Counted from 1.
    public let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

extension DecodingFailure {
    /// The line and column of the failure in the bytes that were read, or nil for a binary file.
    public func location(in bytes: some Sequence<UInt8>) -> TextLocation? {
        guard format != .binary else { return nil }
        return TextLocation.locations(of: [offset], inText: Array(bytes))[offset]
    }
}

extension TextLocation {
    /// The lines and columns of `offsets`, computed in one pass over the text.
    static func locations(of offsets: [Int], inText bytes: [UInt8]) -> [Int: TextLocation] {
        let unit = TextEncoding.unitWidth(of: bytes)
        var locations: [Int: TextLocation] = [:]
        var (line, column) = (1, 1)
        var previous: UInt32 = 0
        var at = TextEncoding.byteOrderMark(in: bytes)?.length ?? 0
        for offset in offsets.sorted() {
            while at < min(offset, bytes.count) {
                let code = unit.code(at: at, in: bytes)
                at += unit.width
                switch code {
                case 0x0A where previous == 0x0D: break
                case 0x0A, 0x0D: (line, column) = (line + 1, 1)
                case 0x80..<0xC0 where unit.width == 1 && unit.isUTF8: break
                case 0xDC00..<0xE000 where unit.width == 2: break
                default: column += 1
                }
                previous = code
            }
            locations[offset] = TextLocation(line: line, column: column)
        }
        return locations
    }
}

extension TextEncoding {
    /// The width of a text's code units, and how to read one.
    fileprivate struct Unit {
        let width: Int
        let isBigEndian: Bool
        let isUTF8: Bool

        func code(at offset: Int, in bytes: [UInt8]) -> UInt32 {
            (0..<min(width, bytes.count - offset)).reduce(0) { code, step in
                code | UInt32(bytes[offset + step]) << UInt32(8 * (isBigEndian ? width - 1 - step : step))
            }
        }
    }

    fileprivate static func unitWidth(of bytes: [UInt8]) -> Unit {
        switch byteOrderMark(in: bytes)?.encoding ?? ofLeadingTag(in: bytes) ?? .utf8 {
        case .utf16(let bigEndian): Unit(width: 2, isBigEndian: bigEndian, isUTF8: false)
        case .utf32(let bigEndian): Unit(width: 4, isBigEndian: bigEndian, isUTF8: false)
        default:
            Unit(width: 1, isBigEndian: false, isUTF8: XMLDeclaration.encoding(of: bytes).map { $0 == .utf8 } ?? true)
        }
    }
}
