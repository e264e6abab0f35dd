internal import Platform
public import PropertyLists
internal import Synchronization

/// Changes that can be examined before they are committed. They form the layer `session`.
public final class EditSession: Sendable {
    private let defaults: Defaults
    private let state: Mutex<State>

    private struct State: Sendable {
        /// The user's own values when the session began or was last committed.
        var base: PropertyList.Dictionary
        var changes: [Name: PropertyList?] = [:]
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
            guard key.isHidden else { return state.withLock { $0.changes[Name(key)] = .some(newValue) } }
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
            return SettingsChange(
                key: key, oldValue: former, newValue: new?.value, origin: new?.origin, isOwn: true,
                hasSecret: defaults.stack.hasSecret([former, new?.value], under: key))
        }
    }

    /// Discards all changes.
    public func discard() { state.withLock { $0.changes = [:] } }

    /// Makes all changes in one step, and returns when they are on the disk. Changes of other keys by other processes
    /// are preserved. Throws, and changes nothing, if a change is refused or cannot be written.
    ///
    /// - Returns: The keys of the session that other processes changed since it began. They now have the values of the
    ///   session.
    @discardableResult
    public func commit() throws -> [String] {
        try defaults.checkReentrancy(of: defaults.target, defaults.name)
        let (base, changes) = state.withLock { ($0.base, $0.changes) }
        let schema = defaults.schema
        let path = defaults.path
        let (conflicts, values) = try defaults.target.change(.write) { values in
            try path.change(&values) { values in
                let conflicts = changes.filter { key, value in
                    let current = schema.value(of: key.text, in: values)
                    return current != schema.value(of: key.text, in: base) && current != value
                }
                for (key, value) in changes { try schema.put(value, key.text, in: &values) }
                return (conflicts.map(\.key.text).sorted { $0.isBefore($1) }, values)
            }
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

/// The settings of a domain during a transaction.
public struct SettingsDraft: Sendable {
    /// The settings to which the draft is applied.
    private let defaults: Defaults
    /// The user's own values at the start of the draft.
    private let user: PropertyList.Dictionary
    /// The changes; nil for a removal.
    private(set) var changes: [Name: PropertyList?] = [:]
    /// The keys that were read. Their values must be unchanged when the draft is written.
    private(set) var read: Set<Name> = []

    init(_ defaults: Defaults, user: PropertyList.Dictionary) {
        self.defaults = defaults
        self.user = user
    }

    /// The value of a setting after the transaction.
    public subscript<Value>(setting: Setting<Value>) -> Value {
        mutating get {
            let layers = layers(of: setting.key, setting.declaration.allKeys)
            return defaults.value(of: setting, in: layers)
        }
        set {
            // A value without a stored form makes the transaction throw.
            do {
                let value = try PropertyList.encoded(newValue)
                try setting.check(value, defaults.name.text)
                put(value, setting.key)
            } catch let refusal as StoreFailure {
                refused = refused ?? refusal
            } catch {
                failure = failure ?? "\(setting.key): \(error)"
            }
        }
    }

    /// The value of a key after the transaction.
    public subscript(key: String) -> PropertyList? {
        mutating get { layers(of: key, [key])[key].winner?.value }
        set { put(newValue, key) }
    }

    /// Removes the user's own value.
    public mutating func removeObject(forKey key: String) { put(nil, key) }

    private mutating func put(_ value: PropertyList?, _ key: String) {
        guard key.isHidden else {
            changes[Name(key)] = .some(value)
            return
        }
        refused = refused ?? StoreFailure(.reservedKey(key), defaults.name.text)
    }

    /// The reason a value cannot be stored.
    private(set) var failure: String?
    /// The first violated rule.
    private(set) var refused: StoreFailure?

    /// Returns the layers for looking up a key, with the user's values of the draft.
    private mutating func layers(of key: String, _ allKeys: [String]) -> LayerStack {
        if changes[Name(key)] == nil { read.insert(Name(key)) }
        return defaults.layers(with: changes, over: user, for: allKeys)
    }

    /// Whether the values that the draft has read are unchanged.
    fileprivate func isCurrent(_ values: PropertyList.Dictionary, _ schema: EffectiveSchema?) -> Bool {
        read.allSatisfy { schema.value(of: $0.text, in: values) == schema.value(of: $0.text, in: user) }
    }

    /// Applies the changes.
    fileprivate func apply(
        to values: inout PropertyList.Dictionary, _ schema: EffectiveSchema?
    ) throws(EntryPath.Failure) {
        for (key, value) in changes { try schema.put(value, key.text, in: &values) }
    }
}

extension Defaults {
    /// Makes several changes in one step, and returns when they are on the disk.
    ///
    /// `body` is called again if another process has changed a value that it read, so that no update is lost. If it
    /// throws, nothing is changed.
    ///
    /// `body` must change the domain only through its draft: any other change of the same domain fails with
    /// ``StoreFailure/Problem/reentrant``. A transaction of another domain inside `body` is on the disk before this
    /// one, and is repeated when `body` is called again.
    @discardableResult
    public func transaction<Result>(_ body: (inout SettingsDraft) throws -> Result) throws -> Result {
        try checkReentrancy(of: target, name)
        for _ in 0..<10_000 {
            target.checkFile(isExact: true)
            var draft = SettingsDraft(self, user: ownValues)
            defer { observation.deliver() }
            let result = try target.inTransaction { try body(&draft) }
            if let refused = draft.refused { throw refused }
            if let failure = draft.failure { throw StoreFailure(.notAllowed(failure), name.text) }
            if try write(draft, .write) { return result }
        }
        throw StoreFailure(.notCurrent, name.text)
    }

    /// Throws in the body of a transaction of a domain. A change there would make the transaction start again.
    func checkReentrancy(of domain: OpenDomain, _ name: DomainName) throws(StoreFailure) {
        if domain.isInTransaction { throw StoreFailure(.reentrant, name.text) }
    }

    /// The user's own values, under the present keys.
    var ownValues: PropertyList.Dictionary {
        let values = target.snapshot().values
        return path.values(in: inForce.whole?.rules.underPresentKeys(values) ?? values)
    }

    /// Writes a draft. Returns false if a value that it read has changed.
    private func write(_ draft: SettingsDraft, _ reason: WriteReason) throws -> Bool {
        let schema = schema
        return try target.change(reason) { [path] values in
            try path.change(&values) { values in
                guard draft.isCurrent(values, schema) else { return false }
                try draft.apply(to: &values, schema)
                return true
            }
        }
    }
}

extension OpenDomain {
    /// Runs the body of a transaction.
    fileprivate func inTransaction<Result>(_ body: () throws -> Result) rethrows -> Result {
        let thread = ThreadIdentity.current
        state.withLock { _ = $0.threadsInTransaction.insert(thread) }
        defer { state.withLock { _ = $0.threadsInTransaction.remove(thread) } }
        return try body()
    }

    /// Whether this thread runs the body of a transaction of the domain. A task that the body has started does not.
    var isInTransaction: Bool {
        state.withLock { $0.threadsInTransaction.contains(ThreadIdentity.current) }
    }
}
