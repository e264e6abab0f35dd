internal import Digests

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    func writtenAsOpenStep(_ options: WritingOptions, dialect: OpenStepDialect) throws(EncodingFailure) -> Data {
        var writer = OpenStepWriter(options, dialect: dialect)
        if case .string(let text) = self, text.hasPrefix("bpl") || Self.looksLikeJSON(text) {
            // Without quotes, it would be detected as a binary file or as JSON.
            writer.write(quoted: text)
        } else {
            try ValueWalk.walk(self, into: &writer, options: options, format: dialect.format)
        }
        return writer.finished()
    }

    /// Whether text begins like a JSON number or word.
    private static func looksLikeJSON(_ text: String) -> Bool {
        guard let first = text.utf8.first else { return false }
        return first == UInt8(ascii: "-") || first &- 0x30 <= 9 || text == "true" || text == "false"
    }
}

/// Writes the text format with one entry on each line, indented by four spaces, like GNUstep and Core Foundation.
struct OpenStepWriter: ValueSink, ~Copyable {
    var output = OutputBuffer()
    let options: PropertyList.WritingOptions
    let dialect: PropertyList.OpenStepDialect
    var level = 0

    init(_ options: PropertyList.WritingOptions, dialect: PropertyList.OpenStepDialect) {
        self.options = options
        self.dialect = dialect
    }

    consuming func finished() -> Data {
        output.append(UInt8(ascii: "\n"))
        return output.data()
    }

    /// The text of a scalar.
    ///
    /// - Parameter isQuoted: Whether to write a string in quotes even if it does not need them.
    static func text(
        _ scalar: PropertyList, dialect: PropertyList.OpenStepDialect, isQuoted: Bool,
        _ options: PropertyList.WritingOptions
    ) throws(Refusal) -> [UInt8] {
        var writer = OpenStepWriter(options, dialect: dialect)
        if isQuoted, case .string(let text) = scalar {
            writer.write(quoted: text)
        } else {
            try writer.write(scalar: scalar)
        }
        return Array(writer.finished().dropLast())
    }

    mutating func begin(_ container: ContainerShape) {
        if container.isDictionary { output.append("{\n") } else { output.append("(\n") }
        level += 1
    }

    mutating func end(_ container: ContainerShape) {
        level -= 1
        if !container.isDictionary, !container.isEmpty { output.append(UInt8(ascii: "\n")) }
        indent()
        output.append(container.isDictionary ? UInt8(ascii: "}") : UInt8(ascii: ")"))
    }

    mutating func addKey(_ key: borrowing String, isFirst: Bool) {
        indent()
        write(text: copy key)
        output.append(" = ")
    }

    mutating func beginElement(isFirst: Bool) {
        if !isFirst { output.append(",\n") }
        indent()
    }

    mutating func endElement(inDictionary: Bool) {
        if inDictionary { output.append(";\n") }
    }

    mutating func add(scalar: borrowing PropertyList) throws(Refusal) { try write(scalar: copy scalar) }

    func mistakenKind(of dictionary: borrowing PropertyList.Dictionary) -> PropertyList.Kind? {
        dialect == .gnustep && dictionary.asUID != nil ? .uid : nil
    }

    private mutating func indent() {
        output.append(repeating: 0x20, count: level * 4)
    }
}

extension OpenStepWriter {
    mutating func write(scalar value: PropertyList) throws(Refusal) {
        if case .string(let text) = value { return write(text: text) }
        try write(otherScalar: value)
    }

    private mutating func write(otherScalar value: PropertyList) throws(Refusal) {
        if case .data(let data) = value { return write(data) }
        if dialect == .gnustep { return try write(typed: value) }
        guard options.coerces else { throw Refusal(.kindNotSupported(value.kind)) }
        try write(coerced: value)
    }

    private mutating func write(_ data: Data) {
        if dialect == .gnustep {
            output.append("<[")
            output.append(base64: data.span)
            output.append("]>")
        } else {
            output.append("<")
            output.append(hexadecimal: data.span)
            output.append(">")
        }
    }

    private mutating func write(typed value: PropertyList) throws(Refusal) {
        switch value {
        case .integer(let number): write(typed: number)
        case .real(let number):
            output.append("<*R")
            output.append(text: number.shortestText)
            output.append(">")
        case .boolean(let flag): if flag { output.append("<*BY>") } else { output.append("<*BN>") }
        case .date(let date):
            let (text, fraction) = try options.isLossy ? (date.flooredText, 0) : date.textAndFraction
            output.append("<*D")
            output.append(text: text)
            if fraction != 0 { output.append(text: " \(fraction)") }
            output.append(">")
        case .uid(let number):
            let nesting = options.limits.nesting
            guard level < nesting else { throw Refusal(.nestedTooDeeply(limit: nesting)) }
            output.append("{CF$UID = ")
            write(typed: PropertyList.Integer(number))
            output.append(";}")
        case .null: throw Refusal(.kindNotSupported(.null))
        case .string, .data, .array, .dictionary: break
        }
    }

