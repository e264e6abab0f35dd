/// Conversions between bytes or numbers and hexadecimal digits. Output is lowercase; input may be in either case.
///
/// Only inlined functions are generic: unspecialized generic code would slow down the start of the command.
package enum Hexadecimal {
    /// Returns the digit for a value below 16.
    @inlinable
    package static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 &+ value : 0x57 &+ value }

    /// Returns the value of a digit, or nil for any other character.
    @inlinable
    package static func value(ofDigit character: UInt8) -> UInt8? {
        switch character {
        case 0x30...0x39: character - 0x30
        case 0x41...0x46: character - 0x37
        case 0x61...0x66: character - 0x57
        default: nil
        }
    }

    /// Returns two digits for each byte.
    package static func digits(of bytes: [UInt8]) -> [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 15))
        }
        return digits
    }

    /// Returns the lowest `count` digits of a number, padded with leading zeros.
    package static func digits(of number: UInt64, count: Int = 16) -> [UInt8] {
        var digits = [UInt8](repeating: 0x30, count: count)
        var rest = number
        for place in digits.indices.reversed() {
            digits[place] = digit(UInt8(truncatingIfNeeded: rest & 15))
            rest >>= 4
        }
        return digits
    }

    /// Returns the digits as a string.
    package static func text(of bytes: [UInt8]) -> String { String(decoding: digits(of: bytes), as: UTF8.self) }

    package static func text(of number: UInt64, count: Int = 16) -> String {
        String(decoding: digits(of: number, count: count), as: UTF8.self)
    }

    /// Returns the bytes that pairs of digits encode, or nil for an invalid digit or an odd number of digits.
    package static func bytes(ofDigits digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var high: UInt8?
        for digit in digits {
            guard let value = value(ofDigit: digit) else { return nil }
            if let first = high { bytes.append(first << 4 | value) }
            high = high == nil ? value : nil
        }
        return bytes
    }
}
