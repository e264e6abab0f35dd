/// A file with everything that a writer still contributes as of one of its transactions. It supersedes the writer's
/// earlier files.
package struct BasePack: Hashable, Sendable {
    package var mirror: MirrorID
    package var writer: WriterID
    /// The writer's last transaction that the base includes.
    package var last: UInt64
    /// The hash of the writer's last log before the base.
    package var anchor: Fingerprint?
    /// The transactions of other writers that the writer knew.
    package var knowledge: VersionVector
    package var atoms: [Atom]
    /// The digest of the writer's whole state.
    package var digest: Fingerprint
    package var lineage: Lineage

    package init(
        mirror: MirrorID, writer: WriterID, last: UInt64, anchor: Fingerprint?, knowledge: VersionVector,
        atoms: [Atom], digest: Fingerprint = .none, lineage: Lineage = Lineage()
    ) {
        self.mirror = mirror
        self.writer = writer
        self.last = last
        self.anchor = anchor
        var others = knowledge
        others[writer] = 0
        self.knowledge = others
        self.atoms = atoms
        self.digest = digest
        self.lineage = lineage
    }

    /// The other writers whose atoms the base carries.
    package var carried: Set<WriterID> {
        Set(atoms.map(\.dot.writer)).subtracting([writer])
    }

    /// The number of atoms in each record but the last.
    private static let atomsInRecord = 256
    /// The least number of bytes that an atom takes in a record.
    private static let shortestAtom = 8
}

extension BasePack {
    package func encoded() -> EncodedPack {
        var envelope = Envelope(kind: PackName.Kind.base.rawValue)
        envelope.fields[.mirror] = mirror.bytes
        envelope.setWriter(writer)
        envelope.set(.last, last)
        envelope.set(.version, Envelope.version)
        envelope.setDots(.vector, knowledge.entries)
        envelope.fields[.anchor] = anchor?.bytes
        envelope.digest = digest
        envelope.setLineage(lineage)
        let blobTable = BlobTable(of: atoms.lazy.map(\.value))
        envelope.setBlobs(blobTable)
        envelope.records = stride(from: 0, to: atoms.count, by: Self.atomsInRecord).map { start in
            record(atoms[start..<min(start + Self.atomsInRecord, atoms.count)], blobTable)
        }
        let (bytes, hash) = envelope.encoded()
        let name = PackName(kind: .base, number: last, hash: hash)
        return EncodedPack(name: name, bytes: bytes, hash: hash, blobs: blobTable.blobs)
    }

    /// Encodes the number of atoms, and for each its path, dot, stamp, identifier, replaced writes and value.
    private func record(_ atoms: ArraySlice<Atom>, _ blobTable: BlobTable) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(leb128: UInt64(atoms.count))
        var previous: Path?
        for atom in atoms {
            bytes.append(atom.path, after: previous)
            previous = atom.path
            bytes.append(atom.dot.writer, in: writer)
            bytes.append(leb128: atom.dot.sequence)
            bytes.append(leb128: atom.stamp.number)
            bytes.append(littleEndian: atom.id.number)
            bytes.append(atom.seen, below: atom.path, of: writer)
            bytes.append(atom.value, blobTable)
        }
        return bytes
    }

    init(_ envelope: Envelope, _ blobs: [BlobName: Blob] = [:]) throws(PackFault) {
        try envelope.expect([.mirror, .writer, .last, .version, .vector], optional: [.anchor, .blobs, .lineage])
        mirror = try envelope.mirror()
        writer = try envelope.writer()
        last = try envelope.required(.last)
        guard last <= PackName.greatestNumber else { throw .beyondLimit("sequence number") }
        anchor = try envelope.fingerprint(.anchor)
        let known = try envelope.dots(.vector)
        guard known.allSatisfy({ $0.sequence > 0 }) else { throw .notCanonical }
        knowledge = VersionVector(known)
        guard knowledge[writer] == 0 else { throw .contradiction("a context of itself") }
        digest = envelope.digest
        lineage = try envelope.lineage()
        atoms = []
        let length = envelope.records.reduce(0) { $0 + $1.count }
        atoms.reserveCapacity(min(envelope.records.count * Self.atomsInRecord, length / Self.shortestAtom))
        var (blobTable, paths) = (try envelope.blobTable(blobs), DecodedPathBudget())
        let isIdentified = try envelope.identifiesWrites()
        for (number, record) in envelope.records.enumerated() {
            let isLast = number == envelope.records.count - 1
            try readRecord(record, &blobTable, &paths, isIdentified: isIdentified, isLast: isLast)
        }
        try blobTable.expectAllUsed()
    }

    private mutating func readRecord(
        _ record: [UInt8], _ blobTable: inout BlobTable, _ paths: inout DecodedPathBudget, isIdentified: Bool,
        isLast: Bool
    ) throws(PackFault) {
        var reader = ByteReader(record)
        let count = try reader.count(limit: Self.atomsInRecord, of: "atoms")
        guard isLast ? count > 0 : count == Self.atomsInRecord else { throw .notCanonical }
        var previous: Path?
        let before = atoms.last?.path
        for _ in 0..<count {
            let path = try reader.path(after: previous, &paths)
            if previous == nil, let before, !(before < path) { throw .notCanonical }
            previous = path
            atoms.append(try readAtom(at: path, &reader, &blobTable, &paths, isIdentified: isIdentified))
        }
        try reader.expectEnd()
    }

    private func readAtom(
        at path: Path, _ reader: inout ByteReader, _ blobTable: inout BlobTable, _ paths: inout DecodedPathBudget,
        isIdentified: Bool
    ) throws(PackFault) -> Atom {
        let author = try reader.writer(in: writer)
        let sequence = try reader.number()
        let limit = author == writer ? last : PackName.greatestNumber
        guard sequence <= limit else { throw .contradiction("an atom after the last transaction") }
        let dot = Dot(writer: author, sequence: sequence)
        let stamp = try reader.stamp()
        guard isIdentified else {
            let atom = Atom(path: path, stamp: stamp, dot: dot, value: try reader.atomValue(&blobTable))
            // The first version lists the dots that the atom replaced, which this version ignores.
            _ = try reader.dots(mayRepeatWriters: true)
            return atom
        }
        let id = WriteID(number: try reader.word())
        let seen = try reader.seenWrites(below: path, of: writer, &paths)
        return Atom(path: path, stamp: stamp, dot: dot, value: try reader.atomValue(&blobTable), id: id, seen: seen)
    }
}
