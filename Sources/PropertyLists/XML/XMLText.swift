internal import Digests

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The ends of a run that needs no decoding: markup, and control characters, because some are converted.
private enum XMLTextEnds: RunEnds {
    static func stops(_ word: UInt64) -> UInt64 { XMLMarkupEnds.stops(word) | ByteScan.below(word, 0x20) }
}

/// The ends of a run without markup.
private enum XMLMarkupEnds: RunEnds {
    static func stops(_ word: UInt64) -> UInt64 {
        ByteScan.matches(word, UInt8(ascii: "<")) | ByteScan.matches(word, UInt8(ascii: "&"))
    }
}

/// The text of an element: a run of the input, or the contents of the reader's scratch buffer.
struct XMLText {
    /// The start of the run in the input, or −1 if the text is in the scratch buffer.
    var start: Int
    var count: Int
    var isASCII: Bool
}

extension XMLReader {
    func bytes(of text: XMLText) -> Bytes {
        text.start < 0 ? Bytes(scratch) : Bytes(base, text.start..<text.start + text.count)
    }

    @inline(__always)
    func string(of text: XMLText) -> String {
        if text.start < 0 { return scratch.text(0..<scratch.count, isASCII: text.isASCII) }
        return base.text(text.start..<text.start + text.count, isASCII: text.isASCII)
    }

    /// Reads text up to and including the closing tag of `element`.
    mutating func readText(inside element: XMLElement) throws(Fault) -> XMLText {
        let start = position
        let (stop, isASCII) = plainRun(from: start)
        if stop + 1 < end, base[stop] == UInt8(ascii: "<"), base[stop + 1] == UInt8(ascii: "/") {
            position = stop
            try expectClosingTag(element)
            return XMLText(start: start, count: stop - start, isASCII: isASCII)
        }
        return try readMixedText(inside: element)
    }

    /// The end of the text before the next tag, reference or control character, and whether it is ASCII.
    @inline(__always)
    private func plainRun(from start: Int) -> (end: Int, isASCII: Bool) {
        let run = XMLTextEnds.run(in: base, from: start)
        return (run.end, isASCII || run.isASCII)
    }

    /// Reads the text of data, with its control characters. Returns nil if it contains other tags or references.
    mutating func readPlainData() throws(Fault) -> XMLText? {
        let start = position
        let at = XMLMarkupEnds.run(in: base, from: start).end
        guard at + 1 < end, base[at] == UInt8(ascii: "<"), base[at + 1] == UInt8(ascii: "/") else { return nil }
        position = at
        try expectClosingTag(.data)
        return XMLText(start: start, count: at - start, isASCII: true)
    }

    /// Reads text that contains references, sections, comments or line breaks.
    @inline(never)
    private mutating func readMixedText(inside element: XMLElement) throws(Fault) -> XMLText {
        scratch.removeAll(keepingCapacity: true)
        var isASCII = true
        while true {
            let run = plainRun(from: position)
            isASCII = isASCII && run.isASCII
            scratch += base[position..<run.end]
            position = run.end
            guard position < end else { throw Fault(.unexpectedEnd(inside: "<\(element.rawValue)>"), at: end) }
            switch base[position] {
            case UInt8(ascii: "&"): isASCII = try readReference() && isASCII
            case UInt8(ascii: "<"):
                if hasPrefix("</") {
                    try expectClosingTag(element)
                    return XMLText(start: -1, count: scratch.count, isASCII: isASCII)
                }
                if hasPrefix("<![CDATA[") {
                    isASCII = try readSection() && isASCII
                } else if try !skipCommentOrInstruction() {
                    let start = position
                    let name = try readTag().name.rawValue
                    throw Fault(.misplacedElement(name), at: start)
                }
            default: try readControl()
            }
        }
    }

    /// Reads a control character. A line break of any kind becomes a newline, and others are unchanged.
    private mutating func readControl() throws(Fault) {
        switch base[position] {
        case 0x0D:
            scratch.append(UInt8(ascii: "\n"))
            if position + 1 < end, base[position + 1] == 0x0A { position += 1 }
        case 0: throw Fault(.invalidCharacter(0), at: position)
        case let other: scratch.append(other)
        }
        position += 1
    }

    /// Reads a section `<![CDATA[…]]>`. Returns whether it is ASCII.
    private mutating func readSection() throws(Fault) -> Bool {
        position += 9
        var isASCII = true
        while position < end {
            if hasPrefix("]]>") {
                position += 3
                return isASCII
            }
            if base[position] < 0x20 {
                try readControl()
            } else {
                if base[position] >= 0x80 { isASCII = false }
                scratch.append(base[position])
                position += 1
            }
        }
        throw Fault(.unexpectedEnd(inside: "a section"), at: end)
    }

    /// Reads a reference. Returns whether its character is ASCII.
    private mutating func readReference() throws(Fault) -> Bool {
        let start = position
        var stop = start + 1
        while stop < end, !endsReference(base[stop]) { stop += 1 }
        let name = String(decoding: base[start + 1..<stop], as: UTF8.self)
        guard stop < end else { throw Fault(.unexpectedEnd(inside: "a reference"), at: end) }
        let isTerminated = base[stop] == UInt8(ascii: ";")
        guard let scalar = try XMLReader.scalar(ofReference: name, at: start) else {
            throw Fault(isTerminated ? .unknownEntity(name) : .bareAmpersand, at: start)
        }
        guard isTerminated else { throw Fault(.unterminatedReference(name), at: start) }
        position = stop + 1
        scratch.append(scalar)
        return scalar.isASCII
    }

