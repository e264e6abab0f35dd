internal import Digests

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The public key of a host that signs its files, in the encoding of SSH.
package struct SignerKey: Hashable, Sendable {
    /// The name of the kind of key, and its parts, each preceded by its length.
    package let bytes: [UInt8]
    /// The kind of key, such as `ssh-ed25519`.
    package let kind: String

    /// The size limit of a key: twice that of an RSA key of 4,096 bits.
    package static let mostBytes = 1024

    /// Returns nil for other bytes, and for certificates.
    package init?(_ bytes: some Collection<UInt8>) {
        var reader = SSHReader(bytes)
        guard bytes.count <= Self.mostBytes, let kind = reader.string(), !reader.isAtEnd,
            kind.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self.bytes = Array(bytes)
        self.kind = String(decoding: kind, as: UTF8.self)
        guard ["ssh-", "ecdsa-", "sk-"].contains(where: self.kind.hasPrefix), !self.kind.contains("-cert-") else {
            return nil
        }
    }

    /// Parses a line of a public key file: the kind, the bytes in base64, and a comment.
    package init?(line: some StringProtocol) {
        let fields = line.split(maxSplits: 2, whereSeparator: \.isWhitespace)
        guard fields.count >= 2, let data = Data(base64Encoded: String(fields[1])) else { return nil }
        self.init(Array(data))
        guard kind == fields[0] else { return nil }
    }

    /// The key as in a public key file.
    package var line: String { "\(kind) \(Data(bytes).base64EncodedString())" }

    /// The fingerprint as OpenSSH prints it.
    package var fingerprint: String {
        let text = Data(SHA256.hash(bytes)).base64EncodedString()
        return "SHA256:" + text.prefix { $0 != "=" }
    }
}

/// The hosts that may write to a signed mirror, and those that no longer may.
///
/// An expelled key is never admitted again, so that two sets join in any order to the same one.
package struct Signers: Hashable, Sendable {
    /// The keys of the admitted hosts, with the names of the hosts.
    package private(set) var admitted: [SignerKey: String] = [:]
    package private(set) var expelled: [SignerKey: String] = [:]

    /// The limit of keys, so that a header has room for them.
    package static let mostKeys = 512

    package init() {}

    /// Whether the host with a key may write.
    package func admits(_ key: SignerKey) -> Bool { admitted[key] != nil }

    package var isFull: Bool { admitted.count + expelled.count >= Self.mostKeys }

    package mutating func admit(_ key: SignerKey, as label: String) {
        guard expelled[key] == nil, admitted[key] != nil || !isFull else { return }
        admitted[key] = Self.last(admitted[key] ?? "", Self.name(label))
    }

    package mutating func expel(_ key: SignerKey, as label: String) {
        guard admitted.removeValue(forKey: key) != nil || expelled[key] != nil || !isFull else { return }
        expelled[key] = Self.last(expelled[key] ?? "", Self.name(label))
    }

    /// Adds what another host knows.
    package mutating func join(_ other: Signers) {
        for (key, label) in other.expelled.sorted(by: { $0.key.line < $1.key.line }) { expel(key, as: label) }
        for (key, label) in other.admitted.sorted(by: { $0.key.line < $1.key.line }) { admit(key, as: label) }
    }

    /// Returns a name on one line that the files of OpenSSH preserve.
    private static func name(_ label: String) -> String {
        var name: [UInt8] = []
        for scalar in label.unicodeScalars where name.count + 4 <= WriterNote.longestText {
            name += scalar.properties.generalCategory == .control ? [space] : Array(scalar.utf8)
        }
        return name.split(separator: space).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }

    private static let space = UInt8(ascii: " ")

    /// Returns the later of two names in the order of their bytes, so that all hosts use the same one.
    private static func last(_ name: String, _ other: String) -> String {
        name.utf8.lexicographicallyPrecedes(other.utf8) ? other : name
    }
}

// MARK: In a note

extension Signers {
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for (keys, state) in [(admitted, UInt8(1)), (expelled, 2)] {
            for (key, label) in keys.sorted(by: { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }) {
                bytes.append(state)
                bytes.append(run: key.bytes)
                bytes.append(run: label.utf8)
            }
        }
        return bytes
    }

    init(decoding bytes: [UInt8]) throws(PackFault) {
        var reader = ByteReader(bytes)
        while !reader.isAtEnd {
            let state = try reader.byte()
            guard let key = SignerKey(try reader.run(limit: SignerKey.mostBytes)) else { throw .notThisFormat }
            let label = try reader.text(limit: WriterNote.longestText)
            guard !isFull else { throw .beyondLimit("keys of hosts") }
            switch state {
            case 1: admit(key, as: label)
            case 2: expel(key, as: label)
            default: throw .unknownTag
            }
        }
        guard encoded == bytes else { throw .notCanonical }
    }
}

// MARK: In files of OpenSSH

extension Signers {
    /// The namespace of the signatures, so that one that a host makes for another purpose is not valid here.
    package static let namespace = "prefs-mirror"

    /// The admitted hosts as an `allowed_signers` file. The principal of each is the fingerprint of its key.
    package var allowedSigners: String {
        Self.lines(admitted) { "\($0.fingerprint) namespaces=\"\(Self.namespace)\" \($0.line)" }
    }

    /// The expelled hosts as a file for `ssh-keygen -r`.
    package var revokedKeys: String { Self.lines(expelled, \.line) }

    private static func lines(_ keys: [SignerKey: String], _ text: (SignerKey) -> String) -> String {
        keys.map { "\(text($0.key)) \($0.value)\n" }.sorted().joined()
    }

    /// Reads both files. Lines of other forms are ignored.
    package init(allowed: String, revoked: String) {
        for line in revoked.split(separator: "\n") { Self.entry(line).map { expel($0.key, as: $0.label) } }
        for line in allowed.split(separator: "\n") {
            let fields = line.utf8.split(separator: Self.space, maxSplits: 2)
            guard fields.count == 3, fields[1].starts(with: "namespaces=".utf8) else { continue }
            Self.entry(Substring(fields[2])).map { admit($0.key, as: $0.label) }
        }
    }

    private static func entry(_ text: Substring) -> (key: SignerKey, label: String)? {
        // Not by characters: a name can begin with a mark that combines with the space.
        let fields = text.utf8.split(separator: Self.space, maxSplits: 2).map { String(decoding: $0, as: UTF8.self) }
        guard fields.count >= 2, let key = SignerKey(line: "\(fields[0]) \(fields[1])") else { return nil }
        return (key, fields.count == 3 ? fields[2] : "")
    }
}

/// Reads values in the encoding of SSH: byte strings that are preceded by their length in four bytes.
struct SSHReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) { rest = Array(bytes)[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func number() -> UInt32? { bytes(4).map { $0.reduce(0) { $0 << 8 | UInt32($1) } } }

    mutating func string() -> ArraySlice<UInt8>? {
        guard let count = number() else { return nil }
        return bytes(Int(count))
    }
}
