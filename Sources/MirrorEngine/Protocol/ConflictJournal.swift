/// Transactions of ours that lost against one of another host that had not seen them, with their values.
package struct ConflictJournal: Hashable, Sendable {
    package private(set) var conflicts: [Conflict] = []

    /// How long a resolved conflict is kept, in milliseconds.
    package static let resolvedFor: Int64 = 90 * 86_400_000
    /// How many bytes of unresolved conflicts are kept.
    package static let mostBytes = 64 << 20
    /// How many conflicts had to be given up for others.
    package private(set) var evicted = 0

    package init() {}

    init(_ conflicts: [Conflict], evicted: Int) {
        self.conflicts = conflicts
        self.evicted = evicted
    }

    /// A transaction that lost.
    package struct Conflict: Hashable, Sendable {
        package let loser: Dot
        package internal(set) var winner: Dot
        package internal(set) var kind: Kind
        package let when: Int64
        /// What was lost, by path.
        package internal(set) var values: [Path: AtomValue]
        package internal(set) var resolvedAt: Int64?

        package enum Kind: UInt8, Hashable, Sendable {
            /// Both wrote.
            case overwritten
            /// The other deleted what we wrote.
            case deleted
            /// A program that knew nothing of it put the former value back.
            case reverted
        }

        var size: Int { values.reduce(64) { $0 + $1.key.bytes.count + $1.value.bytes.count } }
    }

    mutating func add(path: Path, value: AtomValue, loser: Dot, winner: Atom, kind: Conflict.Kind? = nil, at now: Int64)
    {
        let kind = kind ?? (winner.value == .deleted ? .deleted : .overwritten)
        if let index = conflicts.firstIndex(where: { $0.loser == loser && $0.resolvedAt == nil }) {
            conflicts[index].values[path] = value
            conflicts[index].winner = winner.dot
        } else {
            conflicts.append(Conflict(loser: loser, winner: winner.dot, kind: kind, when: now, values: [path: value]))
        }
        evict(at: now)
    }

    mutating func resolve(_ loser: Dot, at now: Int64) {
        for index in conflicts.indices where conflicts[index].loser == loser && conflicts[index].resolvedAt == nil {
            conflicts[index].resolvedAt = now
        }
        evict(at: now)
    }

    private mutating func evict(at now: Int64) {
        conflicts.removeAll { $0.resolvedAt.map { now - $0 > Self.resolvedFor } ?? false }
        var size = conflicts.reduce(0) { $0 + $1.size }
        while size > Self.mostBytes, let first = conflicts.first {
            size -= first.size
            conflicts.removeFirst()
            if first.resolvedAt == nil { evicted += 1 }
        }
    }
}
