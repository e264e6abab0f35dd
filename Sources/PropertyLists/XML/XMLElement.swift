internal import Digests

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The elements of the XML form.
enum XMLElement: String, CaseIterable {
    case plist, dict, array, key, string, integer, real, date, data
    case `true`, `false`
}

extension XMLElement {
    /// The element of that name.
    init?(name: UnsafeBufferPointer<UInt8>) {
        guard let element = Self.allCases.first(where: { $0.nameIs(name) }) else { return nil }
        self = element
    }

    private func nameIs(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let name = staticName
        return name.utf8CodeUnitCount == bytes.count && sameBytes(name.utf8Start, bytes.baseAddress, bytes.count)
    }

    private var staticName: StaticString {
        switch self {
        case .plist: "plist"
        case .dict: "dict"
        case .array: "array"
        case .key: "key"
        case .string: "string"
        case .integer: "integer"
        case .real: "real"
        case .date: "date"
        case .data: "data"
        case .true: "true"
        case .false: "false"
        }
    }

    /// The problem with an element whose text is not what it should be.
    func problem(with text: String) -> DecodingFailure.Problem {
        switch self {
        case .real: .invalidReal(text)
        case .date: .invalidDate(text)
        case .data: .invalidData(text)
        default: .invalidInteger(text)
        }
    }

    /// The value that `text` says inside this element.
    func value(of text: UnsafeBufferPointer<UInt8>, at place: Int) throws(Fault) -> PropertyList {
        switch self {
        case .integer: .integer(try xmlInteger(text, at: place))
        case .real: .real(try xmlReal(text, at: place))
        case .date: .date(try xmlDate(text, at: place))
        default: .data(try base64Decoded(text, at: place))
        }
    }
}

private func xmlInteger(_ text: UnsafeBufferPointer<UInt8>, at place: Int) throws(Fault) -> PropertyList.Integer {
    let digits = text.withoutSurroundingSpace
    if let number = PropertyList.Integer(shortDecimal: digits) { return number }
    if let number = PropertyList.Integer(decimal: digits) { return number }
    var body = digits[...]
    let isNegative = body.first == UInt8(ascii: "-")
    if let sign = body.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { body = body.dropFirst() }
    let isHexadecimal =
        body.count > 2 && body.first == UInt8(ascii: "0") && body[body.startIndex + 1] | 0x20 == UInt8(ascii: "x")
    if isHexadecimal { body = body.dropFirst(2) }
    if isHexadecimal, let magnitude = UInt64(digits: body, radix: 16),
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
    /// The integer of at most eighteen digits and a minus.
    @inline(__always)
    fileprivate init?(shortDecimal text: UnsafeBufferPointer<UInt8>) {
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

private func xmlReal(_ text: UnsafeBufferPointer<UInt8>, at place: Int) throws(Fault) -> Double {
    let body = text.withoutSurroundingSpace
    if let base = body.baseAddress, !body.isEmpty {
        let scan = Decimal19.scan(base, from: 0, to: body.count, allowsPlus: true)
        if scan.end == body.count, scan.wholeDigits + scan.fractionDigits > 0, scan.hasDigitsInExponent {
            if let number = double(of: scan.number, text: body) { return number }
            throw Fault(.realOutOfRange(String(decoding: body, as: UTF8.self)), at: place)
        }
    }
    var name = String(decoding: body, as: UTF8.self).lowercased()
    let isNegative = name.first == "-"
    if isNegative || name.first == "+" { name.removeFirst() }
    switch name {
    case "nan": return .nan
    case "inf", "infinity": return isNegative ? -.infinity : .infinity
    default: throw Fault(.invalidReal(String(decoding: text, as: UTF8.self)), at: place)
    }
}

private func xmlDate(_ text: UnsafeBufferPointer<UInt8>, at place: Int) throws(Fault) -> Date {
    // Like Apple's readers, this one takes a day or an hour beyond the last as one of the next month or day: a release
    // of Foundation wrote such dates.
    guard let date = CivilDate(text) else {
        throw Fault(.invalidDate(String(decoding: text, as: UTF8.self)), at: place)
    }
    guard date.isInRange else {
        throw Fault(.dateOutOfRange(String(decoding: text, as: UTF8.self)), at: place)
    }
    return Date(timeIntervalSinceReferenceDate: Double(date.secondsSinceReference))
}

extension UnsafeBufferPointer<UInt8> {
    /// The text between white space.
    @inline(__always)
    fileprivate var withoutSurroundingSpace: UnsafeBufferPointer<UInt8> {
        var (low, high) = (0, count)
        while low < high, isXMLSpace(self[low]) { low += 1 }
        while high > low, isXMLSpace(self[high - 1]) { high -= 1 }
        return UnsafeBufferPointer(rebasing: self[low..<high])
    }
}

@inline(__always)
func isXMLSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D
}
