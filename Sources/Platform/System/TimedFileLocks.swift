internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Takes file locks with a timeout.
///
/// `flock` has no timeout, and retrying in a loop starves: a process that sleeps when the lock becomes free loses it to
/// the next one that tries. So a separate thread blocks in `flock`, in the kernel's queue, while the caller waits for
/// the thread. When a caller gives up, the thread continues to wait, since only a signal could interrupt it. The next
/// caller for the same file takes the thread over, so there are never more threads than there were simultaneous waits.
final class TimedFileLocks: Sendable {
    static let ofThisProcess = TimedFileLocks()

    /// The file and the lock mode that a thread waits for.
    struct Goal: Hashable { let file: FileID, mode: LockMode }

    private let abandoned = Mutex<[Goal: [Abandoned]]>([:])

    /// Returns the descriptor that holds the lock, or nil if the lock did not become free in time.
    func lock(
        _ descriptor: Descriptor, _ mode: LockMode, _ path: FilePath, patience: Duration
    ) throws(SystemFailure) -> Descriptor? {
        do {
            _ = try systemCall(.lock, path) { flock(descriptor.number, mode.flag | LOCK_NB) }
            return descriptor
        } catch  where error.code == .wouldBlock {
            guard patience > .zero else { return nil }
        }
        let deadline = SystemClock().now.advanced(by: patience)
        let goal = Goal(file: try descriptor.status(of: path).number, mode: mode)
        let wait: LockWait
        if let former = takeOver(goal) {
            wait = former
        } else {
            wait = try .start(descriptor.opening(again: path), mode, path)
        }
        switch wait.outcome(by: deadline) {
        case .locked: return wait.descriptor
        case .failed(let code): throw SystemFailure(code, .lock, path)
        case .abandoned, .waiting, .lapsed:
            leave(wait, goal)
            return nil
        }
    }

    /// Takes over an abandoned wait that is still running.
    private func takeOver(_ goal: Goal) -> LockWait? {
        let waits = abandoned.withLock { $0.removeValue(forKey: goal) ?? [] }.compactMap(\.wait)
        guard let first = waits.firstIndex(where: { $0.isResumed() }) else { return nil }
        for wait in waits[(first + 1)...] { leave(wait, goal) }
        return waits[first]
    }

    private func leave(_ wait: LockWait, _ goal: Goal) {
        abandoned.withLock { all in
            all = all.mapValues { $0.filter { $0.wait != nil } }.filter { !$0.value.isEmpty }
            all[goal, default: []].append(Abandoned(wait: wait))
        }
    }

    /// A wait that exists as long as its thread.
    private struct Abandoned { weak var wait: LockWait? }
}

/// A thread that waits for one lock.
final class LockWait: Sendable {
    enum Outcome: Sendable { case waiting, abandoned, lapsed, locked, failed(ErrorCode) }

    /// The descriptor that gets the lock. It is not shared: a lock obtained after the caller gave up must not appear to
    /// be the caller's.
    let descriptor: Descriptor
    private let state = Mutex(Outcome.waiting)
    private let isSettled = Gate()

    private init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    static func start(_ descriptor: Descriptor, _ mode: LockMode, _ path: FilePath) throws(SystemFailure) -> LockWait {
        let wait = LockWait(descriptor)
        try startThread { wait.run(mode, path) }
        return wait
    }

    private func run(_ mode: LockMode, _ path: FilePath) {
        let result: Outcome
        do throws(SystemFailure) {
            _ = try systemCall(.lock, path) { flock(descriptor.number, mode.flag) }
            result = .locked
        } catch {
            result = .failed(error.code)
        }
        state.withLock { state in
            if case .waiting = state { state = result } else { state = .lapsed }
        }
        // If the wait was abandoned, closing the descriptor releases the lock.
        isSettled.open()
    }

    /// Returns the outcome at `deadline`. A wait that is still running then is marked as abandoned.
    func outcome(by deadline: Instant) -> Outcome {
        _ = isSettled.wait(until: deadline)
        return state.withLock { state in
            if case .waiting = state { state = .abandoned }
            return state
        }
    }

    /// Resumes an abandoned wait for a new caller; returns false if it is no longer running.
    func isResumed() -> Bool {
        state.withLock { state in
            guard case .abandoned = state else { return false }
            state = .waiting
            return true
        }
    }
}

extension LockMode {
    fileprivate var flag: Int32 { self == .exclusive ? LOCK_EX : LOCK_SH }
}
