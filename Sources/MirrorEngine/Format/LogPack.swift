/// Whole transactions of one writer, in sequence.
package struct LogPack: Hashable, Sendable {
    package var mirror: MirrorID
    package var writer: WriterID
    /// The sequence number of the first transaction.
    package var first: UInt64
    /// The hash of the writer's log before this one.
    package var previous: Fingerprint?
    /// What the writer knew of others: where that differs from what it knew at the log before.
    package var knowledge: [Dot]
    package var transactions: [Entry]

    /// A transaction as it stands in a pack.
    package struct Entry: Hashable, Sendable {
        package var stamp: Stamp
        /// Where the transaction's context differs from the pack's knowledge.
        package var context: [Dot]
        package var writes: [Transaction.StampedWrite]
    }

    package init(
        mirror: MirrorID, writer: WriterID, previous: Fingerprint?, knowledge: VersionVector,
        formerKnowledge: VersionVector, transactions: [Transaction]
    ) {
        self.mirror = mirror
        self.writer = writer
        self.previous = previous
        first = transactions.first?.dot.sequence ?? 1
        self.knowledge = knowledge.differences(from: formerKnowledge).filter { $0.writer != writer }
        self.transactions = transactions.map { transaction in
            let context = transaction.context.differences(from: knowledge).filter { $0.writer != writer }
            return Entry(stamp: transaction.stamp, context: context, writes: transaction.writes)
        }
    }

    /// The sequence number of the last transaction.
    package var last: UInt64 { first + UInt64(max(1, transactions.count)) - 1 }

    /// The transactions in full, given what the writer knew at this pack.
    package func transactions(knowing knowledge: VersionVector) -> [Transaction] {
        zip(first..., transactions).map { sequence, entry in
            var context = knowledge.applying(entry.context)
            context[writer] = sequence - 1
            return Transaction(
                dot: Dot(writer: writer, sequence: sequence), stamp: entry.stamp, context: context,
                writes: entry.writes)
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
        envelope.setDots(.vector, knowledge)
        let shelf = Shelf(of: transactions.lazy.flatMap { $0.writes.lazy.map(\.value) })
        envelope.setBlobs(shelf)
        envelope.records = transactions.map { $0.record(shelf) }
        let (bytes, hash) = envelope.encoded()
        let name = PackName(kind: .log, number: first, hash: hash)
        return EncodedPack(name: name, bytes: bytes, hash: hash, blobs: shelf.blobs)
    }

    init(_ envelope: Envelope, _ blobs: [BlobName: Blob] = [:]) throws(PackFault) {
        try envelope.expect([.mirror, .writer, .first, .last, .version, .vector], optional: [.previous, .blobs])
        guard envelope.digest == .none else { throw .contradiction("a log with a digest") }
        mirror = try envelope.mirror()
        writer = try envelope.writer()
        first = try envelope.required(.first)
        previous = try envelope.fingerprint(.previous)
        knowledge = try envelope.dots(.vector)
        transactions = []
        guard !envelope.records.isEmpty else { throw .contradiction("a log without a transaction") }
        guard first > 0, first <= PackName.greatestNumber - UInt64(envelope.records.count) else {
            throw .beyondLimit("sequence number")
        }
        var (shelf, paths) = (try envelope.shelf(blobs), PathBudget())
        for record in envelope.records { transactions.append(try Entry(record, &shelf, &paths)) }
        try shelf.expectAllUsed()
        guard try envelope.required(.last) == last else { throw .contradiction("count of transactions") }
        let isAboutItself = (knowledge + transactions.flatMap(\.context)).contains { $0.writer == writer }
        guard !isAboutItself else { throw .contradiction("a context of itself") }
    }
}

extension LogPack.Entry {
    /// The stamp, the context, how many writes, and each: path, how much later than the stamp, what it replaced, value.
    fileprivate func record(_ shelf: Shelf) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(leb128: stamp.number)
        bytes.append(context)
        bytes.append(leb128: UInt64(writes.count))
        var previous: Path?
        for write in writes {
            bytes.append(write.path, after: previous)
            previous = write.path
            bytes.append(leb128: write.stamp.number - stamp.number)
            bytes.append(write.replaced == nil ? 0 : 1)
            if let replaced = write.replaced { bytes.append(replaced) }
            bytes.append(write.value, shelf)
        }
        return bytes
    }

    fileprivate init(_ record: [UInt8], _ shelf: inout Shelf, _ paths: inout PathBudget) throws(PackFault) {
        var reader = ByteReader(record)
        stamp = try reader.stamp()
        context = try reader.dots()
        // Each write takes five bytes at least.
        let count = try reader.count(limit: reader.remaining / 5, of: "writes")
        writes = []
        for _ in 0..<count {
            let path = try reader.path(after: writes.last?.path, &paths)
            if let last = writes.last?.path, last.isPrefix(of: path) { throw .contradiction("a write above another") }
            writes.append(try Self.write(at: path, &reader, &shelf, stamp))
        }
        guard !writes.isEmpty else { throw .contradiction("a transaction without a write") }
        try reader.expectEnd()
    }

    private static func write(
        at path: Path, _ reader: inout ByteReader, _ shelf: inout Shelf, _ common: Stamp
    ) throws(PackFault) -> Transaction.StampedWrite {
        let (number, overflows) = common.number.addingReportingOverflow(try reader.number())
        let stamp = Stamp(number: number)
        guard !overflows, stamp.isValid else { throw .beyondLimit("stamp") }
        var replaced: Dot?
        switch try reader.byte() {
        case 0: break
        case 1: replaced = try reader.dot()
        default: throw .notCanonical
        }
        let value = try reader.atomValue(&shelf)
        return Transaction.StampedWrite(path: path, stamp: stamp, value: value, replaced: replaced)
    }
}
