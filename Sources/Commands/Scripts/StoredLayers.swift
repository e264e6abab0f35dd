internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema

/// What is stored for a domain that has a schema, layer by layer.
struct StoredLayers {
    /// The most important first. The store's own keys are among the values: they say which version these are of.
    private(set) var all: [LayerValues]
    private let schema: Schema

    init(_ domain: AddressedDomain, _ schema: Schema, _ access: StoreAccess) throws {
        self.schema = schema
        all = try access.layers(in: access.files(domain)) { file in
            let contents = try file.contents(on: access.machine)
            try access.warn(contents.recovery)
            return contents
        }
        for index in all.indices where all[index].isExposed {
            try all[index].dropSecrets(schema, access.surroundings)
        }
    }

    subscript(layer: Layer) -> LayerValues? { all.first { $0.layer == layer } }

    /// Lets a layer have other values than its file has.
    mutating func stand(in values: PropertyList.Dictionary, for layer: Layer) {
        for index in all.indices where all[index].layer == layer { all[index].values = values }
    }
}

extension StoredLayers {
    /// The layers as a schema takes them, with what a command line and variables say in their places between them.
    func layers(arguments: PropertyList.Dictionary = [:], environment: PropertyList.Dictionary = [:]) -> [Schema.Layer]
    {
        let (decided, chosen) = (all.filter { $0.layer == .forced }, all.filter { $0.layer != .forced })
        let here = [
            Schema.Layer(Layer.arguments.name, arguments), Schema.Layer(Layer.environment.name, environment),
        ]
        return decided.map(\.asLayer) + here.filter { !$0.values.isEmpty } + chosen.map(\.asLayer)
    }

    /// What of all this a program can use, without the schema's own defaults.
    var usable: PropertyList.Dictionary {
        var result = PropertyList.Dictionary()
        for found in all.reversed() {
            var values = schema.usable(found.values).values
            for command in schema.commands { values = schema.usable(values, command: command.name).values }
            for entry in values { result[entry.key] = entry.value }
        }
        return result
    }

    /// The keys on which the administrator has decided.
    var forcedKeys: Set<String> { Set(self[.forced].map { schema.usable($0.values).values.keys.map(\.self) } ?? []) }
}

extension LayerValues {
    fileprivate var asLayer: Schema.Layer { Schema.Layer(layer.name, values) }

    /// Takes secrets away: what everybody can read must not be trusted to be secret.
    fileprivate mutating func dropSecrets(_ schema: Schema, _ surroundings: Surroundings) throws {
        for setting in schema.allSettings where setting.hasSecrets {
            for key in setting.allKeys where values[key].map(setting.tellsSecret) ?? false {
                values[key] = nil
                try surroundings.note(
                    "\((origin.file ?? "").onOneLine): others can read this file, so its \(key.onOneLine) does not count; chmod 600 mends it"
                )
            }
        }
    }
}
