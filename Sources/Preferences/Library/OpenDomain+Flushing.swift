internal import Platform
internal import PropertyLists
internal import Synchronization

/// When the changes of an open domain go to the disk.
struct FlushState: Sendable {
    /// Whether a flush is coming by itself.
    var isScheduled = false
    /// How many attempts in a row have failed.
    var failures = 0
    /// The failure that was told of, so that it is told once.
    var told: StoreFailure?
}

extension OpenDomain {
    /// How soon what was set reaches the disk, at most.
    private static let delay: Duration = .milliseconds(80)
    private static let longestDelay: Duration = .seconds(30)

    func scheduleFlush() {
        let delay = state.withLock { state -> Duration? in
            guard !state.flush.isScheduled, !state.pending.isEmpty else { return nil }
            state.flush.isScheduled = true
            return min(Self.delay * (1 << min(state.flush.failures, 9)), Self.longestDelay)
        }
        guard let delay else { return }
        ExitFlush.register(self)
        // The wake-up holds the domain, so that nothing that was set is let go unwritten.
        _ = machine.clock.wake(at: machine.clock.now.advanced(by: delay)) { [self] in
            machine.background { [self] in
                state.withLock { $0.flush.isScheduled = false }
                _ = try? flush()
                scheduleFlush()
            }
        }
    }

    /// Writes what is pending, and returns once it is on the disk.
    func flush(_ reason: WriteReason = .flush) throws(StoreFailure) {
        guard let file else {
            if case .memory(_, let failure?) = keeping { throw failure }
            return
        }
        try writing.withLock { _ throws(StoreFailure) in
            let (pending, known) = state.withLock { ($0.pending, $0.stored) }
            guard !pending.isEmpty else { return }
            do throws(StoreFailure) {
                let outcome = try commit(file, known, reason) { draft in
                    for (key, change) in pending { draft.values[key] = change.value }
                }
                settle(pending, outcome.after)
            } catch {
                noteFailure(error)
                throw error
            }
        }
    }

    /// Changes the file under its lock, what is pending with it, or changes nothing.
    ///
    /// What `body` throws is thrown on. It sees the file as it is on the disk, with what this process has set over it.
    func change<Result: Sendable>(
        _ reason: WriteReason, patience: Duration? = nil,
        _ body: @escaping @Sendable (inout PropertyList.Dictionary) throws -> Result
    ) throws -> Result {
        guard let file else { return try changeInMemory(body) }
        let result: Result = try writing.withLock { _ in
            let (pending, known) = state.withLock { ($0.pending, $0.stored) }
            let box = Mutex<Result?>(nil)
            let outcome = try commit(file, known, reason, patience: patience) { draft in
                for (key, change) in pending { draft.values[key] = change.value }
                let result = try body(&draft.values)
                box.withLock { $0 = result }
            }
            settle(pending, outcome.after)
            return try box.withLock { result in
                guard let result else { throw StoreFailure(file, .notCurrent) }
                return result
            }
        }
        tellObservers()
        return result
    }

    private func changeInMemory<Result: Sendable>(
        _ body: (inout PropertyList.Dictionary) throws -> Result
    ) throws -> Result {
        if case .memory(_, let failure?) = keeping { throw failure }
        let result = try state.withLock { state in
            var values = state.values
            let result = try body(&values)
            state.take(DomainContents(values: values))
            return result
        }
        signals.noteChange()
        tellObservers()
        return result
    }

    private func commit(
        _ file: DomainFile, _ known: DomainContents, _ reason: WriteReason, patience: Duration? = nil,
        _ change: @escaping @Sendable (inout DomainDraft) throws -> Void
    ) throws(StoreFailure) -> CommittedDomain {
        let writer = DomainWriter(
            machine, WriteNote(reason, by: machine), patience: patience ?? .seconds(5))
        do {
            let outcome = try writer.commit([DomainEdit(file, known: known, change: change)])
            guard let outcome = outcome.first else { throw StoreFailure(file, .notCurrent) }
            return outcome
        } catch let failure as StoreFailure {
            throw failure
        } catch {
            throw StoreFailure(file, .notAllowed("\(error)"))
        }
    }

    /// Takes over what the disk holds now. What was set meanwhile is still to be written.
    private func settle(_ written: [String: PendingChange], _ contents: DomainContents) {
        state.withLock { state in
            for (key, change) in written where state.pending[key]?.version == change.version {
                state.pending[key] = nil
            }
            state.failure = nil
            state.flush.failures = 0
            state.flush.told = nil
            state.take(contents)
        }
        signals.noteChange()
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

/// The domains with changes that are to be written before the program ends.
enum ExitFlush: Sendable {
    private static let domains = Mutex<[ObjectIdentifier: OpenDomain]>([:])
    private static let registration: Void = atExit { flushAll() }

    static func register(_ domain: OpenDomain) {
        _ = registration
        domains.withLock { $0[ObjectIdentifier(domain)] = domain }
    }

    /// Forgets domains whose changes are written.
    static func forget(_ domain: OpenDomain) {
        domains.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(domain)) }
    }

    private static func flushAll() {
        for domain in domains.withLock({ Array($0.values) }) { _ = try? domain.flush() }
    }
}