    private mutating func write(typed number: PropertyList.Integer) {
        output.append("<*I")
        output.append(number)
        output.append(">")
    }

    /// Writes a value of a type that OpenStep does not support as text, like the descriptions of Core Foundation and
    /// GNUstep.
    private mutating func write(coerced value: PropertyList) throws(Refusal) {
        switch value {
        case .integer(let number): write(text: number.description)
        case .real(let number): write(text: number.shortestText)
        case .boolean(let flag): write(text: flag ? "1" : "0")
        case .date(let date): write(text: try date.flooredText)
        case .uid(let number): write(text: String(number))
        case .null: throw Refusal(.kindNotSupported(.null))
        case .string, .data, .array, .dictionary: break
        }
    }
}

extension Double {
    /// The fewest digits that are read back as this number, without a point if it is whole.
    fileprivate var shortestText: String {
        let text = description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension Date {
    /// The date rounded down to a second, such as `2001-02-03 04:05:06 +0000`.
    fileprivate var flooredText: String {
        get throws(Refusal) {
            guard let text = spacedText else { throw Refusal(.dateOutOfRange) }
            return text
        }
    }

    /// The date rounded to a second toward 2001, and the remaining fraction. Together they are exact.
    fileprivate var textAndFraction: (String, Double) {
        get throws(Refusal) {
            let whole = timeIntervalSinceReferenceDate.rounded(.towardZero)
            // Readers apply the limit to the sum.
            guard abs(timeIntervalSinceReferenceDate) <= CivilDate.greatestSeconds else {
                throw Refusal(.dateOutOfRange)
            }
            let date = Date(timeIntervalSinceReferenceDate: whole)
            return (try date.flooredText, timeIntervalSinceReferenceDate - whole)
        }
    }
}

extension OpenStepWriter {
    /// Writes text without quotes if every reader accepts it, otherwise in quotes.
    mutating func write(text: String) {
        let isBare = text.withBytes { bytes in
            guard BareCharacters.openstep.needsNoQuotes(bytes) else { return false }
            output.append(bytes)
            return true
        }
        if !isBare { write(quoted: text) }
    }

    mutating func write(quoted string: String) {
        let bytes = string.utf8Span
        let text = bytes.span
        output.append(UInt8(ascii: "\""))
        var at = 0
        while true {
            let end = endOfPlainRun(text, from: at)
            output.append(text.extracting(at..<end))
            guard end < text.count else { break }
            at = end + writeEscape(text.extracting(end...))
        }
        output.append(UInt8(ascii: "\""))
    }

    /// The position of the first byte from `start` on that needs an escape.
    private func endOfPlainRun(_ text: Span<UInt8>, from start: Int) -> Int {
        let tops: UInt64 = options.escapesNonASCII ? ByteScan.highBits : 0
        var at = start
        while at + 8 <= text.count {
            let word = text.word(at)
            let controls = ByteScan.below(word, 0x20) | ByteScan.matches(word, 0x7F)
            let marks = ByteScan.matches(word, UInt8(ascii: "\"")) | ByteScan.matches(word, UInt8(ascii: "\\"))
            let stops = controls | marks | (word & tops)
            if stops != 0 { return at + stops.trailingZeroBitCount >> 3 }
            at += 8
        }
        while at < text.count, !needsEscape(text[at]) { at += 1 }
        return at
    }

    private func needsEscape(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "\\"): true
        case 0x80...: options.escapesNonASCII
        default: false
        }
    }

    /// Writes the first character of `text` as an escape. Returns the length of the character in bytes.
    private mutating func writeEscape(_ text: Span<UInt8>) -> Int {
        let lead = text[0]
        switch lead {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            output.append(UInt8(ascii: "\\"))
            output.append(lead)
        case 0..<0x80:
            output.append(UInt8(ascii: "\\"))
            for shift: UInt8 in [6, 3, 0] { output.append(0x30 + lead >> shift & 7) }
        default: return writeUnits(text)
        }
        return 1
    }

    /// Writes one character beyond ASCII as UTF-16 code units, `\Uhhhh`.
    private mutating func writeUnits(_ text: Span<UInt8>) -> Int {
        var character: [UInt8] = []
        for at in 0..<min(4, text.count) { character.append(text[at]) }
        var bytes = character.makeIterator()
        var decoder = UTF8()
        guard case .scalarValue(let scalar) = decoder.decode(&bytes) else { return 1 }
        for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
            output.append("\\U")
            for shift: UInt16 in [12, 8, 4, 0] {
                output.append(Hexadecimal.digit(UInt8(truncatingIfNeeded: unit >> shift & 15)))
            }
        }
        return UTF8.width(scalar)
    }
}

extension OutputBuffer {
    /// Writes `bytes` in hexadecimal digits, with a space after every four bytes like GNUstep and Core Foundation.
    mutating func append(hexadecimal bytes: Span<UInt8>) {
        for at in bytes.indices {
            if at > 0, at % 4 == 0 { append(UInt8(ascii: " ")) }
            append(Hexadecimal.digit(bytes[at] >> 4))
            append(Hexadecimal.digit(bytes[at] & 15))
        }
    }
}
