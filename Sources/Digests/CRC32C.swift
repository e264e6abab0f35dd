/// The CRC-32 checksum with Castagnoli's polynomial (RFC 3720). It detects torn writes and flipped bits, not tampering.
package enum CRC32C {
    /// Returns the checksum of `bytes`, processing eight bytes at a time where possible.
    package static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 { checksum(bytes.span) }

    package static func checksum(_ bytes: [UInt8]) -> UInt32 { checksum(bytes.span) }

    private static func checksum(_ bytes: Span<UInt8>) -> UInt32 {
        var (remainder, at) = (UInt32.max, 0)
        let tables = tables.span
        // The compiler then knows that every index below is valid.
        precondition(tables.count == 8 * 256)
        while bytes.count - at >= 8 {
            let eight = bytes.extracting(at..<at + 8)
            var next: UInt32 = 0
            for place in 0..<8 {
                let before = place < 4 ? UInt8(truncatingIfNeeded: remainder >> UInt32(8 * place)) : 0
                next ^= tables[(7 - place) << 8 | Int(eight[place] ^ before)]
            }
            (remainder, at) = (next, at + 8)
        }
        while at < bytes.count {
            remainder = remainder >> 8 ^ tables[Int(UInt8(truncatingIfNeeded: remainder) ^ bytes[at])]
            at += 1
        }
        return ~remainder
    }

    /// Eight lookup tables of 256 entries each, for the bit-reversed polynomial. The first is the usual byte table;
    /// table *n* gives the effect of a byte followed by *n* zero bytes.
    private static let tables: [UInt32] = {
        var tables = (0..<256).map { byte in
            (0..<8).reduce(UInt32(byte)) { rest, _ in rest >> 1 ^ (rest & 1 == 0 ? 0 : 0x82F6_3B78) }
        }
        for index in 256..<8 * 256 {
            let former = tables[index - 256]
            tables.append(former >> 8 ^ tables[Int(former & 0xFF)])
        }
        return tables
    }()
}
