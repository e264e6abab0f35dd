/// A file ready to be created: its name inside the writer's folder, and its bytes.
package struct EncodedPack: Hashable, Sendable {
    package let name: PackName
    package let bytes: [UInt8]
    package let hash: Fingerprint
    /// The blobs that must be created before the file.
    package var blobs: [Blob] = []

    /// The number of bytes that the file and its blobs add to the directory.
    var size: Int { bytes.count + blobs.reduce(0) { $0 + $1.value.bytes.count } }
}

/// A complete and valid file of a writer's folder.
package struct Pack: Hashable, Sendable {
    package let content: Content
    package let hash: Fingerprint
    /// The size of the file in bytes.
    package let size: Int
    /// Whether the file has fields that this version does not know.
    package let hasUnknownFields: Bool

    package enum Content: Hashable, Sendable {
        case log(LogPack)
        case base(BasePack)
        case note(WriterNote)
    }

    init(content: Content, hash: Fingerprint, size: Int, hasUnknownFields: Bool) {
        self.content = content
        self.hash = hash
        self.size = size
        self.hasUnknownFields = hasUnknownFields
    }

    /// Returns the version of the format that a file declares, or nil if it cannot be read.
    package static func version(of bytes: [UInt8]) -> UInt64? {
        try? Envelope(decoding: bytes).required(.version)
    }

    /// Decodes a file of any kind. Throws `missingBlobs` if it refers to values that are not in `blobs`.
    package init(decoding bytes: [UInt8], blobs: [BlobName: Blob] = [:]) throws(PackFault) {
        hash = try Envelope.check(bytes)
        size = bytes.count
        let envelope = try Envelope(decoding: bytes)
        hasUnknownFields = envelope.hasUnknownFields
        switch PackName.Kind(rawValue: envelope.kind) {
        case .log: content = .log(try LogPack(envelope, blobs))
        case .base: content = .base(try BasePack(envelope, blobs))
        case .note: content = .note(try WriterNote(envelope))
        case nil: throw .notThisFormat
        }
    }

    /// Decodes a file, and throws unless its name and mirror match its contents.
    package init(
        decoding bytes: [UInt8], at address: PackAddress, of mirror: MirrorID, blobs: [BlobName: Blob] = [:]
    ) throws(PackFault) {
        try self.init(decoding: bytes, blobs: blobs)
        guard self.address == address else { throw .contradiction("name") }
        guard self.mirror == mirror else { throw .contradiction("mirror") }
    }

    package var address: PackAddress {
        switch content {
        case .log(let log): named(.log, log.first, log.writer)
        case .base(let base): named(.base, base.last, base.writer)
        case .note(let note): named(.note, note.number, note.writer)
        }
    }

    package var mirror: MirrorID {
        switch content {
        case .log(let log): log.mirror
        case .base(let base): base.mirror
        case .note(let note): note.mirror
        }
    }

    /// Returns the last transaction of `writer` that the writer of this file knew.
    func sequence(of writer: WriterID) -> UInt64 {
        switch content {
        case .log(let log): log.knowledge.last { $0.writer == writer }?.sequence ?? 0
        case .base(let base): base.knowledge[writer]
        case .note: 0
        }
    }

    private func named(_ kind: PackName.Kind, _ number: UInt64, _ writer: WriterID) -> PackAddress {
        PackAddress(writer: writer, name: PackName(kind: kind, number: number, hash: hash))
    }
}

extension Envelope {
    mutating func setWriter(_ writer: WriterID) {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: writer.number)
        fields[.writer] = bytes
    }

    mutating func setTransactionIDs(_ field: Field, _ transactionIDs: [TransactionID]) {
        var bytes: [UInt8] = []
        bytes.append(transactionIDs)
        fields[field] = bytes
    }
}
