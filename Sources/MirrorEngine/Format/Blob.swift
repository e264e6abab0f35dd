internal import Digests

/// A value too long for a log or a base, stored in a file of its own that is named by its hash.
///
/// The file contains the bytes of the `CanonicalValue` and nothing else.
package struct Blob: Hashable, Sendable {
    package let name: BlobName
    package let value: CanonicalValue

    package init(_ value: CanonicalValue) {
        self.value = value
        name = BlobName(hash: value.contentHash)
    }

    /// A blob that was read before, from a store that keeps its value.
    package init(_ value: LongValue) {
        self.value = CanonicalValue(value)
        name = value.name
    }

    /// Decodes the file to which a pack refers.
    package init(decoding bytes: [UInt8], as reference: BlobReference) throws(PackFault) {
        guard bytes.count == reference.size else { throw .endsEarly }
        guard reference.describes(bytes) else { throw .wrongHash }
        value = try CanonicalValue(decoding: bytes)
        name = reference.name
    }

    package var reference: BlobReference { BlobReference(name: name, size: value.count) }

    /// The length limit of a value inside a pack, in bytes. A longer value is a blob.
    package static let longestInPack = 64 << 10
}

/// The reference of a pack to a blob.
package struct BlobReference: Hashable, Sendable {
    package let name: BlobName
    package let size: Int

    package init(name: BlobName, size: Int) {
        self.name = name
        self.size = size
    }

    /// Whether these are the bytes of the blob.
    package func describes(_ bytes: [UInt8]) -> Bool {
        bytes.count == size && ContentHash(of: bytes) == name.hash
    }
}

/// The name of a blob in a writer's folder: the 52 digits of its hash, in a folder named after the first two.
///
/// For example, `x/3f/3f….blob`.
package struct BlobName: Hashable, Sendable {
    package let hash: ContentHash

    package init(hash: ContentHash) { self.hash = hash }

    /// Parses a path inside a writer's folder. Returns nil for any path that this type does not write.
    package init?(_ path: some StringProtocol) {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].elementsEqual("x".utf8), parts[2].count == Self.digits + 5 else { return nil }
        guard parts[1].elementsEqual(parts[2].prefix(2)), parts[2].suffix(5).elementsEqual(".blob".utf8) else {
            return nil
        }
        let digits = String(decoding: parts[2].prefix(Self.digits), as: UTF8.self)
        guard let bytes = Base32.bytes(digits, count: 32), let hash = ContentHash(bytes) else { return nil }
        self.hash = hash
    }

    private static let digits = 52
}

extension BlobName: CustomStringConvertible {
    package var description: String {
        let digits = Base32.text(hash.bytes)
        return "x/\(digits.prefix(2))/\(digits).blob"
    }
}

extension BlobName: Comparable {
    package static func < (left: Self, right: Self) -> Bool { left.hash.bytes.isBefore(right.hash.bytes) }
}

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
        for case .value(let value) in values where value.long != nil { long.insert(value) }
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
        expanded += value.count
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
        guard value.value?.long != nil, let place = blobTable.place(of: value) else {
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
        guard let value = try optionalValue(&blobTable) else { throw .endsEarly }
        return value
    }

    /// Decodes a value, or nothing.
    mutating func optionalValue(_ blobTable: inout BlobTable) throws(PackFault) -> WrittenValue? {
        let bytes = Array(try run(limit: Blob.longestInPack))
        if bytes.isEmpty { return nil }
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
            bytes.append(leb128: UInt64(blob.value.count))
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
            guard let hash = ContentHash(try reader.bytes(32)) else { throw .endsEarly }
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
