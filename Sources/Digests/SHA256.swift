/// The SHA-256 hash function (FIPS 180-4) and HMAC-SHA-256 (RFC 2104).
///
/// Call `update` with each piece of the message, then `finish`.
package struct SHA256: ~Copyable {
    /// The working variables a to h of the standard.
    private var state: State = (
        0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19
    )
    /// The bytes that do not fill a block yet.
    private var rest: [UInt8] = []
    private var count: UInt64 = 0

    private typealias State = (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)
    private static let blockLength = 64

    package init() { rest.reserveCapacity(Self.blockLength) }

    /// Adds the next piece of the message.
    package mutating func update(_ piece: UnsafeBufferPointer<UInt8>) {
        count &+= UInt64(piece.count)
        var piece = UnsafeBufferPointer(rebasing: piece[...])
        if !rest.isEmpty {
            let missing = min(Self.blockLength - rest.count, piece.count)
            rest.append(contentsOf: piece.prefix(missing))
            piece = UnsafeBufferPointer(rebasing: piece.dropFirst(missing))
            guard rest.count == Self.blockLength else { return }
            rest.withUnsafeBufferPointer { addBlocks(of: $0) }
            rest.removeAll(keepingCapacity: true)
        }
        addBlocks(of: piece)
        rest.append(contentsOf: piece.suffix(piece.count % Self.blockLength))
    }

    package mutating func update(_ piece: [UInt8]) { piece.withUnsafeBufferPointer { update($0) } }

    /// Returns the 32-byte hash of all the pieces.
    package consuming func finish() -> [UInt8] {
        let bits = count &* 8
        // Padding: a 1 bit, zeros, and the message length in bits in the last eight bytes of a block.
        let zeros = (2 * Self.blockLength - 9 - rest.count) % Self.blockLength
        update([0x80] + [UInt8](repeating: 0, count: zeros) + bits.bigEndianBytes)
        var hash: [UInt8] = []
        hash.reserveCapacity(32)
        for word in [state.0, state.1, state.2, state.3, state.4, state.5, state.6, state.7] {
            hash.append(UInt8(truncatingIfNeeded: word >> 24))
            hash.append(UInt8(truncatingIfNeeded: word >> 16))
            hash.append(UInt8(truncatingIfNeeded: word >> 8))
            hash.append(UInt8(truncatingIfNeeded: word))
        }
        return hash
    }

    private mutating func addBlocks(of bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
            guard let words = words.baseAddress else { return }
            constants.withUnsafeBufferPointer { constants in
                guard let constants = constants.baseAddress else { return }
                for start in stride(from: 0, to: bytes.count - bytes.count % Self.blockLength, by: Self.blockLength) {
                    schedule(base + start, words)
                    add(words, constants)
                }
            }
        }
    }

    @inline(__always)
    private mutating func add(_ words: UnsafeMutablePointer<UInt32>, _ constants: UnsafePointer<UInt32>) {
        var (a, b, c, d, e, f, g, h) = state
        var index = 0
        while index < 64 {
            let choice = (e & f) ^ (~e & g)
            let turned = (e >> 6 | e << 26) ^ (e >> 11 | e << 21) ^ (e >> 25 | e << 7)
            let first = h &+ turned &+ choice &+ constants[index] &+ words[index]
            let majority = (a & b) ^ (a & c) ^ (b & c)
            let second = ((a >> 2 | a << 30) ^ (a >> 13 | a << 19) ^ (a >> 22 | a << 10)) &+ majority
            h = g
            g = f
            f = e
            e = d &+ first
            d = c
            c = b
            b = a
            a = first &+ second
            index &+= 1
        }
        state.0 &+= a
        state.1 &+= b
        state.2 &+= c
        state.3 &+= d
        state.4 &+= e
        state.5 &+= f
        state.6 &+= g
        state.7 &+= h
    }
}

extension SHA256 {
    /// Returns the 32-byte hash of `message`.
    package static func hash(_ message: some Sequence<UInt8>) -> [UInt8] {
        var hash = SHA256()
        if message.withContiguousStorageIfAvailable({ hash.update($0) }) == nil { hash.update(Array(message)) }
        return hash.finish()
    }

    /// Returns the 32-byte HMAC of `message` with `key`.
    package static func code(of message: some Sequence<UInt8>, key: some Sequence<UInt8>) -> [UInt8] {
        var key = Array(key)
        if key.count > blockLength { key = hash(key) }
        key += repeatElement(0, count: blockLength - key.count)
        return hash(key.map { $0 ^ 0x5C } + hash(key.map { $0 ^ 0x36 } + Array(message)))
    }
}

/// Expands a block into the 64 words of the message schedule.
@inline(__always)
private func schedule(_ block: UnsafePointer<UInt8>, _ words: UnsafeMutablePointer<UInt32>) {
    let raw = UnsafeRawPointer(block)
    var index = 0
    while index < 16 {
        words[index] = UInt32(bigEndian: raw.loadUnaligned(fromByteOffset: 4 &* index, as: UInt32.self))
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

private let constants: [UInt32] = [
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
