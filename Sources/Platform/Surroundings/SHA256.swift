/// The hash of FIPS 180-4, and the keyed one that RFC 2104 makes of it.
///
/// For names and short texts; nothing here is fast enough for bulk.
package enum SHA256: Sendable {
    /// The 32 bytes that `message` hashes to.
    package static func hash(_ message: some Sequence<UInt8>) -> [UInt8] {
        var state: [UInt32] = [
            0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
        ]
        let padded = padded(Array(message))
        for start in stride(from: 0, to: padded.count, by: blockLength) {
            add(padded[start..<(start + blockLength)], to: &state)
        }
        return state.flatMap(\.bigEndianBytes)
    }

    /// The 32 bytes that only who knows `key` can make of `message`.
    package static func code(of message: some Sequence<UInt8>, key: some Sequence<UInt8>) -> [UInt8] {
        var key = Array(key)
        if key.count > blockLength { key = hash(key) }
        key += repeatElement(0, count: blockLength - key.count)
        return hash(key.map { $0 ^ 0x5C } + hash(key.map { $0 ^ 0x36 } + Array(message)))
    }

    private static let blockLength = 64

    /// The message, a 1 bit, zeros, and its length in bits in the last eight bytes of a block.
    private static func padded(_ message: [UInt8]) -> [UInt8] {
        let used = (message.count + 9) % blockLength
        let zeros = used == 0 ? 0 : blockLength - used
        let bits = UInt64(message.count) * 8
        return message + [0x80] + repeatElement(0, count: zeros) + UInt32(bits >> 32).bigEndianBytes
            + UInt32(truncatingIfNeeded: bits).bigEndianBytes
    }

    private static func add(_ block: ArraySlice<UInt8>, to state: inout [UInt32]) {
        let words = schedule(block)
        // a to h of the standard.
        var v = state
        for (constant, word) in zip(constants, words) {
            let choice = v[4] & v[5] ^ ~v[4] & v[6]
            let first = v[7] &+ (v[4].rotated(6) ^ v[4].rotated(11) ^ v[4].rotated(25)) &+ choice &+ constant &+ word
            let majority = v[0] & v[1] ^ v[0] & v[2] ^ v[1] & v[2]
            let second = (v[0].rotated(2) ^ v[0].rotated(13) ^ v[0].rotated(22)) &+ majority
            v = [first &+ second, v[0], v[1], v[2], v[3] &+ first, v[4], v[5], v[6]]
        }
        for index in 0..<8 { state[index] &+= v[index] }
    }

    private static func schedule(_ block: ArraySlice<UInt8>) -> [UInt32] {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
            block[start..<(start + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let first = early.rotated(7) ^ early.rotated(18) ^ early >> 3
            let second = late.rotated(17) ^ late.rotated(19) ^ late >> 10
            words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
        }
        return words
    }

    private static let constants: [UInt32] = [
        0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
        0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
        0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
        0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
        0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
        0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
        0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
        0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
    ]
}

extension UInt32 {
    fileprivate func rotated(_ count: UInt32) -> UInt32 { self >> count | self << (32 - count) }

    fileprivate var bigEndianBytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (24 - 8 * $0)) } }
}
