public import PropertyLists
internal import Synchronization

/// Changes that can be looked at before they are made: the layer `session`.
public final class EditSession: Sendable {
    private let defaults: Defaults
    private let state: Mutex<State>

    private struct State: Sendable {
        /// The user's own values when the session began, or was last committed.
        var base: PropertyList.Dictionary
        var changes: [ExactKey: PropertyList?] = [:]
    }

    init(_ defaults: Defaults) {
        self.defaults = defaults
        state = Mutex(State(base: defaults.ownValues))
    }

    /// The setting as it will be once the session is committed.
    public subscript<Value>(setting: Setting<Value>) -> Value {
        get { (try? self[setting.key]?.decodedStrictly(as: Value.self)) ?? setting.defaultValue }
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

    /// The value of a key as it will be.
    public subscript(key: String) -> PropertyList? {
        get { state.withLock { $0.changes[ExactKey(key)] } ?? defaults.value(key) }
        set {
            guard key.isHidden else { return state.withLock { $0.changes[ExactKey(key)] = .some(newValue) } }
            defaults.post(refusal: StoreFailure(.ownKey(key), defaults.name.text), of: key)
        }
    }

    /// Where the value of a key will come from.
    public func origin(forKey key: String) -> Origin? {
        let isChanged = state.withLock { $0.changes[ExactKey(key)] != nil }
        return isChanged ? Origin(.session) : defaults.origin(forKey: key)
    }

    /// What a commit would change, sorted by key.
    public var changes: [SettingsChange] {
        state.withLock(\.changes).sorted { $0.key.text.isBefore($1.key.text) }.compactMap { key, value in
            let former = defaults.value(key.text)
            guard former != value else { return nil }
            return SettingsChange(
                key: key.text, oldValue: former, newValue: value, origin: value.map { _ in Origin(.session) },
                isOwn: true)
        }
    }

    /// Lets all changes go.
    public func discard() { state.withLock { $0.changes = [:] } }

    /// Makes all changes in one step, on the disk once this has returned. What others have written under other keys
    /// meanwhile stays.
    ///
    /// - Returns: The keys that others have changed as well since the session began. They have the session's values
    ///   now.
    @discardableResult
    public func commit() throws -> [String] {
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
            // What was changed while the commit went on is still to be committed.
            for (key, value) in changes where state.changes[key] == .some(value) { state.changes[key] = nil }
        }
        return conflicts
    }
}

extension Defaults {
    /// Begins changes that can be looked at before they are made, or let go.
    public func edit() -> EditSession { EditSession(self) }
}
