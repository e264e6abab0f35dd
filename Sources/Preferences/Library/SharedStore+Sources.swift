internal import Platform
internal import PropertyLists

extension SharedStore {
    /// The user's own values of a domain.
    func target(of name: DomainName) -> OpenDomain {
        switch places {
        case .success(let places?): domain(of: places.user.file(of: name))
        case .success(nil): volatile(name, .user)
        case .failure(let failure): volatile(name, .user, failure: failure)
        }
    }

    /// The layers that a look-up asks.
    func layers(
        of name: DomainName, suites: [DomainName] = [], environment: [String: String] = [:], _ schema: EffectiveSchema?
    ) -> LayerStack {
        var layers = storedLayers(of: name, suites: suites)
        if schema?.program == nil {
            layers.insert(LayerSource(.arguments, arguments), at: layers.prefix { $0.layer == .forced }.count)
        }
        layers += [
            LayerSource(.default, volatile(name, .default)), LayerSource(.registered, volatile(name, .registered)),
        ]
        return LayerStack(layers, schema, on: machine, mapping: environment)
    }

    private func storedLayers(of name: DomainName, suites: [DomainName]) -> [LayerSource] {
        let list = Result { () throws(StoreFailure) in
            try places.get()?.searchList(name, suites: suites)
        }
        switch list {
        case .success(let files?):
            return files.map { layer, file in
                LayerSource(layer, domain(of: file, mustBeTrusted: layer == .forced))
            }
        case .success(nil), .failure:
            let names = [(Layer.user, name)] + suites.map { (.suite($0.text), $0) } + [(.global, .global)]
            return names.map { layer, name in LayerSource(layer, target(of: name)) }
        }
    }

    /// The values on this process's command line. A store in memory has none, so that tests do not depend on how they
    /// are run.
    var arguments: OpenDomain {
        let values = kind == .memory ? [:] : ArgumentDomain.values(in: Array(machine.environment.arguments.dropFirst()))
        return volatile(.global, .arguments, initially: values)
    }
}
