internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema

/// The layers of a domain, and the lookup of values in them.
struct DomainLayers: Sendable {
    /// The layers, highest priority first.
    let all: [LayerValues]
    private let schema: SchemaInForce?

    init(_ all: [LayerValues], _ schema: SchemaInForce?) {
        self.all = all
        self.schema = schema
    }

    /// Returns the declaration by which values of the key are checked, or nil if there is none.
    func declaration(of key: String) -> SettingDeclaration? { schema?.declarations[ExactKey(key)] }

    /// Returns the value in force of a key: the first usable one.
    func found(_ key: String) -> (value: PropertyList, layer: Layer)? {
        let declaration = declaration(of: key)
        for layer in all {
            if case .usable(let value)? = layer.verdict(on: key, declaration) { return (value, layer.layer) }
        }
        return nil
    }

    /// The values in force of all keys.
    var valuesInForce: ValuesInForce {
        var values = ValuesInForce()
        for layer in all.reversed() {
            for entry in layer.values { values.set(entry.key, (entry.value, layer.layer)) }
        }
        for key in schema?.declarations.keys.map(\.text) ?? [] { values.set(key, found(key)) }
        return values
    }

    /// The keys in any layer.
    var keys: Set<EntryPath.Component> { Set(all.flatMap { $0.values.keys.map { EntryPath.Component($0) } }) }
}

/// The values of a domain in one layer.
struct LayerValues: Sendable {
    let origin: Origin
    /// The file; nil for layers without one: environment variables and the schema's defaults.
    let file: DomainFile?
    var values: PropertyList.Dictionary
    /// Whether users other than this one can read the file.
    let isExposed: Bool

    var layer: Layer { origin.layer }

    init(_ origin: Origin, _ values: PropertyList.Dictionary) {
        (self.origin, self.values, file, isExposed) = (origin, values, nil, false)
    }

    init(_ layer: Layer, _ file: DomainFile, _ contents: DomainContents, on machine: Machine) {
        origin = Origin(layer, file: file.path.description)
        self.file = file
        values = contents.values
        isExposed = contents.status?.isExposed(to: machine.environment.user) ?? false
    }

    /// Returns the verdict on the layer's value for a key, under its current or a former name; nil if there is no
    /// value.
    func verdict(on key: String, _ declaration: SettingDeclaration?) -> Verdict? {
        guard let declaration else { return values[key].map { .usable($0) } }
        return stored(declaration).map { declaration.verdict(on: $0, isExposed: isExposed) }
    }

    /// Returns the layer's value for a declared key.
    func stored(_ declaration: SettingDeclaration) -> PropertyList? {
        declaration.allKeys.lazy.compactMap { values[$0] }.first
    }
}

/// The values of a domain in force, with their layers.
struct ValuesInForce: Sendable {
    private(set) var entries = PropertyList.Dictionary()
    private(set) var layers: [ExactKey: Layer] = [:]

    fileprivate mutating func set(_ key: String, _ found: (value: PropertyList, layer: Layer)?) {
        entries[key] = found?.value
        layers[ExactKey(key)] = found?.layer
    }

    /// The values that do not come from the global domain.
    var withoutGlobal: ValuesInForce {
        var values = self
        for (key, layer) in layers where Layer.ofGlobalDomain.contains(layer) { values.set(key.text, nil) }
        return values
    }
}

extension Layer {
    /// The layers of the global domain.
    fileprivate static let ofGlobalDomain: [Layer] = [.globalHost, .global, .siteGlobal]
}

extension SchemaInForce {
    /// Inserts the layers that the schema provides, environment variables and defaults, among those with files.
    func completing(_ stored: [LayerValues], _ variables: EnvironmentVariables) -> [LayerValues] {
        let forced = stored.prefix { $0.layer == .forced }
        let said = PropertyList.Dictionary(self.variables(in: variables).map { ($0.key, .string($0.text)) })
        let environment = said.isEmpty ? [] : [LayerValues(Origin(.environment), said)]
        let factory = LayerValues(Origin(.factory, file: file), factoryDefaults)
        return forced + environment + stored.dropFirst(forced.count) + [factory]
    }
}
