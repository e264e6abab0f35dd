internal import Digests
internal import Platform

extension FilePlan {
    /// Sees to it that what stands in the file now is not lost with it.
    mutating func keepFormer(
        _ writer: DomainWriter, _ locks: DomainLocks, _ transaction: String
    ) throws(StoreFailure) {
        if before.recovery != nil {
            try resolved.file.reporting { () throws(SystemFailure) in
                try resolved.file.keepDamaged(resolved.target, on: writer.machine)
            }
        }
        guard let history = History(of: resolved.file, on: writer.machine) else { return }
        // Beside the new version, one alone is not kept.
        let isLost = requiresFormer && before.exists && writer.policy.versions < 2
        if !isLost, keepFormer(in: history, writer, locks, transaction) { return }
        losesFormer = true
        if requiresFormer { throw StoreFailure(resolved.file, .notKept(folder: history.folder.description)) }
        unwritableHistory = history.folder
    }

    /// False where it could not be kept.
    private mutating func keepFormer(
        in history: History, _ writer: DomainWriter, _ locks: DomainLocks, _ transaction: String
    ) -> Bool {
        let isLarge = before.recovery == nil && before.status?.size ?? 0 > writer.policy.mostCopiedBytes
        // What this writer itself has left and kept needs no look.
        guard !before.exists || isLarge || bytesBefore != nil || unkeptBefore != nil else { return true }
        guard var versions = try? history.listed(removingLeftovers: true) else { return false }
        defer { self.versions = versions }
        if let status = before.status, isLarge {
            return history.recordReplaced(
                resolved.target, status, note(writer), transaction: transaction, after: &versions,
                policy: writer.policy, isDurable: isFormerIrreplaceable)
        }
        let mark = locks.markFile(of: resolved.file).flatMap { DomainMark(in: $0) }
        if !before.exists, let removal = unkeptRemoval(mark, versions, history, writer) {
            return history.record(removal, after: &versions, policy: writer.policy)
        }
        var isKept = true
        if let unkeptBefore, !isStoodFor(writer.policy),
            before.isOwn || mark?.transaction == unkeptBefore.transaction
        {
            isKept = history.record(
                unkeptBefore, after: &versions, policy: writer.policy, isDurable: isFormerIrreplaceable)
        }
        guard let bytesBefore, bytesBefore != bytes || removesFile else { return isKept }
        if let found = unkeptVersion(bytesBefore, mark, versions, history, writer) {
            let isDurable = isFormerIrreplaceable || found.note.reason == .found
            isKept = history.record(found, after: &versions, policy: writer.policy, isDurable: isDurable) && isKept
        } else if isFormerIrreplaceable, writer.policy.versions > 0 {
            let kept = versions.last { history.isCopy($0, of: bytesBefore) }
            isKept = (kept.map { history.synchronize($0) } ?? !requiresFormer) && isKept
        }
        return isKept
    }

    /// Whether nothing but the history has the former values once the change holds. A loss of power must not take them.
    private var isFormerIrreplaceable: Bool { requiresFormer || removesFile }

    /// The removal of the domain, where the file is gone and the newest version does not say so: another program has
    /// removed it, or one of ours that had no time to keep that.
    private func unkeptRemoval(
        _ mark: DomainMark?, _ versions: [KeptVersion], _ history: History, _ writer: DomainWriter
    ) -> UnkeptVersion? {
        guard let newest = versions.last, !history.isCopy(newest, of: DomainState.tombstone) else { return nil }
        let isOurs = mark?.hash == nil && !versions.contains { $0.transaction == mark?.transaction }
        guard let mark, isOurs else { return found(DomainState.tombstone, at: writer.machine.clock.wall, writer) }
        return UnkeptVersion(
            bytes: DomainState.tombstone, note: mark.note, transaction: mark.transaction,
            time: writer.machine.clock.wall)
    }

    /// A version that another program has made.
    private func found(_ bytes: [UInt8], at time: Timestamp, _ writer: DomainWriter) -> UnkeptVersion {
        var note = writer.note
        note.reason = .found
        return UnkeptVersion(bytes: bytes, note: note, transaction: writer.transactionName(), time: time)
    }

    /// Whether one of us wrote what stands there, and did not come to the end: it keeps its version last.
    func mayBeUnfinished(_ locks: DomainLocks, _ writer: DomainWriter) -> Bool {
        guard let bytesBefore, let history = History(of: resolved.file, on: writer.machine),
            let mark = locks.markFile(of: resolved.file).flatMap({ DomainMark(in: $0) }),
            mark.hash == SHA256.hash(bytesBefore)
        else {
            return false
        }
        return !leavesVersion(writer.policy)
            || !history.versions.contains { $0.transaction == mark.transaction && history.isCopy($0, of: bytesBefore) }
    }

    /// Whether a version of what stands there is kept once it is written.
    func leavesVersion(_ policy: HistoryPolicy) -> Bool {
        policy.versions > 0 && bytesBefore?.count ?? 0 <= policy.mostCopiedBytes
    }

    /// Whether the new version comes in place of the one that this writer has not kept yet: a flush behind a flush.
    private func isStoodFor(_ policy: HistoryPolicy) -> Bool {
        isKeptLater && before.isOwn && bytes?.count ?? 0 <= policy.mostCopiedBytes
    }

    /// What the file held, if its version is not kept: a program that knows nothing of us wrote it, or one of ours that
    /// had no time to keep it.
    private func unkeptVersion(
        _ bytes: [UInt8], _ mark: DomainMark?, _ versions: [KeptVersion], _ history: History, _ writer: DomainWriter
    ) -> UnkeptVersion? {
        let time = before.status?.modified ?? writer.machine.clock.wall
        if let mark, mark.hash == SHA256.hash(bytes) {
            // It has to be there, and not only by name: a crash may have taken its contents.
            let kept = versions.last { $0.transaction == mark.transaction }
            if let kept, history.isCopy(kept, of: bytes) { return nil }
            return UnkeptVersion(bytes: bytes, note: mark.note, transaction: mark.transaction, time: time)
        }
        // The mark of a write that failed names a file that never came.
        if let newest = versions.last, history.isCopy(newest, of: bytes) { return nil }
        return found(bytes, at: time, writer)
    }

    /// Keeps the version that is in force now, or leaves that for later. Of a domain that was removed a tombstone is
    /// kept.
    mutating func keepNew(_ writer: DomainWriter, _ transaction: String) {
        guard let history = History(of: resolved.file, on: writer.machine) else { return }
        guard writer.policy.versions > 0 else { return history.removeAll() }
        let bytes = bytes ?? DomainState.tombstone
        guard bytes.count <= writer.policy.mostCopiedBytes else { return }
        let version = UnkeptVersion(
            bytes: bytes, note: note(writer), transaction: transaction, time: writer.machine.clock.wall,
            isFirst: isFirst)
        guard !isKeptLater else {
            unkept = version
            return
        }
        guard var former = versions ?? (try? history.listed()) else {
            unwritableHistory = history.folder
            return
        }
        if !history.record(version, after: &former, policy: writer.policy) { unwritableHistory = history.folder }
    }
}
