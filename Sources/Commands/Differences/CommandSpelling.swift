internal import Preferences
internal import PropertyLists

/// How our own commands on a domain are spelled, where a person or a shell is told of them.
struct CommandSpelling {
    let domain: String
    /// What stands before the verb, such as `-currentHost`.
    let options: [String]
    /// What stands behind the verb, such as `--layer site`.
    let verbOptions: [String]

    init(domain: String, options: [String] = [], verbOptions: [String] = []) {
        self.domain = domain
        self.options = options
        self.verbOptions = verbOptions
    }

    /// Commands on a domain in its layer.
    ///
    /// - Parameter host: The host of the layer `user-host`; nil for this one.
    init(_ domain: String, in layer: Layer, store: String?, host: String? = nil) {
        var options = Option.words(naming: store)
        if layer == .userHost { options += host.map { [Option.host.name, $0] } ?? [Option.currentHost.name] }
        self.init(
            domain: domain, options: options, verbOptions: layer.isOfUser ? [] : [Option.layer.name, layer.name])
    }

    /// Commands in the store and on the host that another command was told of.
    init(_ domain: String, in layer: Layer, _ invocation: Invocation) {
        self.init(domain, in: layer, store: invocation[.store], host: invocation[.host])
    }

    /// The words of a command, its verb with those above it.
    func words(_ verb: [String], options verbOptions: [String] = [], _ operands: [String] = []) -> [String] {
        // A domain is not taken for an option, whatever it is called.
        let isLikeOption = domain.utf8.first == UInt8(ascii: "-") && !DomainWord.isGlobalFlag(domain)
        return [Prefs.name] + options + verb + self.verbOptions + verbOptions + (isLikeOption ? ["--"] : []) + [domain]
            + operands
    }

    /// A line with its newline.
    func line(_ verb: String, _ operands: [String]) -> String { ShellWord.line(words([verb], operands)) + "\n" }

    /// The line that takes entries from standard input.
    func importing(_ entries: PropertyList.Dictionary, replacing: Bool) throws(CommandFailure) -> String {
        guard let text = LosslessJSON.text(of: .dictionary(entries)) else {
            throw CommandFailure(.invalidValue, "a value is nested too deeply to be written down")
        }
        let options = (replacing ? [Option.replace.name] : []) + [Option.losslessJSON.name]
        let command = words([Verb.importing.name], options: options, ["-"])
        return ShellWord.line(["printf", "%s", text]) + " | " + ShellWord.line(command) + "\n"
    }
}
