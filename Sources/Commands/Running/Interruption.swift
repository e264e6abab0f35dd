internal import Platform
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The wish of the user, or of the system, that a command which runs on and on come to its end.
///
/// From the first wait on, the signals end a wait and not the process.
final class Interruption: Sendable {
    private let state = Mutex(State())

    private struct State: Sendable {
        var isListening = false
        var hasCome = false
        /// What the command waits for now.
        var gate: Gate?
    }

    /// Returns once the gate is open, or false once the end is wished for.
    func wait(for gate: Gate) -> Bool {
        let isFirst = state.withLock { state in
            state.gate = gate
            defer { state.isListening = true }
            return !state.isListening
        }
        if isFirst { listen() }
        if !state.withLock(\.hasCome) { _ = gate.wait() }
        return !state.withLock(\.hasCome)
    }

    private func come() {
        state.withLock { state in
            state.hasCome = true
            return state.gate
        }?.open()
    }

    /// Takes the signals on a thread of its own: all other threads have them blocked, so none is lost or runs a handler.
    private func listen() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] where !Self.isIgnored(signal) { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let listened = signals
        runApart { [self] in
            var (signals, number) = (listened, Int32(0))
            sigwait(&signals, &number)
            come()
        }
    }

    /// Whether whoever started the command wants it to go on whatever comes, as `nohup` does.
    static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        #if os(Linux)
            return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
                == unsafeBitCast(SIG_IGN, to: Int.self)
        #else
            return unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self)
                == unsafeBitCast(SIG_IGN, to: Int.self)
        #endif
    }
}
