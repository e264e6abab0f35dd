/// A property with the value of a setting.
///
/// It supports Observation: reads within `withObservationTracking` are notified of changes by this instance, another
/// instance or another process.
@propertyWrapper
public struct Preference<Value: Codable & Sendable>: Sendable {
    private let setting: Setting<Value>
    private let observed: ObservedSettings

    /// Makes a property for a setting in some defaults.
    public init(_ setting: Setting<Value>, in defaults: Defaults = .standard) {
        self.setting = setting
        observed = defaults.observed
    }

    /// The value in effect.
    public var wrappedValue: Value {
        get {
            observed.access(setting.key)
            return observed.defaults[setting]
        }
        nonmutating set { observed.defaults[setting] = newValue }
    }

    /// A binding to the value, for user interface controls.
    public var projectedValue: SettingBinding<Value> {
        SettingBinding(get: { wrappedValue }, set: { wrappedValue = $0 })
    }
}
