internal import Platform
internal import Preferences
internal import PropertyLists

extension StoreAccess {
    /// All values of a domain in its layer; nil where it has no file. A damaged file is told of and stood in for.
    func values(_ domain: AddressedDomain) throws -> PropertyList.Dictionary? {
        let contents = try domain.file.contents(on: machine)
        try warn(contents.recovery)
        return contents.exists ? contents.values.withoutHidden : nil
    }

    /// One value of a domain in its layer.
    func value(_ key: KeyArgument, in domain: AddressedDomain) throws -> PropertyList? {
        guard !key.key.isHidden else { return nil }
        let (value, recovery) = try domain.file.value(at: key.path, on: machine)
        try warn(recovery)
        return value
    }

    /// Every layer of a domain that has values, the most important first, with those that come of its schema.
    func layers(_ domain: AddressedDomain) throws -> [LayerValues] {
        guard let name = domain.name else {
            let origin = Origin(.user, file: domain.file.path.description)
            return try values(domain).map { [LayerValues(origin: origin, values: $0)] } ?? []
        }
        let stored = try places.searchList(name).compactMap { layer, file -> LayerValues? in
            guard layer != .forced || file.isTrusted(on: machine) else { return nil }
            let contents = try file.contents(on: machine)
            try warn(contents.recovery)
            guard contents.exists else { return nil }
            return LayerValues(
                origin: Origin(layer, file: file.path.description), values: contents.values.withoutHidden,
                isExposed: contents.status?.isExposed ?? false)
        }
        return schemaInForce(domain)?.completing(stored, machine.environment.variables) ?? stored
    }

    /// The values in force for a program that is given no arguments.
    func effectiveValues(_ domain: AddressedDomain) throws -> PropertyList.Dictionary? {
        let layers = try layers(domain)
        return layers.isEmpty ? nil : EffectiveValues(layers, schemaInForce(domain)).entries
    }

    /// What `--effective` or its absence asks for.
    func values(_ domain: AddressedDomain, effective: Bool) throws -> PropertyList.Dictionary? {
        try effective ? effectiveValues(domain) : values(domain)
    }

    func value(_ key: KeyArgument, in domain: AddressedDomain, effective: Bool) throws -> PropertyList? {
        guard effective else { return try value(key, in: domain) }
        let layers = try layers(domain)
        if let declaration = schemaInForce(domain)?.declarations[key.key] {
            return EffectiveValues.usable(declaration, in: layers)?.value[key.rest]
        }
        return layers.lazy.compactMap { $0.values[key.key] }.first?[key.rest]
    }

    /// Says that a damaged file is stood in for.
    func warn(_ recovery: Recovery?) throws {
        if let recovery { try surroundings.note(recovery.description) }
    }
}

extension PropertyList.Dictionary {
    /// The domain without the store's own keys.
    var withoutHidden: PropertyList.Dictionary {
        guard keys.contains(where: \.isHidden) else { return self }
        var values = self
        values.removeAll { $0.key.isHidden }
        return values
    }
}

// MARK: Failures that name what was asked for

extension CommandFailure {
    static func noPair(_ domain: AddressedDomain, _ key: KeyArgument) -> CommandFailure {
        CommandFailure(
            .notFound,
            "The domain/default pair of (\(domain.application.onOneLine), \(key.spelling.onOneLine)) does not exist")
    }

    static func noDomain(_ domain: AddressedDomain) -> CommandFailure {
        CommandFailure(.notFound, "Domain \(domain.word.onOneLine) does not exist")
    }
}
