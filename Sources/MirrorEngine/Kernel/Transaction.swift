internal import PropertyLists

package struct Write: Hashable, Sendable {
    package let path: Path
    package var value: WrittenValue

    package init(path: Path, value: WrittenValue) {
        self.path = path
        self.value = value
    }
}

/// Writes that take effect together.
package struct Transaction: Hashable, Sendable {
    package let id: TransactionID
    /// The earliest stamp of the writes.
    package let stamp: Stamp
    package let writes: [StampedWrite]

    package struct StampedWrite: Hashable, Sendable {
        package let path: Path
        package let stamp: Stamp
        package let value: WrittenValue
        package let id: WriteID
        /// The writes that this one visibly replaced, directly or through other writes, in order.
        package let seen: [ReplacedWrite]

        package init(path: Path, stamp: Stamp, value: WrittenValue, id: WriteID, seen: [ReplacedWrite] = []) {
            self.path = path
            self.stamp = stamp
            self.value = value
            self.id = id
            self.seen = seen
        }

        /// Returns this write in the form in which the state holds it.
        func versioned(in transactionID: TransactionID) -> VersionedWrite {
            VersionedWrite(path: path, stamp: stamp, transactionID: transactionID, value: value, id: id, seen: seen)
        }
    }

    package init(id: TransactionID, stamp: Stamp, writes: [StampedWrite]) {
        self.id = id
        self.stamp = stamp
        self.writes = writes
    }

    package var versionedWrites: [VersionedWrite] {
        writes.map { $0.versioned(in: id) }
    }

    /// Returns the same writes under another ID.
    package func renamed(_ id: TransactionID) -> Transaction { Transaction(id: id, stamp: stamp, writes: writes) }
}

extension [Write] {
    /// Writes with the same effect, at most one for each path and none above another, in the order of paths.
    package var normalised: [Write] {
        let sorted = sorted { $0.path < $1.path }
        // Captured writes never overlap, so the quadratic comparison is rarely needed.
        if zip(sorted, sorted.dropFirst()).allSatisfy({ !$0.path.isPrefix(of: $1.path) }) { return sorted }
        return meeting
    }

    /// Merges overlapping writes: drops those that later writes erase, and applies each to the write above it.
    private var meeting: [Write] {
        var last: [Path: WrittenValue] = [:]
        for write in self {
            last = last.filter { !write.path.isPrefix(of: $0.key) }
            last[write.path] = write.value
        }
        var kept: [Write] = []
        for (path, value) in last.sorted(by: { $0.key < $1.key }) {
            let write = Write(path: path, value: value)
            if let above = kept.last, above.path.isPrefix(of: path) {
                kept[kept.count - 1].value = above.value.patched(by: write, under: above.path)
            } else {
                kept.append(write)
            }
        }
        return kept
    }
}

extension [Write] {
    /// The limit of bytes of paths and values in one transaction, which keeps its record within the record limit.
    package static var mostBytes: Int { 32 << 20 }

    /// The writes divided into as few lists as possible, each of which fits into one transaction.
    package var parts: [[Write]] {
        var (parts, size) = ([[Write]](), Self.mostBytes)
        for write in self {
            let cost = write.path.bytes.count + write.value.count + 24
            if size + cost > Self.mostBytes {
                parts.append([])
                size = 0
            }
            parts[parts.count - 1].append(write)
            size += cost
        }
        return parts
    }
}

extension WrittenValue {
    /// Returns this value after a write below it.
    fileprivate func patched(by write: Write, under path: Path) -> WrittenValue {
        var value = self.value?.propertyList
        let rest = write.path.components.dropFirst(path.depth)
        value.write(write.value.value?.propertyList, at: rest)
        guard let value else { return self }
        return (try? CanonicalValue(value)).map(WrittenValue.value) ?? self
    }
}

/// How a changed key is divided into writes: as one value, or entry by entry.
package enum MergeKind: String, Hashable, Sendable, CaseIterable {
    /// Every value is one write, including a dictionary.
    case register
    /// Each changed entry of a dictionary is a write of its own, so that two hosts can change different entries.
    case dictionary
}

/// Computes the writes that turn one value of a key into another.
package enum Difference {
    package static func writes(
        from old: CanonicalValue?, to new: CanonicalValue?, at path: Path, kind: MergeKind
    ) -> [Write] {
        guard old != new else { return [] }
        guard let new else { return [Write(path: path, value: .deleted)] }
        let isWhole = Write(path: path, value: .value(new))
        guard kind == .dictionary, new.isFilledDictionary else { return [isWhole] }
        guard let entries = new.propertyList.dictionaryValue else { return [isWhole] }
        guard let old else { return leaves(from: [:], to: entries, at: path) ?? [isWhole] }
        guard let former = old.propertyList.dictionaryValue else { return [isWhole] }
        return leaves(from: former, to: entries, at: path) ?? [isWhole]
    }

    /// Returns the writes of the entries that differ, or nil if the path of one exceeds a limit.
    private static func leaves(
        from old: PropertyList.Dictionary, to new: PropertyList.Dictionary, at path: Path
    ) -> [Write]? {
        var writes: [Write] = []
        let removed = old.filter { new[$0.key] == nil }.map { ($0.key, PropertyList?.none) }
        for (key, value) in removed + new.map({ ($0.key, Optional($0.value)) }) where old[key] != value {
            let leaf = path.appending(key)
            guard key.utf8.count <= Path.longestComponent, leaf.ends.count <= Path.mostComponents else { return nil }
            guard let value else {
                writes.append(Write(path: leaf, value: .deleted))
                continue
            }
            guard let entry = entryWrites(from: old[key], to: value, at: leaf) else { return nil }
            writes += entry
        }
        return writes
    }

    private static func entryWrites(from old: PropertyList?, to new: PropertyList, at path: Path) -> [Write]? {
        if case .dictionary(let entries)? = Optional(new), !entries.isEmpty {
            if old == nil { return leaves(from: [:], to: entries, at: path) }
            if let former = old?.dictionaryValue { return leaves(from: former, to: entries, at: path) }
        }
        return (try? CanonicalValue(new)).map { [Write(path: path, value: .value($0))] }
    }
}
