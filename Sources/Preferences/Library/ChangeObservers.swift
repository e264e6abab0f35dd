internal import Synchronization

/// The observers of changes, and the changes that are still to be delivered.
///
/// Batches are delivered one after the other in the order in which they occurred, without a lock held.
final class ChangeObservers: Sendable {
    private let state = Mutex(State())

    private struct State: Sendable {
        var observers: [Int: @Sendable (SettingsChanges) -> Void] = [:]
        var last = 0
        var waiting: [SettingsChanges] = []
        var isTelling = false
    }

    var hasObservers: Bool { state.withLock { !$0.observers.isEmpty } }

    /// Adds an observer. Returns its identifier, and whether it is the only one.
    func add(_ observer: @escaping @Sendable (SettingsChanges) -> Void) -> (number: Int, isFirst: Bool) {
        state.withLock { state in
            state.last += 1
            state.observers[state.last] = observer
            return (state.last, state.observers.count == 1)
        }
    }

    /// Removes an observer. Returns whether none is left.
    func remove(_ number: Int) -> Bool {
        state.withLock { state in
            state.observers[number] = nil
            return state.observers.isEmpty
        }
    }

    /// Records a batch for delivery. Batches are delivered in the order of these calls.
    func note(_ changes: [SettingsChange], of domain: DomainName) {
        state.withLock { $0.waiting.append(SettingsChanges(domain: domain, changes: changes)) }
    }

    /// Delivers the recorded batches. The caller must not hold a lock.
    func deliver() {
        let isFirst = state.withLock { state in
            defer { state.isTelling = true }
            return !state.isTelling
        }
        // A delivery that is in progress continues with the new batches.
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
