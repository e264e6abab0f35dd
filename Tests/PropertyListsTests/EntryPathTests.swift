import Foundation
import PropertyLists
import TestSupport
import Testing

@Suite struct EntryPathTests {
    static let spellings: [(String, EntryPath)] = [
        (":a", ["a"]), (":a:b", ["a", "b"]), (":apps:0:name", ["apps", "0", "name"]), (":a:-1", ["a", "-1"]),
        (":", [""]), (":a:", ["a", ""]), ("::", ["", ""]), ("::a", ["", "a"]), (":a\\:b", ["a:b"]),
        (":a\\\\b", ["a\\b"]),
        (":\\:", [":"]), (":\\\\", ["\\"]), (":a b", ["a b"]), (":é", ["é"]), (":😀:x", ["😀", "x"]), (":\n", ["\n"]),
        (":\u{301}a", ["\u{301}a"]), (":a:\u{301}", ["a", "\u{301}"]), (":\\:\u{301}", [":\u{301}"]),
        (":\r\n", ["\r\n"]),
    ]

    @Test(arguments: spellings)
    func `a path is read and printed in one spelling`(_ text: String, _ path: EntryPath) throws {
        let read = try EntryPath(parsing: text)
        #expect(read.components.map { Array($0.text.utf8) } == path.components.map { Array($0.text.utf8) })
        #expect(Array(path.description.utf8) == Array(text.utf8))
    }

    @Test func `every key can occur in a path`() throws {
        var values = ValueGenerator(SeededGenerator(stream: "paths"))
        for key in String.awkward + (0..<200).map({ _ in values.text() }) {
            let path: EntryPath = [EntryPath.Component(key), "x"]
            let back = try EntryPath(parsing: path.description)
            #expect(back.components.map { Array($0.text.utf8) } == [Array(key.utf8), Array("x".utf8)])
        }
    }

    @Test func `a message shows a path on one line, whatever its keys`() throws {
        let key = "a\n\u{1B}[2J" + String(repeating: "k", count: 1000)
        let shown = ":a\\n\\u{1B}[2J" + String(repeating: "k", count: 194) + "…"
        let text = Data("{\"\(key.replacing("\n", with: "\\n").replacing("\u{1B}", with: "\\u001B"))\": nope}".utf8)
        let decoding = #expect(throws: DecodingFailure.self) { try PropertyList(parsing: text, as: .json) }
        #expect(decoding?.path.components.map(\.text) == [key])
        #expect(decoding?.description.hasSuffix(" (at \(shown))") == true)
        let value: PropertyList = .dictionary(PropertyList.Dictionary([(key, .uid(1))]))
        let encoding = #expect(throws: EncodingFailure.self) { try value.serialized(as: .json) }
        #expect(encoding?.description.hasPrefix("\(shown): ") == true)
    }

    @Test func `a key and an index lead one step`() {
        let value: PropertyList = ["list": [1, 2, 3], "0": "zero"]
        #expect(value["list"]?[0] == 1)
        #expect(value["list"]?[-1] == 3)
        #expect(value["list"]?[3] == nil)
        #expect(value["list"]?[-4] == nil)
        #expect(value["list"]?[Int.min] == nil)
        #expect(value["list"]?["0"] == nil)
        #expect(value["0"] == "zero")
        #expect(value[0] == nil)
        #expect(value["no such key"] == nil)
        #expect(PropertyList.string("text")["list"] == nil)
    }

    @Test func `paths are compared byte for byte`() {
        #expect(EntryPath(["\u{E9}"]) != EntryPath(["e\u{301}"]))
    }

    @Test(arguments: [
        ("", EntryPath.Failure.Problem.notAPath), ("a", .notAPath), ("a:b", .notAPath), ("\\:a", .notAPath),
        (":a\\", .unknownEscape("\\")), (":a\\n", .unknownEscape("\\n")), (":\\a:b", .unknownEscape("\\a")),
    ])
    func `an invalid path is rejected`(_ text: String, _ problem: EntryPath.Failure.Problem) {
        let failure = #expect(throws: EntryPath.Failure.self) { try EntryPath(parsing: text) }
        #expect(failure?.problem == problem)
        #expect(failure?.place == text)
    }

