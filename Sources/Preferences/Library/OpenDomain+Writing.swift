internal import Platform
internal import PropertyLists
internal import Synchronization

// How the file is changed, by one thread at a time.
extension OpenDomain {
    /// Changes the file under its lock, what is pending with it, or changes nothing.
    ///
    /// What `body` throws is thrown on. It sees the file as it is on the disk, with what this process has set over it.
    ///
    /// - Parameter checks: Whether the domain's schema has a say.
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
        tellObservers()
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
        tellObservers()
        return result
    }

    /// Runs `body` as the only one that writes the file, then looks if somebody else has meanwhile.
    func writeAlone(_ body: () throws -> Void) throws {
        defer {
            let missedLook = state.withLock { state in
                defer { state.missedLook = false }
                return state.missedLook
            }
            if missedLook {
                look(isExact: true)
                tellObservers()
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
        // What an attempt that failed has renamed is there, but may be lost though another fsync says nothing.
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

    /// Takes over what the disk holds now. What was set meanwhile is still to be written.
    func settle(
        _ written: [ExactKey: PendingChange], _ contents: DomainContents, own: Set<ExactKey> = []
    ) {
        let isDone = state.withLock { state in
            for (key, change) in written where state.pending[key]?.version == change.version {
                state.pending[key] = nil
            }
            (state.failure, state.damaged) = (nil, nil)
            state.flush.failures = 0
            state.flush.told = nil
            state.take(contents, own: own)
            return state.pending.isEmpty
        }
        if isDone { signals.pending.forget(self) }
        noteChange()
    }
}

extension DomainDraft {
    /// Changes the draft as the rules allow, where there are any.
    fileprivate mutating func change<Result>(
        _ rules: SchemaRules?, _ domain: String, _ body: (inout DomainDraft) throws -> Result
    ) throws -> Result {
        if let rules { try rules.change(&self, of: domain, body) } else { try body(&self) }
    }
}

extension PropertyList.Dictionary {
    /// The keys that only one has, or that have another value in the other.
    fileprivate func keysThatDiffer(from other: PropertyList.Dictionary) -> Set<ExactKey> {
        var keys: Set<ExactKey> = []
        for entry in self where other[entry.key] != entry.value { keys.insert(ExactKey(entry.key)) }
        for entry in other where self[entry.key] == nil { keys.insert(ExactKey(entry.key)) }
        return keys
    }
}
