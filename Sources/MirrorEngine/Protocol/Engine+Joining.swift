// A log is joined after the files that it follows.
extension Engine {
    /// Joins the waiting files of a writer although files before them are missing.
    mutating func joinAllWaiting(of writer: WriterID, at moment: Moment) {
        for address in waiting.keys where address.writer == writer {
            waiting[address]?.since = moment.now - limits.waitsFor
        }
        joinWaiting(at: moment)
    }

    /// Joins every file that is due, until none is left.
    mutating func joinWaiting(isLast: Bool = true, at moment: Moment) {
        let conflicts = local.conflicts.conflicts.count
        var (progress, again) = (true, [PackAddress]())
        while progress {
            progress = false
            for address in waiting.keys.sorted(by: PackAddress.isReadBefore) {
                guard let file = waiting[address], isDue(file, of: address.writer, at: moment.now) else { continue }
                guard let pack = file.pack else {
                    if askedAgain.insert(address).inserted { again.append(address) }
                    continue
                }
                waiting[address] = nil
                join(pack, at: moment)
                progress = true
                hasJoined = true
            }
        }
        dropWaiting()
        if !again.isEmpty { act(.fetch(again)) }
        guard hasJoined else { return }
        for conflict in local.conflicts.conflicts.dropFirst(conflicts) { report(.conflict(conflict.id)) }
        guard isLast else { return }
        hasJoined = false
        let known = Set(local.trackedFiles.keys)
        for domain in local.atoms.domains where !known.contains(Path(domain: domain)) {
            report(.unknownDomain(domain))
        }
        requestLocks()
    }

    /// Drops the contents of waiting files beyond a limit. When such a file is due, it is read again.
    private mutating func dropWaiting() {
        var bytes = 0
        for address in waiting.keys.sorted(by: PackAddress.isReadBefore) {
            bytes += waiting[address]?.pack?.size ?? 0
            if bytes > limits.bytesWaiting { waiting[address]?.pack = nil }
        }
    }

    /// Whether all files that a file follows were joined, or it has waited long enough.
    private func isDue(_ file: WaitingFile, of writer: WriterID, at now: Int64) -> Bool {
        guard let link = file.link else { return true }
        let peer = local.peers[writer] ?? Peer()
        let reached = Rule.chainsByFirst.isKept ? link.first - 1 : link.last
        if reached <= peer.baseSequence || now - file.since >= limits.waitsFor { return true }
        guard let previous = link.previous else { return link.first == 1 }
        guard peer.joined.contains(previous.prefix) || peer.tip == previous else { return false }
        // Between the two there may be transactions that only a base contains.
        return link.first - 1 <= local.knowledge[writer]
            || peer.beyond.contains { $0.hash == previous && $0.last >= link.first - 1 }
    }

    private mutating func join(_ pack: Pack, at moment: Moment) {
        // If another writer knows more under our number than we have published, it read that from a copy of this store,
        // whose files may not have arrived yet. Further changes of ours under that number would be taken for known.
        if pack.sequence(of: local.writer) > local.published, Rule.reincarnates.isKept { reincarnate(at: moment) }
        commit(.joined(pack, at: moment.now))
        if case .base(let base) = pack.content { compareDigests(base) }
    }

    private mutating func compareDigests(_ base: BasePack) {
        guard base.digest != .none, local.outbox.isEmpty else { return }
        // Only hosts with the same knowledge can compare, and that check is cheap.
        var known = base.knowledge
        known[base.writer] = base.last
        guard known == local.knowledge else { return }
        guard let theirs = Digest(base.digest) else { return }
        let ours = local.digest
        if ours.tips == theirs.tips, ours.state != theirs.state { report(.digestMismatch(base.writer)) }
    }
}
