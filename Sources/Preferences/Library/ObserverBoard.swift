internal import Synchronization

/// Who wants to hear of changes, and what is still to be told to them.
///
/// Batches are told in the order in which they came, one after the other, and without a lock held.
final class ObserverBoard: Sendable {
    private let state = Mutex(State())

    private struct State: Sendable {
        var observers: [Int: @Sendable (SettingsChanges) -> Void] = [:]
        var last = 0
        var waiting: [SettingsChanges] = []
        var isTelling = false
    }

    var hasObservers: Bool { state.withLock { !$0.observers.isEmpty } }

    /// The observer's number, and whether it is the only one.
    func add(_ observer: @escaping @Sendable (SettingsChanges) -> Void) -> (number: Int, isFirst: Bool) {
        state.withLock { state in
            state.last += 1
            state.observers[state.last] = observer
            return (state.last, state.observers.count == 1)
        }
    }

    /// Whether nobody is left.
    func remove(_ number: Int) -> Bool {
        state.withLock { state in
            state.observers[number] = nil
            return state.observers.isEmpty
        }
    }

    /// Notes a batch that is to be told. In the order of the calls, so call it where the changes are found.
    func note(_ changes: [SettingsChange], of domain: DomainName) {
        state.withLock { $0.waiting.append(SettingsChanges(domain: domain, changes: changes)) }
    }

    /// Tells what was noted, with no lock held by the caller.
    func tell() {
        let isFirst = state.withLock { state in
            defer { state.isTelling = true }
            return !state.isTelling
        }
        // Whoever tells already goes on with what came since.
        guard isFirst else { return }
        while let (batch, observers) = next() {
            for observer in observers { observer(batch) }
        }
    }

    private func next() -> (SettingsChanges, [@Sendable (SettingsChanges) -> Void])? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isTelling = false
                return nil
            }
            let batch = state.waiting.removeFirst()
            return (batch, state.observers.sorted { $0.key < $1.key }.map(\.value))
        }
    }
}
