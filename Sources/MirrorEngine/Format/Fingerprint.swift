internal import Digests

/// The SHA-256 of some bytes.
package struct Fingerprint: Hashable, Sendable {
    private let words: [4 of UInt64]

    package init(of bytes: some Sequence<UInt8>) { self.init(trusted: SHA256.hash(bytes)) }

    /// Nil unless there are 32 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        self.init(trusted: Array(bytes))
    }

    private init(trusted bytes: [UInt8]) {
        words = [4 of UInt64] { word in bytes[word * 8..<word * 8 + 8].reduce(0) { $0 << 8 | UInt64($1) } }
    }

    package var bytes: [UInt8] {
        words.indices.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: words[word] >> (56 - 8 * $0)) } }
    }

    /// The first 50 bits, as names hold them, at the upper end.
    package var prefix: UInt64 { words[0] & ~0x3FFF }

    package static func == (left: Self, right: Self) -> Bool {
        left.words.indices.allSatisfy { left.words[$0] == right.words[$0] }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(words[0]) }

    /// What stands where nothing was hashed.
    package static let none = Fingerprint(trusted: [UInt8](repeating: 0, count: 32))
}

extension Fingerprint: CustomStringConvertible {
    package var description: String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
