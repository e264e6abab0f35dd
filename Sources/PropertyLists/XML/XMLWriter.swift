#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    func writtenAsXML(_ options: WritingOptions) throws(EncodingFailure) -> Data {
        var writer = XMLWriter(options)
        writer.beginDocument()
        try ValueWalk.walk(self, into: &writer, options: options, format: .xml)
        return writer.finished()
    }
}

/// Writes the XML form as Apple does, except that reals have the fewest digits unless the options request Apple's, and
/// that `-0.0` and `&#13;` are preserved.
struct XMLWriter: ValueSink, ~Copyable {
    private var output = OutputBuffer()
    private var indent = 0
    private let isLossy: Bool
    private let padsReals: Bool
    private let nesting: Int

    init(_ options: PropertyList.WritingOptions) {
        (isLossy, padsReals, nesting) = (options.isLossy, options.padsReals, options.limits.nesting)
    }

    mutating func beginDocument() {
        output.append(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """)
    }

    consuming func finished() -> Data {
        output.append("</plist>\n")
        return output.data()
    }

    /// The element of a scalar, without a newline after it.
    static func element(_ scalar: PropertyList, _ options: PropertyList.WritingOptions) throws(Refusal) -> [UInt8] {
        var writer = XMLWriter(options)
        try writer.add(scalar: scalar)
        return Array(writer.output.data().dropLast())
    }

    private mutating func appendIndent() {
        if indent > 0 {
            if indent <= 8 {
                output.append(word: ByteScan.ones &* 0x09, count: indent)
            } else {
                output.append(repeating: UInt8(ascii: "\t"), count: indent)
            }
        }
    }

    mutating func begin(_ container: ContainerShape) {
        appendIndent()
        switch (container.isDictionary, container.isEmpty) {
        case (true, true): output.append("<dict/>\n")
        case (true, false): output.append("<dict>\n")
        case (false, true): output.append("<array/>\n")
        case (false, false): output.append("<array>\n")
        }
        indent += 1
    }

    mutating func end(_ container: ContainerShape) {
        indent -= 1
        guard !container.isEmpty else { return }
        appendIndent()
        if container.isDictionary { output.append("</dict>\n") } else { output.append("</array>\n") }
    }

    mutating func addKey(_ key: borrowing String, isFirst: Bool) throws(Refusal) {
        appendIndent()
        output.append("<key>")
        try append(escaped: key)
        output.append("</key>\n")
    }

    mutating func add(scalar: borrowing PropertyList) throws(Refusal) {
        appendIndent()
        switch scalar {
        case .string(let text):
            output.append("<string>")
            try append(escaped: text)
            output.append("</string>\n")
        case .integer(let number):
            output.append("<integer>")
            output.append(number)
            output.append("</integer>\n")
        case .real(let number): append(number)
        case .boolean(let flag): if flag { output.append("<true/>\n") } else { output.append("<false/>\n") }
        case .date(let date): try append(date)
        case .data(let data): append(data)
        case .uid(let number): try append(uid: number)
        case .null: throw Refusal(.kindNotSupported(.null))
        case .array, .dictionary: break
        }
    }

    func mistakenKind(of dictionary: borrowing PropertyList.Dictionary) -> PropertyList.Kind? {
        dictionary.asUID == nil ? nil : .uid
    }
}

extension XMLWriter {
    private mutating func append(escaped text: borrowing String) throws(Refusal) {
        let bytes = text.utf8Span
        try output.append(bytes.span, escaping: XMLEscaping.self)
    }

    private mutating func append(_ number: Double) {
        output.append("<real>")
        if number.isNaN {
            output.append("nan")
        } else if number.isInfinite {
            if number < 0 { output.append("-infinity") } else { output.append("+infinity") }
        } else if padsReals, number != 0 {
            output.append(text: number.paddedText)
        } else {
            output.append(number, keepsPoint: number == 0)
        }
        output.append("</real>\n")
    }

    private mutating func append(_ date: Date) throws(Refusal) {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) <= CivilDate.greatestSeconds else { throw Refusal(.dateOutOfRange) }
        let whole = seconds.rounded(.down)
        guard whole == seconds || isLossy else { throw Refusal(.fractionOfSecond) }
        output.append("<date>")
        output.append(CivilDate(secondsSinceReference: Int(whole)), separator: UInt8(ascii: "T"))
        output.append("Z</date>\n")
    }

    private mutating func append(_ data: Data) {
        output.append("<data>\n")
        let tabs = min(indent, 8)
        let bytesInLine = (76 - 8 * tabs) / 4 * 3
        let bytes = data.span
        for start in stride(from: 0, to: bytes.count, by: bytesInLine) {
            output.append(repeating: UInt8(ascii: "\t"), count: tabs)
            output.append(base64: bytes.extracting(start..<min(start + bytesInLine, bytes.count)))
            output.append(UInt8(ascii: "\n"))
        }
        appendIndent()
        output.append("</data>\n")
    }

    private mutating func append(uid number: UInt64) throws(Refusal) {
        // A reader counts this dictionary as a container before it recognizes the uid.
        guard indent < nesting else { throw Refusal(.nestedTooDeeply(limit: nesting)) }
        output.append("<dict>\n")
        indent += 1
        appendIndent()
        output.append("<key>CF$UID</key>\n")
        appendIndent()
        output.append("<integer>")
        output.append(decimal: number)
        output.append("</integer>\n")
        indent -= 1
        appendIndent()
        output.append("</dict>\n")
    }
}

private enum XMLEscaping: TextEscaping {
    typealias Failure = Refusal

    /// The length of `&#13;`, the escape of a carriage return.
    static var growth: Int { 5 }

    /// Markup and control characters.
    static func stops(_ word: UInt64) -> UInt64 {
        // `<` and `>` differ in a single bit.
        ByteScan.matches(word & (ByteScan.ones &* 0xFD), UInt8(ascii: "<")) | ByteScan.matches(word, UInt8(ascii: "&"))
            | ByteScan.below(word, 0x20)
    }

    static func append(
        _ text: Span<UInt8>, at start: Int, to output: inout OutputBuffer
    ) throws(Refusal) -> Int {
        switch text[start] {
        case UInt8(ascii: "<"): output.append("&lt;")
        case UInt8(ascii: ">"): output.append("&gt;")
        case UInt8(ascii: "&"): output.append("&amp;")
        case UInt8(ascii: "\r"): output.append("&#13;")
        case 0: throw Refusal(.characterNotSupported(0))
        // Other control characters are not valid in XML 1.0, but Apple's tools write and read them unchanged.
        case let control: output.append(control)
        }
        return 1
    }
}
