public import PropertyLists

/// That the value in force for a key has become another.
public struct SettingsChange: Sendable, Hashable {
    public let key: String
    /// The value before; nil for none.
    public let oldValue: PropertyList?
    /// The value now; nil for none.
    public let newValue: PropertyList?
    /// Where the value now comes from; nil where there is none.
    public let origin: Origin?
    /// Whether this process made the change.
    public let isOwn: Bool
}

/// Changes of a domain that came in one step.
public struct SettingsChanges: Sendable, Hashable {
    public let domain: DomainName
    public let changes: [SettingsChange]
}

/// That the value of a setting has become another.
public struct SettingChange<Value: Sendable>: Sendable {
    public let oldValue: Value
    public let newValue: Value
    public let origin: Origin?
    /// Whether this process made the change.
    public let isOwn: Bool
}
