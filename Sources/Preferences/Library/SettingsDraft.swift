public import PropertyLists

/// The settings of a domain while they are changed in one step.
public struct SettingsDraft: Sendable {
    /// What is in force below the draft.
    private let defaults: Defaults
    /// The user's own values as the draft found them.
    private let user: PropertyList.Dictionary
    /// What the draft changes; nil for a removal.
    private(set) var changes: [ExactKey: PropertyList?] = [:]
    /// The keys that were looked at, whose values must still be the same when the draft is written.
    private(set) var read: Set<ExactKey> = []

    init(_ defaults: Defaults, user: PropertyList.Dictionary) {
        self.defaults = defaults
        self.user = user
    }

    /// The setting as it will be after the transaction.
    public subscript<Value>(setting: Setting<Value>) -> Value {
        mutating get { (try? self.value(setting.key)?.decodedStrictly(as: Value.self)) ?? setting.defaultValue }
        set {
            // A value that has no stored form leaves the draft invalid, and the transaction throws.
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

    /// The value of a key, as it is in force or was changed by the draft.
    public subscript(key: String) -> PropertyList? {
        mutating get { value(key) }
        set { put(newValue, key) }
    }

    /// Removes the user's own value.
    public mutating func removeObject(forKey key: String) { put(nil, key) }

    private mutating func put(_ value: PropertyList?, _ key: String) {
        guard key.isHidden else {
            changes[ExactKey(key)] = .some(value)
            return
        }
        refused = refused ?? StoreFailure(.ownKey(key), defaults.name.text)
    }

    /// Why what was set cannot be written.
    private(set) var failure: String?
    /// The rule that a value breaks.
    private(set) var refused: StoreFailure?

    private mutating func value(_ key: String) -> PropertyList? {
        if let change = changes[ExactKey(key)] { return change }
        read.insert(ExactKey(key))
        // The user's own value may be newer than the table, and is what the draft is compared with.
        if let value = defaults.value(key), defaults.origin(forKey: key)?.layer != .user { return value }
        return user[key]
    }

    /// Whether the values that the draft was made from are still there.
    func isCurrent(_ values: PropertyList.Dictionary) -> Bool { read.allSatisfy { values[$0.text] == user[$0.text] } }

    /// Changes the values as the draft says.
    func apply(to values: inout PropertyList.Dictionary) {
        for (key, value) in changes { values[key.text] = value }
    }
}

extension Defaults {
    /// Changes several values in one step, which is on the disk once this has returned.
    ///
    /// `body` runs again if somebody else has changed meanwhile what it looked at, so that no update is lost. What it
    /// throws leaves all as it was.
    @discardableResult
    public func transaction<Result>(_ body: (inout SettingsDraft) throws -> Result) throws -> Result {
        for _ in 0..<10_000 {
            target.look(isExact: true)
            var draft = SettingsDraft(self, user: ownValues)
            let result = try body(&draft)
            if let refused = draft.refused { throw refused }
            if let failure = draft.failure { throw StoreFailure(.notAllowed(failure), name.text) }
            if try write(draft, .write) { return result }
        }
        throw StoreFailure(.notCurrent, name.text)
    }

    /// The user's own values, under the keys that they have now.
    var ownValues: PropertyList.Dictionary {
        let values = target.snapshot().values
        return schema?.rules.underPresentKeys(values) ?? values
    }

    /// Writes a draft; false if what it was made from has changed.
    private func write(_ draft: SettingsDraft, _ reason: WriteReason) throws -> Bool {
        try target.change(reason) { values in
            guard draft.isCurrent(values) else { return false }
            draft.apply(to: &values)
            return true
        }
    }
}
