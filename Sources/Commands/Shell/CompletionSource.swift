package import PropertyLists
package import SettingsSchema

/// Where completions find the names of domains, and what is in one.
package struct CompletionSource: Sendable {
    package let domains: @Sendable () -> [String]
    /// The domain that an argument names; nil where there is none.
    package let domain: @Sendable (String) -> PropertyList.Dictionary?
    /// The schema in force for the domain that an argument names; nil where there is none.
    package let schema: @Sendable (String) -> Schema?

    package init(
        domains: @escaping @Sendable () -> [String],
        domain: @escaping @Sendable (String) -> PropertyList.Dictionary?,
        schema: @escaping @Sendable (String) -> Schema? = { _ in nil }
    ) {
        self.domains = domains
        self.domain = domain
        self.schema = schema
    }

    /// Knows nothing.
    package static let none = CompletionSource(domains: { [] }, domain: { _ in nil })
}
