internal import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The output of `dconf dump`, whose folders are dictionaries.
///
///     [/]
///     theme='dark'
///
///     [org/example/windows]
///     size=uint32 80
///     names=['a', 'b']
///
/// The values are GVariant text.
package enum DconfText {
    /// Returns the settings.
    package static func settings(in bytes: [UInt8]) throws(ImportedText.Failure) -> ImportedText {
        var result = ImportedText(of: bytes)
        /// The number of folders around the keys; nil before the first one.
        var depth: Int?
        for line in bytes.textLines {
            let content = line.trimmed
            guard let first = content.first, first != UInt8(ascii: "#") else { continue }
            let start = content.startIndex
            if first == UInt8(ascii: "[") {
                let path = try path(content)
                try result.begin(path, at: start)
                depth = path.components.count
                continue
            }
            guard let depth else { throw ImportedText.Failure(.expected("[FOLDER]"), at: start) }
            guard let sign = content.firstIndex(of: UInt8(ascii: "=")), sign > start else {
                throw ImportedText.Failure(.expected("KEY=VALUE or [FOLDER]"), at: start)
            }
            let key = content[..<sign].trimmed
            if let slash = key.firstIndex(of: UInt8(ascii: "/")) {
                throw ImportedText.Failure(.invalidCharacter(0x2F), at: slash)
            }
            let value = try GVariantReader.value(of: content[(sign + 1)...], level: depth)
            try result.add(value, for: key.text(), at: start)
        }
        result.finish()
        return result
    }

    /// The maximum number of folders and containers around a value. GLib has the same limit for the containers.
    package static let mostLevels = 128

    private static func path(_ line: TextPart) throws(ImportedText.Failure) -> EntryPath {
        let start = line.startIndex
        guard line.count > 2, line.last == UInt8(ascii: "]") else {
            throw ImportedText.Failure(.expected("[FOLDER]"), at: start)
        }
        let name = line.dropFirst().dropLast()
        if name.elementsEqual("/".utf8) { return [] }
        let folders = name.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard folders.count < mostLevels else {
            throw ImportedText.Failure(.nestedTooDeeply(limit: mostLevels), at: start)
        }
        var components: [EntryPath.Component] = []
        for folder in folders {
            guard !folder.isEmpty else {
                throw ImportedText.Failure(.expected("the name of a folder"), at: folder.startIndex)
            }
            components.append(EntryPath.Component(try folder.text()))
        }
        return EntryPath(components)
    }
}

/// Reads a value in GVariant text.
private struct GVariantReader {
    private var rest: TextPart
    /// The number of folders and containers around the value.
    private var level: Int

    /// Reads a value that is the whole text.
    static func value(of text: TextPart, level: Int) throws(ImportedText.Failure) -> PropertyList {
        // A NUL and bytes that are not UTF-8 are errors at any place.
        _ = try text.text()
        var reader = GVariantReader(rest: text, level: level)
        let value = try reader.value(.any)
        reader.skipBlanks()
        guard reader.rest.isEmpty else { throw ImportedText.Failure(.trailingContent, at: reader.rest.startIndex) }
        return value
    }

    private mutating func skipBlanks() { rest = rest.drop(while: \.isBlank) }

    /// Takes a byte if it is next, after white space.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func value(_ type: GVariantType) throws(ImportedText.Failure) -> PropertyList {
        skipBlanks()
        let start = rest.startIndex
        guard let first = rest.first else { throw ImportedText.Failure(.expected("a value"), at: start) }
        let value =
            switch first {
            case UInt8(ascii: "@"): try annotated()
            case UInt8(ascii: "["):
                try nested { reader throws(ImportedText.Failure) in try reader.array(of: type.element) }
            case UInt8(ascii: "{"):
                try nested { reader throws(ImportedText.Failure) in try reader.dictionary(of: type.element) }
            case UInt8(ascii: "<"): try nested { reader throws(ImportedText.Failure) in try reader.variant() }
            case UInt8(ascii: "("): throw ImportedText.Failure(.unsupportedValue("a tuple"), at: start)
            case UInt8(ascii: "'"), UInt8(ascii: "\""): PropertyList.string(try string())
            case UInt8(ascii: "b") where rest.dropFirst().first?.isQuote ?? false:
                PropertyList.data(Data(try byteString()))
            case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), 0x30...0x39: try number(type)
            default: try word(type)
            }
        guard let typed = type.fitted(value) else { throw ImportedText.Failure(.expected(type.noun), at: start) }
        return typed
    }
}

