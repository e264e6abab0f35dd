package import MirrorEngine
internal import Platform
internal import Preferences
internal import PropertyLists

// The hosts that may write to a signed mirror, and the files of others.
extension MirrorSession {
    /// Returns a listing without the files of other hosts that have no valid signature of an admitted host, and without
    /// folders that have no other files. Signers that are named by valid notes are recorded first.
    mutating func screened(_ listing: Listing) -> Listing {
        guard let signatures = directory.signatures else { return listing }
        let notes = listing.packs.filter { address in
            address.name.kind == .note
                && (!signatures.isComplete || signatures.fingerprint(of: address.writer) == nil)
        }
        // A note determines the key of its writer, and names further hosts.
        let unknown = Set(engine.status.unknownFiles(in: listing) + notes).sorted { left, right in
            (left.name.kind == .note ? 0 : 1, left) < (right.name.kind == .note ? 0 : 1, right)
        }
        var ignored = Set(unknown)
        do throws(SystemFailure) {
            var former: Signers
            repeat {
                former = signatures.signers
                var notes: [Note] = []
                for address in unknown where ignored.contains(address) && directory.isSigned(address, of: id) {
                    ignored.remove(address)
                    if let note = note(at: address) { notes.append(note) }
                }
                try signatures.change { $0.join(notes) }
            } while !ignored.isEmpty && former != signatures.signers
            try signatures.finish(ignoring: ignored, in: listing, at: system.clock.wall.milliseconds)
        } catch {
            addTrouble(error.description)
        }
        if let failure = signatures.takeFailure() { addTrouble(failure) }
        publishSigners()
        retireExpelled(listing)
        var screened = listing.without(ignored) { engine.status.knows($0) }
        screened.lacksFiles = ignored.contains { engine.status.knows($0.writer) && !signatures.isExpelled($0.writer) }
        return screened
    }

    /// Returns a listing without the files that are ignored, or nil if the rest of one of them may still arrive. The
    /// files are looked at again in each exchange that has something to do, and every hour.
    func withoutIgnored(_ listing: Listing, _ isKnown: (WriterID) -> Bool) -> Listing? {
        guard let ignored = directory.signatures?.ignored else { return listing }
        let since = system.clock.wall.milliseconds - engine.limits.waitsFor
        guard ignored.values.allSatisfy({ $0 <= since }) else { return nil }
        return listing.without(Set(ignored.keys), isKnown)
    }

    /// Retires the expelled hosts whose folders are gone, so that nothing waits for them.
    private mutating func retireExpelled(_ listing: Listing) {
        guard directoryStatus == .present, let signatures = directory.signatures else { return }
        for other in engine.status.otherWriters
        where !other.isRetired && listing.folders[other.writer] == nil && signatures.isExpelled(other.writer) {
            do throws(MirrorFailure) {
                try handle(.command(.retire(other.writer)))
            } catch {
                addTrouble(error.description)
            }
        }
    }

    /// What a valid note states about the hosts that may write.
    fileprivate struct Note {
        let key: SignerKey
        let signers: Signers
    }

    private func note(at address: PackAddress) -> Note? {
        guard address.name.kind == .note, let (note, end) = directory.unverifiedNote(address, of: id),
            directory.signatures?.validity(of: end, at: address) == .valid, let signers = note.signers
        else { return nil }
        return Note(key: end.signature.key, signers: signers)
    }

    /// Publishes what was accepted from an expelled host, so that hosts that do not accept its files receive it.
    mutating func publishAfterExpulsion() throws(MirrorFailure) {
        guard let signatures = directory.signatures, signatures.owesBase, directoryStatus == .present,
            engine.status.outbox.isEmpty
        else { return }
        try handle(.compact)
        // Files that wait can still be joined.
        if engine.status.isFullyPublished, !engine.status.isIncomplete { signatures.owesBase = false }
    }
}

extension Signers {
    /// Joins the notes of hosts, in whatever order they are read: what an expelled host admits has no effect, and hosts
    /// that expel each other are all expelled.
    fileprivate mutating func join(_ notes: [MirrorSession.Note]) {
        for (key, label) in notes.flatMap(\.signers.expelled) { expel(key, as: label) }
        for note in notes where expelled[note.key] == nil { join(note.signers) }
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
        /// The fingerprint of the key that this host trusted first, if it was expelled.
        package let expelledTrust: String?
        /// The hosts that ask to be admitted, with the fingerprints of their keys.
        package let requests: [Signer]
        /// The numbers of ignored files, by the folder of a host or its number.
        package let ignored: [Ignored]

        /// The files in a folder.
        package struct Ignored: Hashable, Sendable {
            package let host: String
            package let count: Int
        }

        /// The numbers of files whose signatures may still arrive.
        package let awaited: [Ignored]
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
        // The rest of a file may still arrive, unless it has one, with the signature of another host.
        let old = ignored.filter { address, time in time <= since || directory.isOfStranger(address) }.keys
        let young = Set(ignored.keys).subtracting(old)
        return Signing(
            fingerprint: own.fingerprint, isAdmitted: signers.admits(own), isExpelled: signers.expelled[own] != nil,
            expelledTrust: signers.expelled[signatures.key.trusted] == nil ? nil : signatures.key.trusted.fingerprint,
            requests: Set(requests.map(\.signer)).sorted { ($0.label, $0.key.line) < ($1.label, $1.key.line) },
            ignored: counts(of: old), awaited: counts(of: young))
    }

