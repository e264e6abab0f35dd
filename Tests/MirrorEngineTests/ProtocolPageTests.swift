import Foundation
import MirrorEngine
import PropertyLists
import TestSupport
import Testing

/// Checks the documentation of the protocol against the code: its examples are read and written, and its numbers are
/// compared.
@Suite struct `The page of the protocol` {
    private static func lines() throws -> [String] {
        let file = packageRoot.appending(path: "man/prefs-mirror.7")
        return String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static func section(_ name: String) throws -> [String] {
        let lines = try lines()
        let start = try #require(lines.firstIndex(of: ".Sh \(name)"))
        return Array(lines[(start + 1)...].prefix { !$0.hasPrefix(".Sh ") })
    }

    /// The bytes of each example.
    private static func examples() throws -> [[UInt8]] {
        try section("EXAMPLES").split { $0 == ".Bd -literal -offset indent" }.dropFirst().map { lines in
            lines.prefix { $0 != ".Ed" }.flatMap { $0.split(separator: " ").compactMap { UInt8($0, radix: 16) } }
        }
    }

    private static let mirror = MirrorID(high: 0x4F0C_2B00_0000_0001, low: 2)
    private static let writer = WriterID(number: 0x4C6E_9B8A_E864_CB3D)

    /// The log that the page shows.
    private static var log: LogPack {
        let (other, stamp) = (WriterID(number: 77), Stamp(clamping: 1_750_000_000_000))
        let paths = ["a", "b"].map { Path(domain: "d", key: $0) }
        let seen = ReplacedWrite(
            path: paths[1], transactionID: TransactionID(writer: other, sequence: 3), id: WriteID(number: 0x0102_0304))
        let writes = [
            Transaction.StampedWrite(
                path: paths[0], stamp: stamp, value: .of(["x": [1, true]]), id: WriteID(number: 0x1112_1314)),
            Transaction.StampedWrite(
                path: paths[1], stamp: stamp, value: .deleted, id: WriteID(number: 0x2122_2324), seen: [seen]),
        ]
        return LogPack(
            mirror: mirror, writer: writer, previous: nil,
            knowledge: VersionVector([TransactionID(writer: other, sequence: 9)]), formerKnowledge: VersionVector(),
            transactions: [
                Transaction(id: TransactionID(writer: writer, sequence: 1), stamp: stamp, writes: writes)
            ])
    }

    @Test func `shows a marker and a log that are read and written as it states`() throws {
        let examples = try Self.examples()
        try #require(examples.count == 2)
        #expect(try Marker(decoding: examples[0]).mirror == Self.mirror)
        #expect(Marker(mirror: Self.mirror).encoded() == examples[0])
        let pack = try Pack(decoding: examples[1])
        guard case .log(let log) = pack.content else {
            Issue.record("no log")
            return
        }
        #expect(log.encoded().bytes == examples[1])
        #expect(log.mirror == Self.mirror && log.writer == Self.writer && log.first == 1 && log.previous == nil)
        #expect(log == Self.log)
        #expect(try Self.section("EXAMPLES").contains(".Pa \(pack.address) ."))
    }

    @Test func `shows valid examples of names`() throws {
        let heads = try Self.section("DIRECTORY").filter { $0.hasPrefix(".It Pa ") }.map { String($0.dropFirst(7)) }
        #expect(heads.first == Self.mirror.markerName)
        #expect(heads.dropFirst().first == "w/\(Self.writer)/")
        #expect(heads.compactMap { PackName($0)?.kind } == [.note, .log, .base])
        #expect(heads.last?.hasPrefix("x/3f/3f") == true)
    }

    @Test func `lists all fields and all tags of values`() throws {
        let fields = try Self.section("FILES").filter { $0.hasPrefix(".It Cm ") }.map { String($0.dropFirst(7)) }
        #expect(fields == (1...14).map { String($0 * 2) })
        let tags = try Self.section("VALUES").filter { $0.hasPrefix(".It Cm ") }.map { String($0.dropFirst(7)) }
        let values: [PropertyList] = [
            false, true, 1, -1, 0.5, .date(Date(timeIntervalSinceReferenceDate: 0)), "s", .data(Data([1])), [], [:],
            .uid(1),
        ]
        #expect(try values.map { String(try CanonicalValue($0).bytes[0]) } == tags)
        #expect(WrittenValue.deleted.bytes == [0] && WrittenValue.left.bytes == [1])
        #expect(try CanonicalValue(-5).bytes == [5, 4])
        #expect(try CanonicalValue(.real(.nan)).bytes.dropFirst() == [0, 0, 0, 0, 0, 0, 0xF8, 0x7F])
    }

    @Test func `states the actual limits`() throws {
        let text = try Self.lines().joined(separator: " ")
        let limits = EngineLimits()
        let numbers: [Int] = [
            128 << 20, 1 << 20, 64 << 20, CanonicalValue.longest, Blob.longestInPack, CanonicalValue.deepest,
            CanonicalValue.longestKey, Path.longestComponent, Path.mostComponents, limits.writers, 16_384, 512 << 20,
            Int(PackName.greatestNumber),
        ]
        for number in numbers { #expect(text.contains(" \(number)"), "\(number)") }
        #expect(limits.supersededFor == 86_400_000 && limits.vanishedFor == 86_400_000)
        #expect(limits.unneededFor == 7 * 86_400_000 && limits.waitsFor == 600_000 && limits.healsEvery == 3_600_000)
        #expect(limits.leastLogBytes == 64 << 10 && limits.leastLogs == 32 && limits.bytesOfLog == 1 << 20)
    }

    /// The bytes from which, according to the page, a base's digest and a file's trailer are computed.
    @Test func `describes trailers`() throws {
        for pack in PackSamples.all {
            let trailer = Array(pack.bytes.suffix(80))
            #expect(Array(trailer.suffix(32)) == ContentHash(of: pack.bytes.dropLast(32)).bytes)
            #expect(trailer[8..<16].reversed().reduce(0) { $0 << 8 | Int($1) } == pack.bytes.count)
            #expect(pack.name.hash == ContentHash(trailer.suffix(32))?.prefix)
        }
    }
}
