internal import Platform
internal import PropertyLists
internal import Synchronization

/// The state of writing the changes of an open domain to the disk.
struct FlushState: Sendable {
    /// Whether a flush is scheduled.
    var isScheduled = false
    /// Whether the domain will be flushed at the end of the program.
    var isAwaitedAtEnd = false
    /// The number of consecutive failed attempts.
    var failures = 0
    /// The failure that was reported, so that it is reported once.
    var reportedFailure: StoreFailure?
    /// The written version that is not in the history yet.
    var unkept: PendingVersion?
    /// The history in which the last version could not be kept.
    var unwritableHistory: FilePath?
    /// Whether keeping that version is scheduled.
    var isKeepingScheduled = false
    /// What the domain's thread in the background does, the present task first.
    var tasks: [@Sendable () -> Void] = []
}

extension OpenDomain {
    /// The delay between setting a value and writing it.
    private static let delay: Duration = .milliseconds(80)
    private static let longestDelay: Duration = .seconds(30)

    /// Schedules pending changes to be written soon, or else at the end of the program.
    func scheduleFlush() {
        context.pending.register(self)
        let delay = state.withLock { state -> Duration? in
            guard !state.flush.isScheduled, !state.pending.isEmpty else { return nil }
            state.flush.isScheduled = true
            return min(Self.delay * (1 << min(state.flush.failures, 9)), Self.longestDelay)
        }
        // The changes may have been written meanwhile, or there were none.
        guard let delay else { return context.pending.forget(self) }
        // The closure retains the domain, so that pending changes are not lost.
        _ = system.clock.wake(at: system.clock.now.advanced(by: delay)) { [self] in
            inBackground { [self] in
                let isWritten = (try? flush()) != nil
                // Only now: while a slow disk or another holder of the lock delays this flush, none is scheduled.
                state.withLock { $0.flush.isScheduled = false }
                if !isWritten || hasPending { scheduleFlush() }
            }
        }
    }

    /// Calls `task` in the background, after those that are waiting. A domain has one thread at most, however long a
    /// slow disk or another holder of the lock delays it.
    private func inBackground(_ task: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.flush.tasks.append(task)
            return state.flush.tasks.count == 1
        }
        guard isFirst else { return }
        system.background { [self] in
            var next = state.withLock(\.flush.tasks.first)
            while let present = next {
                present()
                next = state.withLock { state in
                    state.flush.tasks.removeFirst()
                    return state.flush.tasks.first
                }
            }
        }
    }

    var hasPending: Bool { state.withLock { !$0.pending.isEmpty } }

    /// Records whether the domain will be flushed at the end of the program. Returns false if that is still necessary.
    func setAwaitedAtEnd(_ isAwaited: Bool) -> Bool {
        state.withLock { state in
            guard isAwaited || (state.pending.isEmpty && state.flush.unkept == nil) else { return false }
            state.flush.isAwaitedAtEnd = isAwaited
            return true
        }
    }

    /// Writes pending changes, and returns when they are on the disk.
    func flush() throws {
        guard let file else {
            if case .memory(_, let failure?) = storage { throw failure }
            return
        }
        try writeAlone {
            while try !flushPending(to: file) {}
        }
    }

    /// Writes pending changes. Returns false if it had to discard a value that the file cannot hold, so that the others
    /// can be written.
    private func flushPending(to file: DomainFile) throws -> Bool {
        let (pending, removesFile) = state.withLock { ($0.pending, $0.removesFile) }
        guard !pending.isEmpty else { return true }
        do {
            let rules = state.withLock(\.rules)
            let refused = Mutex(PropertyList.Dictionary())
            let outcome = try commit(file, .flush) { draft in
                // Another program may have migrated the file since the values were set.
                try rules?.checkVersion(of: draft.values, file.name)
                let isNew = draft.values.isEmpty
                rules?.moveRenamed(&draft.values)
                let unfit = pending.apply(to: &draft.values)
                refused.withLock { $0 = unfit }
                draft.removesFile = removesFile && draft.values.isEmpty && !file.isAdopted
                rules?.recordVersion(in: &draft.values, isNew: isNew)
            }
            settle(pending, outcome.after)
            postRefused(refused.withLock(\.self))
            return true
        } catch {
            if refuse(error, pending) { return false }
            recordFlushFailure(error as? StoreFailure ?? StoreFailure(file, .notAllowed("\(error)")))
            throw error
        }
    }

    /// Discards a pending value that the file's format cannot hold. Returns false if that is not the error.
    private func refuse(_ error: any Error, _ pending: [Name: PendingChange]) -> Bool {
        guard case .unwritable(let failure)? = (error as? StoreFailure)?.problem,
            let key = failure.path.components.first.map({ Name($0.text) }), let change = pending[key]
        else {
            return false
        }
        state.withLock { state in
            guard state.pending[key]?.version == change.version else { return }
            state.pending[key]?.discard(failure.path.components.dropFirst())
            if state.pending[key]?.edits.isEmpty ?? true { state.pending[key] = nil }
            state.take(state.stored, own: [key])
        }
        publishChange()
        post(.refused(key: key.text, reason: failure.description))
        return true
    }

    /// Reports values that could not be set.
    ///
    /// - Parameter refused: The reasons by key.
    func postRefused(_ refused: PropertyList.Dictionary) {
        for entry in refused { post(.refused(key: entry.key, reason: entry.value.stringValue ?? "")) }
    }

    private func recordFlushFailure(_ failure: StoreFailure) {
        let isNew = state.withLock { state in
            state.flush.failures += 1
            defer { state.flush.reportedFailure = failure }
            return state.flush.reportedFailure != failure
        }
        if isNew { post(.unwritten(failure)) }
    }
}

