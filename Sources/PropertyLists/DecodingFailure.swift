/// Why bytes cannot be read as a property list: the problem, its offset, and its entry.
public struct DecodingFailure: Error, Hashable, Sendable {
    /// The kind of error.
    package let problem: Problem
    /// The offset of the byte at which the problem was found.
    public let offset: Int
    /// The path of the entry in which the problem was found, as far as it is known.
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
    /// The kinds of problem.
    package enum Problem: Hashable, Sendable {
        // Any format.
        /// The input is empty or white space.
        case emptyInput
        /// The input has more bytes than the limit.
        case tooLarge(limit: Int)
        /// Containers are nested more deeply than the limit.
        case nestedTooDeeply(limit: Int)
        /// The input ends inside the named construct.
        case unexpectedEnd(inside: String)
        /// The named construct is missing.
        case expected(String)
        /// Unexpected text after the value.
        case trailingContent
        /// A duplicate key, which the options refuse.
        case duplicateKey(String)
        /// A duplicate key in a text whose keys are on lines, and the line of the first one.
        case duplicateKeyInLines(String, first: Int)
        /// A kind of value that property lists do not have. The string names it with its article.
        case unsupportedValue(String)
        /// Text that appears to be in another language.
        case otherLanguage(OtherLanguage)

        // Text.
        /// The bytes are not valid in the named encoding.
        case invalidText(encoding: String)
        /// The declared encoding is unknown.
        case unknownEncoding(String)
        /// The bytes are not in the declared encoding.
        case encodingMismatch(declared: String)
        /// A character that the format does not allow at this place.
        case invalidCharacter(UInt32)
        /// Half of a surrogate pair.
        case loneSurrogate
        /// An escape sequence that the format does not define.
        case invalidEscape(String)
        /// A string without a closing quote. The offset is that of its opening quote.
        case unterminatedString
        /// Text in UTF-16 or UTF-32 without the required byte order mark.
        case missingByteOrderMark(encoding: String)

        // Values.
        /// Text that is not an integer.
        case invalidInteger(String)
        /// Text that is not a real.
        case invalidReal(String)
        /// A number that does not match JSON's grammar.
        case invalidNumber(String)
        /// Text without quotes that is no value of TOML.
        case invalidTOML(String)
        /// Text that is not a date.
        case invalidDate(String)
        /// Text that is not data. The string is the reason.
        case invalidData(String)
        /// An integer below −2⁶³ or above 2⁶⁴−1.
        case integerOutOfRange(String)
        /// A real whose magnitude exceeds that of every finite double.
        case realOutOfRange(String)
        /// A date that is too far from the reference date.
        case dateOutOfRange(String)

        // XML.
        /// An element that property lists do not have.
        case unknownElement(String)
        /// An element where it is not allowed, such as a key in an array.
        case misplacedElement(String)
        /// A closing tag of another element than the open one.
        case mismatchedTag(expected: String, found: String)
        /// A tag that is not well-formed. The string is the reason.
        case malformedTag(String)
        /// A reference to an entity that XML does not predefine.
        case unknownEntity(String)
        /// A known reference without its semicolon.
        case unterminatedReference(String)
        /// An ampersand that does not begin a reference.
        case bareAmpersand
        /// A document type with declarations of its own.
        case internalSubset
        /// Text outside of the elements that contain text.
        case misplacedText
        /// A key that no value follows.
        case keyWithoutValue(String)
        /// A value in a dictionary that follows no key.
        case valueWithoutKey
        /// A document with another root than a property list.
        case otherRoot(String)
        /// A plist element without a value.
        case noValue
        /// A plist element with more than one value.
        case severalValues

        // JSON.
        /// A null where the options or the format do not allow it.
        case null
        /// A comment, which strict JSON does not have.
        case commentInJSON
        /// A comma before the closing bracket, which strict JSON does not have.
        case trailingComma(before: String)
        /// A string or key without double quotes. The string names these things.
        case lacksDoubleQuotes(String)
        /// A problem that another syntax of JSON does not have.
        indirect case onlyIn(PropertyList.JSONSyntax, Problem)

        // Binary.
        /// A version of the binary format that cannot be read.
        case unsupportedVersion(String)
        /// The last 32 bytes of the file are inconsistent. The string is the reason.
        case invalidTrailer(String)
        /// The offset of an object is outside the objects.
        case invalidOffset(object: Int, offset: UInt64)
        /// A reference to an object that does not exist.
        case invalidReference(UInt64)
        /// An object of an unknown type.
        case unknownMarker(UInt8)
        /// The size of an object is invalid. The string is the reason.
        case invalidSize(String)
        /// A container that contains itself.
        case cycle
        /// Two objects have bytes in common.
        case overlappingObjects
        /// More values and keys than the limit, where a shared value is counted at each reference.
        case tooManyNodes(limit: Int)
        /// More bytes in values than the limit, where a shared value is counted at each reference.
        case tooManyBytes(limit: Int)
        /// A key of a dictionary that is not a string.
        case keyIsNotText
    }
}

