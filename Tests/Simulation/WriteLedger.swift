import MirrorEngine
import PropertyLists

/// The users' writes, and the values that each user had seen. No write may be lost without a report.
///
/// Edits write different texts, so the texts in a file identify the edits that its user has seen. Sometimes users of
/// two hosts write the same text to one path. Then the loss of the text must be reported to both.
struct WriteLedger {
    /// An edit, by its text.
    private struct Edit {
        /// The hosts whose users wrote it.
        var writers: Set<String> = []
        /// The hosts that captured it: from their users, or in a value whose other parts their users changed.
        var authors: Set<String> = []
        /// The texts that it replaced in the file.
        var seen: Set<String> = []
        /// The texts that it replaced at, inside or above its own place. A text that no host captured is represented by
        /// the texts that it had replaced.
        var seenHere: Set<PlacedText> = []

        var isShared: Bool { writers.count > 1 }
    }

    private var edits: [String: Edit] = [:]
    /// The text that was last written at each path of a preference file, and on which host.
    private var latest: [[String]: (text: String, author: String)] = [:]
    /// The texts that were removed by a user who had seen them.
    private var removed: Set<String> = []
    /// The edits that a host captured.
    private var acknowledged: Set<String> = []
    /// The texts that conflicts listed, and on which hosts.
    private var listed: [String: Set<String>] = [:]
    /// The texts of each write, and the new ones among them.
    private var textsOfWrites: [WriteID: (all: [String], new: Set<String>)] = [:]
    /// Keys that the mirror was writing at a crash. It is unknown whether a user saw the new value.
    private var uncertain: Set<Path> = []
    /// The writes that hosts captured.
    private(set) var captured: [TransactionID: Transaction] = [:]
    /// The merged state of all captured writes.
    private(set) var survivors = MergeState()

