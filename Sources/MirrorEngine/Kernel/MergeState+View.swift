internal import PropertyLists

/// A place of a mirror, without the places below it at which other values are live.
package struct Cell: Hashable, Sendable {
    package let place: Path
    /// The places below it that are cells of their own.
    package let below: [Path]
    /// The values that are live here, the latest first.
    package let live: [Atom]
    /// A value in force below that makes this place a dictionary although the latest value here is none, or nil.
    package fileprivate(set) var entry: Atom?
    /// Whether a value below is in force, so that this place is a dictionary, or has parts.
    fileprivate var hasEntries = false
    /// Whether a part or entry of another kind, written later beside this one, is in force instead.
    fileprivate var isOutdone = false
    /// The kind of candidates below it. Values that were written as a whole then compete too.
    fileprivate(set) var candidates: MergedPart.Kind?
    /// The elements in force, if those of an array are merged one by one.
    fileprivate var elements: Set<MergedPart>?
    /// The array in force, if this place is one of its elements.
    fileprivate var array: Atom?
    /// The part of a merged value that this place is.
    let part: MergedPart?

    /// What values that were written here have of it. Those have nothing of their own at parts that others wrote.
    package var region: Region { Region(place, except: Array(below.filter { $0.merged == nil })) }

    fileprivate init(place: Path, below: [Path], live: [Atom]) {
        (self.place, self.below, self.live) = (place, below, live)
        part = place.merged?.part
    }

    /// The latest value here. A part of a merged value is there as long as it is live anywhere.
    var latest: Atom? {
        if isOutdone { return nil }
        if let candidates {
            let values = live.filter { $0.reason != .older && $0.part(at: place).isOrdered }
            let best = values.reduce(nil) { best, atom -> Atom? in
                candidates.isBeaten(atom.part(at: place).value, by: best?.part(at: place).value) ? best : atom
            }
            if let best { return best }
        }
        if part == nil { return live.first.flatMap { $0.reason == .older ? nil : $0 } }
        return live.first { $0.path == place } ?? array
    }

    /// The value in force, or nil if there is none.
    package var winner: Atom? { entry == nil ? latest : nil }

    /// Whether the value in force was written as an entry of something that another value has as a whole.
    private func isNewEntry(for atom: Atom) -> Bool {
        guard let winner = winner ?? entry else { return false }
        return atom.path != winner.path && atom.path.isPrefix(of: winner.path)
    }

    /// Whether nothing of a live value is left here: it was a dictionary, and its entries were replaced one by one.
    func isEmptied(_ atom: Atom) -> Bool {
        let part = atom.part(at: place)
        guard part != .emptyDictionary, part != .emptyArray, part.value?.container != nil else { return false }
        return part.isEmpty(
            at: place, except: atom.region.edges.filter { place.isPrefix(of: $0) && !atom.isLive(at: $0) }[...])
    }

    /// The other values that are live here and differ from the one in force.
    package var losers: [Atom] {
        if part != nil { return isOutdone ? live.filter { $0.path == place } : [] }
        if let elements { return live.filter { $0.name != winner?.name && loses($0, elements) } }
        let inForce = winner?.part(at: place) ?? .none
        // A place that has nothing but entries that are cells of their own is a container without a value.
        let isBare = hasEntries && (inForce.value == nil || inForce.isEmpty(at: place, except: below[...]))
        let parts = isBare ? [inForce, .none, .emptyDictionary, .emptyArray] : [inForce]
        return live.filter { atom in
            if atom.name == winner?.name { return false }
            if atom.reason == .older { return true }
            if candidates != nil, atom.value.value == nil || atom.part(at: place).isOrdered { return false }
            let theirs = atom.part(at: place)
            // The writer left the key to each host, or never named this entry.
            if theirs == .left || theirs == .none && isNewEntry(for: atom) { return false }
            return !isEmptied(atom) && !parts.contains { theirs.isSame(as: $0, at: place, except: below[...]) }
        }
    }
}

extension Cell {
    /// Whether a value has an element that is not in force, or is no array.
    private func loses(_ atom: Atom, _ elements: Set<MergedPart>) -> Bool {
        if atom.reason == .older { return true }
        guard let value = atom.part(at: place).value else { return false }
        guard let parts = value.elements else { return true }
        return parts.contains { !elements.contains($0) && atom.isLive(at: place.appending($0)) }
    }

