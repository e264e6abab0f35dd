internal import Platform
internal import Preferences
internal import PropertyLists

extension StoreAccess {
    /// The files that say what is stored for a domain, the most important first.
    func files(_ domain: AddressedDomain) throws -> [(layer: Layer, file: DomainFile)] {
        guard let name = domain.name else { return [(.user, domain.file)] }
        return try places.searchList(name)
    }

    /// Those of the files that count: they are there and, where they force values, only the administrator can have
    /// written them.
    ///
    /// - Parameter read: Reads a file and says, if anybody is to hear of it, that it is damaged.
    func layers(
        in files: [(layer: Layer, file: DomainFile)], by read: (DomainFile) throws -> DomainContents
    ) throws -> [LayerValues] {
        try files.compactMap { layer, file in
            guard try layer != .forced || file.isTrusted(on: machine) else { return nil }
            guard let contents = try suggestion(layer, { try read(file) }), contents.exists else { return nil }
            return LayerValues(layer, file, contents, on: machine)
        }
    }

    /// What `body` returns. What the administrator only suggests is not worth a failure: where it cannot be read, that
    /// is reported, and it is skipped. A policy that cannot be read is a failure, since it must never be ignored.
    private func suggestion<Result>(_ layer: Layer, _ body: () throws -> Result) throws -> Result? {
        do {
            return try body()
        } catch  where layer == .site || layer == .siteGlobal {
            let (_, lines) = Prefs.explanation(of: error)
            for line in lines { try surroundings.note("\(line); skipped") }
            return nil
        }
    }

    /// The layers of a domain in which a command looks things up.
    func layers(_ domain: AddressedDomain) throws -> DomainLayers {
        layers(domain, stored: try layers(in: files(domain)) { try contents($0) })
    }

    /// The same, where the command has its own way to read the files.
    func layers(_ domain: AddressedDomain, stored: [LayerValues]) -> DomainLayers {
        let schema = schemaInForce(domain)
        // A file that is named by its path stands alone.
        guard let schema, domain.name != nil else { return DomainLayers(stored, schema) }
        return DomainLayers(schema.completing(stored, machine.environment.variables), schema)
    }

    /// What a file holds, but for the store's own keys. A damaged one is told of and stood in for.
    func contents(_ file: DomainFile) throws -> DomainContents {
        var contents = try file.contents(on: machine)
        try warn(contents.recovery)
        contents.values = contents.values.withoutHidden
        return contents
    }

    /// The file in which the administrator has decided on values of a domain; nil for a domain that he himself writes.
    func forcedFile(of domain: AddressedDomain) throws -> DomainFile? {
        guard let name = domain.name, domain.layer != .forced, let file = places.forced?.file(of: name),
            try file.isTrusted(on: machine)
        else {
            return nil
        }
        return file
    }

    /// The names of all domains that have a file in any layer, sorted.
    func namesInAllLayers() throws -> [DomainName] {
        var names: Set<DomainName> = []
        for place in try places.allPlaces() {
            names.formUnion(try suggestion(place.layer) { try self.names(in: place) } ?? [])
        }
        return names.sorted()
    }
}
