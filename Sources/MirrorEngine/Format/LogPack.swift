/// A file with consecutive whole transactions of one writer.
package struct LogPack: Hashable, Sendable {
    package var mirror: MirrorID
    package var writer: WriterID
    /// The sequence number of the first transaction.
    package var first: UInt64
    /// The hash of the writer's log before this one.
    package var previous: ContentHash?
    /// The transactions of other writers that the writer knew, as far as its last file did not state them.
    package var knowledge: VersionVector
    package var transactions: [Transaction]

    package init(
        mirror: MirrorID, writer: WriterID, first: UInt64, previous: ContentHash?, knowledge: VersionVector,
        transactions: [Transaction]
    ) {
        (self.mirror, self.writer, self.first, self.previous) = (mirror, writer, first, previous)
        (self.knowledge, self.transactions) = (knowledge, transactions)
    }

    /// The sequence number of the last transaction.
    package var last: UInt64 { first + UInt64(max(1, transactions.count)) - 1 }

    /// The keys that the transactions affect.
    package var keys: Set<Path> { transactions.reduce(into: []) { $0.formUnion($1.keys) } }

    /// The keys at which lost values were accepted.
    var keysOfAccepted: Set<Path> {
        Set(transactions.flatMap(\.changes).filter { $0.value == nil }.map { $0.path.prefix(components: 2) })
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
        envelope.set(knowledge)
        let blobTable = BlobTable(of: transactions.lazy.flatMap { $0.changes.lazy.compactMap(\.value) })
        envelope.setBlobs(blobTable)
        envelope.records = transactions.map { $0.record(of: writer, blobTable)[...] }
        let (bytes, hash) = envelope.encoded()
        let name = PackName(kind: .log, number: first, hash: hash)
        return EncodedPack(name: name, bytes: bytes, hash: hash, blobs: blobTable.blobs)
    }

    init(_ envelope: Envelope, _ blobs: [BlobName: Blob] = [:]) throws(PackFault) {
        try envelope.expect([.mirror, .writer, .first, .last, .version, .vector], optional: [.previous, .blobs])
        mirror = try envelope.mirror()
        writer = try envelope.writer()
        first = try envelope.required(.first)
        previous = try envelope.contentHash(.previous)
        knowledge = try envelope.versionVector()
        transactions = []
        let records = try envelope.decodedRecords()
        guard !records.isEmpty else { throw .contradiction("a log without a transaction") }
        guard first > 0, first <= PackName.greatestNumber - UInt64(records.count) else {
            throw .beyondLimit("sequence number")
        }
        var (blobTable, paths) = (try envelope.blobTable(blobs), DecodedPathBudget())
        for record in records {
            transactions.append(try Transaction(Array(record), of: writer, &blobTable, &paths))
        }
        try blobTable.expectAllUsed()
        guard try envelope.required(.last) == last else { throw .contradiction("count of transactions") }
        guard knowledge[writer] == 0 else { throw .contradiction("knowledge of its own transactions") }
    }
}

extension Transaction {
    /// The least number of bytes of a change.
    private static let shortestChange = 14

    /// Encodes the earliest stamp and the number of changes, and for each change its path, the distance of its stamp
    /// from the earliest, its identifier, its reason, what it replaces, and its value or nothing.
    fileprivate func record(of writer: WriterID, _ blobTable: BlobTable) -> [UInt8] {
        var bytes: [UInt8] = []
        let stamp = changes.map(\.stamp).min() ?? .zero
        bytes.append(leb128: stamp.number)
        bytes.append(leb128: UInt64(changes.count))
        var previous: Path?
        for change in changes {
            bytes.append(change.path, after: previous)
            previous = change.path
            bytes.append(leb128: change.stamp.number - stamp.number)
            bytes.append(littleEndian: change.id.number)
            bytes.append(change.reason.rawValue)
            bytes.append(leb128: UInt64(change.covers.count))
            for cover in change.covers {
                bytes.append(cover.name, in: writer)
                bytes.append(cover.region, at: change.path.whole)
            }
            if let value = change.value { bytes.append(value, blobTable) } else { bytes.append(run: []) }
        }
        return bytes
    }

    fileprivate init(
        _ record: [UInt8], of writer: WriterID, _ blobTable: inout BlobTable, _ paths: inout DecodedPathBudget
    ) throws(PackFault) {
        var reader = ByteReader(record)
        let common = try reader.stamp()
        let count = try reader.count(limit: reader.remaining / Self.shortestChange, of: "changes")
        var changes: [Change] = []
        for _ in 0..<count {
            let path = try reader.path(after: changes.last?.path, &paths, mayRepeat: true)
            changes.append(try Change(&reader, at: path, common, of: writer, &blobTable, &paths))
        }
        try reader.expectEnd()
        guard !changes.isEmpty else { throw .contradiction("a transaction without a change") }
        guard changes.contains(where: { $0.stamp == common }) else { throw .notCanonical }
        self.init(changes)
    }
}

extension Change {
    fileprivate init(
        _ reader: inout ByteReader, at path: Path, _ common: Stamp, of writer: WriterID, _ blobTable: inout BlobTable,
        _ paths: inout DecodedPathBudget
    ) throws(PackFault) {
        guard path.key != nil else { throw .contradiction("a change of a whole domain") }
        let stamp = try reader.stamp(after: common)
        let id = WriteID(number: try reader.word())
        let reason = try reader.reason()
        // A cover takes at least eleven bytes.
        var covers: [Cover] = []
        for _ in 0..<(try reader.count(limit: reader.remaining / 11, of: "replaced values")) {
            let name = try reader.atomName(in: writer)
            if let last = covers.last, !(last.name < name) { throw .notCanonical }
            covers.append(Cover(name, try reader.region(at: path.whole, &paths)))
        }
        let value = try reader.optionalValue(&blobTable)
        if let part = path.merged?.part, let value, !part.permits(value) {
            throw .contradiction("the value of a part")
        }
        self.init(id, at: path, value, stamp: stamp, reason: reason, covers: covers)
    }
}
