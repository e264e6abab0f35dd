/// The state of a mirror: atoms of which none dominates another, in the order of their paths.
///
/// They stand in runs of some hundred, so that one is found by halving and put in by moving few.
package struct AtomStore: Sendable {
    private var runs: [[Atom]] = []
    package private(set) var count = 0
    package var rules: Rules

    /// The most atoms in a run.
    private static let longestRun = 512

    package init(rules: Rules = .sound) { self.rules = rules }

    /// What became of an atom that was joined.
    package enum Outcome: Hashable, Sendable {
        /// It was there.
        case known
        /// It is dominated by this one.
        case dominated(by: Atom)
        /// It is in force now, and these are not any more.
        case joined(displaced: [Atom])
    }

    /// Adds an atom by the one merge rule, and says what became of it.
    @discardableResult
    package mutating func join(_ atom: Atom) -> Outcome {
        for end in atom.path.ends {
            guard let other = self.atom(at: atom.path.prefix(bytes: end)) else { continue }
            if other == atom { return .known }
            if other.isAfter(atom, rules: rules) { return .dominated(by: other) }
        }
        let displaced = under(atom.path).filter { atom.isAfter($0, rules: rules) }
        for other in displaced { remove(at: other.path) }
        insert(atom)
        return .joined(displaced: displaced)
    }
}

// MARK: Finding

extension AtomStore {
    package var isEmpty: Bool { count == 0 }

    package func atom(at path: Path) -> Atom? {
        let place = place(of: path)
        guard place.run < runs.count, place.index < runs[place.run].count else { return nil }
        let atom = runs[place.run][place.index]
        return atom.path == path ? atom : nil
    }

    /// The atoms at the path and above it, the shortest path first.
    package func above(_ path: Path) -> [Atom] {
        path.ends.compactMap { atom(at: path.prefix(bytes: $0)) }
    }

    /// The atoms at the path and below it, each after those above it.
    package func under(_ path: Path) -> [Atom] {
        var (found, place) = ([Atom](), place(of: path))
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

    /// The greatest stamp of the atoms that overlap a path.
    package func greatestStamp(overlapping path: Path) -> Stamp? {
        (above(path) + under(path)).map(\.stamp).max()
    }

    /// Shows every atom, in the order of paths.
    package func forEach(_ body: (Atom) -> Void) {
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

    /// Where `path` stands or belongs.
    private func place(of path: Path) -> (run: Int, index: Int) { place { $0 < path } }

    /// Where the first path stands of which `isBefore` does not hold.
    private func place(where isBefore: (Path) -> Bool) -> (run: Int, index: Int) {
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
    /// Puts in an atom at whose path there is none.
    private mutating func insert(_ atom: Atom) {
        count += 1
        var place = place(of: atom.path)
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
        count -= 1
        let atom = runs[place.run].remove(at: place.index)
        if runs[place.run].isEmpty { runs.remove(at: place.run) }
        return atom
    }

    /// Keeps only the atoms of which `isKept` says so.
    package mutating func keep(where isKept: (Atom) -> Bool) {
        runs = runs.map { $0.filter(isKept) }.filter { !$0.isEmpty }
        count = runs.reduce(0) { $0 + $1.count }
    }
}

extension AtomStore: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && left.runs.joined().elementsEqual(right.runs.joined())
    }

    package func hash(into hasher: inout Hasher) { forEach { hasher.combine($0) } }
}
