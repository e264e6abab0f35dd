// What was lost or spoilt is said anew.
extension Engine {
    /// Writes what conflicts lost as changes of today.
    mutating func restore(_ ids: [WriteID], at moment: Moment) {
        let conflicts = ids.compactMap { local.conflicts.conflict($0) }
        guard !conflicts.isEmpty else { return }
        var clock = local.clock
        let transaction = transaction(of: conflicts, &clock, at: moment)
        commit(
            .restored(
                Restoration(
                    conflicts: conflicts.map(\.id), transaction: transaction, clock: clock.local, when: moment.now)))
        askForLocks()
    }

    /// The lost values but those that are in force again. They replace what the file shows, like any other write.
    private func transaction(
        of conflicts: [ConflictJournal.Conflict], _ clock: inout HybridClock, at moment: Moment
    ) -> Transaction? {
        let lost = conflicts.map { Write(path: $0.path, value: $0.value) }
        // Of one path the newest value is restored.
        let writes = lost.normalised.filter { local.atoms.value(at: $0.path) != $0.value.value }
        guard !writes.isEmpty else { return nil }
        let (dot, stamp) = (Dot(writer: local.writer, sequence: local.sequence + 1), clock.stamp(at: moment.now))
        let stamped = writes.map { write in
            let shown = local.shownWrites(at: write.path.prefix(components: 2))
            return write.stamped(stamp, over: shown, by: dot, moment.random, local.rules)
        }
        return Transaction(dot: dot, stamp: stamped.map(\.stamp).min() ?? stamp, writes: stamped)
    }

    /// Leaves our values of a domain to each host, and removes the files that hold them.
    mutating func withdraw(_ domain: String, at moment: Moment) {
        let published = local.published(in: domain)
        guard local.shadows[Path(domain: domain)]?.isMirrored != true, !published.isEmpty else { return }
        var clock = local.clock
        let (dot, stamp) = (Dot(writer: local.writer, sequence: local.sequence + 1), clock.stamp(at: moment.now))
        let writes = Set(published.map { $0.path.prefix(components: 2) }).sorted().map { key in
            let shown = [ShownWrite](published.filter { key.isPrefix(of: $0.path) })
            return Write(path: key, value: .left).stamped(stamp, over: shown, by: dot, moment.random, local.rules)
        }
        let transaction = Transaction(dot: dot, stamp: writes.map(\.stamp).min() ?? stamp, writes: writes)
        commit(
            .restored(Restoration(conflicts: [], transaction: transaction, clock: clock.local, when: moment.now)))
        compactNow(at: moment.now)
    }

    /// Removes files of ours that are not whole, and owes what they and others that are gone said.
    mutating func heal(_ damaged: [PackName], blobs: [BlobName] = [], at now: Int64) {
        hasLosses = true
        guard standing.isOpen else { return }
        guard !local.folder.owesBase else {
            // The base that is due must not refer to blobs that were lost since.
            if !blobs.isEmpty { act(.removeBlobs(blobs)) }
            return
        }
        let every = folders[local.writer] == nil ? limits.restoresEvery : limits.healsEvery
        if !healsNow, let last = local.folder.lastHealing, now.isWithin(every + 1, of: last) { return }
        healsNow = false
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