// MARK: The history

extension OpenDomain {
    /// The delay before a version is kept, within which a later one can replace it.
    private static let keepingDelay: Duration = .seconds(1)

    /// Schedules the written version to be kept soon, or else at the end of the program.
    func scheduleKeeping() {
        let isDue = state.withLock { state in
            guard state.flush.unkept != nil, !state.flush.isKeepingScheduled else { return false }
            state.flush.isKeepingScheduled = true
            return true
        }
        guard isDue else { return }
        context.pending.register(self)
        _ = system.clock.wake(at: system.clock.now.advanced(by: Self.keepingDelay)) { [self] in
            inBackground { [self] in keepVersion() }
        }
    }

    /// Keeps the written version in the history.
    func keepVersion() {
        guard let file else { return }
        writing.withLock { _ in
            let unkept = state.withLock { state in
                state.flush.isKeepingScheduled = false
                defer { state.flush.unkept = nil }
                return state.flush.unkept
            }
            guard let unkept else { return }
            do throws(StoreFailure) {
                let isKept = try writer(.flush).keep(unkept, of: file)
                reportHistory(unwritable: isKept ? nil : file.history)
                if isKept { return }
            } catch {
                // The holder of the lock need not be a writer, so this is tried again.
                if case .locked = error.problem {
                    return state.withLock { $0.flush.unkept = $0.flush.unkept ?? unkept }
                }
                reportHistory(unwritable: file.history)
            }
            // The next write reads the file again, and keeps this version before it replaces the file.
            state.withLock { $0.stored.isOwn = false }
        }
        context.pending.forget(self)
        scheduleKeeping()
    }

    /// Reports a history in which no version can be kept. It is reported again only after a version was kept.
    ///
    /// - Parameter folder: The folder of the history, or nil if a version was kept.
    func reportHistory(unwritable folder: FilePath?) {
        let isNew = state.withLock { state in
            defer { state.flush.unwritableHistory = folder }
            return state.flush.unwritableHistory != folder
        }
        if isNew, let folder { post(.unkept(history: folder.description)) }
    }
}

/// The domains with changes that must be written or kept before the program ends.
///
/// They are retained, so that pending changes are not lost.
final class PendingDomains: Sendable {
    private let system: SystemServices
    private let state = Mutex(State())

    private struct State: Sendable {
        var domains: [ObjectIdentifier: OpenDomain] = [:]
        var isRegistered = false
    }

    init(_ system: SystemServices) { self.system = system }

    func register(_ domain: OpenDomain) {
        let isFirst = state.withLock { state in
            state.domains[ObjectIdentifier(domain)] = domain
            _ = domain.setAwaitedAtEnd(true)
            defer { state.isRegistered = true }
            return !state.isRegistered
        }
        if isFirst { system.atEnd { [self] in flushAll() } }
    }

    /// Forgets a domain if its changes are written. Further changes may have been made since the writer checked.
    func forget(_ domain: OpenDomain) {
        state.withLock { state in
            if domain.setAwaitedAtEnd(false) { state.domains[ObjectIdentifier(domain)] = nil }
        }
    }

    func flushAll() {
        for domain in state.withLock({ Array($0.domains.values) }) {
            _ = try? domain.flush()
            domain.keepVersion()
        }
    }
}
