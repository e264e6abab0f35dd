// Encoding of the mirror's files, and of their state, in the journal.

extension PackName: JournalCodable {
    func write(to bytes: inout [UInt8]) { bytes.write(kind, number, hash) }

    init(from reader: inout ByteReader) throws(PackFault) {
        let kind = try reader.read(Kind.self)
        let number = try reader.sequence()
        self.init(kind: kind, number: number, prefix: try reader.number())
    }
}

extension EncodedPack: JournalCodable {
    func write(to bytes: inout [UInt8]) {
        bytes.write(name, hash)
        bytes.append(run: self.bytes)
        bytes.write(blobs)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        let name = try reader.read(PackName.self)
        let hash = try reader.read(Fingerprint.self)
        let bytes = Array(try reader.run(limit: Envelope.longestFile))
        self.init(name: name, bytes: bytes, hash: hash, blobs: try reader.read())
    }
}

extension Pack: JournalCodable {
    /// Encodes the known contents under the hash of the original file, which may have fields of a newer version.
    func write(to bytes: inout [UInt8]) {
        bytes.write(hash, size, hasUnknownFields)
        let encoded = encodedContent
        bytes.reserveCapacity(bytes.count + encoded.bytes.count + 64)
        bytes.append(run: encoded.bytes)
        bytes.write(encoded.blobs)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        let hash = try reader.read(Fingerprint.self)
        let size = try reader.read(Int.self)
        let hasUnknownFields = try reader.read(Bool.self)
        let bytes = Array(try reader.run(limit: Envelope.longestFile))
        let blobs = Dictionary(try reader.read([Blob].self).map { ($0.name, $0) }) { $1 }
        let content = try Pack(decoding: bytes, blobs: blobs).content
        self.init(content: content, hash: hash, size: size, hasUnknownFields: hasUnknownFields)
    }

    private var encodedContent: EncodedPack {
        switch content {
        case .log(let log): log.encoded()
        case .base(let base): base.encoded()
        case .note(let note): note.encoded()
        }
    }
}

extension WriterNote: JournalCodable {
    func write(to bytes: inout [UInt8]) { bytes.append(run: encoded().bytes) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(try Envelope(decoding: Array(try reader.run(limit: Envelope.longestFile))))
    }
}

extension PackIntent: JournalCodable {
    func write(to bytes: inout [UInt8]) { bytes.write(pack, last, knowledge, isFarewell, references) }

    init(from reader: inout ByteReader) throws(PackFault) {
        pack = try reader.read()
        last = try reader.sequence()
        knowledge = try reader.read()
        isFarewell = try reader.read()
        references = try reader.read()
    }
}

extension CreatedFile: JournalCodable {
    func write(to bytes: inout [UInt8]) { bytes.write(size, last, supersededAt) }

    init(from reader: inout ByteReader) throws(PackFault) {
        size = try reader.read()
        last = try reader.sequence()
        supersededAt = try reader.read()
    }
}

extension OwnFolder: JournalCodable {
    func write(to bytes: inout [UInt8]) {
        bytes.write(created, tip, publishedKnowledge, baseSequence, baseBytes, logBytes, logCount)
        bytes.write(owesBase, owesNote, lastHealing, noteNumber, hasLeft, blobs, removed)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        created = try reader.read()
        tip = try reader.read()
        publishedKnowledge = try reader.read()
        baseSequence = try reader.sequence()
        baseBytes = try reader.read()
        logBytes = try reader.read()
        logCount = try reader.read()
        owesBase = try reader.read()
        owesNote = try reader.read()
        lastHealing = try reader.read()
        noteNumber = try reader.sequence()
        hasLeft = try reader.read()
        blobs = try reader.read()
        if !reader.isOfFirstVersion { removed = try reader.read() }
    }
}

extension Peer: JournalCodable {
    func write(to bytes: inout [UInt8]) {
        bytes.write(joined, tip, baseSequence)
        bytes.write(beyond, note, vanishedAt, carries)
        bytes.write(lastStamp)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        joined = try reader.read()
        tip = try reader.read()
        try reader.skipKnowledgeOfFirstVersion()
        baseSequence = try reader.sequence()
        beyond = try reader.read()
        note = try reader.read()
        vanishedAt = try reader.read()
        carries = try reader.read()
        lastStamp = try reader.read()
    }
}

