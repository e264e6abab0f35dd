internal import Platform
internal import Preferences
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

extension CompletionSource {
    /// Returns the source for the store that the words on the command line select. Errors are not reported, since they
    /// would disturb the user's typing.
    static func live(_ words: [String], _ context: CommandContext) -> CompletionSource {
        // Created on demand: options and verbs need no store.
        let access: @Sendable () -> StoreAccess? = {
            let invocation = Invocation(
                verb: .complete, path: [], operands: [], options: storeOptions(words.dropLast()))
            return try? StoreAccess(invocation, context)
        }
        return CompletionSource(
            domains: { ((try? access()?.names()) ?? []).map(\.text) },
            domain: { word in
                guard let access = access(), let domain = try? access.domain(word) else { return nil }
                if let contents = try? domain.file.contents(on: access.system), contents.exists {
                    return contents.values.withoutHidden
                }
                return try? access.quietlyEffectiveValues(domain)
            },
            schema: { word in
                guard let access = access(), let domain = try? access.domain(word) else { return nil }
                return access.schemaInForce(domain)?.schema
            },
            versions: { word in
                guard let access = access(), let domain = try? access.domain(word),
                    let history = try? access.history(of: domain)
                else { return [] }
                return HistoryListing(history).entries.map { ($0.version.sequence, $0.occasion) }
            })
    }

    /// Returns the options among the words that select store, host and layer.
    private static func storeOptions(_ words: ArraySlice<String>) -> [(option: Option, word: String)] {
        var options: [(Option, String)] = []
        var rest = words
        while let word = rest.popFirst() {
            let (name, attached) = word.splitAtEqualsSign
            guard let option = [Option.store, .host, .currentHost, .layer].first(where: { $0.isNamed(name) }) else {
                continue
            }
            guard option.argument != nil else {
                options.append((option, ""))
                continue
            }
            if let argument = attached ?? rest.popFirst() { options.append((option, argument)) }
        }
        return options
    }
}

extension StoreAccess {
    /// Returns the values in force of a domain without a file in its own layer. Damage is not reported.
    fileprivate func quietlyEffectiveValues(_ domain: AddressedDomain) throws -> PropertyList.Dictionary? {
        let files = try files(domain).filter { $0.layer.isOfAdministrator && !$0.layer.isGlobal }
        let layers = try layers(in: files) { (try? $0.contents(on: system)) ?? .absent }
        guard !layers.isEmpty else { return nil }
        return LayerStack(layers, nil).valuesInForce().entries.withoutHidden
    }
}
