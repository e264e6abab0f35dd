internal import Platform
public import PropertyLists
internal import Synchronization

/// The settings of a domain during a transaction.
public struct SettingsDraft: Sendable {
    /// The settings to which the draft is applied.
    private let defaults: Defaults
    /// The user's own values at the start of the draft.
    private let user: PropertyList.Dictionary
    /// The changes; nil for a removal.
    private(set) var changes: [ExactKey: PropertyList?] = [:]
    /// The keys that were read. Their values must be unchanged when the draft is written.
    private(set) var read: Set<ExactKey> = []

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
            changes[ExactKey(key)] = .some(value)
            return
        }
        refused = refused ?? StoreFailure(.reservedKey(key), defaults.name.text)
    }

    /// The reason a value cannot be stored.
    private(set) var failure: String?
    /// The first violated rule.
    private(set) var refused: StoreFailure?

    /// Returns the layers that are asked for a key, with the user's values of the draft.
    private mutating func layers(of key: String, _ allKeys: [String]) -> LayerStack {
        if changes[ExactKey(key)] == nil { read.insert(ExactKey(key)) }
        return defaults.layers(with: changes, over: user, for: allKeys)
    }

    /// Whether the values that the draft has read are unchanged.
    func isCurrent(_ values: PropertyList.Dictionary) -> Bool { read.allSatisfy { values[$0.text] == user[$0.text] } }

    /// Applies the changes.
    func apply(to values: inout PropertyList.Dictionary) {
        for (key, value) in changes { values[key.text] = value }
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
            target.look(isExact: true)
            var draft = SettingsDraft(self, user: ownValues)
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
        return schema?.rules.underPresentKeys(values) ?? values
    }

    /// Writes a draft. Returns false if a value that it read has changed.
    private func write(_ draft: SettingsDraft, _ reason: WriteReason) throws -> Bool {
        try target.change(reason) { values in
            guard draft.isCurrent(values) else { return false }
            draft.apply(to: &values)
            return true
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
    fileprivate var isInTransaction: Bool {
        state.withLock { $0.threadsInTransaction.contains(ThreadIdentity.current) }
    }
}