extension DecodingFailure.Problem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .emptyInput: "the input is empty"
        case .tooLarge(let limit): "larger than the limit of \(limit) bytes"
        case .nestedTooDeeply(let limit): "containers more than \(limit) levels deep"
        case .unexpectedEnd(let place): "ends inside \(place)"
        case .expected(let what): "expected \(what)"
        case .trailingContent: "unexpected text after the value"
        case .duplicateKey(let key): "duplicate key \(quoted(key))"
        case .invalidText(let encoding): "not valid \(encoding)"
        case .unknownEncoding(let name): "unknown encoding \(quoted(name))"
        case .encodingMismatch(let name): "declared as \(quoted(name)), but in another encoding"
        case .invalidCharacter(let code): "the character \(codePoint(code)) is not allowed here"
        case .loneSurrogate: "half of a surrogate pair"
        case .invalidEscape(let text): "unknown escape \(quoted(text))"
        case .invalidInteger(let text): "not an integer: \(quoted(text))"
        case .invalidReal(let text): "not a real: \(quoted(text))"
        case .invalidNumber(let text): "not a JSON number: \(quoted(text))"
        case .invalidTOML(let text): "not a number of TOML: \(quoted(text))"
        case .invalidDate(let text): "not a date: \(quoted(text))"
        case .invalidData(let text): "not data: \(text)"
        case .integerOutOfRange(let text): "integer out of range: \(quoted(text))"
        case .realOutOfRange(let text): "real out of range: \(quoted(text))"
        case .dateOutOfRange(let text): "date out of range: \(quoted(text))"
        case .unterminatedString: "a string without a closing quote"
        case .missingByteOrderMark(let encoding): "\(encoding) without a byte order mark"
        case .unknownElement(let name): complaint(aboutElement: name)
        case .misplacedElement(let name): "<\(shortened(name))> is not allowed here"
        case .mismatchedTag(let expected, let found): "expected </\(shortened(expected))>, found </\(shortened(found))>"
        case .malformedTag(let what): "malformed tag: \(what)"
        case .unknownEntity(let name): "unknown entity &\(shortened(name));"
        case .unterminatedReference(let name): "missing “;” after “&\(shortened(name))”"
        case .bareAmpersand: "bare “&”: write “&amp;”"
        case .internalSubset: "a document type with declarations of its own is not allowed"
        case .misplacedText: "text is not allowed here"
        case .keyWithoutValue(let key): "the key \(quoted(key)) has no value"
        case .valueWithoutKey: "a value without a key"
        case .otherRoot(let name): "an XML file, but not a property list: the root is <\(shortened(name))>"
        case .noValue: "there is no value"
        case .severalValues: "there is more than one value"
        case .duplicateKeyInLines(let key, let line): "duplicate key \(quoted(key)), which line \(line) has too"
        case .unsupportedValue(let what): "\(what), which settings cannot hold"
        case .null: "null, which settings cannot hold"
        case .commentInJSON: "comments are not JSON"
        case .trailingComma(let bracket): "a comma before \(bracket)"
        case .lacksDoubleQuotes(let things): "\(things) need double quotes"
        case .onlyIn(.json5, let problem):
            "\(problem); this is JSON5, which needs the extension .json5 or .jsonc, or --from json5"
        case .onlyIn(_, let problem): "\(problem); this is JSON with comments"
        case .otherLanguage(let language): "looks like \(language.text)"
        case .unsupportedVersion(let version): "unsupported version \(quoted(version)) of the binary format"
        case .invalidTrailer(let what): "invalid trailer: \(what)"
        case .invalidOffset(let object, let offset): "object \(object) would begin at \(offset), outside the objects"
        case .invalidReference(let reference): "reference to object \(reference), which does not exist"
        case .unknownMarker(let marker): "unknown object marker 0x\(String(marker, radix: 16))"
        case .invalidSize(let what): "invalid size: \(what)"
        case .cycle: "a container that contains itself"
        case .overlappingObjects: "objects overlap"
        case .tooManyNodes(let limit): "more than \(limit) values if each reference to a shared value is counted"
        case .tooManyBytes(let limit): "more than \(limit) bytes if each reference to a shared value is counted"
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

/// The notation of a character for messages, such as `U+000C`.
func codePoint(_ code: UInt32) -> String {
    let digits = String(code, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}

private func complaint(aboutElement name: String) -> String {
    let hint = XMLElement.allCases.map(\.rawValue).nearest(to: name).map { "; did you mean <\($0)>?" } ?? ""
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

extension Fault {
    /// The failure of a binary file at `path`.
    func inBinary(at path: EntryPath = EntryPath()) -> DecodingFailure {
        DecodingFailure(problem, offset: offset, path: path, format: .binary)
    }
}

/// A line and a column of a text. A column is a number of characters.
public struct TextLocation: Hashable, Sendable {
    /// The line, counted from 1.
    public let line: Int
    /// The column, counted from 1.
    public let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

extension DecodingFailure {
    /// Returns the line and column of the failure, or nil for a binary file.
    ///
    /// - Parameter bytes: The bytes that were read.
    public func location(in bytes: some Sequence<UInt8>) -> TextLocation? {
        guard format != .binary else { return nil }
        return TextLocation.locations(of: [offset], inText: Array(bytes))[offset]
    }
}

extension TextLocation {
    /// The lines and columns of `offsets`, computed in one pass over the text.
    package static func locations(of offsets: [Int], inText bytes: [UInt8]) -> [Int: TextLocation] {
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
