internal import Synchronization

/// The schemas of domains, each loaded once: those that are installed, and those that the program declares.
package final class SchemaCache: Sendable {
    package let places: SchemaPlaces
    private let system: SystemServices
    /// Called with an installed schema that has errors, when it is loaded.
    private let reportFault: @Sendable (_ schema: InstalledSchema, _ domain: DomainName) -> Void
    private let state = Mutex(State())
    private let count = Atomic<Int>(0)

    private struct State: Sendable {
        /// The first domain that was looked up. A command looks up no other, and a dictionary would take a fifth of the
        /// time of a read.
        var first: (domain: DomainName, installed: InstalledSchema?)?
        var installed: [DomainName: InstalledSchema?] = [:]
        var declared: [DomainName: EffectiveSchema] = [:]

        func known(of domain: DomainName) -> InstalledSchema?? {
            if let first, first.domain == domain { return .some(first.installed) }
            return installed.isEmpty ? nil : installed[domain]
        }

        /// Records what is installed for a domain. Returns false if that is known already.
        mutating func record(_ schema: InstalledSchema?, of domain: DomainName) -> Bool {
            guard let first else {
                self.first = (domain, schema)
                return true
            }
            return first.domain != domain && installed.updateValue(schema, forKey: domain) == nil
        }
    }

    package init(
        _ kind: Store.Kind = .native, on system: SystemServices,
        reportFault: @escaping @Sendable (_ schema: InstalledSchema, _ domain: DomainName) -> Void = { _, _ in }
    ) {
        places = SchemaPlaces(kind, on: system)
        self.system = system
        self.reportFault = reportFault
    }

    /// The schema that is installed for a domain, valid or not.
    package subscript(domain: DomainName) -> InstalledSchema? {
        if let known = state.withLock({ $0.known(of: domain) }) { return known }
        let schema = places.schema(of: domain, on: system)
        let isNew = state.withLock { $0.record(schema, of: domain) }
        if isNew, let schema, !schema.faults.isEmpty { reportFault(schema, domain) }
        return schema
    }

    /// The schema that look-ups in a domain use: the declared one, else the installed one if it is valid.
    func schemaInForce(of domain: DomainName) -> EffectiveSchema? {
        state.withLock { $0.declared[domain] } ?? self[domain]?.schemaInForce
    }

    /// Replaces the installed schema of a domain for look-ups that begin from now on.
    func declare(_ schema: EffectiveSchema, for domain: DomainName) {
        state.withLock { $0.declared[domain] = schema }
        count.add(1, ordering: .releasing)
    }

    /// The number of schemas that were declared.
    var declarations: Int { count.load(ordering: .acquiring) }

    /// Forgets the installed schemas, so that they are loaded again.
    package func reload() { state.withLock { ($0.first, $0.installed) = (nil, [:]) } }
}
