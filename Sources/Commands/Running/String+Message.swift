internal import PropertyLists

/// So many of something, in words: `1 change`, `2 changes`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// The first of some names: `a, b and 3 more`.
func abridged(_ names: [String], most: Int = 5) -> String {
    let shown = names.prefix(most).map(\.onOneLine).joined(separator: ", ")
    return names.count > most ? "\(shown) and \(names.count - most) more" : shown
}

extension String {
    /// The text for a message of the command: on one line, and not without end.
    package var onOneLine: String { shortened(self, to: 200) }
}
