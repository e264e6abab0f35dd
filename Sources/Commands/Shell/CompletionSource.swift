package import PropertyLists

/// Where completions find the names of domains, and what is in one.
package struct CompletionSource: Sendable {
    package let domains: @Sendable () -> [String]
    /// The domain that an argument names; nil where there is none.
    package let domain: @Sendable (String) -> PropertyList.Dictionary?

    package init(
        domains: @escaping @Sendable () -> [String],
        domain: @escaping @Sendable (String) -> PropertyList.Dictionary?
    ) {
        self.domains = domains
        self.domain = domain
    }

    /// Knows nothing.
    package static let none = CompletionSource(domains: { [] }, domain: { _ in nil })
}