// MARK: Containers

extension GVariantReader {
    private mutating func nested(
        _ body: (inout GVariantReader) throws(ImportedText.Failure) -> PropertyList
    ) throws(ImportedText.Failure) -> PropertyList {
        guard level < DconfText.mostLevels else {
            throw ImportedText.Failure(.nestedTooDeeply(limit: DconfText.mostLevels), at: rest.startIndex)
        }
        rest.removeFirst()
        level += 1
        let value = try body(&self)
        level -= 1
        return value
    }

    private mutating func array(of element: GVariantType) throws(ImportedText.Failure) -> PropertyList {
        var elements: [PropertyList] = []
        if take("]") { return .array([]) }
        repeat { elements.append(try value(element)) } while take(",")
        guard take("]") else { throw ImportedText.Failure(.expected("“,” or “]”"), at: rest.startIndex) }
        return .array(elements)
    }

    private mutating func dictionary(of element: GVariantType) throws(ImportedText.Failure) -> PropertyList {
        let brace = rest.startIndex - 1
        var entries = PropertyList.Dictionary()
        if take("}") { return .dictionary([:]) }
        repeat {
            skipBlanks()
            let start = rest.startIndex
            guard case .string(let key) = try value(.any) else { throw ImportedText.Failure(.keyIsNotText, at: start) }
            if take(",") {
                throw ImportedText.Failure(.unsupportedValue("an entry outside of a dictionary"), at: brace)
            }
            guard take(":") else { throw ImportedText.Failure(.expected("“:”"), at: rest.startIndex) }
            guard !key.isEmpty else { throw ImportedText.Failure(.expected("a key that is not empty"), at: start) }
            guard entries[key] == nil else { throw ImportedText.Failure(.duplicateKey(key), at: start) }
            entries[key] = try value(element)
        } while take(",")
        guard take("}") else { throw ImportedText.Failure(.expected("“,” or “}”"), at: rest.startIndex) }
        return .dictionary(entries)
    }

    private mutating func variant() throws(ImportedText.Failure) -> PropertyList {
        let inner = try value(.any)
        guard take(">") else { throw ImportedText.Failure(.expected("“>”"), at: rest.startIndex) }
        return inner
    }
}

// MARK: Types

/// The type of a value, as far as it is known.
private indirect enum GVariantType: Sendable {
    case any
    /// An integer in a range.
    case integer(ClosedRange<Int128>)
    case boolean, real, string
    case array(GVariantType)
    case dictionary(GVariantType)

    /// The type of the elements or values in a container.
    var element: GVariantType {
        switch self {
        case .array(let type), .dictionary(let type): type
        default: .any
        }
    }

    /// Returns a value of the type, or nil if the value has another one.
    func fitted(_ value: PropertyList) -> PropertyList? {
        switch (self, value) {
        case (.integer(let range), .integer(let number)):
            Int128(exactly: number).map(range.contains) ?? false ? value : nil
        case (.any, _), (.boolean, .boolean), (.real, .real), (.string, .string), (.array, .array),
            (.dictionary, .dictionary):
            value
        // Bytes between quotes are an array of bytes.
        case (.array(.integer), .data): value
        default: nil
        }
    }

    /// A description of the type for a message.
    var noun: String {
        switch self {
        case .any: "a value"
        case .integer(let range): "an integer from \(range.lowerBound) to \(range.upperBound)"
        case .boolean: "true or false"
        case .real: "a number"
        case .string: "a string"
        case .array: "an array"
        case .dictionary: "a dictionary"
        }
    }

    /// The types of scalars: the keyword before a value, and the letter in the notation of types, such as `a{su}`.
    private static let scalars: [(keyword: String, letter: Unicode.Scalar, type: GVariantType)] = [
        ("boolean", "b", .boolean), ("byte", "y", .integer(0...0xFF)),
        ("int16", "n", .integer(Int128(Int16.min)...Int128(Int16.max))), ("uint16", "q", .integer(0...0xFFFF)),
        ("int32", "i", .integer(Int128(Int32.min)...Int128(Int32.max))), ("uint32", "u", .integer(0...0xFFFF_FFFF)),
        ("handle", "h", .integer(Int128(Int32.min)...Int128(Int32.max))),
        ("int64", "x", .integer(Int128(Int64.min)...Int128(Int64.max))),
        ("uint64", "t", .integer(0...Int128(UInt64.max))), ("double", "d", .real), ("string", "s", .string),
        ("objectpath", "o", .string), ("signature", "g", .string),
    ]

    init?(keyword: String) {
        guard let row = Self.scalars.first(where: { $0.keyword.hasSameBytes(as: keyword) }) else { return nil }
        self = row.type
    }

    init?(letter: UInt8) {
        guard let row = Self.scalars.first(where: { $0.letter == Unicode.Scalar(letter) }) else { return nil }
        self = row.type
    }
}

