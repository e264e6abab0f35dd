internal import SettingsSchema

/// What a script is to evaluate where `prefs args` has failed, so that it does not go on without its settings.
enum ScriptEnd {
    /// The text for words of the command line that were not understood themselves.
    static func text(after words: [String], _ status: ExitStatus) -> String {
        let own = words.prefix { $0 != "--" }
        // What these print is evaluated by nobody, or by a shell that must live on.
        if own.contains(where: { $0.hasPrefix("--completions") || $0 == "--man" }) { return "" }
        let named = own.enumerated().compactMap { index, word -> String? in
            if word.hasPrefix("--shell=") { return String(word.dropFirst("--shell=".count)) }
            let isBehindOption = index > 0 && own[index - 1] == "--shell"
            return isBehindOption ? word : nil
        }
        return (named.last.flatMap { ScriptOutput(rawValue: $0.lowercased()) } ?? .sh).exit(status.rawValue)
    }
}
