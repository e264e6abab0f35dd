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
        let high = try reader.word()
        self.init(high: high, low: try reader.word())
    }
}

extension TransactionID: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.append(self) }
    init(from reader: inout ByteReader) throws(PackFault) { self = try reader.transactionID() }
}

extension VersionVector: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.append(entries) }
    init(from reader: inout ByteReader) throws(PackFault) {
        self.init(try reader.transactionIDs(mayRepeatWriters: true))
    }
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

extension VersionedWrite: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        path.write(to: &bytes)
        stamp.write(to: &bytes)
        transactionID.write(to: &bytes)
        value.write(to: &bytes)
        id.write(to: &bytes)
        seen.write(to: &bytes)
    }

    /// The approximate length of the encoding.
    fileprivate var recordedLength: Int {
        path.bytes.count + min(value.count, Blob.longestInPack) + 37 + seen.reduce(0) { $0 + $1.path.bytes.count + 20 }
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(
            path: reader.read(), stamp: reader.read(), transactionID: reader.read(), value: reader.read(),
            id: reader.isOfFirstVersion ? nil : reader.read(WriteID.self),
            seen: reader.isOfFirstVersion ? [] : reader.read())
    }
}

extension MergeState: JournalCodable {
    /// Space for the frame around a record, so that a large one need not be moved.
    private static let lengthOfFrame = 64

    func write(to bytes: inout JournalBytes) {
        var length = 0
        visit { length += $0.recordedLength }
        bytes.reserveCapacity(bytes.count + length + Self.lengthOfFrame)
        bytes.append(leb128: UInt64(count))
        visit { $0.write(to: &bytes) }
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        self.init()
        let count = try reader.count(limit: reader.remaining, of: "writes")
        for _ in 0..<count { join(try reader.read()) }
    }
}

extension WriteID: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.append(littleEndian: number) }
    init(from reader: inout ByteReader) throws(PackFault) { self.init(number: try reader.word()) }
}

extension ReplacedWrite: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        path.write(to: &bytes)
        transactionID.write(to: &bytes)
        id.write(to: &bytes)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(path: reader.read(), transactionID: reader.read(), id: reader.read())
    }
}

extension VisibleWrite: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(write, stamp, seen, hidden) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(write: reader.read(), stamp: reader.read(), seen: reader.read(), hidden: reader.read())
    }
}

extension Transaction: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        bytes.write(id, stamp)
        bytes.append(leb128: UInt64(writes.count))
        for write in writes { bytes.write(write.path, write.stamp, write.value, write.id, write.seen) }
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        let transactionID = try reader.read(TransactionID.self)
        guard transactionID.sequence > 0 else { throw .contradiction("a transaction before the first") }
        let stamp = try reader.read(Stamp.self)
        try reader.skipKnowledgeOfFirstVersion()
        var writes: [StampedWrite] = []
        for _ in 0..<(try reader.count(limit: reader.remaining, of: "writes")) {
            writes.append(try StampedWrite(from: &reader, of: transactionID))
        }
        // The encoding of a log implies the same.
        let ascend = zip(writes, writes.dropFirst()).allSatisfy { $0.path < $1.path && !$0.path.isPrefix(of: $1.path) }
        guard !writes.isEmpty, ascend, writes.allSatisfy({ $0.stamp >= stamp }) else {
            throw .contradiction("writes of a transaction")
        }
        self.init(id: transactionID, stamp: stamp, writes: writes)
    }
}

extension Transaction.StampedWrite {
    fileprivate init(from reader: inout ByteReader, of transactionID: TransactionID) throws(PackFault) {
        let path = try reader.read(Path.self)
        let stamp = try reader.read(Stamp.self)
        let value = try reader.read(WrittenValue.self)
        if reader.isOfFirstVersion {
            let replaced = try reader.read(TransactionID?.self)
            self.init(
                path: path, stamp: stamp, value: value, id: WriteID(derivedFrom: transactionID, path),
                seen: replaced.map {
                    [ReplacedWrite(path: path, transactionID: $0, id: WriteID(derivedFrom: $0, path))]
                } ?? [])
        } else {
            let id = try reader.read(WriteID.self)
            self.init(path: path, stamp: stamp, value: value, id: id, seen: try reader.read())
        }
    }
}
