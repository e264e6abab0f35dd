internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The identity of a running thread.
package struct ThreadIdentity: Hashable, Sendable {
    private let number: UInt

    /// The thread of the caller.
    package static var current: ThreadIdentity {
        #if canImport(Glibc)
            ThreadIdentity(number: pthread_self())
        #else
            ThreadIdentity(number: UInt(bitPattern: pthread_self()))
        #endif
    }
}

/// Runs `body` on a new thread. For work that blocks: Swift's task pool has only one thread per core.
///
/// The thread blocks all signals, so that signal handlers run on the threads where the program expects them.
func startThread(_ body: @escaping @Sendable () -> Void) throws(SystemFailure) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 512 << 10)
    var (all, former) = (sigset_t(), sigset_t())
    sigfillset(&all)
    // A new thread inherits the signal mask of its creator.
    pthread_sigmask(SIG_SETMASK, &all, &former)
    defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
    let work = Unmanaged.passRetained(ThreadWork(body))
    #if canImport(Darwin)
        var thread: pthread_t?
    #else
        var thread = pthread_t()
    #endif
    let status = pthread_create(&thread, &attributes, runWork, work.toOpaque())
    guard status == 0 else {
        work.release()
        throw SystemFailure(ErrorCode(rawValue: status), .startThread, nil)
    }
}

private final class ThreadWork: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

#if canImport(Darwin)
    private func runWork(_ work: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        Unmanaged<ThreadWork>.fromOpaque(work).takeRetainedValue().body()
        return nil
    }
#else
    private func runWork(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let work else { return nil }
        Unmanaged<ThreadWork>.fromOpaque(work).takeRetainedValue().body()
        return nil
    }
#endif

/// Runs work that may block on file access on a new thread, or on the caller's if no thread can be created.
package func runOnNewThread(_ work: @escaping @Sendable () -> Void) {
    do throws(SystemFailure) {
        try startThread(work)
    } catch {
        work()
    }
}

/// An event that one thread opens once and permanently, and that others wait for.
///
/// Sendable because `isOpen` is accessed only under the mutex, and the pthread objects are safe to share.
package final class Gate: @unchecked Sendable {
    // Allocated separately because pthread objects must not move.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isOpen = false

    package init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
            pthread_cond_init(condition, nil)
        #else
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            // Otherwise a jump of the wall clock would change the length of the wait.
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(condition, &attributes)
            pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    package func open() {
        pthread_mutex_lock(mutex)
        isOpen = true
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Waits until the gate opens or `deadline` passes, and returns whether it is open.
    package func wait(until deadline: Instant = .never) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isOpen {
            if deadline == .never {
                pthread_cond_wait(condition, mutex)
            } else if !wait(by: deadline) {
                break
            }
        }
        return isOpen
    }

    /// Waits for one signal of the condition; returns false after the deadline.
    private func wait(by deadline: Instant) -> Bool {
        #if canImport(Darwin)
            let left = SystemClock().now.duration(to: deadline).nanoseconds
            guard left > 0 else { return false }
            var time = timespec(tv_sec: Int(left / 1_000_000_000), tv_nsec: Int(left % 1_000_000_000))
            return pthread_cond_timedwait_relative_np(condition, mutex, &time) == 0
        #else
            var time = timespec()
            time.tv_sec = time_t(deadline.nanoseconds / 1_000_000_000)
            time.tv_nsec = Int(deadline.nanoseconds % 1_000_000_000)
            return pthread_cond_timedwait(condition, mutex, &time) == 0
        #endif
    }
}

/// A resettable signal. Several rings before a reset have the effect of one.
package final class ResettableEvent: Sendable {
    private let gate = Mutex(Gate())

    package init() {}

    package func ring() { gate.withLock(\.self).open() }

    /// The gate that the next ring opens, or that the last ring has opened.
    package var next: Gate { gate.withLock(\.self) }

    /// Resets the signal. Call this before checking for work, so that a ring during the check causes another check.
    package func reset() { gate.withLock { $0 = Gate() } }
}