    /// A user replaced the value in their file with a new one.
    mutating func note(_ new: PropertyList?, over old: PropertyList?, by author: String = "") {
        let (before, after) = (Set(old?.texts ?? []), Set(new?.texts ?? []))
        let replaced = before.subtracting(after)
        if after.isSubset(of: before) { removed.formUnion(replaced) }
        let former = (old?.placedTexts ?? []).filter { replaced.contains($0.text) }
        for text in after.subtracting(before) {
            var edit = edits[text] ?? Edit()
            edit.seen.formUnion(replaced)
            edit.writers.insert(author)
            for place in (new?.placedTexts ?? []).filter({ $0.text == text }).map(\.place) {
                for former in former where former.overlaps(place) {
                    let isCaptured = acknowledged.contains(former.text) || edits[former.text]?.isShared ?? false
                    let seen = isCaptured ? [former] : edits[former.text]?.seenHere ?? []
                    edit.seenHere.formUnion(seen.filter { $0.overlaps(place) })
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

    /// A host treated a user's value as written, because the state already had it.
    mutating func note(adopted writes: [WriteID], by author: String) {
        for text in writes.flatMap({ textsOfWrites[$0]?.all ?? [] }) { edits[text]?.authors.insert(author) }
    }

    mutating func note(uncertain keys: [Path]) { uncertain.formUnion(keys) }

    mutating func note(_ transaction: Transaction, by author: String = "") {
        captured[transaction.id] = transaction
        for write in transaction.versionedWrites {
            survivors.join(write)
            let texts = write.value.value?.propertyList.texts ?? []
            textsOfWrites[write.id] = (texts, Set(texts).subtracting(acknowledged))
            acknowledged.formUnion(texts)
            for text in texts { edits[text]?.authors.insert(author) }
        }
    }

    /// A host took another number and renamed its unpublished transactions.
    mutating func rename(_ former: some Collection<Transaction>, to new: some Collection<Transaction>) {
        for transaction in former { captured[transaction.id] = nil }
        let texts = former.flatMap(\.writes).map { textsOfWrites[$0.id] }
        for transaction in new { note(transaction) }
        for (write, texts) in zip(new.flatMap(\.writes), texts) { textsOfWrites[write.id] = texts }
    }

    /// Records a conflict that a host lists. Returns a description if it is needless: the user of the winning write had
    /// seen the losing value, or the user of the losing write had seen the winning value and so should have won.
    ///
    /// - Parameter isDirect: Whether to consider only the values that the winning write itself replaced.
    mutating func note(_ conflict: ConflictJournal.Conflict, on host: SimulatedHost, isDirect: Bool) -> String? {
        let lost = Set(conflict.value.value?.propertyList.texts ?? [])
        for text in lost { listed[text, default: []].insert(host.label) }
        guard conflict.kind != .reverted, let winner = conflict.winner else { return nil }
        guard !uncertain.contains(conflict.path.prefix(components: 2)) else { return nil }
        func texts(_ transactionID: TransactionID?, _ isWanted: (Path) -> Bool) -> (all: [String], new: Set<String>) {
            let write = transactionID.flatMap { captured[$0] }?.writes.first { isWanted($0.path) }
            return write.flatMap { textsOfWrites[$0.id] } ?? ([], [])
        }
        // Values that a write only repeats are not its user's. Partly hidden values are not judged here.
        guard !lost.isDisjoint(with: texts(conflict.loser) { $0 == conflict.path }.new) else { return nil }
        let winning = texts(winner) { $0.isPrefix(of: conflict.path) }.all
        // If two users wrote the same text, it is unknown which of the writes another user has seen.
        guard !winning.isEmpty, !lost.union(winning).contains(where: { edits[$0]?.isShared ?? false }) else {
            return nil
        }
        if isDirect {
            let seen = winning.reduce(into: Set<String>()) { $0.formUnion(edits[$1]?.seenHere.map(\.text) ?? []) }
            return lost.isSubset(of: seen) ? "\(lost.sorted()), which \(winning) replaced" : nil
        }
        if lost.isSubset(of: allSeen(winning)) { return "\(lost.sorted()), which \(winning) has seen" }
        return allSeen(lost.sorted()).isSuperset(of: winning) ? "\(lost.sorted()), which has seen \(winning)" : nil
    }

    /// Returns the texts and all texts that their users had seen, transitively.
    private func allSeen(_ texts: [String]) -> Set<String> {
        var (found, open) = (Set(texts), texts)
        while let text = open.popLast() {
            guard let edit = edits[text], !edit.isShared else { continue }
            for other in edit.seenHere where found.insert(other.text).inserted { open.append(other.text) }
        }
        return found
    }

    /// The edits that are neither in force nor listed, and were not replaced by a user who had seen them.
    ///
    /// - Parameter isLenient: Whether any host may list an edit, because its author can have been cloned or restored.
    func unreported(in force: Set<String>, isLenient: Bool, published: (String) -> Bool) -> [String] {
        var replacedBy: [String: [String]] = [:]
        for (text, edit) in edits { for other in edit.seen { replacedBy[other, default: []].append(text) } }
        var known: [String: Bool] = [:]
        func isAccounted(_ text: String) -> Bool {
            if let known = known[text] { return known }
            known[text] = false
            let hosts = listed[text] ?? []
            let edit = edits[text] ?? Edit()
            let isListed =
                isLenient
                ? !hosts.isEmpty
                : edit.isShared
                    ? hosts.isSuperset(of: edit.writers.intersection(edit.authors))
                    : !hosts.isDisjoint(with: edit.writers.union(edit.authors))
            let isAccounted =
                force.contains(text) || isListed || removed.contains(text)
                || (replacedBy[text] ?? []).contains { acknowledged.contains($0) || isAccounted($0) }
            known[text] = isAccounted
            return isAccounted
        }
        return edits.keys.filter { acknowledged.contains($0) && published($0) && !isAccounted($0) }.sorted()
    }
}

extension PropertyList {
    /// All texts in the value.
    var texts: [String] {
        switch self {
        case .string(let text): [text]
        case .dictionary(let entries): entries.flatMap(\.value.texts)
        default: []
        }
    }

    fileprivate var placedTexts: [PlacedText] {
        switch self {
        case .string(let text): [PlacedText(text: text, place: [])]
        case .dictionary(let entries):
            entries.flatMap { entry in
                entry.value.placedTexts.map { PlacedText(text: $0.text, place: [entry.key] + $0.place) }
            }
        default: []
        }
    }
}

/// A text in the value of a key, and the keys that lead to it.
private struct PlacedText: Hashable {
    let text: String
    let place: [String]

    func overlaps(_ other: [String]) -> Bool { place.starts(with: other) || other.starts(with: place) }
}
