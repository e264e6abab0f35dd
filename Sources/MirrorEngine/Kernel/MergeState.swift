internal import PropertyLists

/// The written values of a mirror that no user who saw them has replaced, in the order of their paths.
///
/// At each place, the latest of those that are live there is in force. The others are open conflicts, if their values
/// differ.
///
/// They are stored in sorted runs of at most 512, so that a lookup is a binary search and an insertion moves few.
package struct MergeState: Sendable {
    private var runs: [[Atom]] = []
    package private(set) var count = 0
    private(set) var size = Size()
    /// The number of atoms by path depth. A lookup skips depths at which there are none.
    private var countByDepth: [Int] = []

    private static let longestRun = 512

    /// What the values take in a file that contains all of them.
    struct Size: Hashable, Sendable {
        /// The bytes of all values, and of all paths.
        var values = 0
        var paths = 0
        /// The number of values that are too long for a pack.
        var long = 0
        /// The approximate bytes of the file, in which a path lacks what it shares with the one before.
        var file = 0
    }

    package init() {}

    /// Takes atoms in the order of their paths and names.
    init(sorted atoms: [Atom]) {
        for start in stride(from: 0, to: atoms.count, by: Self.longestRun / 2) {
            runs.append(Array(atoms[start..<min(start + Self.longestRun / 2, atoms.count)]))
        }
        var previous: Path?
        for atom in atoms {
            note(atom, 1, shared: previous.map { atom.path.sharedBytes(with: $0) } ?? 0)
            previous = atom.path
        }
    }
}

// MARK: Lookup

extension MergeState {
    /// Whether there are atoms whose paths have this number of components.
    private func hasAtoms(ofDepth depth: Int) -> Bool { depth < countByDepth.count && countByDepth[depth] > 0 }

    /// Returns the atoms with exactly this path.
    package func atoms(at path: Path) -> [Atom] {
        var (found, place) = ([Atom](), place(of: path))
        while let atom = atom(at: place), atom.path == path {
            found.append(atom)
            place = next(place)
        }
        return found
    }

    /// Returns the atoms whose paths are above this one, shortest first.
    package func above(_ path: Path) -> [Atom] {
        var found: [Atom] = []
        for (depth, end) in zip(1..., path.ends.dropLast()) where hasAtoms(ofDepth: depth) {
            found += atoms(at: path.prefix(bytes: end))
        }
        return found
    }

    /// Returns the atoms whose paths are at or below this one, each after those above it.
    package func under(_ path: Path) -> [Atom] {
        var (found, place) = ([Atom](), place(of: path))
        while let atom = atom(at: place), path.isPrefix(of: atom.path) {
            found.append(atom)
            place = next(place)
        }
        return found
    }

    /// Returns the atoms whose paths are above, at or below this one.
    package func overlapping(_ path: Path) -> [Atom] { above(path) + under(path) }

    /// Returns the rule by which the latest write of a part of a key was made, or nil if there is none.
    func kind(of key: Path) -> MergeKind? {
        guard hasAtoms(ofDepth: key.depth + 1) else { return nil }
        let latest = under(key).filter { $0.path != key }.max { $1.isAfter($0) }
        return latest.map { key.merging(of: $0.path) }
    }

    package func atom(_ name: AtomName, at path: Path) -> Atom? { atoms(at: path).first { $0.name == name } }

    /// Calls `body` with every atom, in the order of paths.
    package func visit(_ body: (Atom) -> Void) { for run in runs { for atom in run { body(atom) } } }

    package var atoms: [Atom] { runs.flatMap { $0 } }

    /// Returns a digest of the published deletions that meet a condition, which does not depend on their order.
    func deletions(where isIncluded: (TransactionID) -> Bool) -> UInt64 {
        var digest: UInt64 = 0
        visit { atom in
            guard atom.value == .deleted, let dot = atom.name.dot, isIncluded(dot) else { return }
            digest ^= (atom.name.id.number.mixed ^ dot.writer.number).mixed &+ dot.sequence.mixed
        }
        return digest
    }

    /// The domains that have atoms, in the order of paths.
    package var domains: [String] {
        var (domains, place) = ([String](), Place(run: 0, index: 0))
        while let atom = atom(at: place) {
            let domain = atom.path.prefix(components: 1)
            domains.append(domain.domain)
            place = self.place { $0 < domain || domain.isPrefix(of: $0) }
        }
        return domains
    }

    private struct Place {
        var run: Int
        var index: Int
    }

    private func atom(at place: Place) -> Atom? {
        place.run < runs.count && place.index < runs[place.run].count ? runs[place.run][place.index] : nil
    }

    private func previous(_ place: Place) -> Place? {
        guard place.index == 0 else { return Place(run: place.run, index: place.index - 1) }
        return place.run == 0 ? nil : Place(run: place.run - 1, index: runs[place.run - 1].count - 1)
    }

    private func next(_ place: Place) -> Place {
        place.index + 1 < runs[place.run].count
            ? Place(run: place.run, index: place.index + 1) : Place(run: place.run + 1, index: 0)
    }

    /// Returns the place of the first atom whose path is not before this one. The first line is a fast path for
    /// loading, in which paths arrive in ascending order.
    private func place(of path: Path) -> Place {
        if let last = runs.last?.last, last.path < path { return Place(run: runs.count, index: 0) }
        return place { $0 < path }
    }

    /// Returns the place of the first path for which `isBefore` is false.
    private func place(where isBefore: (Path) -> Bool) -> Place {
        let run = Self.firstIndex(in: runs.count) { runs[$0].last.map { isBefore($0.path) } ?? true }
        guard run < runs.count else { return Place(run: run, index: 0) }
        return Place(run: run, index: Self.firstIndex(in: runs[run].count) { isBefore(runs[run][$0].path) })
    }

