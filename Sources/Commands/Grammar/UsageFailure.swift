internal import PropertyLists

/// Invalid command line arguments.
package struct UsageFailure: Reportable {
    package enum Problem: Hashable, Sendable {
        case noVerb
        /// A verb that has verbs of its own, without one of these.
        case missingVerb(known: [String])
        case unknownVerb(String, known: [String])
        /// - Parameter mayBeValue: Whether the verb takes words that can begin with a dash.
        case unknownOption(String, known: [String], mayBeValue: Bool = false)
        /// An option in a position where it is not recognized.
        case lateOption(String)
        /// An option of a verb, before the verb.
        case optionOfVerb(String)
        /// An option that is only recognized before the verb.
        case optionOfCommand(String)
        /// An option among the words of an array or a dictionary.
        case optionAmongValues(String, of: String)
        case missingArgument(option: String, argument: String)
        case unexpectedArgument(option: String)
        case unknownArgument(option: String, word: String, known: [String])
        case notANumber(option: String, word: String)
        case repeatedOption(String)
        case optionWithoutEffect(String)
        case missingOperand(String)
        /// A key and its value are one word: `size=12`.
        case joinedValue(String)
        case unexpectedOperand(String)
        /// The same, after several files where one is expected.
        case severalFiles(String)
        case unknownOperand(String, word: String, known: [String])
        /// An argument that is not valid UTF-8. It would be stored as a different string.
        case notText(String)
        /// The argument of `-app`.
        case unknownApplication(String)
    }

    package let problem: Problem
    /// The recognized verb, preceded by those that contain it.
    package let path: [String]
    /// The usage line of the verb.
    let usage: String?

    init(_ problem: Problem, path: [String] = [], usage: String? = nil) {
        self.problem = problem
        self.path = path
        self.usage = usage
    }

    package var status: ExitStatus { .usage }

    package var lines: [String] { [text + (usage.map { "; usage: \($0)" } ?? "")] }

    private var text: String {
        switch problem {
        case .noVerb: "missing verb; the verb `help` lists all"
        case .missingVerb(let known): "\(name) requires a verb, one of \(known.joined(separator: ", "))"
        case .unknownVerb(let word, let known):
            "unknown verb \(shown((path + [word]).joined(separator: " ")))\(adviceOnVerb(word, known))"
        case .unknownOption(let word, let known, let mayBeValue):
            "unknown option \(shown(word))\(Suggestion.hint(option: word, among: known, mayBeValue: mayBeValue))"
        case .lateOption(let word): "misplaced option \(shown(word)): with \(name), options precede the domain"
        case .optionOfVerb(let word): "misplaced option \(shown(word)): write it after the verb"
        case .optionOfCommand(let word): "misplaced option \(shown(word)): write \(shown(word)) before the verb"
        case .optionAmongValues(let option, let flag):
            "misplaced option \(option): write it before \(flag), or write -- before values that look like options"
        case .missingArgument(let option, let argument): "\(option) requires \(argument)"
        case .unexpectedArgument(let option): "\(option) takes no argument"
        case .unknownArgument(let option, let word, let known):
            "\(option) cannot be \(shown(word))\(Suggestion.advice(word, among: known))"
        case .notANumber(let option, let word): "\(option) requires a number of 0 or more, not \(shown(word))"
        case .repeatedOption(let option): "duplicate option \(option)"
        case .optionWithoutEffect(let option): "\(name): \(option) has no effect on this verb"
        case .missingOperand(let operand): "\(name) requires \(operand)"
        case .joinedValue(let word): "\(name) requires KEY and VALUE as two words, not \(shown(word))"
        case .unexpectedOperand(let word): "\(name): unexpected argument \(shown(word))"
        case .severalFiles(let word):
            "\(name): unexpected argument \(shown(word)); quote a pattern for several files, such as './*.json'"
        case .unknownOperand(let operand, let word, let known):
            "unknown \(description(of: word, as: operand))\(Suggestion.advice(word, among: known))"
        case .unknownApplication(let name):
            "no application \(shown(name)): no installed schema has this title or domain, and no desktop entry this name"
        case .notText(let word): "the argument \(shown(word)) is not UTF-8"
        }
    }

    private var name: String { path.joined(separator: " ") }

    private func adviceOnVerb(_ word: String, _ known: [String]) -> String {
        guard path.isEmpty else { return Suggestion.advice(word, among: known) }
        let hint = Suggestion.hint(verb: word, among: known)
        return hint.isEmpty ? "; the verb `help` lists all" : hint
    }

    /// Returns a word with the name of its operand, if that is a placeholder, which is in capitals.
    private func description(of word: String, as operand: String) -> String {
        operand == operand.uppercased()
            ? "\(operand.lowercased()) \(shown(word))" : "word \(shown(word)) after \(name)"
    }

    private func shown(_ word: String) -> String { ShellWord.quoted(word.onOneLine) }
}

