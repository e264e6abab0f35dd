// Another name for ourselves.
extension LocalState {
    /// The last of our transactions of which others can know from us.
    package var published: UInt64 { max(outbox.first.map { $0.dot.sequence - 1 } ?? sequence, intent?.last ?? 0) }

    /// Takes another name, and with it all that was not published under the old one.
    mutating func reincarnate(as new: WriterID, intentIsInView: Bool) {
        if let intent, intentIsInView { clearOutbox(of: intent) }
        intent = nil
        let former = writer
        knowledge[former] = published
        let before = views(of: Set(outbox.flatMap(\.writes).map { $0.path.prefix(components: 2) }))
        takeBackOutbox()
        let renamed = zip(UInt64(1)..., outbox).map { sequence, transaction in
            self.renamed(transaction, Dot(writer: new, sequence: sequence))
        }
        for transaction in renamed { for atom in transaction.atoms { atoms.join(atom) } }
        // Among equal stamps the new name may win where the former did not.
        for view in before { updateException(since: view) }
        outbox = renamed
        formerWriters.insert(former)
        foreign = []
        // Whoever else had our name may remove long values that our files refer to, as needed by none of its own; and
        // nobody else may know of what we had to say again.
        if !folder.blobs.isEmpty || folder.owesBase { carried.insert(former) }
        let formerSelf = ourselves
        writer = new
        sequence = UInt64(renamed.count)
        knowledge[new] = sequence
        folder = OwnFolder()
        folder.owesBase = true
        peers[former] = formerSelf
    }

    /// What we published as our former self is in the state already. What a copy of us published under that number is
    /// read like any other's.
    private var ourselves: Peer {
        var peer = Peer()
        peer.joined = Set(folder.created.keys.map(\.hash))
        peer.tip = folder.tip
        peer.baseSequence = folder.baseSequence
        return peer
    }

    private func renamed(_ transaction: Transaction, _ dot: Dot) -> Transaction {
        guard !rules.keepsIdentifiers else { return transaction.renamed(dot) }
        let writes = transaction.writes.map { write in
            Transaction.StampedWrite(
                path: write.path, stamp: write.stamp, value: write.value, id: WriteID(derivedFrom: dot, write.path),
                seen: write.seen)
        }
        return Transaction(dot: dot, stamp: transaction.stamp, writes: writes)
    }

    /// How keys look whose domains have files here.
    private func views(of keys: Set<Path>) -> [KeyView] {
        keys.filter { shadows[$0.prefix(components: 1)]?.isCaptured ?? false }.sorted().map { view(of: $0) }
    }

    private mutating func takeBackOutbox() {
        for transaction in outbox {
            for atom in transaction.atoms where atoms.atom(at: atom.path) == atom { atoms.remove(at: atom.path) }
        }
    }
}
