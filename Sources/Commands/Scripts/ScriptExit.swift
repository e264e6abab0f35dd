internal import SettingsSchema

/// The text that ends a script when `prefs args` fails, so that it does not continue without its settings.
enum ScriptExit {
    /// Returns the text for a command line that could not be parsed.
    static func text(after words: [String], _ status: ExitStatus) -> String {
        let own = words.prefix { $0 != "--" }
        // The output of these options is not evaluated by the script.
        if own.contains(where: { $0.hasPrefix("--completions") || ["--man", "--build", "--shellcheck"].contains($0) }) {
            return ""
        }
        let named = own.enumerated().compactMap { index, word -> String? in
            if word.hasPrefix("--shell=") { return String(word.dropFirst("--shell=".count)) }
            let isBehindOption = index > 0 && own[index - 1] == "--shell"
            return isBehindOption ? word : nil
        }
        return (named.last.flatMap { ScriptOutput(rawValue: $0.lowercased()) } ?? .sh).exit(status.rawValue)
    }
}
