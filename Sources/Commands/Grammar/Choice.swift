/// The words that may stand in a place of the command line, where these are few. The parser lets no other one through.
package enum Choice: Hashable, Sendable {
    case formats([FormatName])
    case words([String])
}

extension Choice {
    /// The words, each in the one spelling that a verb sees.
    package var words: [String] {
        switch self {
        case .formats(let formats): formats.map(\.rawValue)
        case .words(let words): words
        }
    }

    /// The word in that spelling; nil for one that may not stand here.
    func canonical(_ word: String) -> String? {
        let name =
            switch self {
            case .formats: FormatName(word: word)?.rawValue
            case .words: word.lowercased()
            }
        return words.first { $0 == name }
    }
}
