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

extension TrackedFile: FieldwiseCodable {
    static let fields = JournalFields { Self() }.then(\.file, \.hash, \.generations, \.exceptions.sortedByPath)
        .droppedKnowledge().then(\.held, \.isMirrored, \.isCaptured).added(\.suspicion)
        .then(\.replaced.sortedByPath).added(\.interrupted.sortedByPath).ofFirstVersion { $0.retryFormats() }
}

extension CapturedDomain: FieldwiseCodable {
    static let fields = JournalFields({ Self(domain: $0, exceptions: [:], reverted: []) }, \.domain)
        .then(\.file, \.hash, \.exceptions.sortedByPath).droppedKnowledge()
        .then(\.held, \.reverted).added(\.adopted, \.replaced.sortedByPath)
}

extension Capture: FieldwiseCodable {
    static let fields = JournalFields(Self.init(transactions:clock:), \.transactions, \.clock)
        .added(\.when).then(\.domains, \.settlesApplication)

    private init(transactions: [Transaction], clock: Stamp) {
        self.init(
            transactions: transactions, clock: clock, when: Int64(clock.milliseconds), domains: [],
            settlesApplication: false)
    }
}

extension DomainChange: FieldwiseCodable {
    static let fields = JournalFields({ Self(domain: $0, changes: [:]) }, \.domain)
        .then(\.file, \.changes.sortedByPath)

    /// The approximate length of the encoding.
    fileprivate var recordedLength: Int {
        changes.reduce(256) { sum, change in
            let values = [change.value.old, change.value.new].reduce(8) { $0 + min($1?.count ?? 0, Blob.longestInPack) }
            return sum + change.key.bytes.count + values
        }
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

extension AppliedDomain: FieldwiseCodable {
    static let fields = JournalFields({ Self(domain: $0, exceptions: [:], replaced: [:]) }, \.domain)
        .then(\.file, \.hash, \.exceptions.sortedByPath).droppedKnowledge().then(\.replaced.sortedByPath)
}

extension LocalState: FieldwiseCodable {
    static let fields = JournalFields({ Self(mirror: $0, writer: $1) }, \.mirror, \.writer)
        .then(\.formerWriters, \.sequence, \.clock, \.knowledge, \.peers, \.outbox, \.intent, \.folder)
        .then(\.trackedFiles, \.application, \.conflicts)
        // The first version recorded the IDs of the transactions that writes replaced.
        .dropped([Path: [ReplacedPair]].self).added(\.adopted, \.foreign, \.lineage, \.restoreMarkers)
        .then(\.carried, \.retired, \.participation, \.mergeState).checkingSequences(\.sequence)
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
    /// Skips a vector that only the first version recorded: what the author of a change knew of other writers.
    mutating func skipKnowledgeOfFirstVersion() throws(PackFault) {
        if isOfFirstVersion { _ = try read(VersionVector.self) }
    }
}

// MARK: The mirror's files, and their state

extension PackName: FieldwiseCodable {
    static let fields = JournalFields(Self.init(kind:number:prefix:), \.kind, \.number, \.hash)
        .checkingSequences(\.number)
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

extension PackIntent: FieldwiseCodable {
    static let fields = JournalFields(Self.init, \.pack, \.last, \.knowledge, \.isFarewell, \.references)
        .checkingSequences(\.last)
}

extension CreatedFile: FieldwiseCodable {
    static let fields = JournalFields(Self.init, \.size, \.last, \.supersededAt).checkingSequences(\.last)
}

extension OwnFolder: FieldwiseCodable {
    static let fields = JournalFields { Self() }
        .then(\.created, \.tip, \.publishedKnowledge, \.baseSequence, \.baseBytes, \.logBytes, \.logCount)
        .then(\.owesBase, \.owesNote, \.lastHealing, \.noteNumber, \.hasLeft, \.blobs).added(\.removed)
        .checkingSequences(\.baseSequence, \.noteNumber)
}

extension Peer: FieldwiseCodable {
    static let fields = JournalFields { Self() }.then(\.joined, \.tip).droppedKnowledge()
        .then(\.baseSequence, \.beyond, \.note, \.vanishedAt, \.carries, \.lastStamp)
        .checkingSequences(\.baseSequence)
}

extension ChainLink: FieldwiseCodable {
    static let fields = JournalFields(Self.init, \.first, \.last, \.hash, \.previous)
        .dropped([TransactionID].self).checkingSequences(\.first, \.last)
        .checking(.contradiction("range")) { $0.first > 0 && $0.first <= $0.last }
}

extension ConflictJournal.Conflict: FieldwiseCodable {
    static let fields = JournalFields(
        Self.init, \.id, \.path, \.value, \.loser, \.winner, \.kind, \.when, \.resolvedAt)

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

extension BlobReference: FieldwiseCodable {
    static let fields = JournalFields(Self.init, \.name, \.size)
}

extension CreatedBlob: FieldwiseCodable {
    static let fields = JournalFields(Self.init, \.size, \.unneededSince)
        .checking(.beyondLimit("bytes of a value")) { $0.size <= CanonicalValue.longest }
}
