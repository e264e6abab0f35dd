internal import Platform
public import PropertyLists
internal import Synchronization

extension Defaults {
    /// Returns the changes of the values in force from now on, by any process, one element for each batch. If the
    /// reader is late by more than 1,000 elements, the oldest are dropped, and the next one has their number.
    public func changes() -> AsyncStream<SettingsChanges> {
        stream { changes, receive in receive(changes) }
    }

    /// Returns the changes of a key's value from now on, by default including those that this process makes. If the
    /// reader is late by more than 1,000 elements, the oldest are dropped, and the next one has their number.
    public func changes(forKey key: String, includingOwn: Bool = true) -> AsyncStream<SettingsChange> {
        stream { changes, receive in
            for change in changes.changes
            where change.key.hasSameBytes(as: key) && (includingOwn || !change.isOwn) {
                receive(change)
            }
        }
    }

    /// Returns the current values of settings, and then their values after each change of one of them.
    ///
    /// Several changes at once, such as those of a transaction, are one element. A reader that is late receives only
    /// the newest values.
    public func values<each Value: Sendable>(
        of settings: repeat Setting<each Value>
    ) -> AsyncStream<(repeat each Value)> {
        var keys: Set<Name> = []
        for setting in repeat each settings { keys.insert(Name(setting.key)) }
        let (stream, continuation) = AsyncStream.makeStream(
            of: (repeat each Value).self, bufferingPolicy: .bufferingNewest(1))
        let observation = snapshots(
            after: { [keys] changes in changes.changes.contains { keys.contains(Name($0.key)) } },
            { defaults in continuation.yield((repeat defaults[each settings])) })
        continuation.onTermination = { _ in observation.cancel() }
        return stream
    }

    /// Calls `read` now, and then after each batch of changes that satisfies a condition.
    func snapshots(
        after isRelevant: @escaping @Sendable (SettingsChanges) -> Bool = { _ in true },
        _ read: @escaping @Sendable (Defaults) -> Void
    ) -> SettingsObservation {
        let changeCount = Mutex(0)
        let observation = observe { [weak self] changes in
            guard let self, isRelevant(changes) else { return }
            changeCount.withLock { $0 += 1 }
            read(self)
        }
        // Values that were read before a change must not arrive after it as the last ones.
        var count: Int
        repeat {
            count = changeCount.withLock(\.self)
            read(self)
        } while changeCount.withLock(\.self) != count
        return observation
    }

    /// Returns the changes of a setting's value from now on. By default, changes that this process makes are included.
    ///
    /// After a value that the setting cannot have, the new value is the one in force, if it differs. If the reader is
    /// late by more than 1,000 elements, the oldest are dropped, and the next one has their number.
    public func changes<Value>(
        of setting: Setting<Value>, includingOwn: Bool = true
    ) -> AsyncStream<SettingChange<Value>> {
        // The value in force after the last change. That of an invalid one is not in the change.
        let last = Mutex(self[setting])
        return stream { [weak self] changes, receive in
            guard let self else { return }
            for change in changes.changes where change.key.hasSameBytes(as: setting.key) {
                func value(_ stored: PropertyList?) -> Value? {
                    stored.map { setting.value($0) } ?? setting.defaultValue
                }
                let (former, present) = (value(change.oldValue), value(change.newValue))
                let (old, new) = (former ?? last.withLock(\.self), present ?? self[setting])
                last.withLock { $0 = new }
                guard includingOwn || !change.isOwn else { continue }
                if former == nil || present == nil,
                    let (old, new) = try? (PropertyList.encoded(old), PropertyList.encoded(new)), old == new
                {
                    continue
                }
                let origin = present == nil ? self.origin(of: setting) : change.origin
                receive(SettingChange(oldValue: old, newValue: new, origin: origin, isOwn: change.isOwn))
            }
        }
    }

    private func stream<Element: DropCounting>(
        _ pass: @escaping @Sendable (SettingsChanges, (Element) -> Void) -> Void
    ) -> AsyncStream<Element> {
        let elements = BoundedStream<Element> { count, next in
            var next = next
            next.dropped = count
            return [next]
        }
        return elements.stream(from: observe { changes in pass(changes) { elements.append($0) } })
    }

    /// Calls `receive` with each batch of changes from now on, until the returned observation is cancelled or released.
    public func observe(_ receive: @escaping @Sendable (SettingsChanges) -> Void) -> SettingsObservation {
        // Fill the table first, because values that it does not contain yet are not changes.
        _ = refreshed { $0.values.count }
        let (number, isFirst) = table.withLock { _ in observation.add(receive) }
        if isFirst { startObserving() }
        // The observation retains the settings, so that callers need to retain only the observation.
        return SettingsObservation { [self] in
            guard observation.remove(number) else { return }
            stopObserving()
            // Another observer may have been added meanwhile.
            restartObserving()
        }
    }

    // MARK: Files

    private func startObserving() {
        let domains = stack.layers.compactMap(\.openDomain)
        watched.withLock { watched in
            guard watched.isEmpty else { return }
            watched = domains.map { domain in
                let number = domain.addObserver { [weak self] in self?.update() }
                return WatchedDomain(domain: domain, number: number)
            }
        }
        update()
    }

    func stopObserving() {
        let former = watched.withLock { watched in
            defer { watched = [] }
            return watched
        }
        for entry in former { entry.domain.removeObserver(entry.number) }
    }

    /// Watches the present layers.
    func restartObserving() {
        guard observation.hasObservers else { return }
        stopObserving()
        startObserving()
    }

    /// Updates the table, and notifies observers.
    private func update() {
        // A transaction may have changed several files, and its changes should be one batch.
        stack.checkFiles(isExact: true)
        let shared = store.shared
        refresh(shared.context.epoch.load(ordering: .acquiring), shared.system.clock.tick)
    }
}

/// A watched layer, and the identifier of its observer.
struct WatchedDomain: Sendable {
    let domain: OpenDomain
    let number: Int
}

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
    /// Whether a value is or contains a secret, which the description masks.
    let hasSecret: Bool
    /// The number of elements of the stream before this one that were dropped, because its reader was late.
    public internal(set) var dropped = 0
}

extension SettingsChange: CustomStringConvertible {
    /// The key with both values. Secrets are masked.
    public var description: String {
        func shown(_ value: PropertyList?) -> String { value.map { hasSecret ? mask : "\($0)" } ?? "no value" }
        return "\(key): \(shown(oldValue)) → \(shown(newValue))"
    }
}

/// The changes of a domain that occurred in one step.
public struct SettingsChanges: Sendable, Hashable {
    /// The domain.
    public let domain: DomainName
    /// The changes, one for each key.
    public let changes: [SettingsChange]
    /// The number of elements of the stream before this one that were dropped, because its reader was late.
    public internal(set) var dropped = 0
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
    /// The number of elements of the stream before this one that were dropped, because its reader was late.
    public internal(set) var dropped = 0
}

/// An element of a stream that says how many were dropped before it.
private protocol DropCounting: Sendable { var dropped: Int { get set } }

extension SettingsChange: DropCounting {}
extension SettingsChanges: DropCounting {}
extension SettingChange: DropCounting {}

/// An observation that continues as long as it is retained.
public final class SettingsObservation: Sendable {
    private let end: @Sendable () -> Void

    package init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    /// Ends the observation. A call in progress may continue after this returns.
    public func cancel() { end() }
}
