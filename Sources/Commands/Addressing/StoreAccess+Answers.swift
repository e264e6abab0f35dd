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
