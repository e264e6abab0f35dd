internal import MirrorEngine
internal import Preferences

extension DomainPolicy {
    /// The policy that the installed schemas declare: how values merge, and which stay on this host.
    ///
    /// A schema with errors is used too: it can still declare what is secret.
    init(_ schemas: SchemaCache) {
        let schema = { @Sendable (domain: String) in (try? DomainName(domain)).flatMap { schemas[$0]?.readable } }
        self.init(
            kind: { domain, key in
                schema(domain)?.anyDeclaration(of: key)?.merges == true ? .dictionary : .register
            },
            staysHome: { domain, key in schema(domain)?.staysLocal(key) ?? false })
    }
}
