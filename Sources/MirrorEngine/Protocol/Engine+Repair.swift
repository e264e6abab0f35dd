// What was lost or spoilt is said anew.
extension Engine {
    /// Writes what a conflict's loser had written as a change of today, by one who knows all that is known here.
    mutating func restore(_ loser: Dot, at now: Int64) {
        let conflicts = local.conflicts.conflicts.filter { $0.loser == loser }
        guard let conflict = conflicts.last(where: { $0.resolvedAt == nil }) ?? conflicts.last else { return }
        var clock = local.clock
        let transaction = transaction(of: conflict, &clock, at: now)
        commit(.restored(Restoration(loser: loser, transaction: transaction, clock: clock.local, when: now)))
        askForLocks()
    }

    /// The lost values but those that are in force again.
    private func transaction(
        of conflict: ConflictJournal.Conflict, _ clock: inout HybridClock, at now: Int64
    ) -> Transaction? {
        let lost = conflict.values.sorted { $0.key < $1.key }.map { Write(path: $0.key, value: $0.value) }
        let writes = lost.filter { $0.value != .left && local.atoms.value(at: $0.path) != $0.value.value }.normalised
        guard !writes.isEmpty else { return nil }
        let overlaps = writes.map { local.atoms.greatestStamp(overlapping: $0.path) }
        let stamps = clock.stamp(at: now, now: now, over: overlaps)
        let stamped = zip(writes, stamps.writes).map { write, stamp in
            Transaction.StampedWrite(
                path: write.path, stamp: stamp, value: write.value, replaced: local.atoms.atom(at: write.path)?.dot)
        }
        let dot = Dot(writer: local.writer, sequence: local.sequence + 1)
        return Transaction(dot: dot, stamp: stamps.common, context: local.knowledge, writes: stamped)
    }

    /// Removes files of ours that are not whole, and owes what they and others that are gone said.
    mutating func heal(_ damaged: [PackName], blobs: [BlobName] = [], at now: Int64) {
        guard standing.isOpen, !local.folder.owesBase else { return }
        if let last = local.folder.lastHealing, now.isWithin(limits.healsEvery + 1, of: last) { return }
        commit(.lostFiles(at: now))
        report(.lostFiles)
        if !damaged.isEmpty { act(.remove(damaged)) }
        if !blobs.isEmpty { act(.removeBlobs(blobs)) }
    }

    /// Takes over what a writer has said, and then removes its folder. One in which there is something that was not
    /// read, or is not kept until its turn comes, stays: to a newer version it may say more, and long values may still
    /// come.
    mutating func purge(_ writer: WriterID, at moment: Moment) {
        guard !closed.contains(writer) else { return report(.closed(writer)) }
        let dropped = waiting.filter { $0.value.pack == nil }.map(\.key)
        let unread = (dropped + faulty.keys).filter { $0.writer == writer }.sorted()
        guard unread.isEmpty else {
            for address in unread { report(faulty[address]?.kind == .tooNew ? .tooNew(address) : .unread(address)) }
            return
        }
        joinAllWaiting(of: writer, at: moment)
        commit(.carries(writer))
        purging.insert(writer)
        compact(at: moment.now)
    }

    /// One of our own files after the other is read again now and then, in case its medium has spoilt it.
    mutating func ownFileToCheck(at now: Int64) -> PackAddress? {
        let names = local.folder.created.keys.filter(local.folder.needs).sorted()
        guard let last = lastCheck else {
            lastCheck = (now, nil)
            return nil
        }
        guard !now.isWithin(limits.checksEvery, of: last.at), let first = names.first else { return nil }
        let next = names.first { name in last.name.map { $0 < name } ?? true } ?? first
        lastCheck = (now, next)
        return PackAddress(writer: local.writer, name: next)
    }
}
