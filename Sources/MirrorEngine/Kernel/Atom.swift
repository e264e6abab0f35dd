internal import Digests

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

    package init(path: Path, stamp: Stamp, dot: Dot, value: AtomValue) {
        self.path = path
        self.stamp = stamp
        self.dot = dot
        self.value = value
    }

    /// Whether this is later than `other` in the order that all hosts agree on.
    package func isAfter(_ other: Atom, rules: Rules = .sound) -> Bool {
        if stamp != other.stamp { return stamp > other.stamp }
        if dot != other.dot { return dot > other.dot }
        guard rules.comparesValues, value != other.value else { return false }
        return other.value.rank.isBefore(value.rank)
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
