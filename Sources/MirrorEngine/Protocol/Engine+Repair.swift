// Repair of what was lost or damaged.
extension Engine {
    /// Writes the values of conflicts again, as new changes.
    mutating func restore(_ ids: [WriteID], at moment: Moment) {
        let conflicts = ids.compactMap { local.conflicts.conflict($0) }
        guard !conflicts.isEmpty else { return }
        var clock = local.clock
        let transaction = transaction(of: conflicts, &clock, at: moment)
        commit(
            .restored(
                Restoration(
                    conflicts: conflicts.map(\.id), transaction: transaction, clock: clock.local, when: moment.now)))
        requestLocks()
    }

    /// Returns the displaced values that are not in force again. They replace what the file shows, like any other
    /// write.
    private func transaction(
        of conflicts: [ConflictJournal.Conflict], _ clock: inout HybridClock, at moment: Moment
    ) -> Transaction? {
        let lost = conflicts.map { Write(path: $0.path, value: $0.value) }
        // Of several values at one path, the newest is restored.
        let writes = lost.normalised.filter { local.atoms.value(at: $0.path) != $0.value.value }
        guard !writes.isEmpty else { return nil }
        let (dot, stamp) = (Dot(writer: local.writer, sequence: local.sequence + 1), clock.stamp(at: moment.now))
        let stamped = writes.map { write in
            let shown = local.shownWrites(at: write.path.prefix(components: 2))
            return write.stamped(stamp, over: shown, by: dot, moment.random)
        }
        return Transaction(dot: dot, stamp: stamped.map(\.stamp).min() ?? stamp, writes: stamped)
    }

    /// Replaces our values of a domain with `left`, so that each host keeps its own, and removes the files that contain
    /// them.
    mutating func withdraw(_ domain: String, at moment: Moment) {
        let published = local.published(in: domain)
        guard local.trackedFiles[Path(domain: domain)]?.isMirrored != true, !published.isEmpty else { return }
        var clock = local.clock
        let (dot, stamp) = (Dot(writer: local.writer, sequence: local.sequence + 1), clock.stamp(at: moment.now))
        let writes = Set(published.map { $0.path.prefix(components: 2) }).sorted().map { key in
            let shown = [VisibleWrite](published.filter { key.isPrefix(of: $0.path) })
            return Write(path: key, value: .left).stamped(stamp, over: shown, by: dot, moment.random)
        }
        let transaction = Transaction(dot: dot, stamp: writes.map(\.stamp).min() ?? stamp, writes: writes)
        commit(
            .restored(Restoration(conflicts: [], transaction: transaction, clock: clock.local, when: moment.now)))
        compactNow(at: moment.now)
    }

    /// Removes damaged files of ours, and schedules a base with the contents of all that are lost.
    mutating func heal(_ damaged: [PackName], blobs: [BlobName] = [], at now: Int64) {
        hasLosses = true
        guard standing.isOpen else { return }
        guard !local.folder.owesBase else {
            // The scheduled base must not refer to blobs that were lost since.
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

    /// Carries the atoms of a writer, and then removes its folder. A folder stays if it has a file that was not read or
    /// is not kept in memory: a newer version may read more of it, and missing blobs may still arrive.
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

    /// Returns the next of our own files to read again, in rotation, to detect damage of the medium.
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