    /// Finds what is in force of an array whose elements are merged one by one.
    fileprivate mutating func findElements(_ below: inout ArraySlice<Cell>) {
        let array = winner.flatMap { atom in atom.part(at: place).value?.elements.map { (atom, $0) } }
        guard below.contains(where: { $0.part?.kind == .element }), array != nil || hasEntries, candidates == nil else {
            return
        }
        var elements: Set<MergedPart> = []
        for index in below.indices {
            if let array, let part = below[index].part, array.1.contains(part), array.0.isLive(at: below[index].place) {
                below[index].array = array.0
            }
            if below[index].winner != nil { elements.formUnion([below[index].part].compactMap { $0 }) }
        }
        for part in array?.1 ?? [] where array?.0.isLive(at: place.appending(part)) ?? false { elements.insert(part) }
        self.elements = elements
    }
}

extension CanonicalValue {
    /// The names of the elements of an array, or nil for any other value.
    fileprivate var elements: Set<MergedPart>? {
        container?.arrayValue.map { elements in
            Set(elements.compactMap { try? CanonicalValue($0) }.map { MergedPart(element: $0) })
        }
    }
}

extension MergeState {
    /// Returns the parts of a place in which the same values are live, each after those above it.
    package func cells(under path: Path) -> [Cell] { cells(under: path, overlapping(path)) }

    private func cells(under path: Path, _ atoms: [Atom]) -> [Cell] {
        var places: Set<Path> = [path]
        for atom in atoms {
            places.formUnion(atom.region.edges.filter { path.isPrefix(of: $0) })
        }
        let sorted = places.sorted()
        var (below, open) = ([[Path]](repeating: [], count: sorted.count), [Int]())
        for (index, place) in sorted.enumerated() {
            while let last = open.last, !sorted[last].isPrefix(of: place) { open.removeLast() }
            if let last = open.last { below[last].append(place) }
            open.append(index)
        }
        var (cells, rest, candidates) = ([Cell](), atoms[...], [Atom]())
        cells.reserveCapacity(sorted.count)
        for (index, place) in sorted.enumerated() {
            candidates.removeAll { !$0.path.isPrefix(of: place) }
            while let atom = rest.first, atom.path.isPrefix(of: place) {
                candidates.append(atom)
                rest.removeFirst()
            }
            let live = candidates.filter { $0.isLive(at: place) }
            cells.append(
                Cell(place: place, below: below[index], live: live.count < 2 ? live : live.sorted { $0.isAfter($1) }))
        }
        return Self.withEntries(cells)
    }

    /// A value in force below a place.
    private struct Entry {
        let place: Path
        let atom: Atom
        /// The first of the cells at and below its place, and the one after the last.
        let cells: Range<Int>
    }

    /// Finds the places that are dictionaries, or have parts, because of a value in force below them.
    private static func withEntries(_ cells: [Cell]) -> [Cell] {
        guard cells.count > 1 else { return cells }
        var (cells, visible) = (cells, [Entry]())
        for index in cells.indices.reversed() where cells[index].part?.kind != .order {
            let place = cells[index].place
            guard cells[index].part == nil else {
                // Nothing is below a part of a value.
                if let atom = cells[index].winner {
                    visible.append(Entry(place: place, atom: atom, cells: index..<index + 1))
                }
                continue
            }
            // The visible values directly after this place in the order are those below it.
            let start = visible.lastIndex { !place.isPrefix(of: $0.place) }.map { $0 + 1 } ?? 0
            var below = Array(visible[start...])
            visible.removeSubrange(start...)
            keepLatestKind(of: &below, at: index, &cells)
            if case .part(let kind)? = below.first.map({ place.step(to: $0.place) }), kind.isCandidate {
                cells[index].candidates = kind
            }
            let (entry, value) = (below.last, cells[index].latest?.part(at: place).value)
            cells[index].hasEntries = entry != nil
            if let entry, let value, !place.step(to: entry.place).fits(value) {
                cells[index].entry = entry.atom
            }
            let end = index + 1 + cells[(index + 1)...].prefix { place.isPrefix(of: $0.place) }.count
            if let atom = cells[index].winner, value != nil {
                visible.append(Entry(place: place, atom: atom, cells: index..<end))
            } else if let entry {
                visible.append(Entry(place: place, atom: entry.atom, cells: index..<end))
            }
        }
        // The parts of a value follow its entries.
        var start = 0
        while let first = cells[start...].firstIndex(where: { $0.part != nil }) {
            let whole = cells[first].place.whole
            let end = cells[first...].firstIndex { $0.place.whole != whole || $0.part == nil } ?? cells.endIndex
            if let index = cells[..<first].lastIndex(where: { $0.place == whole }) {
                var parts = cells[first..<end]
                cells[index].findElements(&parts)
                cells.replaceSubrange(first..<end, with: parts)
            }
            start = end
        }
        return cells
    }

