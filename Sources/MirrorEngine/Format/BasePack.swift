/// All that a writer still has to say as of one of its transactions, so that its earlier files can go.
package struct BasePack: Hashable, Sendable {
    package var mirror: MirrorID
    package var writer: WriterID
    /// The writer's last transaction that is part of it.
    package var last: UInt64
    /// The hash of the writer's last log before it.
    package var anchor: Fingerprint?
    /// All that the writer knew of others.
    package var knowledge: VersionVector
    package var atoms: [Entry]
    /// The digest of the whole state of its writer.
    package var digest: Fingerprint

    /// An atom, and what it beat before its author can have seen that.
    package struct Entry: Hashable, Sendable {
        package var atom: Atom
        package var beat: [Dot]

        package init(atom: Atom, beat: [Dot] = []) {
            self.atom = atom
            self.beat = beat
        }
    }

    package init(
        mirror: MirrorID, writer: WriterID, last: UInt64, anchor: Fingerprint?, knowledge: VersionVector,
        atoms: [Entry], digest: Fingerprint = .none
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
    }

    /// The writers other than its own whose atoms it carries.
    package var carried: Set<WriterID> {
        Set(atoms.map(\.atom.dot.writer)).subtracting([writer])
    }

    /// How many atoms stand in one record.
    private static let atomsInRecord = 256
    /// How few bytes an atom may take there.
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
        let shelf = Shelf(of: atoms.lazy.map(\.atom.value))
        envelope.setBlobs(shelf)
        envelope.records = stride(from: 0, to: atoms.count, by: Self.atomsInRecord).map { start in
            record(atoms[start..<min(start + Self.atomsInRecord, atoms.count)], shelf)
        }
        let (bytes, hash) = envelope.encoded()
        let name = PackName(kind: .base, number: last, hash: hash)
        return EncodedPack(name: name, bytes: bytes, hash: hash, blobs: shelf.blobs)
    }

    /// How many atoms, and each: path, dot, stamp, value, what it beat.
    private func record(_ entries: ArraySlice<Entry>, _ shelf: Shelf) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(leb128: UInt64(entries.count))
        var previous: Path?
        for entry in entries {
            bytes.append(entry.atom.path, after: previous)
            previous = entry.atom.path
            let isOwn = entry.atom.dot.writer == writer
            bytes.append(isOwn ? 0 : 1)
            if !isOwn { bytes.append(littleEndian: entry.atom.dot.writer.number) }
            bytes.append(leb128: entry.atom.dot.sequence)
            bytes.append(leb128: entry.atom.stamp.number)
            bytes.append(entry.atom.value, shelf)
            bytes.append(entry.beat)
        }
        return bytes
    }

    init(_ envelope: Envelope, _ blobs: [BlobName: Blob] = [:]) throws(PackFault) {
        try envelope.expect([.mirror, .writer, .last, .version, .vector], optional: [.anchor, .blobs])
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
        atoms = []
        let length = envelope.records.reduce(0) { $0 + $1.count }
        atoms.reserveCapacity(min(envelope.records.count * Self.atomsInRecord, length / Self.shortestAtom))
        var (shelf, paths) = (try envelope.shelf(blobs), PathBudget())
        for (number, record) in envelope.records.enumerated() {
            try readRecord(record, &shelf, &paths, isLast: number == envelope.records.count - 1)
        }
        try shelf.expectAllUsed()
    }

    private mutating func readRecord(
        _ record: [UInt8], _ shelf: inout Shelf, _ paths: inout PathBudget, isLast: Bool
    ) throws(PackFault) {
        var reader = ByteReader(record)
        let count = try reader.count(limit: Self.atomsInRecord, of: "atoms")
        guard isLast ? count > 0 : count == Self.atomsInRecord else { throw .notCanonical }
        var previous: Path?
        let before = atoms.last?.atom.path
        for _ in 0..<count {
            let entry = try readEntry(at: try reader.path(after: previous, &paths), &reader, &shelf)
            if previous == nil, let before, !(before < entry.atom.path) { throw .notCanonical }
            previous = entry.atom.path
            atoms.append(entry)
        }
        try reader.expectEnd()
    }

    private func readEntry(
        at path: Path, _ reader: inout ByteReader, _ shelf: inout Shelf
    ) throws(PackFault) -> Entry {
        let author = try readAuthor(&reader)
        let sequence = try reader.number()
        let limit = author == writer ? last : PackName.greatestNumber
        guard sequence <= limit else { throw .contradiction("an atom after the last transaction") }
        let stamp = try reader.stamp()
        let value = try reader.atomValue(&shelf)
        let atom = Atom(path: path, stamp: stamp, dot: Dot(writer: author, sequence: sequence), value: value)
        return Entry(atom: atom, beat: try reader.dots(mayRepeatWriters: true))
    }

    private func readAuthor(_ reader: inout ByteReader) throws(PackFault) -> WriterID {
        switch try reader.byte() {
        case 0: return writer
        case 1:
            let author = WriterID(number: try reader.word())
            guard author != writer else { throw .notCanonical }
            return author
        default: throw .notCanonical
        }
    }
}
