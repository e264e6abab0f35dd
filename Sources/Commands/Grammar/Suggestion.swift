internal import PropertyLists

/// Suggestions for misspelled words.
package enum Suggestion {
    /// Returns the end of a message about an unknown word: a suggestion, or else the list of known words.
    package static func advice(_ word: String, among known: [String]) -> String {
        let hint = hint(word, among: known)
        return hint.isEmpty ? "; expected one of \(known.joined(separator: ", "))" : hint
    }

    /// Returns a suggestion, or an empty string if no word is similar.
    package static func hint(_ word: String, among known: [String]) -> String {
        known.nearest(to: word).map { "; did you mean \($0)?" } ?? ""
    }
}
