internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema

/// The layers of a domain in which a command looks things up, and the rule by which one of them wins.
struct DomainLayers: Sendable {
    /// The most important first.
    let all: [LayerValues]
    private let schema: SchemaInForce?

    init(_ all: [LayerValues], _ schema: SchemaInForce?) {
        self.all = all
        self.schema = schema
    }

    /// What decides whether a value of the key counts; nil where anything does.
    func declaration(of key: String) -> SettingDeclaration? { schema?.declarations[ExactKey(key)] }

    /// The value in force of a key: of the first layer whose value counts.
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

    /// The names of all keys that a layer has.
    var keys: Set<EntryPath.Component> { Set(all.flatMap { $0.values.keys.map { EntryPath.Component($0) } }) }
}

/// A layer of a domain as a command sees it.
struct LayerValues: Sendable {
    let origin: Origin
    /// Nil for what no file of the store holds: variables, and what a schema sets.
    let file: DomainFile?
    var values: PropertyList.Dictionary
    /// Whether others than the user can read the file.
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

    /// What the layer says of a key, if it is declared under its present name or a former one; nil for nothing.
    func verdict(on key: String, _ declaration: SettingDeclaration?) -> Verdict? {
        guard let declaration else { return values[key].map { .usable($0) } }
        return stored(declaration).map { declaration.verdict(on: $0, isExposed: isExposed) }
    }

    /// The value of a declared key as the layer has it.
    func stored(_ declaration: SettingDeclaration) -> PropertyList? {
        declaration.allKeys.lazy.compactMap { values[$0] }.first
    }
}

/// The values of a domain that are in force, and the layers that they come from.
struct ValuesInForce: Sendable {
    private(set) var entries = PropertyList.Dictionary()
    private(set) var layers: [ExactKey: Layer] = [:]

    fileprivate mutating func set(_ key: String, _ found: (value: PropertyList, layer: Layer)?) {
        entries[key] = found?.value
        layers[ExactKey(key)] = found?.layer
    }

    /// Those that do not come from the domain that all others look into.
    var withoutGlobal: ValuesInForce {
        var values = self
        for (key, layer) in layers where Layer.ofGlobalDomain.contains(layer) { values.set(key.text, nil) }
        return values
    }
}

extension Layer {
    /// The layers of the domain that all others look into.
    fileprivate static let ofGlobalDomain: [Layer] = [.globalHost, .global, .siteGlobal]
}

extension SchemaInForce {
    /// The layers that come of the schema itself, put where they belong among those that have files.
    func completing(_ stored: [LayerValues], _ variables: EnvironmentVariables) -> [LayerValues] {
        let forced = stored.prefix { $0.layer == .forced }
        let said = PropertyList.Dictionary(self.variables(in: variables).map { ($0.key, .string($0.text)) })
        let environment = said.isEmpty ? [] : [LayerValues(Origin(.environment), said)]
        let factory = LayerValues(Origin(.factory, file: file), factoryDefaults)
        return forced + environment + stored.dropFirst(forced.count) + [factory]
    }
}
