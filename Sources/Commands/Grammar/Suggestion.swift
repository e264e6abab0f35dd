internal import PropertyLists

/// Suggestions for misspelled words.
package enum Suggestion {
    /// Returns the end of a message about an unknown word: a suggestion, or else the list of known words.
    package static func advice(_ word: String, among known: [String]) -> String {
        let hint = hint(word, among: known)
        return hint.isEmpty ? "; expected one of \(known.joined(separator: ", "))" : hint
    }

    /// Returns a suggestion for an unknown verb. Other commands for settings have other names for the same things.
    package static func hint(verb word: String, among known: [String]) -> String {
        let synonyms = [
            "get": "read", "show": "read", "set": "write", "put": "write", "list": "domains", "ls": "domains",
            "unset": "delete", "rm": "delete", "del": "delete", "mv": "rename", "move": "rename", "search": "find",
            "log": "history",
        ]
        guard let verb = synonyms[word.lowercased()], known.contains(verb) else { return hint(word, among: known) }
        return "; did you mean \(verb)?"
    }

    /// Returns a suggestion for an unknown option, which may be a value.
    static func hint(option word: String, among known: [String], mayBeValue: Bool) -> String {
        let hint = hint(word, among: known)
        return hint.isEmpty && mayBeValue ? "; write -- before a word that is not an option" : hint
    }

    /// Returns a suggestion, or an empty string if no word is similar.
    package static func hint(_ word: String, among known: [String]) -> String {
        known.nearest(to: word).map { "; did you mean \($0)?" } ?? ""
    }
}
