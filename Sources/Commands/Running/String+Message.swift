internal import PropertyLists

/// Returns a count with its noun: `1 change`, `2 changes`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// Joins the first names of a list: `a, b and 3 more`.
func abridged(_ names: [String], most: Int = 5) -> String {
    let shown = names.prefix(most).map(\.onOneLine).joined(separator: ", ")
    return names.count > most ? "\(shown) and \(names.count - most) more" : shown
}

extension String {
    /// The text for a message, on one line of limited length.
    package var onOneLine: String { shortened(self, to: 200) }
}
