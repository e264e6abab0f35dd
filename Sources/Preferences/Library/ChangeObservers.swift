public import PropertyLists
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
        var isDelivering = false
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
    func record(_ changes: [SettingsChange], of domain: DomainName) {
        state.withLock { $0.waiting.append(SettingsChanges(domain: domain, changes: changes)) }
    }

    /// Delivers the recorded batches. The caller must not hold a lock.
    func deliver() {
        let isFirst = state.withLock { state in
            defer { state.isDelivering = true }
            return !state.isDelivering
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
                state.isDelivering = false
                return nil
            }
            let batch = state.waiting.removeFirst()
            return (batch, state.observers.sorted { $0.key < $1.key }.map(\.value))
        }
    }
}

/// The last changed keys, with a version for each change.
struct ChangeLog: Sendable {
    private(set) var version: UInt64 = 1
    private var recent: [Change] = []

    struct Change: Sendable {
        let key: String
        /// Whether this process made the change.
        let isOwn: Bool
    }

    private static let most = 512

    /// Records a change. Returns its version.
    @discardableResult
    mutating func record(_ key: String, isOwn: Bool) -> UInt64 {
        // Removes half of the entries at a time, so that the average cost of a change is constant.
        if recent.count == Self.most { recent.removeFirst(Self.most / 2) }
        recent.append(Change(key: key, isOwn: isOwn))
        version += 1
        return version
    }

    /// Returns the changes since a version, or nil if they are no longer known.
    func changes(since former: UInt64) -> [Change]? {
        let count = version - former
        return count <= recent.count ? Array(recent.suffix(Int(count))) : nil
    }
}

/// A change of a key's value.
public struct SettingsChange: Sendable, Hashable {
    /// The key.
    public let key: String
    /// The previous value, or nil if there was none.
    public let oldValue: PropertyList?
    /// The new value, or nil if there is none.
    public let newValue: PropertyList?
    /// The origin of the new value, or nil if there is none.
    public let origin: Origin?
    /// Whether this process made the change.
    public let isOwn: Bool
}

/// The changes of a domain that occurred in one step.
public struct SettingsChanges: Sendable, Hashable {
    /// The domain.
    public let domain: DomainName
    /// The changes, one for each key.
    public let changes: [SettingsChange]
}

/// A change of a setting's value.
public struct SettingChange<Value: Sendable>: Sendable {
    /// The previous value.
    public let oldValue: Value
    /// The new value.
    public let newValue: Value
    /// The origin of the new value, or nil for the setting's default.
    public let origin: Origin?
    /// Whether this process made the change.
    public let isOwn: Bool
}

/// An observation that continues as long as it is retained.
public final class SettingsObservation: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    /// Ends the observation. A call in progress may continue after this returns.
    public func cancel() { end() }
}
