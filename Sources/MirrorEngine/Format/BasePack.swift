/// A file with the whole state of a host. It supersedes the writer's earlier files.
package struct BasePack: Hashable, Sendable {
    package var mirror: MirrorID
    package var writer: WriterID
    /// The writer's last transaction that the base includes.
    package var last: UInt64
    /// The published values of all writers, and the transactions of other writers that the writer knew.
    package var state: SharedState
    /// All earlier files with transactions of the writer. Transactions that none of them contains are published by the
    /// base itself.
    package var tags: FileTags
    /// The names of the hosts, as far as the writer knew them.
    package var labels: [WriterID: String]
    /// The logs that the writer had joined although logs before them were missing, or nil if the base must be read as a
    /// whole: its values may differ from what its transactions lead to, or an earlier version wrote it.
    package var beyond: [WriterID: FileTags]?
    /// The digest of the deletions among the values. It shows whether the writer has forgotten some.
    package var deletions: UInt64
    /// Whether the values were not read, because the reader has all of them.
    package var skipsValues = false

    package init(
        mirror: MirrorID, writer: WriterID, last: UInt64, state: SharedState, tags: FileTags,
        labels: [WriterID: String] = [:], beyond: [WriterID: FileTags]? = [:]
    ) {
        (self.mirror, self.writer, self.last, self.labels) = (mirror, writer, last, labels)
        self.beyond = beyond
        deletions = beyond == nil ? 0 : state.live.deletions { _ in true }
        self.state = state
        self.state.vector.forget(writer)
        self.tags = FileTags(sorted: tags.spans.filter { $0.last <= last })
    }

    /// Returns the state with the writer's own last transaction, for the file with this hash.
    func state(hash: ContentHash) -> SharedState {
        guard last > 0 else { return state }
        var state = state
        state.vector.raise(
            writer, to: VersionVector.Entry(sequence: last, tag: tags.tag(of: last) ?? FileTag(hash)))
        return state
    }

    /// Returns all files with transactions of the writer, for the file with this hash.
    func tags(hash: ContentHash) -> FileTags {
        var tags = tags
        let reached = tags.spans.last?.last ?? 0
        if reached < last { tags.insert(FileTags.Span(first: reached + 1, last: last, tag: FileTag(hash))) }
        return tags
    }

    /// The number of values in each record but the last.
    private static let valuesInRecord = 256
}

extension BasePack {
    package func encoded() -> EncodedPack {
        var envelope = Envelope(kind: PackName.Kind.base.rawValue)
        envelope.fields[.mirror] = mirror.bytes
        envelope.setWriter(writer)
        envelope.set(.last, last)
        envelope.set(.version, Envelope.version)
        envelope.set(state.vector)
        var bytes: [UInt8] = []
        bytes.append(tags)
        envelope.fields[.tags] = bytes
        envelope.fields[.forks] = forkBytes
        envelope.fields[.labels] = labelBytes
        envelope.fields[.beyond] = beyondBytes
        let atoms = state.live.atoms
        let blobTable = BlobTable(of: atoms.lazy.map(\.value))
        envelope.setBlobs(blobTable)
        envelope.records = stride(from: 0, to: atoms.count, by: Self.valuesInRecord).map { start in
            record(atoms[start..<min(start + Self.valuesInRecord, atoms.count)], blobTable)[...]
        }
        if !state.gone.isEmpty {
            envelope.set(.gone, UInt64(state.gone.count))
            envelope.records.append(recordOfGone[...])
        }
        let (encoded, hash) = envelope.encoded()
        let name = PackName(kind: .base, number: last, hash: hash)
        return EncodedPack(name: name, bytes: encoded, hash: hash, blobs: blobTable.blobs)
    }

    private var forkBytes: [UInt8]? {
        guard !state.forks.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for (writer, sequence) in state.forks.sorted(by: { $0.key < $1.key }) {
            bytes.append(TransactionID(writer: writer, sequence: sequence))
        }
        return bytes
    }

    private var labelBytes: [UInt8]? {
        guard !labels.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for (writer, label) in labels.sorted(by: { $0.key < $1.key }) {
            bytes.append(littleEndian: writer.number)
            bytes.append(run: label.utf8)
        }
        return bytes
    }