    @Test(arguments: [
        ("0", 0), ("-1", -1), ("12", 12), ("+1", nil), ("", nil), ("a", nil), ("1.0", nil), ("0x1", nil), (" 1", nil),
        ("９", nil), ("99999999999999999999", nil), ("007", 7),
    ])
    func `a component that is an integer is an index`(_ text: String, _ index: Int?) {
        #expect(EntryPath.Component(text).index == index)
    }

    static let sample = "{s: \"text\", d: {e: {f: 1}}, a: [10, {k: 20}, [30]], \"0\": \"zero\", \"x:y\": 5, empty: []}"

    @Test(arguments: [
        (":s", "\"text\""), (":d:e:f", "1"), (":a:0", "10"), (":a:-1:0", "30"), (":a:1:k", "20"), (":a:-3", "10"),
        (":0", "\"zero\""), (":x\\:y", "5"), (":empty", "[]"), (":d:e", "{f: 1}"),
    ])
    func `a path leads to its entry`(_ path: String, _ expected: String) throws {
        let value = try ValueNotation.value(Self.sample)
        #expect(try value[EntryPath(parsing: path)] == ValueNotation.value(expected))
    }

    @Test(arguments: [
        ":x", ":s:x", ":s:0", ":a:3", ":a:-4", ":a:k", ":a:", ":a:+1", ":d:0", ":d:e:f:g", ":empty:0", ":empty:-1", ":",
        ":a:0:0", ":a:9223372036854775807", ":a:-9223372036854775808",
    ])
    func `a path that leads nowhere finds nothing`(_ path: String) throws {
        var value = try ValueNotation.value(Self.sample)
        #expect(try value[EntryPath(parsing: path)] == nil)
        #expect(try value.remove(at: EntryPath(parsing: path)) == nil)
        #expect(try value == ValueNotation.value(Self.sample))
    }

    @Test func `the empty path is the value itself`() throws {
        var value = try ValueNotation.value(Self.sample)
        #expect(value[EntryPath()] == value)
        try value.set(.integer(1), at: EntryPath())
        #expect(value == .integer(1))
    }

    @Test(arguments: [
        ("{}", ":a", "{a: 7}"), ("{a: 1}", ":a", "{a: 7}"), ("{}", ":a:b:c", "{a: {b: {c: 7}}}"),
        ("{a: {}}", ":a:b", "{a: {b: 7}}"), ("{a: [1, 2]}", ":a:0", "{a: [7, 2]}"),
        ("{a: [1, 2]}", ":a:-1", "{a: [1, 7]}"),
        ("{a: [1]}", ":a:", "{a: [1, 7]}"), ("{a: []}", ":a:", "{a: [7]}"), ("{}", ":a:", "{a: [7]}"),
        ("{}", ":a:b:", "{a: {b: [7]}}"), ("{a: [{}]}", ":a:0:b:", "{a: [{b: [7]}]}"), ("{}", ":0", "{\"0\": 7}"),
        ("{a: {}}", ":a:0", "{a: {\"0\": 7}}"), ("[1]", ":0", "[7]"), ("[]", ":", "[7]"),
        ("{}", ":a\\:b", "{\"a:b\": 7}"),
        ("{a: \"s\"}", ":a", "{a: 7}"), ("{a: [1]}", ":a", "{a: 7}"),
    ])
    func `setting creates what is missing on the way`(_ before: String, _ path: String, _ after: String) throws {
        var value = try ValueNotation.value(before)
        try value.set(.integer(7), at: EntryPath(parsing: path))
        #expect(try value == ValueNotation.value(after))
        guard !path.hasSuffix(":") else { return }
        #expect(try value[EntryPath(parsing: path)] == .integer(7))
    }

