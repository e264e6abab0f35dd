#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// An event that one thread opens once, for good, and others wait for.
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
