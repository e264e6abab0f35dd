internal import Platform
internal import Synchronization

/// The interruption of a long-running command by a signal.
///
/// From the first wait on, signals end the wait instead of the process.
final class Interruption: Sendable {
    private let state = Mutex(State())

    private struct State: Sendable {
        var isListening = false
        var hasCome = false
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
