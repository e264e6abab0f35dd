import PropertyLists
import TestSupport
import Testing

@testable import MirrorEngine

/// A host that has joined a log and a base of one writer, and what the next base of another writer contains.
private struct Reader {
    static let (author, other) = (WriterID(number: 2), WriterID(number: 3))
    var local = LocalState(mirror: PackSamples.mirror, writer: WriterID(number: 1))
    /// The files that the author published.
    private(set) var tags = FileTags()

    /// Joins two logs of the author, with a transaction each.
    init() throws {
        for sequence in [1, 2] as [UInt64] { try join(Self.log(sequence)) }
    }

    /// A log with one transaction, which writes a key of its number.
    static func log(
        _ sequence: UInt64, by author: WriterID = Self.author, value: String = "v", id: UInt64? = nil
    ) -> LogPack {
        let path = Path(domain: "d", key: "k\(sequence)")
        let change = Change(
            WriteID(number: id ?? sequence << 8 | author.number), at: path, .text(value),
            stamp: Stamp(number: sequence))
        return LogPack(
            mirror: PackSamples.mirror, writer: author, first: sequence, previous: nil, knowledge: VersionVector(),
            transactions: [Transaction([change])])
    }

    mutating func join(_ log: LogPack) throws {
        let pack = try Pack(decoding: log.encoded().bytes)
        local.apply(local.record(ofJoining: pack, at: 0))
        tags.insert(FileTags.Span(first: log.first, last: log.last, tag: FileTag(pack.hash)))
    }

    mutating func join(_ base: BasePack) throws {
        local.apply(local.record(ofJoining: try decoded(base), at: 0))
    }

    /// The base of a host that has joined the same logs.
    var base: BasePack {
        BasePack(mirror: PackSamples.mirror, writer: Self.other, last: 0, state: local.shared, tags: FileTags())
    }

    func decoded(_ base: BasePack) throws -> Pack {
        try Pack(decoding: base.encoded().bytes, unless: EngineStatus(engine).hasAll)
    }

    var engine: Engine {
        Engine(local, profile: Engine.Profile(label: "l", platform: "p", software: "s"))
    }

    func skips(_ base: BasePack) throws -> Bool {
        guard case .base(let decoded) = try decoded(base).content else { return false }
        #expect(!decoded.skipsValues || decoded.state.live.count == 0)
        return decoded.skipsValues
    }
}

@Suite struct `The values of a base` {
    private static let tag = FileTag(number: 9)
    private static let replaced = AtomName(WriteID(number: 7), TransactionID(writer: Reader.author, sequence: 5))

    private static let rows: [(String, skips: Bool, change: @Sendable (inout BasePack, Reader) throws -> Void)] = [
        ("if all transactions are known", true, { _, _ in }),
        (
            "if fewer are known there", true,
            { base, reader in
                let first = try #require(reader.tags.spans.first)
                base.state.vector = VersionVector([(Reader.author, .init(sequence: 1, tag: first.tag))])
            }
        ),
        (
            "unless one is from another file", false,
            { base, _ in base.state.vector = VersionVector([(Reader.author, .init(sequence: 1, tag: tag))]) }
        ),
        (
            "unless one is unknown here", false,
            { base, _ in base.state.vector.raise(Reader.author, to: .init(sequence: 3, tag: tag)) }
        ),
        (
            "unless the base publishes one itself", false,
            { base, _ in base.last = 1 }
        ),
        (
            "unless a writer is unknown here", false,
            { base, _ in base.state.vector.raise(WriterID(number: 9), to: .init(sequence: 1, tag: tag)) }
        ),
        (
            "unless its deletions differ", false,
            { base, _ in
                let name = AtomName(WriteID(number: 8), TransactionID(writer: Reader.author, sequence: 1))
                base.state.live.insert(
                    Atom(name, at: Path(domain: "d", key: "x"), .deleted, stamp: Stamp(number: 1)))
                base.deletions = base.state.live.deletions { _ in true }
            }
        ),
        ("unless it names replaced values", false, { base, _ in base.state.gone = [replaced: Region(edges: "k")] }),
        ("unless it is the reader's own", false, { base, _ in base.writer = WriterID(number: 1) }),
        ("unless it has a fork", false, { base, _ in base.state.forks = [WriterID(number: 9): 1] }),
        (
            "unless it has values after a gap", false,
            { base, _ in
                base.beyond = [Reader.author: FileTags([FileTags.Span(first: 4, last: 4, tag: tag)])]
            }
        ),
        (
            "unless it must be read as a whole", false, { base, _ in (base.beyond, base.deletions) = (nil, 0) }
        ),
    ]