/// Suggestions for misspelled words.
package enum Suggestion {
    /// Returns the end of a message about an unknown word: a suggestion, or else the list of known words.
    package static func advice(_ word: String, among known: [String]) -> String {
        let hint = hint(word, among: known)
        return hint.isEmpty && !known.isEmpty ? "; expected one of \(known.joined(separator: ", "))" : hint
    }

    /// Returns a suggestion for an unknown verb. Other commands for settings have other names for the same things.
    package static func hint(verb word: String, among known: [String]) -> String {
        let synonyms = [
            "get": "read", "show": "read", "set": "write", "put": "write", "list": "domains", "ls": "domains",
            "unset": "delete", "rm": "delete", "del": "delete", "mv": "rename", "move": "rename", "search": "find",
            "log": "history", "backup": "export --domains", "toggle": "write --toggle", "increment": "write --add",
            "redo": "undo", "dump": "read", "version": "--version", "reset": "delete",
        ]
        let pages = ["prefs-args", "prefs-mirror", "prefs-query", "prefs-schema"]
        if pages.contains(word) { return "; it is a manual page: man \(word)" }
        let verb = synonyms[word.lowercased()]
        guard let verb, verb.hasPrefix("-") || known.contains(where: { verb.split(separator: " ")[0] == $0 }) else {
            return hint(word, among: known)
        }
        return "; did you mean \(verb)?"
    }

    /// Returns a suggestion for an unknown domain. The components with which both names begin do not make them similar.
    static func hint(domain word: String, among known: [String]) -> String {
        let words = word.split(separator: ".", omittingEmptySubsequences: false)
        let similar = known.filter { name in
            let names = name.split(separator: ".", omittingEmptySubsequences: false)
            let shared = zip(words, names).prefix { $0 == $1 }.count
            let rest = words.dropFirst(shared).joined(separator: ".")
            return rest.isEmpty || [names.dropFirst(shared).joined(separator: ".")].nearest(to: rest) != nil
        }
        return hint(word, among: similar)
    }

    /// Returns a suggestion for an unknown option, which may be a value.
    static func hint(option word: String, among known: [String], mayBeValue: Bool) -> String {
        // Other commands have these for the same things.
        let synonyms = [
            "--json": "--format json", "--raw": "--format raw", "-f": "--format", "--all-users": "--layer site",
            "-n": "--dry-run", "--array-remove": "delete DOMAIN ':KEY:*' --where 'SELF == \"TEXT\"'",
        ]
        if let other = synonyms[word],
            other.hasPrefix("--") ? known.contains(String(other.prefix { $0 != " " })) : mayBeValue
        {
            return "; did you mean \(other)?"
        }
        if ["--secret", "--sensitive", "--password"].contains(word) {
            return "; a schema declares which values are sensitive (`prefs help schemas`)"
        }
        let hint = hint(word, among: known)
        return hint.isEmpty && mayBeValue ? "; write -- before a word that is not an option" : hint
    }

    /// Returns a suggestion, or an empty string if no word is similar.
    package static func hint(_ word: String, among known: [String]) -> String {
        known.nearest(to: word).map { "; did you mean \($0)?" } ?? ""
    }
}
