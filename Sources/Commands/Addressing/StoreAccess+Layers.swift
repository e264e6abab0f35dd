internal import Platform
internal import Preferences
internal import PropertyLists

extension StoreAccess {
    /// Returns the files in which the values of a domain are stored, highest priority first.
    func files(_ domain: AddressedDomain) throws -> [(layer: Layer, file: DomainFile)] {
        guard let name = domain.name else { return [(.user, domain.file)] }
        return try places.searchList(name)
    }

    /// Returns the layers of the files that exist and take effect: a file of forced values must be writable by the
    /// administrator only.
    ///
    /// - Parameter read: Reads a file, and reports damage if needed.
    func layers(
        in files: [(layer: Layer, file: DomainFile)], by read: (DomainFile) throws -> DomainContents
    ) throws -> [LayerValues] {
        try files.compactMap { layer, file in
            guard try layer != .forced || file.isTrusted(on: machine) else { return nil }
            guard let contents = try suggestion(layer, { try read(file) }), contents.exists else { return nil }
            return LayerValues(layer, file, contents, on: machine)
        }
    }

    /// Returns the result of `body`. If a layer of defaults from the administrator cannot be read, that is reported and
    /// the layer is skipped. A failure in the forced layer is thrown, since it must never be ignored.
    private func suggestion<Result>(_ layer: Layer, _ body: () throws -> Result) throws -> Result? {
        do {
            return try body()
        } catch  where layer == .site || layer == .siteGlobal {
            let (_, lines) = Prefs.explanation(of: error)
            for line in lines { try surroundings.note("\(line); skipped") }
            return nil
        }
    }

    func layers(_ domain: AddressedDomain) throws -> DomainLayers {
        layers(domain, stored: try layers(in: files(domain)) { try contents($0) })
    }

    /// Returns the layers of a domain whose files have already been read.
    func layers(_ domain: AddressedDomain, stored: [LayerValues]) -> DomainLayers {
        let schema = schemaInForce(domain)
        // A file given by its path has no other layers.
        guard let schema, domain.name != nil else { return DomainLayers(stored, schema) }
        return DomainLayers(schema.completing(stored, machine.environment.variables), schema)
    }

    /// Returns the contents of a file without the store's own keys. Reports when a kept version replaces a damaged
    /// file.
    func contents(_ file: DomainFile) throws -> DomainContents {
        var contents = try file.contents(on: machine)
        try warn(contents.recovery)
        contents.values = contents.values.withoutHidden
        return contents
    }

    /// Returns the file with the values that the administrator forces for a domain; nil if the domain is itself in that
    /// layer.
    func forcedFile(of domain: AddressedDomain) throws -> DomainFile? {
        guard let name = domain.name, domain.layer != .forced, let file = places.forced?.file(of: name),
            try file.isTrusted(on: machine)
        else {
            return nil
        }
        return file
    }

    /// Returns the names of all domains that have a file in any layer, sorted.
    func namesInAllLayers() throws -> [DomainName] {
        var names: Set<DomainName> = []
        for place in try places.allPlaces() {
            names.formUnion(try suggestion(place.layer) { try self.names(in: place) } ?? [])
        }
        return names.sorted()
    }
}
