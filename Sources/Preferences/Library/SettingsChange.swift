public import PropertyLists

/// That the value in force for a key has become another.
public struct SettingsChange: Sendable, Hashable {
    /// The key whose value changed.
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
    /// The domain in which they happened.
    public let domain: DomainName
    /// A change for each key.
    public let changes: [SettingsChange]
}

/// That the value of a setting has become another.
public struct SettingChange<Value: Sendable>: Sendable {
    /// The value that was in force before.
    public let oldValue: Value
    /// The value that is in force now.
    public let newValue: Value
    /// Where the value now in force comes from; nil for the setting's default.
    public let origin: Origin?
    /// Whether this process made the change.
    public let isOwn: Bool
}
