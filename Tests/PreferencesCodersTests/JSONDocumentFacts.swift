import Foundation
import PreferencesCoders
import TestSupport

/// Facts about whole documents.
enum JSONDocumentFacts {
    /// Checks that a document is read as `value`, that writing it keeps the value, and what a property list gives.
    static func holds<T: Codable & Equatable>(
        _ data: Data, _ value: T, json5: Bool = false, list: String? = nil, line: Int = #line
    ) throws {
        for decoder in [JSONDecoder.with(json5: true), .with()] where decoder.allowsJSON5 || !json5 {
            try equal(try decoder.decode(T.self, from: data), value, line: line)
            for encoder in [JSONEncoder.with(), .with(.prettyPrinted)] {
                try survives(value, encoder, decoder, line: line)
            }
        }
        guard let list else { return }
        let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">"
        let text = Data("\(head)\(list)</plist>".utf8)
        try equal(try PropertyListDecoder().decode(T.self, from: text), value, line: line)
    }

    static func holds<T: Codable & Equatable>(
        _ text: String, _ value: T, json5: Bool = false, list: String? = nil, line: Int = #line
    ) throws {
        try holds(Data(text.utf8), value, json5: json5, list: list, line: line)
    }

    /// A catalogue whose keys differ from the names of its members.
    struct Catalogue: Codable, Equatable {
        var section = Section()

        enum CodingKeys: String, CodingKey { case section = "main-section" }

        /// A section of the catalogue.
        struct Section: Codable, Equatable {
            var title = "Birds", open = true, count = 2, id: UInt64 = 41, note: String?
            var entries = [
                Entry(name: "Wren", size: 9.5, also: ["Robin"]), Entry(name: "Owl", size: -40.25, also: nil),
            ]

            enum CodingKeys: String, CodingKey {
                case title = "Title", open, count, id = "ID", note, entries = "Entries"
            }
        }

        /// An entry of a section.
        struct Entry: Codable, Equatable {
            var name: String, size: Double, also: [String]?
        }
    }

    static let catalogue = """
        {
            "main-section": {
                "Title": "Birds", "open": true, "count":  2,
                "ID": 41,
                "Entries": [{"name": "Wren", "size": 9.50, "also": ["Robin"]},
                    {"name": "Owl", "size": -40.250}]
            }
        }
        """

    static let catalogueList = """
        <dict><key>main-section</key><dict><key>Title</key><string>Birds</string><key>open</key><true/>
        <key>count</key><integer>2</integer><key>ID</key><integer>41</integer><key>Entries</key><array>
        <dict><key>name</key><string>Wren</string><key>size</key><real>9.5</real>
        <key>also</key><array><string>Robin</string></array></dict>
        <dict><key>name</key><string>Owl</string><key>size</key><real>-40.25</real></dict></array></dict></dict>
        """

    /// A thing that can hold another thing of its kind.
    final class Device: Codable, Equatable {
        let kind: String, owner: Device?, faults: [String: [String]], readings: [String: Float]?, time: UInt64

        init(kind: String, owner: Device?, readings: [String: Float]?) {
            (self.kind, self.owner, self.readings, faults, time) = (kind, owner, readings, [:], 1_385_057_912_345)
        }

        enum CodingKeys: String, CodingKey { case kind = "class", owner, faults, readings, time }

        static func == (one: Device, other: Device) -> Bool {
            (one.kind, one.owner, one.faults, one.readings, one.time)
                == (other.kind, other.owner, other.faults, other.readings, other.time)
        }
    }

    /// Members whose names and values have every kind of character.
    struct Oddities: Codable, Equatable {
        var whole: UInt64 = 9_876_543_210, real = -1234.5678, small = 0.987654321e-12, large = 9.87654321e34
        var unnamed = 98765432109e66, zero: UInt8 = 0, one: UInt8 = 1, space = " ", quote = "\"", backslash = "\\"
        var controls = "\u{8}\u{C}\n\r\t", slash = "/ + /", digits = "9876543210", numbered = "digits"
        var special = "~`!@#$%^&*()-_=+[{':<,}]|;.>/?", hex = "\u{124}\u{4568}\u{89AC}\u{CDEE}\u{ABCE}\u{EF4B}"
        var yes = true, no = false, none: Bool?, array: [String] = [], object: [String: String] = [:]
        var url = URL(string: "https://example.org/a/"), comment = "/* // <!-- --", ending = " ", spaced = [3, 4, 5]
        var compact = [3, 4, 5], inner = "{\"a\":[\"b\"]}", quotes = "&#34; \" %22 0x22 &#x22;", escaped = "any"

