internal import Platform

// The API of Foundation's `UserDefaults` for whole domains.
extension Defaults {
    /// Returns all values in effect, converted as by `object(forKey:)`.
    public func dictionaryRepresentation() -> [String: Any] {
        var values = refreshed(\.values)
        values.removeAll(where: \.key.isHidden)
        return values.anyValue
    }

    /// The names of the volatile domains.
    public var volatileDomainNames: [String] {
        [Self.argumentDomain, Self.registrationDomain] + store.process.namedDomains.names
    }

    /// Returns the values of a volatile domain.
    public func volatileDomain(forName domainName: String) -> [String: Any] {
        // The command line that the program has parsed takes the place of the words after its name.
        if domainName == Self.argumentDomain, let given = stack.layers.first(where: { $0.layer == .arguments }) {
            return given.values.anyValue
        }
        return volatileLayer(domainName)?.snapshot().values.anyValue
            ?? store.process.namedDomains[domainName]?.anyValue ?? [:]
    }

    /// Replaces all values of a volatile domain.
    public func setVolatileDomain(_ domain: [String: Any], forName domainName: String) {
        let values = converted(domain)
        if let layer = volatileLayer(domainName) {
            layer.replaceAll(values)
        } else {
            store.process.namedDomains[domainName] = values
        }
    }

    /// Removes a volatile domain.
    public func removeVolatileDomain(forName domainName: String) {
        if let layer = volatileLayer(domainName) {
            layer.replaceAll([:])
        } else {
            store.process.namedDomains[domainName] = nil
        }
    }

    private func volatileLayer(_ domainName: String) -> OpenDomain? {
        switch domainName {
        case Self.argumentDomain: store.process.arguments
        case Self.registrationDomain: store.process.volatile(name, .registered)
        default: nil
        }
    }

    /// Returns the user's own values of a domain, or nil if there are none.
    public func persistentDomain(forName domainName: String) -> [String: Any]? {
        guard let domain = persistent(domainName) else { return nil }
        domain.look()
        var values = domain.snapshot().values
        values.removeAll { $0.key.isHidden }
        return values.isEmpty ? nil : values.anyValue
    }

    /// Replaces all stored values of a domain.
    public func setPersistentDomain(_ domain: [String: Any], forName domainName: String) {
        var values = converted(domain)
        for key in domain.keys where !key.isFitForWriting {
            values[key] = nil
            post(.refused(key: key, reason: key.unfitness))
        }
        replacePersistent(domainName, with: values)
    }

    private func replacePersistent(_ domainName: String, with values: PropertyList.Dictionary) {
        guard let domain = persistent(domainName), let name = try? DomainName(domainName) else { return }
        do throws(StoreFailure) {
            try checkReentrancy(of: domain, name)
            domain.look()
            let stored = domain.stored
            let schema = name == self.name ? self.schema : store.process.schemas.schemaInForce(of: name)
            let removed = stored.keys.filter { values[$0] == nil && !$0.isHidden }.map { ($0, PropertyList?.none) }
            let changes = values.filter { !$0.key.isHidden }.map { ($0.key, PropertyList?.some($0.value)) } + removed
            try schema?.rules.check(changes, over: stored, isExposed: domain.isExposed, domainName)
            let beginning = stored.isEmpty && !values.isEmpty ? schema?.rules.beginning ?? [] : []
            domain.set(changes.filter { stored[$0.0] != $0.1 } + beginning)
        } catch {
            report(error, of: Array(values.keys))
        }
    }

    /// Removes all stored values of a domain.
    public func removePersistentDomain(forName domainName: String) {
        guard let domain = persistent(domainName), let name = try? DomainName(domainName) else { return }
        do throws(StoreFailure) {
            try checkReentrancy(of: domain, name)
            domain.removeAll()
        } catch {
            report(error, of: [])
        }
    }

    private func persistent(_ domainName: String) -> OpenDomain? {
        guard let name = try? DomainName(domainName) else {
            post(.refused(key: domainName, reason: "this is not a valid domain name"))
            return nil
        }
        return name == self.name ? target : store.process.target(of: name)
    }
}
