internal import Preferences
internal import PropertyLists
internal import SettingsSchema

/// The value of a key in one layer.
struct LayerAnswer: Hashable, Sendable {
    let origin: Origin
    /// The value; nil if the layer has the key but not the requested entry within it.
    let value: PropertyList?
    /// Whether this value is in force.
    let isInForce: Bool
    /// The reason the value is ignored, if it breaks the schema.
    var fault: String?
}

extension StoreAccess {
    /// Returns every key that has a value, sorted, with the value in each layer, highest priority first.
    func answers(
        _ domain: AddressedDomain, _ key: KeyArgument?
    ) throws -> [(key: KeyArgument, answers: [LayerAnswer])] {
        let layers = try layers(domain)
        let keys: [KeyArgument]
        if let key {
            keys = key.key.isHidden ? [] : [key]
        } else {
            keys = try layers.keys.sorted { $0.text.isBefore($1.text) }.map { name throws(KeyFailure) in
                try KeyArgument(EntryPath([name]))
            }
        }
        return try keys.map { key in
            let answers = layers.answers(key)
            for case let value? in answers.map(\.value) { try checkExact(value, at: key.path, in: domain) }
            return (key, answers)
        }
    }
}

extension DomainLayers {
    fileprivate func answers(_ key: KeyArgument) -> [LayerAnswer] {
        let declaration = declaration(of: key.key)
        var isFound = false
        return all.compactMap { layer in
            switch layer.verdict(on: key.key, declaration) {
            case .usable(let value)?:
                defer { isFound = true }
                return LayerAnswer(origin: layer.origin, value: value[key.rest], isInForce: !isFound)
            case .passedOver(let reason)?:
                let stored = declaration.flatMap { layer.stored($0) }
                return LayerAnswer(origin: layer.origin, value: stored?[key.rest], isInForce: false, fault: reason)
            case nil: return nil
            }
        }
    }
}
