internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Takes locks of files, and waits for busy ones no longer than asked.
///
/// `flock` knows no time-out, and asking again and again starves: whoever is asleep when the lock becomes free loses it
/// to the next who comes. So a thread of its own waits in `flock`, in the kernel's queue, while the caller waits for
/// the thread. A caller that gives up leaves the thread where it is, for nothing short of a signal ends its call; the
/// next caller for the same file takes it over, and so there are never more such threads than once waited at the same
/// time.
final class LockWaits: Sendable {
    static let ofThisProcess = LockWaits()

    /// What is waited for.
    struct Goal: Hashable { let file: FileNumber, mode: LockMode }

    private let abandoned = Mutex<[Goal: [Abandoned]]>([:])

    /// The opening of the file that has the lock now, or nil where it did not become free in time.
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

    /// A wait that nobody wants any more, but that goes on.
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

    /// A wait that lasts as long as its thread.
    private struct Abandoned { weak var wait: LockWait? }
}

/// One thread's wait for one lock.
final class LockWait: Sendable {
    enum Outcome: Sendable { case waiting, abandoned, lapsed, locked, failed(ErrorCode) }

    /// The opening of the file that gets the lock. It is nobody else's: a lock that nobody wants any more must not look
    /// like one that the caller has.
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
        // A lock that nobody wants any more goes with the descriptor.
        isSettled.open()
    }

    /// How it went by `deadline`. A wait that went on until then is abandoned.
    func outcome(by deadline: Instant) -> Outcome {
        _ = isSettled.wait(until: deadline)
        return state.withLock { state in
            if case .waiting = state { state = .abandoned }
            return state
        }
    }

    /// Whether the abandoned wait still went on, and so goes on for the caller.
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
