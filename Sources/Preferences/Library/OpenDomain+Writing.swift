internal import Platform
internal import PropertyLists
internal import Synchronization

// Changing the file, by one thread at a time.
extension OpenDomain {
    /// Changes the file under its lock together with pending changes, or makes no change.
    ///
    /// `body` receives the values of the file with this process's changes applied. Its errors are thrown.
    ///
    /// - Parameter checks: Whether the domain's schema is applied.
    func change<Result: Sendable>(
        _ reason: WriteReason, checks: Bool = true,
        _ body: @escaping @Sendable (inout PropertyList.Dictionary) throws -> Result
    ) throws -> Result {
        let rules = checks ? state.withLock(\.rules) : nil
        guard let file else { return try changeInMemory(rules, body) }
        let made = Mutex<(result: Result, keys: Set<ExactKey>)?>(nil)
        try writeAlone {
            let pending = state.withLock(\.pending)
            let outcome = try commit(file, reason) { draft in
                let former = draft.values
                let result = try draft.change(rules, file.name) { draft in
                    for (key, change) in pending { draft.values[key.text] = change.value }
                    return try body(&draft.values)
                }
                made.withLock { $0 = (result, former.keysThatDiffer(from: draft.values)) }
            }
            settle(pending, outcome.after, own: made.withLock { $0?.keys } ?? [])
        }
        notifyObservers()
        guard let result = made.withLock({ $0?.result }) else { throw StoreFailure(file, .notCurrent) }
        return result
    }

    private func changeInMemory<Result: Sendable>(
        _ rules: SchemaRules?, _ body: (inout PropertyList.Dictionary) throws -> Result
    ) throws -> Result {
        if case .memory(_, let failure?) = keeping { throw failure }
        let result = try state.withLock { state in
            var draft = DomainDraft(values: state.values, format: .binary, status: nil)
            let result = try draft.change(rules, "") { draft in try body(&draft.values) }
            state.take(DomainContents(values: draft.values), own: state.values.keysThatDiffer(from: draft.values))
            return result
        }
        noteChange()
        notifyObservers()
        return result
    }

    /// Calls `body` as the only writer of the file in this process, and then checks for changes by other processes.
    func writeAlone(_ body: () throws -> Void) throws {
        defer {
            let missedLook = state.withLock { state in
                defer { state.missedLook = false }
                return state.missedLook
            }
            if missedLook {
                look(isExact: true)
                notifyObservers()
            }
        }
        try writing.withLock { _ in
            state.withLock { $0.isWriting = true }
            defer { state.withLock { $0.isWriting = false } }
            try body()
        }
    }

    func commit(
        _ file: DomainFile, _ reason: WriteReason, _ change: @escaping @Sendable (inout DomainDraft) throws -> Void
    ) throws -> CommittedDomain {
        // A failed attempt may have renamed the file without syncing it, and another fsync would not report that.
        let (rewrites, known, unkept) = state.withLock { ($0.flush.failures > 0, $0.stored, $0.flush.unkept) }
        var edit = DomainEdit(file.made(in: signals.policy.value.newFormat), known: known) { draft in
            draft.rewrites = rewrites
            try change(&draft)
        }
        (edit.unkept, edit.isKeptLater) = (unkept, reason == .flush)
        let outcomes = try writer(reason).commit([edit])
        guard let outcome = outcomes.first else { throw StoreFailure(file, .notCurrent) }
        if outcome.isChanged {
            state.withLock { $0.flush.unkept = outcome.unkept }
            scheduleKeeping()
        }
        return outcome
    }

    func writer(_ reason: WriteReason) -> DomainWriter {
        DomainWriter(machine, WriteNote(reason, by: machine), by: signals.policy.value)
    }

    /// Takes the contents on the disk. Values that were set meanwhile remain pending.
    func settle(
        _ written: [ExactKey: PendingChange], _ contents: DomainContents, own: Set<ExactKey> = []
    ) {
        let isDone = state.withLock { state in
            for (key, change) in written where state.pending[key]?.version == change.version {
                state.pending[key] = nil
            }
            (state.failure, state.damaged) = (nil, nil)
            state.flush.failures = 0
            state.flush.reportedFailure = nil
            state.take(contents, own: own)
            return state.pending.isEmpty
        }
        if isDone { signals.pending.forget(self) }
        noteChange()
    }
}

extension DomainDraft {
    /// Applies a change according to the rules, if there are any.
    fileprivate mutating func change<Result>(
        _ rules: SchemaRules?, _ domain: String, _ body: (inout DomainDraft) throws -> Result
    ) throws -> Result {
        if let rules { try rules.change(&self, of: domain, body) } else { try body(&self) }
    }
}

extension PropertyList.Dictionary {
    /// Returns the keys with different values, including those that only one dictionary has.
    fileprivate func keysThatDiffer(from other: PropertyList.Dictionary) -> Set<ExactKey> {
        var keys: Set<ExactKey> = []
        for entry in self where other[entry.key] != entry.value { keys.insert(ExactKey(entry.key)) }
        for entry in other where self[entry.key] == nil { keys.insert(ExactKey(entry.key)) }
        return keys
    }
}
