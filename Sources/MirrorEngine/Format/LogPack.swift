/// A file with consecutive whole transactions of one writer.
package struct LogPack: Hashable, Sendable {
    package var mirror: MirrorID
    package var writer: WriterID
    /// The sequence number of the first transaction.
    package var first: UInt64
    /// The hash of the writer's log before this one.
    package var previous: ContentHash?
    /// The writer's knowledge of other writers, as the difference from the previous log.
    package var knowledge: [TransactionID]
    package var transactions: [Entry]
    package var lineage: Lineage

    /// A transaction without its ID, which follows from its position.
    package struct Entry: Hashable, Sendable {
        package var stamp: Stamp
        package var writes: [Transaction.StampedWrite]
    }

    package init(
        mirror: MirrorID, writer: WriterID, previous: ContentHash?, knowledge: VersionVector,
        formerKnowledge: VersionVector, transactions: [Transaction], lineage: Lineage = Lineage()
    ) {
        self.mirror = mirror
        self.writer = writer
        self.previous = previous
        first = transactions.first?.id.sequence ?? 1
        self.knowledge = knowledge.differences(from: formerKnowledge).filter { $0.writer != writer }
        self.transactions = transactions.map { Entry(stamp: $0.stamp, writes: $0.writes) }
        self.lineage = lineage
    }

    /// The sequence number of the last transaction.
    package var last: UInt64 { first + UInt64(max(1, transactions.count)) - 1 }

    package var numberedTransactions: [Transaction] {
        zip(first..., transactions).map { sequence, entry in
            Transaction(id: TransactionID(writer: writer, sequence: sequence), stamp: entry.stamp, writes: entry.writes)
        }
    }
}

extension LogPack {
    package func encoded() -> EncodedPack {
        var envelope = Envelope(kind: PackName.Kind.log.rawValue)
        envelope.fields[.mirror] = mirror.bytes
        envelope.setWriter(writer)
        envelope.set(.first, first)
        envelope.set(.last, last)
        envelope.set(.version, Envelope.version)
        envelope.fields[.previous] = previous?.bytes
        envelope.setTransactionIDs(.vector, knowledge)
        envelope.setLineage(lineage)
        let blobTable = BlobTable(of: transactions.lazy.flatMap { $0.writes.lazy.map(\.value) })
        envelope.setBlobs(blobTable)
        envelope.records = transactions.map { $0.record(of: writer, blobTable) }
        let (bytes, hash) = envelope.encoded()
        let name = PackName(kind: .log, number: first, hash: hash)
        return EncodedPack(name: name, bytes: bytes, hash: hash, blobs: blobTable.blobs)
    }

    init(_ envelope: Envelope, _ blobs: [BlobName: Blob] = [:]) throws(PackFault) {
        try envelope.expect(
            [.mirror, .writer, .first, .last, .version, .vector], optional: [.previous, .blobs, .lineage])
        guard envelope.digest == .none else { throw .contradiction("a log with a digest") }
        mirror = try envelope.mirror()
        writer = try envelope.writer()
        first = try envelope.required(.first)
        previous = try envelope.contentHash(.previous)
        knowledge = try envelope.transactionIDs(.vector)
        lineage = try envelope.lineage()
        transactions = []
        guard !envelope.records.isEmpty else { throw .contradiction("a log without a transaction") }
        guard first > 0, first <= PackName.greatestNumber - UInt64(envelope.records.count) else {
            throw .beyondLimit("sequence number")
        }
        var (blobTable, paths) = (try envelope.blobTable(blobs), DecodedPathBudget())
        let isIdentified = try envelope.identifiesWrites()
        for (sequence, record) in zip(first..., envelope.records) {
            let transactionID = TransactionID(writer: writer, sequence: sequence)
            transactions.append(
                isIdentified
                    ? try Entry(record, of: writer, &blobTable, &paths)
                    : try Entry(firstVersion: record, of: transactionID, &blobTable, &paths))
        }
        try blobTable.expectAllUsed()
        guard try envelope.required(.last) == last else { throw .contradiction("count of transactions") }
        guard !knowledge.contains(where: { $0.writer == writer }) else {
            throw .contradiction("knowledge of its own transactions")
        }
    }
}

