#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// What one word says, where its type is known.
extension Double {
    /// A decimal or hexadecimal number that a double can hold, or `nan`, `inf`, `infinity` in any case.
    package init?(word: String) {
        let name = word.lowercased()
        switch name {
        case "nan": self = .nan
        case "inf", "+inf", "infinity", "+infinity": self = .infinity
        case "-inf", "-infinity": self = -.infinity
        default:
            guard !name.utf8.contains(UInt8(ascii: "n")), let number = Double(word), number.isFinite else { return nil }
            self = number
        }
    }

    /// The shortest text that says this number.
    package var word: String { description }
}

extension Data {
    /// Hexadecimal digits, with white space and angle brackets between them.
    package init(hexadecimal text: String) throws(ValueFailure) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for character in text.utf8 {
            switch character {
            case 0x20, 0x09...0x0D, UInt8(ascii: "<"), UInt8(ascii: ">"): continue
            default: break
            }
            guard let digit = hexadecimalDigit(character) else { throw ValueFailure(.malformed(.data, text)) }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        guard high == nil else { throw ValueFailure(.oddDigits(text)) }
        self.init(bytes)
    }

    /// The bytes in hexadecimal digits.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(count * 2)
        for byte in self {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

private func hexadecimalDigit(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - 0x30
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - 0x37
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - 0x57
    default: nil
    }
}
