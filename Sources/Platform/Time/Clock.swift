/// What time it is, and being called at one.
package protocol Clock: Sendable {
    /// The time of day. It jumps.
    var wall: Timestamp { get }

    /// The time that durations are measured by.
    var now: Instant { get }

    /// The same, as of the last tick of at most 10 ms: several times as cheap to ask.
    var tick: Instant { get }

    /// Calls `action` once it is `instant`, unless the result is cancelled before.
    ///
    /// All calls of a process come from one thread: `action` looks, decides and starts things, but waits for nothing.
    func wake(at instant: Instant, _ action: @escaping @Sendable () -> Void) -> any Wakeup
}

/// A call that is still to come.
package protocol Wakeup: Sendable {
    /// Lets the call be. One that has begun goes on.
    func cancel()
}

extension Clock {
    /// Returns once it is `instant`, or at once when the task is cancelled.
    package func wait(until instant: Instant) async throws(CancellationError) {
        let (wakeups, continuation) = AsyncStream.makeStream(of: Void.self)
        let wakeup = wake(at: instant) { continuation.finish() }
        // The stream also ends with the task, which is what makes the wait cancellable.
        for await _ in wakeups {}
        wakeup.cancel()
        if Task.isCancelled { throw CancellationError() }
    }
}
