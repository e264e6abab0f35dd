internal import Digests
internal import Platform

extension FileCommit {
    /// Keeps the present contents of the file.
    mutating func keepFormer(
        _ writer: DomainWriter, _ locks: DomainLocks, _ transaction: String
    ) throws(StoreFailure) {
        if before.recovery != nil {
            try resolved.file.reporting { () throws(SystemFailure) in
                for path in former.damagedFiles(of: before) {
                    try resolved.file.setAside(path, on: writer.system)
                }
            }
        }
        guard let history = History(of: resolved.file, on: writer.system) else { return }
        history.takeFormer()
        // With a limit of one version, only the new version is kept.
        let isLost = requiresFormer && before.exists && writer.policy.versions < 2
        if !isLost, keepFormer(in: history, writer, locks, transaction) { return }
        losesFormer = true
        if requiresFormer { throw StoreFailure(resolved.file, .notKept(folder: history.folder.description)) }
        unwritableHistory = history.folder
    }

    /// Returns false if the contents could not be kept.
    private mutating func keepFormer(
        in history: History, _ writer: DomainWriter, _ locks: DomainLocks, _ transaction: String
    ) -> Bool {
        // A folder cannot be kept as a link.
        let isLarge =
            before.recovery == nil && former.onlyFile != nil && before.status?.size ?? 0 > writer.policy.mostCopiedBytes
        // Contents that this writer has written and kept need no check.
        guard !before.exists || isLarge || bytesBefore != nil || unkeptBefore != nil else { return true }
        guard var versions = try? history.listed(removingLeftovers: true) else { return false }
        defer { self.versions = versions }
        if let status = before.status, isLarge {
            return history.recordReplaced(
                resolved.target, status, author(writer), transaction: transaction, after: &versions,
                policy: writer.policy, isDurable: isFormerIrreplaceable)
        }
        if !before.exists, let removal = unkeptRemoval(locks, versions, history, writer) {
            return history.record(removal, after: &versions, policy: writer.policy)
        }
        var isKept = true
        if let unkeptBefore, !isReplacedByNew(writer.policy),
            before.isOwn || mark(in: locks)?.transaction == unkeptBefore.transaction
        {
            isKept = history.record(
                unkeptBefore, after: &versions, policy: writer.policy, isDurable: isFormerIrreplaceable)
        }
        guard let bytesBefore, bytesBefore != bytes || removesDomain else { return isKept }
        if let found = unkeptVersion(bytesBefore, locks, versions, history, writer) {
            let isDurable = isFormerIrreplaceable || found.author.reason == .found
            isKept = history.record(found, after: &versions, policy: writer.policy, isDurable: isDurable) && isKept
        } else if isFormerIrreplaceable, writer.policy.versions > 0 {
            let kept = versions.last { history.isCopy($0, of: bytesBefore) }
            isKept = (kept.map { history.synchronize($0) } ?? !requiresFormer) && isKept
        }
        return isKept
    }

    /// Whether the history will have the only copy of the previous values, so that it must survive a power failure.
    private var isFormerIrreplaceable: Bool { requiresFormer || removesDomain }

    /// Returns the removal of the domain if the file is missing and the newest version does not record that. Another
    /// program removed it, or a writer that was interrupted.
    private func unkeptRemoval(
        _ locks: DomainLocks, _ versions: [KeptVersion], _ history: History, _ writer: DomainWriter
    ) -> PendingVersion? {
        guard let newest = versions.last, !history.isCopy(newest, of: DomainState.tombstone) else { return nil }
        let mark = mark(in: locks)
        let isOurs = mark?.hash == nil && !versions.contains { $0.transaction == mark?.transaction }
        guard let mark, isOurs else { return found(DomainState.tombstone, at: writer.system.clock.wall, writer) }
        return PendingVersion(
            bytes: DomainState.tombstone, author: mark.author, transaction: mark.transaction,
            time: writer.system.clock.wall)
    }

