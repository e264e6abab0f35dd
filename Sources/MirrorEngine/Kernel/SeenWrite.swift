internal import Digests

/// What tells one write from every other, for as long as anybody speaks of it: a random number of eight bytes.
///
/// A dot changes when a writer takes another number; the identifier of a write never does.
package struct WriteID: Hashable, Sendable, Comparable {
    package let number: UInt64

    package init(number: UInt64) { self.number = number }

    /// A new identifier. The write is hashed with the random number because copies of a machine can draw the same one.
    package init(random: UInt64, dot: Dot, path: Path, stamp: Stamp, value: AtomValue) {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: random)
        bytes.append(dot)
        bytes.append(littleEndian: stamp.number)
        bytes.append(run: path.bytes)
        bytes.append(contentsOf: value.bytes)
        self.init(hashing: bytes)
    }

    /// The identifier of a write from before writes had one. Every host derives the same.
    package init(derivedFrom dot: Dot, _ path: Path) {
        var bytes: [UInt8] = []
        bytes.append(dot)
        bytes.append(run: path.bytes)
        self.init(hashing: bytes)
    }

    /// What a part of a write is listed as.
    init(part path: Path, of write: WriteID) {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: write.number)
        bytes.append(run: path.bytes)
        self.init(hashing: bytes)
    }

    private init(hashing bytes: [UInt8]) {
        number = SHA256.hash(bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// A write that a later one replaced before its user's eyes, or the part of it that was replaced.
package struct SeenWrite: Hashable, Sendable {
    /// What was replaced of it: its own path, or one inside.
    package let path: Path
    package let dot: Dot
    package let id: WriteID

    package init(path: Path, dot: Dot, id: WriteID) {
        self.path = path
        self.dot = dot
        self.id = id
    }
}

/// A write that a preference file shows, without its value.
package struct ShownWrite: Hashable, Sendable {
    package let write: SeenWrite
    package let stamp: Stamp
    /// The writes that this one visibly replaced.
    package let seen: [SeenWrite]
    /// The parts that the file does not show, because other writes hide them.
    package let hidden: [Path]

    init(write: SeenWrite, stamp: Stamp, seen: [SeenWrite], hidden: [Path]) {
        self.write = write
        self.stamp = stamp
        self.seen = seen
        self.hidden = hidden
    }

    package init(_ atom: Atom, hidden: [Path] = []) {
        self.init(
            write: SeenWrite(path: atom.path, dot: atom.dot, id: atom.id), stamp: atom.stamp, seen: atom.seen,
            hidden: hidden)
    }

    /// What a new write at `path` replaces of this one before its user's eyes; nil for nothing.
    fileprivate func replaced(byWriteAt path: Path) -> SeenWrite? {
        guard !hidden.contains(where: path.overlaps) else { return nil }
        if path.isPrefix(of: write.path) { return write }
        return write.path.isPrefix(of: path) ? SeenWrite(path: path, dot: write.dot, id: write.id) : nil
    }
}

extension [ShownWrite] {
    /// What a file shows in which these writes are in force.
    init(_ atoms: [Atom]) {
        self =
            atoms.count == 1
            ? [ShownWrite(atoms[0])] : atoms.map { ShownWrite($0, hidden: $0.partsHidden(under: atoms)) }
    }

    /// The writes that a new one at `path` visibly replaces, directly or step by step.
    ///
    /// Of a write above `path` only the part there is replaced, and what it replaced there.
    package func replaced(byWriteAt path: Path, rules: Rules = .sound) -> [SeenWrite] {
        let direct = compactMap { $0.replaced(byWriteAt: path) }
        guard rules.inheritsSeen else { return direct.sorted() }
        let inherited = flatMap(\.seen).filter { path.isPrefix(of: $0.path) }
        return (direct + SeenWrite.newest(of: inherited, beside: direct)).sorted()
    }

    /// One more than the stamp of every write shown at, above or below `path`.
    package func stamp(forWriteAt path: Path) -> Stamp? {
        filter { path.overlaps($0.write.path) }.map(\.stamp).max()?.next
    }
}

extension SeenWrite: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        left.path == right.path ? (left.dot, left.id) < (right.dot, right.id) : left.path < right.path
    }

    /// How many entries a write carries, unless it replaces more than that at once. One that is left out can only cause
    /// a needless conflict.
    private static let most = 32

    /// Of inherited entries the newest of each writer at each path.
    fileprivate static func newest(of inherited: [SeenWrite], beside direct: [SeenWrite]) -> [SeenWrite] {
        guard !inherited.isEmpty else { return [] }
        var places = Set(direct.map(\.place))
        var newest: [SeenWrite] = []
        for entry in inherited.sorted(by: { $0.dot.sequence > $1.dot.sequence }) {
            guard direct.count + newest.count < most else { break }
            if places.insert(entry.place).inserted { newest.append(entry) }
        }
        return newest
    }

    private struct Place: Hashable {
        let path: Path
        let writer: WriterID
    }

    private var place: Place { Place(path: path, writer: dot.writer) }
}
