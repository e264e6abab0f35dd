internal import PropertyLists

/// What somebody may have meant to write.
package enum Spelling {
    /// What goes behind a complaint about one of a few words: which was probably meant, else which there are.
    package static func advice(_ word: String, among known: [String]) -> String {
        let hint = hint(word, among: known)
        return hint.isEmpty ? "; it is one of \(known.joined(separator: ", "))" : hint
    }

    /// The question that goes behind a complaint; empty where nothing is near.
    package static func hint(_ word: String, among known: [String]) -> String {
        known.nearest(to: word).map { "; did you mean \($0)?" } ?? ""
    }
}
