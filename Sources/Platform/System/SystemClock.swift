#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

package struct SystemClock: Clock {
    package init() {}

    package var wall: Timestamp { Timestamp(time(of: CLOCK_REALTIME)) }
    package var now: Instant { Instant(time(of: CLOCK_MONOTONIC)) }

    package var tick: Instant {
        #if canImport(Darwin)
            Instant(time(of: CLOCK_MONOTONIC_RAW_APPROX))
        #else
            Instant(time(of: CLOCK_MONOTONIC_COARSE))
        #endif
    }

    package func wake(at instant: Instant, _ action: @escaping @Sendable () -> Void) -> any Wakeup {
        TimerThread.ofThisProcess.wake(at: instant, action)
    }

    private func time(of clock: clockid_t) -> timespec {
        var time = timespec()
        // This fails only for an unknown clock.
        clock_gettime(clock, &time)
        return time
    }
}
