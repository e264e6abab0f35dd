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
        let complete = chains.filter { $1.isComplete(upTo: $0 == writer ? published : knowledge[$0]) }
        var rebuilding = RebuiltState(self, inView: Set(complete.keys))
        for pack in packs { rebuilding.add(pack) }
        replaceMergeState(by: rebuilding.mergeState)
    }
}
