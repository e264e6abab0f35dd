internal import Digests

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    func writtenAsJSON(_ options: WritingOptions) throws(EncodingFailure) -> Data {
        var writer = JSONWriter(options)
        try ValueWalk.walk(self, into: &writer, options: options, format: .json)
        return writer.finished()
    }
}

/// Writes JSON with only the escapes that RFC 8259 requires.
struct JSONWriter: ValueSink, ~Copyable {
    private var output = OutputBuffer()
    private var indent = 0
    private let options: PropertyList.WritingOptions
    private let isPretty: Bool
    /// Whether the innermost dictionary has a single key, which could be mistaken for a wrapping.
    private var isAlone = false

    init(_ options: PropertyList.WritingOptions) {
        self.options = options
        isPretty = options.isPretty
    }

    consuming func finished() -> Data {
        if isPretty { output.append(UInt8(ascii: "\n")) }
        return output.data()
    }

    /// The text of a scalar.
    static func text(_ scalar: PropertyList, _ options: PropertyList.WritingOptions) throws(Refusal) -> [UInt8] {
        var options = options
        options.isPretty = false
        var writer = JSONWriter(options)
        try writer.add(scalar: scalar)
        return Array(writer.finished())
    }

    @inline(never)
    private mutating func beginLine() {
        output.append(UInt8(ascii: "\n"))
        output.append(repeating: UInt8(ascii: " "), count: 2 * indent)
    }

    mutating func begin(_ container: ContainerShape) {
        output.append(container.isDictionary ? UInt8(ascii: "{") : UInt8(ascii: "["))
        indent += 1
        isAlone = container.count == 1
    }

    mutating func end(_ container: ContainerShape) {
        indent -= 1
        if isPretty, container.count > 0 { beginLine() }
        output.append(container.isDictionary ? UInt8(ascii: "}") : UInt8(ascii: "]"))
    }

    mutating func beginElement(isFirst: Bool) {
        if !isFirst { output.append(UInt8(ascii: ",")) }
        if isPretty { beginLine() }
    }

    mutating func addKey(_ key: borrowing String, isFirst: Bool) throws(Refusal) {
        if isPretty || (isFirst && isAlone) { return try addUnusualKey(copy key, isFirst: isFirst) }
        if !isFirst { output.append(UInt8(ascii: ",")) }
        append(quoted: key)
        output.append(UInt8(ascii: ":"))
    }

    /// Writes a key on a new line, or a key that could be mistaken for a wrapping.
    private mutating func addUnusualKey(_ key: String, isFirst: Bool) throws(Refusal) {
        beginElement(isFirst: isFirst)
        let isDoubled = options.wrapsInJSON && isFirst && isAlone && JSONWrapping.isDoubled(key)
        append(quoted: isDoubled ? "$" + key : key)
        if isPretty { output.append(": ") } else { output.append(UInt8(ascii: ":")) }
    }

    mutating func add(scalar: borrowing PropertyList) throws(Refusal) {
        switch scalar {
        case .string(let text): append(quoted: text)
        case .integer(let number): output.append(number)
        case .real(let number) where number.isFinite: output.append(number, keepsPoint: true)
        case .boolean(let flag): if flag { output.append("true") } else { output.append("false") }
        case .null: output.append("null")
        default: try addUnusual(copy scalar)
        }
    }

    @inline(never)
    private mutating func append(quoted text: borrowing String) {
        text.withBytes { bytes in
            output.reserve(bytes.count * JSONEscaping.growth + 20)
            output.appendReserved(UInt8(ascii: "\""))
            output.appendReserved(bytes, escaping: JSONEscaping.self)
            output.appendReserved(UInt8(ascii: "\""))
        }
    }
}

/// The characters that JSON writes as escapes.
enum JSONEscaping: TextEscaping {
    typealias Failure = Never

    /// The length of `\u001f`, the escape of a control character.
    static var growth: Int { 6 }

    static func stops(_ word: UInt64) -> UInt64 {
        // Flipping one bit turns the quote, 0x22, into 0x20, and keeps control characters below 0x20.
        ByteScan.below(word ^ ByteScan.ones &* 2, 0x21) | ByteScan.matches(word, UInt8(ascii: "\\"))
    }

    static func append(
        _ text: Span<UInt8>, at start: Int, to output: inout OutputBuffer
    ) -> Int {
        switch text[start] {
        case UInt8(ascii: "\""): output.append("\\\"")
        case UInt8(ascii: "\\"): output.append("\\\\")
        case 8: output.append("\\b")
        case 9: output.append("\\t")
        case 10: output.append("\\n")
        case 12: output.append("\\f")
        case 13: output.append("\\r")
        case let control:
            output.append("\\u00")
            output.append(Hexadecimal.digit(control >> 4))
            output.append(Hexadecimal.digit(control & 15))
        }
        return 1
    }
}

// MARK: Types that JSON lacks

extension JSONWriter {
    private mutating func addUnusual(_ value: PropertyList) throws(Refusal) {
        if let texts = options.numberTexts, case .uid(let position) = value {
            return output.append(text: texts[Int(position)])
        }
        if options.wrapsInJSON { return try addWrapped(value) }
        if options.writesJSON5, case .real(let number) = value {
            return output.append(text: number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
        }
        guard options.coerces else {
            if case .real = value { throw Refusal(.notFinite) }
            throw Refusal(.kindNotSupported(value.kind))
        }
        try addText(of: value)
    }

    /// Writes the closest JSON value for a value of a type that JSON does not support.
    private mutating func addText(of value: PropertyList) throws(Refusal) {
        switch value {
        case .date(let date): try append(date)
        case .data(let data): append(data)
        case .uid(let number): output.append(decimal: number)
        case .real(let number): append(quoted: JSONWrapping.name(ofNonFinite: number))
        default: break
        }
    }

    private mutating func addWrapped(_ value: PropertyList) throws(Refusal) {
        func key(_ value: PropertyList) -> String {
            switch value {
            case .date: JSONWrapping.date
            case .data: JSONWrapping.data
            case .uid: JSONWrapping.uid
            default: JSONWrapping.real
            }
        }
        let nesting = options.limits.nesting
        guard indent < nesting else { throw Refusal(.nestedTooDeeply(limit: nesting)) }
        begin(ContainerShape(isDictionary: true, count: 1))
        beginElement(isFirst: true)
        append(quoted: key(value))
        if isPretty { output.append(": ") } else { output.append(UInt8(ascii: ":")) }
        try addText(of: value)
        end(ContainerShape(isDictionary: true, count: 1))
    }

    private mutating func append(_ date: Date) throws(Refusal) {
        let start = output.count
        output.append(UInt8(ascii: "\""))
        if output.append(rfc3339: date, isLossy: !options.wrapsInJSON) { return output.append(UInt8(ascii: "\"")) }
        output.truncate(to: start)
        let seconds = date.timeIntervalSinceReferenceDate
        guard options.wrapsInJSON else { throw Refusal(.dateOutOfRange) }
        guard seconds.isFinite else { return append(quoted: JSONWrapping.name(ofNonFinite: seconds)) }
        output.append(seconds, keepsPoint: true)
    }

    private mutating func append(_ data: Data) {
        output.append(UInt8(ascii: "\""))
        output.append(base64: data.span)
        output.append(UInt8(ascii: "\""))
    }
}
