internal import PropertyLists

/// What a program sees of the state: the shortest atom's value, changed by each newer atom below it.
extension AtomStore {
    /// The value at a path; nil where there is none.
    package func value(at path: Path) -> CanonicalValue? {
        if path.depth == 2, !hasAtoms(ofDepth: 1), isAtMost(deep: 2) { return atom(at: path)?.value.value }
        let (under, above) = (under(path), above(path, withItself: false))
        if above.isEmpty, under.isEmpty { return nil }
        if under.count == 1, let atom = under.first, atom.path == path { return atom.value.value }
        return merged(path, above: above, under: under)
    }

    /// The value of a path from the atoms above it, and at and below it.
    private func merged(_ path: Path, above: [Atom], under: [Atom]) -> CanonicalValue? {
        guard let value = patched(path, above: above, under: under) else { return nil }
        // Made of values within the limits, it can only be beyond them by its size.
        return (try? CanonicalValue(value)) ?? fitting(path, above: above, under: under)
    }

    /// Of entries that are too large together, as many as are not, in the order of paths. All hosts leave out the same,
    /// and show them again when there is room.
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
        for atom in rules.patchesViews ? under[...] : under.prefix(1) {
            let rest = atom.path.components.dropFirst(depth).map(\.text)
            value.write(atom.value.value?.propertyList, at: rest[...])
        }
        return value
    }

    /// The keys of a domain with their values, in the order of paths.
    package func keys(of domain: String) -> [(key: String, value: CanonicalValue)] {
        keys(under: Path(domain: domain)).map { ($0.path.key ?? "", $0.value) }
    }

    /// The paths of a domain's keys with their values, in order; paths of atoms where that is what they are.
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

    /// The value of a key above which there is none, from the atoms at it and below.
    private func value(at path: Path, from atoms: ArraySlice<Atom>) -> CanonicalValue? {
        if atoms.count == 1, let atom = atoms.first, atom.path == path { return atom.value.value }
        return merged(path, above: [], under: Array(atoms))
    }

    /// No host writes a whole domain; whoever finds one shows it like any other dictionary.
    private func keysOfWholeValue(_ path: Path) -> [(path: Path, value: CanonicalValue)] {
        guard let entries = value(at: path)?.propertyList.dictionaryValue else { return [] }
        return entries.compactMap { entry in
            (try? CanonicalValue(entry.value)).map { (path.appending(entry.key), $0) }
        }
    }
}

extension PropertyList? {
    /// Puts a value at a way into dictionaries; nil removes what is there. What is no dictionary on the way to a value
    /// becomes one.
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
