/// The state computed from the files in view, the outbox, and the writes of writers whose files are not in view.
struct RebuiltState: Sendable {
    private(set) var mergeState: MergeState

    /// Starts with the outbox and the writes of all writers except these.
    init(_ local: LocalState, inView writers: Set<WriterID>) {
        mergeState = MergeState()
        local.mergeState.visit { if !writers.contains($0.transactionID.writer) { mergeState.join($0) } }
        for transaction in local.outbox { for write in transaction.versionedWrites { mergeState.join(write) } }
    }

    mutating func add(_ pack: Pack) { for write in pack.versionedWrites { mergeState.join(write) } }
}

extension Pack {
    /// The writes in the file.
    var versionedWrites: [VersionedWrite] {
        switch content {
        case .log(let log): log.numberedTransactions.flatMap(\.versionedWrites)
        case .base(let base): base.writes
        case .note: []
        }
    }
}

extension LocalState {
    /// Rebuilds the state from files. Keeps the writes of every writer of whom a file is missing, because that file may
    /// hold them.
    mutating func rebuild(from packs: [Pack]) {
        var chains: [WriterID: Chain] = [:]
        for pack in packs { chains[pack.address.writer, default: Chain()].add(pack) }
        let complete = chains.filter { $1.isComplete(upTo: $0 == writer ? lastPublished : knowledge[$0]) }
        var rebuilding = RebuiltState(self, inView: Set(complete.keys))
        for pack in packs { rebuilding.add(pack) }
        replaceMergeState(by: rebuilding.mergeState)
    }
}

/// The files of one writer, and whether they form an unbroken sequence.
struct Chain: Sendable {
    private var spans: [ClosedRange<UInt64>] = []
    private var followers: [(address: PackAddress, previous: ContentHash?, first: UInt64)] = []
    private var hashes: Set<ContentHash> = []
    private var baseReach: UInt64 = 0
    /// The last transaction that a file contains.
    private(set) var reach: UInt64 = 0
    /// The greatest knowledge vector in the files.
    private var knowledge = VersionVector()

    mutating func add(_ pack: Pack) {
        switch pack.content {
        case .log(let log):
            spans.append(log.first...log.last)
            followers.append((pack.address, log.previous, log.first))
            hashes.insert(pack.hash)
            reach = max(reach, log.last)
            knowledge.merge(VersionVector(log.knowledge))
        case .base(let base):
            hashes.formUnion([base.anchor].compactMap { $0 })
            baseReach = max(baseReach, base.last)
            reach = max(reach, base.last)
            knowledge.merge(base.knowledge)
        case .note: break
        }
    }

    /// Whether the files contain all transactions up to this one.
    func isComplete(upTo last: UInt64) -> Bool { gaps.isEmpty && reach >= last }

    var knownChanges: [TransactionID] { knowledge.entries }

    var gaps: [ClosedRange<UInt64>] {
        var (gaps, reach) = ([ClosedRange<UInt64>](), baseReach)
        for span in spans.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if span.lowerBound > reach + 1 { gaps.append(reach + 1...span.lowerBound - 1) }
            reach = max(reach, span.upperBound)
        }
        return gaps
    }

    var broken: [PackAddress] {
        followers.filter { follower in
            guard follower.first > baseReach + 1 else { return false }
            guard let previous = follower.previous else { return follower.first != 1 }
            return !hashes.contains(previous)
        }.map(\.address)
    }
}