extension LogPack.Entry {
    /// Encodes the stamp and the number of writes, and for each write its path, the distance of its stamp from the
    /// transaction's, its identifier, its replaced writes and its value.
    fileprivate func record(of writer: WriterID, _ blobTable: BlobTable) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(leb128: stamp.number)
        bytes.append(leb128: UInt64(writes.count))
        var previous: Path?
        for write in writes {
            bytes.append(write.path, after: previous)
            previous = write.path
            bytes.append(leb128: write.stamp.number - stamp.number)
            bytes.append(littleEndian: write.id.number)
            bytes.append(write.seen, below: write.path, of: writer)
            bytes.append(write.value, blobTable)
        }
        return bytes
    }

    fileprivate init(
        _ record: [UInt8], of writer: WriterID, _ blobTable: inout BlobTable, _ paths: inout DecodedPathBudget
    ) throws(PackFault) {
        var reader = ByteReader(record)
        stamp = try reader.stamp()
        let common = stamp
        // A write takes at least 13 bytes.
        writes = try Self.writes(&reader, shortest: 13, &paths) { (path, reader, paths) throws(PackFault) in
            let stamp = try reader.stamp(after: common)
            let id = WriteID(number: try reader.word())
            let seen = try reader.seenWrites(below: path, of: writer, &paths)
            let value = try reader.writtenValue(&blobTable)
            return Transaction.StampedWrite(path: path, stamp: stamp, value: value, id: id, seen: seen)
        }
        try reader.expectEnd()
    }

    /// Decodes a record of the first version, which has a context, and for each write the one that it replaced.
    fileprivate init(
        firstVersion record: [UInt8], of transactionID: TransactionID, _ blobTable: inout BlobTable,
        _ paths: inout DecodedPathBudget
    ) throws(PackFault) {
        var reader = ByteReader(record)
        stamp = try reader.stamp()
        let common = stamp
        guard try reader.transactionIDs().allSatisfy({ $0.writer != transactionID.writer }) else {
            throw .contradiction("knowledge of its own transactions")
        }
        writes = try Self.writes(&reader, shortest: 5, &paths) { (path, reader, _) throws(PackFault) in
            let stamp = try reader.stamp(after: common)
            var seen: [ReplacedWrite] = []
            switch try reader.byte() {
            case 0: break
            case 1:
                let replaced = try reader.transactionID()
                seen = [ReplacedWrite(path: path, transactionID: replaced, id: WriteID(derivedFrom: replaced, path))]
            default: throw .notCanonical
            }
            let value = try reader.writtenValue(&blobTable)
            let id = WriteID(derivedFrom: transactionID, path)
            return Transaction.StampedWrite(path: path, stamp: stamp, value: value, id: id, seen: seen)
        }
        try reader.expectEnd()
    }

    private static func writes(
        _ reader: inout ByteReader, shortest: Int, _ paths: inout DecodedPathBudget,
        _ read: (Path, inout ByteReader, inout DecodedPathBudget) throws(PackFault) -> Transaction.StampedWrite
    ) throws(PackFault) -> [Transaction.StampedWrite] {
        let count = try reader.count(limit: reader.remaining / shortest, of: "writes")
        var writes: [Transaction.StampedWrite] = []
        for _ in 0..<count {
            let path = try reader.path(after: writes.last?.path, &paths)
            if let last = writes.last?.path, last.isPrefix(of: path) { throw .contradiction("a write above another") }
            writes.append(try read(path, &reader, &paths))
        }
        guard !writes.isEmpty else { throw .contradiction("a transaction without a write") }
        return writes
    }
}
