/// A value that is encoded in the journal of the local state.
///
/// Only the version that wrote a journal and later ones read it.
protocol JournalCodable: SendableMetatype {
    func write(to bytes: inout JournalBytes)
    init(from reader: inout ByteReader) throws(PackFault)
}

/// The bytes of a part of the journal.
struct JournalBytes {
    private(set) var bytes: [UInt8] = []
    /// The long values to which the bytes refer, or nil if the bytes contain them.
    private(set) var longValues: [LongValue]?

    /// - Parameter refersToLongValues: Whether long values are kept in files of their own.
    init(refersToLongValues: Bool = false) { longValues = refersToLongValues ? [] : nil }

    var count: Int { bytes.count }

    /// Returns the bytes without a copy, because they may be many.
    consuming func taken() -> [UInt8] { bytes }

    mutating func write(_ values: any JournalCodable...) {
        for value in values { value.write(to: &self) }
    }

    mutating func append(_ byte: UInt8) { bytes.append(byte) }
    mutating func append(leb128 number: UInt64) { bytes.append(leb128: number) }
    mutating func append(littleEndian number: some FixedWidthInteger) { bytes.append(littleEndian: number) }
    mutating func append(run: some Collection<UInt8>) { bytes.append(run: run) }
    mutating func append(_ transactionID: TransactionID) { bytes.append(transactionID) }
    mutating func append(_ vector: VersionVector) { bytes.append(vector) }
    mutating func append(_ tags: FileTags) { bytes.append(tags) }
    mutating func reserveCapacity(_ count: Int) { bytes.reserveCapacity(count) }

    static func += (left: inout Self, right: [UInt8]) { left.bytes += right }

    mutating func append(_ value: CanonicalValue) {
        guard longValues != nil, let long = value.long else { return append(run: value.bytes) }
        longValues?.append(long)
        append(run: long.recordedReference)
    }
}

extension LongValue {
    /// The reference in a record of the journal: a tag, the hash, the size, and the first bytes of the value.
    fileprivate var recordedReference: [UInt8] {
        var bytes = [CanonicalValue.Tag.blob.rawValue]
        bytes += name.hash.bytes
        bytes.append(leb128: UInt64(size))
        return bytes + beginning
    }
}

extension ByteReader {
    /// Decodes a value of the journal, which is in the record itself or in a file of its own.
    fileprivate mutating func recordedValue() throws(PackFault) -> WrittenValue {
        let bytes = Array(try run(limit: CanonicalValue.longest))
        guard bytes.first == CanonicalValue.Tag.blob.rawValue else { return try WrittenValue(decoding: bytes) }
        var run = ByteReader(bytes)
        _ = try run.byte()
        let name = BlobName(hash: try run.read())
        let size = try run.count(limit: CanonicalValue.longest, of: "bytes of a value")
        let reference = BlobReference(name: name, size: size)
        let beginning = Array(try run.bytes(LongValue.lengthOfBeginning))
        try run.expectEnd()
        guard size > Blob.longestInPack else { throw .notCanonical }
        guard let longValues, longValues.contains(reference) else { throw .missingBlobs([reference]) }
        bytesOfLongValues += size
        return .value(CanonicalValue(LongValue(reference, beginning: beginning, in: longValues)))
    }
}

extension CanonicalValue: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.append(self) }

    init(from reader: inout ByteReader) throws(PackFault) {
        guard case .value(let value) = try reader.recordedValue() else { throw .unknownTag }
        self = value
    }
}

extension WrittenValue: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        if let value { bytes.append(value) } else { bytes.append(run: self.bytes) }
    }

    init(from reader: inout ByteReader) throws(PackFault) { self = try reader.recordedValue() }
}

extension ByteReader {
    mutating func read<Value: JournalCodable>(_ type: Value.Type = Value.self) throws(PackFault) -> Value {
        try Value(from: &self)
    }
}

// MARK: Numbers and strings

extension UInt64: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.append(leb128: self) }
    init(from reader: inout ByteReader) throws(PackFault) { self = try reader.number() }
}

extension Int64: JournalCodable {
    /// The sign is moved to the lowest bit, so that small numbers stay short.
    func write(to bytes: inout JournalBytes) { bytes.append(leb128: UInt64(bitPattern: self << 1 ^ self >> 63)) }

    init(from reader: inout ByteReader) throws(PackFault) {
        let number = try reader.number()
        self = Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
        // This limit lets two times be subtracted without overflow.
        guard (-1 << 62...1 << 62).contains(self) else { throw .beyondLimit("number") }
    }
}