    /// Of entries and parts that do not go together, keeps those of the kind that was written last. The others are open
    /// conflicts.
    private static func keepLatestKind(of below: inout [Entry], at index: Int, _ cells: inout [Cell]) {
        guard let first = below.first else { return }
        let place = cells[index].place
        let kind = { (entry: Entry) in place.step(to: entry.place) }
        guard below.contains(where: { kind($0) != kind(first) }) else { return }
        guard let latest = below.max(by: { $1.atom.isAfter($0.atom) }) else { return }
        for entry in below where kind(entry) != kind(latest) {
            for cell in entry.cells { cells[cell].isOutdone = true }
        }
        below.removeAll { kind($0) != kind(latest) }
    }

    /// Returns the value in force at a path, or nil if there is none.
    package func value(at path: Path) -> CanonicalValue? {
        let atoms = overlapping(path)
        return value(at: path, atoms)
    }

    /// Whether a key has no value, because it is left to each host.
    package func isLeft(_ key: Path) -> Bool { hasLeft(key) && value(at: key) == nil }

    /// Whether a key or a part of it is left to each host.
    func hasLeft(_ key: Path) -> Bool { atoms(at: key).contains { $0.value == .left } }

    private func value(at path: Path, _ atoms: [Atom]) -> CanonicalValue? {
        if atoms.isEmpty { return nil }
        if atoms.count == 1, atoms[0].isWhole, atoms[0].path == path {
            return atoms[0].reason == .older ? nil : atoms[0].value.value
        }
        let cells = cells(under: path, atoms)
        guard let value = Self.value(of: cells[...]) else { return nil }
        // All parts are within the limits, so only the size of the whole can exceed one.
        return (try? CanonicalValue(value)) ?? Self.fitting(cells)
    }

    private static func value(of cells: ArraySlice<Cell>) -> PropertyList? {
        guard let first = cells.first else { return nil }
        let depth = first.place.depth
        var value = first.winner?.part(at: first.place).value?.propertyList
        var rest = cells.dropFirst()
        if first.part != nil { return value }
        while let cell = rest.first {
            guard let whole = cell.place.merged?.place else {
                let path = cell.place.components.dropFirst(depth)
                value.write(cell.winner?.part(at: cell.place).value?.propertyList, at: path)
                rest = rest.dropFirst()
                continue
            }
            let path = whole.components.dropFirst(depth)
            // The parts of a value follow each other.
            let parts = rest.prefix { $0.part != nil && whole.isPrefix(of: $0.place) }
            rest = rest.dropFirst(parts.count)
            value.write(
                .combined(
                    value?[path],
                    with: parts.compactMap { cell in
                        cell.part.map { ($0, cell.winner?.part(at: cell.place).value) }
                    }), at: path)
        }
        return value
    }

    /// Uses only as many cells, in the order of paths, as the limit of a value allows. All hosts leave out the same
    /// ones, and show them again when there is room.
    private static func fitting(_ cells: [Cell]) -> CanonicalValue? {
        var (fitting, beyond) = (1, cells.count)
        var found = value(of: cells.prefix(1)).flatMap { try? CanonicalValue($0) }
        while beyond - fitting > 1 {
            let count = (fitting + beyond) / 2
            let value = value(of: cells.prefix(count))
            if let value, (try? CanonicalValue(value)) == nil {
                beyond = count
            } else {
                (fitting, found) = (count, value.flatMap { try? CanonicalValue($0) })
            }
        }
        return found
    }

    /// Returns the keys of a domain and their values, in the order of paths.
    package func keys(of domain: String) -> [(key: String, value: CanonicalValue)] {
        keys(under: Path(domain: domain)).map { ($0.path.key ?? "", $0.value) }
    }

