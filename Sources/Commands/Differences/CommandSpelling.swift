internal import PropertyLists

/// How a command on one domain is spelled.
struct CommandSpelling {
    let domain: String
    let options: [String]
    /// What stands behind the verb, such as `--layer site`.
    var verbOptions: [String] = []

    /// A line with its newline.
    func line(_ verb: String, _ arguments: [String]) -> String {
        ShellWord.line(["prefs"] + options + [verb] + verbOptions + domainWords + arguments) + "\n"
    }

    /// The line that takes entries from standard input.
    func importing(_ entries: PropertyList.Dictionary, replacing: Bool) throws(CommandFailure) -> String {
        guard let text = LosslessJSON.text(of: .dictionary(entries)) else {
            throw CommandFailure(.invalidValue, "a value is nested too deeply to be written down")
        }
        let verb =
            ["prefs"] + options + ["import"] + verbOptions + (replacing ? ["--replace"] : []) + ["--lossless-json"]
        return ShellWord.line(["printf", "%s", text]) + " | " + ShellWord.line(verb + domainWords + ["-"]) + "\n"
    }

    /// The domain, so that it is not taken for an option.
    private var domainWords: [String] {
        let isGlobal = domain == "-g" || domain == "-globalDomain"
        return domain.utf8.first == UInt8(ascii: "-") && !isGlobal ? ["--", domain] : [domain]
    }
}
