internal import Platform
internal import Synchronization

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
        if isFirst { awaitSignal(endingSignals) { [self] _ in come() } }
        if !state.withLock(\.hasCome) { _ = gate.wait() }
        return !state.withLock(\.hasCome)
    }

    private func come() {
        state.withLock { state in
            state.hasCome = true
            return state.gate
        }?.open()
    }
}
