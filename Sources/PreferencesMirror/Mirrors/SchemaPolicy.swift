internal import MirrorEngine
internal import Platform
internal import Preferences
internal import Synchronization

/// What the schemas that are installed say of a domain's keys: how values merge, and which stay on this host.
final class SchemaPolicy: Sendable {
    private let machine: Machine
    private let folders: [FilePath]
    private let schemas = Mutex<[String: Schema?]>([:])

    init(_ machine: Machine) {
        self.machine = machine
        let own = (try? machine.environment.folder(.data, in: machine.fileSystem)).map { [$0] } ?? []
        folders = (own + machine.environment.systemFolders(.data)).map { $0.resolving("prefs/schemas") }
    }

    var policy: DomainPolicy {
        DomainPolicy(
            kind: { [self] domain, key in declaration(domain, key)?.merges == true ? .dictionary : .register },
            staysHome: { [self] domain, key in declaration(domain, key)?.staysHere ?? false })
    }

    /// Looks at the schemas again.
    func reload() { schemas.withLock { $0 = [:] } }

    private func declaration(_ domain: String, _ key: String) -> SettingDeclaration? {
        schema(of: domain)?.declaration(of: key)
    }

    private func schema(of domain: String) -> Schema? {
        if let known = schemas.withLock({ $0[domain] }) { return known }
        let schema = read(domain, depth: 0)
        schemas.withLock { $0[domain] = .some(schema) }
        return schema
    }

    private func read(_ domain: String, depth: Int) -> Schema? {
        guard depth < 16, (try? DomainName(domain)) != nil, let name = FileName(domain + ".plist") else { return nil }
        for folder in folders {
            let path = folder.appending(name)
            guard let bytes = (try? machine.fileSystem.contents(of: path, limit: 16 << 20)) ?? nil else { continue }
            return Schema.read(bytes, checks: false) { self.read($0, depth: depth + 1) }.schema
        }
        return nil
    }
}
