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
