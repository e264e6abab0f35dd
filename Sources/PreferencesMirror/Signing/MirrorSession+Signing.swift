package import MirrorEngine
internal import Platform
internal import Preferences

// The hosts that may write to a signed mirror, and the files of others.
extension MirrorSession {
    /// Returns a listing without the files of other hosts that have no valid signature of an admitted host, and without
    /// folders that have no other files. Signers that are named by valid notes are recorded first.
    mutating func screened(_ listing: Listing) -> Listing {
        guard let signatures = directory.signatures else { return listing }
        let known = signatures.isNew ? listing.packs.filter { $0.name.kind == .note } : []
        // A note determines the key of its writer, and names further hosts.
        let unknown = Set(engine.status.unknownFiles(in: listing) + known).sorted { left, right in
            (left.name.kind == .note ? 0 : 1, left) < (right.name.kind == .note ? 0 : 1, right)
        }
        var (ignored, signers) = (Set(unknown), Signers())
        repeat {
            signers = signatures.signers
            for address in unknown where ignored.contains(address) && directory.isSigned(address) {
                ignored.remove(address)
                if address.name.kind == .note { joinSigners(of: address) }
            }
        } while !ignored.isEmpty && signers != signatures.signers
        if let failure = signatures.takeFailure() { addTrouble(failure) }
        changeSigners { _ in }
        signatures.finish(ignoring: ignored, in: listing, at: system.clock.wall.milliseconds)
        publishSigners()
        return listing.without(ignored) { engine.status.knows($0) }
    }

    private mutating func joinSigners(of address: PackAddress) {
        guard case .pack(let pack) = directory.fetch(address, of: id), case .note(let note) = pack.content,
            let signers = note.signers
        else { return }
        changeSigners { $0.join(signers) }
    }

    private mutating func changeSigners(_ change: (inout Signers) -> Void) {
        do throws(SystemFailure) {
            try directory.signatures?.change(change)
        } catch {
            addTrouble(error.description)
        }
    }

    /// Publishes what was accepted from an expelled host, so that hosts that do not accept its files receive it.
    mutating func publishAfterExpulsion() throws(MirrorFailure) {
        guard let signatures = directory.signatures, signatures.owesBase, directoryStatus == .present,
            engine.status.outbox.isEmpty
        else { return }
        try handle(.compact)
        if engine.status.isFullyPublished { signatures.owesBase = false }
    }
}

extension Listing {
    /// Returns the listing without some files, and without folders of unknown writers that have no other files.
    fileprivate func without(_ ignored: Set<PackAddress>, _ isKnown: (WriterID) -> Bool) -> Listing {
        var listing = self
        for (writer, names) in folders {
            let accepted = names.filter { name, _ in
                PackName(name).map { !ignored.contains(PackAddress(writer: writer, name: $0)) } ?? true
            }
            let isEmpty = !accepted.keys.contains { PackName($0) != nil }
            listing.folders[writer] = isEmpty && !isKnown(writer) ? nil : accepted
        }
        return listing
    }
}

// MARK: For users

extension MirrorSession {
    /// The signatures of a mirror, as facts to be presented.
    package struct Signing: Sendable {
        /// The fingerprint of the key of this host.
        package let fingerprint: String
        /// Whether other hosts accept the files of this one.
        package let isAdmitted: Bool
        package let isExpelled: Bool
        /// The hosts that ask to be admitted, with the fingerprints of their keys.
        package let requests: [Signer]
        /// The numbers of ignored files, by the folder of a host or its number.
        package let ignored: [(host: String, count: Int)]
        /// The number of files whose signatures may still arrive.
        package let awaited: Int
    }

    /// A host and its key.
    package struct Signer: Hashable, Sendable {
        package let label: String
        package let key: SignerKey
    }

    /// The signatures of the mirror as of the last listing; nil if it has none.
    package var signing: Signing? {
        guard let signatures = directory.signatures else { return nil }
        let (signers, own) = (signatures.signers, signatures.key.key)
        let since = system.clock.wall.milliseconds - engine.limits.waitsFor
        let requests = requests
        let asking = Set(requests.map(\.writer))
        let ignored = signatures.ignored.filter { !asking.contains($0.key.writer) }
        // The rest of a file may still arrive, unless its writer was expelled.
        let expelled = Set(signers.expelled.keys.map(\.fingerprint))
        let old = ignored.filter { address, time in
            time <= since || signatures.fingerprint(of: address.writer).map(expelled.contains) ?? false
        }.keys
        let counts = Dictionary(grouping: old, by: \.writer).mapValues(\.count)
        return Signing(
            fingerprint: own.fingerprint, isAdmitted: signers.admits(own), isExpelled: signers.expelled[own] != nil,
            requests: requests.map(\.signer),
            ignored: counts.sorted { $0.key < $1.key }.map {
                (
                    engine.status.label(of: $0.key) ?? ($0.key == writer ? configuration.label : $0.key.description),
                    $0.value
                )
            },
            awaited: ignored.count - old.count)
    }

    /// The hosts whose notes are signed with keys that are neither admitted nor expelled. Only a user can tell whether
    /// such a host is the one that it claims to be.
    private var requests: [(writer: WriterID, signer: Signer)] {
        guard let signatures = directory.signatures else { return [] }
        let signers = signatures.signers
        var found: [WriterID: Signer] = [:]
        for address in signatures.ignored.keys.sorted() where address.name.kind == .note && found.count < 16 {
            guard let (note, key) = directory.unverifiedNote(address), signers.expelled[key] == nil,
                !signers.admits(key), note.mirror == id
            else { continue }
            found[address.writer] = Signer(label: note.label, key: key)
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The admitted hosts.
    package var signers: [Signer] {
        (directory.signatures?.signers.admitted ?? [:]).map { Signer(label: $0.value, key: $0.key) }
            .sorted { ($0.label, $0.key.line) < ($1.label, $1.key.line) }
    }

    /// Admits or expels a host, with an exchange before and after it.
    package mutating func decide(
        on signer: Signer, isAdmitted: Bool, wait: (Duration) -> Void
    ) throws(MirrorFailure) {
        try begin()
        changeSigners { signers in
            if isAdmitted {
                signers.admit(signer.key, as: signer.label)
            } else {
                signers.expel(signer.key, as: signer.label)
            }
        }
        publishSigners()
        end()
        try sync(.both, wait: wait)
    }
}

extension SharedDirectory {
    /// Reads a note and the key that its signature names, which was not checked.
    func unverifiedNote(_ address: PackAddress) -> (note: WriterNote, key: SignerKey)? {
        let place = place(of: address)
        guard (try? files.status(of: place, followingLink: false))?.kind == .file,
            let bytes = try? contents(of: place, limit: 1 << 20), let end = SignedEnd(of: bytes),
            let pack = try? Pack(decoding: bytes.dropLast(end.size)), pack.address == address,
            case .note(let note) = pack.content
        else { return nil }
        return (note, end.signature.key)
    }
}
