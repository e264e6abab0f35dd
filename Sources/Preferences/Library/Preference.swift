/// A property with the value of a setting.
///
/// It supports Observation: reads within `withObservationTracking` are notified of changes by this instance, another
/// instance or another process.
@propertyWrapper
public struct Preference<Value: Codable & Sendable>: Sendable {
    private let setting: Setting<Value>
    private let observed: ObservedSettings

    /// Creates a property for a setting.
    public init(_ setting: Setting<Value>, in defaults: Defaults = .standard) {
        self.setting = setting
        observed = defaults.observed
    }

    /// Creates a property for a key. The default is the initial value in the declaration of the property:
    /// `@Preference("size") var size = 12`.
    public init(wrappedValue: Value, _ key: String, in defaults: Defaults = .standard) {
        self.init(Setting(key, default: wrappedValue), in: defaults)
    }

    /// Creates a property for a key without a default: `@Preference("name") var name: String?`.
    public init(_ key: String, in defaults: Defaults = .standard) where Value: ExpressibleByNilLiteral {
        self.init(Setting(key, default: nil), in: defaults)
    }

    /// The value in effect. Setting it stores the user's own value.
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
