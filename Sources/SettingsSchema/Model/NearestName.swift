internal import PropertyLists

extension Sequence<String> {
    /// The name that was probably meant by `name`: one that few changes lead to, or that it is the beginning of.
    package func nearest(to name: String) -> String? {
        let wanted = name.lowercased()
        let distances = map { (name: $0, distance: $0.lowercased().editDistance(to: wanted)) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        let most = Swift.min(3, (Swift.max(wanted.unicodeScalars.count, best.name.unicodeScalars.count) + 1) / 3)
        if best.distance <= most { return best.name }
        return wanted.utf8.count < 2 ? nil : distances.first { $0.name.lowercased().hasPrefix(wanted) }?.name
    }
}

/// The end of a message that names what was probably meant.
func hint(_ nearest: String?) -> String { nearest.map { "; did you mean \($0)?" } ?? "" }

/// `a`, `a and b`, `a, b and c`.
func listed(_ names: [String], _ conjunction: String = "and") -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " \(conjunction) \(last)"
}
