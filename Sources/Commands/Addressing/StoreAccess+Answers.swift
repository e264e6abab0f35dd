internal import Preferences
internal import PropertyLists

/// What one layer says to the question for a key.
struct LayerAnswer: Hashable, Sendable {
    let origin: Origin
    /// Nil where the layer has the key, but not the entry inside its value that was asked for.
    let value: PropertyList?
    /// Whether this is the layer that a look-up stops at.
    let isInForce: Bool
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
        return keys.map { key in
            let holders = layers.filter { $0.values[key.key] != nil }
            let answers = holders.enumerated().map { position, layer in
                LayerAnswer(
                    origin: layer.origin, value: layer.values[key.key]?[key.rest], isInForce: position == 0)
            }
            return (key, answers)
        }
    }
}
