internal import Platform
package import PropertyLists
internal import SettingsSchema

/// The user's settings of the store itself, in the domain `prefs`.
package struct StorePolicy: Sendable, Hashable {
    package var history = HistoryPolicy()
    /// The time to wait for a lock.
    package var patience: Duration = .seconds(5)
    package var newFormat = PropertyList.Format.binary

    package init() {}

    package static let domain: DomainName = "prefs"

    /// Makes the policy from the values of the domain. Values that the schema does not allow are ignored.
    package init(_ values: PropertyList.Dictionary) {
        // Most users never change any setting.
        guard !values.isEmpty else { return }
        let stack = LayerStack([LayerSource(Origin(.user), values)], EffectiveSchema(Self.schema))
        func value(_ key: String) -> PropertyList? { stack[key].winner?.value }
        func number(_ key: String) -> Int? { value(key)?.integerValue.flatMap { Int(exactly: $0) } }
        if let versions = number(Key.versions) { history.versions = versions }
        if let bytes = number(Key.bytes) { history.bytes = bytes }
        if let seconds = value(Key.patience)?.realValue { patience = .seconds(seconds) }
        if let word = value(Key.format)?.stringValue {
            newFormat = Self.formats.first { $0.key == word }?.value ?? newFormat
        }
    }

    /// Reads the policy of a store, or the default if it cannot be read.
    package init(in places: StorePlaces, on machine: Machine) {
        let contents = try? places.user.file(of: Self.domain).contents(on: machine)
        self.init(contents?.values ?? [:])
    }
}
