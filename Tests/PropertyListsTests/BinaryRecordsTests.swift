import Foundation
import PropertyLists
import TestSupport
import Testing

@Suite struct `Records of a binary file` {
    private struct Seen: Equatable {
        var parts: [PropertyList] = []
        var wholes: [PropertyList] = []
        var names: [String] = []
    }

    private func read(
        _ bytes: [UInt8], at path: EntryPath = [], fields: Set<Name> = ["a", "c"],
        where isWanted: (PropertyList) -> Bool = { _ in true }
    ) throws -> Seen? {
        var seen = Seen()
        let areRead = try PropertyList.forEachBinaryRecord(
            in: bytes, at: path, fields: fields,
            test: { component, _, part in
                seen.names.append(component.text)
                seen.parts.append(part)
                return isWanted(part)
            },
            take: { _, _, whole in seen.wholes.append(whole) })
        return areRead ? seen : nil
    }

    private func bytes(_ value: PropertyList) throws -> [UInt8] { Array(try value.serialized(as: .binary)) }

    private let records: [PropertyList] = [
        ["a": 1, "b": "long enough to be kept as a text", "c": ["x": [1, 2]]], ["b": 2], 5, ["a": 1, "d": [:]],
        "text", ["a": 1, "d": [:]],
    ]

    @Test func `have the wanted keys at first, and then all`() throws {
        let parts: [PropertyList] = [["a": 1, "c": ["x": [1, 2]]], [:], 5, ["a": 1], "text", ["a": 1]]
        for (value, path) in [
            (PropertyList.array(records), EntryPath()), (["k": ["l": .array(records)]], ["k", "l"]),
        ] as [(PropertyList, EntryPath)] {
            let seen = try read(bytes(value), at: path) { $0["a"] == 1 }
            #expect(seen?.parts == parts)
            #expect(seen?.wholes == records.filter { $0["a"] == 1 })
            #expect(seen?.names == ["0", "1", "2", "3", "4", "5"])
        }
    }

    @Test func `are the entries of a dictionary too`() throws {
        let seen = try read(bytes(["x": ["a": 1, "b": 2], "y": 3]))
        #expect(seen == Seen(parts: [["a": 1], 3], wholes: [["a": 1, "b": 2], 3], names: ["x", "y"]))
    }

    @Test func `are not read from anything else`() throws {
        #expect(try read(bytes("text")) == nil)
        #expect(try read(bytes(["a": 1]), at: ["a"]) == nil)
        #expect(try read(bytes(["a": 1]), at: ["b", "c"]) == nil)
        let twice = try BinaryAssembler("0 dict 1=2 1=3\n1 ascii \"a\"\n2 int 1\n3 int 2").bytes
        #expect(try read(Array(twice)) == nil)
    }

    @Test(arguments: [
        "0 array 0", "0 array 1\n1 dict 2=0\n2 ascii \"a\"", "0 array 1\n1 dict 2=3\n2 int 1\n3 int 1",
        "0 array 7", "0 array 1\n1 dict 2=9\n2 ascii \"a\"",
    ])
    func `that are damaged are refused`(_ description: String) throws {
        let file = Array(try BinaryAssembler(description).bytes)
        #expect(throws: DecodingFailure.self) { try read(file) }
    }

    @Test func `of damaged files are read or refused`() throws {
        let file = try bytes(["list": .array(records)])
        var random = SeededGenerator(stream: "records of a damaged file")
        for _ in 0..<3000 {
            var damaged = file
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                damaged[Int.random(in: damaged.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            _ = try? read(damaged, at: ["list"])
            _ = try? read(damaged)
        }
    }

    @Test func `that are one object many times are read once`() throws {
        let keys = (2..<60).map { "\($0) ascii \"k\($0)\"" }.joined(separator: "\n")
        let entries = (2..<60).map { "\($0)=60" }.joined(separator: " ")
        let references = Array(repeating: "1", count: 250).joined(separator: " ")
        let file = Array(
            try BinaryAssembler("0 array \(references)\n1 dict \(entries)\n\(keys)\n60 true\noffset size = 2").bytes)
        let seen = try read(file, fields: ["k2"])
        #expect(seen?.parts == Array(repeating: ["k2": true], count: 250))
        #expect(seen?.wholes.count == 250)
    }
}
