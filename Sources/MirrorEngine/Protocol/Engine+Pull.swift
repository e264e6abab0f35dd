// From the directory to the state.
extension Engine {
    /// Compares the files in view with those that were joined, and fetches the rest.
    mutating func take(_ listing: Listing, at moment: Moment) {
        guard standing.isOpen else { return }
        forgetWriters(listing)
        if !ignoredWriters(listing).isEmpty { report(.waiting(.writers)) }
        folders = known(listing).mapValues { files in Set(files.keys.compactMap { PackName($0) }) }
        closed = listing.closed
        faulty = faulty.filter { isInView($0.key) }
        waiting = waiting.filter { $0.value.pack != nil || isInView($0.key) }
        askedAgain = []
        sizes = Dictionary(faulty.keys.map { ($0, listing.size(of: $0)) }) { $1 }
        noteOwnFiles(sizes: listing.folders[local.writer] ?? [:], at: moment.now)
        notePeers(at: moment.now)
        var wanted = unknownOwnFiles
        for (writer, names) in folders where writer != local.writer {
            let joined = local.peers[writer]?.joined ?? []
            wanted += names.filter { !joined.contains($0.hash) }.map { PackAddress(writer: writer, name: $0) }
                .filter { waiting[$0] == nil }
                .filter { faulty[$0]?.isWorthReading(size: listing.size(of: $0), at: moment.now) ?? true }
        }
        if let own = ownFileToCheck(at: moment.now) { wanted.append(own) }
        if !wanted.isEmpty { act(.fetch(wanted.sorted(by: PackAddress.isReadBefore))) }
        joinWaiting(at: moment)
    }

    /// Whether our own folder shows that this state is a copy or an old one. Then files of other writers must be joined
    /// before changes in preference files are captured, because some of these may be theirs.
    package func shouldPullFirst(_ listing: Listing) -> Bool {
        (listing.folders[local.writer] ?? [:]).keys.contains { PackName($0).map(isUnknown) ?? false }
            || local.trackedFiles.values.contains { $0.suspicion == .stateIsOlder }
    }

    private func isInView(_ address: PackAddress) -> Bool { folders[address.writer]?.contains(address.name) ?? false }

    private func known(_ listing: Listing) -> [WriterID: [String: Int]] {
        let ignored = ignoredWriters(listing)
        return ignored.isEmpty ? listing.folders : listing.folders.filter { !ignored.contains($0.key) }
    }

    /// Returns the new writers beyond the limit. There is a limit because our files name every known writer.
    package func ignoredWriters(_ listing: Listing) -> Set<WriterID> {
        let new = newWriters(listing)
        let room = max(0, limits.writers - local.peers.count)
        return new.count > room ? Set(new.sorted().dropFirst(room)) : []
    }

    private func newWriters(_ listing: Listing) -> [WriterID] {
        listing.folders.keys.filter { $0 != local.writer && local.peers[$0] == nil }
    }

    /// Makes room for new writers by forgetting those whose folders are gone and whose values are carried.
    private mutating func forgetWriters(_ listing: Listing) {
        guard !ignoredWriters(listing).isEmpty else { return }
        let gone = local.peers.filter { writer, peer in
            peer.vanishedAt != nil && listing.folders[writer] == nil && isCarried(writer)
        }
        if !gone.isEmpty { commit(.forgotWriters(Set(gone.keys))) }
    }

    /// The files in our own folder that we did not create.
    private var unknownOwnFiles: [PackAddress] {
        guard let names = folders[local.writer] else { return [] }
        return names.filter { isUnknown($0) }.map { PackAddress(writer: local.writer, name: $0) }
    }

    func isUnknown(_ name: PackName) -> Bool {
        name.kind != .note && local.folder.created[name] == nil && local.intent?.pack.name != name
            && !local.folder.removed.contains(name)
    }

    /// Checks our own folder: the intended file may exist already, and created files may be gone.
    private mutating func noteOwnFiles(sizes: [String: Int], at now: Int64) {
        let names = folders[local.writer] ?? []
        if let intent = local.intent, names.contains(intent.pack.name) { finishCreation(intent.pack.name, at: now) }
        let returned = local.folder.removed.filter { names.contains($0) && local.folder.created[$0] == nil }
        if !returned.isEmpty { act(.remove(returned)) }
        let (files, blobs) = local.folder.losses(sizes)
        hasLosses = false
        if !files.isEmpty || !blobs.isEmpty { heal(files.filter(names.contains), blobs: blobs, at: now) }
    }

    var isOwnFileMissing: Bool {
        let names = folders[local.writer] ?? []
        return local.folder.created.keys.contains { local.folder.needs($0) && !names.contains($0) }
    }

    private mutating func notePeers(at now: Int64) {
        for (writer, peer) in local.peers.sorted(by: { $0.key < $1.key }) where writer != local.writer {
            guard let names = folders[writer] else {
                if peer.vanishedAt == nil {
                    commit(.vanished(writer, at: now))
                    // A writer whose atoms we carry already is not reported.
                    if !local.carried.contains(writer) { report(.vanished(writer)) }
                } else if let since = peer.vanishedAt, now - since >= limits.vanishedFor, !isCarried(writer) {
                    commit(.carries(writer))
                }
                continue
            }
            if peer.vanishedAt != nil { commit(.returned(writer)) }
            // A folder that cannot be listed is unchanged.
            if closed.contains(writer) { continue }
            let gone = peer.joined.subtracting(names.map(\.hash))
            // The anchor of the last base is usually gone while its successor has not arrived.
            let forgettable = gone.subtracting([peer.tip?.prefix].compactMap { $0 })
            if !forgettable.isEmpty { commit(.forgot(writer, forgettable)) }
        }
    }

    /// Whether a host's folder is gone, and no user has decided about that host.
    package func isMissing(_ writer: WriterID) -> Bool {
        guard let peer = local.peers[writer], peer.vanishedAt != nil else { return false }
        return writer != local.writer && !local.formerWriters.contains(writer) && !local.retired.contains(writer)
            && !(peer.note?.hasLeft ?? false) && !isCarried(writer)
    }

    /// Whether a base in view carries the atoms of a writer.
    package func isCarried(_ writer: WriterID) -> Bool {
        local.carried.contains(writer)
            || local.peers.values.contains { $0.vanishedAt == nil && $0.carries.contains(writer) }
    }
}

extension PackAddress {
    /// Sorts bases first and the newest of them before the others, because they make most other files unnecessary.
    static func isReadBefore(_ left: PackAddress, _ right: PackAddress) -> Bool {
        if left.name.kind != right.name.kind { return left.name.kind.rawValue < right.name.kind.rawValue }
        if left.name.kind == .base, left.name.number != right.name.number {
            return left.name.number > right.name.number
        }
        return left < right
    }
}
