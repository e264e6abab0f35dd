internal import Platform
internal import SettingsSchema
internal import Synchronization

/// The schemas of the domains that a process uses. Each is looked for once, when its domain is first looked into.
final class DomainSchemas: Sendable {
    private let places: SchemaPlaces
    private let machine: Machine
    private let issues: IssueBoard
    private let known = Mutex<[DomainName: SchemaInForce?]>([:])

    init(_ kind: Store.Kind, _ machine: Machine, _ issues: IssueBoard) {
        places = SchemaPlaces(kind, on: machine)
        self.machine = machine
        self.issues = issues
    }

    /// The schema that is in force for a domain; nil where there is none, or none that is good.
    subscript(domain: DomainName) -> SchemaInForce? {
        if let found = known.withLock({ $0[domain] }) { return found }
        let installed = places.schema(of: domain, on: machine)
        let schema = installed?.schema.map { SchemaInForce($0, file: installed?.file?.description) }
        let (result, isFirst) = known.withLock { known in
            // Somebody may have declared one meanwhile.
            if let other = known[domain] { return (other, false) }
            known[domain] = .some(schema)
            return (schema, true)
        }
        if isFirst, let installed, let fault = installed.faults.first {
            issues.post(Issue(.badSchema(file: installed.place, reason: fault), domain: domain.text))
        }
        return result
    }

    /// The schema that all other programs go by, whatever this one declares.
    func installed(for domain: DomainName) -> Schema? { places.schema(of: domain, on: machine)?.readable }

    /// Takes what the program declares in place of what is installed, for all who look into the domain from now on.
    func declare(_ schema: SchemaInForce, for domain: DomainName) {
        known.withLock { $0[domain] = .some(schema) }
    }
}
