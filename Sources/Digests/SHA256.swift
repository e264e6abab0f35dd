/// The SHA-256 hash function (FIPS 180-4) and HMAC-SHA-256 (RFC 2104).
///
/// Call `update` with each piece of the message, then `finish`.
package struct SHA256: ~Copyable {
    private var state = State()
    /// The bytes that do not fill a block yet.
    private var rest: [UInt8] = []
    private var count: UInt64 = 0

    private static let blockLength = 64

    package init() { rest.reserveCapacity(Self.blockLength) }

    /// Adds the next piece of the message.
    package mutating func update(_ piece: ArraySlice<UInt8>) {
        count &+= UInt64(piece.count)
        var piece = piece
        if !rest.isEmpty {
            let missing = min(Self.blockLength - rest.count, piece.count)
            rest.append(contentsOf: piece.prefix(missing))
            piece = piece.dropFirst(missing)
            guard rest.count == Self.blockLength else { return }
            state = state.adding(rest.span)
            rest.removeAll(keepingCapacity: true)
        }
        state = state.adding(piece.span)
        rest.append(contentsOf: piece.suffix(piece.count % Self.blockLength))
    }

    package mutating func update(_ piece: [UInt8]) { update(piece[...]) }

    /// Returns the 32-byte hash of all the pieces.
    package consuming func finish() -> [UInt8] {
        let bits = count &* 8
        // Padding: a 1 bit, zeros, and the message length in bits in the last eight bytes of a block.
        let zeros = (2 * Self.blockLength - 9 - rest.count) % Self.blockLength
        update([0x80] + [UInt8](repeating: 0, count: zeros) + bits.bigEndianBytes)
        var hash: [UInt8] = []
        hash.reserveCapacity(32)
        let words = state.words
        for word in [words.0, words.1, words.2, words.3, words.4, words.5, words.6, words.7] {
            hash.append(UInt8(truncatingIfNeeded: word >> 24))
            hash.append(UInt8(truncatingIfNeeded: word >> 16))
            hash.append(UInt8(truncatingIfNeeded: word >> 8))
            hash.append(UInt8(truncatingIfNeeded: word))
        }
        return hash
    }
}

extension SHA256 {
    /// Returns the 32-byte hash of `message`.
    package static func hash(_ message: ArraySlice<UInt8>) -> [UInt8] {
        var hash = SHA256()
        hash.update(message)
        return hash.finish()
    }

    package static func hash(_ message: [UInt8]) -> [UInt8] { hash(message[...]) }

    /// Returns the 32-byte HMAC of `message` with `key`.
    package static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var key = key
        if key.count > blockLength { key = hash(key) }
        key += repeatElement(0, count: blockLength - key.count)
        return hash(key.map { $0 ^ 0x5C } + hash(key.map { $0 ^ 0x36 } + message))
    }
}

extension SHA256 {
    /// The working variables a to h of the standard.
    private struct State {
        var words: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) = (
            0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19
        )

        /// Returns the state after all complete blocks of `bytes`.
        func adding(_ bytes: Span<UInt8>) -> State {
            var state = self
            var words = InlineArray<64, UInt32>(repeating: 0)
            var start = 0
            while bytes.count - start >= blockLength {
                schedule(bytes.extracting(start..<start + blockLength), &words)
                state.add(words.span)
                start += blockLength
            }
            return state
        }

        /// Adds one block. The schedule is a span, because the compiler copies an array of this type in every round.
        private mutating func add(_ schedule: Span<UInt32>) {
            var (a, b, c, d, e, f, g, h) = words
            var index = 0
            while index < 64 {
                let choice = (e & f) ^ (~e & g)
                let turned = (e >> 6 | e << 26) ^ (e >> 11 | e << 21) ^ (e >> 25 | e << 7)
                let first = h &+ turned &+ choice &+ constants[index] &+ schedule[index]
                let majority = (a & b) ^ (a & c) ^ (b & c)
                let second = ((a >> 2 | a << 30) ^ (a >> 13 | a << 19) ^ (a >> 22 | a << 10)) &+ majority
                (h, g, f, e) = (g, f, e, d &+ first)
                (d, c, b, a) = (c, b, a, first &+ second)
                index &+= 1
            }
            words.0 &+= a
            words.1 &+= b
            words.2 &+= c
            words.3 &+= d
            words.4 &+= e
            words.5 &+= f
            words.6 &+= g
            words.7 &+= h
        }
    }
}

/// Expands a block into the 64 words of the message schedule.
private func schedule(_ block: Span<UInt8>, _ words: inout InlineArray<64, UInt32>) {
    var index = 0
    while index < 16 {
        let at = 4 &* index
        let high = UInt32(block[at]) << 24 | UInt32(block[at &+ 1]) << 16
        words[index] = high | UInt32(block[at &+ 2]) << 8 | UInt32(block[at &+ 3])
        index &+= 1
    }
    while index < 64 {
        let (early, late) = (words[index &- 15], words[index &- 2])
        let first = (early >> 7 | early << 25) ^ (early >> 18 | early << 14) ^ early >> 3
        let second = (late >> 17 | late << 15) ^ (late >> 19 | late << 13) ^ late >> 10
        words[index] = words[index &- 16] &+ first &+ words[index &- 7] &+ second
        index &+= 1
    }
}

private let constants: InlineArray<64, UInt32> = [
    0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
    0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
    0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
    0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
    0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
    0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
    0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
    0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
]

extension UInt64 {
    fileprivate var bigEndianBytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * $0)) }
    }
}
