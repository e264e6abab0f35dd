// Unsafe: the system writes the time to a variable.
internal import Synchronization

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
        unsafe clock_gettime(clock, &time)
        return time
    }
}

/// The thread that runs the callbacks of the clock, one at a time. It sleeps until the next one is due.
///
/// It is a thread and not a task because Swift's task pool has one thread per core: if all of them block on files, no
/// callback would run.
final class TimerThread: Sendable {
    static let ofThisProcess = TimerThread()

    private let state = Mutex(State())

    private struct State: Sendable {
        /// The pending calls, the next one last.
        var calls: [Call] = []
        var last = 0
        var isRunning = false
        /// The gate that the thread sleeps on, and the time when it wakes up.
        var sleep: (until: Instant, alarm: Gate)?

        /// Returns the index of a call, or its insertion point. A binary search, since there may be thousands of calls,
        /// each renewed every few seconds.
        func index(of turn: Turn) -> Int {
            var range = 0..<calls.count
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                range = calls[middle].turn > turn ? middle + 1..<range.upperBound : range.lowerBound..<middle
            }
            return range.lowerBound
        }
    }

    /// The order of calls: by time, then in the order in which they were requested.
    fileprivate struct Turn: Comparable {
        let time: Instant
        let number: Int

        static func < (left: Turn, right: Turn) -> Bool { (left.time, left.number) < (right.time, right.number) }
    }

    private struct Call: Sendable {
        let turn: Turn
        let action: @Sendable () -> Void
    }

    func wake(at instant: Instant, _ action: @escaping @Sendable () -> Void) -> any Wakeup {
        let (turn, alarm, isFirst) = state.withLock { state in
            state.last += 1
            let turn = Turn(time: instant, number: state.last)
            state.calls.insert(Call(turn: turn, action: action), at: state.index(of: turn))
            let alarm = state.sleep.flatMap { $0.until > instant ? $0.alarm : nil }
            defer { state.isRunning = true }
            return (turn, alarm, !state.isRunning)
        }
        alarm?.open()
        if isFirst { start() }
        return SystemWakeup(thread: self, turn: turn)
    }

    fileprivate func cancel(_ turn: Turn) {
        state.withLock { state in
            let index = state.index(of: turn)
            if index < state.calls.count, state.calls[index].turn == turn { state.calls.remove(at: index) }
        }
    }

    private func start() {
        do throws(SystemFailure) {
            try startThread { [self] in
                while true { runNext() }
            }
        } catch {
            // The next call to `wake` tries again; the pending calls then run too.
            state.withLock { $0.isRunning = false }
        }
    }

    /// Runs the next call, or sleeps until it is due or an earlier one is added.
    private func runNext() {
        let now = SystemClock().now
        enum Step { case call(@Sendable () -> Void), sleep(Instant, Gate) }
        let step = state.withLock { state -> Step in
            state.sleep = nil
            if let next = state.calls.last, next.turn.time <= now {
                state.calls.removeLast()
                return .call(next.action)
            }
            let (until, alarm) = (state.calls.last?.turn.time ?? .never, Gate())
            state.sleep = (until, alarm)
            return .sleep(until, alarm)
        }
        switch step {
        case .call(let action): action()
        case .sleep(let until, let alarm): _ = alarm.wait(until: until)
        }
    }
}

private struct SystemWakeup: Wakeup {
    let thread: TimerThread
    let turn: TimerThread.Turn

    func cancel() { thread.cancel(turn) }
}
