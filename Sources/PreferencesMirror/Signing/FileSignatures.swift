internal import MirrorEngine
internal import Platform
internal import Preferences
internal import Synchronization

/// The signatures of the files of a signed mirror: who may write, which key each writer has, and which files were
/// checked.
///
/// The admitted and the expelled hosts are in files of OpenSSH in the folder of the mirror on this host. All changes
/// require the lock of the state.
final class FileSignatures: Sendable {
    let key: SigningKey
    private let folder: FilePath
    private let system: SystemServices
    private let state: Mutex<State>

    fileprivate struct State {
        var signers = Signers()
        /// The fingerprint of the key of each writer, which its first note has determined.
        var keys: [WriterID: String] = [:]
        /// The signatures that were checked, by the hash of the hash that each is for and of itself.
        var checked: [ContentHash: Check] = [:]
        /// The files without a valid signature, and the time at which each was first found.
        var ignored: [PackAddress: Int64] = [:]
        /// Whether a host was expelled and this one has not published everything that it accepted from it.
        var owesBase = false
        /// Whether the notes of all writers have been read since the record was begun.
        var isComplete = false
        var isChanged = false
        /// The number of invalid signatures that were found in the present pass.
        var invalidCount = 0
        /// The reason that a signature could not be checked.
        var failure: String?
        /// The reason that the record cannot be read. Until it can be, no file is accepted.
        var obstacle: SystemFailure?
    }

    fileprivate struct Check {
        /// The hash in the name of the file.
        let name: UInt64
        let validity: Validity
    }

    /// The result of checking a signature.
    enum Validity: Hashable {
        case valid
        /// Checked at this time. It is checked again later, because the program may have failed.
        case invalid(at: Int64)
        /// The program is missing or did not answer, or too many invalid signatures were found in this pass.
        case unknown
    }

    init(_ key: SigningKey, label: String, in folder: FilePath, on system: SystemServices) {
        (self.key, self.folder, self.system) = (key, folder, system)
        var state = State()
        do throws(SystemFailure) {
            let texts = try [Self.allowedName, Self.revokedName, Self.stateName].map { name throws(SystemFailure) in
                let bytes = try system.fileSystem.contents(of: folder.appending(name), limit: Self.mostBytes)
                return bytes.map { String(decoding: $0, as: UTF8.self) }
            }
            state.signers = Signers(allowed: texts[0] ?? "", revoked: texts[1] ?? "")
            for line in (texts[2] ?? "").split(separator: "\n") { state.read(line) }
            if texts.contains(nil) { state.isComplete = false }
        } catch {
            state.obstacle = error
            state.failure = error.description
        }
        state.signers.admit(key.trusted, as: key.trusted == key.key ? label : "")
        self.state = Mutex(state)
    }

    private static let allowedName: FileName = "allowed_signers"
    private static let revokedName: FileName = "revoked_keys"
    private static let stateName: FileName = "signatures"
    private static let mostBytes = 64 << 20

    // MARK: Who may write

    var signers: Signers { state.withLock(\.signers) }

    /// Changes who may write, and records it.
    func change(_ change: (inout Signers) -> Void) throws(SystemFailure) {
        if let obstacle = state.withLock(\.obstacle) { throw obstacle }
        let former = signers
        var new = former
        change(&new)
        guard new != former else { return }
        if new.expelled.count > former.expelled.count { owesBase = true }
        try store()
        try write(new)
        let signers = new
        state.withLock { $0.signers = signers }
    }

    private func write(_ signers: Signers) throws(SystemFailure) {
        let files = system.fileSystem
        // The expelled hosts first: a host is in neither file rather than in both.
        try files.replace(folder.appending(Self.revokedName), with: Array(signers.revokedKeys.utf8))
        try files.replace(folder.appending(Self.allowedName), with: Array(signers.allowedSigners.utf8))
    }