    private func counts(of addresses: some Sequence<PackAddress>) -> [Signing.Ignored] {
        Dictionary(grouping: addresses, by: \.writer).sorted { $0.key < $1.key }.map { writer, files in
            let label = writer == self.writer ? configuration.label : engine.status.label(of: writer)
            return Signing.Ignored(host: label ?? "w/\(writer)", count: files.count)
        }
    }

    /// The hosts whose notes name keys that are neither admitted nor expelled, at most a few. Only a user can tell
    /// whether such a host is the one that it claims to be.
    private var requests: [(writer: WriterID, signer: Signer)] {
        guard let signatures = directory.signatures else { return [] }
        let notes = signatures.ignored.keys.filter { $0.name.kind == .note }.sorted().prefix(Self.mostRequests)
        let found = requests(in: notes)
        let gone = Set(found.filter(\.note.hasLeft).map(\.writer))
        return found.filter { !gone.contains($0.writer) }
            .map { ($0.writer, Signer(label: $0.note.label, key: $0.end.signature.key)) }
    }

    private static let mostRequests = 64

    private func requests(
        in notes: some Sequence<PackAddress>
    ) -> [(writer: WriterID, note: WriterNote, end: SignedEnd)] {
        guard let signers = directory.signatures?.signers else { return [] }
        return notes.compactMap { address in
            guard let (note, end) = directory.unverifiedNote(address, of: id), !signers.admits(end.signature.key),
                signers.expelled[end.signature.key] == nil
            else { return nil }
            return (address.writer, note, end)
        }
    }

    /// Returns the hosts that ask to join, by their name or by the fingerprint of their key. For a fingerprint, the
    /// signature of the note must be valid.
    ///
    /// - Parameter word: The name or the fingerprint.
    package func requests(of word: String) throws(MirrorFailure) -> [Signer] {
        let listing = try MirrorFailure.wrapping { try directory.listing(own: writer, chosen: chosenID) }
        var found: [SignerKey: String] = [:]
        for (_, note, end) in requests(in: listing.packs.filter { $0.name.kind == .note }) {
            let key = end.signature.key
            let isNamed =
                key.fingerprint == word && directory.signatures?.validity(of: end, isLimited: false) == .valid
            if isNamed || note.label.hasSameBytes(as: word) { found[key] = note.label }
        }
        return found.map { Signer(label: $0.value, key: $0.key) }.sorted { $0.key.line < $1.key.line }
    }

    /// The admitted hosts, with their present names as far as their notes were read.
    package var signers: [Signer] {
        guard let signatures = directory.signatures else { return [] }
        var names = Dictionary(signatures.signers.admitted.map { ($0.key.fingerprint, $0.value) }) { $1 }
        for other in engine.status.otherWriters where !other.hasLeft {
            guard let key = signatures.fingerprint(of: other.writer), names[key] != nil else { continue }
            names[key] = engine.status.label(of: other.writer) ?? names[key]
        }
        names[signatures.key.key.fingerprint] = configuration.label
        return signatures.signers.admitted.map { key, label in
            Signer(label: names[key.fingerprint] ?? label, key: key)
        }.sorted { ($0.label, $0.key.line) < ($1.label, $1.key.line) }
    }

    /// Whether no admitted host would be left in the mirror without this one, although others are.
    package var isLastAdmitted: Bool {
        guard let signatures = directory.signatures, signatures.signers.admits(signatures.key.key) else { return false }
        let all = engine.status.otherWriters
        let (gone, present) = (all.filter { $0.hasLeft || $0.isRetired }, all.filter { !$0.hasLeft && !$0.isRetired })
        func keys(of writers: some Sequence<EngineStatus.OtherWriter>) -> Set<String> {
            Set(writers.compactMap { signatures.fingerprint(of: $0.writer) })
        }
        let left = keys(of: gone).subtracting(keys(of: present)).union([signatures.key.key.fingerprint])
        return signatures.signers.admitted.keys.allSatisfy { left.contains($0.fingerprint) }
            && !(present.isEmpty && requests.isEmpty)
    }

    /// Whether a key was expelled.
    package func isExpelled(_ fingerprint: String) -> Bool {
        directory.signatures?.signers.expelled.keys.contains { $0.fingerprint == fingerprint } ?? false
    }

    /// Admits or expels a host, with an exchange before and after it.
    package mutating func decide(
        on signer: Signer, isAdmitted: Bool, wait: (Duration) -> Void
    ) throws(MirrorFailure) {
        try begin()
        do {
            if let signatures = directory.signatures, !signatures.signers.admits(signatures.key.key) {
                throw MirrorFailure(.refused("this host is not admitted itself; run the command on one that is"))
            }
            try directory.signatures?.change { signers in
                isAdmitted ? signers.admit(signer.key, as: signer.label) : signers.expel(signer.key, as: signer.label)
            }
        } catch {
            end()
            throw MirrorFailure(error)
        }
        publishSigners()
        end()
        guard let signers = directory.signatures?.signers, signers.admits(signer.key) == isAdmitted else {
            throw MirrorFailure(
                .refused(
                    "a mirror can have at most \(Signers.mostKeys) keys, and an expelled one is never admitted again"))
        }
        try sync(.both, wait: wait)
    }
}
