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
    /// The settings to which reads are reported, if there was an observer of reads.
    private let observed: Defaults?

    fileprivate init(_ defaults: Defaults, _ found: ValuesInForce, _ stack: LayerStack) {
        (domain, self.found, self.stack) = (defaults.name, found, stack)
        observed = defaults.reads.isActive ? defaults : nil
    }

    /// The value of a setting. A value of a layer that the setting cannot have is ignored.
    public subscript<Value>(setting: Setting<Value>) -> Value {
        let value = present(setting)
        if let observed, observed.reads.isActive {
            observed.report(reading: setting, value, from: origin(of: setting))
        }
        return value
    }

    private func present<Value>(_ setting: Setting<Value>) -> Value {
        if found.entries[setting.key] == nil, !setting.hasFormerKeys, stack.valueOfVariable(setting.key) == nil {
            return setting.defaultValue
        }
        return decoded(setting) ?? stack.resolution(of: setting).value ?? setting.defaultValue
    }

    /// Returns the value that a look-up by key found, or nil if the layers must be resolved by the declaration.
    private func decoded<Value>(_ setting: Setting<Value>) -> Value? {
        guard stack.applies(setting) else { return nil }
        return found.entries[setting.key].flatMap { try? $0.decodedStrictly(as: Value.self) }
    }

    /// The value of a key, or nil if no layer has one.
    public subscript(key: String) -> PropertyList? {
        let value = found.entries[key] ?? stack.valueOfVariable(key)?.value
        if let observed, observed.reads.isActive {
            observed.report(reading: key, value, from: origin(forKey: key), stack.declaration(of: key))
        }
        return value
    }

    /// All values.
    public var values: PropertyList.Dictionary {
        var values = found.entries
        values.removeAll(where: \.key.isHidden)
        return values
    }

    /// Returns the origin of a key's value, or nil if no layer has one.
    public func origin(forKey key: String) -> Origin? {
        found.origin(of: Name(key)) ?? stack.valueOfVariable(key)?.origin
    }

    /// Returns the origin of a setting's value, or nil for the setting's own default.
    public func origin<Value>(of setting: Setting<Value>) -> Origin? {
        if found.entries[setting.key] == nil, !setting.hasFormerKeys {
            return stack.valueOfVariable(setting.key)?.origin
        }
        if decoded(setting) != nil { return origin(forKey: setting.key) }
        return stack.resolution(of: setting).resolution.winner?.origin
    }
}

extension SettingsSnapshot: CustomStringConvertible {
    /// The values of the domain. Secrets are masked.
    public var description: String {
        let shown = PropertyList.Dictionary(values.map { ($0.key, stack.masked($0.value, under: $0.key)) })
        return "\(domain.text): \(PropertyList.dictionary(shown))"
    }
}

extension Defaults {
    /// The number of times that a snapshot uses the table of values, which others may change in between.
    private static let mostAttempts = 8

    /// Returns the present values in force, all of the same time.
    public func snapshot() -> SettingsSnapshot {
        for _ in 0..<Self.mostAttempts {
            let snapshot = refreshed { table in
                table.frozenStack.map { SettingsSnapshot(self, table.found, $0) }
            }
            if let snapshot { return snapshot }
        }
        // Another thread changes values all the time.
        return snapshotOfLayers()
    }

    /// Returns a snapshot of the layers as they are now, without the table of values.
    package func snapshotOfLayers() -> SettingsSnapshot {
        let stack = refreshed { $0.stack.frozen().stack }
        return SettingsSnapshot(self, stack.valuesInForce(), stack)
    }
}
