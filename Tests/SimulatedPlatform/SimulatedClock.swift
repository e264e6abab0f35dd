package import Platform
internal import Synchronization

/// A clock that stands still until a test moves it.
package final class SimulatedClock: Clock {
    private let state: Mutex<State>

    fileprivate struct State: Sendable {
        var wall: Timestamp
        var now: Instant
        var wakeups: [Int: (time: Instant, action: @Sendable () -> Void)] = [:]
        var last = 0
    }

    /// Begins at the first second of 2026.
    package init(wall: Timestamp = Timestamp(seconds: 1_767_225_600, nanoseconds: 0)) {
        state = Mutex(State(wall: wall, now: Instant(nanoseconds: 1_000_000_000)))
    }

    package var wall: Timestamp { state.withLock(\.wall) }
    package var now: Instant { state.withLock(\.now) }

    /// Of 4 ms, as on most machines.
    package var tick: Instant {
        let now = now.nanoseconds
        return Instant(nanoseconds: now - now % 4_000_000)
    }

    /// When the next call is due; nil if there is none.
    package var nextWakeup: Instant? { state.withLock { $0.wakeups.values.map(\.time).min() } }

    /// Sets the time of day, as an administrator or a time server does.
    package func setWall(_ wall: Timestamp) { state.withLock { $0.wall = wall } }

    /// Moves on, and makes on the way the calls that become due, each at its time, those of one time in the order in
    /// which they were asked for.
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
