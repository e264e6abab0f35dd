import Digests
import MirrorEngine
import Platform
import Preferences
import PreferencesMirror
import SimulatedPlatform

/// A stand-in for `ssh-keygen`: a key is the name of its owner, and a signature is a hash that only this program makes.
struct SimulatedKeygen: Sendable {
    private let disk: SimulatedDisk

    static let program: FilePath = "/usr/bin/ssh-keygen"

    init(_ disk: SimulatedDisk) { self.disk = disk }

    /// Installs the program, and a key for each of these owners.
    func install(for owners: [String]) throws {
        let files = disk.process()
        try files.makeFolders(Self.program.parent, for: .everyone)
        try files.replace(Self.program, with: Array("#!".utf8))
        try files.open(Self.program, .reading)?.setPermissions(FilePermissions(rawValue: 0o755))
        for owner in owners {
            let file = Self.file(of: owner)
            try files.makeFolders(file.parent, for: .everyone)
            try files.replace(file, with: Array(owner.utf8), for: .everyone)
        }
    }

    static func file(of owner: String) -> FilePath { FilePath("/keys/\(owner)") ?? "/keys" }

    static func signing(_ owner: String, trusting trusted: String) -> SigningKey? {
        guard let key = key(of: owner), let trusted = self.key(of: trusted) else { return nil }
        return SigningKey(file: file(of: owner), key: key, trusted: trusted)
    }

    static func key(of owner: String) -> SignerKey? {
        SignerKey(string("ssh-ed25519") + string(SHA256.hash(Array(owner.utf8))))
    }

    private static func string(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let count = bytes.count
        return [UInt8(count >> 24 & 255), UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255)] + bytes
    }

    private static func string(_ text: String) -> [UInt8] { string(Array(text.utf8)) }

    static func signature(of message: [UInt8], by key: SignerKey) -> FileSignature? {
        let secret = SHA256.hash(Array("secret".utf8) + key.bytes + message)
        return FileSignature(
            Array("SSHSIG".utf8) + [0, 0, 0, 1] + string(key.bytes) + string("prefs-mirror") + string("")
                + string("sha512") + string(secret))
    }

    /// Carries out the calls that the mirror makes.
    @Sendable func run(_ program: LimitedProgram, _ input: [UInt8]) throws(LimitedProgram.Failure) -> [UInt8] {
        let words = program.words.map { String(decoding: $0, as: UTF8.self) }
        func text(after option: String) -> String? {
            guard let index = words.firstIndex(of: option), index + 1 < words.count,
                let path = FilePath(words[index + 1]), let bytes = try? disk.process().contents(of: path)
            else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
        switch words.dropFirst(2).first {
        case "sign":
            if let owner = text(after: "-f"), let key = Self.key(of: owner),
                let signature = Self.signature(of: input, by: key)
            {
                return Array(signature.text.utf8)
            }
        case "verify":
            let admitted = Signers(allowed: text(after: "-f") ?? "", revoked: "").admitted.keys
            if let signature = text(after: "-s").flatMap({ FileSignature(in: $0) }), admitted.contains(signature.key),
                signature == Self.signature(of: input, by: signature.key)
            {
                return []
            }
        default: break
        }
        throw LimitedProgram.Failure(description: "failed with status 255", status: 255)
    }
}
