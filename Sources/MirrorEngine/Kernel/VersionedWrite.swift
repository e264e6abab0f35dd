internal import Digests
internal import PropertyLists

/// The outcome of a write at a path: a value, or its removal.
package enum WrittenValue: Hashable, Sendable {
    case value(CanonicalValue)
    /// The value is removed.
    case deleted
    /// The value is removed from the state, and each host keeps the value in its own file.
    case left

    package var value: CanonicalValue? { if case .value(let value) = self { value } else { nil } }

    /// The bytes that represent this outcome in a pack. Their hash orders the branches of a fork.
    package var bytes: [UInt8] {
        switch self {
        case .value(let value): value.bytes
        case .deleted: [CanonicalValue.Tag.deleted.rawValue]
        case .left: [CanonicalValue.Tag.left.rawValue]
        }
    }

    /// The number of those bytes.
    package var count: Int { value?.count ?? 1 }
}

/// One write, in the form in which the state holds and merges it.
package struct VersionedWrite: Hashable, Sendable {
    package let path: Path
    package let stamp: Stamp
    package let transactionID: TransactionID
    package let value: WrittenValue
    package let id: WriteID
    /// The writes that this one visibly replaced, directly or through other writes, in order.
    package let seen: [ReplacedWrite]

    /// - Parameter id: The identifier; nil derives one, as for writes of the first version, which had none.
    package init(
        path: Path, stamp: Stamp, transactionID: TransactionID, value: WrittenValue, id: WriteID? = nil,
        seen: [ReplacedWrite] = []
    ) {
        self.path = path
        self.stamp = stamp
        self.transactionID = transactionID
        self.value = value
        self.id = id ?? WriteID(derivedFrom: transactionID, path)
        self.seen = seen
    }

    /// Whether the user who made this write saw `other`, or a write that had visibly replaced it, in the preference
    /// file.
    ///
    /// - Parameter path: The part of `other` that must have been replaced; nil for all of it.
    package func hasSeen(_ other: VersionedWrite, at path: Path? = nil) -> Bool {
        hasSeen(ReplacedWrite(path: path ?? other.path, transactionID: other.transactionID, id: other.id))
    }

    /// Whether the user who made this write saw this part of another write in the preference file.
    func hasSeen(_ other: ReplacedWrite) -> Bool {
        seen.contains { $0.id == other.id && $0.path.isPrefix(of: other.path) }
    }

    /// Whether an entry inside a value at `place`, at any depth, has the same value in this write.
    func keepsPart(of other: CanonicalValue?, at place: Path) -> Bool {
        guard let other = other?.dictionary, let value = value.value?.propertyList else { return false }
        if place.depth >= path.depth {
            let ours = place.components.dropFirst(path.depth).reduce(Optional(value)) { $0?[$1] }
            return ours?.sharesEntry(with: other) ?? false
        }
        let theirs = path.components.dropFirst(place.depth).reduce(Optional(other)) { $0?[$1] }
        return theirs.map { $0 == value || value.sharesEntry(with: $0) } ?? false
    }

    /// Returns the part of this write that a later write below it hides: the value at the later write's path, or the
    /// value above that path that is not a dictionary.
    func part(hiddenBy lower: VersionedWrite) -> (path: Path, value: CanonicalValue)? {
        value.value.flatMap { self.part(of: $0.propertyList, hiddenBy: lower) }
    }

    /// - Parameter value: The value of this write, decoded by the caller once for all writes below.
    private func part(of value: PropertyList, hiddenBy lower: VersionedWrite) -> (path: Path, value: CanonicalValue)? {
        var (place, value) = (path, value)
        for component in lower.path.components.dropFirst(place.depth) {
            guard let entries = value.dictionaryValue else {
                // A deletion inside a value that is not a dictionary has no effect.
                if lower.value.value == nil { return nil }
                break
            }
            guard let entry = entries[component] else { return nil }
            place = place.appending(component)
            value = entry
        }
        return (try? CanonicalValue(value)).map { (place, $0) }
    }

    /// Returns the parts of this write that are hidden by writes below it whose users had not seen it.
    func partsHidden(under lower: some Sequence<VersionedWrite>) -> [Path] {
        var (value, hidden) = (PropertyList?.none, [Path]())
        for other in lower where other.path != path && path.isPrefix(of: other.path) {
            value = value ?? self.value.value?.propertyList
            guard let value, let part = part(of: value, hiddenBy: other) else { continue }
            let isSame = part.path == other.path && other.value.value == part.value
            if !isSame, !other.hasSeen(self, at: part.path) { hidden.append(part.path) }
        }
        return hidden
    }

    /// Whether writes below this one hide all of its value.
    func isHidden(in writes: [VersionedWrite]) -> Bool {
        writes.contains { $0.path != path && path.isPrefix(of: $0.path) && part(hiddenBy: $0)?.path == path }
    }

    /// Whether this write had a value in force that the user of `winner` had not seen. A part that a later
    /// write below this one hides was handled when that write was joined.
    func hasPart(unseenBy winner: VersionedWrite, under lower: [VersionedWrite]) -> Bool {
        if winner.hasSeen(self) { return false }
        guard let value = value.value?.dictionary else { return true }
        let later = lower.filter { $0.path != path && path.isPrefix(of: $0.path) && $0.isAfter(self) }
        let hidden = Set(later.compactMap { part(of: value, hiddenBy: $0)?.path })
        func remains(_ value: PropertyList, at place: Path) -> Bool {
            if hidden.contains(place) || winner.hasSeen(self, at: place) { return false }
            guard let entries = value.dictionaryValue, !entries.isEmpty else { return true }
            return entries.contains { remains($0.value, at: place.appending($0.key)) }
        }
        return remains(value, at: path)
    }

    /// Whether `other` is the same write, whichever file it was read from.
    func isSameWrite(as other: VersionedWrite) -> Bool {
        id == other.id && transactionID == other.transactionID && stamp == other.stamp && path == other.path
            && value == other.value
    }

    /// Whether this is later than `other`, in the order on which all hosts agree.
    package func isAfter(_ other: VersionedWrite) -> Bool {
        if stamp != other.stamp { return stamp > other.stamp }
        if transactionID != other.transactionID { return transactionID > other.transactionID }
        guard Rule.comparesValues.isKept else { return false }
        // A write that a restored host captured twice has one value and two identifiers.
        return value == other.value ? id > other.id : other.value.rank.isBefore(value.rank)
    }

    /// Whether `other` has no effect in a state that holds this write.
    package func dominates(_ other: VersionedWrite) -> Bool {
        path.isPrefix(of: other.path) && isAfter(other)
    }
}

extension WrittenValue {
    /// The order of two values that were written under the same transaction ID, as in a fork.
    fileprivate var rank: [UInt8] { value?.contentHash.bytes ?? SHA256.hash(bytes) }
}

extension PropertyList {
    /// Whether both are dictionaries and an entry at the same place in both, at any depth, has the same value.
    fileprivate func sharesEntry(with other: PropertyList) -> Bool {
        guard let entries = dictionaryValue, let others = other.dictionaryValue else { return false }
        return entries.contains { entry in
            others[entry.key].map { $0 == entry.value || entry.value.sharesEntry(with: $0) } ?? false
        }
    }
}
