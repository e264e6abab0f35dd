internal import Synchronization

/// The state that all open domains of a store share.
final class StoreContext: Sendable {
    /// A counter of the changes that this process makes or observes.
    let epoch = Atomic<UInt64>(1)
    let issues: IssueReporter
    let pending: PendingDomains
    let policy: LoadedPolicy

    init(_ issues: IssueReporter, _ pending: PendingDomains, _ policy: LoadedPolicy) {
        self.issues = issues
        self.pending = pending
        self.policy = policy
    }

    private let reported = Mutex<Set<ResolvedTable.SkippedValue>>([])

    /// Returns the values that were not reported yet. Each is reported once, however many instances encounter it.
    func unreported(among skipped: Set<ResolvedTable.SkippedValue>) -> Set<ResolvedTable.SkippedValue> {
        if skipped.isEmpty { return [] }
        return reported.withLock { reported in
            defer { reported.formUnion(skipped) }
            return skipped.subtracting(reported)
        }
    }

    func noteChange() { epoch.add(1, ordering: .releasing) }
}
