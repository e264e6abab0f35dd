internal import Synchronization

/// What all open domains of a store tell to.
final class StoreSignals: Sendable {
    /// Grows with every change that this process makes or sees.
    let epoch = Atomic<UInt64>(1)
    let issues: IssueBoard
    let pending: PendingDomains
    let policy: PolicyInForce

    init(_ issues: IssueBoard, _ pending: PendingDomains, _ policy: PolicyInForce) {
        self.issues = issues
        self.pending = pending
        self.policy = policy
    }

    private let told = Mutex<Set<ResolvedTable.PassedOver>>([])

    /// Those that nobody was told of yet: each is told of once, however many instances come across it.
    func news(of passedOver: Set<ResolvedTable.PassedOver>) -> Set<ResolvedTable.PassedOver> {
        if passedOver.isEmpty { return [] }
        return told.withLock { told in
            defer { told.formUnion(passedOver) }
            return passedOver.subtracting(told)
        }
    }

    func noteChange() { epoch.add(1, ordering: .releasing) }
}
