internal import PropertyLists

package struct Write: Hashable, Sendable {
    package let path: Path
    package var value: WrittenValue

    package init(path: Path, value: WrittenValue) {
        self.path = path
        self.value = value
    }
}

extension [Change] {
    /// The limit of bytes of paths and values in one transaction, which keeps its record within the record limit.
    package static var mostBytes: Int { 32 << 20 }

    /// The changes divided into as few lists as possible, so that each fits into one transaction.
    package var parts: [[Change]] {
        var (parts, size) = ([[Change]](), Self.mostBytes)
        for change in self {
            if size + change.size > Self.mostBytes {
                parts.append([])
                size = 0
            }
            parts[parts.count - 1].append(change)
            size += change.size
        }
        return parts
    }
}

extension Change {
    /// The approximate number of bytes in a log and its blobs.
    package var size: Int {
        covers.reduce(path.bytes.count + (value?.count ?? 0) + 24) { sum, cover in
            cover.region.edges.reduce(sum + 24) { $0 + max(0, $1.bytes.count - path.bytes.count) }
        }
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