    private func endsReference(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, UInt8(ascii: ";"), UInt8(ascii: "<"), UInt8(ascii: "&"): true
        default: false
        }
    }

    private static func scalar(ofReference name: String, at start: Int) throws(Fault) -> Unicode.Scalar? {
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "apos": return "'"
        case "quot": return "\""
        default: break
        }
        guard name.utf8.first == UInt8(ascii: "#") else { return nil }
        let digits = name.utf8.dropFirst()
        let isHexadecimal = digits.first == UInt8(ascii: "x")
        guard let code = UInt64(digits: isHexadecimal ? digits.dropFirst() : digits, radix: isHexadecimal ? 16 : 10)
        else { return nil }
        guard let small = UInt32(exactly: code), let scalar = Unicode.Scalar(small), small != 0 else {
            throw Fault(.invalidCharacter(UInt32(clamping: code)), at: start)
        }
        return scalar
    }
}

/// The elements of the XML form.
enum XMLElement: String, CaseIterable {
    case plist, dict, array, key, string, integer, real, date, data
    case `true`, `false`
}

extension XMLElement {
    /// Creates an element from its name.
    init?(name: Bytes) { self.init(rawValue: String(decoding: name, as: UTF8.self)) }

    /// Parses the text of this element.
    func value(of text: Bytes, at place: Int) throws(Fault) -> PropertyList {
        switch self {
        case .integer: .integer(try xmlInteger(text, at: place))
        case .real: .real(try xmlReal(text, at: place))
        case .date: .date(try xmlDate(text, at: place))
        default: .data(try base64Decoded(text, at: place))
        }
    }
}

private func xmlInteger(_ text: Bytes, at place: Int) throws(Fault) -> PropertyList.Integer {
    let digits = text.withoutSurroundingSpace
    if let number = PropertyList.Integer(shortDecimal: digits) { return number }
    var body = digits[...]
    let isNegative = body.first == UInt8(ascii: "-")
    if let sign = body.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
        // Like Apple's readers, this one skips white space after the sign.
        body = body.dropFirst().drop(while: isXMLSpace)
    }
    let isHexadecimal =
        body.count > 2 && body.first == UInt8(ascii: "0") && body[body.startIndex + 1] | 0x20 == UInt8(ascii: "x")
    if isHexadecimal { body = body.dropFirst(2) }
    if let magnitude = UInt64(digits: body, radix: isHexadecimal ? 16 : 10),
        let number = PropertyList.Integer(magnitude: magnitude, isNegative: isNegative)
    {
        return number
    }
    let isNumber =
        !body.isEmpty
        && body.allSatisfy { Hexadecimal.value(ofDigit: $0).map { isHexadecimal || $0 < 10 } ?? false }
    let shown = String(decoding: text, as: UTF8.self)
    throw Fault(isNumber ? .integerOutOfRange(shown) : .invalidInteger(shown), at: place)
}

extension PropertyList.Integer {
    /// Parses an integer of at most 18 digits with an optional minus sign. Returns nil for any other text.
    fileprivate init?(shortDecimal text: Bytes) {
        let isNegative = text.first == UInt8(ascii: "-")
        let start = isNegative ? 1 : 0
        guard text.count > start, text.count <= 18 else { return nil }
        var value: UInt64 = 0
        for at in start..<text.count {
            let digit = text[at] &- 0x30
            guard digit <= 9 else { return nil }
            value = value &* 10 &+ UInt64(digit)
        }
        self.init(magnitude: value, isNegative: isNegative)
    }
}

private func xmlReal(_ text: Bytes, at place: Int) throws(Fault) -> Double {
    let body = text.withoutSurroundingSpace
    let (number, isDecimal) = body.real()
    if let number { return number }
    let problem: DecodingFailure.Problem =
        isDecimal
        ? .realOutOfRange(String(decoding: body, as: UTF8.self))
        : .invalidReal(String(decoding: text, as: UTF8.self))
    throw Fault(problem, at: place)
}

private func xmlDate(_ text: Bytes, at place: Int) throws(Fault) -> Date {
    // Like Apple's readers, this one carries a day or an hour beyond its range over to the next month or day, because a
    // release of Foundation wrote such dates.
    guard let date = CivilDate(text) else {
        throw Fault(.invalidDate(String(decoding: text, as: UTF8.self)), at: place)
    }
    guard date.isInRange else {
        throw Fault(.dateOutOfRange(String(decoding: text, as: UTF8.self)), at: place)
    }
    return Date(timeIntervalSinceReferenceDate: Double(date.secondsSinceReference))
}

extension Bytes {
    /// The text without surrounding white space.
    fileprivate var withoutSurroundingSpace: Bytes {
        var (low, high) = (0, count)
        while low < high, isXMLSpace(self[low]) { low += 1 }
        while high > low, isXMLSpace(self[high - 1]) { high -= 1 }
        return Bytes(rebasing: self[low..<high])
    }
}

func isXMLSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D
}
