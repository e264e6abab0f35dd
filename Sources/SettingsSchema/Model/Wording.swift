/// Returns the end of a message that suggests the nearest name.
func hint(_ nearest: String?) -> String { nearest.map { "; did you mean \($0)?" } ?? "" }

/// Joins names into a list: `a`, `a and b`, `a, b and c`.
func listed(_ names: [String], _ conjunction: String = "and") -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " \(conjunction) \(last)"
}