extension Int: JournalCodable {
    func write(to bytes: inout JournalBytes) { Int64(self).write(to: &bytes) }

    init(from reader: inout ByteReader) throws(PackFault) {
        guard let number = Int(exactly: try reader.read(Int64.self)), (0...Self.greatest).contains(number) else {
            throw .beyondLimit("number")
        }
        self = number
    }
}

extension Int {
    /// A limit above every count and length in the journal.
    private static var greatest: Int { 1 << 40 }
}

extension Bool: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.append(self ? 1 : 0) }

    init(from reader: inout ByteReader) throws(PackFault) {
        switch try reader.byte() {
        case 0: self = false
        case 1: self = true
        default: throw .notCanonical
        }
    }
}

extension String: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.append(run: utf8) }
    init(from reader: inout ByteReader) throws(PackFault) { self = try reader.text(limit: 1 << 20) }
}

// MARK: Collections

extension Optional: JournalCodable where Wrapped: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        bytes.append(self == nil ? 0 : 1)
        self?.write(to: &bytes)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        self = try reader.read(Bool.self) ? try reader.read(Wrapped.self) : nil
    }
}

extension Array: JournalCodable where Element: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        bytes.append(leb128: UInt64(count))
        for element in self { element.write(to: &bytes) }
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        // An element takes at least one byte.
        let count = try reader.count(limit: reader.remaining, of: "elements")
        self = []
        for _ in 0..<count { append(try reader.read(Element.self)) }
    }
}

extension Set: JournalCodable where Element: JournalCodable {
    func write(to bytes: inout JournalBytes) {
        bytes.append(leb128: UInt64(count))
        for element in map(\.recorded).sorted(by: { $0.isBefore($1) }) { bytes += element }
    }

    init(from reader: inout ByteReader) throws(PackFault) { self = Set(try reader.read([Element].self)) }
}

extension Dictionary: JournalCodable where Key: JournalCodable, Value: JournalCodable {
    /// Encodes in the order of the keys' bytes, so that equal states have equal bytes.
    func write(to bytes: inout JournalBytes) {
        bytes.append(leb128: UInt64(count))
        for (key, value) in map({ ($0.key.recorded, $0.value) }).sorted(by: { $0.0.isBefore($1.0) }) {
            bytes += key
            value.write(to: &bytes)
        }
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        let count = try reader.count(limit: reader.remaining, of: "entries")
        self = [:]
        for _ in 0..<count {
            let key = try reader.read(Key.self)
            self[key] = try reader.read(Value.self)
        }
    }
}

/// A dictionary that is encoded in the order of its paths, which is faster for many than to sort their encodings.
struct SortedByPath<Value: JournalCodable>: JournalCodable {
    fileprivate let entries: [Path: Value]

    fileprivate init(_ entries: [Path: Value]) { self.entries = entries }

    func write(to bytes: inout JournalBytes) {
        bytes.append(leb128: UInt64(entries.count))
        // Sorting the entries is not specialized for the type of the values, and took a fifth of the time of a join.
        var paths = Array(entries.keys)
        paths.sort()
        for path in paths {
            path.write(to: &bytes)
            entries[path]?.write(to: &bytes)
        }
    }

    init(from reader: inout ByteReader) throws(PackFault) { entries = try reader.read() }
}

extension Dictionary where Key == Path, Value: JournalCodable {
    var sortedByPath: SortedByPath<Value> {
        get { SortedByPath(self) }
        set { self = newValue.entries }
    }
}

extension JournalCodable {
    /// The encoding of this value alone.
    var recorded: [UInt8] {
        var bytes = JournalBytes()
        write(to: &bytes)
        return bytes.taken()
    }
}

/// Encoding of an enumeration by its raw value.
extension JournalCodable where Self: RawRepresentable, RawValue == UInt8 {
    func write(to bytes: inout JournalBytes) { bytes.append(rawValue) }

    init(from reader: inout ByteReader) throws(PackFault) {
        guard let value = Self(rawValue: try reader.byte()) else { throw .unknownTag }
        self = value
    }
}

extension HoldReason: JournalCodable {}
extension TrackedFile.Exception.Reason: JournalCodable {}
extension Atom.Reason: JournalCodable {}
extension PackName.Kind: JournalCodable {}
extension Participation: JournalCodable {}