    /// Returns the first of `count` indices for which `isBefore` is false, by binary search.
    private static func firstIndex(in count: Int, isBefore: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

// MARK: Changes

extension MergeState {
    /// Inserts an atom, or replaces the one with its name and path.
    package mutating func insert(_ atom: Atom) {
        if !atom.isWhole, atom.region.isEmpty { return remove(atom.name, at: atom.path) }
        var place = place(of: atom.path)
        while let other = self.atom(at: place), other.path == atom.path, other.name < atom.name { place = next(place) }
        if let other = self.atom(at: place), other.path == atom.path, other.name == atom.name {
            let shared = sharedBytes(of: atom.path, previous(place), next(place))
            note(other, -1, shared: shared)
            note(atom, 1, shared: shared)
            runs[place.run][place.index] = atom
            return
        }
        note(atom, 1, shared: sharedBytes(of: atom.path, previous(place), place))
        if place.run == runs.count {
            guard let last = runs.last, last.count < Self.longestRun else {
                runs.append([atom])
                return
            }
            place = Place(run: runs.count - 1, index: last.count)
        }
        runs[place.run].insert(atom, at: place.index)
        if runs[place.run].count > Self.longestRun { split(place.run) }
    }

    private mutating func remove(_ name: AtomName, at path: Path) {
        var place = place(of: path)
        while let atom = atom(at: place), atom.path == path {
            guard atom.name != name else {
                note(atom, -1, shared: sharedBytes(of: path, previous(place), next(place)))
                runs[place.run].remove(at: place.index)
                if runs[place.run].isEmpty { runs.remove(at: place.run) }
                return
            }
            place = next(place)
        }
    }

    /// Removes an atom from some places.
    package mutating func cover(_ name: AtomName, _ region: Region) {
        for root in region.roots {
            // No host names a region above the path of its value, but a file can contain one.
            for atom in above(root) + under(root) where atom.name == name {
                var atom = atom
                atom.region = atom.region.subtracting(region)
                insert(atom)
            }
        }
    }

    /// Returns how many bytes a file lacks because of an atom with a path between two others. In a sorted list, two
    /// paths share only what each shares with all between them.
    private func sharedBytes(of path: Path, _ before: Place?, _ after: Place) -> Int {
        max(
            before.flatMap(atom(at:)).map { path.sharedBytes(with: $0.path) } ?? 0,
            atom(at: after).map { path.sharedBytes(with: $0.path) } ?? 0)
    }

    private mutating func note(_ atom: Atom, _ change: Int, shared: Int) {
        count += change
        let (value, path) = (atom.value.count, atom.path.bytes.count)
        let isLong = value > Blob.longestInPack
        size.values += value * change
        size.paths += path * change
        size.long += isLong ? change : 0
        size.file += (path - shared + (isLong ? 0 : value) + Self.bytesBesides) * change
        let depth = atom.path.depth
        while countByDepth.count <= depth { countByDepth.append(0) }
        countByDepth[depth] += change
    }

    /// The bytes of an atom in a base besides its path and its value: its name, stamp, reason and region.
    private static let bytesBesides = 40

    private mutating func split(_ run: Int) {
        let half = runs[run].count / 2
        let upper = Array(runs[run][half...])
        // The lower half is copied so that it does not keep the capacity of the whole run.
        runs[run] = Array(runs[run][..<half])
        runs.insert(upper, at: run + 1)
    }
}

extension MergeState: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && left.runs.joined().elementsEqual(right.runs.joined())
    }

    package func hash(into hasher: inout Hasher) { visit { hasher.combine($0) } }
}

extension MergeState {
    /// Calls `body` with the atoms in which two states differ, in order: with one that only one of them has, or with
    /// two of the same path and name.
    func visitDifferences(from other: MergeState, _ body: (_ ours: Atom?, _ theirs: Atom?) -> Void) {
        var (left, right) = (Place(run: 0, index: 0), Place(run: 0, index: 0))
        while true {
            // Most atoms of two hosts are equal. They are compared in place, because a copy takes longer.
            while left.run < runs.count, right.run < other.runs.count,
                runs[left.run][left.index] == other.runs[right.run][right.index]
            {
                (left, right) = (next(left), other.next(right))
            }
            let (ours, theirs) = (atom(at: left), other.atom(at: right))
            guard ours != nil || theirs != nil else { return }
            let isOursNext = ours.map { ours in theirs.map { !$0.isSorted(before: ours) } ?? true } ?? false
            let isTheirsNext = theirs.map { theirs in ours.map { !$0.isSorted(before: theirs) } ?? true } ?? false
            body(isOursNext ? ours : nil, isTheirsNext ? theirs : nil)
            if isOursNext { left = next(left) }
            if isTheirsNext { right = other.next(right) }
        }
    }

    /// Returns the keys at which two states differ.
    func keysDiffering(from other: MergeState) -> Set<Path> {
        var keys: Set<Path> = []
        visitDifferences(from: other) { ours, theirs in
            if let path = (ours ?? theirs)?.path { keys.insert(path.prefix(components: 2)) }
        }
        return keys
    }
}

extension Atom {
    /// Whether this atom is before another in the order of a state.
    func isSorted(before other: Atom) -> Bool { path == other.path ? name < other.name : path < other.path }
}

extension UInt64 {
    /// A hash of the number, in which each bit depends on all of its bits.
    fileprivate var mixed: UInt64 {
        var number = (self ^ self >> 30) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
        return number ^ number >> 31
    }
}