        enum CodingKeys: String, CodingKey {
            case whole, real, small = "e", large = "E", unnamed = "", zero, one, space, quote, backslash, controls
            case slash, digits, numbered = "9876543210", special, hex, yes = "true", no = "false", none = "null", array
            case object, url, comment, ending = "# -- <!-- */", spaced = " w i d e ", compact, inner, quotes
            case escaped = "/\\\"\u{CAFE}\u{BABE}\u{AB98}\u{EF4B}\u{8}\u{C}\n\r\t~`!@#$%^&*()-_=+[]{}|;:',./<>?"
        }
    }

    /// An array of values of different kinds.
    struct Medley: Codable, Equatable {
        var title = "medley", lists = ["one": ["two"]], object: [String: String] = [:], array: [String] = []
        var number = -17, yes = true, no = false, gap = true, oddities = Oddities()
        var floats: [Float] = [0.25, 76.9, 11.22], year = 1999, doubles = [30, 0.3, 0.3, 1, 4, 4], last = "end"

        init() {}

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            title = try list.decode(String.self)
            lists = try list.decode([String: [String]].self)
            object = try list.decode([String: String].self)
            array = try list.decode([String].self)
            number = try list.decode(Int.self)
            yes = try list.decode(Bool.self)
            no = try list.decode(Bool.self)
            gap = try list.decodeNil()
            oddities = try list.decode(Oddities.self)
            floats = try (0..<3).map { _ in try list.decode(Float.self) }
            year = try list.decode(Int.self)
            doubles = try (0..<6).map { _ in try list.decode(Double.self) }
            last = try list.decode(String.self)
        }

        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            let start: [any Encodable] = [title, lists, object, array, number, yes, no]
            for value in start { try list.encode(value) }
            try list.encodeNil()
            try list.encode(oddities)
            try list.encode(contentsOf: floats)
            try list.encode(year)
            try list.encode(contentsOf: doubles)
            try list.encode(last)
        }
    }

    static let medley = #"""
        ["medley",
            {"one":["two"]},
            {}, [], -17, true,
            false, null,
            {"whole": 9876543210, "real": -1234.567800, "e": 0.987654321e-12, "E": 9.876543210E+34, "":  98765432109E66,
            "zero": 0, "one": 1, "space": " ", "quote": "\"", "backslash": "\\", "controls": "\b\f\n\r\t",
            "slash": "/ + \/", "digits": "9876543210", "9876543210": "digits",
            "special": "~`!@#$%^&*()-_=+[{':<,}]|;.>/?", "hex": "\u0124\u4568\u89AC\uCDEE\uabce\uef4B",
            "true": true, "false": false, "null": null, "array":[  ], "object":{  }, "url": "https://example.org/a/",
            "comment": "/* // <!-- --", "# -- <!-- */": " ", " w i d e " :[3 ,4

        ,

        5        ],"compact":[3,4,5], "inner": "{\"a\":[\"b\"]}", "quotes": "&#34; \u0022 %22 0x22 &#x22;",
            "\/\\\"\uCAFE\uBABE\uab98\uef4B\b\f\n\r\t~`!@#$%^&*()-_=+[]{}|;:',./<>?"
        : "any"},
            0.25 ,76.9
        ,
        11.22,

        1999,
        3e1,
        0.03e1,
        3e-1,
        1e00,4e+00,4e-00
        ,"end"]
        """#

    static let nesting = (String(repeating: "[", count: 19), String(repeating: "]", count: 19))
    typealias Deep = [[[[[[[[[[[[[[[[[[[String]]]]]]]]]]]]]]]]]]]

    /// A document with all that JSON5 adds.
    struct Additions: Codable, Equatable {
        var bare = "and quoted once", single = "with \"double\" quotes", broken = "One line \\n only!", hex = 0xC0FFEE
        var leading = 0.112358, trailing = 246810.0, plus = 4, comma = "after this", list = ["and this"], old = "form"
    }

    static let documents: [Fact] = [
        Fact("jsonPassTests") {
            let encodings: [String.Encoding] = [
                .utf8, .utf16BigEndian, .utf16LittleEndian, .utf32BigEndian, .utf32LittleEndian,
            ]
            for encoding in encodings {
                try holds(catalogue.data(using: encoding) ?? Data(), Catalogue(), list: catalogueList)
            }
            try holds(medley, Medley())
            let deep: Deep = [[[[[[[[[[[[[[[[[[["deep"]]]]]]]]]]]]]]]]]]]
            try holds("\(nesting.0)\"deep\"\(nesting.1)", deep)
            try holds("  [ \n{\"x\":  12.5, \"y\": -0.062500 }\n] ", [["x": 12.5, "y": -0.0625]])
            try holds(#"{"$k":"\"2\""}"#, ["$k": "\"2\""])
            try holds(#"{"70": {"*": "l\u00e9on", "t": "\u866b"}}"#, ["70": ["*": "l\u{E9}on", "t": "\u{866B}"]])
            try holds(#"{"b":2, "b":2}"# + "\n", ["b": 2], list: "<dict><key>b</key><integer>2</integer></dict>")
            let inner = "<dict><key>uvw/</key><string>d</string></dict>"
            let list = "<dict><key>b3</key><dict><key>y</key>\(inner)</dict></dict>"
            try holds(#"{"b3":{"y":{"uvw\/":"d"}}}"#, ["b3": ["y": ["uvw/": "d"]]], list: list)
            let base = Device(kind: "base", owner: nil, readings: nil)
            let owner = #"{"class":"base","faults":{},"time":1385057912345}"#
            let rest = #""readings":{"t":1.5},"time":1385057912345"#
            try holds(
                "{\"class\":\"probe\",\"owner\":\(owner),\"faults\":{},\(rest)}",
                Device(kind: "probe", owner: base, readings: ["t": 1.5]))
        },
        Fact("json5PassJSONFiles") {
            let additions = #"""
                // a note
                {
                  // another
                  bare: 'and quoted once', single: 'with "double" quotes',
                  broken: "One line \
                \\n only!",
                  hex: 0xc0ffee, leading: .112358, trailing: 246810., plus: +4,
                  comma: 'after this', list: ['and this',],
                  "old": "form",
                }
                """#
            var expected = Additions()
            expected.broken = try JSONDecoder.with(json5: true).read(additions, as: Additions.self).broken
            try equal(expected.broken.filter { !$0.isNewline }, Additions().broken)
            try holds(additions, expected, json5: true)
            let numbers = [2, 32, 14, 14, -11, -2, -32, 11, 13]
            let list = numbers.map { "<integer>\($0)</integer>" }.joined()
            try holds(
                "{ \"n\": [0x2, 0x20, 0xe, 0x0e, -0xb, -0x2, -0x20, 0xb, 0xd],\n}\n", ["n": numbers], json5: true,
                list: "<dict><key>n</key><array>\(list)</array></dict>")
            let reals = "<key>a</key><real>0.0456</real><key>b</key><real>0.0456</real>"
            try holds(
                "{a: .0456, b: 0.0456, c: 20., d: 20}", ["a": 0.0456, "b": 0.0456, "c": 20, "d": 20], json5: true,
                list: "<dict>\(reals)<key>c</key><integer>20</integer><key>d</key><integer>20</integer></dict>")
            try holds(
                #"{"a": "b", 'c' : 'd', "e" : 'f', "x": "so\x79", "y": "\x79\x79\x79y",}"#,
                ["a": "b", "c": "d", "e": "f", "x": "soy", "y": "yyyy"], json5: true)
            try holds(
                "/*first*/{ \n \"a\" :/* inside */ \"b\"\n // in it\n}/*with **** **/\n// last", ["a": "b"],
                json5: true, list: "<dict><key>a</key><string>b</string></dict>")
        },
        Fact("jsonFailTests") {
            let assumed = JSONDecoder.with(dictionary: true)
            try refuses(String.self, [#""text alone""#], assumed)
            let lists = [
                #"["open""#, #"["x"}"#, #"["twice",,]"#, #"[   , "late"]"#, #"["x"],"#, #"["x"]]"#,
                #"["\x16"]"#, #"[\bare]"#, #"["\018"]"#, #"["a" "b"]"#, #"["a": true]"#, #"["a", trust]"#,
                "['a']", "[\"\ta\tb\t\"]", #"["a\   b\  "]"#, "[\"a\nb\"]", "[\"a\\\nb\"]",
            ]
            let reals = ["[0e]", "[0e+]", "[0e+-1]"]
            let texts = [
                #"{bare: "x"}"#, #"{"a": call()}"#, #"{"a" : "open"#, #"{"a": "5\u4", "b": "c"}"#,
                #"{"a": "in \uAC8Z out"}"#, #"{"a":"#, #"{"a" null}"#, #"{"a", null}"#,
            ]
            let numbers = [#"{"a": 2 + 3}"#, #"{"a": 014}"#, #"{"a": 0x15}"#, #"{"a": -}"#, #"{"a": -42DEFq31}"#]
            for decoder in [assumed, JSONDecoder()] {
                try refuses([String].self, lists, decoder)
                try refuses([Float].self, reals, decoder)
                try refuses([String: String?].self, texts, decoder)
                try refuses([String: Int].self, numbers, decoder)
                try refuses([String: Bool].self, [#"{"a": true} "more""#, #"{"a": true,"#], decoder)
                try refuses([String: Float].self, [#"{"a":4.}"#], decoder)
                let bytes = Data("[\"pear".utf8) + [0xB9, 0xD9, 0xCD, 0xF8] + Data("\"]".utf8)
                try fails { try decoder.decode([String].self, from: bytes) }
            }
        },
    ]
}
