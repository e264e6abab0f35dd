/// The CRC-32 checksum with Castagnoli's polynomial (RFC 3720). It detects torn writes and flipped bits, not tampering.
package enum CRC32C {
    /// Returns the checksum of `bytes`, processing eight bytes at a time where possible.
    package static func checksum(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
        var (remainder, at) = (UInt32.max, 0)
        tables.withUnsafeBufferPointer { tables in
            while bytes.count - at >= 8 {
                var next: UInt32 = 0
                for place in 0..<8 {
                    let before = place < 4 ? UInt8(truncatingIfNeeded: remainder >> UInt32(8 * place)) : 0
                    next ^= tables[(7 - place) << 8 | Int(bytes[at + place] ^ before)]
                }
                (remainder, at) = (next, at + 8)
            }
            for byte in bytes[at...] {
                remainder = remainder >> 8 ^ tables[Int(UInt8(truncatingIfNeeded: remainder) ^ byte)]
            }
        }
        return ~remainder
    }

    package static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.withContiguousStorageIfAvailable { checksum($0) }
            ?? Array(bytes).withUnsafeBufferPointer { checksum($0) }
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
