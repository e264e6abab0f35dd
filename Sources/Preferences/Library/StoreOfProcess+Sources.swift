internal import Platform
internal import PropertyLists

extension StoreOfProcess {
    /// The user's own values of a domain.
    func target(of name: DomainName) -> OpenDomain {
        switch places {
        case .success(let places?): domain(of: places.user.file(of: name))
        case .success(nil): volatile(name, .user)
        case .failure(let failure): volatile(name, .user, failure: failure)
        }
    }

    /// The layers that a look-up asks, in their order.
    func sources(
        of name: DomainName, suites: [DomainName], environment: [String: String], _ schema: SchemaInForce?
    ) -> [ResolvedTable.Source] {
        let stored = storedSources(of: name, suites: suites)
        let forced = stored.prefix { $0.origin.layer == .forced }
        var sources = Array(forced)
        let given = (schema?.program?.arguments).map(fixed)
        sources.append(ResolvedTable.Source(.arguments, given ?? arguments))
        let values = self.values(ofVariables: environment, schema)
        if !values.isEmpty { sources.append(ResolvedTable.Source(.environment, fixed(values))) }
        sources += stored.dropFirst(forced.count)
        sources.append(ResolvedTable.Source(.factory, volatile(name, .factory)))
        if let schema {
            let origin = Origin(.factory, file: schema.file)
            sources.append(ResolvedTable.Source(origin, fixed(schema.factoryDefaults)))
        }
        sources.append(ResolvedTable.Source(.registered, volatile(name, .registered)))
        return sources
    }

    /// A layer of values that nobody changes.
    private func fixed(_ values: PropertyList.Dictionary) -> OpenDomain {
        OpenDomain(.memory(values, failure: nil), on: machine, signals)
    }

    /// What variables say: by the mapping of an instance, else as the schema declares.
    private func values(
        ofVariables environment: [String: String], _ schema: SchemaInForce?
    ) -> PropertyList.Dictionary {
        let variables = machine.environment.variables
        var values = schema?.program?.environment ?? [:]
        if let schema, schema.program?.environment == nil {
            for (key, text) in schema.variables(in: variables) { values[key] = .string(text) }
        }
        for (variable, key) in environment.sorted(by: { $0.key < $1.key }) {
            if let text = variables[variable] { values[key] = .string(text) }
        }
        return values
    }

    private func storedSources(of name: DomainName, suites: [DomainName]) -> [ResolvedTable.Source] {
        let list = Result { () throws(StoreFailure) in
            try places.get()?.searchList(name, suites: suites)
        }
        switch list {
        case .success(let files?):
            return files.map { layer, file in
                ResolvedTable.Source(layer, domain(of: file, mustBeTrusted: layer == .forced))
            }
        case .success(nil), .failure:
            let names = [(Layer.user, name)] + suites.map { (.suite($0.text), $0) } + [(.global, .global)]
            return names.map { layer, name in ResolvedTable.Source(layer, target(of: name)) }
        }
    }

    /// What this process's command line says. A store in memory knows of none: tests are not to depend on how they run.
    var arguments: OpenDomain {
        let values = kind == .memory ? [:] : ArgumentDomain.values(in: Array(machine.environment.arguments.dropFirst()))
        return volatile(.global, .arguments, initially: values)
    }
}
