/// A cursor that decodes bytes from front to back and throws at their end.
package struct ByteReader: Sendable {
    private let bytes: [UInt8]
    package private(set) var position: Int
    private var end: Int
    /// The long values to which the bytes of a journal refer.
    var longValues: (any LongValueStore)?
    /// The sum of the sizes of those that were decoded.
    var bytesOfLongValues = 0

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = 0
        end = bytes.count
    }

    package var isAtEnd: Bool { position >= end }
    package var remaining: Int { end - position }

    package mutating func byte() throws(PackFault) -> UInt8 {
        guard position < end else { throw .endsEarly }
        defer { position += 1 }
        return bytes[position]
    }

    package mutating func bytes(_ count: Int) throws(PackFault) -> ArraySlice<UInt8> {
        guard count >= 0, count <= remaining else { throw .endsEarly }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Decodes a number in groups of seven bits, lowest first. A number that could be shorter is refused.
    package mutating func number() throws(PackFault) -> UInt64 {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while true {
            let byte = try byte()
            let group = UInt64(byte & 0x7F)
            guard shift < 63 || group <= 1 else { throw .notCanonical }
            number |= group << shift
            if byte < 0x80 {
                guard byte != 0 || shift == 0 else { throw .notCanonical }
                return number
            }
            shift += 7
            guard shift < 70 else { throw .notCanonical }
        }
    }

    /// Decodes a number that is the count or length of the following bytes.
    package mutating func count(limit: Int, of what: StaticString = "length") throws(PackFault) -> Int {
        let number = try number()
        guard number <= UInt64(limit) else { throw .beyondLimit("\(what)") }
        return Int(number)
    }

    /// Decodes bytes that are preceded by their length.
    package mutating func run(limit: Int) throws(PackFault) -> ArraySlice<UInt8> {
        try bytes(try count(limit: limit))
    }

    package mutating func text(limit: Int) throws(PackFault) -> String {
        guard let text = String(validating: try run(limit: limit), as: UTF8.self) else { throw .notUTF8 }
        return text
    }

    /// Decodes a number of eight bytes, lowest first.
    package mutating func word() throws(PackFault) -> UInt64 {
        guard remaining >= 8 else { throw .endsEarly }
        defer { position += 8 }
        return (0..<8).reduce(0) { $0 | UInt64(bytes[position + $1]) << UInt64(8 * $1) }
    }

    package mutating func halfWord() throws(PackFault) -> UInt32 {
        try bytes(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Returns a reader of the next `count` bytes, and skips them here.
    package mutating func part(_ count: Int) throws(PackFault) -> ByteReader {
        guard count >= 0, count <= remaining else { throw .endsEarly }
        var part = self
        part.end = position + count
        position += count
        return part
    }

    package func expectEnd() throws(PackFault) {
        guard isAtEnd else { throw .bytesLeftOver }
    }
}

extension ArraySlice<UInt8> {
    /// Whether the bytes are UTF-8. No string is made of ASCII, which most of them are.
    var isUTF8: Bool { allSatisfy { $0 < 0x80 } || String(validating: self, as: UTF8.self) != nil }
}

extension [UInt8] {
    /// Appends a number in groups of seven bits, lowest first.
    package mutating func append(leb128 number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    package mutating func append(littleEndian number: some FixedWidthInteger) {
        for shift in stride(from: 0, to: number.bitWidth, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// Appends bytes preceded by their length.
    package mutating func append(run: some Collection<UInt8>) {
        append(leb128: UInt64(run.count))
        append(contentsOf: run)
    }
}

/// Encoding of writers in eight bytes and of sequence numbers in as few as possible.
extension [UInt8] {
    mutating func append(_ transactionID: TransactionID) {
        append(littleEndian: transactionID.writer.number)
        append(leb128: transactionID.sequence)
    }

    mutating func append(_ vector: VersionVector) {
        append(leb128: UInt64(vector.count))
        for (writer, entry) in vector.sorted {
            append(TransactionID(writer: writer, sequence: entry.sequence))
            append(littleEndian: entry.tag.number)
        }
    }

    /// Encodes logs without gaps from the first one on: the number of transactions in each, and its tag.
    mutating func append(_ tags: FileTags) {
        append(leb128: UInt64(tags.spans.count))
        var reached: UInt64 = 0
        for span in tags.spans {
            append(leb128: span.first - reached)
            append(leb128: span.last - span.first)
            append(littleEndian: span.tag.number)
            reached = span.last
        }
    }
}

/// The remaining bytes that the decoded paths of one file may take. Prefix compression lets a small file expand.
struct DecodedPathBudget: Sendable {
    private var left = Self.mostBytes

    static let mostBytes = 128 << 20

    mutating func spend(_ bytes: Int) throws(PackFault) {
        guard bytes <= left else { throw .beyondLimit("bytes of all paths") }
        left -= bytes
    }
}

extension ByteReader {
    /// The limit of writers in one mirror.
    static let mostWriters = 4096

    mutating func transactionID() throws(PackFault) -> TransactionID {
        let writer = WriterID(number: try word())
        let sequence = try number()
        guard sequence <= PackName.greatestNumber else { throw .beyondLimit("sequence number") }
        return TransactionID(writer: writer, sequence: sequence)
    }

    /// Decodes the last transactions of writers, in the order of the writers.
    mutating func versionVector() throws(PackFault) -> VersionVector {
        let count = try count(limit: min(Self.mostWriters, remaining / 13), of: "writers")
        var (entries, last) = ([(WriterID, VersionVector.Entry)](), WriterID?.none)
        for _ in 0..<count {
            let dot = try transactionID()
            let tag = FileTag(number: try halfWord())
            guard dot.sequence > 0, last.map({ $0 < dot.writer }) ?? true else { throw .notCanonical }
            last = dot.writer
            entries.append((dot.writer, VersionVector.Entry(sequence: dot.sequence, tag: tag)))
        }
        return VersionVector(entries)
    }

    mutating func fileTags() throws(PackFault) -> FileTags {
        let count = try count(limit: remaining / 6, of: "logs")
        var (spans, reached) = ([FileTags.Span](), UInt64(0))
        for _ in 0..<count {
            let (gap, length) = (try number(), try number())
            guard gap > 0, gap <= PackName.greatestNumber, length <= PackName.greatestNumber,
                reached + gap + length <= PackName.greatestNumber
            else { throw .beyondLimit("sequence number") }
            let first = reached + gap
            reached = first + length
            spans.append(FileTags.Span(first: first, last: reached, tag: FileTag(number: try halfWord())))
        }
        return FileTags(sorted: spans)
    }

    mutating func stamp() throws(PackFault) -> Stamp {
        let stamp = Stamp(number: try number())
        guard stamp.isValid else { throw .beyondLimit("stamp") }
        return stamp
    }

    /// Decodes a path, which is stored as the number of bytes that it shares with the path before, and the rest.
    mutating func path(
        after previous: Path?, _ budget: inout DecodedPathBudget, mayRepeat: Bool = false
    ) throws(PackFault) -> Path {
        let before = previous?.bytes ?? []
        let shared = try count(limit: before.count, of: "bytes that paths share")
        let rest = try run(limit: Path.mostComponents * (Path.longestComponent + 3))
        if let next = rest.first, shared < before.count, before[shared] == next { throw .notCanonical }
        try budget.spend(shared + rest.count)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(shared + rest.count)
        bytes += before[..<shared]
        bytes += rest
        let path = try Path(decoding: bytes)
        if let previous, !(previous < path), !(mayRepeat && previous == path) { throw .notCanonical }
        return path
    }
}

extension [UInt8] {
    mutating func append(_ path: Path, after previous: Path?) {
        let shared = previous.map { path.sharedBytes(with: $0) } ?? 0
        append(leb128: UInt64(shared))
        append(run: path.bytes[shared...])
    }
}

// MARK: Names and regions

extension [UInt8] {
    /// Encodes a writer: 0 for the writer of the file, or 1 and its number.
    mutating func append(_ writer: WriterID, in fileWriter: WriterID) {
        append(writer == fileWriter ? 0 : 1)
        if writer != fileWriter { append(littleEndian: writer.number) }
    }

    /// Encodes the name of a published value.
    mutating func append(_ name: AtomName, in fileWriter: WriterID) {
        append(littleEndian: name.id.number)
        let dot = name.dot ?? TransactionID(writer: fileWriter, sequence: 0)
        append(dot.writer, in: fileWriter)
        append(leb128: dot.sequence)
    }

    /// Encodes the number of edges of a region, or 0 for everything at and below `path`, and each edge.
    mutating func append(_ region: Region, at path: Path) {
        guard region != Region(path) else { return append(leb128: 0) }
        append(leb128: UInt64(region.edges.count))
        var previous = path
        for edge in region.edges {
            append(edge, after: previous)
            previous = edge
        }
    }
}

extension ByteReader {
    mutating func writer(in fileWriter: WriterID) throws(PackFault) -> WriterID {
        switch try byte() {
        case 0: return fileWriter
        case 1:
            let writer = WriterID(number: try word())
            guard writer != fileWriter else { throw .notCanonical }
            return writer
        default: throw .notCanonical
        }
    }

    mutating func atomName(in fileWriter: WriterID) throws(PackFault) -> AtomName {
        let id = WriteID(number: try word())
        let writer = try writer(in: fileWriter)
        let sequence = try number()
        guard sequence > 0, sequence <= PackName.greatestNumber else { throw .beyondLimit("sequence number") }
        return AtomName(id, TransactionID(writer: writer, sequence: sequence))
    }

    mutating func region(at path: Path, _ paths: inout DecodedPathBudget) throws(PackFault) -> Region {
        let count = try count(limit: remaining / 2, of: "edges of a region")
        if count == 0 { return Region(path) }
        var edges: [Path] = []
        for _ in 0..<count {
            let edge = try self.path(after: edges.last ?? path, &paths, mayRepeat: edges.isEmpty)
            guard path.isPrefix(of: edge) else { throw .contradiction("a region outside of its path") }
            edges.append(edge)
        }
        guard let region = Region(validating: edges), region != Region(path) else { throw .notCanonical }
        return region
    }

    mutating func reason() throws(PackFault) -> Atom.Reason {
        guard let reason = Atom.Reason(rawValue: try byte()) else { throw .unknownTag }
        return reason
    }

    /// Decodes a stamp that is stored as its distance from another.
    mutating func stamp(after common: Stamp) throws(PackFault) -> Stamp {
        let (sum, overflows) = common.number.addingReportingOverflow(try number())
        let stamp = Stamp(number: sum)
        guard !overflows, stamp.isValid else { throw .beyondLimit("stamp") }
        return stamp
    }
}

extension WrittenValue {
    init(decoding bytes: [UInt8]) throws(PackFault) {
        switch bytes {
        case [CanonicalValue.Tag.deleted.rawValue]: self = .deleted
        case [CanonicalValue.Tag.left.rawValue]: self = .left
        default: self = .value(try CanonicalValue(decoding: bytes))
        }
    }
}
