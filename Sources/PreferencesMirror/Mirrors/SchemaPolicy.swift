internal import MirrorEngine
internal import Platform
internal import Preferences
internal import Synchronization

/// The installed schemas' rules for a domain's keys: how values merge, and which keys stay on this host.
final class SchemaPolicy: Sendable {
    private let machine: Machine
    private let places: SchemaPlaces
    private let schemas = Mutex<[String: Schema?]>([:])

    init(_ machine: Machine) {
        self.machine = machine
        places = SchemaPlaces(on: machine)
    }

    var policy: DomainPolicy {
        DomainPolicy(
            kind: { [self] domain, key in
                schema(domain)?.anyDeclaration(of: key)?.merges == true ? .dictionary : .register
            },
            staysHome: { [self] domain, key in schema(domain)?.staysHere(key) ?? false })
    }

    /// Forgets the schemas, so that they are read again.
    func reload() { schemas.withLock { $0 = [:] } }

    private func schema(_ domain: String) -> Schema? {
        if let known = schemas.withLock({ $0[domain] }) { return known }
        // An invalid schema still determines which settings are secret.
        let schema = (try? DomainName(domain)).flatMap { places.schema(of: $0, on: machine)?.readable }
        schemas.withLock { $0[domain] = .some(schema) }
        return schema
    }
}
