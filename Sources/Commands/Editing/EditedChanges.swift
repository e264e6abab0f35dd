internal import Preferences
internal import PropertyLists

/// The keys that a user has changed in a text, and their values in the domain when the text was created.
struct EditedChanges: Sendable {
    private let changes: [(key: String, value: PropertyList?)]
    private let base: PropertyList.Dictionary

    /// Creates the changes.
    ///
    /// - Parameters:
    ///   - original: The values of the original text. They may differ from `base`, since not all formats can hold every
    ///     value.
    ///   - edited: The values of the edited text.
    ///   - base: The domain's values from which the text was created.
    init(from original: PropertyList.Dictionary, to edited: PropertyList.Dictionary, base: PropertyList.Dictionary) {
        self.base = base
        let added = edited.keys.filter { original[$0] == nil }
        changes = (Array(original.keys) + added).filter { original[$0] != edited[$0] && !$0.isHidden }
            .sorted { $0.isBefore($1) }.map { ($0, edited[$0]) }
    }

    var isEmpty: Bool { changes.isEmpty }
    var keys: [String] { changes.map(\.key) }

    /// Returns the changed keys that someone else has since changed differently.
    func conflicts(with values: PropertyList.Dictionary) -> [String] {
        changes.filter { values[$0.key] != base[$0.key] && values[$0.key] != $0.value }.map(\.key)
    }

    func apply(to values: inout PropertyList.Dictionary) {
        for (key, value) in changes { values[key] = value }
    }
}
