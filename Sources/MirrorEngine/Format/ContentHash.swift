internal import Digests

/// A SHA-256 hash.
package struct ContentHash: Hashable, Sendable {
    private var words: [4 of UInt64]

    package init(of bytes: [UInt8]) { self.init(trusted: SHA256.hash(bytes)) }

    package init(of bytes: ArraySlice<UInt8>) { self.init(trusted: SHA256.hash(bytes)) }

    /// Returns nil unless there are 32 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 32 else { return nil }
        self.init(trusted: Array(bytes))
    }

    /// Parses what `description` returns.
    package init?(hexadecimal text: some StringProtocol) {
        let digits = text.utf8.compactMap { Hexadecimal.value(ofDigit: $0) }
        guard digits.count == 64, text.utf8.count == 64 else { return nil }
        self.init(trusted: (0..<32).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] })
    }

    private init(trusted bytes: [UInt8]) {
        words = [4 of UInt64](repeating: 0)
        for index in 0..<32 where index < bytes.count {
            words[index >> 3] = words[index >> 3] << 8 | UInt64(bytes[index])
        }
    }

    package var bytes: [UInt8] {
        (0..<32).map { UInt8(truncatingIfNeeded: words[$0 >> 3] >> UInt64(56 - 8 * ($0 & 7))) }
    }

    /// The first 50 bits, as in file names, followed by zeros.
    package var prefix: UInt64 { words[0] & ~0x3FFF }

    package static func == (left: Self, right: Self) -> Bool {
        left.words.indices.allSatisfy { left.words[$0] == right.words[$0] }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(words[0]) }

    /// The value used where nothing is hashed: zeros.
    package static let none = ContentHash(trusted: [UInt8](repeating: 0, count: 32))
}

extension ContentHash: CustomStringConvertible {
    package var description: String { Hexadecimal.text(of: bytes) }
}
