import Digests
import MirrorEngine
import PropertyLists
import TestSupport
import Testing

enum PackSamples {
    static let mirror = MirrorID(high: 0x4F0C_2B00_0000_0001, low: 2)
    static let writer = WriterID(number: 0x9C6E_9B8A_E864_CB3D)
    static let other = WriterID(number: 77)

    static var log: LogPack {
        let knowledge = VersionVector([TransactionID(writer: other, sequence: 9)])
        let transactions = [41, 42].map { (sequence: UInt64) in
            let transactionID = TransactionID(writer: writer, sequence: sequence)
            let write = { (key: String, value: WrittenValue, bump: UInt64) in
                let path = Path(domain: "com.example.app", key: key)
                let seen = [(path, writer), (path, other), (path.appending("x"), other)].map { place, author in
                    let transactionID = TransactionID(writer: author, sequence: 3)
                    return ReplacedWrite(
                        path: place, transactionID: transactionID, id: WriteID(derivedFrom: transactionID, place))
                }
                return Transaction.StampedWrite(
                    path: path, stamp: Stamp(number: 1000 + bump), value: value,
                    id: WriteID(number: sequence << 40 + bump), seen: bump > 0 ? seen.sorted() : [])
            }
            return Transaction(
                id: transactionID, stamp: Stamp(number: 1000),
                writes: [write("a", .of(["x": 1, "y": [true]]), 0), write("b", .deleted, 5), write("c", .left, 0)])
        }
        var lineage = Lineage()
        lineage[writer] = [WriterID(number: 7), WriterID(number: 300)]
        return LogPack(
            mirror: mirror, writer: writer, previous: ContentHash(of: [1]), knowledge: knowledge,
            formerKnowledge: VersionVector(), transactions: transactions, lineage: lineage)
    }

    static func base(writes count: Int) -> BasePack {
        let writes = (0..<count).map(write)
        return BasePack(
            mirror: mirror, writer: writer, last: 40, anchor: ContentHash(of: [2]),
            knowledge: VersionVector([TransactionID(writer: other, sequence: 9)]), writes: writes,
            digest: ContentHash(of: [3]))
    }

    private static func write(_ number: Int) -> VersionedWrite {
        let transactionID = TransactionID(writer: number % 3 == 0 ? other : writer, sequence: UInt64(number % 40 + 1))
        let value: WrittenValue = number % 5 == 0 ? .deleted : .text("\(number)")
        let path = Path(domain: "d", key: String(1000 + number))
        let seen =
            number % 4 == 0 ? [ReplacedWrite(path: path, transactionID: transactionID, id: WriteID(number: 9))] : []
        return VersionedWrite(
            path: path, stamp: Stamp(number: 7), transactionID: transactionID, value: value,
            id: WriteID(number: UInt64(number)),
            seen: seen)
    }

    static var note: WriterNote {
        WriterNote(
            mirror: mirror, writer: writer, number: 1, label: "Büro", platform: "linux", software: "1.0", hasLeft: true)
    }

    static var all: [EncodedPack] {
        [log.encoded(), base(writes: 5).encoded(), base(writes: 0).encoded(), note.encoded()]
    }
}

@Suite struct `A pack` {
    @Test func `is decoded as it was encoded, and encoded as the same bytes`() throws {
        let log = try Pack(decoding: PackSamples.log.encoded().bytes)
        #expect(log.content == .log(PackSamples.log))
        for count in [0, 1, 255, 256, 257, 600] {
            let base = PackSamples.base(writes: count)
            #expect(try Pack(decoding: base.encoded().bytes).content == .base(base))
        }
        #expect(try Pack(decoding: PackSamples.note.encoded().bytes).content == .note(PackSamples.note))
        let marker = Marker(mirror: PackSamples.mirror)
        #expect(try Marker(decoding: marker.encoded()) == marker)
    }

