import MirrorEngine
import TestSupport
import Testing

@Suite struct `A signature at the end of a file` {
    /// A public key, its fingerprint according to `ssh-keygen -l`, and its kind.
    private static let keys = [
        (
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPXME08poTTu1EO3cpCUliNMU2EJ+0KXj2zVh+cUwoG1",
            "SHA256:XXc4rjVUNp9iF0QXXnmzZX/BG/96rUvfNzDzbHgUovE"
        ),
        (
            "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBJZv2U6PA2GNiPeIGx"
                + "dQBb3ABM3yCW7H/WuomjhWpegiDIqpoNyG7Jfk3yS0vBzg6sUd6AiCgxqjnBs57p/bU8A=",
            "SHA256:vvgktrji6mSWDMVQiJpYlK73Ok+TubjwBp7yfyuG7RQ"
        ),
    ]

    /// The signature of the first key for `abc` and a newline.
    private static let text = """
        -----BEGIN SSH SIGNATURE-----
        U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAg9cwTTymhNO7UQ7dykJSWI0xTYQ
        n7QpePbNWH5xTCgbUAAAAMcHJlZnMtbWlycm9yAAAAAAAAAAZzaGE1MTIAAABTAAAAC3Nz
        aC1lZDI1NTE5AAAAQKMghGdy2EzqD4CXG7nR3QOkwcUKXor8wrAsYTVHhpCSYR6YsnNm7I
        h1IgYsH2Ec39YpEFQ+21EhTNhwBEDmNww=
        -----END SSH SIGNATURE-----

        """

    @Test(arguments: keys) func `is of a key with the fingerprint that OpenSSH prints`(
        _ line: String, _ fingerprint: String
    ) throws {
        let key = try #require(SignerKey(line: line + " ada@example.com"))
        #expect(key.line == line)
        #expect(key.fingerprint == fingerprint)
        #expect(SignerKey(key.bytes) == key)
    }

    @Test(arguments: [
        "", "ssh-ed25519", "ssh-ed25519 !", "ssh-ed25519 AAAA",
        // Another kind than the bytes state.
        "ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIPXME08poTTu1EO3cpCUliNMU2EJ+0KXj2zVh+cUwoG1",
        // Only a kind, and an unknown one.
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5", "other AAAABW90aGVyAAAAAWE=",
        // A certificate.
        "ssh-ed25519-cert-v01@openssh.com AAAAIHNzaC1lZDI1NTE5LWNlcnQtdjAxQG9wZW5zc2guY29tAAAAAWE=",
    ])
    func `is not of a key that is not one`(_ line: String) { #expect(SignerKey(line: line) == nil) }

    @Test func `is read from the output of ssh-keygen, and written as there`() throws {
        let signature = try #require(FileSignature(in: "Signing data on standard input\n" + Self.text))
        #expect(signature.text == Self.text)
        #expect(signature.key.line == Self.keys[0].0)
    }

    @Test func `has the hash before it, and is read only as it is written`() throws {
        let signature = try #require(FileSignature(in: Self.text))
        let hash = ContentHash(of: [1, 2, 3])
        let end = try #require(SignedEnd.bytes(with: signature))
        #expect(end.count == 512)
        let file = [UInt8](repeating: 7, count: 100) + hash.bytes + end
        let found = try #require(SignedEnd(of: file))
        #expect(found.hash == hash && found.signature == signature && found.size == end.count)
        for index in file.indices.dropFirst(100) {
            var changed = file
            changed[index] ^= 1
            guard let other = SignedEnd(of: changed) else { continue }
            #expect(
                other != found && changed.suffix(other.size) == SignedEnd.bytes(with: other.signature)?[...], "\(index)"
            )
        }
        for count in 0..<file.count { #expect(SignedEnd(of: file.prefix(count)) == nil, "\(count)") }
    }
}

@Suite struct `The hosts that may write` {
    private static func key(_ number: UInt8) -> SignerKey? {
        SignerKey([0, 0, 0, 11] + Array("ssh-ed25519".utf8) + [0, 0, 0, 1, number])
    }

    private static func random(_ random: inout SeededGenerator) -> Signers {
        var signers = Signers()
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            guard let key = key(.random(in: 0..<5, using: &random)) else { continue }
            let label = ["a", "b", "", "Ä 2"].randomElement(using: &random) ?? ""
            if Bool.random(using: &random) { signers.admit(key, as: label) } else { signers.expel(key, as: label) }
        }
        return signers
    }

    private static func joined(_ sets: Signers...) -> Signers {
        var joined = Signers()
        for set in sets { joined.join(set) }
        return joined
    }

    @Test func `are the same in whatever order they are joined, and an expelled one stays expelled`() {
        var random = SeededGenerator(stream: "signers")
        for _ in 0..<(Extent.isFull ? 100_000 : 2000) {
            let (a, b, c) = (Self.random(&random), Self.random(&random), Self.random(&random))
            #expect(Self.joined(a, b) == Self.joined(b, a) && Self.joined(a, a) == a)
            #expect(Self.joined(Self.joined(a, b), c) == Self.joined(a, Self.joined(b, c)))
            for key in a.expelled.keys {
                #expect(!Self.joined(b, a, c).admits(key) && Self.joined(b, a, c).expelled[key] != nil)
            }
        }
    }

    @Test func `are the same after a note and after the files of OpenSSH`() throws {
        var random = SeededGenerator(stream: "files of signers")
        for _ in 0..<500 {
            let signers = Self.random(&random)
            let note = WriterNote(
                mirror: MirrorID(high: 1, low: 2), writer: WriterID(number: 3), number: 4, label: "a", platform: "",
                software: "", signers: signers)
            #expect(try Pack(decoding: note.encoded().bytes).content == .note(note))
            #expect(Signers(allowed: signers.allowedSigners, revoked: signers.revokedKeys) == signers)
        }
    }
}
