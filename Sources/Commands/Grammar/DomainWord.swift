/// The spellings of the global domain.
package enum DomainWord {
    /// Those that look like options, and stand where a domain stands.
    package static let globalFlags = ["-g", "-globalDomain"]

    /// All of them.
    package static let global = globalFlags + ["NSGlobalDomain", "Apple Global Domain"]
}