extension GVariantReader {
    /// Reads a type after `@`, and the value of this type.
    private mutating func annotated() throws(ImportedText.Failure) -> PropertyList {
        rest.removeFirst()
        let type = try takeType(level)
        guard rest.first?.isBlank ?? false else {
            throw ImportedText.Failure(.expected("a type and a value"), at: rest.startIndex)
        }
        return try value(type)
    }

    private mutating func takeType(_ level: Int) throws(ImportedText.Failure) -> GVariantType {
        let start = rest.startIndex
        guard level < DconfText.mostLevels else {
            throw ImportedText.Failure(.nestedTooDeeply(limit: DconfText.mostLevels), at: start)
        }
        let letter = rest.popFirst() ?? 0
        switch letter {
        case UInt8(ascii: "v"): return .any
        case UInt8(ascii: "a"):
            guard rest.first == UInt8(ascii: "{") else { return .array(try takeType(level + 1)) }
            rest.removeFirst()
            let key = try takeType(level + 1)
            guard case .string = key else { throw ImportedText.Failure(.keyIsNotText, at: start) }
            let type = GVariantType.dictionary(try takeType(level + 1))
            guard rest.popFirst() == UInt8(ascii: "}") else {
                throw ImportedText.Failure(.expected("a type"), at: start)
            }
            return type
        case UInt8(ascii: "("), UInt8(ascii: "r"): throw ImportedText.Failure(.unsupportedValue("a tuple"), at: start)
        case UInt8(ascii: "m"): throw ImportedText.Failure(.unsupportedValue("a maybe type"), at: start)
        case UInt8(ascii: "{"):
            throw ImportedText.Failure(.unsupportedValue("an entry outside of a dictionary"), at: start)
        default:
            guard let type = GVariantType(letter: letter) else {
                throw ImportedText.Failure(.expected("a type"), at: start)
            }
            return type
        }
    }
}

// MARK: Scalars

extension GVariantReader {
    /// Reads a Boolean, a number that is a word, or a type and its value.
    private mutating func word(_ type: GVariantType) throws(ImportedText.Failure) -> PropertyList {
        let start = rest.startIndex
        let word = rest.prefix { ($0 | 0x20) &- UInt8(ascii: "a") < 26 || $0 &- 0x30 <= 9 }
        switch String(decoding: word, as: UTF8.self) {
        case "true":
            rest = rest[word.endIndex...]
            return true
        case "false":
            rest = rest[word.endIndex...]
            return false
        case "inf", "nan": return try number(type)
        case "just", "nothing": throw ImportedText.Failure(.unsupportedValue("a maybe type"), at: start)
        case let keyword:
            guard let type = GVariantType(keyword: keyword), rest[word.endIndex...].first?.isBlank ?? false else {
                throw ImportedText.Failure(.expected("a value"), at: start)
            }
            rest = rest[word.endIndex...]
            return try value(type)
        }
    }

