/// Base-32 digits that sort like the numbers they encode. Letters that resemble digits are not used.
enum Base32 {
    private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    /// Encodes the upper `bits` of 64, with zero bits at the end of the last digit.
    static func text(_ number: UInt64, bits: Int) -> String {
        var text = ""
        for at in 0..<(bits + 4) / 5 {
            let shift = 59 - 5 * at
            let digit = shift >= 0 ? number >> UInt64(shift) & 31 : number << UInt64(-shift) & 31
            text.unicodeScalars.append(Unicode.Scalar(digits[Int(digit)]))
        }
        return text
    }

    /// Decodes digits that `text(_:bits:)` wrote. Returns nil for any other text.
    static func number(_ text: some StringProtocol, characters: Int) -> UInt64? {
        guard text.utf8.count == characters, characters <= 13 else { return nil }
        var number: UInt64 = 0
        for (at, character) in text.utf8.enumerated() {
            guard let digit = digits.firstIndex(of: character) else { return nil }
            let shift = 59 - 5 * at
            if shift < 0, digit & ((1 << -shift) - 1) != 0 { return nil }
            number |= shift >= 0 ? UInt64(digit) << UInt64(shift) : UInt64(digit) >> UInt64(-shift)
        }
        return number
    }
}

extension Base32 {
    /// Encodes all bits of the bytes, with zero bits at the end of the last digit.
    static func text(_ bytes: [UInt8]) -> String {
        var (text, held, bits) = ("", UInt64(0), 0)
        for byte in bytes {
            (held, bits) = (held << 8 | UInt64(byte), bits + 8)
            while bits >= 5 {
                bits -= 5
                text += Self.text((held >> UInt64(bits) & 31) << 59, bits: 5)
            }
        }
        if bits > 0 { text += Self.text((held << UInt64(5 - bits) & 31) << 59, bits: 5) }
        return text
    }

    /// Decodes digits that `text(_:)` wrote for `count` bytes. Returns nil for any other text.
    static func bytes(_ text: some StringProtocol, count: Int) -> [UInt8]? {
        var (bytes, held, bits) = ([UInt8](), UInt64(0), 0)
        for character in text.unicodeScalars {
            guard let digit = number(String(character), characters: 1) else { return nil }
            (held, bits) = (held << 5 | digit >> 59, bits + 5)
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: held >> UInt64(bits)))
            }
        }
        guard bytes.count == count, bits < 5, held & ((1 << UInt64(bits)) - 1) == 0 else { return nil }
        return bytes
    }
}
