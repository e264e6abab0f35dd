internal import Preferences
internal import PropertyLists
internal import SettingsSchema

/// What one layer says to the question for a key.
struct LayerAnswer: Hashable, Sendable {
    let origin: Origin
    /// Nil where the layer has the key, but not the entry inside its value that was asked for.
    let value: PropertyList?
    /// Whether this is the layer that a look-up stops at.
    let isInForce: Bool
    /// Why the value is passed over, where it breaks the schema.
    var fault: String?
}

extension StoreAccess {
    /// Every key that a layer has a value for, sorted, with what each layer says, the most important first.
    func answers(
        _ domain: AddressedDomain, _ key: KeyArgument?
    ) throws -> [(key: KeyArgument, answers: [LayerAnswer])] {
        let layers = try layers(domain)
        let keys: [KeyArgument]
        if let key {
            keys = key.key.isHidden ? [] : [key]
        } else {
            let names = Set(layers.flatMap { $0.values.keys.map { EntryPath.Component($0) } })
            keys = try names.sorted { $0.text.isBefore($1.text) }.map { name throws(KeyFailure) in
                try KeyArgument(EntryPath([name]))
            }
        }
        let schema = schemaInForce(domain)
        return keys.map { key in
            if let declaration = schema?.declarations[key.key] { return (key, answers(layers, key, declaration)) }
            let holders = layers.filter { $0.values[key.key] != nil }
            let answers = holders.enumerated().map { position, layer in
                LayerAnswer(
                    origin: layer.origin, value: layer.values[key.key]?[key.rest], isInForce: position == 0)
            }
            return (key, answers)
        }
    }

    /// What each layer says of a declared key. The first value that counts is in force.
    private func answers(
        _ layers: [LayerValues], _ key: KeyArgument, _ declaration: SettingDeclaration
    ) -> [LayerAnswer] {
        var isFound = false
        return layers.compactMap { layer in
            guard let verdict = layer.verdict(on: declaration) else { return nil }
            switch verdict {
            case .usable(let value):
                defer { isFound = true }
                return LayerAnswer(origin: layer.origin, value: value[key.rest], isInForce: !isFound)
            case .passedOver(let reason):
                let stored = declaration.allKeys.lazy.compactMap { layer.values[$0] }.first
                return LayerAnswer(origin: layer.origin, value: stored?[key.rest], isInForce: false, fault: reason)
            }
        }
    }
}
