internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema

/// The stored values of a domain with a schema, by layer.
struct StoredLayers {
    /// The layers, highest priority first. They include the store's own keys, which hold the version.
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

    /// Replaces the values of a layer.
    mutating func stand(in values: PropertyList.Dictionary, for layer: Layer) {
        for index in all.indices where all[index].layer == layer { all[index].values = values }
    }
}

extension StoredLayers {
    /// Returns the layers for the schema, with those of the command line and of variables inserted.
    func layers(arguments: PropertyList.Dictionary = [:], environment: PropertyList.Dictionary = [:]) -> [Schema.Layer]
    {
        let (decided, chosen) = (all.filter { $0.layer == .forced }, all.filter { $0.layer != .forced })
        let here = [
            Schema.Layer(Layer.arguments.name, arguments), Schema.Layer(Layer.environment.name, environment),
        ]
        return decided.map(\.asLayer) + here.filter { !$0.values.isEmpty } + chosen.map(\.asLayer)
    }

    /// The values that a program can use, without the schema's defaults.
    var usable: PropertyList.Dictionary {
        var result = PropertyList.Dictionary()
        for found in all.reversed() {
            var values = schema.usable(found.values).values
            for command in schema.commands { values = schema.usable(values, command: command.name).values }
            for entry in values { result[entry.key] = entry.value }
        }
        return result
    }

    /// The keys that the administrator forces.
    var forcedKeys: Set<String> { Set(self[.forced].map { schema.usable($0.values).values.keys.map(\.self) } ?? []) }
}

extension LayerValues {
    fileprivate var asLayer: Schema.Layer { Schema.Layer(layer.name, values) }

    /// Removes secrets from a layer that others can read, and reports them.
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
