internal import Platform
internal import Preferences
internal import Synchronization

/// A cache of the schemas that a command has looked up.
final class KnownSchemas: Sendable {
    let places: SchemaPlaces
    private let machine: Machine
    private let state = Mutex(State())

    private struct State: Sendable {
        /// Most commands need only one domain, and creating a dictionary takes longer than finding its schema.
        var first: (domain: DomainName, schema: InstalledSchema?)?
        var others: [DomainName: InstalledSchema?]?
    }

    init(_ kind: Store.Kind, _ machine: Machine) {
        places = SchemaPlaces(kind, on: machine)
        self.machine = machine
    }

    /// Returns the installed schema of a domain, valid or not.
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
