internal import Platform
internal import Preferences
internal import Synchronization

/// The schemas that a command has looked for, so that each is read once.
final class KnownSchemas: Sendable {
    let places: SchemaPlaces
    private let machine: Machine
    private let known = Mutex<[DomainName: InstalledSchema?]>([:])

    init(_ kind: Store.Kind, _ machine: Machine) {
        places = SchemaPlaces(kind, on: machine)
        self.machine = machine
    }

    /// What is installed for a domain, good or not.
    subscript(domain: DomainName) -> InstalledSchema? {
        if let found = known.withLock({ $0[domain] }) { return found }
        let schema = places.schema(of: domain, on: machine)
        known.withLock { $0[domain] = .some(schema) }
        return schema
    }
}
