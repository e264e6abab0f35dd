// Which writes are ours, and what happens when they are displaced.
extension LocalState {
    /// The former numbers of this store, and all former numbers of these.
    var formerNumbers: Set<WriterID> {
        formerWriters.reduce(into: formerWriters) { $0.formUnion(lineage[$1]) }.subtracting([writer])
    }

    /// This store's number, followed by the former ones.
    package var numbers: [WriterID] { [writer] + formerNumbers.sorted() }

    /// Returns the former numbers of this store and of other writers, for a file that contains writes of these.
    func lineage(of writers: Set<WriterID>) -> Lineage {
        var published = lineage.of(writers)
        published[writer] = formerNumbers
        return published
    }

    /// Whether this host must list a write that is displaced without having been seen.
    func isOwn(_ write: VersionedWrite) -> Bool {
        let author = write.transactionID.writer
        if author == writer { return !foreign.contains(write.id) }
        return adopted.contains(write.id) || isClaimed(author)
    }

    /// Whether a number was once this store's, or belongs to a copy of it.
    private func isClaimed(_ author: WriterID) -> Bool {
        guard Rule.claimsFormerNumbers.isKept, author != writer else { return false }
        if formerWriters.contains(author) { return true }
        let ancestors = lineage[author]
        return ancestors.contains(writer) || !ancestors.isDisjoint(with: formerWriters)
    }

    /// Handles the outcome of joining a write of another writer: lists values that are lost, and adopts equal ones.
    mutating func listOrAdopt(_ outcome: MergeState.Outcome, ofJoined write: VersionedWrite, at now: Int64) {
        switch outcome {
        case .known: return
        case .dominated(let winners):
            // The author may be gone, so this store lists the loss of a write that was once its own.
            guard isClaimed(write.transactionID.writer) else { return }
            for winner in winners {
                if isInForce(write) {
                    adopt(winner, for: write)
                } else if winner.hasSeen(write) {
                    if winner.keepsPart(of: write.value.value, at: write.path) { adopt(winner) }
                } else {
                    conflicts.add(lost: write, to: winner, at: now)
                }
            }
        case .joined(let displaced):
            if write.transactionID.writer == writer { foreign.insert(write.id) }
            listOrAdopt(displaced, displacedBy: write, at: now)
            settleParts(around: write, instead: displaced, at: now)
        }
    }

    /// Handles the outcome of joining a write that was made here.
    mutating func listOrAdopt(_ outcome: MergeState.Outcome, ofMade write: VersionedWrite, at now: Int64) {
        switch outcome {
        case .known: return
        case .dominated(let winners):
            guard let winner = winners.first else { return }
            if isInForce(write) {
                for winner in winners { adopt(winner, for: write) }
            } else if Rule.listsLost.isKept {
                conflicts.add(lost: write, to: winner, at: now)
            }
        case .joined(let displaced):
            listOrAdopt(displaced, displacedBy: write, at: now)
            settleParts(around: write, instead: displaced, at: now)
        }
    }

    /// Lists or adopts the parts that a write hides of earlier writes above it, unless a write that it displaced
    /// already hid the same part.
    private mutating func settleParts(around write: VersionedWrite, instead displaced: [VersionedWrite], at now: Int64)
    {
        for upper in mergeState.above(write.path, withItself: false) {
            let former = displaced.first { $0.path == write.path }.flatMap { upper.part(hiddenBy: $0) }
            if former == nil { settlePart(of: upper, hiddenBy: write, at: now) }
        }
        guard !mergeState.isAtMost(deep: write.path.depth), isOwn(write) else { return }
        for lower in mergeState.under(write.path) where lower.path != write.path {
            settlePart(of: write, hiddenBy: lower, at: now)
        }
    }

    private mutating func settlePart(of upper: VersionedWrite, hiddenBy lower: VersionedWrite, at now: Int64) {
        guard isOwn(upper), let part = upper.part(hiddenBy: lower) else { return }
        if mergeState.value(at: part.path) == part.value {
            adopt(lower)
        } else if lower.hasSeen(upper, at: part.path) {
            if lower.keepsPart(of: part.value, at: part.path) { adopt(lower) }
        } else if Rule.listsLost.isKept {
            conflicts.add(lostPart: part.value, of: upper, at: part.path, to: lower, when: now)
        }
    }

    private mutating func listOrAdopt(_ displaced: [VersionedWrite], displacedBy winner: VersionedWrite, at now: Int64)
    {
        for loser in displaced {
            let isOurs = isOwn(loser)
            adopted.remove(loser.id)
            foreign.remove(loser.id)
            guard isOurs else { continue }
            if isInForce(loser) {
                adopt(winner, for: loser)
            } else if !loser.hasPart(unseenBy: winner, under: displaced + mergeState.under(loser.path)) {
                if winner.keepsPart(of: loser.value.value, at: loser.path) { adopt(winner) }
            } else if Rule.listsLost.isKept {
                conflicts.add(lost: loser, to: winner, at: now)
            }
        }
    }

    /// Whether the value of a write is in force, through this write or another.
    private func isInForce(_ write: VersionedWrite) -> Bool { mergeState.value(at: write.path) == write.value.value }

    /// Treats a write as ours because our write had the same effect. A write above a deletion of ours is not adopted,
    /// because it has none of our values.
    private mutating func adopt(_ winner: VersionedWrite, for loser: VersionedWrite) {
        if loser.value.value != nil || winner.path == loser.path { adopt(winner) }
    }

    /// Treats a write of another writer as ours, because it has our value or a part of it.
    mutating func adopt(_ write: VersionedWrite) {
        if Rule.adoptsEqual.isKept, !isOwn(write) { adopted.insert(write.id) }
    }
}

// Change of our writer number.
extension LocalState {
    /// The last of our transactions that other hosts can have read.
    var lastPublished: UInt64 { max(outbox.first.map { $0.id.sequence - 1 } ?? sequence, intent?.last ?? 0) }

    /// Takes another number, and moves the unpublished transactions to it.
    mutating func takeNewNumber(as new: WriterID, intentIsInView: Bool) {
        if let intent, intentIsInView { clearOutbox(of: intent) }
        intent = nil
        let former = writer
        knowledge[former] = lastPublished
        let before = views(of: Set(outbox.flatMap(\.writes).map { $0.path.prefix(components: 2) }))
        withdrawOutbox()
        let renamed = zip(UInt64(1)..., outbox).map { sequence, transaction in
            self.renamed(transaction, TransactionID(writer: new, sequence: sequence))
        }
        for transaction in renamed { for write in transaction.versionedWrites { mergeState.join(write) } }
        // With equal stamps, the new and greater number may prevail where the former did not.
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
