/// A property whose value is a setting's.
///
/// It takes part in Observation: whoever reads it within `withObservationTracking` hears of changes, be they made here,
/// by another instance or by another process.
@propertyWrapper
public struct Preference<Value: Codable & Sendable>: Sendable {
    private let setting: Setting<Value>
    private let observed: ObservedSettings

    /// Looks the setting up in those defaults.
    public init(_ setting: Setting<Value>, in defaults: Defaults = .standard) {
        self.setting = setting
        observed = defaults.observed
    }

    /// The value in force.
    public var wrappedValue: Value {
        get {
            observed.access(setting.key)
            return observed.defaults[setting]
        }
        nonmutating set { observed.defaults[setting] = newValue }
    }

    /// The value to read and write, for a control that shows it.
    public var projectedValue: SettingBinding<Value> {
        SettingBinding(get: { wrappedValue }, set: { wrappedValue = $0 })
    }
}
