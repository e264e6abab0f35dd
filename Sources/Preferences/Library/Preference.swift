internal import Observation
internal import Synchronization

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

    /// The value in force. Setting it stores the user's own value.
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

/// The settings of a domain for Observation, with one property for each key.
final class ObservedSettings: Observable, Sendable {
    let defaults: Defaults
    private let registrar = ObservationRegistrar()
    private let observation = Mutex<SettingsObservation?>(nil)

    init(_ defaults: Defaults) {
        self.defaults = defaults
        let observation = defaults.observe { [weak self] changes in self?.notify(changes) }
        self.observation.withLock { $0 = observation }
    }

    /// The key paths that represent keys in Observation.
    private subscript(key: String) -> Bool { defaults.propertyList(forKey: key) != nil }

    func access(_ key: String) { registrar.access(self, keyPath: \.[key]) }

    fileprivate func notify(_ changes: SettingsChanges) {
        for change in changes.changes { registrar.withMutation(of: self, keyPath: \.[change.key]) {} }
    }
}

extension Defaults {
    /// The observed settings, shared by all properties of this instance.
    var observed: ObservedSettings {
        if let settings = observedSettings.withLock(\.settings) { return settings }
        // Not under the lock, because creating it may notify observers.
        let settings = ObservedSettings(self)
        return observedSettings.withLock { held in
            if let other = held.settings { return other }
            held.settings = settings
            return settings
        }
    }

    struct WeaklyObserved: Sendable { weak var settings: ObservedSettings? }
}

/// A binding to a value that can be read and written.
public struct SettingBinding<Value: Sendable>: Sendable {
    /// Returns the value in force.
    public let get: @Sendable () -> Value
    /// Sets the user's own value.
    public let set: @Sendable (Value) -> Void

    /// Creates a binding from two functions.
    public init(get: @escaping @Sendable () -> Value, set: @escaping @Sendable (Value) -> Void) {
        self.get = get
        self.set = set
    }

    /// The value in force.
    public var value: Value {
        get { get() }
        nonmutating set { set(newValue) }
    }
}
