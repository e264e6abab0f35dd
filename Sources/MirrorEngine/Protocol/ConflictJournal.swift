/// Transactions of ours that lost against one of another host that had not seen them, with their values.
package struct ConflictJournal: Hashable, Sendable {
    package private(set) var conflicts: [Conflict] = []
    /// Where the unresolved conflicts stand, by what lost.
    private var unresolved: [Dot: Int] = [:]
    /// How many bytes the conflicts take.
    private var size = 0

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
        index()
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

        static let overhead = 64
        var size: Int { values.reduce(Self.overhead) { $0 + $1.key.bytes.count + $1.value.bytes.count } }
    }

    mutating func add(path: Path, value: AtomValue, loser: Dot, winner: Atom, kind: Conflict.Kind? = nil, at now: Int64)
    {
        let cost = path.bytes.count + value.bytes.count
        if let index = unresolved[loser] {
            // In a fork two values have lost under one dot, of which the first is our own.
            if conflicts[index].values[path] == nil {
                conflicts[index].values[path] = value
                size += cost
            }
            conflicts[index].winner = winner.dot
        } else {
            let kind = kind ?? (winner.value == .deleted ? .deleted : .overwritten)
            unresolved[loser] = conflicts.count
            conflicts.append(Conflict(loser: loser, winner: winner.dot, kind: kind, when: now, values: [path: value]))
            size += Conflict.overhead + cost
            evictResolved(at: now)
        }
        evictUnresolved()
    }

    mutating func resolve(_ loser: Dot, at now: Int64) {
        guard let index = unresolved.removeValue(forKey: loser) else { return }
        conflicts[index].resolvedAt = now
        evictResolved(at: now)
    }

    private mutating func evictResolved(at now: Int64) {
        guard unresolved.count < conflicts.count else { return }
        let isOld = { (conflict: Conflict) in conflict.resolvedAt.map { now - $0 > Self.resolvedFor } ?? false }
        guard conflicts.contains(where: isOld) else { return }
        conflicts.removeAll(where: isOld)
        index()
    }

    /// The oldest go first, and many at once, so that this is rare.
    private mutating func evictUnresolved() {
        guard size > Self.mostBytes else { return }
        var (count, left) = (0, size)
        while left > Self.mostBytes / 2, count < conflicts.count - 1 {
            left -= conflicts[count].size
            count += 1
        }
        evicted += conflicts.prefix(count).count { $0.resolvedAt == nil }
        conflicts.removeFirst(count)
        index()
    }

    private mutating func index() {
        size = conflicts.reduce(0) { $0 + $1.size }
        let open = conflicts.indices.filter { conflicts[$0].resolvedAt == nil }
        unresolved = Dictionary(open.map { (conflicts[$0].loser, $0) }) { $1 }
    }
}
