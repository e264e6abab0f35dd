internal import Platform
package import PropertyLists
internal import SettingsSchema

/// The settings of the store itself, in the domain `prefs`.
package struct StorePolicy: Sendable, Hashable {
    package var history = HistoryPolicy()
    /// The time to wait for a lock.
    package var patience: Duration = .seconds(5)
    package var newFormat = PropertyList.Format.binary

    package init() {}

    package static let domain: DomainName = "prefs"

    /// Makes the policy from the user's values of the domain.
    package init(_ values: PropertyList.Dictionary) { self.init([LayerSource(Origin(.user), values)]) }

    /// Makes the policy from the layers of the domain. Values that the schema does not allow are ignored.
    private init(_ layers: [LayerSource]) {
        // Most users never change any setting.
        guard layers.contains(where: { !$0.values.isEmpty }) else { return }
        let stack = LayerStack(layers, EffectiveSchema(Self.schema))
        func value(_ key: String) -> PropertyList? { stack[key].winner?.value }
        func number(_ key: String) -> Int? { value(key)?.integerValue.flatMap { Int(exactly: $0) } }
        if let versions = number(Key.versions) { history.versions = versions }
        if let bytes = number(Key.bytes) { history.bytes = bytes }
        if let seconds = value(Key.patience)?.realValue { patience = .seconds(seconds) }
        if let word = value(Key.format)?.stringValue {
            newFormat = Self.formats.first { $0.key == word }?.value ?? newFormat
        }
    }

    /// Reads the policy of a store. Layers that cannot be read are ignored.
    package init(in places: StorePlaces, on machine: Machine) {
        let files = (try? places.searchList(Self.domain)) ?? [(.user, places.user.file(of: Self.domain))]
        self.init(
            files.compactMap { layer, file in
                guard let contents = try? file.contents(on: machine), contents.exists,
                    layer != .forced || (try? file.isTrusted(on: machine)) == true
                else { return nil }
                return LayerSource(layer, file, contents, on: machine)
            })
    }
}
