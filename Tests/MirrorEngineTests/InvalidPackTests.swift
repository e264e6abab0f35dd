import Digests
import PropertyLists
import TestSupport
import Testing

@testable import MirrorEngine

/// A second encoder, which can make any file with valid checksums and a valid hash.
private struct RawFile {
    var kind: Character = "l"
    var fields: [(UInt64, [UInt8])] = []
    var records: [[UInt8]] = []

    var bytes: [UInt8] {
        var header: [UInt8] = []
        for (number, value) in fields { header += leb(number) + run(value) }
        var bytes = Array("prfm".utf8) + [kind.asciiValue!] + run(header)
        for record in records { bytes += run(record) + word(UInt64(CRC32C.checksum(record))).prefix(4) }
        bytes += word(UInt64(records.count)) + word(UInt64(bytes.count + 48))
        return bytes + SHA256.hash(bytes)
    }

    /// The same file with another field.
    func with(_ number: UInt64, _ value: [UInt8]?) -> RawFile {
        var file = self
        file.fields.removeAll { $0.0 == number }
        if let value { file.fields.append((number, value)) }
        file.fields.sort { $0.0 < $1.0 }
        return file
    }

    func with(records: [[UInt8]]) -> RawFile {
        var file = self
        file.records = records
        return file
    }
}

private func leb(_ number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(leb128: number)
    return bytes
}

