/// A fixed set of words for an argument. The parser rejects others.
package enum Choice: Hashable, Sendable {
    case formats([FormatName])
    case words([String])
}

extension Choice {
    /// The words in their canonical spelling.
    package var words: [String] {
        switch self {
        case .formats(let formats): formats.map(\.rawValue)
        case .words(let words): words
        }
    }

    /// Returns the canonical spelling of a word, or nil if it is not in the set.
    func canonical(_ word: String) -> String? {
        switch self {
        case .formats: words.first { $0 == FormatName(word: word)?.rawValue }
        case .words: words.first { $0.lowercased() == word.lowercased() }
        }
    }
}
