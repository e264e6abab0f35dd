public import PropertyLists

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
}

/// The changes of a domain that occurred in one step.
public struct SettingsChanges: Sendable, Hashable {
    /// The domain.
    public let domain: DomainName
    /// The changes, one for each key.
    public let changes: [SettingsChange]
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
}