    /// Returns a version of contents by another program.
    private func found(_ bytes: [UInt8], at time: Timestamp, _ writer: DomainWriter) -> PendingVersion {
        var author = writer.author
        author.reason = .found
        return PendingVersion(bytes: bytes, author: author, transaction: writer.transactionName(), time: time)
    }

    /// The mark of the last writer that used the library.
    private func mark(in locks: DomainLocks) -> WriteMarker? {
        locks.markFile(of: resolved.file).flatMap { WriteMarker(in: $0) }
    }

    /// Whether a writer that used the library may have been interrupted after it wrote the present contents: keeping a
    /// version is its last step, and there is none.
    func mayBeUnfinished(_ locks: DomainLocks, _ writer: DomainWriter) -> Bool {
        guard let bytesBefore, let history = History(of: resolved.file, on: writer.system),
            let mark = mark(in: locks), mark.hash == SHA256.hash(bytesBefore)
        else { return false }
        return !leavesVersion(writer.policy)
            || !history.versions.contains { $0.transaction == mark.transaction && history.isCopy($0, of: bytesBefore) }
    }

    /// Whether a version of the present contents is kept after writing.
    func leavesVersion(_ policy: HistoryPolicy) -> Bool {
        policy.versions > 0 && former.isCopied(bytesBefore, policy)
    }

    /// Whether the new version replaces the one that this writer has not kept yet, as for consecutive flushes.
    private func isReplacedByNew(_ policy: HistoryPolicy) -> Bool {
        isKeptLater && before.isOwn && storage.isCopied(bytes, policy)
    }

    /// Returns the present contents as a version if there is none. They were written by another program, or by a writer
    /// that was interrupted.
    private func unkeptVersion(
        _ bytes: [UInt8], _ locks: DomainLocks, _ versions: [KeptVersion], _ history: History, _ writer: DomainWriter
    ) -> PendingVersion? {
        // The contents must match, not only the name, because a crash may have truncated the version.
        if let newest = versions.last, history.isCopy(newest, of: bytes) { return nil }
        let time = before.status?.modified ?? writer.system.clock.wall
        if let mark = mark(in: locks), mark.hash == SHA256.hash(bytes) {
            let kept = versions.last { $0.transaction == mark.transaction }
            if let kept, history.isCopy(kept, of: bytes) { return nil }
            return PendingVersion(bytes: bytes, author: mark.author, transaction: mark.transaction, time: time)
        }
        // The mark of a failed write describes a file that was never created.
        return found(bytes, at: time, writer)
    }

    /// Keeps the new version, or leaves that for later. For a removed domain this is a tombstone.
    ///
    /// - Parameter participants: The files that the transaction changed, this one included. A version without them
    ///   would be undone alone, so none is kept if they cannot be.
    mutating func keepNew(_ writer: DomainWriter, _ transaction: String, with participants: inout Participants) {
        guard let history = History(of: resolved.file, on: writer.system) else { return }
        guard writer.policy.versions > 0 else { return history.removeAll() }
        if participants.paths.count > 1, !history.record(&participants, of: transaction) {
            unwritableHistory = history.folder
            after.isOwn = false
            return
        }
        let bytes = bytes ?? DomainState.tombstone
        guard storage.isCopied(bytes, writer.policy) else { return }
        let version = PendingVersion(
            bytes: bytes, author: author(writer), transaction: transaction, time: writer.system.clock.wall,
            isFirst: isFirst)
        guard !isKeptLater else {
            unkept = version
            return
        }
        if var former = versions ?? (try? history.listed()),
            history.record(
                version, after: &former, policy: writer.policy,
                like: storage.onlyFile == nil ? nil : after.status.map { (resolved.file.path, $0) })
        {
            return
        }
        unwritableHistory = history.folder
        // The next write must read these contents, in order to keep them.
        after.isOwn = false
    }
}
