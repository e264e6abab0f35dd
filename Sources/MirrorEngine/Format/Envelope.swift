internal import Digests

/// The common structure of all files of a mirror, except blobs.
///
///     70 72 66 6d           "prfm"
///     6c                    the kind: l, b, w, or i for the marker of a mirror
///     1f                    the length of the header
///     02 10 …               its fields, in ascending order: number, length, bytes; a reader ignores an unknown odd
///                           number, and refuses a file with an unknown even one
///     05 …………… 4 bytes      records: length, body, CRC-32C of the body
///     8 + 8 + 32            the trailer: the number of records, the number of bytes in the file, and the SHA-256 of
///                           everything before it
struct Envelope: Sendable {
    var kind: UInt8
    var fields: [Field: [UInt8]] = [:]
    /// The records of a file that is to be written.
    var records: [ArraySlice<UInt8>] = []
    /// The records of a decoded file and their number. They are read when they are needed, because a base may be large
    /// and have nothing new.
    private var encodedRecords = ByteReader([])
    private var recordCount: UInt64 = 0
    /// The hash of the file from which the envelope was decoded.
    private(set) var hash = ContentHash.none
    /// Whether the header has fields that this version does not know.
    private(set) var hasUnknownFields = false

    /// The fields of a header.
    enum Field: UInt64, CaseIterable {
        case mirror = 2
        case writer = 4
        case first = 6
        case last = 8
        case previous = 10
        /// The lowest version of the format that a reader must support.
        case version = 12
        case vector = 14
        case label = 18
        case platform = 20
        case software = 22
        case hasLeft = 24
        /// The blobs to which the records refer.
        case blobs = 26
        /// The earlier files with transactions of the writer.
        case tags = 28
        /// The writers that two copies publish as, each with the first transaction that is in doubt.
        case forks = 30
        /// The names of the hosts.
        case labels = 32
        /// The number of replaced values that are named in the last record.
        case gone = 34
        /// The digest of the deletions, and the logs that the writer had joined after a gap. Earlier versions ignore
        /// the field.
        case beyond = 35
        /// The hosts that may write to a signed mirror.
        case signers = 36
    }

    static let magic: [UInt8] = Array("prfm".utf8)
    /// The version of the format. Earlier ones are not read.
    static let version: UInt64 = 3
    static let longestFile = 128 << 20
    static let longestHeader = 1 << 20
    static let longestRecord = 64 << 20
    private static let trailerLength = 48

    init(kind: UInt8) { self.kind = kind }
}

// MARK: Writing

extension Envelope {
    /// Returns the bytes of the file and their hash, which is part of its name.
    func encoded() -> (bytes: [UInt8], hash: ContentHash) {
        let header = header
        var bytes = Self.magic + [kind]
        bytes.reserveCapacity(records.reduce(header.count + 128) { $0 + $1.count + 12 })
        bytes.append(run: header)
        for record in records {
            bytes.append(run: record)
            bytes.append(littleEndian: CRC32C.checksum(record))
        }
        bytes.append(littleEndian: UInt64(records.count))
        bytes.append(littleEndian: UInt64(bytes.count - 8 + Self.trailerLength))
        let hash = ContentHash(of: bytes)
        bytes += hash.bytes
        return (bytes, hash)
    }

    private var header: [UInt8] {
        var header: [UInt8] = []
        for field in Field.allCases {
            guard let value = fields[field] else { continue }
            header.append(leb128: field.rawValue)
            header.append(run: value)
        }
        return header
    }
}

// MARK: Reading

extension Envelope {
    /// Returns the hash of a complete file, and throws if the file is damaged.
    private static func check(_ bytes: [UInt8]) throws(PackFault) -> ContentHash {
        guard bytes.count <= longestFile else { throw .beyondLimit("bytes of a file") }
        guard bytes.starts(with: magic.prefix(bytes.count)) else { throw .notThisFormat }
        guard bytes.count >= trailerLength + magic.count + 2 else { throw .endsEarly }
        let hash = ContentHash(of: bytes.dropLast(32))
        guard hash == ContentHash(bytes.suffix(32)) else { throw .wrongHash }
        return hash
    }

