/// The state of a mirror: atoms of which none dominates another, in the order of their paths.
///
/// They stand in runs of some hundred, so that one is found by halving and put in by moving few.
package struct AtomStore: Sendable {
    private var runs: [[Atom]] = []
    package private(set) var count = 0
    /// How many atoms there are of each number of components: where there is none, none is looked for.
    private var countByDepth: [Int] = []
    /// How often anything was changed since this value was made; the same number of the same store is the same view.
    private(set) var changeCount = 0
    package var rules: Rules

    /// The most atoms in a run.
    private static let longestRun = 512

    package init(rules: Rules = .sound) { self.rules = rules }

    /// What became of an atom that was joined.
    package enum Outcome: Hashable, Sendable {
        /// It was there.
        case known
        /// It is dominated by these, of which each alone would do, the shortest path first.
        case dominated(by: [Atom])
        /// It is in force now, and these are not any more.
        case joined(displaced: [Atom])
    }

    /// Adds an atom by the one merge rule, and says what became of it.
    @discardableResult
    package mutating func join(_ atom: Atom) -> Outcome {
        let place = place(of: atom.path)
        let there = self.atom(at: place).flatMap { $0.path == atom.path ? $0 : nil }
        if let there, there.isSameWrite(as: atom) { return .known }
        let winners = (above(atom.path, withItself: false) + [there].compactMap(\.self))
            .filter { $0.isAfter(atom, rules: rules) }
        if !winners.isEmpty { return .dominated(by: winners) }
        let displaced = under(atom.path, from: place).filter { atom.isAfter($0, rules: rules) }
        if displaced.isEmpty {
            insert(atom, at: place)
        } else if displaced.count == 1, displaced[0].path == atom.path {
            runs[place.run][place.index] = atom
            changeCount += 1
        } else {
            for other in displaced { remove(at: other.path) }
            insert(atom, at: self.place(of: atom.path))
        }
        return .joined(displaced: displaced)
    }
}

// MARK: Finding

extension AtomStore {
    package var isEmpty: Bool { count == 0 }

    package func atom(at path: Path) -> Atom? {
        guard let atom = atom(at: place(of: path)), atom.path == path else { return nil }
        return atom
    }

    private func atom(at place: Place) -> Atom? {
        guard place.run < runs.count, place.index < runs[place.run].count else { return nil }
        return runs[place.run][place.index]
    }

    /// Whether there are atoms of so many components.
    func hasAtoms(ofDepth depth: Int) -> Bool { depth < countByDepth.count && countByDepth[depth] > 0 }

    /// Whether no atom has more components than this.
    func isAtMost(deep depth: Int) -> Bool { !countByDepth.dropFirst(depth + 1).contains { $0 > 0 } }

    /// The atoms above the path, and at it, the shortest path first.
    package func above(_ path: Path, withItself: Bool = true) -> [Atom] {
        var found: [Atom] = []
        for (depth, end) in zip(1..., path.ends) where hasAtoms(ofDepth: depth) {
            guard withItself || end < path.bytes.count else { break }
            if let atom = atom(at: end < path.bytes.count ? path.prefix(bytes: end) : path) { found.append(atom) }
        }
        return found
    }

    /// The atoms at the path and below it, each after those above it.
    package func under(_ path: Path) -> [Atom] { under(path, from: place(of: path)) }

    private func under(_ path: Path, from place: Place) -> [Atom] {
        var (found, place) = ([Atom](), place)
        while place.run < runs.count {
            let run = runs[place.run]
            while place.index < run.count {
                guard path.isPrefix(of: run[place.index].path) else { return found }
                found.append(run[place.index])
                place.index += 1
            }
            place = (place.run + 1, 0)
        }
        return found
    }

    /// The atoms above the path, at it and below it.
    package func overlapping(_ path: Path) -> [Atom] { above(path, withItself: false) + under(path) }

    /// Shows every atom, in the order of paths.
    package func visit(_ body: (Atom) -> Void) {
        for run in runs { for atom in run { body(atom) } }
    }

    package var atoms: [Atom] { runs.flatMap { $0 } }

    /// The domains of which something is known, in the order of paths.
    package var domains: [String] {
        var (domains, place) = ([String](), (run: 0, index: 0))
        while place.run < runs.count {
            let domain = runs[place.run][place.index].path.prefix(components: 1)
            domains.append(domain.domain)
            place = self.place { $0 < domain || domain.isPrefix(of: $0) }
        }
        return domains
    }

    private typealias Place = (run: Int, index: Int)

    /// Where `path` stands or belongs. Most of many come in order, each behind all that are there.
    private func place(of path: Path) -> Place {
        if let last = runs.last?.last, last.path < path { return (runs.count, 0) }
        return place { $0 < path }
    }

    /// Where the first path stands of which `isBefore` does not hold.
    private func place(where isBefore: (Path) -> Bool) -> Place {
        let run = Self.firstIndex(in: runs.count) { runs[$0].last.map { isBefore($0.path) } ?? true }
        guard run < runs.count else { return (run, 0) }
        return (run, Self.firstIndex(in: runs[run].count) { isBefore(runs[run][$0].path) })
    }

    /// The first of `count` indices that is not before, by halving.
    private static func firstIndex(in count: Int, isBefore: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

// MARK: Changing

extension AtomStore {
    /// Puts in an atom where it belongs, at whose path there is none.
    private mutating func insert(_ atom: Atom, at place: Place) {
        note(atom.path, 1)
        var place = place
        if place.run == runs.count {
            guard let last = runs.last, last.count < Self.longestRun else {
                runs.append([atom])
                return
            }
            place = (runs.count - 1, last.count)
        }
        runs[place.run].insert(atom, at: place.index)
        if runs[place.run].count > Self.longestRun { split(place.run) }
    }

    private mutating func note(_ path: Path, _ change: Int) {
        count += change
        changeCount += 1
        let depth = path.depth
        while countByDepth.count <= depth { countByDepth.append(0) }
        countByDepth[depth] += change
    }

    private mutating func split(_ run: Int) {
        let half = runs[run].count / 2
        let upper = Array(runs[run][half...])
        // A copy, so that room for atoms which went is not kept.
        runs[run] = Array(runs[run][..<half])
        runs.insert(upper, at: run + 1)
    }

    /// Takes out what stands at a path. The merge never needs it: it is for a writer that takes back what nobody saw.
    @discardableResult
    package mutating func remove(at path: Path) -> Atom? {
        let place = place(of: path)
        guard place.run < runs.count, place.index < runs[place.run].count else { return nil }
        guard runs[place.run][place.index].path == path else { return nil }
        note(path, -1)
        let atom = runs[place.run].remove(at: place.index)
        if runs[place.run].isEmpty { runs.remove(at: place.run) }
        return atom
    }
}

extension AtomStore: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && left.runs.joined().elementsEqual(right.runs.joined())
    }

    package func hash(into hasher: inout Hasher) { visit { hasher.combine($0) } }
}