    /// Returns the paths of a domain's keys and their values, in order.
    func keys(under domain: Path) -> [(path: Path, value: CanonicalValue)] {
        let atoms = under(domain)
        var (keys, start) = ([(path: Path, value: CanonicalValue)](), atoms.startIndex)
        keys.reserveCapacity(atoms.count)
        while start < atoms.endIndex {
            // A value that a schema would assign to the domain itself has no key.
            guard atoms[start].path != domain else {
                start += 1
                continue
            }
            let key = atoms[start].path.prefix(components: 2)
            var end = start + 1
            while end < atoms.endIndex, key.isPrefix(of: atoms[end].path) { end += 1 }
            if let value = value(at: key, Array(atoms[start..<end])) { keys.append((key, value)) }
            start = end
        }
        return keys
    }
}

extension PropertyList {
    fileprivate subscript(path: ArraySlice<Path.Component>) -> PropertyList? {
        path.reduce(self) { $0?.part($1) }
    }
}

extension PropertyList? {
    /// Writes a value at a path of dictionary keys and records; nil removes the value there. A value on the path that
    /// is not a dictionary, or an array with records, is replaced by one.
    mutating func write(_ value: PropertyList?, at path: ArraySlice<Path.Component>) {
        switch path.first {
        case nil, .part?: self = value
        case .key(let first)?:
            var entries = self?.dictionaryValue ?? PropertyList.Dictionary()
            if value == nil, self?.dictionaryValue == nil { return }
            var entry = entries[first]
            entry.write(value, at: path.dropFirst())
            entries[first] = entry
            self = .dictionary(entries)
        case .record(let name)?:
            var records = self?.arrayValue ?? []
            if value == nil, self?.arrayValue == nil { return }
            let index = records.firstIndex(where: name.matches)
            var record = index.map { records[$0] }
            record.write(value, at: path.dropFirst())
            if record?.dictionaryValue != nil { record.write(name.id, at: [.key(name.key)]) }
            if let index { records.remove(at: index) }
            if let record { records.insert(record, at: index ?? records.endIndex) }
            self = .array(records)
        }
    }
}

// MARK: Open conflicts

/// Values that were written at a place, were never seen by the user whose value is in force there, and differ from it.
package struct Conflict: Hashable, Sendable {
    package let place: Path
    /// The value that lost. With the reason `older`, it is the number of values that were removed from the list.
    package let value: WrittenValue
    /// The names of the writes of that value, and where each is an open conflict.
    package let losers: [Cover]
    /// Live values that would come into force there without the lost ones, although they are not lost: entries below
    /// hide them.
    fileprivate let hidden: [Cover]
    /// The first of these writes.
    package let loser: Atom
    /// The write in force, or nil if there is none.
    package let winner: Atom?

    /// What a change covers that accepts the conflict, so that the values in force stay the same.
    package var covers: [Cover] { losers + hidden }

    /// Whether both are about the same value at the same place.
    package func isSame(as other: Conflict) -> Bool {
        place == other.place && isOfOlder == other.isOfOlder && (isOfOlder || value == other.value)
    }

    /// Whether this represents a number of older values.
    package var isOfOlder: Bool { loser.reason == .older }

    /// The number of values that this represents. Two hosts can have counted the same ones.
    package var valueCount: Int {
        guard isOfOlder, case .integer(let number)? = value.value?.propertyList else { return 1 }
        return Int(exactly: number).map { max($0, 1) } ?? 1
    }
}

extension MergeState {
    /// Returns the open conflicts at and below a path, in the order of their places.
    package func conflicts(under path: Path) -> [Conflict] {
        let atoms = overlapping(path)
        guard atoms.count > 1 || atoms.first?.reason == .older else { return [] }
        return conflicts(of: cells(under: path, atoms))
    }

    /// Returns all open conflicts, in the order of their places.
    package var conflicts: [Conflict] {
        var (found, key, atoms) = ([Conflict](), Path?.none, [Atom]())
        func finish() {
            guard let key, atoms.count > 1 || atoms.first?.reason == .older else { return }
            found += conflicts(of: cells(under: key, atoms))
        }
        visit { atom in
            if let last = key, last.isPrefix(of: atom.path) { return atoms.append(atom) }
            finish()
            key = atom.path.prefix(components: 2)
            // Most keys have one value, for which no array is allocated.
            atoms.removeAll(keepingCapacity: true)
            atoms.append(atom)
        }
        finish()
        return found
    }

