/// The checksum of Castagnoli's polynomial, as RFC 3720 has it: finds torn and flipped bytes, proves nothing.
package enum CRC32C {
    /// The checksum of `bytes`.
    package static func checksum(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
        var remainder = UInt32.max
        table.withUnsafeBufferPointer { table in
            for byte in bytes {
                remainder = remainder >> 8 ^ table[Int(UInt8(truncatingIfNeeded: remainder) ^ byte)]
            }
        }
        return ~remainder
    }

    package static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.withContiguousStorageIfAvailable { checksum($0) }
            ?? Array(bytes).withUnsafeBufferPointer { checksum($0) }
    }

    /// What each byte does to the remainder, by the polynomial with its bits reversed.
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { rest, _ in rest >> 1 ^ (rest & 1 == 0 ? 0 : 0x82F6_3B78) }
    }
}
