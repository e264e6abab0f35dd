package import PropertyLists
package import SettingsSchema

/// The source of domain names and their contents for completions.
package struct CompletionSource: Sendable {
    package let domains: @Sendable () -> [String]
    /// The values of the domain that an argument names, or nil.
    package let domain: @Sendable (String) -> PropertyList.Dictionary?
    /// The schema of the domain that an argument names, or nil.
    package let schema: @Sendable (String) -> Schema?
    /// The kept versions of the domain that an argument names, newest first, each with a description.
    package let versions: @Sendable (String) -> [(number: Int, meaning: String)]

    package init(
        domains: @escaping @Sendable () -> [String],
        domain: @escaping @Sendable (String) -> PropertyList.Dictionary?,
        schema: @escaping @Sendable (String) -> Schema? = { _ in nil },
        versions: @escaping @Sendable (String) -> [(number: Int, meaning: String)] = { _ in [] }
    ) {
        self.domains = domains
        self.domain = domain
        self.schema = schema
        self.versions = versions
    }

    /// A source without domains.
    package static let none = CompletionSource(domains: { [] }, domain: { _ in nil })
}
