import MirrorEngine
import PropertyLists
import TestSupport

/// A reference implementation of the merge, without an order or an index. The store is compared with it.
struct PlainJoin: Hashable {
    private(set) var atoms: Set<Atom> = []

    init(_ atoms: some Sequence<Atom> = []) { for atom in atoms { join(atom) } }

    mutating func join(_ atom: Atom) {
        guard !atoms.contains(atom), !atoms.contains(where: { $0.dominates(atom) }) else { return }
        atoms = atoms.filter { !atom.dominates($0) }
        atoms.insert(atom)
    }

    func joined(_ other: PlainJoin) -> PlainJoin {
        var result = self
        for atom in other.atoms { result.join(atom) }
        return result
    }
}

extension AtomStore {
    init(_ atoms: some Sequence<Atom>) {
        self.init()
        for atom in atoms { join(atom) }
    }

    func joined(_ other: AtomStore) -> AtomStore {
        var result = self
        for atom in other.atoms { result.join(atom) }
        return result
    }
}

/// A generator with few paths, stamps and writers, so that atoms often conflict.
struct AtomGenerator {
    var generator: SeededGenerator

    static let paths: [Path] = [["a"], ["a", "x"], ["a", "y"], ["a", "x", "q"], ["b"], ["b", "z"]].map(Path.init)
    static let values: [AtomValue] =
        [.deleted, .text("1"), .text("2")]
        + [["n": .integer(1), "x": .string("0")] as PropertyList.Dictionary, [:]].map { .of(.dictionary($0)) }

    mutating func atom(_ sequence: Int) -> Atom {
        Atom(
            path: Self.paths.randomElement(using: &generator)!,
            stamp: Stamp(number: .random(in: 0..<6, using: &generator)),
            dot: Dot(writer: WriterID(number: .random(in: 1...3, using: &generator)), sequence: UInt64(sequence)),
            value: Self.values.randomElement(using: &generator)!)
    }

    /// Returns atoms. Two of them share a dot only if their paths are equal, as in a fork.
    mutating func pool() -> [Atom] {
        var pool = (1...9).map { atom($0) }
        let forked = pool[0]
        pool.append(
            Atom(path: forked.path, stamp: forked.stamp, dot: forked.dot, value: .text("of another branch")))
        return pool
    }

    mutating func sample(of pool: [Atom]) -> [Atom] {
        Array(pool.shuffled(using: &generator).prefix(.random(in: 0...6, using: &generator)))
    }
}

extension AtomValue {
    static func of(_ value: PropertyList) -> AtomValue {
        (try? CanonicalValue(value)).map(AtomValue.value) ?? .deleted
    }

    static func text(_ text: String) -> AtomValue { of(.string(text)) }
}
