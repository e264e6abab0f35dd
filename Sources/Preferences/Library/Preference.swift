internal import Observation
internal import Synchronization

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

/// A value that can be read and written where it is.
public struct SettingBinding<Value: Sendable>: Sendable {
    /// Returns the value in force.
    public let get: @Sendable () -> Value
    /// Sets the user's own value.
    public let set: @Sendable (Value) -> Void

    /// Binds whatever the two functions read and write.
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

/// The settings of a domain as Observation sees them: one property a key.
final class ObservedSettings: Observable, Sendable {
    let defaults: Defaults
    private let registrar = ObservationRegistrar()
    private let observation = Mutex<SettingsObservation?>(nil)

    init(_ defaults: Defaults) {
        self.defaults = defaults
        let observation = defaults.observe { [weak self] changes in self?.tell(changes) }
        self.observation.withLock { $0 = observation }
    }

    /// The key paths that Observation knows the keys by.
    private subscript(key: String) -> Bool { defaults.propertyList(forKey: key) != nil }

    func access(_ key: String) { registrar.access(self, keyPath: \.[key]) }

    fileprivate func tell(_ changes: SettingsChanges) {
        for change in changes.changes { registrar.withMutation(of: self, keyPath: \.[change.key]) {} }
    }
}

extension Defaults {
    /// One for all properties of this instance.
    var observed: ObservedSettings {
        if let settings = observedSettings.withLock(\.settings) { return settings }
        // Not under the lock: with it, observers may be told of what nobody has noticed yet.
        let settings = ObservedSettings(self)
        return observedSettings.withLock { held in
            if let other = held.settings { return other }
            held.settings = settings
            return settings
        }
    }

    struct WeaklyObserved: Sendable { weak var settings: ObservedSettings? }
}
