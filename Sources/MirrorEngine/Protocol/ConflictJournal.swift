/// Values that are in force no more although nobody who had seen them replaced them, for people to decide.
package struct ConflictJournal: Hashable, Sendable {
    package private(set) var conflicts: [Conflict] = []
    /// Where each conflict is in the list.
    private var indices: [WriteID: Int] = [:]
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

    /// One value that was lost.
    package struct Conflict: Hashable, Sendable {
        /// The write that lost.
        package let id: WriteID
        package let path: Path
        package let value: AtomValue
        /// The transaction of that write; nil for a value that was in a file only.
        package let loser: Dot?
        /// The change that is in force instead; nil where there is none.
        package let winner: Dot?
        package let kind: Kind
        package let when: Int64
        package internal(set) var resolvedAt: Int64?

        package enum Kind: UInt8, Hashable, Sendable {
            /// Both wrote.
            case overwritten
            /// The other deleted what we wrote.
            case deleted
            /// A program that knew nothing of it put the former value back.
            case reverted
            /// The mirror had another value when the file was taken up.
            case replaced
        }

        private static let overhead = 96
        var size: Int { Self.overhead + path.bytes.count + value.bytes.count }
    }

    mutating func add(lost loser: Atom, to winner: Atom, kind: Conflict.Kind? = nil, at now: Int64) {
        guard loser.value != .left else { return }
        let kind = kind ?? (winner.value == .deleted ? .deleted : .overwritten)
        add(
            Conflict(
                id: loser.id, path: loser.path, value: loser.value, loser: loser.dot, winner: winner.dot, kind: kind,
                when: now))
    }

    mutating func add(lostPart value: CanonicalValue, of loser: Atom, at path: Path, to winner: Atom, when: Int64) {
        let kind: Conflict.Kind = winner.value == .deleted ? .deleted : .overwritten
        add(
            Conflict(
                id: path == loser.path ? loser.id : WriteID(part: path, of: loser.id), path: path,
                value: .value(value), loser: loser.dot, winner: winner.dot, kind: kind, when: when))
    }

    mutating func add(replaced value: CanonicalValue, at path: Path, by winner: Atom?, when: Int64) {
        let value = AtomValue.value(value)
        // The same value is listed once, however often a backup comes back.
        let nobody = Dot(writer: WriterID(number: 0), sequence: 0)
        let id = WriteID(random: 0, dot: nobody, path: path, stamp: .zero, value: value)
        add(
            Conflict(
                id: id, path: path, value: value, loser: nil, winner: winner?.dot, kind: .replaced, when: when))
    }

    private mutating func add(_ conflict: Conflict) {
        if let index = indices[conflict.id] {
            guard conflict.loser == nil, conflicts[index].resolvedAt != nil else { return }
            conflicts[index].resolvedAt = nil
            return
        }
        indices[conflict.id] = conflicts.count
        conflicts.append(conflict)
        size += conflict.size
        evictUnresolved()
    }

    mutating func resolve(_ ids: some Sequence<WriteID>, at now: Int64) {
        for id in ids { resolve(indices[id], at: now) }
        evictResolved(at: now)
    }

    mutating func resolve(transaction loser: Dot, at now: Int64) {
        for index in conflicts.indices where conflicts[index].loser == loser { resolve(index, at: now) }
        evictResolved(at: now)
    }

    private mutating func resolve(_ index: Int?, at now: Int64) {
        guard let index, conflicts[index].resolvedAt == nil else { return }
        conflicts[index].resolvedAt = now
    }

    private mutating func evictResolved(at now: Int64) {
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
        indices = Dictionary(conflicts.indices.map { (conflicts[$0].id, $0) }) { $1 }
    }
}

extension ConflictJournal {
    /// Whether some conflict waits for a decision.
    package var hasOpen: Bool { conflicts.contains { $0.resolvedAt == nil } }

    /// All values that were lost of one key, which are decided together.
    package struct Item: Hashable, Sendable {
        /// The number of the item: the place of its first conflict in the list, beginning with 1.
        package let number: Int
        package let key: Path
        /// The conflicts, the oldest first.
        package fileprivate(set) var conflicts: [Conflict]

        package var isOpen: Bool { conflicts[0].resolvedAt == nil }
        /// The last conflict, whose value is restored.
        package var latest: Conflict { conflicts[conflicts.count - 1] }
    }

    /// One item for the open conflicts of each key, and one for those that were resolved together.
    package var items: [Item] {
        struct Group: Hashable {
            let key: Path
            let resolvedAt: Int64?
        }
        var (items, places) = ([Item](), [Group: Int]())
        for (number, conflict) in zip(1..., conflicts) {
            let group = Group(key: conflict.path.prefix(components: 2), resolvedAt: conflict.resolvedAt)
            if let place = places[group] {
                items[place].conflicts.append(conflict)
            } else {
                places[group] = items.count
                items.append(Item(number: number, key: group.key, conflicts: [conflict]))
            }
        }
        return items
    }

    package func conflict(_ id: WriteID) -> Conflict? { indices[id].map { conflicts[$0] } }
}
