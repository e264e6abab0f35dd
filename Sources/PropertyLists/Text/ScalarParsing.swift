internal import Digests

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Parsing of words whose type is known.
extension PropertyList.Integer {
    /// Parses decimal digits, or hexadecimal ones after `0x`, with an optional sign.
    package init?(word: String) {
        var digits = word.utf8[...]
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
        let isHexadecimal = digits.starts(with: "0x".utf8) || digits.starts(with: "0X".utf8)
        if isHexadecimal { digits.removeFirst(2) }
        guard let magnitude = UInt64(digits: digits, radix: isHexadecimal ? 16 : 10) else { return nil }
        self.init(magnitude: magnitude, isNegative: isNegative)
    }
}

extension Double {
    /// Parses a decimal or hexadecimal number in the range of a double, or `nan`, `inf` or `infinity` in any case.
    package init?(word: String) {
        let name = word.lowercased()
        switch name {
        case "nan": self = .nan
        case "inf", "+inf", "infinity", "+infinity": self = .infinity
        case "-inf", "-infinity": self = -.infinity
        default:
            // `Double` would also accept a payload after `nan`.
            guard !name.utf8.contains(UInt8(ascii: "n")), let number = Double(word), number.isFinite else { return nil }
            self = number
        }
    }
}

extension Bool {
    /// Parses one of the eight words for true and false, in any case.
    package init?(word: String) {
        switch word.lowercased() {
        case "true", "yes", "on", "1": self = true
        case "false", "no", "off", "0": self = false
        default: return nil
        }
    }
}

extension Date {
    /// The date rounded down to a second, because XML and OpenStep do not support fractions.
    package var wholeSecond: Date {
        Date(timeIntervalSinceReferenceDate: timeIntervalSinceReferenceDate.rounded(.down))
    }

    /// Parses RFC 3339 text or Apple's form with spaces. Without an offset, it is in UTC. Its seconds or its time can
    /// be missing.
    package init?(word: String) {
        let date =
            ["", "Z", ":00Z", "T00:00:00Z"].lazy.compactMap { Date(rfc3339: word + $0) }.first
            ?? ["", " +0000", ":00 +0000"].lazy.compactMap { Date(spaced: word + $0) }.first
        guard let date else { return nil }
        self = date
    }
}

extension Data {
    /// Why a word is not data.
    package enum WordProblem: Error { case malformed, oddDigits }

    /// Parses hexadecimal digits, with optional white space and angle brackets, or base64 after `base64:`.
    package init(word: String) throws(WordProblem) {
        if word.utf8.starts(with: "base64:".utf8) {
            let text = String(word.unicodeScalars.dropFirst("base64:".count))
            guard let data = Data(base64Encoded: text) else { throw .malformed }
            self = data
            return
        }
        let written = word.unicodeScalars.lazy.filter { !$0.properties.isWhitespace }
        var digits = Array(written.map { UInt8(exactly: $0.value) ?? 0 })[...]
        if digits.count > 1, digits.first == UInt8(ascii: "<"), digits.last == UInt8(ascii: ">") {
            digits = digits.dropFirst().dropLast()
        }
        guard digits.allSatisfy({ Hexadecimal.value(ofDigit: $0) != nil }) else { throw .malformed }
        guard let bytes = Hexadecimal.bytes(ofDigits: digits) else { throw .oddDigits }
        self.init(bytes)
    }

    /// The bytes in hexadecimal digits.
    package var hexadecimal: String { Hexadecimal.text(of: Array(self)) }
}