    /// A log of the first version stores a context for each transaction, and for each write the one that it replaced.
    @Test func `of the first version is read, with identifiers that every host derives alike`() throws {
        let digits = Array(Self.firstVersion.filter { !$0.isWhitespace }.utf8)
        let bytes = try #require(Hexadecimal.bytes(ofDigits: digits[...]))
        guard case .log(let log) = try Pack(decoding: bytes).content else {
            Issue.record("no log")
            return
        }
        let (first, other) = (
            TransactionID(writer: log.writer, sequence: 1), TransactionID(writer: PackSamples.other, sequence: 3)
        )
        let paths = ["a", "b"].map { Path(domain: "d", key: $0) }
        #expect(log.transactions[0].writes.map(\.id) == paths.map { WriteID(derivedFrom: first, $0) })
        #expect(
            log.transactions[0].writes.map(\.seen)
                == [
                    [],
                    [ReplacedWrite(path: paths[1], transactionID: other, id: WriteID(derivedFrom: other, paths[1]))],
                ])
    }

    private static let firstVersion = """
        70 72 66 6d 6c 31 02 10 01 00 00 00 00 2b 0c 4f 02 00 00 00 00 00 00 00 04 08 3d cb 64 e8 8a 9b
        6e 4c 06 01 01 08 01 01 0c 01 01 0e 0a 01 4d 00 00 00 00 00 00 00 09 2f 80 80 80 e0 8d 84 dd cb
        01 00 02 00 06 01 01 64 01 01 61 00 00 09 0b 01 01 78 0a 02 04 01 03 05 01 62 00 01 4d 00 00 00
        00 00 00 00 03 01 00 ff 73 39 f0 01 00 00 00 00 00 00 00 bb 00 00 00 00 00 00 00 00 00 00 00 00
        00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 3a 02 57 70 e7
        19 30 5d 74 1e f0 f7 ca 8d 92 ce 04 96 94 e9 91 db f7 41 e6 c8 74 1b 29 68 77 a1
        """

    @Test func `is rejected with any bit flipped`() {
        for pack in PackSamples.all {
            for bit in 0..<pack.bytes.count * 8 {
                var flipped = pack.bytes
                flipped[bit / 8] ^= 1 << UInt8(bit % 8)
                #expect(throws: PackFault.self) { try Pack(decoding: flipped) }
            }
        }
    }

    @Test func `is rejected at any other length`() {
        for pack in PackSamples.all {
            for count in pack.bytes.indices {
                #expect(throws: PackFault.self) { try Pack(decoding: Array(pack.bytes.prefix(count))) }
            }
            #expect(throws: PackFault.self) { try Pack(decoding: pack.bytes + [0]) }
        }
    }

    /// A valid hash and valid checksums do not protect against a pack that was crafted on purpose.
    @Test func `never traps, and is canonical, even from a hostile writer`() throws {
        var generator = SeededGenerator(stream: "hostile packs")
        var accepted = 0
        for round in 0..<4000 {
            let pack = PackSamples.all[round % 4].bytes
            var bytes = Array(pack.dropLast(32))
            for _ in 0..<Int.random(in: 1...2, using: &generator) {
                bytes[Int.random(in: 4..<bytes.count - 48, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            bytes += ContentHash(of: bytes).bytes
            guard let read = try? Pack(decoding: bytes), !read.hasUnknownFields else { continue }
            accepted += 1
            let written = read.encoded.bytes
            // A file of another version is rewritten in the current one.
            let isSame =
                written == bytes
                || Pack.version(of: written) != Pack.version(of: bytes)
                    && (try? Pack(decoding: written))?.content == read.content
            #expect(isSame, "\(Seed.ofThisRun) round \(round)")
        }
        #expect(accepted > 0)
    }

    @Test func `is accepted only under its own name and in its own mirror`() throws {
        let pack = PackSamples.log.encoded()
        let address = PackAddress(writer: PackSamples.writer, name: pack.name)
        _ = try Pack(decoding: pack.bytes, at: address, of: PackSamples.mirror)
        let elsewhere = PackAddress(writer: PackSamples.other, name: pack.name)
        #expect(throws: PackFault.contradiction("name")) {
            try Pack(decoding: pack.bytes, at: elsewhere, of: PackSamples.mirror)
        }
        #expect(throws: PackFault.otherMirror) {
            try Pack(decoding: pack.bytes, at: address, of: MirrorID(high: 1, low: 1))
        }
    }

    @Test func `knows of no transaction before the first`() throws {
        var base = PackSamples.base(writes: 1)
        base.knowledge = VersionVector([TransactionID(writer: PackSamples.other, sequence: 1)])
        // The number 1 after the only writer in the header's vector.
        var bytes = base.encoded().bytes
        let vector: [UInt8] = [1] + [77, 0, 0, 0, 0, 0, 0, 0]
        let at = try #require(bytes.indices.first { Array(bytes[$0...].prefix(9)) == vector })
        bytes[at + 9] = 0
        let hashed = Array(bytes.dropLast(32))
        #expect(throws: PackFault.notCanonical) { try Pack(decoding: hashed + ContentHash(of: hashed).bytes) }
    }

    @Test func `is printed as lines of text`() throws {
        let lines = try Pack(decoding: PackSamples.log.encoded().bytes).lines
        #expect(lines[1] == "mirror 4f0c2b00000000010000000000000002")
        let writes = PackSamples.log.transactions[0].writes
        #expect(lines.contains(#"    :com.example.app:a = {"x":1,"y":[true]} as \#(writes[0].id)"#))
        let replaced = writes[1].seen.map(\.id.description).joined(separator: " ")
        #expect(lines.contains("    :com.example.app:b = deleted at 0.1005 as \(writes[1].id) over \(replaced)"))
    }
}

extension Pack {
    /// The pack, encoded again.
    fileprivate var encoded: EncodedPack {
        switch content {
        case .log(let log): log.encoded()
        case .base(let base): base.encoded()
        case .note(let note): note.encoded()
        }
    }
}

@Suite struct `The name of a pack` {
    @Test func `is parsed from its path`() {
        for pack in PackSamples.all { #expect(PackName(pack.name.description) == pack.name) }
        #expect(PackName("l/000000000041.2e9f0a77d1.log")?.number == 41)
        #expect(PackName("who-0001.7b1d9a22c4")?.kind == .note)
    }

    @Test(arguments: [
        "", "l/41.2e9f0a77d1.log", "l/000000000041.2e9f0a77d1.base", "l/000000000041.2e9f0a77d.log",
        "l/000000000041.2e9f0a77d1.log.sync-conflict", "l/0000000000410.2e9f0a77d1.log",
        "b/000000000041.2E9F0A77D1.base",
        "l/000000000041.2e9f0a77d1 (1).log", "who-001.7b1d9a22c4", "~q8x2.tmp", ".DS_Store",
        "l/-00000000041.2e9f0a77d1.log",
        "l/00000000004１.2e9f0a77d1.log", "l/000000000041..2e9f0a77d1.log", "l/000000000041.2e9f0a77di.log",
    ])
    func `has only one form`(_ path: String) { #expect(PackName(path) == nil) }

    @Test func `is valid on every medium`() {
        for pack in PackSamples.all {
            let path = PackAddress(writer: PackSamples.writer, name: pack.name).description
            #expect(path.utf8.count <= 100)
            #expect(path.split(separator: "/").allSatisfy { $0.utf8.count <= 60 })
            #expect(path.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789.-/".utf8.contains($0) })
        }
    }
}
