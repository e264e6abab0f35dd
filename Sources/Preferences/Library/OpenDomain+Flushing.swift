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
                for (key, change) in pending { draft.values[key.text] = change.value }
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
    private func refuse(_ error: any Error, _ pending: [ExactKey: PendingChange]) -> Bool {
        guard case .unwritable(let failure)? = (error as? StoreFailure)?.problem,
            let key = failure.path.components.first.map({ ExactKey($0.text) }), let change = pending[key]
        else {
            return false
        }
        state.withLock { state in
            guard state.pending[key]?.version == change.version else { return }
            state.pending[key] = nil
            state.take(state.stored)
        }
        noteChange()
        post(.refused(key: key.text, reason: failure.description))
        return true
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
