internal import Platform
internal import Preferences
internal import PropertyLists

extension CompletionSource {
    /// The store that the words on the command line lead to. What cannot be read offers nothing, and is not told of:
    /// nobody who presses Tab wants to hear of it.
    static func live(_ words: [String], _ surroundings: Surroundings) -> CompletionSource {
        // Looked for when it is needed: options and verbs need no store.
        let access: @Sendable () -> StoreAccess? = {
            let invocation = Invocation(
                verb: .complete, path: [], operands: [], options: storeOptions(words.dropLast()))
            return try? StoreAccess(invocation, surroundings)
        }
        return CompletionSource(
            domains: {
                ((try? access()?.names()) ?? []).map { $0.isGlobal ? DomainName.global.text : $0.text }
            },
            domain: { word in
                guard let access = access(), let domain = try? access.domain(word) else { return nil }
                if let contents = try? domain.file.contents(on: access.machine), contents.exists {
                    return contents.values.withoutHidden
                }
                return try? access.quietlyEffectiveValues(domain)
            },
            schema: { word in
                guard let access = access(), let domain = try? access.domain(word) else { return nil }
                return access.schemaInForce(domain)?.schema
            })
    }

    /// The options among the words that say which store, host and layer is meant.
    private static func storeOptions(_ words: ArraySlice<String>) -> [(option: Option, word: String)] {
        var options: [(Option, String)] = []
        var rest = words
        while let word = rest.popFirst() {
            let (name, attached) = word.splitAtEqualsSign
            guard let option = [Option.store, .host, .currentHost, .layer].first(where: { $0.name == name }) else {
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
    /// What is in force of a domain that has nothing in its own layer; nothing is said of damaged files.
    fileprivate func quietlyEffectiveValues(_ domain: AddressedDomain) throws -> PropertyList.Dictionary? {
        let files = try files(domain).filter { $0.layer == .site || $0.layer == .forced }
        let layers = try layers(in: files) { (try? $0.contents(on: machine)) ?? .absent }
        guard !layers.isEmpty else { return nil }
        return DomainLayers(layers, nil).valuesInForce.entries.withoutHidden
    }
}
