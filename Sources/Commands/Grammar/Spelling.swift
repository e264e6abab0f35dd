internal import PropertyLists

/// What somebody may have meant to write.
package enum Spelling {
    /// The known word that is nearest to `word`, if any is near enough to be worth a question.
    package static func nearest(to word: String, among known: [String]) -> String? {
        let wanted = word.lowercased()
        var best: (word: String, distance: Int)?
        for candidate in known {
            let distance = candidate.lowercased().editDistance(to: wanted)
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        guard let best, best.distance <= max(1, min(3, wanted.count / 2)) else {
            return known.first { wanted.count >= 3 && $0.lowercased().hasPrefix(wanted) }
        }
        return best.word
    }

    /// The question that goes behind a complaint; empty where nothing is near.
    package static func hint(_ word: String, among known: [String]) -> String {
        nearest(to: word, among: known).map { "; did you mean \($0)?" } ?? ""
    }
}
