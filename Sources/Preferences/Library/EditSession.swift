public import PropertyLists
internal import Synchronization

/// Changes that can be examined before they are committed. They form the layer `session`.
public final class EditSession: Sendable {
    private let defaults: Defaults
    private let state: Mutex<State>

    private struct State: Sendable {
        /// The user's own values when the session began or was last committed.
        var base: PropertyList.Dictionary
        var changes: [ExactKey: PropertyList?] = [:]
    }

    init(_ defaults: Defaults) {
        self.defaults = defaults
        state = Mutex(State(base: defaults.ownValues))
    }

    /// The value of a setting after a commit.
    public subscript<Value>(setting: Setting<Value>) -> Value {
        get { defaults.value(of: setting, in: layers(of: setting.declaration.allKeys)) }
        set {
            do {
                let value = try PropertyList.encoded(newValue)
                try setting.check(value, defaults.name.text)
                self[setting.key] = value
            } catch {
                defaults.post(refusal: error, of: setting.key)
            }
        }
    }

    /// The value of a key after a commit.
    public subscript(key: String) -> PropertyList? {
        get { layers(of: [key])[key].winner?.value }
        set {
            guard key.isHidden else { return state.withLock { $0.changes[ExactKey(key)] = .some(newValue) } }
            defaults.post(refusal: StoreFailure(.reservedKey(key), defaults.name.text), of: key)
        }
    }

    /// Returns the origin of a key's value after a commit.
    public func origin(forKey key: String) -> Origin? {
        layers(of: [key])[key].winner?.origin
    }

    private func layers(of keys: [String]) -> LayerStack {
        defaults.layers(with: state.withLock(\.changes), over: defaults.ownValues, for: keys)
    }

    /// The changes of a commit, sorted by key.
    public var changes: [SettingsChange] {
        state.withLock(\.changes).keys.map(\.text).sorted { $0.isBefore($1) }.compactMap { key in
            let (former, new) = (defaults.value(key), layers(of: [key])[key].winner)
            guard former != new?.value else { return nil }
            return SettingsChange(key: key, oldValue: former, newValue: new?.value, origin: new?.origin, isOwn: true)
        }
    }

    /// Discards all changes.
    public func discard() { state.withLock { $0.changes = [:] } }

    /// Makes all changes in one step, and returns when they are on the disk. Changes of other keys by other processes
    /// are kept. Throws, and changes nothing, if a change is refused or cannot be written.
    ///
    /// - Returns: The keys of the session that other processes changed since it began. They now have the values of the
    ///   session.
    @discardableResult
    public func commit() throws -> [String] {
        try defaults.checkReentrancy(of: defaults.target, defaults.name)
        let (base, changes) = state.withLock { ($0.base, $0.changes) }
        let (conflicts, values) = try defaults.target.change(.write) { values in
            let conflicts = changes.filter {
                values[$0.key.text] != base[$0.key.text] && values[$0.key.text] != $0.value
            }
            for (key, value) in changes { values[key.text] = value }
            return (conflicts.map(\.key.text).sorted { $0.isBefore($1) }, values)
        }
        state.withLock { state in
            state.base = values
            // Changes made during the commit remain in the session.
            for (key, value) in changes where state.changes[key] == .some(value) { state.changes[key] = nil }
        }
        return conflicts
    }
}

extension Defaults {
    /// Begins an edit session, whose changes can be examined before they are committed or discarded.
    public func edit() -> EditSession { EditSession(self) }
}
