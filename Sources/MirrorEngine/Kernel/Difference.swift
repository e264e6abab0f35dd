internal import PropertyLists

package struct Write: Hashable, Sendable {
    package let path: Path
    package var value: WrittenValue

    package init(path: Path, value: WrittenValue) {
        self.path = path
        self.value = value
    }

    /// Whether this removes an element of an array whose elements are merged one by one.
    var isRemovalOfPart: Bool { value == .deleted && path.merged != nil }

    /// What the mirror keeps of the write. The removal of an element leaves nothing, so that one that others add
    /// meanwhile stays.
    var remains: WrittenValue? { isRemovalOfPart && Rule.leavesNoRemovals.isKept ? nil : value }
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

/// Computes the writes that turn one value of a key into another.
package enum Difference {
    /// - Parameter number: A number that no other write of the key has.
    package static func writes(
        from old: CanonicalValue?, to new: CanonicalValue?, at path: Path, kind: MergeKind, number: UInt64 = 0
    ) -> [Write] {
        guard old != new else { return [] }
        guard let new else { return [Write(path: path, value: .deleted)] }
        return parts(from: old, to: new, at: path, kind: kind, number: number)
            ?? [Write(path: path, value: .value(new))]
    }

    /// Returns the writes of what differs, or nil if the rule does not apply to the values.
    private static func parts(
        from old: CanonicalValue?, to new: CanonicalValue, at path: Path, kind: MergeKind, number: UInt64
    ) -> [Write]? {
        let former = old?.propertyList
        func write(_ kind: MergedPart.Kind, _ value: CanonicalValue) -> [Write] {
            [Write(path: path.appending(MergedPart(kind, number: number)), value: .value(value))]
        }
        switch kind {
        case .value: return nil
        case .entries:
            guard new.isFilledDictionary, let entries = new.propertyList.dictionaryValue,
                let former = old == nil ? [:] : former?.dictionaryValue
            else { return nil }
            return leaves(from: former, to: entries, at: path)
        case .set:
            guard let elements = new.propertyList.arrayValue, !elements.isEmpty,
                let former = old == nil ? [] : former?.arrayValue
            else { return nil }
            return self.elements(from: former, to: elements, at: path)
        case .counter:
            guard case .integer(let count) = new.propertyList else { return nil }
            if old == nil { return write(.addend, new) }
            guard case .integer(let before)? = former, let addend = count.difference(from: before),
                let value = try? CanonicalValue(.integer(addend))
            else { return nil }
            return write(.addend, value)
        case .maximum: return MergeOrder(new).map { _ in write(.candidateForMaximum, new) }
        case .minimum: return MergeOrder(new).map { _ in write(.candidateForMinimum, new) }
        case .list(let key):
            guard let records = new.propertyList.arrayValue, !records.isEmpty,
                let former = old == nil ? [] : former?.arrayValue
            else { return nil }
            return self.records(from: former, to: records, by: key, at: path)
        }
    }

    /// Returns the writes of the records that were added, changed or removed, and of their order; nil if some cannot be
    /// told apart.
    private static func records(
        from old: [PropertyList], to new: [PropertyList], by key: String, at path: Path
    ) -> [Write]? {
        guard let before = names(of: old, by: key), let after = names(of: new, by: key) else { return nil }
        let (known, kept) = (Dictionary(zip(before, old)) { first, _ in first }, Set(after))
        var writes = before.filter { !kept.contains($0) }.map { Write(path: path.appending($0), value: .deleted) }
        for (name, record) in zip(after, new) {
            let former = known[name]
            guard former != record else { continue }
            guard let changes = entryWrites(from: former, to: record, at: path.appending(name)) else { return nil }
            writes += changes
        }
        // Where records are only removed, the others keep their order.
        if before.filter(kept.contains) != after {
            guard let order = try? CanonicalValue(.array(after.map(\.id))) else { return nil }
            writes.append(Write(path: path.appending(MergedPart(orderBy: key)), value: .value(order)))
        }
        return writes
    }

    private static func names(of records: [PropertyList], by key: String) -> [RecordName]? {
        let names = records.compactMap { RecordName(key, $0.dictionaryValue?[key]) }
        return names.count == records.count && Set(names).count == names.count ? names : nil
    }

    /// Returns the writes of the elements that were added or removed.
    private static func elements(from old: [PropertyList], to new: [PropertyList], at path: Path) -> [Write]? {
        guard let former = try? old.map({ try CanonicalValue($0) }),
            let elements = try? new.map({ try CanonicalValue($0) })
        else { return nil }
        let (before, after) = (Set(former), Set(elements))
        let removed = before.subtracting(after).map { ($0, WrittenValue.deleted) }
        let added = after.subtracting(before).map { ($0, WrittenValue.value($0)) }
        return (removed + added).map { Write(path: path.appending(MergedPart(element: $0)), value: $1) }
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