private func word(_ number: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

private func run(_ bytes: [UInt8]) -> [UInt8] { leb(UInt64(bytes.count)) + bytes }

/// A path after another one: the number of shared bytes, and the rest.
private func path(_ keys: String, after shared: Int = 0) -> [UInt8] {
    leb(UInt64(shared)) + run(Array(Path(keys: keys).bytes.dropFirst(shared)))
}

/// The number of bytes of a path, or of the domain alone for no key.
private func length(_ keys: String) -> Int { Path(keys: keys).bytes.count }

/// The name of a value: its identifier, its writer, and its transaction.
private func name(_ id: UInt64, _ writer: UInt64? = nil, _ sequence: UInt64 = 3) -> [UInt8] {
    word(id) + (writer.map { [1] + word($0) } ?? [0]) + leb(sequence)
}

/// A change, after its path: the distance of its stamp, its identifier, its reason, what it replaces, and its value.
private func change(_ distance: UInt64 = 0, reason: UInt8 = 0, covers: [[UInt8]] = [], value: [UInt8] = [4, 1])
    -> [UInt8]
{
    leb(distance) + word(7) + [reason] + leb(UInt64(covers.count)) + covers.flatMap { $0 } + run(value)
}

private let mirror = word(1) + word(2)
private let (writer, other) = (word(5), word(6))
private let entry = other + leb(9) + [1, 2, 3, 4]

private let log = RawFile(
    kind: "l",
    fields: [(2, mirror), (4, writer), (6, leb(41)), (8, leb(41)), (12, leb(3)), (14, [1] + entry)],
    records: [leb(9) + leb(1) + path("k") + change()])

private func log(_ changes: [UInt8], count: UInt64 = 1, stamp: UInt64 = 9) -> RawFile {
    log.with(records: [leb(stamp) + leb(count) + changes])
}

/// A value of a base, after its path.
private func atom(
    _ id: UInt64 = 7, _ author: UInt64? = nil, _ sequence: UInt64 = 3, stamp: UInt64 = 9, reason: UInt8 = 0,
    region: [UInt8] = [0], value: [UInt8] = [4, 1]
) -> [UInt8] {
    name(id, author, sequence) + leb(stamp) + [reason] + region + run(value)
}

private let tags = leb(1) + leb(1) + leb(39) + [1, 2, 3, 4]

private let base = RawFile(
    kind: "b",
    fields: [(2, mirror), (4, writer), (8, leb(40)), (12, leb(3)), (14, [1] + entry), (28, tags)],
    records: [leb(1) + path("k") + atom()])

private func base(_ atoms: [UInt8], count: UInt64 = 1) -> RawFile { base.with(records: [leb(count) + atoms]) }

private let note = RawFile(
    kind: "w",
    fields: [
        (2, mirror), (4, writer), (6, leb(1)), (12, leb(3)), (14, [1] + entry), (18, [0x6C]), (20, []), (22, []),
        (24, [0]),
    ])

/// A base whose last record names replaced values.
private func gone(_ bytes: [UInt8], count: UInt64 = 1) -> RawFile {
    base.with(34, leb(count)).with(records: base.records + [bytes])
}

@Suite struct `A file with valid hashes` {
    @Test func `made by another encoder is read`() throws {
        guard case .log(let read) = try Pack(decoding: log.bytes).content else { throw PackFault.notThisFormat }
        #expect(read.first == 41 && read.transactions[0].changes[0].path == Path(keys: "k"))
        #expect(read.encoded().bytes == log.bytes)
        guard case .base(let read) = try Pack(decoding: base.bytes).content else { throw PackFault.notThisFormat }
        #expect(read.last == 40 && read.state.live.count == 1 && read.encoded().bytes == base.bytes)
        guard case .note(let read) = try Pack(decoding: note.bytes).content else { throw PackFault.notThisFormat }
        #expect(read.label == "l" && read.encoded().bytes == note.bytes)
        for (file, count) in [
            (gone(name(7) + leb(1) + path("k")), 1),
            (gone(name(7) + leb(2) + path("k") + path("m", after: length("") + 2)), 1),
        ] {
            guard case .base(let read) = try Pack(decoding: file.bytes).content else { throw PackFault.notThisFormat }
            #expect(read.state.gone.count == count && read.encoded().bytes == file.bytes)
        }
    }

    private static let limit: UInt64 = 10_413_792_000_000 << 16
    private static let most = PackName.greatestNumber
    private static let deep = Path(["d"] + Array(repeating: "a", count: 513)).bytes
    private static let longKey = Path(["d", String(repeating: "a", count: 1025)]).bytes

    static let rows: [(String, [UInt8], PackFault)] = [
        // Headers.
        ("an earlier version", log.with(12, leb(2)).bytes, .olderVersion),
        ("the first version", note.with(12, leb(1)).bytes, .olderVersion),
        ("a later version", log.with(12, leb(4)).bytes, .newerVersion(4)),
        ("a later version with any contents", log.with(12, leb(99)).with(14, [9]).bytes, .newerVersion(99)),
        ("an unknown even field", log.with(100, []).bytes, .unknownField(100)),
        ("the anchor of former bases", base.with(16, [UInt8](repeating: 0, count: 32)).bytes, .unknownField(16)),
        ("no version", log.with(12, nil).bytes, .contradiction("a header without version")),
        ("no vector", log.with(14, nil).bytes, .contradiction("fields of a header")),
        ("a field of another kind", log.with(30, other + leb(1)).bytes, .contradiction("fields of a header")),
        ("a log with a label", log.with(18, []).bytes, .contradiction("fields of a header")),
        (
            "an unknown kind",
            {
                var file = log
                file.kind = "q"
                return file.bytes
            }(), .notThisFormat
        ),
        (
            "fields in another order",
            {
                var file = log
                file.fields.swapAt(0, 1)
                return file.bytes
            }(), .notCanonical
        ),
        (
            "a field twice",
            {
                var file = log
                file.fields.append(file.fields[5])
                return file.bytes
            }(), .notCanonical
        ),
        ("a short mirror", log.with(2, [1]).bytes, .endsEarly),
        ("a long writer", log.with(4, writer + [0]).bytes, .bytesLeftOver),
        ("a number with a superfluous byte", log.with(6, [0xA9, 0]).bytes, .notCanonical),
        ("a hash that is too short", log.with(10, [1, 2]).bytes, .contradiction("length of a hash")),
        // Vectors, tags, forks and labels.
        ("a vector of no transaction", log.with(14, [1] + other + [0, 1, 2, 3, 4]).bytes, .notCanonical),
        ("a vector in descending order", log.with(14, [2] + entry + word(1) + [1, 1, 2, 3, 4]).bytes, .notCanonical),
        ("a writer twice", log.with(14, [2] + entry + entry).bytes, .notCanonical),
        ("a vector without its tag", log.with(14, [1] + other + [9]).bytes, .beyondLimit("writers")),
        (
            "a transaction beyond the limit", log.with(14, [1] + other + leb(most + 1) + [1, 2, 3, 4]).bytes,
            .beyondLimit("sequence number")
        ),
        (
            "more writers than a mirror may have",
            log.with(14, leb(4097) + (1...4097).flatMap { word(UInt64($0) << 8) + [1, 1, 2, 3, 4] }).bytes,
            .beyondLimit("writers")
        ),
        (
            "a log that knows its own transactions", log.with(14, [1] + writer + [9, 1, 2, 3, 4]).bytes,
            .contradiction("knowledge of its own transactions")
        ),
        (
            "a base that knows its own transactions", base.with(14, [1] + writer + [40, 1, 2, 3, 4]).bytes,
            .contradiction("knowledge of its own transactions")
        ),
        (
            "tags that overlap", base.with(28, leb(2) + [1, 4, 1, 2, 3, 4] + [0, 4, 1, 2, 3, 4]).bytes,
            .beyondLimit("sequence number")
        ),
        (
            "tags after the last transaction", base.with(28, leb(1) + [1, 40, 1, 2, 3, 4]).bytes,
            .contradiction("its own last transaction")
        ),
        (
            "tags beyond the limit", base.with(28, leb(1) + [1] + leb(most) + [1, 2, 3, 4]).bytes,
            .beyondLimit("sequence number")
        ),
        ("bytes after the tags", base.with(28, tags + [0]).bytes, .bytesLeftOver),
        ("no fork in a list of forks", base.with(30, []).bytes, .notCanonical),
        ("a fork before the first transaction", base.with(30, other + [0]).bytes, .notCanonical),
        ("forks in descending order", base.with(30, other + [1] + writer + [1]).bytes, .notCanonical),
        ("no label in a list of labels", base.with(32, []).bytes, .notCanonical),
        ("labels in descending order", base.with(32, other + [0] + writer + [0]).bytes, .notCanonical),
        ("a label that is no text", base.with(32, other + [1, 0xFF]).bytes, .notUTF8),
        (
            "a label that is too long", base.with(32, other + run([UInt8](repeating: 0x61, count: 257))).bytes,
            .beyondLimit("length")
        ),
        // Logs.
        ("no transaction", log.with(records: []).bytes, .contradiction("a log without a transaction")),
        ("a transaction without a change", log([], count: 0).bytes, .contradiction("a transaction without a change")),
        ("a wrong last transaction", log.with(8, leb(42)).bytes, .contradiction("count of transactions")),
        ("a first transaction 0", log.with(6, [0]).with(8, [0]).bytes, .beyondLimit("sequence number")),
        (
            "a last transaction beyond the limit", log.with(6, leb(most)).with(8, leb(most)).bytes,
            .beyondLimit("sequence number")
        ),
        ("an earliest stamp that no change has", log(path("k") + change(1)).bytes, .notCanonical),
        ("a stamp beyond the limit", log(path("k") + change(), stamp: limit).bytes, .beyondLimit("stamp")),
        (
            "a stamp that only its distance moves beyond the limit",
            log(path("k") + change() + path("m", after: length("") + 2) + change(limit - 9), count: 2).bytes,
            .beyondLimit("stamp")
        ),
        (
            "a distance that overflows",
            log(path("k") + change() + path("m", after: length("") + 2) + change(.max), count: 2).bytes,
            .beyondLimit("stamp")
        ),
        (
            "paths in descending order",
            log(path("m") + change() + path("k", after: length("") + 2) + change(), count: 2).bytes, .notCanonical
        ),
        (
            "a path that could share more",
            log(path("k") + change() + path("m", after: length("")) + change(), count: 2).bytes, .notCanonical
        ),
        (
            "a path that shares more than there is", log(leb(1) + run(Path(keys: "k").bytes) + change()).bytes,
            .beyondLimit("bytes that paths share")
        ),
        ("a path of a whole domain", log(path("") + change()).bytes, .contradiction("a change of a whole domain")),
        ("an empty path", log(leb(0) + leb(0) + change()).bytes, .beyondLimit("components of a path")),
        ("a path that is too deep", log(leb(0) + run(deep) + change()).bytes, .beyondLimit("components of a path")),
        ("a key that is too long", log(leb(0) + run(longKey) + change()).bytes, .beyondLimit("length")),
        ("an unknown reason", log(path("k") + change(reason: 4)).bytes, .unknownTag),
        ("more changes than bytes", log(path("k") + change(), count: 9).bytes, .beyondLimit("changes")),
        ("bytes after the changes", log(path("k") + change() + [0]).bytes, .bytesLeftOver),
        (
            "replaced values in descending order",
            log(path("k") + change(covers: [name(2) + [0], name(1) + [0]])).bytes, .notCanonical
        ),
        (
            "a replaced value twice", log(path("k") + change(covers: [name(2) + [0], name(2) + [0]])).bytes,
            .notCanonical
        ),
        (
            "a replaced value of no transaction", log(path("k") + change(covers: [name(2, nil, 0) + [0]])).bytes,
            .beyondLimit("sequence number")
        ),
        (
            "a replaced value beyond the limit", log(path("k") + change(covers: [name(2, 9, most + 1) + [0]])).bytes,
            .beyondLimit("sequence number")
        ),
        ("its own number written out", log(path("k") + change(covers: [name(2, 5) + [0]])).bytes, .notCanonical),
        ("an unknown form of a writer", log(path("k") + change(covers: [word(2) + [2, 3, 0]])).bytes, .notCanonical),
        (
            "more replaced values than bytes", log(path("k") + leb(0) + word(7) + [0] + leb(99) + run([4, 1])).bytes,
            .beyondLimit("replaced values")
        ),
        // Regions.
        (
            "a region that is everything, written out",
            log(path("k") + change(covers: [name(2) + leb(1) + leb(UInt64(length("k"))) + run([])])).bytes,
            .notCanonical
        ),
        (
            "a region outside of its path",
            log(path("k") + change(covers: [name(2) + leb(1) + path("m", after: length("") + 2)])).bytes,
            .contradiction("a region outside of its path")
        ),
        (
            "a region with an edge above its path",
            log(path("k.a") + change(covers: [name(2) + leb(1) + leb(UInt64(length("k"))) + run([])])).bytes,
            .notCanonical
        ),
        (
            "edges in descending order",
            log(
                path("k")
                    + change(covers: [
                        name(2) + leb(2) + path("k.b", after: length("k")) + path("k.a", after: length("k") + 2)
                    ])
            ).bytes, .notCanonical
        ),
        (
            "an edge twice",
            log(
                path("k")
                    + change(covers: [
                        name(2) + leb(2) + path("k.b", after: length("k")) + path("k.b", after: length("k.b"))
                    ])
            ).bytes, .notCanonical
        ),
        (
            "more edges than bytes", log(path("k") + change(covers: [name(2) + leb(99)])).bytes,
            .beyondLimit("edges of a region")
        ),
        // Values.
        ("a value that could be shorter", log(path("k") + change(value: [4, 0x81, 0])).bytes, .notCanonical),
        ("a value of an unknown type", log(path("k") + change(value: [14])).bytes, .unknownTag),
        ("bytes after a value", log(path("k") + change(value: [3, 3])).bytes, .bytesLeftOver),
        (
            "a blob that is not listed", log(path("k") + change(value: [13, 0])).bytes,
            .contradiction("a blob that is not listed")
        ),
        ("a base without a value at a path", base(path("k") + atom(value: [])).bytes, .endsEarly),
        // Bases.
        (
            "a value after the last transaction", base(path("k") + atom(7, nil, 41)).bytes,
            .contradiction("a value after the last transaction")
        ),
        ("a value of a whole domain", base(path("") + atom()).bytes, .contradiction("a value of a whole domain")),
        ("a waiting value", base(path("k") + atom(7, 6, 0)).bytes, .beyondLimit("sequence number")),
        (
            "values in descending order",
            base(path("m") + atom() + path("k", after: length("") + 2) + atom(8), count: 2).bytes, .notCanonical
        ),
        (
            "values of one path in descending order",
            base(path("k") + atom(8) + path("k", after: length("k")) + atom(7), count: 2).bytes, .notCanonical
        ),
        (
            "a value twice", base(path("k") + atom(7) + path("k", after: length("k")) + atom(7), count: 2).bytes,
            .notCanonical
        ),
        ("an empty record", base.with(records: [[0]]).bytes, .notCanonical),
        (
            "a record that is not full before another",
            base.with(records: [base.records[0], leb(1) + path("m") + atom()]).bytes, .notCanonical
        ),
        ("too many values in a record", base(path("k") + atom(), count: 257).bytes, .beyondLimit("values")),
        (
            "a last transaction beyond the limit in a base", base.with(8, leb(most + 1)).bytes,
            .beyondLimit("sequence number")
        ),
        // Replaced values of bases.
        ("no replaced value", gone([], count: 0).bytes, .notCanonical),
        (
            "a wrong number of replaced values", gone(name(7) + leb(1) + path("k"), count: 2).bytes,
            .contradiction("count of replaced values")
        ),
        (
            "no record of replaced values", base.with(34, [1]).with(records: []).bytes,
            .contradiction("count of replaced values")
        ),
        ("a replaced value in no place", gone(name(7) + leb(0)).bytes, .notCanonical),
        (
            "names of replaced values in descending order",
            gone(name(7) + leb(1) + path("k") + name(6) + leb(1) + path("k"), count: 2).bytes, .notCanonical
        ),
        (
            "edges of a replaced value in descending order",
            gone(name(7) + leb(2) + path("m") + path("k", after: length("") + 2)).bytes, .notCanonical
        ),
        // Notes.
        ("a number of a note beyond the limit", note.with(6, leb(10_000)).bytes, .beyondLimit("number of a note")),
        ("a note that has left twice", note.with(24, [2]).bytes, .notCanonical),
        (
            "a note with a long text", note.with(18, [UInt8](repeating: 0x61, count: 257)).bytes,
            .beyondLimit("bytes of a label")
        ),
        ("a note with bytes that are no text", note.with(20, [0xFF]).bytes, .notUTF8),
        ("a note with a record", note.with(records: [[1]]).bytes, .contradiction("a note with records")),
    ]

    @Test(arguments: rows.indices) func `is rejected for its contents`(_ index: Int) {
        let (what, bytes, fault) = Self.rows[index]
        #expect(throws: fault, "\(what)") { try Pack(decoding: bytes) }
    }

    static let limits: [(String, [UInt8])] = [
        ("an unknown odd field", log.with(101, [1, 2]).bytes),
        (
            "as many writers as a mirror may have",
            log.with(14, leb(4096) + (1...4096).flatMap { word(UInt64($0) << 8) + [1, 1, 2, 3, 4] }).bytes
        ),
        ("the last possible transaction", log.with(6, leb(most - 1)).with(8, leb(most - 1)).bytes),
        ("the last possible transaction of a base", base.with(8, leb(most)).bytes),
        ("the last stamp", log(path("k") + change(), stamp: limit - 1).bytes),
        ("the longest label", base.with(32, other + run([UInt8](repeating: 0x61, count: 256))).bytes),
        ("the longest text", note.with(18, [UInt8](repeating: 0x61, count: 256)).bytes),
        ("the last number of a note", note.with(6, leb(9999)).bytes),
        (
            "the longest key",
            log(leb(0) + run(Path(["d", String(repeating: "a", count: 1024)]).bytes) + change()).bytes
        ),
        ("the deepest path", log(leb(0) + run(Path(["d"] + Array(repeating: "a", count: 512)).bytes) + change()).bytes),
        (
            "the longest value",
            log(path("k") + change(value: [9] + leb(65_532) + [UInt8](repeating: 0, count: 65_532))).bytes
        ),
        ("an earlier version of an unknown kind of field", log.with(101, []).bytes),
        ("no value", log(path("k") + change(covers: [name(2) + [0]], value: [])).bytes),
        (
            "two changes of one path",
            log(path("k") + change() + path("k", after: length("k")) + change(), count: 2).bytes
        ),
        ("a base of nothing", base.with(records: []).bytes),
    ]

    @Test(arguments: limits.indices) func `is accepted up to each limit`(_ index: Int) throws {
        let (what, bytes) = Self.limits[index]
        #expect(throws: Never.self, "\(what)") { try Pack(decoding: bytes) }
    }

    @Test func `has a marker of this version only`() throws {
        let marker = RawFile(kind: "i", fields: [(2, mirror), (12, leb(3))])
        #expect(try Marker(decoding: marker.bytes).mirror == MirrorID(high: 1, low: 2))
        #expect(throws: PackFault.olderVersion) { try Marker(decoding: marker.with(12, leb(1)).bytes) }
        #expect(throws: PackFault.newerVersion(4)) { try Marker(decoding: marker.with(12, leb(4)).bytes) }
        #expect(throws: PackFault.notThisFormat) { try Marker(decoding: marker.with(records: [[1]]).bytes) }
        #expect(throws: PackFault.notThisFormat) { try Marker(decoding: log.bytes) }
        #expect(throws: PackFault.notThisFormat) { try Pack(decoding: marker.bytes) }
        #expect(throws: PackFault.contradiction("fields of a header")) {
            try Marker(decoding: marker.with(4, writer).bytes)
        }
    }
}
