internal import Platform
internal import PropertyLists
internal import Synchronization

/// When the changes of an open domain go to the disk.
struct FlushState: Sendable {
    /// Whether a flush is coming by itself.
    var isScheduled = false
    /// Whether the end of the program waits for one.
    var isAwaitedAtEnd = false
    /// How many attempts in a row have failed.
    var failures = 0
    /// The failure that was told of, so that it is told once.
    var told: StoreFailure?
    /// What was written and is not in the history yet.
    var unkept: UnkeptVersion?
    /// Whether it comes there by itself.
    var isKeepingScheduled = false
}

extension OpenDomain {
    /// How soon what was set reaches the disk, at most.
    private static let delay: Duration = .milliseconds(80)
    private static let longestDelay: Duration = .seconds(30)

    /// Sees to it that what is pending reaches the disk: soon, or else at the end of the program.
    func scheduleFlush() {
        signals.pending.register(self)
        let delay = state.withLock { state -> Duration? in
            guard !state.flush.isScheduled, !state.pending.isEmpty else { return nil }
            state.flush.isScheduled = true
            return min(Self.delay * (1 << min(state.flush.failures, 9)), Self.longestDelay)
        }
        // Somebody may have written it since, or there was nothing to write.
        guard let delay else { return signals.pending.forget(self) }
        // The wake-up holds the domain, so that nothing that was set is let go unwritten.
        _ = machine.clock.wake(at: machine.clock.now.advanced(by: delay)) { [self] in
            machine.background { [self] in
                state.withLock { $0.flush.isScheduled = false }
                if (try? flush()) == nil || hasPending { scheduleFlush() }
            }
        }
    }

    /// How long a version waits for others to stand for it.
    private static let keepingDelay: Duration = .seconds(1)

    /// Sees to it that what was written comes into the history: soon, or else at the end of the program.
    private func scheduleKeeping() {
        let isDue = state.withLock { state in
            guard state.flush.unkept != nil, !state.flush.isKeepingScheduled else { return false }
            state.flush.isKeepingScheduled = true
            return true
        }
        guard isDue else { return }
        signals.pending.register(self)
        _ = machine.clock.wake(at: machine.clock.now.advanced(by: Self.keepingDelay)) { [self] in
            machine.background { [self] in
                state.withLock { $0.flush.isKeepingScheduled = false }
                keepVersion()
            }
        }
    }

    /// Puts what was written into the history.
    func keepVersion() {
        guard let file else { return }
        writing.withLock { _ in
            let unkept = state.withLock { state in
                defer { state.flush.unkept = nil }
                return state.flush.unkept
            }
            guard let unkept else { return }
            do throws(StoreFailure) {
                try writer(.flush).keep(unkept, of: file)
            } catch {
                // Whoever has the lock need not be writing: it is tried again.
                if case .locked = error.problem { state.withLock { $0.flush.unkept = $0.flush.unkept ?? unkept } }
            }
        }
        signals.pending.forget(self)
        scheduleKeeping()
    }

    var hasPending: Bool { state.withLock { !$0.pending.isEmpty } }

    /// Notes whether the end of the program waits for a flush; false where it still has to.
    func setAwaitedAtEnd(_ isAwaited: Bool) -> Bool {
        state.withLock { state in
            guard isAwaited || (state.pending.isEmpty && state.flush.unkept == nil) else { return false }
            state.flush.isAwaitedAtEnd = isAwaited
            return true
        }
    }

    /// Writes what is pending, and returns once it is on the disk.
    func flush() throws {
        guard let file else {
            if case .memory(_, let failure?) = keeping { throw failure }
            return
        }
        try writeAlone {
            while try !flushPending(to: file) {}
        }
    }

    /// Writes what is pending; false if a value that the file cannot hold was let go, so that the others still can be.
    private func flushPending(to file: DomainFile) throws -> Bool {
        let (pending, removesFile) = state.withLock { ($0.pending, $0.removesFile) }
        guard !pending.isEmpty else { return true }
        do {
            let rules = state.withLock(\.rules)
            let outcome = try commit(file, .flush) { draft in
                let isNew = draft.values.isEmpty
                rules?.moveRenamed(&draft.values)
                for (key, change) in pending { draft.values[key] = change.value }
                draft.removesFile = removesFile && draft.values.isEmpty
                rules?.note(&draft.values, isNew: isNew)
            }
            settle(pending, outcome.after)
            return true
        } catch {
            if refuse(error, pending) { return false }
            noteFailure(error as? StoreFailure ?? StoreFailure(file, .notAllowed("\(error)")))
            throw error
        }
    }

    /// Lets go of a pending value that the file's format cannot hold; false if that is not what went wrong.
    private func refuse(_ error: any Error, _ pending: [String: PendingChange]) -> Bool {
        guard case .unwritable(let failure)? = (error as? StoreFailure)?.problem,
            let key = failure.path.components.first?.text, let change = pending[key]
        else {
            return false
        }
        state.withLock { state in
            guard state.pending[key]?.version == change.version else { return }
            state.pending[key] = nil
            state.take(state.stored)
        }
        noteChange()
        post(.refused(key: key, reason: failure.description))
        return true
    }

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
        let made = Mutex<(result: Result, keys: Set<String>)?>(nil)
        try writeAlone {
            let pending = state.withLock(\.pending)
            let outcome = try commit(file, reason) { draft in
                let former = draft.values
                let result = try draft.change(rules, file.name) { draft in
                    for (key, change) in pending { draft.values[key] = change.value }
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
    private func writeAlone(_ body: () throws -> Void) throws {
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

    private func commit(
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

    private func writer(_ reason: WriteReason) -> DomainWriter {
        let policy = signals.policy.value
        return DomainWriter(
            machine, WriteNote(reason, by: machine), patience: policy.patience, policy: policy.history)
    }

    /// Takes over what the disk holds now. What was set meanwhile is still to be written.
    private func settle(
        _ written: [String: PendingChange], _ contents: DomainContents, own: Set<String> = []
    ) {
        let isDone = state.withLock { state in
            for (key, change) in written where state.pending[key]?.version == change.version {
                state.pending[key] = nil
            }
            state.failure = nil
            state.flush.failures = 0
            state.flush.told = nil
            state.take(contents, own: own)
            return state.pending.isEmpty
        }
        if isDone { signals.pending.forget(self) }
        noteChange()
    }

    private func noteFailure(_ failure: StoreFailure) {
        let isNews = state.withLock { state in
            state.flush.failures += 1
            defer { state.flush.told = failure }
            return state.flush.told != failure
        }
        if isNews { post(.unwritten(failure)) }
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
    fileprivate func keysThatDiffer(from other: PropertyList.Dictionary) -> Set<String> {
        var keys: Set<String> = []
        for entry in self where other[entry.key] != entry.value { keys.insert(entry.key) }
        for entry in other where self[entry.key] == nil { keys.insert(entry.key) }
        return keys
    }
}
