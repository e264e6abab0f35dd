internal import PropertyLists

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
