/// The long values of one file, which its header lists and its records name by their place in that list.
struct Shelf: Sendable {
    private(set) var blobs: [Blob]
    private var places: [CanonicalValue: Int] = [:]
    private var unused: Set<Int> = []
    /// How many bytes all references stand for.
    private var expanded = 0

    /// The most blobs of one file, so that its header can list them.
    static let mostBlobs = 16_384
    /// The most bytes that all references of one file may stand for.
    static let mostExpanded = 512 << 20

    /// The long ones of some values, in the order of their hashes.
    init(of values: some Sequence<AtomValue>) {
        var long: Set<CanonicalValue> = []
        for case .value(let value) in values where value.bytes.count > Blob.longestInPack { long.insert(value) }
        blobs = long.map { Blob($0) }.sorted { $0.name < $1.name }
        for (place, blob) in blobs.enumerated() { places[blob.value] = place }
    }

    /// What a header lists, taken from what was read of it.
    init(_ references: [BlobReference], from read: [BlobName: Blob]) throws(PackFault) {
        let missing = references.filter { read[$0.name]?.reference != $0 }
        guard missing.isEmpty else { throw .missingBlobs(missing) }
        blobs = references.compactMap { read[$0.name] }
        unused = Set(blobs.indices)
    }

    /// Where a long value stands in the list.
    func place(of value: AtomValue) -> Int? { value.value.flatMap { places[$0] } }

    /// The value at a place of the list.
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

// MARK: Bytes

extension [UInt8] {
    /// Appends a value, or where it stands on the shelf.
    mutating func append(_ value: AtomValue, _ shelf: Shelf) {
        guard value.bytes.count > Blob.longestInPack, let place = shelf.place(of: value) else {
            return append(run: value.bytes)
        }
        var reference = [CanonicalValue.Tag.blob.rawValue]
        reference.append(leb128: UInt64(place))
        append(run: reference)
    }
}

extension ByteReader {
    /// A value of a record: itself, or its place on the shelf.
    mutating func atomValue(_ shelf: inout Shelf) throws(PackFault) -> AtomValue {
        let bytes = Array(try run(limit: Blob.longestInPack))
        guard bytes.first == CanonicalValue.Tag.blob.rawValue else { return try AtomValue(decoding: bytes) }
        var run = ByteReader(bytes)
        _ = try run.byte()
        let place = try run.count(limit: Shelf.mostBlobs, of: "blobs")
        try run.expectEnd()
        return .value(try shelf.take(place))
    }
}

extension Envelope {
    mutating func setBlobs(_ shelf: Shelf) {
        guard !shelf.blobs.isEmpty else { return }
        var bytes: [UInt8] = []
        bytes.append(leb128: UInt64(shelf.blobs.count))
        for blob in shelf.blobs {
            bytes += blob.name.hash.bytes
            bytes.append(leb128: UInt64(blob.value.bytes.count))
        }
        fields[.blobs] = bytes
    }

    /// What the header says of long values, and what was read of them.
    func shelf(_ read: [BlobName: Blob]) throws(PackFault) -> Shelf {
        try Shelf(try blobReferences(), from: read)
    }

    /// The long values that the records refer to.
    private func blobReferences() throws(PackFault) -> [BlobReference] {
        guard let bytes = fields[.blobs] else { return [] }
        var reader = ByteReader(bytes)
        let count = try reader.count(limit: min(Shelf.mostBlobs, reader.remaining / 33), of: "blobs")
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
