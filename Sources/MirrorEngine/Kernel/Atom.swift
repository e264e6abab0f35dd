internal import Digests
internal import PropertyLists

/// What stands at a path: a value, or that there is none.
package enum AtomValue: Hashable, Sendable {
    case value(CanonicalValue)
    /// Nothing stands there.
    case deleted
    /// Nothing stands there for others, while every host keeps what its own file holds.
    case left

    package var value: CanonicalValue? { if case .value(let value) = self { value } else { nil } }

    /// The bytes that stand for this in a pack, and that decide between the branches of a fork.
    package var bytes: [UInt8] {
        switch self {
        case .value(let value): value.bytes
        case .deleted: [CanonicalValue.Tag.deleted.rawValue]
        case .left: [CanonicalValue.Tag.left.rawValue]
        }
    }
}

/// One write as the merge knows it.
package struct Atom: Hashable, Sendable {
    package let path: Path
    package let stamp: Stamp
    package let dot: Dot
    package let value: AtomValue
    package let id: WriteID
    /// The writes that this one visibly replaced, directly or step by step, in order.
    package let seen: [SeenWrite]

    /// - Parameter id: Without one, the identifier of a write from before writes had one.
    package init(
        path: Path, stamp: Stamp, dot: Dot, value: AtomValue, id: WriteID? = nil, seen: [SeenWrite] = []
    ) {
        self.path = path
        self.stamp = stamp
        self.dot = dot
        self.value = value
        self.id = id ?? WriteID(derivedFrom: dot, path)
        self.seen = seen
    }

    /// Whether the user who made this write had `other` before their eyes, or what replaced it knowingly.
    ///
    /// - Parameter path: The part of `other` that counts; all of it without one.
    package func hasSeen(_ other: Atom, at path: Path? = nil) -> Bool {
        seen.contains { $0.id == other.id && $0.path.isPrefix(of: path ?? other.path) }
    }

    /// What of this write a later one inside of it hides: the value there, or one on the way that is no dictionary.
    func part(hiddenBy lower: Atom) -> (path: Path, value: CanonicalValue)? {
        value.value.flatMap { self.part(of: $0.propertyList, hiddenBy: lower) }
    }

    /// - Parameter value: The value of this write, so that it is taken apart once for many others.
    private func part(of value: PropertyList, hiddenBy lower: Atom) -> (path: Path, value: CanonicalValue)? {
        var (place, value) = (path, value)
        for component in lower.path.components.dropFirst(place.depth) {
            guard let entries = value.dictionaryValue else {
                // There is nothing to delete in what is no dictionary.
                if lower.value.value == nil { return nil }
                break
            }
            guard let entry = entries[component.text] else { return nil }
            place = place.appending(component.text)
            value = entry
        }
        return (try? CanonicalValue(value)).map { (place, $0) }
    }

    /// The parts of this write that writes inside of it hide, although their users never had them before their eyes.
    func partsHidden(under lower: some Sequence<Atom>) -> [Path] {
        var (value, hidden) = (PropertyList?.none, [Path]())
        for other in lower where other.path != path && path.isPrefix(of: other.path) {
            value = value ?? self.value.value?.propertyList
            guard let value, let part = part(of: value, hiddenBy: other) else { continue }
            let isSame = part.path == other.path && other.value.value == part.value
            if !isSame, !other.hasSeen(self, at: part.path) { hidden.append(part.path) }
        }
        return hidden
    }

    /// Whether `other` is the same write, however it came here.
    func isSameWrite(as other: Atom) -> Bool {
        id == other.id && dot == other.dot && stamp == other.stamp && path == other.path && value == other.value
    }

    /// Whether this is later than `other` in the order that all hosts agree on.
    package func isAfter(_ other: Atom, rules: Rules = .sound) -> Bool {
        if stamp != other.stamp { return stamp > other.stamp }
        if dot != other.dot { return dot > other.dot }
        guard rules.comparesValues else { return false }
        // What a restored host took up twice has one value and two identifiers.
        return value == other.value ? id > other.id : other.value.rank.isBefore(value.rank)
    }

    /// Whether `other` has no effect where this atom is.
    package func dominates(_ other: Atom, rules: Rules = .sound) -> Bool {
        path.isPrefix(of: other.path) && isAfter(other, rules: rules)
    }
}

extension AtomValue {
    /// What decides between two values that one dot is said to have written.
    fileprivate var rank: [UInt8] { SHA256.hash(bytes) }
}
