internal import MirrorEngine
internal import Platform
internal import Preferences
internal import Synchronization

/// The signatures of the files of a signed mirror: who may write, which key each writer has, and which files were
/// checked.
///
/// The admitted and the expelled hosts are in files of OpenSSH in the folder of the mirror on this host. All access
/// requires the lock of the state.
final class FileSignatures: Sendable {
    let key: SigningKey
    private let folder: FilePath
    private let system: SystemServices
    private let state: Mutex<State>

    fileprivate struct State {
        var signers: Signers
        /// The key of each writer, which its first note has determined.
        var keys: [WriterID: String] = [:]
        /// The hashes of the files that were checked.
        var checked: [ContentHash: Check] = [:]
        /// The files without a valid signature, and the time at which each was first found.
        var ignored: [PackAddress: Int64] = [:]
        /// Whether a host was expelled and this one has not published everything that it accepted from it.
        var owesBase = false
        var isChanged = false
        /// Whether the record is missing, so that every note must be read again.
        var isNew = false
        /// The reason that a signature could not be checked.
        var failure: String?
    }

    fileprivate struct Check {
        let signature: ContentHash
        let isValid: Bool
    }

    init(_ key: SigningKey, label: String, in folder: FilePath, on system: SystemServices) {
        (self.key, self.folder, self.system) = (key, folder, system)
        let texts = [Self.allowedName, Self.revokedName, Self.stateName].map { name in
            let bytes = try? system.fileSystem.contents(of: folder.appending(name), limit: 16 << 20)
            return bytes.map { String(decoding: $0, as: UTF8.self) }
        }
        var signers = Signers(allowed: texts[0] ?? "", revoked: texts[1] ?? "")
        signers.admit(key.trusted, as: key.trusted == key.key ? label : "")
        var state = State(signers: signers)
        for line in (texts[2] ?? "").split(separator: "\n") { state.read(line) }
        state.isNew = texts.contains(nil)
        self.state = Mutex(state)
    }

    private static let allowedName: FileName = "allowed_signers"
    private static let revokedName: FileName = "revoked_keys"
    private static let stateName: FileName = "signatures"

    // MARK: Who may write

    var signers: Signers { state.withLock(\.signers) }

    /// Changes who may write, and records it.
    func change(_ change: (inout Signers) -> Void) throws(SystemFailure) {
        var signers = signers
        change(&signers)
        guard signers != self.signers || isNew else { return }
        let files = system.fileSystem
        // The expelled hosts first: a host is in neither file rather than in both.
        try files.replace(folder.appending(Self.revokedName), with: Array(signers.revokedKeys.utf8))
        try files.replace(folder.appending(Self.allowedName), with: Array(signers.allowedSigners.utf8))
        let new = signers
        state.withLock { state in
            if new.expelled.count > state.signers.expelled.count { state.owesBase = true }
            (state.signers, state.isChanged) = (new, true)
        }
        try store()
    }

    /// Returns the fingerprint of the key of a writer, or nil if no valid note of it was found.
    func fingerprint(of writer: WriterID) -> String? { state.withLock { $0.keys[writer] } }

    /// Whether everything that was accepted from an expelled host is still to be published.
    var owesBase: Bool {
        get { state.withLock(\.owesBase) }
        set { state.withLock { ($0.owesBase, $0.isChanged) = (newValue, $0.isChanged || newValue != $0.owesBase) } }
    }

    /// Whether every note in view must be read, because the record of what they said is missing.
    var isNew: Bool { state.withLock(\.isNew) }

    // MARK: Own files

    /// The number of bytes that a signature adds to a file of this host.
    var size: Int { SignedEnd.size(for: key.key) }

    /// Returns the bytes that are appended to a file of this host.
    func end(of pack: EncodedPack, at address: PackAddress) throws(MirrorFailure) -> [UInt8] {
        let signature = try SSHKeygen(on: system).sign(FileSignature.message(for: pack.hash), with: key.file)
        guard signature.key == key.key, let bytes = SignedEnd.bytes(with: signature) else {
            throw MirrorFailure(
                .refused("\(key.file): another key than the one with which this host has joined the mirror"))
        }
        state.withLock { state in
            state.keys[address.writer] = key.key.fingerprint
            state.checked[pack.hash] = Check(signature: ContentHash(of: signature.bytes), isValid: true)
            state.isChanged = true
        }
        return bytes
    }

    // MARK: Files of any host

