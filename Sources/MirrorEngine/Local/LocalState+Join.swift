// Joining the files of other writers.
extension LocalState {
    /// Joins a file of another writer. The absence of a value in a file never removes it from the state.
    mutating func join(_ pack: Pack, at now: Int64) {
        let writer = pack.address.writer
        switch pack.content {
        case .note(let note):
            if note.number >= peers[writer]?.note?.number ?? 0 { peers[writer, default: Peer()].note = note }
            peers[writer, default: Peer()].joined.insert(pack.hash.prefix)
        case .log(let log):
            recordActivity(log)
            join(log, hash: pack.hash, at: now)
        case .base(let base):
            if base.last > knowledge[writer] { retired.remove(writer) }
            join(base, hash: pack.hash, at: now)
        }
    }

    /// Records that a writer is active.
    private mutating func recordActivity(_ log: LogPack) {
        retired.remove(log.writer)
        let last = log.transactions.map(\.stamp).max() ?? .zero
        peers[log.writer, default: Peer()].lastStamp = max(last, peers[log.writer]?.lastStamp ?? .zero)
    }

    private mutating func join(_ log: LogPack, hash: ContentHash, at now: Int64) {
        lineage.merge(log.lineage)
        take(log.numberedTransactions.lazy.flatMap(\.versionedWrites), at: now)
        var peer = peers[log.writer] ?? Peer()
        peer.joined.insert(hash.prefix)
        peer.beyond.append(ChainLink(log, hash: hash))
        followChain(of: log.writer, &peer)
        peers[log.writer] = peer
    }

    /// Advances along the logs of a writer up to the first gap.
    private mutating func followChain(of writer: WriterID, _ peer: inout Peer) {
        while let index = peer.beyond.firstIndex(where: { $0.first - 1 <= knowledge[writer] }) {
            let link = peer.beyond.remove(at: index)
            guard link.last >= knowledge[writer] else { continue }
            peer.tip = link.hash
            knowledge.raise(writer, to: link.last)
        }
    }

    private mutating func join(_ base: BasePack, hash: ContentHash, at now: Int64) {
        lineage.merge(base.lineage)
        take(base.writes, at: now)
        var peer = peers[base.writer] ?? Peer()
        peer.joined.insert(hash.prefix)
        if let anchor = base.anchor { peer.joined.insert(anchor.prefix) }
        if base.last >= peer.baseSequence { peer.carries = base.carried }
        peer.baseSequence = max(peer.baseSequence, base.last)
        if base.last >= knowledge[base.writer] { peer.tip = base.anchor }
        knowledge.raise(base.writer, to: base.last)
        followChain(of: base.writer, &peer)
        peers[base.writer] = peer
    }

    /// Joins writes of other writers. Where the view changes, the value in the preference file becomes an exception.
    private mutating func take(_ arrivals: some Sequence<VersionedWrite>, at now: Int64) {
        var files = CapturedDomains(trackedFiles)
        for write in arrivals where Rule.keepsEveryDomain.isKept || isMirrored(write.path) {
            let outcome = files.hold(write.path) ? joinWithFile(write) : mergeState.join(write)
            listOrAdopt(outcome, ofJoined: write, at: now)
        }
    }

    /// Joins a write. If its domain has a file here and the view changes, the value in the file becomes an exception.
    mutating func joinAtFile(_ write: VersionedWrite) -> MergeState.Outcome {
        let isCaptured = trackedFiles[write.path.prefix(components: 1)]?.isCaptured ?? false
        return isCaptured ? joinWithFile(write) : mergeState.join(write)
    }

    /// Joins a write of a domain that has a file here.
    private mutating func joinWithFile(_ write: VersionedWrite) -> MergeState.Outcome {
        let path = write.path
        let key = path.prefix(components: 2)
        let isDomain = key.depth < 2
        // If every write is a whole key, the displaced write is the previous view.
        let isPlain = key == path && !isDomain && !mergeState.hasWrites(ofDepth: 1) && mergeState.isAtMost(deep: 2)
        let keys = isDomain ? mergeState.keys(under: path).map(\.path) : [key]
        let before = isPlain ? [] : keys.map { view(of: $0) }
        let outcome = mergeState.join(write)
        if !isPlain {
            for view in before { updateException(since: view) }
        } else if case .joined(let displaced) = outcome {
            updateException(key, before: displaced.first?.value.value, after: write.value.value, shown: displaced)
        }
        return outcome
    }

    /// The domains that have a file here. The last lookup is cached, because paths of one domain arrive in sequence.
    private struct CapturedDomains {
        private let captured: Set<Path>
        private var last: (domain: Path, isCaptured: Bool)?

        init(_ trackedFiles: [Path: TrackedFile]) { captured = Set(trackedFiles.filter(\.value.isCaptured).keys) }

        mutating func hold(_ path: Path) -> Bool {
            if let last, last.domain.isPrefix(of: path) { return last.isCaptured }
            let domain = path.prefix(components: 1)
            last = (domain, captured.contains(domain))
            return captured.contains(domain)
        }
    }

    private func isMirrored(_ path: Path) -> Bool { trackedFiles[path.prefix(components: 1)]?.isMirrored ?? false }
}
