import Foundation
import PropertyLists
import TestSupport
import Testing

/// Output that is byte for byte the same as that of the toolchain's `plutil`, and deliberate differences.
@Suite(.enabled(if: Tool.isExpected(Peer.toolchain), "the toolchain has no plutil"))
struct AppleBytesTests {
    private static func theirs(_ value: PropertyList, _ format: PropertyList.Format) throws -> Data {
        try Peer.convertedBytes(value.serialized(as: .binary), program: Peer.toolchain) {
            ["-convert", format == .xml ? "xml1" : "binary1", "-o", $1, $0]
        }
    }

    /// Compares two texts, and reports the lines that differ.
    private static func expectSame(_ ours: Data, _ theirs: Data) {
        let (a, b) = (ours.split(separator: 0x0A), theirs.split(separator: 0x0A))
        for (a, b) in zip(a, b) where a != b {
            Issue.record("ours: \(String(decoding: a, as: UTF8.self))\ntheirs: \(String(decoding: b, as: UTF8.self))")
            return
        }
        #expect(ours == theirs)
    }

    @Test func `XML is the same in text, numbers, booleans and dates`() throws {
        let texts = [
            "", " ", "a", "<&>\"'", "]]>", "tab\tline\nend", "é", "日本語", "😀", "\u{7F}\u{85}\u{2028}\u{FEFF}",
            "a\u{E000}",
        ]
        let integers: [PropertyList] = UInt64.borders.map { .integer(PropertyList.Integer($0)) }
        let negative: [PropertyList] = Int64.borders.map { .integer(PropertyList.Integer($0)) }
        let reals = [
            0, 1, -1, 1.5, -2.25, 100, 0.5, 123_456.789, 1e15, 1e16, 0x1p53, 1.25e-3, .infinity, -.infinity, .nan,
        ]
        let dates = [0, 1, -1, 86_399, -62_135_596_800, 99_619_200, 252_423_993_599, 252_423_993_600.0]
        let value: PropertyList = .dictionary([
            "texts": .array(texts.map { .string($0) }), "integers": .array(integers + negative),
            "reals": .array(reals.map { .real($0) }),
            "dates": .array(dates.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }),
            "booleans": .array([.boolean(true), .boolean(false)]),
        ])
        Self.expectSame(try value.serialized(as: .xml), try Self.theirs(value, .xml))
    }

    @Test func `XML is the same in data of every length at every indent`() throws {
        let lengths = [0, 1, 2, 3, 8, 11, 12, 14, 15, 20, 27, 38, 39, 42, 45, 51, 56, 57, 58, 114, 115, 300]
        let data: PropertyList = .array(
            lengths.map { .data(Data((0..<$0).map { UInt8(truncatingIfNeeded: $0 &* 7) })) })
        let value: PropertyList = (0..<12).reduce(data) { inner, _ in .array([data, .dictionary(["k": inner])]) }
        Self.expectSame(try value.serialized(as: .xml), try Self.theirs(value, .xml))
    }

    @Test func `XML is the same in empty containers and the order of keys`() throws {
        let keys = [
            "b", "a", "B", "10", "9", "", " ", "é", "z", "\u{E000}", "\u{10000}", "\u{FFFD}", "<k>", "a b", "_", "日",
        ]
        let value: PropertyList = .dictionary([
            "empty": .array([.array([]), .dictionary([:]), .array([.array([])])]),
            "keys": .dictionary(PropertyList.Dictionary(keys.map { ($0, .array([])) })),
        ])
        Self.expectSame(try value.serialized(as: .xml), try Self.theirs(value, .xml))
    }

    @Test(arguments: PropertyList.Kind.allCases.filter { $0 != .uid && $0 != .null })
    func `XML is the same at the root`(_ kind: PropertyList.Kind) throws {
        var values = ValueGenerator(SeededGenerator(seed: Seed(number: 1), stream: "root"), scope: Peer.scope)
        var value = values.value(of: kind, depth: 1)
        if kind == .real { value = .real(2.5) }
        if kind == .array || kind == .dictionary { value = value.mapScalars { $0.kind == .real ? .real(1) : $0 } }
        Self.expectSame(try value.serialized(as: .xml), try Self.theirs(value, .xml))
    }

    /// Under Apple's names, reals have the digits that its tools write. Otherwise they have the fewest.
    @Test func `reals have 17 digits on request`() throws {
        var generator = SeededGenerator(stream: "padded reals")
        var reals = (0..<2000).map { _ in Double(bitPattern: generator.next()) }.filter(\.isFinite)
        reals += (0..<2000).map { _ in Double.random(in: -1e6...1e6, using: &generator) }
        reals += (-330...308).flatMap { [Double("1e\($0)") ?? 0, Double("9.9999999999999999e\($0)") ?? 0] }
        reals += [0.1, 0.5, 1.5, 1e5, 123_456.789, 1e16, 1e17, 0x1p-1074, 0x1p53, 4_503_599_627_370_497.5, 3.5, 100]
        let value = PropertyList.array(reals.filter { $0 != 0 }.map { .real($0) })
        var options = PropertyList.WritingOptions()
        options.padsReals = true
        Self.expectSame(try value.serialized(as: .xml, options: options), try Self.theirs(value, .xml))
    }

    /// −0 and carriage returns are written more exactly here, and every reader accepts them.
    @Test(arguments: [
        ("the sign of zero", PropertyList.real(-0.0), "<real>-0.0</real>", "<real>0.0</real>"),
        ("a return as a reference", .string("a\rb"), "<string>a&#13;b</string>", "<string>a\rb</string>"),
        (
            "a year before 1 in four digits", .date(Date(timeIntervalSinceReferenceDate: -63_145_612_800)),
            "<date>-0001-12-31T00:00:00Z</date>", "<date>-001-12-31T00:00:00Z</date>"
        ),
    ])
    func `XML differs on purpose`(_ why: String, _ value: PropertyList, _ ours: String, _ theirs: String) throws {
        func body(_ data: Data) -> String {
            let lines = String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            return lines.dropFirst(3).dropLast(2).joined(separator: "\n")
        }
        #expect(body(try value.serialized(as: .xml)) == ours)
        #expect(body(try Self.theirs(value, .xml)) == theirs)
    }

    @Test func `binary is the same if no scalar occurs twice`() throws {
        var number = 1000
        func fresh() -> Int {
            number += 1
            return number
        }
        // Dictionaries of one key, because `plutil` writes keys in the order of a hash table.
        func one(_ value: PropertyList) -> PropertyList { .dictionary(["key \(fresh())": value]) }
        func list(depth: Int) -> PropertyList {
            .array([
                one(.integer(PropertyList.Integer(fresh() * 1_000_003))), one(.string("ü \(fresh())")),
                .dictionary(["é \(fresh())": .real(Double(fresh()) + 0.5)]), .data(Data("\(fresh())".utf8)), .array([]),
                .dictionary([:]), .date(Date(timeIntervalSinceReferenceDate: Double(fresh()))),
                .string(String(repeating: "x", count: fresh())), .integer(PropertyList.Integer(-fresh())),
                .integer(PropertyList.Integer(UInt64.max - UInt64(fresh()))),
                depth > 0 ? one(list(depth: depth - 1)) : .boolean(true),
            ])
        }
        let value = list(depth: 40)
        #expect(try value.serialized(as: .binary) == Self.theirs(value, .binary))
    }

    @Test func `binary has sorted keys and the same size`() throws {
        let keys = (0..<100).map { "key \($0)" }
        let value = PropertyList.dictionary(
            PropertyList.Dictionary(keys.shuffled().enumerated().map { ($1, .integer(PropertyList.Integer($0))) }))
        let (ours, theirs) = (try value.serialized(as: .binary), try Self.theirs(value, .binary))
        #expect(ours.count == theirs.count)
        guard case .dictionary(let dictionary) = try PropertyList(parsing: ours) else { return }
        #expect(Array(dictionary.keys) == keys.sorted())
        #expect(try PropertyList(parsing: theirs) == value)
    }

    @Test(arguments: [1, 2, 14, 15, 16, 127, 128, 253, 254, 255, 256, 257, 300, 70_000])
    func `binary is the same around the widths of counts, references and offsets`(_ count: Int) throws {
        let value: PropertyList = .array((1...count).map { .integer(PropertyList.Integer($0)) })
        #expect(try value.serialized(as: .binary) == Self.theirs(value, .binary))
        let text: PropertyList = .array([.string(String(repeating: "a", count: count)), .data(Data(count: count))])
        #expect(try text.serialized(as: .binary) == Self.theirs(text, .binary))
    }

    @Test(arguments: [
        ("a string is stored once", PropertyList.array([.string("abc"), .string("abc")])),
        ("data is stored once", .array([.data(Data([1])), .data(Data([1]))])),
        ("true is stored once", .array([.boolean(true), .boolean(true)])),
        ("a key is stored once", .array([.dictionary(["k": .integer(1)]), .dictionary(["k": .integer(2)])])),
    ])
    func `binary is smaller on purpose`(_ why: String, _ value: PropertyList) throws {
        let ours = try value.serialized(as: .binary)
        #expect(try ours.count < Self.theirs(value, .binary).count)
        #expect(try PropertyList(parsing: ours) == value)
    }

    @Test(arguments: [
        ("composed and decomposed", PropertyList.array([.string("\u{E9}"), .string("e\u{301}")])),
        ("a zero and its negative", .array([.real(0), .real(-0.0)])),
        ("one in three types", .array([.integer(1), .real(1), .date(Date(timeIntervalSinceReferenceDate: 1))])),
        ("true and one", .array([.boolean(true), .integer(1)])),
        ("text and data", .array([.string("a"), .data(Data("a".utf8))])),
    ])
    func `binary distinguishes values that differ in their bytes`(_ why: String, _ value: PropertyList) throws {
        guard case .array(let elements) = value else { return }
        let bytes = try value.serialized(as: .binary)
        // The number of objects is in the trailer.
        #expect(Int(bytes[bytes.count - 17]) == elements.count + 1)
        #expect(try PropertyList(parsing: bytes) == value)
    }
}
