internal import Digests

/// The permanent identifier of a write: a random number of eight bytes.
///
/// The transaction ID of a write changes when its writer takes another number; the identifier does not.
package struct WriteID: Hashable, Sendable, Comparable {
    package let number: UInt64

    package init(number: UInt64) { self.number = number }

    /// Makes a new identifier. The hash covers the write as well as the random number, because clones of a machine can
    /// draw the same number.
    package init(random: UInt64, transactionID: TransactionID, path: Path, stamp: Stamp, value: WrittenValue) {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: random)
        bytes.append(transactionID)
        bytes.append(littleEndian: stamp.number)
        bytes.append(run: path.bytes)
        bytes.append(contentsOf: value.bytes)
        self.init(hashing: bytes)
    }

    /// Derives the identifier of a write of the first version, which had none. Every host derives the same one.
    package init(derivedFrom transactionID: TransactionID, _ path: Path) {
        var bytes: [UInt8] = []
        bytes.append(transactionID)
        bytes.append(run: path.bytes)
        self.init(hashing: bytes)
    }

    /// Derives the identifier under which a part of a write is listed as a conflict.
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

/// A write, or a part of one, that a later write visibly replaced: its user saw it in the preference file.
package struct ReplacedWrite: Hashable, Sendable {
    /// The path that was replaced: the path of the write, or one below it.
    package let path: Path
    package let transactionID: TransactionID
    package let id: WriteID

    package init(path: Path, transactionID: TransactionID, id: WriteID) {
        self.path = path
        self.transactionID = transactionID
        self.id = id
    }
}

/// A write whose value a preference file shows. The value itself is not stored.
package struct VisibleWrite: Hashable, Sendable {
    package let write: ReplacedWrite
    package let stamp: Stamp
    /// The writes that this one visibly replaced.
    package let seen: [ReplacedWrite]
    /// The parts that the file does not show because other writes hide them.
    package let hidden: [Path]

    init(write: ReplacedWrite, stamp: Stamp, seen: [ReplacedWrite], hidden: [Path]) {
        self.write = write
        self.stamp = stamp
        self.seen = seen
        self.hidden = hidden
    }

    package init(_ write: VersionedWrite, hidden: [Path] = []) {
        self.init(
            write: ReplacedWrite(path: write.path, transactionID: write.transactionID, id: write.id),
            stamp: write.stamp, seen: write.seen,
            hidden: hidden)
    }

    /// Returns what a new write at `path` visibly replaces of this one, or nil if it replaces nothing.
    fileprivate func replaced(byWriteAt path: Path) -> ReplacedWrite? {
        guard !hidden.contains(where: path.overlaps) else { return nil }
        if path.isPrefix(of: write.path) { return write }
        return write.path.isPrefix(of: path)
            ? ReplacedWrite(path: path, transactionID: write.transactionID, id: write.id) : nil
    }
}

extension [VisibleWrite] {
    /// Makes the list for a file in which these writes are in force.
    init(_ writes: [VersionedWrite]) {
        self =
            writes.count == 1
            ? [VisibleWrite(writes[0])] : writes.map { VisibleWrite($0, hidden: $0.partsHidden(under: writes)) }
    }

    /// Returns the writes that a new one at `path` visibly replaces, directly or through other writes.
    ///
    /// Of a write above `path`, only the part at `path` is replaced, and what that write replaced there.
    package func replaced(byWriteAt path: Path) -> [ReplacedWrite] {
        let direct = replacedDirectly(byWriteAt: path)
        guard Rule.inheritsSeen.isKept else { return direct.sorted() }
        let inherited = flatMap(\.seen).filter { path.isPrefix(of: $0.path) }
        return (direct + ReplacedWrite.newest(of: inherited, beside: direct)).sorted()
    }

    /// Returns the writes that a new one at `path` visibly replaces itself.
    func replacedDirectly(byWriteAt path: Path) -> [ReplacedWrite] { compactMap { $0.replaced(byWriteAt: path) } }

    /// Returns the writes that both lists show, without what either hides.
    func inBoth(_ other: Self) -> Self {
        compactMap { shown in
            other.first { $0.write == shown.write }.map {
                VisibleWrite(
                    write: shown.write, stamp: shown.stamp, seen: shown.seen, hidden: shown.hidden + $0.hidden)
            }
        }
    }

    /// Returns one more than the greatest stamp of the writes shown at, above or below `path`.
    package func stamp(forWriteAt path: Path) -> Stamp? {
        filter { path.overlaps($0.write.path) }.map(\.stamp).max()?.next
    }
}

extension ReplacedWrite: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        left.path == right.path
            ? (left.transactionID, left.id) < (right.transactionID, right.id) : left.path < right.path
    }

    /// The number of entries that a write carries, unless it directly replaces more. A missing entry can only cause a
    /// needless conflict.
    private static let most = 32

    /// Returns the newest inherited entry for each writer and path, unless a direct one is as new.
    fileprivate static func newest(of inherited: [ReplacedWrite], beside direct: [ReplacedWrite]) -> [ReplacedWrite] {
        guard !inherited.isEmpty else { return [] }
        var reached = Dictionary(direct.map { ($0.place, $0.transactionID.sequence) }, uniquingKeysWith: max)
        var newest: [ReplacedWrite] = []
        for entry in inherited.sorted(by: { $0.transactionID.sequence > $1.transactionID.sequence }) {
            guard direct.count + newest.count < most else { break }
            guard reached[entry.place].map({ $0 < entry.transactionID.sequence }) ?? true else { continue }
            reached[entry.place] = entry.transactionID.sequence
            newest.append(entry)
        }
        return newest
    }

    private struct Place: Hashable {
        let path: Path
        let writer: WriterID
    }

    private var place: Place { Place(path: path, writer: transactionID.writer) }
}