    /// Reads a number: decimal, hexadecimal after `0x`, or octal after a zero. It is a real if it has a point or an
    /// exponent, or if the type is real.
    private mutating func number(_ type: GVariantType) throws(ImportedText.Failure) -> PropertyList {
        let start = rest.startIndex
        let token = rest.prefix { !$0.isBlank && !",]}>:)".utf8.contains($0) }
        rest = rest[token.endIndex...]
        let text = String(decoding: token, as: UTF8.self)
        let digits = token.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
        let isHexadecimal = digits.starts(with: "0x".utf8)
        let isReal = !isHexadecimal && digits.contains { ".einfaEINFA".utf8.contains($0) }
        if isReal || type.isReal {
            if token.count - digits.count < 2, let number = Double(word: text), !isHexadecimal { return .real(number) }
            let isOutOfRange = Double(text)?.isInfinite ?? false
            throw ImportedText.Failure(isOutOfRange ? .realOutOfRange(text) : .invalidReal(text), at: start)
        }
        let isOctal = digits.count > 1 && digits.first == UInt8(ascii: "0") && !isHexadecimal
        let radix = isHexadecimal ? 16 : isOctal ? 8 : 10
        let magnitude = digits.dropFirst(isHexadecimal ? 2 : 0)
        guard token.count - digits.count < 2, !magnitude.isEmpty,
            magnitude.allSatisfy({ Int(String(UnicodeScalar($0)), radix: radix) != nil })
        else { throw ImportedText.Failure(.invalidInteger(text), at: start) }
        let sign = token.first == UInt8(ascii: "-") ? "-" : ""
        guard let number = Int128(sign + String(decoding: magnitude, as: UTF8.self), radix: radix),
            let integer = PropertyList.Integer(exactly: number)
        else { throw ImportedText.Failure(.integerOutOfRange(text), at: start) }
        return .integer(integer)
    }

    /// Reads a string between two equal quotes.
    private mutating func string() throws(ImportedText.Failure) -> String {
        let start = rest.startIndex
        let quote = rest.removeFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == quote { return try bytes.text(at: start) }
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            let place = rest.startIndex - 1
            guard let escape = rest.popFirst() else { break }
            switch escape {
            case UInt8(ascii: "u"): bytes += try scalar(digits: 4, place).utf8
            case UInt8(ascii: "U"): bytes += try scalar(digits: 8, place).utf8
            default: bytes.append(Self.control(escape) ?? escape)
            }
        }
        throw ImportedText.Failure(.unterminatedString, at: start)
    }

    private mutating func scalar(digits count: Int, _ place: Int) throws(ImportedText.Failure) -> String {
        let digits = rest.prefix(count)
        let text = String(decoding: digits, as: UTF8.self)
        guard digits.count == count, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let code = UInt32(text, radix: 16), code != 0, let scalar = UnicodeScalar(code)
        else { throw ImportedText.Failure(.invalidEscape("\\\(count == 4 ? "u" : "U")\(text)"), at: place) }
        rest = rest[digits.endIndex...]
        return String(scalar)
    }

    /// Reads bytes between quotes after `b`. They end with a zero that the text does not show, and that is left out.
    private mutating func byteString() throws(ImportedText.Failure) -> [UInt8] {
        let start = rest.startIndex
        rest.removeFirst()
        let quote = rest.removeFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == quote { return bytes }
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            let octal = rest.prefix(3).prefix { $0 &- 0x30 < 8 }
            if octal.isEmpty {
                guard let escape = rest.popFirst() else { break }
                bytes.append(Self.control(escape) ?? escape)
            } else {
                bytes.append(UInt8(truncatingIfNeeded: octal.reduce(0) { $0 << 3 | Int($1 & 7) }))
                rest = rest[octal.endIndex...]
            }
        }
        throw ImportedText.Failure(.unterminatedString, at: start)
    }

    /// Returns the control character of an escape with a letter.
    private static func control(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "a"): 7
        case UInt8(ascii: "b"): 8
        case UInt8(ascii: "f"): 12
        case UInt8(ascii: "n"): 10
        case UInt8(ascii: "r"): 13
        case UInt8(ascii: "t"): 9
        case UInt8(ascii: "v"): 11
        default: nil
        }
    }
}

extension GVariantType {
    fileprivate var isReal: Bool { if case .real = self { true } else { false } }
}