    /// Returns the fingerprint of the key of a writer, or nil if no valid note of it was found.
    func fingerprint(of writer: WriterID) -> String? { state.withLock { $0.keys[writer] } }

    /// Whether everything that was accepted from an expelled host is still to be published.
    var owesBase: Bool {
        get { state.withLock(\.owesBase) }
        set { state.withLock { ($0.owesBase, $0.isChanged) = (newValue, $0.isChanged || newValue != $0.owesBase) } }
    }

    /// Whether the notes of all writers have been read since the record was begun. Otherwise it may lack signers.
    var isComplete: Bool { state.withLock(\.isComplete) }

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
        bind(address.writer, to: key.key)
        record(.valid, of: Self.hash(of: signature, for: pack.hash), for: pack.hash)
        return bytes
    }

    // MARK: Files of any host

    /// Returns whether the end of a file has a valid signature of a host that may write.
    func validity(of end: SignedEnd, at address: PackAddress) -> Validity {
        let key = end.signature.key
        let isAdmitted = key == self.key.key || signers.admits(key)
        guard end.hash.prefix == address.name.hash, isAdmitted else { return .invalid(at: 0) }
        let known = usedFingerprint(of: address.writer)
        // The first note of a writer determines the writer's key.
        guard known == key.fingerprint || known == nil && address.name.kind == .note else { return .invalid(at: 0) }
        return validity(of: end, isLimited: true)
    }

    /// Records the key of a writer, unless it is known.
    func bind(_ writer: WriterID, to key: SignerKey) {
        guard usedFingerprint(of: writer) == nil else { return }
        state.withLock { ($0.keys[writer], $0.isChanged) = (key.fingerprint, true) }
    }

    /// Returns the fingerprint of the key of a writer, unless the key was expelled. An expelled host can have bound
    /// the folder of another one to its key.
    private func usedFingerprint(of writer: WriterID) -> String? {
        isExpelled(writer) ? nil : fingerprint(of: writer)
    }

    /// Whether the key of a writer was expelled.
    func isExpelled(_ writer: WriterID) -> Bool {
        guard let fingerprint = fingerprint(of: writer) else { return false }
        return signers.expelled.keys.contains { $0.fingerprint == fingerprint }
    }

    /// Returns whether the key that a signature names made it.
    ///
    /// - Parameter isLimited: Whether nothing is checked after many invalid signatures in one pass. A stranger can make
    ///   any number of them.
    func validity(of end: SignedEnd, isLimited: Bool) -> Validity {
        let now = system.clock.wall.milliseconds
        let hash = Self.hash(of: end.signature, for: end.hash)
        let (check, obstacle, invalidCount) = state.withLock { ($0.checked[hash], $0.obstacle, $0.invalidCount) }
        guard obstacle == nil else { return .unknown }
        if let check {
            guard case .invalid(let time) = check.validity else { return check.validity }
            if now.isWithin(Self.invalidFor, of: time) { return check.validity }
        }
        guard !isLimited || invalidCount < Self.mostInvalid else {
            state.withLock { $0.failure = "many files have invalid signatures; the rest is checked later" }
            return .unknown
        }
        do throws(MirrorFailure) {
            let validity = try verify(end) ? Validity.valid : .invalid(at: now)
            record(validity, of: hash, for: end.hash)
            return validity
        } catch {
            state.withLock { $0.failure = error.description }
            return .unknown
        }
    }

    private static let mostInvalid = 64
    private static let invalidFor: Int64 = 3_600_000

    private func record(_ validity: Validity, of signature: ContentHash, for file: ContentHash) {
        state.withLock { state in
            if validity != .valid { state.invalidCount += 1 }
            (state.checked[signature], state.isChanged) = (Check(name: file.prefix, validity: validity), true)
        }
    }

    private static func hash(of signature: FileSignature, for file: ContentHash) -> ContentHash {
        ContentHash(of: file.bytes + signature.bytes)
    }

    private func verify(_ end: SignedEnd) throws(MirrorFailure) -> Bool {
        let (files, program) = (system.fileSystem, try SSHKeygen(on: system))
        var signer = Signers()
        signer.admit(end.signature.key, as: "")
        let (text, list) = (folder.appending(files.unpredictableName()), folder.appending(files.unpredictableName()))
        defer { for path in [text, list] { _ = try? files.remove(path) } }
        return try MirrorFailure.wrapping {
            for (path, content) in [(text, end.signature.text), (list, signer.allowedSigners)] {
                try files.open(path, .creatingNew(.privateFile))?.write(Array(content.utf8), at: 0)
            }
            return try program.isValid(text, by: end.signature.key, in: list, FileSignature.message(for: end.hash))
        }
    }

    /// Returns why signatures could not be checked, since this was last asked for.
    func takeFailure() -> String? {
        state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }

    // MARK: Passes over the directory

    /// The files without a valid signature of an admitted host, and the time at which each was first found.
    var ignored: [PackAddress: Int64] { state.withLock(\.ignored) }

    /// Records the files without a valid signature after a pass over all files, and forgets the checks of files that
    /// are gone.
    func finish(ignoring addresses: Set<PackAddress>, in listing: Listing, at now: Int64) throws(SystemFailure) {
        let inView = Set(listing.packs.map(\.name.hash))
        // Both files must exist for the record to be complete.
        if !isComplete { try write(signers) }
        state.withLock { state in
            let ignored = Dictionary(
                addresses.sorted().prefix(Self.mostIgnored).map { ($0, min(state.ignored[$0] ?? now, now)) }
            ) { $1 }
            let gone = state.checked.filter { !inView.contains($0.value.name) }.keys
            let isComplete = state.isComplete || state.failure == nil
            if ignored != state.ignored || !gone.isEmpty || isComplete != state.isComplete { state.isChanged = true }
            (state.ignored, state.isComplete, state.invalidCount) = (ignored, isComplete, 0)
            for hash in gone { state.checked[hash] = nil }
        }
        try store()
    }

    private static let mostIgnored = 4096

    // MARK: The record

    /// Writes what later exchanges need, if it changed.
    func store() throws(SystemFailure) {
        let text = state.withLock { state -> String? in
            guard state.isChanged, state.obstacle == nil else { return nil }
            state.isChanged = false
            return state.text
        }
        if let text { try system.fileSystem.replace(folder.appending(Self.stateName), with: Array(text.utf8)) }
    }
}

