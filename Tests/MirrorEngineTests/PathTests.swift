import Foundation
import PropertyLists
import TestSupport
import Testing

@testable import MirrorEngine

@Suite struct `A path` {
    @Test(arguments: [
        ["a"], ["a", "b"], ["com.example.App", "key with space"], ["", ""], ["d", "e\u{301}", "\u{E9}", "日本"],
        ["d", String(repeating: "k", count: 1024)],
    ])
    func `returns its components`(_ components: [String]) throws {
        let path = Path(components)
        #expect(path.keys.map { Array($0.utf8) } == components.map { Array($0.utf8) })
        #expect(try Path(decoding: path.bytes) == path)
        #expect(path.domain == components[0])
        #expect(path.prefix(components: 1) == Path(domain: components[0]))
    }

    @Test func `sorts immediately before all paths below it`() {
        let paths = [["a"], ["a", "b"], ["a", "b", "c"], ["a", "bb"], ["ab"], ["b"]].map(Path.init)
        for path in paths {
            let sorted = paths.sorted()
            let under = sorted.indices.filter { path.isPrefix(of: sorted[$0]) }
            #expect(under == Array(sorted.firstIndex(of: path)!..<sorted.firstIndex(of: path)! + under.count))
        }
        #expect(!Path(["a", "b"]).isPrefix(of: Path(["a", "bb"])))
        #expect(!Path(["a"]).overlaps(Path(["ab"])))
    }

    @Test func `sorts by its bytes, wherever the first difference is`() {
        var generator = SeededGenerator(stream: "paths")
        for length in 0...40 {
            let text = (0..<length).map { _ in UInt8.random(in: 0...127, using: &generator) }
            for at in 0..<length {
                let others = [0, 1, 64, 127].map { byte in
                    Path([String(decoding: text[..<at] + [byte] + text[(at + 1)...], as: UTF8.self)])
                }
                let path = Path([String(decoding: text, as: UTF8.self)])
                for other in others {
                    let isBefore = path.bytes.lexicographicallyPrecedes(other.bytes)
                    #expect((path < other) == isBefore, "\(path) \(other), \(Seed.ofThisRun)")
                }
            }
        }
    }

    @Test(
        arguments: [
            ([], PackFault.beyondLimit("components of a path")), ([1], .endsEarly), ([1, 2, 0x61], .endsEarly),
            ([9, 1, 0x61], .unknownTag), ([1, 1, 0xFF], .notUTF8), ([1, 0x81, 0x00, 0x61], .notCanonical),
            ([1, 0x81, 0x08], .beyondLimit("length")),
            // A part that is not of a key, has another name than its kind, or is not the last component.
            ([2, 1, 0x61], .contradiction("a part of a value")),
            ([1, 1, 0x61, 3, 8, 1, 2, 3, 4, 5, 6, 7, 8], .contradiction("a part of a value")),
            ([1, 1, 0x61, 1, 1, 0x62, 2, 1, 0x62], .contradiction("a part of a value")),
            (
                [1, 1, 0x61, 1, 1, 0x62, 3, 8, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 0x61],
                .contradiction("a part of a value")
            ),
        ] as [([UInt8], PackFault)])
    func `is not decoded from invalid bytes`(_ bytes: [UInt8], _ fault: PackFault) {
        #expect(throws: fault) { try Path(decoding: bytes) }
    }

    @Test(
        arguments: [MergedPart(orderBy: "id")]
            + [MergedPart.Kind.addend, .candidateForMaximum, .candidateForMinimum].map {
                MergedPart($0, number: 7)
            }
            + ((try? CanonicalValue("a")).map { [MergedPart(element: $0)] } ?? []))
    func `ends with a part of a merged value`(_ part: MergedPart) throws {
        let key = Path(["d", "k"])
        let path = try Path(decoding: key.appending(part).bytes)
        #expect(path.merged?.place == key && path.merged?.part == part && path.keys == ["d", "k"])
        #expect(key.isPrefix(of: path) && key.merging(of: path) == part.merging && key.merged == nil)
    }

    @Test(arguments: [1, "name", 0.5, .data(Data([1])), true] as [PropertyList])
    func `leads into a record of an array`(_ id: PropertyList) throws {
        let record = try #require(RecordName("id", id))
        let path = try Path(decoding: Path(["d", "k"]).appending(record).appending("field").bytes)
        #expect(path.components.dropFirst(2) == [.record(record), .key("field")] && !path.hasOnlyKeys)
        #expect(Path(["d", "k"]).merging(of: path) == .list(identity: "id"))
    }

    @Test(arguments: [["a"], ["a": 1]] as [PropertyList])
    func `has no record with a container as its name`(_ id: PropertyList) { #expect(RecordName("id", id) == nil) }

    @Test func `has no more components than a value may have levels`() throws {
        let deepest = Path((0..<513).map { _ in "a" })
        #expect(try Path(decoding: deepest.bytes) == deepest)
        #expect(throws: PackFault.beyondLimit("components of a path")) {
            try Path(decoding: deepest.appending("a").bytes)
        }
    }
}

@Suite struct `A writer` {
    @Test(arguments: [0, 1, 0x9C6E_9B8A_E864_CB3D, .max] as [UInt64])
    func `is parsed from its name`(_ number: UInt64) {
        let text = WriterID(number: number).description
        #expect(text.utf8.count == 13)
        #expect(WriterID(text) == WriterID(number: number))
    }

    @Test(arguments: [
        "", "k3v9q2m8x4c7", "k3v9q2m8x4c7tt", "K3V9Q2M8X4C7T", "k3v9q2m8x4c7i", "zzzzzzzzzzzzz", "k3v9q2m8x4c7v",
    ])
    func `has no other name`(_ text: String) { #expect(WriterID(text) == nil) }

    @Test func `sorts like its name`() {
        var generator = SeededGenerator(stream: "writers")
        let writers = (0..<100).map { _ in WriterID(number: generator.next()) }
        #expect(writers.sorted().map(\.description) == writers.map(\.description).sorted(), "\(Seed.ofThisRun)")
    }
}
