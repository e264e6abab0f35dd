// Unsafe: the C library takes pointers to thread objects, which have one owner, and passes work as a pointer.
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
            unsafe ThreadIdentity(number: UInt(bitPattern: pthread_self()))
        #endif
    }
}

/// Runs `body` on a new thread. For work that blocks: Swift's task pool has only one thread per core.
///
/// The thread blocks all signals, so that signal handlers run on the threads where the program expects them.
func startThread(_ body: @escaping @Sendable () -> Void) throws(SystemFailure) {
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    unsafe pthread_attr_setstacksize(&attributes, 512 << 10)
    var (all, former) = (sigset_t(), sigset_t())
    unsafe sigfillset(&all)
    // A new thread inherits the signal mask of its creator.
    unsafe pthread_sigmask(SIG_SETMASK, &all, &former)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &former, nil) }
    let work = unsafe Unmanaged.passRetained(ThreadWork(body))
    #if canImport(Darwin)
        var thread: pthread_t?
    #else
        var thread = pthread_t()
    #endif
    let status = unsafe pthread_create(&thread, &attributes, runWork, work.toOpaque())
    guard status == 0 else {
        unsafe work.release()
        throw SystemFailure(ErrorCode(rawValue: status), .startThread, nil)
    }
}

private final class ThreadWork: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

#if canImport(Darwin)
    private func runWork(_ work: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        unsafe Unmanaged<ThreadWork>.fromOpaque(work).takeRetainedValue().body()
        return nil
    }
#else
    private func runWork(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let work = unsafe work else { return nil }
        unsafe Unmanaged<ThreadWork>.fromOpaque(work).takeRetainedValue().body()
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
/// Sendable because `isOpen` is accessed only under the mutex, and the pthread objects are safe to share. Safe because
/// the objects are private and exist as long as the gate.
@safe package final class Gate: @unchecked Sendable {
    // Allocated separately because pthread objects must not move.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isOpen = false

    package init() {
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
            unsafe pthread_cond_init(condition, nil)
        #else
            var attributes = pthread_condattr_t()
            unsafe pthread_condattr_init(&attributes)
            // Otherwise a jump of the wall clock would change the length of the wait.
            unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            unsafe pthread_cond_init(condition, &attributes)
            unsafe pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    package func open() {
        unsafe pthread_mutex_lock(mutex)
        isOpen = true
        unsafe pthread_cond_broadcast(condition)
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Waits until the gate opens or `deadline` passes, and returns whether it is open.
    package func wait(until deadline: Instant = .never) -> Bool {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while !isOpen {
            if deadline == .never {
                unsafe pthread_cond_wait(condition, mutex)
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
            return unsafe pthread_cond_timedwait_relative_np(condition, mutex, &time) == 0
        #else
            var time = timespec()
            time.tv_sec = time_t(deadline.nanoseconds / 1_000_000_000)
            time.tv_nsec = Int(deadline.nanoseconds % 1_000_000_000)
            return unsafe pthread_cond_timedwait(condition, mutex, &time) == 0
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
