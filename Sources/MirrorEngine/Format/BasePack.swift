/// A file with everything that a writer still contributes as of one of its transactions. It supersedes the writer's
/// earlier files.
package struct BasePack: Hashable, Sendable {
    package var mirror: MirrorID
    package var writer: WriterID
    /// The writer's last transaction that the base includes.
    package var last: UInt64
    /// The hash of the writer's last log before the base.
    package var anchor: ContentHash?
    /// The transactions of other writers that the writer knew.
    package var knowledge: VersionVector
    package var writes: [VersionedWrite]
    /// The digest of the writer's whole state.
    package var digest: ContentHash
    package var lineage: Lineage

    package init(
        mirror: MirrorID, writer: WriterID, last: UInt64, anchor: ContentHash?, knowledge: VersionVector,
        writes: [VersionedWrite], digest: ContentHash = .none, lineage: Lineage = Lineage()
    ) {
        self.mirror = mirror
        self.writer = writer
        self.last = last
        self.anchor = anchor
        var others = knowledge
        others[writer] = 0
        self.knowledge = others
        self.writes = writes
        self.digest = digest
        self.lineage = lineage
    }

    /// The other writers whose writes the base carries.
    package var carried: Set<WriterID> {
        Set(writes.map(\.transactionID.writer)).subtracting([writer])
    }

    /// The number of writes in each record but the last.
    private static let writesInRecord = 256
    /// The least number of bytes that a write takes in a record.
    private static let shortestWrite = 8
}

extension BasePack {
    package func encoded() -> EncodedPack {
        var envelope = Envelope(kind: PackName.Kind.base.rawValue)
        envelope.fields[.mirror] = mirror.bytes
        envelope.setWriter(writer)
        envelope.set(.last, last)
        envelope.set(.version, Envelope.version)
        envelope.setTransactionIDs(.vector, knowledge.entries)
        envelope.fields[.anchor] = anchor?.bytes
        envelope.digest = digest
        envelope.setLineage(lineage)
        let blobTable = BlobTable(of: writes.lazy.map(\.value))
        envelope.setBlobs(blobTable)
        envelope.records = stride(from: 0, to: writes.count, by: Self.writesInRecord).map { start in
            record(writes[start..<min(start + Self.writesInRecord, writes.count)], blobTable)
        }
        let (bytes, hash) = envelope.encoded()
        let name = PackName(kind: .base, number: last, hash: hash)
        return EncodedPack(name: name, bytes: bytes, hash: hash, blobs: blobTable.blobs)
    }

    /// Encodes the number of writes, and for each its path, transaction ID, stamp, identifier, replaced writes and
    /// value.
    private func record(_ writes: ArraySlice<VersionedWrite>, _ blobTable: BlobTable) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(leb128: UInt64(writes.count))
        var previous: Path?
        for write in writes {
            bytes.append(write.path, after: previous)
            previous = write.path
            bytes.append(write.transactionID.writer, in: writer)
            bytes.append(leb128: write.transactionID.sequence)
            bytes.append(leb128: write.stamp.number)
            bytes.append(littleEndian: write.id.number)
            bytes.append(write.seen, below: write.path, of: writer)
            bytes.append(write.value, blobTable)
        }
        return bytes
    }

    init(_ envelope: Envelope, _ blobs: [BlobName: Blob] = [:]) throws(PackFault) {
        try envelope.expect([.mirror, .writer, .last, .version, .vector], optional: [.anchor, .blobs, .lineage])
        mirror = try envelope.mirror()
        writer = try envelope.writer()
        last = try envelope.required(.last)
        guard last <= PackName.greatestNumber else { throw .beyondLimit("sequence number") }
        anchor = try envelope.contentHash(.anchor)
        let known = try envelope.transactionIDs(.vector)
        guard known.allSatisfy({ $0.sequence > 0 }) else { throw .notCanonical }
        knowledge = VersionVector(known)
        guard knowledge[writer] == 0 else { throw .contradiction("knowledge of its own transactions") }
        digest = envelope.digest
        lineage = try envelope.lineage()
        writes = []
        let length = envelope.records.reduce(0) { $0 + $1.count }
        writes.reserveCapacity(min(envelope.records.count * Self.writesInRecord, length / Self.shortestWrite))
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
        let count = try reader.count(limit: Self.writesInRecord, of: "writes")
        guard isLast ? count > 0 : count == Self.writesInRecord else { throw .notCanonical }
        var previous: Path?
        let before = writes.last?.path
        for _ in 0..<count {
            let path = try reader.path(after: previous, &paths)
            if previous == nil, let before, !(before < path) { throw .notCanonical }
            previous = path
            writes.append(try readWrite(at: path, &reader, &blobTable, &paths, isIdentified: isIdentified))
        }
        try reader.expectEnd()
    }

    private func readWrite(
        at path: Path, _ reader: inout ByteReader, _ blobTable: inout BlobTable, _ paths: inout DecodedPathBudget,
        isIdentified: Bool
    ) throws(PackFault) -> VersionedWrite {
        let author = try reader.writer(in: writer)
        let sequence = try reader.number()
        let limit = author == writer ? last : PackName.greatestNumber
        guard sequence <= limit else { throw .contradiction("a write after the last transaction") }
        let transactionID = TransactionID(writer: author, sequence: sequence)
        let stamp = try reader.stamp()
        guard isIdentified else {
            let write = VersionedWrite(
                path: path, stamp: stamp, transactionID: transactionID, value: try reader.writtenValue(&blobTable))
            // The first version lists the transaction IDs that the write replaced, which this version ignores.
            _ = try reader.transactionIDs(mayRepeatWriters: true)
            return write
        }
        let id = WriteID(number: try reader.word())
        let seen = try reader.seenWrites(below: path, of: writer, &paths)
        return VersionedWrite(
            path: path, stamp: stamp, transactionID: transactionID, value: try reader.writtenValue(&blobTable), id: id,
            seen: seen)
    }
}