extension ChainLink: JournalCodable {
    func write(to bytes: inout [UInt8]) { bytes.write(first, last, hash, previous) }

    init(from reader: inout ByteReader) throws(PackFault) {
        let (first, last) = (try reader.sequence(), try reader.sequence())
        guard first > 0, first <= last else { throw .contradiction("range") }
        self.init(first: first, last: last, hash: try reader.read(), previous: try reader.read())
        if reader.isOfFirstVersion { _ = try reader.read([TransactionID].self) }
    }
}

extension ConflictJournal.Conflict: JournalCodable {
    func write(to bytes: inout [UInt8]) { bytes.write(id, path, value, loser, winner, kind, when, resolvedAt) }

    init(from reader: inout ByteReader) throws(PackFault) {
        id = try reader.read()
        path = try reader.read()
        value = try reader.read()
        loser = try reader.read()
        winner = try reader.read()
        kind = try reader.read()
        when = try reader.read()
        resolvedAt = try reader.read()
    }

    /// Decodes the conflicts of one transaction in a journal of the first version.
    fileprivate static func ofFirstVersion(from reader: inout ByteReader) throws(PackFault) -> [Self] {
        let loser = try reader.read(TransactionID.self)
        let winner = try reader.read(TransactionID.self)
        let kind = try reader.read(Kind.self)
        let when = try reader.read(Int64.self)
        let values = try reader.read([Path: WrittenValue].self)
        let resolvedAt = try reader.read(Int64?.self)
        return values.sorted { $0.key < $1.key }.map { path, value in
            Self(
                id: WriteID(derivedFrom: loser, path), path: path, value: value, loser: loser, winner: winner,
                kind: kind, when: when, resolvedAt: resolvedAt)
        }
    }
}

extension ConflictJournal: JournalCodable {
    func write(to bytes: inout [UInt8]) { bytes.write(conflicts, evicted) }

    init(from reader: inout ByteReader) throws(PackFault) {
        var conflicts: [Conflict] = []
        if reader.isOfFirstVersion {
            for _ in 0..<(try reader.count(limit: reader.remaining, of: "conflicts")) {
                conflicts += try Conflict.ofFirstVersion(from: &reader)
            }
        } else {
            conflicts = try reader.read()
        }
        self.init(conflicts, evicted: try reader.read())
    }
}

extension Restoration: JournalCodable {
    func write(to bytes: inout [UInt8]) { bytes.write(conflicts, loser, transaction, clock, when) }

    init(from reader: inout ByteReader) throws(PackFault) {
        if reader.isOfFirstVersion {
            loser = try reader.read(TransactionID.self)
        } else {
            conflicts = try reader.read()
            loser = try reader.read()
        }
        transaction = try reader.read()
        clock = try reader.read()
        when = try reader.read()
    }
}

extension Blob: JournalCodable {
    func write(to bytes: inout [UInt8]) { bytes.write(value) }
    init(from reader: inout ByteReader) throws(PackFault) { self.init(try reader.read(CanonicalValue.self)) }
}

extension BlobName: JournalCodable {
    func write(to bytes: inout [UInt8]) { bytes.write(hash) }
    init(from reader: inout ByteReader) throws(PackFault) { self.init(hash: try reader.read()) }
}

extension BlobReference: JournalCodable {
    func write(to bytes: inout [UInt8]) { bytes.write(name, size) }

    init(from reader: inout ByteReader) throws(PackFault) {
        let name = try reader.read(BlobName.self)
        self.init(name: name, size: try reader.read())
    }
}

extension CreatedBlob: JournalCodable {
    func write(to bytes: inout [UInt8]) { bytes.write(size, unneededSince) }

    init(from reader: inout ByteReader) throws(PackFault) {
        size = try reader.read()
        guard size <= CanonicalValue.longest else { throw .beyondLimit("bytes of a value") }
        unneededSince = try reader.read()
    }
}