    private var beyondBytes: [UInt8]? {
        guard let beyond else { return nil }
        var bytes: [UInt8] = []
        bytes.append(littleEndian: deletions)
        for (writer, logs) in beyond.sorted(by: { $0.key < $1.key }) {
            bytes.append(littleEndian: writer.number)
            bytes.append(logs)
        }
        return bytes
    }

    /// Encodes the number of values, and for each its path, name, stamp, reason, region and value.
    private func record(_ atoms: ArraySlice<Atom>, _ blobTable: BlobTable) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(leb128: UInt64(atoms.count))
        var previous: Path?
        for atom in atoms {
            bytes.append(atom.path, after: previous)
            previous = atom.path
            bytes.append(atom.name, in: writer)
            bytes.append(leb128: atom.stamp.number)
            bytes.append(atom.reason.rawValue)
            bytes.append(atom.region, at: atom.path)
            bytes.append(atom.value, blobTable)
        }
        return bytes
    }

    /// Encodes the names of replaced values, and for each the region from which it was removed.
    private var recordOfGone: [UInt8] {
        var bytes: [UInt8] = []
        for (name, region) in state.gone.sorted(by: { $0.key < $1.key }) {
            bytes.append(name, in: writer)
            bytes.append(leb128: UInt64(region.edges.count))
            var previous: Path?
            for edge in region.edges {
                bytes.append(edge, after: previous)
                previous = edge
            }
        }
        return bytes
    }
}

// MARK: Decoding

extension BasePack {
    /// - Parameter hasAll: Whether the reader has all values of a base, which is then returned without them.
    init(
        _ envelope: Envelope, _ blobs: [BlobName: Blob] = [:], unless hasAll: (BasePack) -> Bool = { _ in false }
    ) throws(PackFault) {
        try envelope.expect(
            [.mirror, .writer, .last, .version, .vector, .tags], optional: [.blobs, .forks, .labels, .gone, .beyond])
        mirror = try envelope.mirror()
        writer = try envelope.writer()
        last = try envelope.required(.last)
        guard last <= PackName.greatestNumber else { throw .beyondLimit("sequence number") }
        var reader = ByteReader(envelope.fields[.tags] ?? [])
        tags = try reader.fileTags()
        try reader.expectEnd()
        (labels, state, deletions) = ([:], SharedState(), 0)
        state.vector = try envelope.versionVector()
        guard state.vector[writer] == 0 else { throw .contradiction("knowledge of its own transactions") }
        guard tags.spans.last?.last ?? 0 <= last else { throw .contradiction("its own last transaction") }
        state.forks = try Self.forks(envelope)
        labels = try Self.labels(envelope)
        try readBeyond(envelope)
        // Names of replaced values are not part of the vector.
        skipsValues = try envelope.number(.gone) == nil && hasAll(self)
        if skipsValues { return }
        try readRecords(envelope, blobs)
        guard beyond == nil || deletions == state.live.deletions(where: { _ in true }) else {
            throw .contradiction("digest of deletions")
        }
    }

    private mutating func readRecords(_ envelope: Envelope, _ blobs: [BlobName: Blob]) throws(PackFault) {
        var (blobTable, paths, last) = (try envelope.blobTable(blobs), DecodedPathBudget(), Atom?.none)
        let (goneCount, allRecords) = (try envelope.number(.gone), try envelope.decodedRecords())
        let records = allRecords.dropLast(goneCount == nil ? 0 : 1)
        for (number, record) in records.enumerated() {
            try readRecord(record, isLast: number == records.count - 1, &last, &blobTable, &paths)
        }
        if let goneCount { try readGone(Array(allRecords.last ?? []), goneCount, &paths) }
        try blobTable.expectAllUsed()
    }

