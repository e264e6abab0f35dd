package import Platform
internal import Synchronization

/// A clock that only a test advances.
package final class SimulatedClock: Clock {
    private let state: Mutex<State>

    fileprivate struct State: Sendable {
        var wall: Timestamp
        /// The time that passes with each look at the time of day.
        var pace = Duration.zero
        var now: Instant
        var wakeups: [Int: (time: Instant, action: @Sendable () -> Void)] = [:]
        var last = 0
    }

    /// Creates a clock that starts at the beginning of 2026 by default.
    package init(wall: Timestamp = Timestamp(seconds: 1_767_225_600, nanoseconds: 0)) {
        state = Mutex(State(wall: wall, now: Instant(nanoseconds: 1_000_000_000)))
    }

    package var wall: Timestamp {
        state.withLock { state in
            if state.pace != .zero { state.move(to: state.now.advanced(by: state.pace)) }
            return state.wall
        }
    }

    /// Makes time pass with each look at the time of day, as between two steps of a program.
    package func setPace(_ pace: Duration) { state.withLock { $0.pace = pace } }
    package var now: Instant { state.withLock(\.now) }

    /// Ticks of 4 ms, as on most machines.
    package var tick: Instant {
        let now = now.nanoseconds
        return Instant(nanoseconds: now - now % 4_000_000)
    }

    /// The time of the next callback, or nil if there is none.
    package var nextWakeup: Instant? { state.withLock { $0.wakeups.values.map(\.time).min() } }

    /// Sets the time of day, like an administrator or a time server.
    package func setWall(_ wall: Timestamp) { state.withLock { $0.wall = wall } }

    /// Advances the clock, and makes the calls that become due, each at its time. Calls at the same time are made in
    /// the order in which they were requested.
    package func advance(by duration: Duration) {
        let end = now.advanced(by: duration)
        while let action = takeNext(until: end) { action() }
        state.withLock { $0.move(to: end) }
    }

    package func wake(at instant: Instant, _ action: @escaping @Sendable () -> Void) -> any Wakeup {
        let number = state.withLock { state in
            state.last += 1
            state.wakeups[state.last] = (instant, action)
            return state.last
        }
        return SimulatedWakeup(clock: self, number: number)
    }

    fileprivate func cancel(_ number: Int) { state.withLock { _ = $0.wakeups.removeValue(forKey: number) } }

    private func takeNext(until end: Instant) -> (@Sendable () -> Void)? {
        state.withLock { state -> (@Sendable () -> Void)? in
            let next = state.wakeups.min { ($0.value.time, $0.key) < ($1.value.time, $1.key) }
            guard let next, next.value.time <= end else { return nil }
            state.wakeups[next.key] = nil
            state.move(to: next.value.time)
            return next.value.action
        }
    }
}

extension SimulatedClock.State {
    fileprivate mutating func move(to time: Instant) {
        guard now < time else { return }
        wall = wall.advanced(by: now.duration(to: time))
        now = time
    }
}

private struct SimulatedWakeup: Wakeup {
    let clock: SimulatedClock
    let number: Int

    func cancel() { clock.cancel(number) }
}