    init(decoding bytes: [UInt8]) throws(PackFault) {
        hash = try Self.check(bytes)
        var reader = ByteReader(bytes)
        _ = try reader.bytes(Self.magic.count)
        kind = try reader.byte()
        let length = try reader.count(limit: Self.longestHeader, of: "bytes of a header")
        try readHeader(try reader.part(length))
        guard reader.remaining >= Self.trailerLength else { throw .endsEarly }
        encodedRecords = try reader.part(reader.remaining - Self.trailerLength)
        recordCount = try reader.word()
        guard try reader.word() == UInt64(bytes.count) else { throw .contradiction("length") }
    }

    private mutating func readHeader(_ header: ByteReader) throws(PackFault) {
        var (header, previous) = (header, UInt64(0))
        while !header.isAtEnd {
            let number = try header.number()
            let value = try header.run(limit: Self.longestHeader)
            guard number > previous else { throw .notCanonical }
            previous = number
            if let field = Field(rawValue: number) {
                fields[field] = Array(value)
            } else if number % 2 == 0 {
                throw .unknownField(number)
            } else {
                hasUnknownFields = true
            }
        }
        let wanted = try required(.version)
        if wanted > Self.version { throw .newerVersion(wanted) }
        if wanted < Self.version { throw .olderVersion }
    }

    /// Returns the records of a decoded file, whose bytes they share.
    func decodedRecords() throws(PackFault) -> [ArraySlice<UInt8>] {
        var (reader, records) = (encodedRecords, [ArraySlice<UInt8>]())
        while !reader.isAtEnd {
            let record = try reader.run(limit: Self.longestRecord)
            guard try reader.halfWord() == CRC32C.checksum(record) else { throw .wrongChecksum }
            records.append(record)
        }
        guard recordCount == UInt64(records.count) else { throw .contradiction("count of records") }
        return records
    }
}

// MARK: Fields

extension Envelope {
    /// Throws unless the header has exactly these fields, except those that are optional.
    func expect(_ wanted: Set<Field>, optional: Set<Field> = []) throws(PackFault) {
        let present = Set(fields.keys)
        guard wanted.isSubset(of: present), present.subtracting(wanted).isSubset(of: optional) else {
            throw .contradiction("fields of a header")
        }
    }

    func number(_ field: Field) throws(PackFault) -> UInt64? {
        guard let bytes = fields[field] else { return nil }
        var reader = ByteReader(bytes)
        let number = try reader.number()
        try reader.expectEnd()
        return number
    }

    func required(_ field: Field) throws(PackFault) -> UInt64 {
        guard let number = try number(field) else { throw .contradiction("a header without \(field)") }
        return number
    }

    mutating func set(_ field: Field, _ number: UInt64) {
        var bytes: [UInt8] = []
        bytes.append(leb128: number)
        fields[field] = bytes
    }

    func text(_ field: Field) throws(PackFault) -> String {
        guard let text = String(validating: fields[field] ?? [], as: UTF8.self) else { throw .notUTF8 }
        return text
    }

    func contentHash(_ field: Field) throws(PackFault) -> ContentHash? {
        guard let bytes = fields[field] else { return nil }
        guard let contentHash = ContentHash(bytes) else { throw .contradiction("length of a hash") }
        return contentHash
    }

    func signers() throws(PackFault) -> Signers? {
        guard let bytes = fields[.signers] else { return nil }
        return try Signers(decoding: bytes)
    }

    func mirror() throws(PackFault) -> MirrorID {
        var reader = ByteReader(fields[.mirror] ?? [])
        let mirror = MirrorID(high: try reader.word(), low: try reader.word())
        try reader.expectEnd()
        return mirror
    }

    func writer() throws(PackFault) -> WriterID {
        var reader = ByteReader(fields[.writer] ?? [])
        let writer = WriterID(number: try reader.word())
        try reader.expectEnd()
        return writer
    }

    func versionVector() throws(PackFault) -> VersionVector {
        var reader = ByteReader(fields[.vector] ?? [])
        let vector = try reader.versionVector()
        try reader.expectEnd()
        return vector
    }

    mutating func set(_ vector: VersionVector) {
        var bytes: [UInt8] = []
        bytes.append(vector)
        fields[.vector] = bytes
    }
}
