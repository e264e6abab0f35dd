// Change of our writer number.
extension LocalState {
    /// The last of our transactions that other hosts can have read.
    package var published: UInt64 { max(outbox.first.map { $0.id.sequence - 1 } ?? sequence, intent?.last ?? 0) }

    /// Takes another number, and moves the unpublished transactions to it.
    mutating func takeNewNumber(as new: WriterID, intentIsInView: Bool) {
        if let intent, intentIsInView { clearOutbox(of: intent) }
        intent = nil
        let former = writer
        knowledge[former] = published
        let before = views(of: Set(outbox.flatMap(\.writes).map { $0.path.prefix(components: 2) }))
        withdrawOutbox()
        let renamed = zip(UInt64(1)..., outbox).map { sequence, transaction in
            self.renamed(transaction, TransactionID(writer: new, sequence: sequence))
        }
        for transaction in renamed { for write in transaction.versionedWrites { mergeState.join(write) } }
        // Between equal stamps, the greater number may prevail where the former did not.
        for view in before { updateException(since: view) }
        outbox = renamed
        formerWriters.insert(former)
        foreign = []
        // A copy of this store that kept the former number may remove blobs that our files refer to, because it does
        // not need them; and only we know the values that had to be republished.
        if !folder.blobs.isEmpty || folder.owesBase { carried.insert(former) }
        let formerSelf = ourselves
        writer = new
        sequence = UInt64(renamed.count)
        knowledge[new] = sequence
        folder = OwnFolder()
        folder.owesBase = true
        peers[former] = formerSelf
    }

    /// Our former number as a peer. The state already contains what we published under it; files that a copy of
    /// this store publishes under it are read like those of any other writer.
    private var ourselves: Peer {
        var peer = Peer()
        peer.joined = Set(folder.created.keys.map(\.hash))
        peer.tip = folder.tip
        peer.baseSequence = folder.baseSequence
        return peer
    }

    private func renamed(_ transaction: Transaction, _ transactionID: TransactionID) -> Transaction {
        guard !Rule.keepsIdentifiers.isKept else { return transaction.renamed(transactionID) }
        let writes = transaction.writes.map { write in
            Transaction.StampedWrite(
                path: write.path, stamp: write.stamp, value: write.value,
                id: WriteID(derivedFrom: transactionID, write.path),
                seen: write.seen)
        }
        return Transaction(id: transactionID, stamp: transaction.stamp, writes: writes)
    }

    /// Returns the views of those keys whose domains have files here.
    private func views(of keys: Set<Path>) -> [KeyView] {
        keys.filter { trackedFiles[$0.prefix(components: 1)]?.isCaptured ?? false }.sorted().map { view(of: $0) }
    }

    private mutating func withdrawOutbox() {
        for transaction in outbox {
            for write in transaction.versionedWrites where mergeState.write(at: write.path) == write {
                mergeState.remove(at: write.path)
            }
        }
    }
}
