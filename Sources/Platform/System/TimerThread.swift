internal import Synchronization

/// The thread that makes the calls of the clock, one after the other. It sleeps until the next one is due.
///
/// A thread, and no task, because the pool of Swift's tasks has a thread a core: where they all wait for a file,
/// nothing would be called.
final class TimerThread: Sendable {
    static let ofThisProcess = TimerThread()

    private let state = Mutex(State())

    private struct State: Sendable {
        var wakeups: [Int: (time: Instant, action: @Sendable () -> Void)] = [:]
        var last = 0
        var isRunning = false
        /// What the thread sleeps on, and until when.
        var sleep: (until: Instant, alarm: Gate)?
    }

    func wake(at instant: Instant, _ action: @escaping @Sendable () -> Void) -> any Wakeup {
        let (number, alarm, isFirst) = state.withLock { state in
            state.last += 1
            state.wakeups[state.last] = (instant, action)
            let alarm = state.sleep.flatMap { $0.until > instant ? $0.alarm : nil }
            defer { state.isRunning = true }
            return (state.last, alarm, !state.isRunning)
        }
        alarm?.open()
        if isFirst { start() }
        return SystemWakeup(thread: self, number: number)
    }

    fileprivate func cancel(_ number: Int) { state.withLock { _ = $0.wakeups.removeValue(forKey: number) } }

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
            let next = state.wakeups.min { ($0.value.time, $0.key) < ($1.value.time, $1.key) }
            if let next, next.value.time <= now {
                state.wakeups[next.key] = nil
                return .call(next.value.action)
            }
            let (until, alarm) = (next?.value.time ?? .never, Gate())
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
    let number: Int

    func cancel() { thread.cancel(number) }
}
