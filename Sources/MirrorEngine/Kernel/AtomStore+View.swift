internal import PropertyLists

/// The view of the state: the value of the atom with the shortest path, changed by each newer atom below it.
extension AtomStore {
    /// Returns the value at a path, or nil if there is none.
    package func value(at path: Path) -> CanonicalValue? {
        if path.depth == 2, !hasAtoms(ofDepth: 1), isAtMost(deep: 2) { return atom(at: path)?.value.value }
        let (under, above) = (under(path), above(path, withItself: false))
        if above.isEmpty, under.isEmpty { return nil }
        if under.count == 1, let atom = under.first, atom.path == path { return atom.value.value }
        return merged(path, above: above, under: under)
    }

    /// Returns the value at a path, from the atoms above it and those at or below it.
    private func merged(_ path: Path, above: [Atom], under: [Atom]) -> CanonicalValue? {
        guard let value = patched(path, above: above, under: under) else { return nil }
        // All parts are within the limits, so only the size of the whole can exceed one.
        return (try? CanonicalValue(value)) ?? fitting(path, above: above, under: under)
    }

    /// Applies only as many atoms, in the order of paths, as the limit of a value allows. All hosts leave out the same
    /// ones, and show them again when there is room.
    private func fitting(_ path: Path, above: [Atom], under: [Atom]) -> CanonicalValue? {
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

    private func patched(_ path: Path, above: [Atom], under: [Atom]) -> PropertyList? {
        var value: PropertyList?
        if let nearest = above.last {
            let rest = path.components.dropFirst(nearest.path.components.count)
            value = rest.reduce(nearest.value.value?.propertyList) { $0?[$1.text] }
        }
        let depth = path.components.count
        for atom in Rule.patchesViews.isKept ? under[...] : under.prefix(1) {
            let rest = atom.path.components.dropFirst(depth).map(\.text)
            value.write(atom.value.value?.propertyList, at: rest[...])
        }
        return value
    }

    /// Returns the keys of a domain and their values, in the order of paths.
    package func keys(of domain: String) -> [(key: String, value: CanonicalValue)] {
        keys(under: Path(domain: domain)).map { ($0.path.key ?? "", $0.value) }
    }

    /// Returns the paths of a domain's keys and their values, in order. A path is that of an atom where a single atom
    /// sets the key.
    func keys(under domain: Path) -> [(path: Path, value: CanonicalValue)] {
        var atoms = under(domain)[...]
        if let first = atoms.first, first.path == domain {
            if first.value.value != nil { return keysOfWholeValue(domain) }
            atoms.removeFirst()
        }
        var (keys, start) = ([(path: Path, value: CanonicalValue)](), atoms.startIndex)
        keys.reserveCapacity(atoms.count)
        while start < atoms.endIndex {
            let keyPath = atoms[start].path.prefix(components: 2)
            let end = atoms[start...].firstIndex { !keyPath.isPrefix(of: $0.path) } ?? atoms.endIndex
            if let value = value(at: keyPath, from: atoms[start..<end]) { keys.append((keyPath, value)) }
            start = end
        }
        return keys
    }

    /// Returns the value of a key that no atom above it sets, from the atoms at and below it.
    private func value(at path: Path, from atoms: ArraySlice<Atom>) -> CanonicalValue? {
        if atoms.count == 1, let atom = atoms.first, atom.path == path { return atom.value.value }
        return merged(path, above: [], under: Array(atoms))
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
