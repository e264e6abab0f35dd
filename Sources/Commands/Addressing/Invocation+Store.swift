extension Invocation {
    /// The words before the verb that lead another command to the same store and host.
    var storeWords: [String] {
        let store = self[.store].map { [Option.store.name, $0] } ?? []
        let host = self[.host].map { [Option.host.name, $0] } ?? []
        return store + (has(.currentHost) ? [Option.currentHost.name] : []) + host
    }

    /// The words behind the verb that lead another command to the same layer.
    var layerWords: [String] { self[.layer].map { [Option.layer.name, $0] } ?? [] }
}

extension ShellWord {
    /// The words of a command on one domain, which is not taken for an option whatever it is called.
    static func command(
        _ store: [String], _ verb: String, _ options: [String], _ domain: String, _ operands: [String] = []
    ) -> [String] {
        let isFlag = DomainWord.globalFlags.contains(domain)
        let separator = domain.utf8.first == UInt8(ascii: "-") && !isFlag ? ["--"] : []
        return ["prefs"] + store + [verb] + options + separator + [domain] + operands
    }
}
