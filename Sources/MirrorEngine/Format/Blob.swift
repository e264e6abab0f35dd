internal import Digests

/// A value too long for a log or a base, stored in a file of its own that is named by its hash.
///
/// The file contains the bytes of the `CanonicalValue` and nothing else.
package struct Blob: Hashable, Sendable {
    package let name: BlobName
    package let value: CanonicalValue

    package init(_ value: CanonicalValue) {
        self.value = value
        name = BlobName(hash: Fingerprint(of: value.bytes))
    }

    /// Decodes the file to which a pack refers.
    package init(decoding bytes: [UInt8], as reference: BlobReference) throws(PackFault) {
        guard bytes.count == reference.size else { throw .endsEarly }
        guard Fingerprint(of: bytes) == reference.name.hash else { throw .wrongHash }
        value = try CanonicalValue(decoding: bytes)
        name = reference.name
    }

    package var reference: BlobReference { BlobReference(name: name, size: value.bytes.count) }

    /// The length limit of a value inside a pack, in bytes. A longer value is a blob.
    package static let longestInPack = 64 << 10
}

/// The reference of a pack to a blob.
package struct BlobReference: Hashable, Sendable {
    package let name: BlobName
    package let size: Int

    package init(name: BlobName, size: Int) {
        self.name = name
        self.size = size
    }
}

/// The name of a blob in a writer's folder: the 52 digits of its hash, in a folder named after the first two.
///
/// For example, `x/3f/3f….blob`.
package struct BlobName: Hashable, Sendable {
    package let hash: Fingerprint

    package init(hash: Fingerprint) { self.hash = hash }

    /// Parses a path inside a writer's folder. Returns nil for any path that this type does not write.
    package init?(_ path: some StringProtocol) {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].elementsEqual("x".utf8), parts[2].count == Self.digits + 5 else { return nil }
        guard parts[1].elementsEqual(parts[2].prefix(2)), parts[2].suffix(5).elementsEqual(".blob".utf8) else {
            return nil
        }
        let digits = String(decoding: parts[2].prefix(Self.digits), as: UTF8.self)
        guard let bytes = Base32.bytes(digits, count: 32), let hash = Fingerprint(bytes) else { return nil }
        self.hash = hash
    }

    private static let digits = 52
}

extension BlobName: CustomStringConvertible {
    package var description: String {
        let digits = Base32.text(hash.bytes)
        return "x/\(digits.prefix(2))/\(digits).blob"
    }
}

extension BlobName: Comparable {
    package static func < (left: Self, right: Self) -> Bool { left.hash.bytes.isBefore(right.hash.bytes) }
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
