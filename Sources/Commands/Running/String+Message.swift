internal import PropertyLists

extension String {
    /// The text for a message of the command: on one line, and not without end.
    package var onOneLine: String { shortened(self, to: 200) }
}
