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

    private let told = Mutex<Set<ResolvedTable.PassedOver>>([])

    /// Returns those that were not reported yet. Each is reported once, however many instances encounter it.
    func news(of passedOver: Set<ResolvedTable.PassedOver>) -> Set<ResolvedTable.PassedOver> {
        if passedOver.isEmpty { return [] }
        return told.withLock { told in
            defer { told.formUnion(passedOver) }
            return passedOver.subtracting(told)
        }
    }

    func noteChange() { epoch.add(1, ordering: .releasing) }
}
