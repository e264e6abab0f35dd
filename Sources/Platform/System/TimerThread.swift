internal import Synchronization

/// The thread that makes the calls of the clock, one after the other. It sleeps until the next one is due.
///
/// A thread, and no task, because the pool of Swift's tasks has a thread a core: where they all wait for a file,
/// nothing would be called.
final class TimerThread: Sendable {
    static let ofThisProcess = TimerThread()

    private let state = Mutex(State())

    private struct State: Sendable {
        /// The calls to be made, the next one last.
        var calls: [Call] = []
        var last = 0
        var isRunning = false
        /// What the thread sleeps on, and until when.
        var sleep: (until: Instant, alarm: Gate)?

        /// Where a call stands, or would stand: there may be thousands, each made anew every few seconds.
        func index(of turn: Turn) -> Int {
            var range = 0..<calls.count
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                range = calls[middle].turn > turn ? middle + 1..<range.upperBound : range.lowerBound..<middle
            }
            return range.lowerBound
        }
    }

    /// When a call is to be made: of those at the same time, the one asked for first.
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
            // The next call tries again, and then those that wait are made too.
            state.withLock { $0.isRunning = false }
        }
    }

    /// Makes the next call, or sleeps until it is due or one before it comes.
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
