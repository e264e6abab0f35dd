/// Values that were displaced by writes whose users had not seen them. A user decides whether to restore them.
package struct ConflictJournal: Hashable, Sendable {
    package private(set) var entries: [Conflict] = []
    /// The index of each conflict in the list.
    private var indices: [WriteID: Int] = [:]
    /// The size of all conflicts in bytes.
    private var size = 0

    /// The time that a resolved conflict is kept, in milliseconds.
    package static let resolvedFor: Int64 = 90 * 86_400_000
    /// The size limit of the conflicts, in bytes.
    package static let mostBytes = 64 << 20
    /// The number of open conflicts that were removed to make room for others.
    package private(set) var evicted = 0

    package init() {}

    init(_ conflicts: [Conflict], evicted: Int) {
        entries = conflicts
        self.evicted = evicted
        index()
    }

    /// A value that is no longer in force.
    package struct Conflict: Hashable, Sendable {
        /// The write that was displaced.
        package let id: WriteID
        package let path: Path
        package let value: WrittenValue
        /// The transaction of that write, or nil for a value that existed only in a file.
        package let loser: TransactionID?
        /// The change that is in force instead, or nil if there is none.
        package let winner: TransactionID?
        package let kind: Kind
        package let when: Int64
        package internal(set) var resolvedAt: Int64?

        package enum Kind: UInt8, Hashable, Sendable {
            /// Both sides wrote a value.
            case overwritten
            /// The other side deleted the value that we wrote.
            case deleted
            /// A program that had not read the new value wrote the previous one back.
            case reverted
            /// The mirror had another value when the file was captured.
            case replaced
        }

        private static let overhead = 96
        var size: Int { Self.overhead + path.bytes.count + value.count }
    }

    mutating func add(lost loser: VersionedWrite, to winner: VersionedWrite, kind: Conflict.Kind? = nil, at now: Int64)
    {
        guard loser.value != .left else { return }
        let kind = kind ?? (winner.value == .deleted ? .deleted : .overwritten)
        add(
            Conflict(
                id: loser.id, path: loser.path, value: loser.value, loser: loser.transactionID,
                winner: winner.transactionID, kind: kind,
                when: now))
    }

    mutating func add(
        lostPart value: CanonicalValue, of loser: VersionedWrite, at path: Path, to winner: VersionedWrite, when: Int64
    ) {
        let kind: Conflict.Kind = winner.value == .deleted ? .deleted : .overwritten
        add(
            Conflict(
                id: path == loser.path ? loser.id : WriteID(part: path, of: loser.id), path: path,
                value: .value(value), loser: loser.transactionID, winner: winner.transactionID, kind: kind, when: when))
    }

    mutating func add(replaced value: CanonicalValue, at path: Path, by winner: VersionedWrite?, when: Int64) {
        let value = WrittenValue.value(value)
        // The identifier depends only on the value, so that a value is listed once, however often a backup is restored.
        let nobody = TransactionID(writer: WriterID(number: 0), sequence: 0)
        let id = WriteID(random: 0, transactionID: nobody, path: path, stamp: .zero, value: value)
        add(
            Conflict(
                id: id, path: path, value: value, loser: nil, winner: winner?.transactionID, kind: .replaced, when: when
            ))
    }

    private mutating func add(_ conflict: Conflict) {
        if let index = indices[conflict.id] {
            guard conflict.loser == nil, entries[index].resolvedAt != nil else { return }
            entries[index].resolvedAt = nil
            return
        }
        indices[conflict.id] = entries.count
        entries.append(conflict)
        size += conflict.size
        evictUnresolved()
    }

    mutating func resolve(_ ids: some Sequence<WriteID>, at now: Int64) {
        for id in ids { resolve(indices[id], at: now) }
        evictResolved(at: now)
    }

    mutating func resolve(transaction loser: TransactionID, at now: Int64) {
        for index in entries.indices where entries[index].loser == loser { resolve(index, at: now) }
        evictResolved(at: now)
    }

    private mutating func resolve(_ index: Int?, at now: Int64) {
        guard let index, entries[index].resolvedAt == nil else { return }
        entries[index].resolvedAt = now
    }

    private mutating func evictResolved(at now: Int64) {
        let isOld = { (conflict: Conflict) in conflict.resolvedAt.map { now - $0 > Self.resolvedFor } ?? false }
        guard entries.contains(where: isOld) else { return }
        entries.removeAll(where: isOld)
        index()
    }

    /// Removes the oldest conflicts. It removes many at once, so that this is rare.
    private mutating func evictUnresolved() {
        guard size > Self.mostBytes else { return }
        var (count, left) = (0, size)
        while left > Self.mostBytes / 2, count < entries.count - 1 {
            left -= entries[count].size
            count += 1
        }
        evicted += entries.prefix(count).count { $0.resolvedAt == nil }
        entries.removeFirst(count)
        index()
    }

    private mutating func index() {
        size = entries.reduce(0) { $0 + $1.size }
        indices = Dictionary(entries.indices.map { (entries[$0].id, $0) }) { $1 }
    }
}

extension ConflictJournal {
    /// Whether any conflict is unresolved.
    package var hasOpen: Bool { entries.contains { $0.resolvedAt == nil } }

    /// All displaced values of one key, which are resolved together.
    package struct Item: Hashable, Sendable {
        /// The number of the item: the position of its first conflict in the list, starting with 1.
        package let number: Int
        package let key: Path
        /// The conflicts, oldest first.
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
        for (number, conflict) in zip(1..., entries) {
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

    package func conflict(_ id: WriteID) -> Conflict? { indices[id].map { entries[$0] } }
}
