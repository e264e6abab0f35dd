internal import Preferences
internal import PropertyLists

/// The spelling of prefs commands on a domain, for messages and scripts.
struct CommandSpelling {
    let domain: String
    /// Options before the verb, such as `-currentHost`.
    let options: [String]
    /// Options after the verb, such as `--layer site`.
    let verbOptions: [String]

    init(domain: String, options: [String] = [], verbOptions: [String] = []) {
        self.domain = domain
        self.options = options
        self.verbOptions = verbOptions
    }

    /// Creates the spelling for a domain in its layer.
    ///
    /// - Parameter host: The host for the layer `user-host`; nil for this one.
    init(_ domain: String, in layer: Layer, store: String?, host: String? = nil) {
        var options = Option.words(naming: store)
        if layer == .userHost { options += host.map { [Option.host.name, $0] } ?? [Option.currentHost.name] }
        self.init(
            domain: domain, options: options, verbOptions: layer.isOfUser ? [] : [Option.layer.name, layer.name])
    }

    /// Creates the spelling for the store and host of another command.
    init(_ domain: String, in layer: Layer, _ invocation: Invocation) {
        self.init(domain, in: layer, store: invocation[.store], host: invocation[.host])
    }

    /// Returns the words of a command.
    ///
    /// - Parameter value: A type flag and the words of its value.
    func words(
        _ verb: [String], options verbOptions: [String] = [], _ operands: [String] = [], value: ValueWords? = nil
    ) -> [String] {
        let start = [Prefs.name] + options + verb + self.verbOptions + verbOptions
        // `--` keeps a domain or a key that begins with a dash from being taken as an option. No type can follow it.
        let isLikeOption =
            domain.looksLikeOption && !DomainArgument.isGlobalFlag(domain) || operands.contains { $0.looksLikeOption }
        guard isLikeOption else { return start + [domain] + operands + (value?.words ?? []) }
        return start + (value?.wordsBeforeOthers ?? []) + ["--", domain] + operands
    }

    /// Returns a command line with a newline.
    func line(_ verb: String, _ operands: [String], value: ValueWords? = nil) -> String {
        ShellWord.line(words([verb], operands, value: value)) + "\n"
    }

    /// Returns the command line that imports entries from the standard input.
    func importing(_ entries: PropertyList.Dictionary, replacing: Bool) throws(CommandFailure) -> String {
        guard let text = LosslessJSON.text(of: .dictionary(entries)) else {
            throw CommandFailure(.invalidValue, "a value is nested too deeply")
        }
        let command = words([Verb.importing.name], options: replacing ? [Option.replace.name] : [], ["-"])
        return ShellWord.line(["printf", "%s", text]) + " | " + ShellWord.line(command) + "\n"
    }
}
