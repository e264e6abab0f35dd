/// The blobs of one file. The header lists them, and records refer to them by index.
struct BlobTable: Sendable {
    private(set) var blobs: [Blob]
    private var places: [CanonicalValue: Int] = [:]
    private var unused: Set<Int> = []
    /// The sum of the sizes of the values to which the records refer.
    private var expanded = 0

    /// The limit of blobs in one file, so that its header can list them.
    static let mostBlobs = 16_384
    /// The limit of `expanded`, in bytes.
    static let mostExpanded = 512 << 20

    /// Collects the values that are too long for a pack, sorted by hash.
    init(of values: some Sequence<WrittenValue>) {
        var long: Set<CanonicalValue> = []
        for case .value(let value) in values where value.bytes.count > Blob.longestInPack { long.insert(value) }
        blobs = long.map { Blob($0) }.sorted { $0.name < $1.name }
        for (place, blob) in blobs.enumerated() { places[blob.value] = place }
    }

    /// Takes the listed blobs from those that were read. Throws `missingBlobs` unless all are there.
    init(_ references: [BlobReference], from read: [BlobName: Blob]) throws(PackFault) {
        let missing = references.filter { read[$0.name]?.reference != $0 }
        guard missing.isEmpty else { throw .missingBlobs(missing) }
        blobs = references.compactMap { read[$0.name] }
        unused = Set(blobs.indices)
    }

    /// Returns the index of a long value in the list.
    func place(of value: WrittenValue) -> Int? { value.value.flatMap { places[$0] } }

    /// Returns the value at an index, and marks it as used.
    mutating func take(_ place: Int) throws(PackFault) -> CanonicalValue {
        guard blobs.indices.contains(place) else { throw .contradiction("a blob that is not listed") }
        unused.remove(place)
        let value = blobs[place].value
        expanded += value.bytes.count
        guard expanded <= Self.mostExpanded else { throw .beyondLimit("bytes of all values") }
        return value
    }

    func expectAllUsed() throws(PackFault) {
        guard unused.isEmpty else { throw .notCanonical }
    }
}

// MARK: Encoding

extension [UInt8] {
    /// Appends a value, or its index in the table of blobs.
    mutating func append(_ value: WrittenValue, _ blobTable: BlobTable) {
        guard value.bytes.count > Blob.longestInPack, let place = blobTable.place(of: value) else {
            return append(run: value.bytes)
        }
        var reference = [CanonicalValue.Tag.blob.rawValue]
        reference.append(leb128: UInt64(place))
        append(run: reference)
    }
}

extension ByteReader {
    /// Decodes a value, which is in the record itself or in the table of blobs.
    mutating func writtenValue(_ blobTable: inout BlobTable) throws(PackFault) -> WrittenValue {
        let bytes = Array(try run(limit: Blob.longestInPack))
        guard bytes.first == CanonicalValue.Tag.blob.rawValue else { return try WrittenValue(decoding: bytes) }
        var run = ByteReader(bytes)
        _ = try run.byte()
        let place = try run.count(limit: BlobTable.mostBlobs, of: "blobs")
        try run.expectEnd()
        return .value(try blobTable.take(place))
    }
}

extension Envelope {
    mutating func setBlobs(_ blobTable: BlobTable) {
        guard !blobTable.blobs.isEmpty else { return }
        var bytes: [UInt8] = []
        bytes.append(leb128: UInt64(blobTable.blobs.count))
        for blob in blobTable.blobs {
            bytes += blob.name.hash.bytes
            bytes.append(leb128: UInt64(blob.value.bytes.count))
        }
        fields[.blobs] = bytes
    }

    /// Returns the table of the blobs that the header lists, taken from those that were read.
    func blobTable(_ read: [BlobName: Blob]) throws(PackFault) -> BlobTable {
        try BlobTable(try blobReferences(), from: read)
    }

    /// Decodes the references to the blobs that the records use.
    private func blobReferences() throws(PackFault) -> [BlobReference] {
        guard let bytes = fields[.blobs] else { return [] }
        var reader = ByteReader(bytes)
        let count = try reader.count(limit: min(BlobTable.mostBlobs, reader.remaining / 33), of: "blobs")
        guard count > 0 else { throw .notCanonical }
        var references: [BlobReference] = []
        for _ in 0..<count {
            guard let hash = Fingerprint(try reader.bytes(32)) else { throw .endsEarly }
            let size = try reader.count(limit: CanonicalValue.longest, of: "bytes of a value")
            let name = BlobName(hash: hash)
            guard size > Blob.longestInPack else { throw .notCanonical }
            if let last = references.last, !(last.name < name) { throw .notCanonical }
            references.append(BlobReference(name: name, size: size))
        }
        try reader.expectEnd()
        return references
    }
}
