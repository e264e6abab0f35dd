import MirrorEngine
import PropertyLists

/// The users' writes, and the values that each user had seen. No write may be lost without being listed.
///
/// Edits write different texts, so the texts in a file identify the edits that its user has seen. Sometimes users of
/// two hosts write the same text to one path. Then it is unknown which of the two another user has seen.
struct WriteLedger {
    /// An edit, by its text.
    private struct Edit {
        /// The hosts whose users wrote it.
        var writers: Set<String> = []
        /// The texts that it replaced at, inside or above its own place. A text that no host captured is represented by
        /// the texts that it had replaced.
        var seen: Set<PlacedText> = []
    }

    private var edits: [String: Edit] = [:]
    /// The text that was last written at each path of a preference file, and on which host.
    private var latest: [[String]: (text: String, author: String)] = [:]
    /// The texts that were removed by a user who had seen them.
    private var removed: Set<String> = []
    /// The edits that a host captured.
    private var acknowledged: Set<String> = []
    /// Keys that the mirror was writing at a crash. It is unknown whether a user saw the new value.
    private var uncertain: Set<Path> = []

    /// The numbers that compete: the greatest is in force.
    private var competing: Set<Int> = []
    /// What all users have added to the counter of each domain.
    private(set) var added: [String: Int] = [:]

    mutating func note(competing number: Int) { competing.insert(number) }

    mutating func note(added number: Int, to domain: String) { added[domain, default: 0] += number }

    /// Whether a greater number was captured, so that this one is not in force.
    private func isBeaten(_ text: String) -> Bool {
        guard let number = Int(text), competing.contains(number) else { return false }
        return competing.contains { $0 > number && acknowledged.contains("\($0)") }
    }

    /// A user replaced the value in their file with a new one.
    mutating func note(_ new: PropertyList?, over old: PropertyList?, by author: String = "") {
        let (before, after) = (Set(old?.texts ?? []), Set(new?.texts ?? []))
        let replaced = before.subtracting(after)
        if after.isSubset(of: before) { removed.formUnion(replaced) }
        let former = (old?.placedTexts ?? []).filter { replaced.contains($0.text) }
        let places = (new?.placedTexts ?? []).filter { !before.contains($0.text) }.map(\.place)
        removed.formUnion(former.filter { text in !places.contains(where: text.overlaps) }.map(\.text))
        for text in after.subtracting(before) {
            var edit = edits[text] ?? Edit()
            edit.writers.insert(author)
            for place in (new?.placedTexts ?? []).filter({ $0.text == text }).map(\.place) {
                for former in former where former.overlaps(place) {
                    let isKnown = acknowledged.contains(former.text) || edits[former.text]?.writers.count ?? 0 > 1
                    let seen = isKnown ? [former] : edits[former.text]?.seen.union([former]) ?? [former]
                    edit.seen.formUnion(seen.filter { $0.overlaps(place) })
                }
            }
            edits[text] = edit
        }
    }

    /// A user wrote a text at a path of their preference file.
    mutating func note(_ text: String, at path: [String], by author: String) { latest[path] = (text, author) }

    /// The text that the user of another host last wrote at a path.
    func text(at path: [String], notBy author: String) -> String? {
        latest[path].flatMap { $0.author == author ? nil : $0.text }
    }

    /// Values are only counted from now on.
    mutating func note(counted texts: Set<String>) { removed.formUnion(texts) }

    mutating func note(uncertain keys: [Path]) { uncertain.formUnion(keys) }

    /// Values that stayed on their host are mirrored from now on.
    mutating func note(kept texts: [String]) { acknowledged.formUnion(texts) }

    /// A host captured changes.
    mutating func note(_ transaction: Transaction) {
        for change in transaction.changes { acknowledged.formUnion(change.value?.value?.propertyList.texts ?? []) }
    }

    /// The edits that are neither in force nor listed, and that no user replaced after seeing them.
    ///
    /// - Parameters:
    ///   - force: The texts that are in force on all hosts.
    ///   - listed: The texts of the conflicts that all hosts list.
    func unreported(in force: Set<String>, listed: Set<String>, published: (String) -> Bool) -> [String] {
        // What a user replaced after seeing it, directly or through texts that were never captured.
        var (replaced, open) = (removed, Array(removed) + acknowledged.filter(published))
        while let text = open.popLast() {
            for other in edits[text]?.seen ?? [] where replaced.insert(other.text).inserted { open.append(other.text) }
        }
        return acknowledged.filter { text in
            edits[text] != nil && published(text) && !force.contains(text) && !listed.contains(text)
                && !replaced.contains(text) && !isBeaten(text)
        }.sorted()
    }

    /// Returns a description of an open conflict if its loser was seen by the user whose value is in force, or by one
    /// whose value that user had seen.
    func isNeedless(_ lost: [String], _ winning: [String], at path: Path) -> Bool {
        guard !lost.isEmpty, !winning.isEmpty, !uncertain.contains(path.prefix(components: 2)) else { return false }
        // If two users wrote the same text, it is unknown which of the writes another user has seen.
        guard !(lost + winning).contains(where: { edits[$0]?.writers.count ?? 0 != 1 }) else { return false }
        return allSeen(winning).isSuperset(of: lost)
    }

    /// Returns the texts and all texts that their users had seen, transitively.
    private func allSeen(_ texts: [String]) -> Set<String> {
        var (found, open) = (Set(texts), texts)
        while let text = open.popLast() {
            guard let edit = edits[text], edit.writers.count == 1 else { continue }
            for other in edit.seen where found.insert(other.text).inserted { open.append(other.text) }
        }
        return found
    }
}

extension PropertyList {
    /// All texts in the value.
    var texts: [String] {
        switch self {
        case .string(let text): [text]
        case .dictionary(let entries): entries.flatMap(\.value.texts)
        case .array(let elements): elements.flatMap(\.texts)
        default: []
        }
    }

    /// All texts in the value, with their places.
    var placedTexts: [PlacedText] {
        switch self {
        case .string(let text): [PlacedText(text: text, place: [])]
        case .dictionary(let entries):
            entries.flatMap { entry in
                entry.value.placedTexts.map { PlacedText(text: $0.text, place: [entry.key] + $0.place) }
            }
        // An element is its own place, and so is a record.
        case .array(let elements):
            elements.flatMap { element in
                let name = element["id"]?.stringValue ?? element.stringValue ?? ""
                return element.placedTexts.map { PlacedText(text: $0.text, place: [name] + $0.place) }
            }
        default: []
        }
    }
}

/// A text in the value of a key, and the keys that lead to it.
struct PlacedText: Hashable {
    let text: String
    let place: [String]

    func overlaps(_ other: [String]) -> Bool { place.starts(with: other) || other.starts(with: place) }
}
