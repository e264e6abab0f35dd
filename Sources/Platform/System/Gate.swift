#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Something that one thread waits for and another one opens, once and for good.
///
/// It is Sendable because `isOpen` is touched under the mutex only, and the C library's objects are made for threads.
package final class Gate: @unchecked Sendable {
    // In memory of their own, since they must not move.
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
            // Without this a jump of the wall clock would lengthen the wait.
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

    /// Returns once the gate is open, or at `deadline`, and says whether it is.
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

    /// Waits for one call; false once it is too late.
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
