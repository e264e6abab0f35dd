// Encoding of the kernel's types in the journal.

extension Stamp: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.append(leb128: number) }
    init(from reader: inout ByteReader) throws(PackFault) { self = try reader.stamp() }
}

extension HybridClock: JournalCodable {
    func write(to bytes: inout JournalBytes) { local.write(to: &bytes) }
    init(from reader: inout ByteReader) throws(PackFault) { self.init(local: try reader.read()) }
}

extension WriterID: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.append(littleEndian: number) }
    init(from reader: inout ByteReader) throws(PackFault) { self.init(number: try reader.word()) }
}

extension MirrorID: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes += self.bytes }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(high: reader.word(), low: reader.word())
    }
}

extension TransactionID: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.append(self) }
    init(from reader: inout ByteReader) throws(PackFault) { self = try reader.transactionID() }
}

extension VersionVector: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.append(self) }
    init(from reader: inout ByteReader) throws(PackFault) { self = try reader.versionVector() }
}

extension ContentHash: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes += self.bytes }

    init(from reader: inout ByteReader) throws(PackFault) {
        guard let contentHash = ContentHash(try reader.bytes(32)) else { throw .endsEarly }
        self = contentHash
    }
}

extension Path: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.append(run: self.bytes) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(decoding: Array(try reader.run(limit: .max)), longest: .max)
    }
}

extension AtomName: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(id, dot) }

    init(from reader: inout ByteReader) throws(PackFault) { try self.init(reader.read(), reader.read()) }
}

extension Region: JournalCodable {
    func write(to bytes: inout JournalBytes) { edges.write(to: &bytes) }

    init(from reader: inout ByteReader) throws(PackFault) {
        guard let region = Region(validating: try reader.read()) else { throw .notCanonical }
        self = region
    }
}

extension Atom: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        name.write(to: &bytes)
        path.write(to: &bytes)
        value.write(to: &bytes)
        stamp.write(to: &bytes)
        reason.write(to: &bytes)
        (isWhole ? nil : region).write(to: &bytes)
    }

    /// The approximate length of the encoding.
    fileprivate var recordedLength: Int {
        path.bytes.count + min(value.count, Blob.longestInPack) + 48
            + (isWhole ? 0 : region.edges.reduce(0) { $0 + $1.bytes.count + 4 })
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(
            reader.read(), at: reader.read(), reader.read(), stamp: reader.read(), reason: reader.read(),
            in: reader.read())
    }
}

extension JournalBytes {
    /// Appends many values.
    mutating func append(_ count: Int, _ forEach: ((Atom) -> Void) -> Void) {
        // With space for the frame around a record, so that a large one need not be moved.
        var length = self.count + 64
        forEach { length += $0.recordedLength }
        reserveCapacity(length)
        append(leb128: UInt64(count))
        forEach { $0.write(to: &self) }
    }
}

extension MergeState: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.append(count, visit) }

    init(from reader: inout ByteReader) throws(PackFault) {
        var atoms: [Atom] = []
        for _ in 0..<(try reader.count(limit: reader.remaining, of: "values")) {
            let atom = try reader.read(Atom.self)
            if let last = atoms.last, !last.isSorted(before: atom) { throw .notCanonical }
            atoms.append(atom)
        }
        self.init(sorted: atoms)
    }
}

extension SharedState: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(live, vector, gone, forks) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(live: reader.read(), vector: reader.read(), gone: reader.read(), forks: reader.read())
    }
}

extension Shown: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(name, region, stamp) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(reader.read(), reader.read(), reader.read())
    }
}

extension Cover: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(name, region) }

    init(from reader: inout ByteReader) throws(PackFault) { try self.init(reader.read(), reader.read()) }
}

extension WriteID: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.append(littleEndian: number) }
    init(from reader: inout ByteReader) throws(PackFault) { self.init(number: try reader.word()) }
}

extension Change: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(id, path, value, stamp, reason, covers) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(
            reader.read(), at: reader.read(), reader.read(), stamp: reader.read(), reason: reader.read(),
            covers: reader.read())
    }
}

extension Transaction: JournalCodable {
    func write(to bytes: inout JournalBytes) { changes.write(to: &bytes) }

    init(from reader: inout ByteReader) throws(PackFault) {
        let changes = try reader.read([Change].self)
        // The encoding of a log implies the same.
        guard !changes.isEmpty, zip(changes, changes.dropFirst()).allSatisfy({ $0.path <= $1.path }) else {
            throw .contradiction("changes of a transaction")
        }
        self.init(changes)
    }
}
