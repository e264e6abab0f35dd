internal import PropertyLists

/// The view of the state: the value of the write with the shortest path, changed by each newer write below it.
extension MergeState {
    /// Returns the value at a path, or nil if there is none.
    package func value(at path: Path) -> CanonicalValue? {
        if path.depth == 2, !hasWrites(ofDepth: 1), isAtMost(deep: 2) { return write(at: path)?.value.value }
        let (under, above) = (under(path), above(path, withItself: false))
        if above.isEmpty, under.isEmpty { return nil }
        if under.count == 1, let write = under.first, write.path == path { return write.value.value }
        return merged(path, above: above, under: under)
    }

    /// Returns the value at a path, from the writes above it and those at or below it.
    private func merged(_ path: Path, above: [VersionedWrite], under: [VersionedWrite]) -> CanonicalValue? {
        guard let value = patched(path, above: above, under: under) else { return nil }
        // All parts are within the limits, so only the size of the whole can exceed one.
        return (try? CanonicalValue(value)) ?? fitting(path, above: above, under: under)
    }

    /// Applies only as many writes, in the order of paths, as the limit of a value allows. All hosts leave out the same
    /// ones, and show them again when there is room.
    private func fitting(_ path: Path, above: [VersionedWrite], under: [VersionedWrite]) -> CanonicalValue? {
        var (fitting, beyond) = (0, under.count)
        var found = patched(path, above: above, under: []).flatMap { try? CanonicalValue($0) }
        while beyond - fitting > 1 {
            let count = (fitting + beyond) / 2
            let value = patched(path, above: above, under: Array(under.prefix(count)))
            if let value, (try? CanonicalValue(value)) == nil {
                beyond = count
            } else {
                (fitting, found) = (count, value.flatMap { try? CanonicalValue($0) })
            }
        }
        return found
    }

    private func patched(_ path: Path, above: [VersionedWrite], under: [VersionedWrite]) -> PropertyList? {
        var value: PropertyList?
        if let nearest = above.last {
            let rest = path.components.dropFirst(nearest.path.components.count)
            value = rest.reduce(nearest.value.value?.propertyList) { $0?[$1.text] }
        }
        let depth = path.components.count
        for write in Rule.patchesViews.isKept ? under[...] : under.prefix(1) {
            let rest = write.path.components.dropFirst(depth).map(\.text)
            value.write(write.value.value?.propertyList, at: rest[...])
        }
        return value
    }

    /// Returns the keys of a domain and their values, in the order of paths.
    package func keys(of domain: String) -> [(key: String, value: CanonicalValue)] {
        keys(under: Path(domain: domain)).map { ($0.path.key ?? "", $0.value) }
    }

    /// Returns the paths of a domain's keys and their values, in order. A path is that of a write where a single write
    /// sets the key.
    func keys(under domain: Path) -> [(path: Path, value: CanonicalValue)] {
        var writes = under(domain)[...]
        if let first = writes.first, first.path == domain {
            if first.value.value != nil { return keysOfWholeValue(domain) }
            writes.removeFirst()
        }
        var (keys, start) = ([(path: Path, value: CanonicalValue)](), writes.startIndex)
        keys.reserveCapacity(writes.count)
        while start < writes.endIndex {
            let keyPath = writes[start].path.prefix(components: 2)
            let end = writes[start...].firstIndex { !keyPath.isPrefix(of: $0.path) } ?? writes.endIndex
            if let value = value(at: keyPath, from: writes[start..<end]) { keys.append((keyPath, value)) }
            start = end
        }
        return keys
    }

    /// Returns the value of a key that no write above it sets, from the writes at and below it.
    private func value(at path: Path, from writes: ArraySlice<VersionedWrite>) -> CanonicalValue? {
        if writes.count == 1, let write = writes.first, write.path == path { return write.value.value }
        return merged(path, above: [], under: Array(writes))
    }

    /// Returns the keys of a domain that was written as one value. No host writes these, but a file can contain one.
    private func keysOfWholeValue(_ path: Path) -> [(path: Path, value: CanonicalValue)] {
        guard let entries = value(at: path)?.propertyList.dictionaryValue else { return [] }
        return entries.compactMap { entry in
            (try? CanonicalValue(entry.value)).map { (path.appending(entry.key), $0) }
        }
    }
}

extension PropertyList? {
    /// Writes a value at a path of dictionary keys; nil removes the value there. A value on the path that is not a
    /// dictionary is replaced by one.
    mutating func write(_ value: PropertyList?, at path: ArraySlice<String>) {
        guard let first = path.first else {
            self = value
            return
        }
        var entries = self?.dictionaryValue ?? PropertyList.Dictionary()
        if value == nil, self?.dictionaryValue == nil { return }
        var entry = entries[first]
        entry.write(value, at: path.dropFirst())
        entries[first] = entry
        self = .dictionary(entries)
    }
}
