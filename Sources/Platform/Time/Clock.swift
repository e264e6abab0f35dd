#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The current time, and callbacks at a given time.
package protocol Clock: Sendable {
    /// The time of day. It can jump in either direction.
    var wall: Timestamp { get }

    /// The monotonic time.
    var now: Instant { get }

    /// The monotonic time as of the last clock tick, at most 10 ms old; several times cheaper than `now`.
    var tick: Instant { get }

    /// Calls `action` at `instant`, unless the returned wakeup is cancelled first.
    ///
    /// All callbacks of a process run on one thread, so `action` must not block.
    func wake(at instant: Instant, _ action: @escaping @Sendable () -> Void) -> any Wakeup
}

/// Runs work that may wait for files, on another thread than that of the callbacks of a clock.
package typealias Background = @Sendable (@escaping @Sendable () -> Void) -> Void

/// A pending callback.
package protocol Wakeup: Sendable {
    /// Cancels the callback. A callback that has already started continues.
    func cancel()
}

extension Clock {
    /// Returns at `instant`; throws `CancellationError` as soon as the task is cancelled.
    package func wait(until instant: Instant) async throws(CancellationError) {
        let (wakeups, continuation) = AsyncStream.makeStream(of: Void.self)
        let wakeup = wake(at: instant) { continuation.finish() }
        // The stream also ends when the task is cancelled.
        for await _ in wakeups {}
        wakeup.cancel()
        if Task.isCancelled { throw CancellationError() }
    }
}

/// A time of the wall clock, in nanoseconds since 1970-01-01 UTC, as file systems store it.
///
/// The wall clock can jump and run backward. Use it to record when something happened, never to measure a duration.
package struct Timestamp: Hashable, Sendable, Comparable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Creates a timestamp, clamped to the years 1677 to 2262, which an `Int64` can represent.
    package init(seconds: Int64, nanoseconds: Int64) {
        let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carries) = whole.addingReportingOverflow(nanoseconds)
        self.nanoseconds = overflows || carries ? (seconds < 0 ? .min : .max) : sum
    }

    package init(_ date: Date) {
        let (seconds, whole) = (date.timeIntervalSince1970, date.timeIntervalSince1970.rounded(.down))
        self.init(
            seconds: Int64(exactly: whole) ?? (whole < 0 ? .min : .max), nanoseconds: Int64((seconds - whole) * 1e9))
    }

    package var milliseconds: Int64 { nanoseconds / 1_000_000 }

    package var date: Date { Date(timeIntervalSince1970: Double(nanoseconds) / 1e9) }

    package func advanced(by duration: Duration) -> Timestamp {
        Timestamp(nanoseconds: nanoseconds.addingClamped(duration.nanoseconds))
    }

    package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension Timestamp: CustomStringConvertible {
    package var description: String { date.ISO8601Format() }
}

/// A time of the monotonic clock, in nanoseconds since an arbitrary start.
package struct Instant: Hashable, Sendable, Comparable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// A time that never comes.
    package static let never = Instant(nanoseconds: .max)

    package func advanced(by duration: Duration) -> Instant {
        Instant(nanoseconds: nanoseconds.addingClamped(duration.nanoseconds))
    }

    package func duration(to other: Instant) -> Duration { .nanoseconds(other.nanoseconds - nanoseconds) }

    package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension Duration {
    /// The duration in whole nanoseconds, clamped to the range of `Int64`.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return Timestamp(seconds: seconds, nanoseconds: attoseconds / 1_000_000_000).nanoseconds
    }
}

extension Int64 {
    /// Returns the sum, clamped to the range of `Int64`.
    func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }
}
