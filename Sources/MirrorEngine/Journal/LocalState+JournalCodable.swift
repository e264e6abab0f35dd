// Encoding of the local state in the journal.

extension FileIdentity: JournalCodable {
    /// Encodes some numbers in full, because a file system may report any. They are only compared.
    func write(to bytes: inout JournalBytes) {
        bytes.write(device, inode)
        for number in [size, modified, changed] { bytes.append(littleEndian: number) }
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(
            device: reader.read(), inode: reader.read(), size: Int64(bitPattern: reader.word()),
            modified: Int64(bitPattern: reader.word()), changed: Int64(bitPattern: reader.word()))
    }
}

extension TrackedFile.Exception: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        bytes.write(value, reason, shown)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        value = try reader.read()
        reason = try reader.read()
        if !reader.isOfFirstVersion { shown = try reader.read() }
    }
}

extension TrackedFile.Replacement: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        old.write(to: &bytes)
        new.write(to: &bytes)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(old: reader.read(), new: reader.read())
    }
}

extension TrackedFile: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        bytes.write(file, hash, generations)
        bytes.write(byPath: exceptions)
        bytes.write(held, isMirrored, isCaptured, suspicion)
        bytes.write(byPath: replaced)
        bytes.write(byPath: interrupted)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        file = try reader.read()
        hash = try reader.read()
        generations = try reader.read()
        exceptions = try reader.read()
        try reader.skipKnowledgeOfFirstVersion()
        held = try reader.read()
        isMirrored = try reader.read()
        isCaptured = try reader.read()
        if !reader.isOfFirstVersion { suspicion = try reader.read() }
        replaced = try reader.read()
        if reader.isOfFirstVersion { retryFormats() } else { interrupted = try reader.read() }
    }
}

extension CapturedDomain: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        bytes.write(domain, file, hash)
        bytes.write(byPath: exceptions)
        bytes.write(held, reverted, adopted)
        bytes.write(byPath: replaced)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        domain = try reader.read()
        file = try reader.read()
        hash = try reader.read()
        exceptions = try reader.read()
        try reader.skipKnowledgeOfFirstVersion()
        held = try reader.read()
        reverted = try reader.read()
        if reader.isOfFirstVersion { return }
        adopted = try reader.read()
        replaced = try reader.read()
    }
}

extension Capture: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(transactions, clock, when, domains, settlesApplication) }

    init(from reader: inout ByteReader) throws(PackFault) {
        transactions = try reader.read()
        clock = try reader.read()
        when = reader.isOfFirstVersion ? Int64(clock.milliseconds) : try reader.read()
        domains = try reader.read()
        settlesApplication = try reader.read()
    }
}

extension DomainChange: JournalCodable {
    /// The approximate length of the encoding.
    fileprivate var recordedLength: Int {
        changes.reduce(256) { sum, change in
            let values = [change.value.old, change.value.new].reduce(8) { $0 + min($1?.count ?? 0, Blob.longestInPack) }
            return sum + change.key.bytes.count + values
        }
    }

    func write(to bytes: inout JournalBytes) {
        bytes.write(domain, file)
        bytes.write(byPath: changes)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(domain: reader.read(), file: reader.read(), changes: reader.read())
    }
}

extension Application: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        bytes.reserveCapacity(domains.reduce(bytes.count) { $0 + $1.recordedLength })
        bytes.write(domains, isChecked)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        domains = try reader.read()
        try reader.skipKnowledgeOfFirstVersion()
        isChecked = try reader.read()
    }
}

extension AppliedDomain: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        bytes.write(domain, file, hash)
        bytes.write(byPath: exceptions)
        bytes.write(byPath: replaced)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        domain = try reader.read()
        file = try reader.read()
        hash = try reader.read()
        exceptions = try reader.read()
        try reader.skipKnowledgeOfFirstVersion()
        replaced = try reader.read()
    }
}

extension LocalState: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        bytes.write(mirror, writer, formerWriters, sequence, clock.local, knowledge, peers, outbox, intent, folder)
        bytes.write(trackedFiles, application, conflicts, adopted, foreign, lineage, restoreMarkers)
        bytes.write(carried, retired, participation, mergeState)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        let mirror = try reader.read(MirrorID.self)
        self.init(mirror: mirror, writer: try reader.read())
        formerWriters = try reader.read()
        sequence = try reader.sequence()
        clock = HybridClock(local: try reader.read())
        knowledge = try reader.read()
        peers = try reader.read()
        outbox = try reader.read()
        intent = try reader.read()
        folder = try reader.read()
        trackedFiles = try reader.read()
        application = try reader.read()
        conflicts = try reader.read()
        if reader.isOfFirstVersion {
            // The first version recorded the transaction IDs that writes replaced, which this version ignores.
            _ = try reader.read([Path: [ReplacedPair]].self)
        } else {
            adopted = try reader.read()
            foreign = try reader.read()
            lineage = try reader.read()
            restoreMarkers = try reader.read()
        }
        carried = try reader.read()
        retired = try reader.read()
        participation = try reader.read()
        mergeState = try reader.read()
    }
}