    @Test(arguments: rows.indices) func `are skipped`(_ index: Int) throws {
        let (what, skips, change) = Self.rows[index]
        let reader = try Reader()
        var base = reader.base
        try change(&base, reader)
        #expect(try reader.skips(base) == skips, "\(what)")
    }

    @Test func `are not skipped where changes wait`() throws {
        var reader = try Reader()
        reader.local.outbox = Reader.log(1).transactions
        #expect(try !reader.skips(reader.base))
    }

    @Test func `are not skipped after a fork`() throws {
        var reader = try Reader()
        let base = reader.base
        try reader.join(Reader.log(2, value: "of a copy"))
        #expect(!reader.local.shared.forks.isEmpty)
        #expect(try !reader.skips(base))
    }

    @Test func `that were skipped change nothing`() throws {
        var reader = try Reader()
        let before = reader.local.shared
        try reader.join(reader.base)
        #expect(reader.local.shared == before)
        #expect(reader.local.peers[Reader.other]?.joined.count == 1)
    }

    @Test func `are read if that was decided before something else arrived`() throws {
        let reader = try Reader()
        let pack = try reader.decoded(reader.base)
        var engine = reader.engine
        let folders = Listing(folders: [Reader.other: [pack.address.name.description: pack.size]])
        let moment = Moment(now: 1_750_000_000_000, random: 1)
        _ = engine.handle(.directory(.marked([PackSamples.mirror])), at: moment)
        #expect(engine.handle(.listed(folders), at: moment).contains(.fetch([pack.address])))
        // A copy of the author's store publishes another file under the same number.
        let copy = try Pack(decoding: Reader.log(2, value: "of a copy").encoded().bytes)
        let actions = engine.handle(.fetched([copy.address: .pack(copy), pack.address: .pack(pack)]), at: moment)
        // Logs are joined after bases, so the base is joined first.
        #expect(!actions.contains(.fetch([pack.address])))
        let late = engine.handle(.fetched([pack.address: .pack(pack)]), at: moment)
        #expect(late.contains(.fetch([pack.address])))
    }

    @Test func `after a gap make their logs known as soon as the gap is closed`() throws {
        var (writer, reader) = (try Reader(), try Reader())
        try writer.join(Reader.log(4))
        #expect(writer.local.shared.vector[Reader.author] == 2)
        let base = writer.local.base
        #expect(base.beyond?[Reader.author]?.spans.map(\.first) == [4])
        let other = BasePack(
            mirror: base.mirror, writer: Reader.other, last: 0, state: base.state, tags: FileTags(),
            beyond: base.beyond)
        try reader.join(other)
        #expect(reader.local.shared.live == writer.local.shared.live)
        // The reader has not joined the log itself either.
        #expect(reader.local.base.beyond == base.beyond)
        try reader.join(Reader.log(3))
        #expect(reader.local.shared.vector[Reader.author] == 4)
        #expect(reader.local.base.beyond == [:])
    }
}

@Suite struct `A write that waits, and that a copy of the store has published` {
    @Test(arguments: [true, false]) func `is replaced where its published copy was`(_ isReplaced: Bool) throws {
        var reader = try Reader()
        let published = Reader.log(1, by: WriterID(number: 7))
        reader.local.outbox = published.transactions
        reader.local.shared.apply(published.transactions[0].changes, nil)
        // Another host has the copy's file, and someone who has seen the value may have replaced it.
        var other = try Reader()
        try other.join(published)
        let name = AtomName(
            published.transactions[0].changes[0].id, TransactionID(writer: published.writer, sequence: 1))
        if isReplaced { other.local.shared.live.cover(name, Region(Path(domain: "d", key: "k1"))) }
        try reader.join(other.base)
        try reader.join(published)
        #expect(reader.local.outbox.isEmpty)
        #expect(reader.local.base.beyond == nil, "the replacement is stated by no transaction")
        #expect(reader.local.shared.live.atoms.contains { $0.name == name } == !isReplaced)
        #expect(reader.local.shared.live == other.local.shared.live)
    }
}