extension FileSignatures.State {
    fileprivate var text: String {
        var lines = keys.map { "key \($0.key) \($0.value)" }
        lines += checked.compactMap { hash, check in
            switch check.validity {
            case .valid: "checked \(hash) \(check.name) valid"
            case .invalid(let time): "checked \(hash) \(check.name) \(time)"
            case .unknown: nil
            }
        }
        lines += ignored.map { "ignored \($0.key) \($0.value)" }
        if owesBase { lines.append("base due") }
        if isComplete { lines.append("complete") }
        return lines.sorted().map { $0 + "\n" }.joined()
    }

    fileprivate mutating func read(_ line: Substring) {
        let fields = line.split(separator: " ")
        switch fields.first {
        case "key" where fields.count == 3: WriterID(fields[1]).map { keys[$0] = String(fields[2]) }
        case "checked" where fields.count == 4:
            guard let hash = ContentHash(hexadecimal: fields[1]), let name = UInt64(fields[2]) else { return }
            let validity: FileSignatures.Validity = fields[3] == "valid" ? .valid : .invalid(at: Int64(fields[3]) ?? 0)
            checked[hash] = FileSignatures.Check(name: name, validity: validity)
        case "ignored" where fields.count == 3:
            if let address = PackAddress(fields[1]), let since = Int64(fields[2]) { ignored[address] = since }
        case "base": owesBase = true
        case "complete": isComplete = true
        default: break
        }
    }
}
