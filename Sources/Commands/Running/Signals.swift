internal import Platform
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The signals that ask a command to end.
let endingSignals = [SIGINT, SIGTERM, SIGHUP]

/// Calls `action` on a separate thread with the first of the signals. The signals are blocked in all other threads, so
/// none is lost or runs a handler. Signals that are ignored, for example by `nohup`, stay ignored.
func awaitSignal(_ numbers: [Int32], _ action: @escaping @Sendable (Int32) -> Void) {
    let awaited = sigset_t(of: numbers.filter { !isIgnored($0) })
    var blocked = awaited
    pthread_sigmask(SIG_BLOCK, &blocked, nil)
    runOnNewThread {
        var (signals, number) = (awaited, Int32(0))
        sigwait(&signals, &number)
        action(number)
    }
}

/// The interruption of a long-running command by a signal.
///
/// From the first wait on, signals end the wait instead of the process.
final class Interruption: Sendable {
    private let state = Mutex(State())

    private struct State: Sendable {
        var isListening = false
        var isInterrupted = false
        /// The gate that the command waits for.
        var gate: Gate?
    }

    /// Waits until the gate opens. Returns false if the command was interrupted.
    func wait(for gate: Gate) -> Bool {
        let isFirst = state.withLock { state in
            state.gate = gate
            defer { state.isListening = true }
            return !state.isListening
        }
        if isFirst { awaitSignal(endingSignals) { [self] _ in interrupt() } }
        if !state.withLock(\.isInterrupted) { _ = gate.wait() }
        return !state.withLock(\.isInterrupted)
    }

    /// Interrupts the command when the reader of its output, a pipe or a socket, has gone away.
    func followReader() {
        var status = stat()
        guard fstat(1, &status) == 0, [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) else { return }
        runOnNewThread { [self] in
            // A pipe without a reader has an error.
            var output = pollfd(fd: 1, events: 0, revents: 0)
            while poll(&output, 1, -1) != 1 { if errno != EINTR { return } }
            interrupt()
        }
    }

    private func interrupt() {
        state.withLock { state in
            state.isInterrupted = true
            return state.gate
        }?.open()
    }
}

/// Delays the signals that end a command while it writes, so that it leaves no temporary file.
final class InterruptDelay: Sendable {
    /// The previous signal mask; nil while signals are not delayed.
    private let former = Mutex<sigset_t?>(nil)

    /// Starts or ends the delay. Must always be called on the same thread.
    func set(_ isOn: Bool) {
        former.withLock { former in
            if isOn, former == nil {
                var (signals, before) = (sigset_t(of: endingSignals), sigset_t())
                pthread_sigmask(SIG_BLOCK, &signals, &before)
                former = before
            } else if !isOn, var before = former.take() {
                pthread_sigmask(SIG_SETMASK, &before, nil)
            }
        }
    }
}