    /// Joins the cells in which the same value is in force and the same ones have lost, and lists one conflict for each
    /// lost value.
    private func conflicts(of cells: [Cell]) -> [Conflict] {
        struct Part {
            let place: Path
            let winner: Atom?
            let losers: [Atom]
            var regions: [Region]
            var hidden: [Cover]
        }
        var (parts, open) = ([Part](), [(place: Path, part: Int?)]())
        for cell in cells {
            while let last = open.last, !last.place.isPrefix(of: cell.place) { open.removeLast() }
            let losers = cell.losers
            // A value that is not lost because of parts below could be without them.
            let isHidden = cell.entry != nil || cell.elements != nil || cell.candidates != nil
            let hidden = isHidden ? cell.live.filter { !losers.contains($0) && $0.name != cell.winner?.name } : []
            let winner = cell.winner ?? cell.entry
            if let above = open.last?.part, parts[above].winner?.name == winner?.name,
                parts[above].losers.map(\.name) == losers.map(\.name)
            {
                parts[above].regions.append(cell.region)
                parts[above].hidden += hidden.map { Cover($0.name, cell.region) }
                open.append((cell.place, above))
                continue
            }
            open.append((cell.place, losers.isEmpty ? nil : parts.count))
            if losers.isEmpty { continue }
            parts.append(
                Part(
                    place: cell.place, winner: winner, losers: losers, regions: [cell.region],
                    hidden: hidden.map { Cover($0.name, cell.region) }))
        }
        return parts.flatMap { part in
            let region = part.regions.reduce(Region.none) { $0.union($1) }
            var conflicts: [Conflict] = []
            for (value, losers) in Self.grouped(part.losers, at: part.place) {
                conflicts.append(
                    Conflict(
                        place: part.place, value: value, losers: losers.map { Cover($0.name, region) },
                        hidden: part.hidden, loser: losers[0], winner: part.winner))
            }
            return conflicts
        }
    }

    /// Returns the lost values, each with the atoms that have it, and last the number of older values.
    private static func grouped(_ losers: [Atom], at place: Path) -> [(WrittenValue, [Atom])] {
        var (values, groups) = ([WrittenValue](), [[Atom]]())
        for atom in losers where atom.reason != .older {
            let value = atom.part(at: place).value.map(WrittenValue.value) ?? .deleted
            if let index = values.firstIndex(of: value) {
                groups[index].append(atom)
            } else {
                values.append(value)
                groups.append([atom])
            }
        }
        let older = losers.filter { $0.reason == .older }
        if let first = older.first {
            let count = older.reduce(0) { $0 + $1.olderCount }
            values.append(
                (try? CanonicalValue(.integer(PropertyList.Integer(count)))).map(WrittenValue.value) ?? first.value)
            groups.append(older)
        }
        return Array(zip(values, groups))
    }
}

extension Atom {
    /// The number of values that this represents, if it represents older ones.
    fileprivate var olderCount: Int {
        guard case .integer(let number)? = value.value?.propertyList else { return 1 }
        return Int(exactly: number).map { min(max($0, 1), 1 << 40) } ?? 1
    }
}

// MARK: Names of conflicts

extension Conflict {
    /// Returns the name under which all hosts list the conflict. It depends on the mirror, the place and the value.
    package func name(in mirror: MirrorID) -> String { Self.name(place, value, isOfOlder: isOfOlder, in: mirror) }

    static func name(_ place: Path, _ value: WrittenValue, isOfOlder: Bool, in mirror: MirrorID) -> String {
        var bytes = mirror.bytes
        bytes.append(run: place.bytes)
        bytes.append(isOfOlder ? 1 : 0)
        // A count of older values changes, and the name does not.
        bytes += isOfOlder ? [] : value.bytes
        return Base32.text(ContentHash(of: bytes).bytes)
    }
}

extension ResolvedConflict {
    /// Returns the name that the conflict had while it was open.
    package func name(in mirror: MirrorID) -> String { Conflict.name(place, value, isOfOlder: false, in: mirror) }
}
