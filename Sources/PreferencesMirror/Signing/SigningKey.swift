package import MirrorEngine
package import Platform
package import Preferences
internal import PropertyLists

/// The key with which this host signs its files of a mirror, and the key that it trusted first.
package struct SigningKey: Hashable, Sendable {
    /// The file of the private key, or of the public key of one that an SSH agent has.
    let file: FilePath
    /// The public key.
    package let key: SignerKey
    /// The key of the host whose list of admitted hosts is trusted, as the user confirmed.
    package let trusted: SignerKey

    package init(file: FilePath, key: SignerKey, trusted: SignerKey) {
        (self.file, self.key, self.trusted) = (file, key, trusted)
    }
}

extension SigningKey {
    var encoded: PropertyList {
        ["file": .data(Data(file.bytes)), "key": .string(key.line), "trusted": .string(trusted.line)]
    }

    init?(_ value: PropertyList) {
        guard let file = value["file"]?.dataValue.flatMap({ FilePath($0) }),
            let key = value["key"]?.stringValue.flatMap({ SignerKey(line: $0) }),
            let trusted = value["trusted"]?.stringValue.flatMap({ SignerKey(line: $0) })
        else { return nil }
        self.init(file: file, key: key, trusted: trusted)
    }
}

/// The program of OpenSSH that makes and checks signatures.
package struct SSHKeygen: Sendable {
    private let program: FilePath
    private let system: SystemServices

    /// Throws if the program is not installed.
    package init(on system: SystemServices) throws(MirrorFailure) {
        guard let program = system.program(named: "ssh-keygen") else {
            throw MirrorFailure(.refused("ssh-keygen, which makes and checks signatures, is not installed"))
        }
        (self.program, self.system) = (program, system)
    }

    private func run(_ words: [[UInt8]], _ input: [UInt8] = []) throws(LimitedProgram.Failure) -> String {
        // A program that asks for a passphrase on another terminal would keep an exchange waiting.
        let call = LimitedProgram(
            path: program, words: [Array("ssh-keygen".utf8)] + words,
            variables: [("SSH_ASKPASS_REQUIRE", Array("never".utf8)), ("LC_ALL", Array("C".utf8))],
            mostMilliseconds: 60_000, mostBytes: 64 << 10, joinsErrors: true)
        return String(decoding: try system.output(call, input), as: UTF8.self)
    }

    /// Returns the public key of a key file, after a test of signing with it.
    package func key(in file: FilePath) throws(MirrorFailure) -> SignerKey {
        try sign(FileSignature.message(for: .none), with: file).key
    }

    /// Signs a message. Throws if the key cannot be used without its passphrase, or gives a signature that is too long.
    func sign(_ message: [UInt8], with file: FilePath) throws(MirrorFailure) -> FileSignature {
        let output: String
        do throws(LimitedProgram.Failure) {
            output = try run(
                ["-Y", "sign", "-f"].map { Array($0.utf8) } + [file.bytes]
                    + ["-n", Signers.namespace].map { Array($0.utf8) }, message)
        } catch {
            throw MirrorFailure(
                .refused(
                    "cannot sign with the key \(file): ssh-keygen \(error); a key with a passphrase requires ssh-agent")
            )
        }
        guard let signature = FileSignature(in: output), SignedEnd.bytes(with: signature) != nil else {
            throw MirrorFailure(
                .refused("cannot sign with the key \(file): the kind or size of the key is not supported"))
        }
        return signature
    }

    /// Whether a key that a list of signers admits made the signature of a message. Throws if the program cannot tell.
    ///
    /// - Parameter text: A file with the signature.
    func isValid(
        _ text: FilePath, by key: SignerKey, in list: FilePath, _ message: [UInt8]
    ) throws(MirrorFailure) -> Bool {
        do throws(LimitedProgram.Failure) {
            _ = try run(
                ["-Y", "verify", "-f"].map { Array($0.utf8) } + [list.bytes]
                    + ["-I", key.fingerprint, "-n", Signers.namespace, "-s"].map { Array($0.utf8) } + [text.bytes],
                message)
            return true
        } catch {
            guard error.status != nil else { throw MirrorFailure(.refused("ssh-keygen \(error)")) }
            return false
        }
    }
}