    private mutating func readRecord(
        _ record: ArraySlice<UInt8>, isLast: Bool, _ last: inout Atom?, _ blobTable: inout BlobTable,
        _ paths: inout DecodedPathBudget
    ) throws(PackFault) {
        var reader = ByteReader(Array(record))
        let count = try reader.count(limit: Self.valuesInRecord, of: "values")
        guard isLast ? count > 0 : count == Self.valuesInRecord else { throw .notCanonical }
        var previous: Path?
        for _ in 0..<count {
            let path = try reader.path(after: previous, &paths, mayRepeat: true)
            previous = path
            guard path.key != nil else { throw .contradiction("a value of a whole domain") }
            let name = try reader.atomName(in: writer)
            guard name.dot?.writer != writer || name.dot?.sequence ?? 0 <= self.last else {
                throw .contradiction("a value after the last transaction")
            }
            let (stamp, reason) = (try reader.stamp(), try reader.reason())
            let region = try reader.region(at: path, &paths)
            let value = try reader.writtenValue(&blobTable)
            guard path.merged?.part.permits(value) ?? true else { throw .contradiction("the value of a part") }
            let atom = Atom(name, at: path, value, stamp: stamp, reason: reason, in: region)
            if let last, !last.isSorted(before: atom) { throw .notCanonical }
            state.live.insert(atom)
            last = atom
        }
        try reader.expectEnd()
    }

    private mutating func readGone(
        _ record: [UInt8], _ count: UInt64, _ paths: inout DecodedPathBudget
    ) throws(PackFault) {
        var (reader, last) = (ByteReader(record), AtomName?.none)
        guard count > 0 else { throw .notCanonical }
        while !reader.isAtEnd {
            let name = try reader.atomName(in: writer)
            if let last, !(last < name) { throw .notCanonical }
            last = name
            var edges: [Path] = []
            for _ in 0..<(try reader.count(limit: reader.remaining / 2, of: "edges of a region")) {
                edges.append(try reader.path(after: edges.last, &paths))
            }
            guard !edges.isEmpty, let region = Region(validating: edges) else { throw .notCanonical }
            state.gone[name] = region
        }
        guard state.gone.count == count else { throw .contradiction("count of replaced values") }
    }

    private static func forks(_ envelope: Envelope) throws(PackFault) -> [WriterID: UInt64] {
        guard let bytes = envelope.fields[.forks] else { return [:] }
        var (reader, forks, last) = (ByteReader(bytes), [WriterID: UInt64](), WriterID?.none)
        while !reader.isAtEnd {
            let dot = try reader.transactionID()
            guard dot.sequence > 0, last.map({ $0 < dot.writer }) ?? true else { throw .notCanonical }
            (forks[dot.writer], last) = (dot.sequence, dot.writer)
            guard forks.count <= ByteReader.mostWriters else { throw .beyondLimit("writers") }
        }
        guard !forks.isEmpty else { throw .notCanonical }
        return forks
    }

    private mutating func readBeyond(_ envelope: Envelope) throws(PackFault) {
        guard let bytes = envelope.fields[.beyond] else { return }
        var (reader, beyond, last) = (ByteReader(bytes), [WriterID: FileTags](), WriterID?.none)
        deletions = try reader.word()
        while !reader.isAtEnd {
            let writer = WriterID(number: try reader.word())
            guard last.map({ $0 < writer }) ?? true else { throw .notCanonical }
            let logs = try reader.fileTags()
            guard let first = logs.spans.first?.first, writer != self.writer, first > state.vector[writer] + 1 else {
                throw .contradiction("logs after a gap")
            }
            (beyond[writer], last) = (logs, writer)
            guard beyond.count <= ByteReader.mostWriters else { throw .beyondLimit("writers") }
        }
        self.beyond = beyond
    }

    private static func labels(_ envelope: Envelope) throws(PackFault) -> [WriterID: String] {
        guard let bytes = envelope.fields[.labels] else { return [:] }
        var (reader, labels, last) = (ByteReader(bytes), [WriterID: String](), WriterID?.none)
        while !reader.isAtEnd {
            let writer = WriterID(number: try reader.word())
            guard last.map({ $0 < writer }) ?? true else { throw .notCanonical }
            (labels[writer], last) = (try reader.text(limit: WriterNote.longestText), writer)
        }
        guard !labels.isEmpty else { throw .notCanonical }
        return labels
    }
}
