extension Sequence<String> {
    /// The name that was probably intended by `name`: one that differs by few edits, or one that begins with `name`.
    package func nearest(to name: String) -> String? {
        let wanted = name.lowercased()
        // Of many names, only the first are compared, because a comparison takes a microsecond.
        let distances = prefix(1000).map { (name: $0, distance: $0.lowercased().editDistance(to: wanted)) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        // All options begin with dashes, which are not part of the word.
        let length = Swift.max(wanted.lettersAfterDashes, best.name.lettersAfterDashes)
        let most = Swift.min(3, (length + 1) / 3)
        if best.distance <= most { return best.name }
        return wanted.utf8.count < 2 ? nil : distances.first { $0.name.lowercased().hasPrefix(wanted) }?.name
    }
}

extension String {
    fileprivate var lettersAfterDashes: Int { unicodeScalars.drop { $0 == "-" }.count }

    /// The number of insertions, deletions, replacements and swaps of neighbors that turn this string into `other`.
    package func editDistance(to other: String) -> Int {
        let (a, b) = (Array(unicodeScalars.prefix(64)), Array(other.unicodeScalars.prefix(64)))
        var beforeLast = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0...b.count)
        for i in a.indices {
            var current = [i + 1]
            for j in b.indices {
                var best = Swift.min(last[j + 1] + 1, current[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = Swift.min(best, beforeLast[j - 1] + 1) }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[b.count]
    }
}