/// The journal does not record that the file was created, because the program was killed or the directory lost the
/// file.
@Suite struct `A write in a file of our own that another host has read` {
    @Test(arguments: [true, false], [true, false])
    func `is replaced where that host has replaced it`(_ isReplaced: Bool, _ isOfSameFile: Bool) throws {
        let author = WriterID(number: 7)
        let written = Reader.log(1, by: author)
        let encoded = written.encoded()
        var writer = LocalState(mirror: PackSamples.mirror, writer: author)
        writer.outbox = written.transactions
        writer.shared.apply(written.transactions[0].changes, nil)
        writer.apply(
            .intended(
                PackIntent(
                    pack: encoded, last: 1, published: 1, knowledge: VersionVector(), isFarewell: false,
                    references: [])))
        let published = TransactionID(writer: author, sequence: 1)
        let name = AtomName(written.transactions[0].changes[0].id, published)
        // A copy of this store may have written something else into its first file.
        let read = isOfSameFile ? written : Reader.log(1, by: author, id: 99)
        var other = try Reader()
        try other.join(read)
        if isReplaced {
            other.local.shared.live.cover(
                AtomName(read.transactions[0].changes[0].id, published), Region(Path(domain: "d", key: "k1")))
        }
        writer.apply(writer.record(ofJoining: try Pack(decoding: other.base.encoded().bytes), at: 0))
        writer.apply(.created(encoded.name, at: 0))
        #expect(writer.outbox.isEmpty && writer.sequence == 1)
        #expect(writer.folder.tip == encoded.hash && writer.folder.created[encoded.name] != nil)
        #expect(writer.shared.live.atoms.contains { $0.name == name } == (!isReplaced || !isOfSameFile))
        if isOfSameFile { #expect(writer.shared.live == other.local.shared.live) }
    }

    /// A later write, which still waits, replaces the one in the file.
    @Test(arguments: [true, false], [true, false])
    func `remains replaced in a state that is rebuilt`(_ isOfCopy: Bool, _ isInBase: Bool) throws {
        let author = WriterID(number: 7)
        let publisher = isOfCopy ? WriterID(number: 8) : author
        let written = Reader.log(1, by: author)
        let path = written.transactions[0].changes[0].path
        let id = written.transactions[0].changes[0].id
        let later = Change(
            WriteID(number: 99), at: path, .text("later"), stamp: Stamp(number: 2),
            covers: [Cover(AtomName(id, nil), Region(path))])
        var writer = LocalState(mirror: PackSamples.mirror, writer: author)
        writer.outbox = written.transactions + [Transaction([later])]
        for transaction in writer.outbox { writer.shared.apply(transaction.changes, nil) }
        let encoded = written.encoded()
        writer.apply(
            .intended(
                PackIntent(
                    pack: encoded, last: 1, published: 1, knowledge: VersionVector(), isFarewell: false,
                    references: [])))
        let read = isOfCopy ? Reader.log(1, by: publisher, id: id.number) : written
        var other = try Reader()
        try other.join(read)
        let bytes = isInBase ? other.base.encoded().bytes : read.encoded().bytes
        writer.apply(.rebuilt([try Pack(decoding: bytes)]))
        #expect(writer.outbox.map { $0.changes.map(\.id) } == [[later.id]])
        #expect(writer.outbox[0].changes[0].covers.map(\.name.dot) == [TransactionID(writer: publisher, sequence: 1)])
        #expect(
            writer.shared.live.atoms.map(\.name).filter { [id, later.id].contains($0.id) } == [AtomName(later.id, nil)])
        #expect(writer.sequence == (isOfCopy ? 0 : 1))
    }
}
