internal import Observation
internal import Synchronization

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
