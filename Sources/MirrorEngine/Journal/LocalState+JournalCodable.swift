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
    func write(to bytes: inout JournalBytes) { bytes.write(value, reason, shown) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(value: reader.read(), reason: reader.read(), shown: reader.read())
    }
}

extension TrackedFile.Replacement: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(old, new) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(old: reader.read(), new: reader.read())
    }
}

extension TrackedFile: FieldwiseCodable {
    static let fields = JournalFields { Self() }.then(\.file, \.hash, \.generations, \.exceptions.sortedByPath)
        .then(\.held, \.isMirrored, \.isCaptured, \.suspicion, \.past, \.interrupted.sortedByPath)
}

extension Past: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(last, views.sortedByPath, forgotten) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(last: reader.read(), views: reader.read(), forgotten: reader.read())
    }
}

extension Past.View: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        bytes.write(change)
        for hash in [before, brought] { bytes.append(littleEndian: hash.number) }
        bytes.write(shown)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(
            change: reader.read(), before: Past.ValueHash(number: reader.word()),
            brought: Past.ValueHash(number: reader.word()), shown: reader.read())
    }
}

extension CapturedDomain: FieldwiseCodable {
    static let fields = JournalFields({ Self(domain: $0, exceptions: [:]) }, \.domain)
        .then(\.file, \.hash, \.exceptions.sortedByPath, \.held, \.replaced.sortedByPath)
}

extension Capture: FieldwiseCodable {
    static let fields = JournalFields(
        Self.init, \.transactions, \.clock, \.when, \.domains, \.settlesApplication)
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
        isChecked = try reader.read()
    }
}

extension AppliedDomain: FieldwiseCodable {
    static let fields = JournalFields({ Self(domain: $0, exceptions: [:], past: Past()) }, \.domain)
        .then(\.file, \.hash, \.exceptions.sortedByPath, \.past)
}

extension LocalState: FieldwiseCodable {
    static let fields = JournalFields({ Self(mirror: $0, writer: $1) }, \.mirror, \.writer)
        .then(\.formerWriters, \.sequence, \.clock, \.peers, \.outbox, \.intent, \.folder)
        .then(\.trackedFiles, \.application, \.resolved, \.restoreMarkers)
        .then(\.retired, \.participation, \.shared).checkingSequences(\.sequence).thenIfPresent(\.needsWholeBases)
}

extension ResolvedConflict: FieldwiseCodable {
    static let fields = JournalFields(Self.init, \.place, \.value, \.loser, \.stamp, \.resolvedAt)
}

extension RestoreMarkers: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(marks.map(WriteID.init), unwritten, isDue) }

    init(from reader: inout ByteReader) throws(PackFault) {
        let marks = try reader.read([WriteID].self).map(\.number)
        try self.init(marks: marks, unwritten: reader.read(), isDue: reader.read())
    }
}

extension TrackedFile.Suspicion: JournalCodable {}

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
    static let fields = JournalFields(
        Self.init, \.pack, \.last, \.published, \.knowledge, \.isFarewell, \.references
    ).checkingSequences(\.last)
}

extension CreatedFile: FieldwiseCodable {
    static let fields = JournalFields(Self.init, \.size, \.last, \.supersededAt).checkingSequences(\.last)
}

extension OwnFolder: FieldwiseCodable {
    static let fields = JournalFields { Self() }
        .then(\.created, \.tip, \.tags, \.publishedKnowledge, \.acknowledgedAt, \.noteKnowledge)
        .then(\.baseSequence, \.baseBytes, \.logBytes, \.logCount)
        .then(\.owesBase, \.owesNote, \.lastHealing, \.noteNumber, \.hasLeft, \.blobs, \.removed)
        .checkingSequences(\.baseSequence, \.noteNumber)
}

extension Peer: FieldwiseCodable {
    static let fields = JournalFields { Self() }.then(\.joined, \.tags, \.knowledge, \.beyond)
        .then(\.note, \.label, \.vanishedAt, \.isKept, \.lastStamp)
}

extension FileTags: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.append(self) }
    init(from reader: inout ByteReader) throws(PackFault) { self = try reader.fileTags() }
}

extension FileTags.Span: FieldwiseCodable {
    static let fields = JournalFields(Self.init, \.first, \.last, \.tag).checkingSequences(\.first, \.last)
        .checking(.contradiction("range")) { $0.first > 0 && $0.first <= $0.last }
}

extension FileTag: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.append(littleEndian: number) }
    init(from reader: inout ByteReader) throws(PackFault) { self.init(number: try reader.halfWord()) }
}

extension Decision: FieldwiseCodable {
    static let fields = JournalFields(Self.init, \.transaction, \.clock, \.when)
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
