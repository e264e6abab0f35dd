#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// What one word says of a number with a fraction or of bytes, where its type is known.
extension Double {
    /// A decimal or hexadecimal number that a double can hold, or `nan`, `inf`, `infinity` in any case.
    package init?(word: String) {
        let name = word.lowercased()
        switch name {
        case "nan": self = .nan
        case "inf", "+inf", "infinity", "+infinity": self = .infinity
        case "-inf", "-infinity": self = -.infinity
        default:
            // `Double` would also take a payload behind `nan`.
            guard !name.utf8.contains(UInt8(ascii: "n")), let number = Double(word), number.isFinite else { return nil }
            self = number
        }
    }
}

/// Why a text is no data in hexadecimal digits.
package enum HexadecimalFault: Error, Hashable, Sendable { case noDigit, oddDigits }

extension Data {
    /// Hexadecimal digits, with white space and angle brackets between them.
    package init(hexadecimal text: String) throws(HexadecimalFault) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for character in text.unicodeScalars where !character.standsBetweenDigits {
            guard character.isASCII, let value = Character(character).hexDigitValue else { throw .noDigit }
            guard let first = high else {
                high = UInt8(value)
                continue
            }
            bytes.append(first << 4 | UInt8(value))
            high = nil
        }
        guard high == nil else { throw .oddDigits }
        self.init(bytes)
    }
}

extension Unicode.Scalar {
    fileprivate var standsBetweenDigits: Bool { properties.isWhitespace || self == "<" || self == ">" }
}
