internal import Preferences
internal import PropertyLists

/// The keys that a user has changed in a text, and what they were in the domain when the text was made.
struct EditedChanges: Sendable {
    private let changes: [(key: String, value: PropertyList?)]
    private let base: PropertyList.Dictionary

    /// - Parameters:
    ///   - original: What the text stood for at first: not all formats hold all of a value.
    ///   - edited: What it stands for now.
    ///   - base: The domain's values of which the text was made.
    init(from original: PropertyList.Dictionary, to edited: PropertyList.Dictionary, base: PropertyList.Dictionary) {
        self.base = base
        let added = edited.keys.filter { original[$0] == nil }
        changes = (Array(original.keys) + added).filter { original[$0] != edited[$0] && !$0.isHidden }
            .sorted { $0.isBefore($1) }.map { ($0, edited[$0]) }
    }

    var isEmpty: Bool { changes.isEmpty }
    var keys: [String] { changes.map(\.key) }

    /// The keys that somebody else has made something else of meanwhile.
    func conflicts(with values: PropertyList.Dictionary) -> [String] {
        changes.filter { values[$0.key] != base[$0.key] && values[$0.key] != $0.value }.map(\.key)
    }

    func apply(to values: inout PropertyList.Dictionary) {
        for (key, value) in changes { values[key] = value }
    }
}