extension RestoreMarkers: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(marks.map(WriteID.init), unwritten, isDue) }

    init(from reader: inout ByteReader) throws(PackFault) {
        let marks = try reader.read([WriteID].self).map(\.number)
        try self.init(marks: marks, unwritten: reader.read(), isDue: reader.read())
    }
}

extension TrackedFile.Suspicion: JournalCodable {}

// MARK: The first version

/// The ID of a replaced transaction, and of the one that replaced it.
private struct ReplacedPair: JournalCodable {
    func write(to bytes: inout JournalBytes) {}

    init(from reader: inout ByteReader) throws(PackFault) {
        _ = try reader.read(TransactionID.self)
        _ = try reader.read(TransactionID.self)
    }
}

extension ByteReader {
    /// Skips a vector that the first version recorded: what the author of a change knew of other writers.
    mutating func skipKnowledgeOfFirstVersion() throws(PackFault) {
        if isOfFirstVersion { _ = try read(VersionVector.self) }
    }
}

// MARK: The mirror's files, and their state

extension PackName: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(kind, number, hash) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(kind: reader.read(), number: reader.sequence(), prefix: reader.number())
    }
}

extension EncodedPack: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        bytes.write(name, hash)
        bytes.append(run: self.bytes)
        bytes.write(blobs)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        let name = try reader.read(PackName.self)
        let hash = try reader.read(ContentHash.self)
        let bytes = Array(try reader.run(limit: Envelope.longestFile))
        self.init(name: name, bytes: bytes, hash: hash, blobs: try reader.read())
    }
}

extension Pack: JournalCodable {
    /// Encodes the known contents under the hash of the original file, which may have fields of a newer version.
    func write(to bytes: inout JournalBytes) {
        bytes.write(hash, size, hasUnknownFields)
        let encoded = encodedContent
        bytes.reserveCapacity(bytes.count + encoded.bytes.count + 64)
        bytes.append(run: encoded.bytes)
        bytes.write(encoded.blobs)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        let hash = try reader.read(ContentHash.self)
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
    func write(to bytes: inout JournalBytes) { bytes.append(run: encoded().bytes) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(try Envelope(decoding: Array(try reader.run(limit: Envelope.longestFile))))
    }
}

extension PackIntent: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(pack, last, knowledge, isFarewell, references) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(
            pack: reader.read(), last: reader.sequence(), knowledge: reader.read(), isFarewell: reader.read(),
            references: reader.read())
    }
}

extension CreatedFile: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(size, last, supersededAt) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(size: reader.read(), last: reader.sequence(), supersededAt: reader.read())
    }
}

extension OwnFolder: JournalCodable {
    func write(to bytes: inout JournalBytes) {
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
    func write(to bytes: inout JournalBytes) {
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
    func write(to bytes: inout JournalBytes) { bytes.write(first, last, hash, previous) }

    init(from reader: inout ByteReader) throws(PackFault) {
        let (first, last) = (try reader.sequence(), try reader.sequence())
        guard first > 0, first <= last else { throw .contradiction("range") }
        self.init(first: first, last: last, hash: try reader.read(), previous: try reader.read())
        if reader.isOfFirstVersion { _ = try reader.read([TransactionID].self) }
    }
}

extension ConflictJournal.Conflict: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(id, path, value, loser, winner, kind, when, resolvedAt) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(
            id: reader.read(), path: reader.read(), value: reader.read(), loser: reader.read(), winner: reader.read(),
            kind: reader.read(), when: reader.read(), resolvedAt: reader.read())
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
    func write(to bytes: inout JournalBytes) { bytes.write(entries, evicted) }

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
    func write(to bytes: inout JournalBytes) { bytes.write(conflicts, loser, transaction, clock, when) }

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
    func write(to bytes: inout JournalBytes) { bytes.write(value) }
    init(from reader: inout ByteReader) throws(PackFault) { self.init(try reader.read(CanonicalValue.self)) }
}

extension BlobName: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(hash) }
    init(from reader: inout ByteReader) throws(PackFault) { self.init(hash: try reader.read()) }
}

extension BlobReference: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(name, size) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(name: reader.read(), size: reader.read())
    }
}

extension CreatedBlob: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(size, unneededSince) }

    init(from reader: inout ByteReader) throws(PackFault) {
        size = try reader.read()
        guard size <= CanonicalValue.longest else { throw .beyondLimit("bytes of a value") }
        unneededSince = try reader.read()
    }
}
