import Foundation
import PreferencesCoders
import TestSupport

/// Facts about the cases of the published JSON5 specification.
enum JSON5SpecificationFacts {
    /// Checks rows that both decoders read.
    static func both<T: Decodable & Equatable>(_ rows: [(String, T?)], line: Int = #line) throws {
        for decoder in [JSONDecoder.with(json5: true), .with()] { try reads(rows, decoder, line: line) }
    }

    /// Checks rows that only JSON5 reads.
    static func extra<T: Decodable & Equatable>(_ rows: [(String, T?)], line: Int = #line) throws {
        try reads(rows, .with(json5: true), line: line)
        try refuses(T.self, rows.map(\.0), line: line)
    }

    /// Checks that only JSON5 reads a text in which a line goes on, leaving open whether the line's end is kept.
    static func continued<T: Decodable>(
        _ text: String, _ expected: String, line: Int = #line, _ part: (T) -> String
    ) throws {
        let found = part(try JSONDecoder.with(json5: true).read(text))
        try equal(found.filter { !$0.isNewline }, expected, line: line)
        try refuses(T.self, [text], line: line)
    }

    /// Checks that neither decoder reads the texts.
    static func neither<T: Decodable>(_ type: T.Type, _ texts: [String], line: Int = #line) throws {
        for decoder in [JSONDecoder.with(json5: true), .with()] { try refuses(type, texts, decoder, line: line) }
    }

    /// The manifest of a package.
    struct Manifest: Codable, Equatable {
        var name = "tool", publish = ["own-terms": true], words = ["a", "b"], preferred = true
        var bugs = Link(type: nil, url: "https://example.org/bugs"), folders: [String: String] = [:]
        var needs = ["part": "~1.2", "other-part": "1"], licences = [Link(type: "free", url: "https://example.org/l")]

        /// An address with a kind.
        struct Link: Codable, Equatable {
            let type: String?
            let url: String
        }
    }

    /// The example of the introduction to JSON5, with other values.
    struct Tour: Codable, Equatable {
        var word = "one", `while` = true, this = "on a few lines", here = "too", hex: UInt = 0xFEED_face, half = 0.5
        var delta = 20, to = Double.infinity, last = "comma", list = ["in", "lists"]
    }

    static let manifest = """
        { "name": "tool", "publish": { "own-terms": true }, "words": [ "a", "b" ], "preferred": true,
          "bugs": { "url": "https://example.org/bugs" }, "folders": {},
          "needs": { "part": "~1.2", "other-part": "1" },
          "licences": [ { "type": "free", "url": "https://example.org/l" } ] }
        """

    static let relaxedManifest = """
        { name: 'tool', publish: { 'own-terms': true }, words: [ 'a', 'b', ], preferred: true,
          bugs: { url: 'https://example.org/bugs' }, folders: {},
          needs: { part: '~1.2', 'other-part': '1' }, // parts
          licences: [ { type: 'free', url: 'https://example.org/l' } ] }
        """