    /// Whether the end of a file has a valid signature of its writer, who may write. The first note of a writer
    /// determines the writer's key.
    func accepts(_ end: SignedEnd, at address: PackAddress) -> Bool {
        let key = end.signature.key
        guard end.hash.prefix == address.name.hash, key == self.key.key || signers.admits(key) else { return false }
        switch fingerprint(of: address.writer) {
        case key.fingerprint?: return isValid(end)
        case nil where address.name.kind == .note && isValid(end):
            state.withLock { ($0.keys[address.writer], $0.isChanged) = (key.fingerprint, true) }
            return true
        default: return false
        }
    }

    private func isValid(_ end: SignedEnd) -> Bool {
        let signature = ContentHash(of: end.signature.bytes)
        if let check = state.withLock({ $0.checked[end.hash] }), check.signature == signature { return check.isValid }
        do {
            let isValid = try verify(end)
            state.withLock { state in
                // A file with an invalid signature must not make the valid one be checked again.
                if isValid || state.checked[end.hash]?.isValid != true {
                    state.checked[end.hash] = Check(signature: signature, isValid: isValid)
                    state.isChanged = true
                }
            }
            return isValid
        } catch {
            state.withLock { $0.failure = "\(error)" }
            return false
        }
    }

    private func verify(_ end: SignedEnd) throws -> Bool {
        let (files, key) = (system.fileSystem, end.signature.key)
        let (text, list) = (folder.appending("signature.tmp"), folder.appending("signer.tmp"))
        defer { for path in [text, list] { _ = try? files.remove(path) } }
        var signer = Signers()
        signer.admit(key, as: "")
        try files.replace(list, with: Array(signer.allowedSigners.utf8))
        try files.replace(text, with: Array(end.signature.text.utf8))
        return try SSHKeygen(on: system).isValid(text, by: key, in: list, FileSignature.message(for: end.hash))
    }

    /// Returns why signatures could not be checked, since this was last asked for.
    func takeFailure() -> String? {
        state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }

    // MARK: Ignored files

    /// The files without a valid signature of an admitted host, and the time at which each was first found.
    var ignored: [PackAddress: Int64] { state.withLock(\.ignored) }

    /// Records the files without a valid signature, and forgets the checks of files that are gone.
    func finish(ignoring addresses: Set<PackAddress>, in listing: Listing, at now: Int64) {
        let inView = Set(listing.packs.map(\.name.hash))
        state.withLock { state in
            let ignored = Dictionary(
                addresses.sorted().prefix(Self.mostIgnored).map { ($0, min(state.ignored[$0] ?? now, now)) }
            ) { $1 }
            let gone = state.checked.keys.filter { !inView.contains($0.prefix) }
            if ignored != state.ignored || !gone.isEmpty || state.isNew { state.isChanged = true }
            state.ignored = ignored
            for hash in gone { state.checked[hash] = nil }
        }
    }

    private static let mostIgnored = 4096

    // MARK: The record

    /// Writes what later exchanges need, if it changed. Without it they check signatures again.
    func store() throws(SystemFailure) {
        let text = state.withLock { state -> String? in
            guard state.isChanged else { return nil }
            (state.isChanged, state.isNew) = (false, false)
            return state.text
        }
        if let text { try system.fileSystem.replace(folder.appending(Self.stateName), with: Array(text.utf8)) }
    }
}

extension FileSignatures.State {
    fileprivate var text: String {
        var lines = keys.map { "key \($0.key) \($0.value)" }
        lines += checked.map { "file \($0.key) \($0.value.signature) \($0.value.isValid ? "valid" : "invalid")" }
        lines += ignored.map { "ignored \($0.key) \($0.value)" }
        if owesBase { lines.append("base due") }
        return lines.sorted().map { $0 + "\n" }.joined()
    }

    fileprivate mutating func read(_ line: Substring) {
        let fields = line.split(separator: " ")
        switch fields.first {
        case "key" where fields.count == 3: WriterID(fields[1]).map { keys[$0] = String(fields[2]) }
        case "file" where fields.count == 4:
            if let hash = ContentHash(hexadecimal: fields[1]), let signature = ContentHash(hexadecimal: fields[2]) {
                checked[hash] = FileSignatures.Check(signature: signature, isValid: fields[3] == "valid")
            }
        case "ignored" where fields.count == 3:
            if let address = PackAddress(fields[1]), let since = Int64(fields[2]) { ignored[address] = since }
        case "base": owesBase = true
        default: break
        }
    }
}
