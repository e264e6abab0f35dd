internal import Platform
package import PropertyLists
internal import SettingsSchema

/// What the user has set of the store itself, in the domain `prefs`.
package struct StorePolicy: Sendable, Hashable {
    package var history = HistoryPolicy()
    /// How long to wait for a lock.
    package var patience: Duration = .seconds(5)
    /// The format of new domains.
    package var newFormat = PropertyList.Format.binary

    package init() {}

    /// The domain of these settings.
    package static let domain: DomainName = "prefs"

    /// The policy that the values of the domain say. What the schema of these settings does not allow does not count.
    package init(_ values: PropertyList.Dictionary) {
        // Most users never set any.
        guard !values.isEmpty else { return }
        let values = Self.schema.usable(values).values
        func number(_ key: String) -> Int? { values[key]?.integerValue.flatMap { Int(exactly: $0) } }
        if let versions = number(Key.versions) { history.versions = versions }
        if let bytes = number(Key.bytes) { history.bytes = bytes }
        if let seconds = values[Key.patience]?.realValue { patience = .seconds(seconds) }
        if let word = values[Key.format]?.stringValue {
            newFormat = Self.formats.first { $0.key == word }?.value ?? newFormat
        }
    }

    /// The policy that holds in a store. One that cannot be read is the one that nobody has changed.
    package init(in places: StorePlaces, on machine: Machine) {
        let contents = try? places.user.file(of: Self.domain).contents(on: machine)
        self.init(contents?.values ?? [:])
    }
}
