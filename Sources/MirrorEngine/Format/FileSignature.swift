#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The signature of a file's hash, as `ssh-keygen -Y sign` makes it.
package struct FileSignature: Hashable, Sendable {
    /// The signature in the encoding of SSH.
    package let bytes: [UInt8]
    /// The key that the signature names. Only `ssh-keygen` can tell whether it made the signature.
    package let key: SignerKey

    /// Returns nil for other bytes, and for a signature of another namespace.
    package init?(_ bytes: some Collection<UInt8>) {
        var reader = SSHReader(bytes)
        guard let magic = reader.bytes(6), Array(magic) == Array("SSHSIG".utf8), reader.number() == 1,
            let key = reader.string().flatMap({ SignerKey($0) }),
            let namespace = reader.string(), Array(namespace) == Array(Signers.namespace.utf8),
            // A reserved field, the name of the hash, and the signature.
            reader.string() != nil, reader.string() != nil, reader.string() != nil, reader.isAtEnd
        else { return nil }
        (self.bytes, self.key) = (Array(bytes), key)
    }

    private static let (first, last) = ("-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----")

    /// Finds a signature in the output of `ssh-keygen`.
    package init?(in text: String) {
        let lines = text.split(separator: "\n")
        guard let first = lines.firstIndex(where: { $0 == Self.first }),
            let last = lines.lastIndex(where: { $0 == Self.last }), first < last,
            let data = Data(base64Encoded: lines[first + 1..<last].joined())
        else { return nil }
        self.init(Array(data))
    }

    /// The signature as text.
    package var text: String {
        let characters = Array(Data(bytes).base64EncodedString().utf8)
        let lines = stride(from: 0, to: characters.count, by: 70).map { start in
            String(decoding: characters[start..<min(start + 70, characters.count)], as: UTF8.self)
        }
        return ([Self.first] + lines + [Self.last]).map { $0 + "\n" }.joined()
    }

    /// What is signed: the hash of a file as hexadecimal digits, and a newline.
    package static func message(for hash: ContentHash) -> [UInt8] { Array("\(hash)\n".utf8) }
}

/// The last bytes of a signed file: the end of the file as it would be without a signature, and the signature.
///
///     8 bytes            the size of the file without a signature
///     32 bytes           its SHA-256, which is signed
///     …                  the signature, and zeros up to a size that depends only on the kind of key
///     b6 00 00 02        the sizes of the signature, and of everything after the hash
///     70 72 66 73        "prfs"
package struct SignedEnd: Hashable, Sendable {
    package let hash: ContentHash
    /// The size of the file without a signature, as the file claims.
    package let claimedSize: UInt64
    package let signature: FileSignature
    /// The number of bytes after the hash.
    package let size: Int

    private static let magic = Array("prfs".utf8)
    /// The most bytes of all this.
    package static let mostBytes = 2048 + 40

    /// Returns the number of bytes that a signature with a key adds to a file.
    package static func size(for key: SignerKey) -> Int { key.kind == "ssh-rsa" ? 2048 : 512 }

    /// Returns the bytes to append to a file, or nil if the signature is too long.
    package static func bytes(with signature: FileSignature) -> [UInt8]? {
        let size = size(for: signature.key)
        let padding = size - signature.bytes.count - 8
        guard padding >= 0 else { return nil }
        var bytes = signature.bytes + [UInt8](repeating: 0, count: padding)
        bytes.append(littleEndian: UInt16(signature.bytes.count))
        bytes.append(littleEndian: UInt16(size))
        return bytes + magic
    }

    /// Returns nil if the last bytes of a file contain no signature.
    package init?(of file: some BidirectionalCollection<UInt8>) {
        let bytes = Array(file.suffix(Self.mostBytes))
        guard bytes.count >= 40, Array(bytes.suffix(4)) == Self.magic else { return nil }
        let sizes = bytes.suffix(8).map { Int($0) }
        let (count, size) = (sizes[0] | sizes[1] << 8, sizes[2] | sizes[3] << 8)
        guard size >= 8, count <= size - 8, bytes.count >= size + 40 else { return nil }
        let start = bytes.count - size
        guard let signature = FileSignature(bytes[start..<start + count]), Self.size(for: signature.key) == size,
            bytes[(start + count)..<(bytes.count - 8)].allSatisfy({ $0 == 0 }),
            let hash = ContentHash(bytes[start - 32..<start])
        else { return nil }
        claimedSize = bytes[start - 40..<start - 32].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        (self.hash, self.signature, self.size) = (hash, signature, size)
    }
}
