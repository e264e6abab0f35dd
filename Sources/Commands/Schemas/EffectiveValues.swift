internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema

/// A layer of a domain as a command sees it.
struct LayerValues: Sendable {
    let origin: Origin
    let values: PropertyList.Dictionary
    /// Whether others can read its file.
    var isExposed = false
}

extension LayerValues {
    /// What the layer says of a declared key, under its present name or a former one; nil for nothing.
    func verdict(on declaration: SettingDeclaration) -> Verdict? {
        let stored = declaration.allKeys.lazy.compactMap { values[$0] }.first
        return stored.map { declaration.verdict(on: $0, isExposed: isExposed) }
    }
}

/// The values that are in force, of layers with the most important first.
struct EffectiveValues: Sendable {
    private(set) var entries = PropertyList.Dictionary()
    private(set) var layers: [String: Layer] = [:]

    init(_ all: [LayerValues], _ schema: SchemaInForce?) {
        for layer in all.reversed() {
            for entry in layer.values {
                entries[entry.key] = entry.value
                layers[entry.key] = layer.origin.layer
            }
        }
        for declaration in schema?.declarations.values.map(\.self) ?? [] {
            let found = Self.usable(declaration, in: all)
            entries[declaration.key] = found?.value
            layers[declaration.key] = found?.origin.layer
        }
    }

    /// The first value of a declared key that counts.
    static func usable(
        _ declaration: SettingDeclaration, in layers: [LayerValues]
    ) -> (value: PropertyList, origin: Origin)? {
        for layer in layers {
            if case .usable(let value)? = layer.verdict(on: declaration) { return (value, layer.origin) }
        }
        return nil
    }
}

extension SchemaInForce {
    /// The layers that come of the schema itself, put where they belong among those that have files.
    func completing(_ stored: [LayerValues], _ variables: EnvironmentVariables) -> [LayerValues] {
        let forced = stored.prefix { $0.origin.layer == .forced }
        let said = PropertyList.Dictionary(self.variables(in: variables).map { ($0.key, .string($0.text)) })
        let environment = said.isEmpty ? [] : [LayerValues(origin: Origin(.environment), values: said)]
        let factory = LayerValues(origin: Origin(.factory, file: file), values: factoryDefaults)
        return forced + environment + stored.dropFirst(forced.count) + [factory]
    }
}