    static let tour = #"""
        {
            word: 'one', while: true,
            this: 'on a \
        few lines',
            // a note
            here: 'too', // a note
            /* a note
               of two lines */
            hex: 0xFEEDface, half: .5, delta: +20, to: Infinity,   // a note
            last: 'comma', list: [ "in", 'lists', ],
        }
        """#

    static func lists() throws {
        try both([("[]", [Bool]())])
        try both([("[\n    true,\n    false,\n    null\n]", [Optional(true), false, nil])])
        try both([("[\n    null,\n]", [JSON5Facts.Null()])])
        try neither([Bool?].self, ["[\n    ,null\n]", "[\n    ,\n]", "[\n    true\n    false\n]"])
    }

    static func comments() throws {
        try extra([("[\n    true\n    /*\n        false\n    */\n]", [true]), ("[\n    true   // false\n]", [true])])
        let null = JSON5Facts.Null()
        try extra([
            ("null\n/*\n    after\n    it\n*/", null), ("/*\n    before\n*/\nnull", null),
            ("null // after", null), ("// before\nnull", null),
        ])
        try both([(#""a /* b */ c""#, "a /* b */ c"), (#""a // b""#, "a // b")])
        try extra([("/**\n * One * line.\n * Two:\n **/\nfalse", false)])
        try neither(Bool.self, ["/*\n    alone\n*/", "// alone", "false\n/*\n    open\n", ""])
    }

    static func texts() throws {
        try extra([("{\n \u{C}   // a form feed\n  \"a\": true\n}", ["a": true])])
        try extra([("{\n    while: true\n}", ["while": true])])
        for end in ["\n", "\r", "\r\n"] {
            try extra([("{\(end)    // note\(end)}\(end)", [String: String]())])
            let text = "{\(end)    // note\(end)    b: 'one \\\(end)two'\(end)}\(end)"
            try continued(text, "one two") { (found: [String: String]) in found["b"] ?? "" }
        }
        try extra([(#"'It isn\'t'"#, "It isn't"), ("'good day'", "good day")])
        try continued("'good\\\n day'", "good day") { (found: String) in found }
        try neither(String.self, ["\"one\ntwo\""])
    }

    static func dictionaries() throws {
        for text in ["{\n    \"b\": true,\n    \"b\": true\n}", "{\n    \"b\": true,\n    \"b\": false\n}"] {
            for decoder in [JSONDecoder.with(json5: true), .with()] {
                try equal(Array(try decoder.read(text, as: [String: Bool].self).keys), ["b"])
            }
        }
        try both([("{}", [String: Bool]())])
        try both([("{\n    \"a\": \"b\",\n}", ["a": "b"])])
        try extra([
            ("{\n    'a': \"b\"\n}", ["a": "b"]),
            ("{\n    \u{E4}pf\u{E9}l: \"fruit\"\n}", ["\u{E4}pf\u{E9}l": "fruit"]),
            (
                "{a: \"1\", _: \"2\", $: \"3\", two2: \"4\", $_$: \"5\", _$_all456mixed_$_: \"6\"}",
                ["a": "1", "_": "2", "$": "3", "two2": "4", "$_$": "5", "_$_all456mixed_$_": "6"]
            ),
        ])
        let escaped = "{del\\u03A4a: \"t\"}"
        try equal(Array(try JSONDecoder.with(json5: true).read(escaped, as: [String: String].self).values), ["t"])
        try refuses([String: String].self, [escaped])
        let wrong = ["20thirty: \"a\"", "two-words: \"a\"", ",\"a\": \"b\"", ",", "\"a\": \"b\"\n    \"c\": \"d\""]
        try neither([String: String].self, wrong.map { "{\n    \($0)\n}" })
    }

    static func fractions() throws {
        let strict: [(String, Double?)] = [
            ("0.7", 0.7), ("3.4e5", 340_000), ("3.4", 3.4), ("3e24", 3e24), ("3e-24", 3e-24), ("-0.7", -0.7),
            ("-3.4", -3.4), ("0.0", 0),
        ]
        let relaxed: [(String, Double?)] = [
            (".7", 0.7), ("7.e3", 7000), ("7.", 7), ("Infinity", .infinity), ("-.7", -0.7), ("-7.", -7),
            ("-Infinity", -.infinity), ("-.0", 0), ("-0.", 0), ("+.0", 0), ("+0.", 0), ("+0.0", 0), (".0", 0),
            ("0.", 0),
        ]
        try both(strict.map { ($0 + "\n", $1) })
        try extra(relaxed.map { ($0 + "\n", $1) })
        try isTrue(try JSONDecoder.with(json5: true).read("NaN\n", as: Double.self).isNaN)
        let exponents = ["", "-", "+"].flatMap { ["2e\($0)3.4", "2e\($0)0x5"] }
        try neither(Double.self, (exponents + ["."]).map { $0 + "\n" })
        try refuses(Double.self, ["NaN\n"])
    }

    static func integers() throws {
        let strict: [(String, Int?)] = [
            ("7e-0", 7), ("2e+3", 2000), ("7e+0", 7), ("7e0", 7), ("26", 26), ("-26", -26), ("-0", 0), ("0e24", 0),
            ("0", 0),
        ]
        let relaxed: [(String, Int?)] = [
            ("-0xD9", -217), ("-0x0", 0), ("+26", 26), ("+0x0", 0), ("+0", 0), ("0x0", 0),
        ]
        let unsigned: [(String, UInt?)] = [("0xd9", 217), ("0XD9", 217), ("0xD9", 217), ("0xd9e5", 0xD9E5)]
        try both(strict.map { ($0 + "\n", $1) })
        try extra(relaxed.map { ($0 + "\n", $1) })
        try extra(unsigned.map { ($0 + "\n", $1) })
        try neither(UInt.self, ["0x\n"])
        let wrong = ["-089", "-0234", "0690", "090", "020", "+089", "+0234", "+00", "00"]
        try neither(Int.self, wrong.map { $0 + "\n" })
    }

    static let specification: [Fact] = [
        Fact("json5Spec") {
            try lists()
            try comments()
            try texts()
            try dictionaries()
            try fractions()
            try integers()
            try both([(manifest, Manifest())])
            try extra([(relaxedManifest, Manifest())])
            try continued(tour, "on a few lines") { (found: Tour) in found.this }
            var expected = Tour()
            expected.this = try JSONDecoder.with(json5: true).read(tour, as: Tour.self).this
            try extra([(tour, expected)])
        }
    ]
}