    @Test(arguments: [
        ("{a: \"s\"}", ":a:b", EntryPath.Failure.Problem.notAContainer(.string), ":a:b"),
        ("{a: 1}", ":a:b:c", .notAContainer(.integer), ":a:b"), ("{a: [1]}", ":a:b", .notAnIndex, ":a:b"),
        ("{a: [1]}", ":a:1", .outOfBounds(count: 1), ":a:1"), ("{a: [1]}", ":a:-2", .outOfBounds(count: 1), ":a:-2"),
        ("{a: []}", ":a:0", .outOfBounds(count: 0), ":a:0"), ("{}", ":a:0", .missingArray, ":a:0"),
        ("{}", ":a:0:b", .missingArray, ":a:0"), ("{}", ":a:-1", .missingArray, ":a:-1"),
        ("{a: [1]}", ":a::b", .notAnIndex, ":a:"), ("{x: {a: true}}", ":x:a:b", .notAContainer(.boolean), ":x:a:b"),
        ("1", ":a", .notAContainer(.integer), ":a"),
        ("{}", ":a:99999999999999999999", .missingArray, ":a:99999999999999999999"),
        ("{}", ":a:-99999999999999999999:b", .missingArray, ":a:-99999999999999999999"),
        ("{a: [1]}", ":a:99999999999999999999", .outOfBounds(count: 1), ":a:99999999999999999999"),
        ("{a: [1]}", ":a:--1", .notAnIndex, ":a:--1"), ("{a: [1]}", ":a:-", .notAnIndex, ":a:-"),
    ])
    func `setting refuses to replace or to guess, and changes nothing`(
        _ before: String, _ path: String, _ problem: EntryPath.Failure.Problem, _ place: String
    ) throws {
        var value = try ValueNotation.value(before)
        let failure = #expect(throws: EntryPath.Failure.self) {
            try value.set(.integer(7), at: EntryPath(parsing: path))
        }
        #expect(failure?.problem == problem)
        #expect(failure?.place == place)
        #expect(try value == ValueNotation.value(before))
    }

    @Test(arguments: [
        ("{a: 1, b: 2}", ":a", "{b: 2}"), ("{a: [1, 2, 3]}", ":a:1", "{a: [1, 3]}"), ("{a: [1]}", ":a:-1", "{a: []}"),
        ("{a: {b: {c: 1}}}", ":a:b:c", "{a: {b: {}}}"), ("[1, 2]", ":0", "[2]"),
    ])
    func `removal takes the entry alone`(_ before: String, _ path: String, _ after: String) throws {
        var value = try ValueNotation.value(before)
        let entry = try value[EntryPath(parsing: path)]
        #expect(try value.remove(at: EntryPath(parsing: path)) == entry)
        #expect(try value == ValueNotation.value(after))
    }

    @Test func `an edit that throws leaves the value as it was`() throws {
        for path in [":s", ":d:e:f", ":a:1:k", ":a:-1", ":new", ":new:er", ":a:"] {
            var value = try ValueNotation.value(Self.sample)
            #expect(throws: EntryPath.Failure.self) {
                try value.edit(EntryPath(parsing: path)) { _ throws(EntryPath.Failure) in
                    _ = try EntryPath(parsing: "x")
                }
            }
            #expect(try value == ValueNotation.value(Self.sample), "\(path)")
        }
    }

    @Test func `an edit that removes a missing entry changes nothing`() throws {
        var value = try ValueNotation.value(Self.sample)
        for path in [":new", ":new:er", ":d:new", ":a:"] {
            try value.edit(EntryPath(parsing: path)) { entry in #expect(entry == nil) }
        }
        #expect(try value == ValueNotation.value(Self.sample))
    }

    @Test func `an edit happens in place`() throws {
        func address(_ value: PropertyList) -> UnsafePointer<PropertyList>? {
            value["list"]?.arrayValue?.withUnsafeBufferPointer(\.baseAddress)
        }
        var value: PropertyList = ["list": ["a text that is longer than fifteen bytes", 0, 0]]
        let before = address(value)
        for index in 0..<3 { try value.set(.integer(1), at: ["list", EntryPath.Component(index)]) }
        #expect(before != nil && address(value) == before)
        #expect(value == ["list": [1, 1, 1]])
    }
}
