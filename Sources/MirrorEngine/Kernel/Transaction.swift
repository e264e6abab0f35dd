internal import PropertyLists

/// The permanent identifier of a write: a random number of eight bytes.
package struct WriteID: Hashable, Sendable, Comparable {
    package let number: UInt64

    package init(number: UInt64) { self.number = number }

    /// Makes a new identifier. The hash covers the write as well as the random number, because clones of a machine can
    /// draw the same number.
    package init(random: UInt64, path: Path, stamp: Stamp, value: WrittenValue?) {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: random)
        bytes.append(littleEndian: stamp.number)
        bytes.append(run: path.bytes)
        bytes.append(contentsOf: value?.bytes ?? [])
        number = ContentHash(of: bytes).bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// The removal of a written value from some places, because a user who saw it there replaced or accepted it.
package struct Cover: Hashable, Sendable {
    package var name: AtomName
    package var region: Region

    package init(_ name: AtomName, _ region: Region) { (self.name, self.region) = (name, region) }
}

/// An entry of a log: a value that was written with the values that it replaced, or values that were accepted as lost.
package struct Change: Hashable, Sendable {
    package let id: WriteID
    package let path: Path
    package let stamp: Stamp
    /// The value, or nil if there is none: values were accepted, or the value was replaced before it was published.
    package var value: WrittenValue?
    package let reason: Atom.Reason
    /// In the order of their names.
    package var covers: [Cover]

    package init(
        _ id: WriteID, at path: Path, _ value: WrittenValue?, stamp: Stamp, reason: Atom.Reason = .written,
        covers: [Cover] = []
    ) {
        (self.id, self.path, self.value, self.stamp, self.reason) = (id, path, value, stamp, reason)
        self.covers = covers.sorted { $0.name < $1.name }
    }

    /// Returns the value as the state holds it under this transaction, or nil if there is none.
    func atom(_ dot: TransactionID?) -> Atom? {
        value.map { Atom(AtomName(id, dot), at: path, $0, stamp: stamp, reason: reason) }
    }
}

/// Changes that take effect together.
package struct Transaction: Hashable, Sendable {
    /// The changes in the order of their paths.
    package var changes: [Change]

    package init(_ changes: [Change]) { self.changes = changes }

    /// The keys that the changes affect.
    package var keys: Set<Path> { changes.reduce(into: []) { $0.formUnion($1.keys) } }
}

extension Change {
    /// The keys that the change affects.
    fileprivate var keys: Set<Path> {
        Set(([path] + covers.flatMap(\.region.roots)).map { $0.prefix(components: 2) })
    }
}

extension [Cover] {
    /// The covers with one entry for each name.
    var joined: [Cover] {
        var regions: [AtomName: Region] = [:]
        for cover in self { regions[cover.name] = regions[cover.name]?.union(cover.region) ?? cover.region }
        return regions.filter { !$0.value.isEmpty }.map { Cover($0.key, $0.value) }.sorted { $0.name < $1.name }
    }
}
