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
    ) throws -> [LayerSource] {
        try files.compactMap { layer, file in
            guard try layer != .forced || file.isTrusted(on: machine) else { return nil }
            guard let contents = try suggestion(layer, { try read(file) }), contents.exists else { return nil }
            return LayerSource(layer, file, contents, on: machine)
        }
    }

    /// Returns the result of `body`. If a layer of defaults from the administrator cannot be read, that is reported and
    /// the layer is skipped. A failure in the forced layer is thrown, since it must never be ignored.
    private func suggestion<Result>(_ layer: Layer, _ body: () throws -> Result) throws -> Result? {
        do {
            return try body()
        } catch  where layer == .site || layer == .siteGlobal {
            let (_, lines) = Prefs.explanation(of: error)
            for line in lines { context.note("\(line); skipped") }
            return nil
        }
    }

    /// The layers that have a file for a domain, with the store's own keys.
    func storedLayers(_ domain: AddressedDomain) throws -> [LayerSource] {
        try layers(in: files(domain)) { try reportingRecovery($0) }
    }

    /// The layers in which a command looks up the values of a domain.
    func layers(_ domain: AddressedDomain) throws -> LayerStack {
        layers(domain, stored: try storedLayers(domain))
    }

    /// The same, where the command has its own way to read the files.
    func layers(_ domain: AddressedDomain, stored: [LayerSource]) -> LayerStack {
        layers(domain, stored: stored, schemaInForce(domain))
    }

    /// The same for another schema than the installed one.
    func layers(_ domain: AddressedDomain, stored: [LayerSource], _ schema: EffectiveSchema?) -> LayerStack {
        // The layers of the process and the schema belong to a domain, not to a file that is named by its path.
        LayerStack(stored, schema, on: machine, isFileAlone: domain.name == nil)
    }

    /// The contents of a file. A damaged one is replaced by a kept version, which is reported.
    private func reportingRecovery(_ file: DomainFile) throws -> DomainContents {
        let contents = try file.contents(on: machine)
        warn(contents.recovery)
        return contents
    }

    /// Returns the contents of a file without the store's own keys. Reports when a kept version replaces a damaged
    /// file.
    func contents(_ file: DomainFile) throws -> DomainContents {
        var contents = try reportingRecovery(file)
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
