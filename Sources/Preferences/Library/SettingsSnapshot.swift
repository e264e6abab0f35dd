public import PropertyLists
public import SettingsSchema

/// The values in force of a domain at one time, for a request that must not see a change in its middle.
///
///     let settings = defaults.snapshot()
///     serve(settings[.timeout], settings[.limit])
///
/// Taking one copies no values. Later changes do not affect it.
public struct SettingsSnapshot: Sendable {
    /// The domain.
    public let domain: DomainName
    private let found: ValuesInForce
    private let stack: LayerStack

    fileprivate init(_ domain: DomainName, _ found: ValuesInForce, _ stack: LayerStack) {
        (self.domain, self.found, self.stack) = (domain, found, stack)
    }

    /// The value of a setting. A value of a layer that the setting cannot have is ignored.
    public subscript<Value>(setting: Setting<Value>) -> Value {
        if found.entries[setting.key] == nil, !setting.hasFormerKeys { return setting.defaultValue }
        return decoded(setting) ?? stack.resolution(of: setting).value ?? setting.defaultValue
    }

    /// Returns the value that a look-up by key found, or nil if the layers must be resolved by the declaration.
    private func decoded<Value>(_ setting: Setting<Value>) -> Value? {
        guard stack.applies(setting) else { return nil }
        return found.entries[setting.key].flatMap { try? $0.decodedStrictly(as: Value.self) }
    }

    /// The value of a key, or nil if no layer has one.
    public subscript(key: String) -> PropertyList? { found.entries[key] }

    /// All values.
    public var values: PropertyList.Dictionary {
        var values = found.entries
        values.removeAll(where: \.key.isHidden)
        return values
    }

    /// Returns the origin of a key's value, or nil if no layer has one.
    public func origin(forKey key: String) -> Origin? { found.origin(of: Name(key)) }

    /// Returns the origin of a setting's value, or nil for the setting's own default.
    public func origin<Value>(of setting: Setting<Value>) -> Origin? {
        if found.entries[setting.key] == nil, !setting.hasFormerKeys { return nil }
        if decoded(setting) != nil { return origin(forKey: setting.key) }
        return stack.resolution(of: setting).resolution.winner?.origin
    }
}

extension Defaults {
    /// Returns the present values in force, all of the same time.
    public func snapshot() -> SettingsSnapshot {
        while true {
            let snapshot = refreshed { table in
                table.frozenStack.map { SettingsSnapshot(name, table.found, $0) }
            }
            if let snapshot { return snapshot }
        }
    }
}
