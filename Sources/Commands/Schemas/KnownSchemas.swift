internal import Platform
internal import Preferences
internal import Synchronization

/// The schemas that a command has looked for, so that each is read once.
final class KnownSchemas: Sendable {
    let places: SchemaPlaces
    private let machine: Machine
    private let state = Mutex(State())

    private struct State: Sendable {
        /// Most commands ask for one domain, and to make a table takes longer than to look for its schema.
        var first: (domain: DomainName, schema: InstalledSchema?)?
        var others: [DomainName: InstalledSchema?]?
    }

    init(_ kind: Store.Kind, _ machine: Machine) {
        places = SchemaPlaces(kind, on: machine)
        self.machine = machine
    }

    /// What is installed for a domain, good or not.
    subscript(domain: DomainName) -> InstalledSchema? {
        let found = state.withLock { state -> InstalledSchema?? in
            if let first = state.first, first.domain == domain { return .some(first.schema) }
            return state.others?[domain]
        }
        if let found { return found }
        let schema = places.schema(of: domain, on: machine)
        state.withLock { state in
            if state.first == nil {
                state.first = (domain, schema)
            } else {
                state.others = state.others ?? [:]
                state.others?[domain] = .some(schema)
            }
        }
        return schema
    }
}
