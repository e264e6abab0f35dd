import Foundation
import PropertyLists
import TestSupport
import Testing

@testable import MirrorEngine

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

    private static let (other, stamp) = (WriterID(number: 77), Stamp(clamping: 1_750_000_000_000))
    private static let paths = ["a", "b"].map { Path(domain: "d", key: $0) }
    private static let known = VersionVector([
        (other, VersionVector.Entry(sequence: 9, tag: FileTag(number: 0x6A1B_2C3D)))
    ])

    /// The log that the page shows.
    private static var log: LogPack {
        let replaced = AtomName(WriteID(number: 0x0102_0304), TransactionID(writer: other, sequence: 3))
        let lost = AtomName(WriteID(number: 0x3132_3334), TransactionID(writer: other, sequence: 5))
        let changes = [
            Change(WriteID(number: 0x1112_1314), at: paths[0], .of(["x": [1, true]]), stamp: stamp),
            Change(
                WriteID(number: 0x2122_2324), at: paths[1], .deleted, stamp: stamp.next,
                covers: [Cover(replaced, Region(paths[1])), Cover(lost, Region(paths[1].appending("c")))]),
        ]
        return LogPack(
            mirror: mirror, writer: writer, first: 1, previous: nil, knowledge: known,
            transactions: [Transaction(changes)])
    }

    /// The base that the page shows: of the other writer, whose value the log replaced in one part.
    private static var base: BasePack {
        var state = SharedState()
        let name = AtomName(WriteID(number: 0x3132_3334), TransactionID(writer: other, sequence: 5))
        state.live.insert(
            Atom(
                name, at: paths[1], .of("B"), stamp: Stamp(clamping: 1_740_000_000_000),
                in: Region(paths[1], except: [paths[1].appending("c")])))
        state.gone = [
            AtomName(WriteID(number: 0x4142_4344), TransactionID(writer: writer, sequence: 2)): Region(paths[0])
        ]
        state.vector = VersionVector([
            (writer, VersionVector.Entry(sequence: 1, tag: FileTag(log.encoded().hash)))
        ])
        let tags = FileTags([FileTags.Span(first: 1, last: 9, tag: FileTag(number: 0x6A1B_2C3D))])
        return BasePack(
            mirror: mirror, writer: other, last: 9, state: state, tags: tags, labels: [writer: "laptop"])
    }

    @Test func `shows a marker, a log and a base that are read and written as it states`() throws {
        let examples = try Self.examples()
        let expected = [Marker(mirror: Self.mirror).encoded(), Self.log.encoded().bytes, Self.base.encoded().bytes]
        for (example, bytes) in zip(examples, expected) where example != bytes {
            let lines = stride(from: 0, to: bytes.count, by: 16).map { start in
                bytes[start..<min(start + 16, bytes.count)].map { String(format: "%02x", $0) }.joined(separator: " ")
            }
            Issue.record("the example must be:\n\(lines.joined(separator: "\n"))")
        }
        try #require(examples.count == expected.count)
        #expect(try Marker(decoding: examples[0]).mirror == Self.mirror)
        let packs = try examples.dropFirst().map { try Pack(decoding: $0) }
        #expect(packs.map(\.content) == [.log(Self.log), .base(Self.base)])
        for pack in packs {
            #expect(try Self.section("EXAMPLES").contains(".Pa \(pack.address) ."), "\(pack.address)")
        }
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
        #expect(fields == Envelope.Field.allCases.map { String($0.rawValue) })
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

    @Test func `describes trailers`() throws {
        for pack in PackSamples.all {
            let trailer = Array(pack.bytes.suffix(48))
            #expect(Array(trailer.suffix(32)) == ContentHash(of: pack.bytes.dropLast(32)).bytes)
            #expect(trailer[8..<16].reversed().reduce(0) { $0 << 8 | Int($1) } == pack.bytes.count)
            #expect(pack.name.hash == ContentHash(trailer.suffix(32))?.prefix)
        }
    }

    @Test func `lists the reasons of values, and the name of a conflict`() throws {
        let reasons = try Self.section("TRANSACTIONS").filter { $0.hasPrefix(".It Cm ") }.map {
            String($0.dropFirst(7))
        }
        #expect(
            reasons == (0...3 as ClosedRange<UInt8>).map { "\(Atom.Reason(rawValue: $0)!.rawValue)" }
                && Atom.Reason(rawValue: 4) == nil)
        // The bytes of the mirror, the path as a run, 0 or 1, and the value.
        let place = Self.paths[0]
        let conflict = Conflict.name(place, .text("v"), isOfOlder: false, in: Self.mirror)
        var bytes = Self.mirror.bytes
        bytes.append(run: place.bytes)
        #expect(conflict == Base32.text(ContentHash(of: bytes + [0, 8, 1, 0x76]).bytes))
        #expect(
            Conflict.name(place, .of(3), isOfOlder: true, in: Self.mirror)
                == Base32.text(ContentHash(of: bytes + [1]).bytes))
    }
}
