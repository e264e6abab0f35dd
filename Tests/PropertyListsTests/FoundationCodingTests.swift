import Foundation
import PropertyLists
import Testing

/// Behavior that types can observe in a coder, which is the same as in Foundation's coders.
@Suite struct `A coder like Foundation's` {
    private enum Numbered: Int, CodingKey { case first = 1, second }

    private struct Written: Encodable {
        let body: (any Encoder) throws -> Void
        func encode(to encoder: any Encoder) throws { try body(encoder) }
    }

    private struct Read: Decodable {
        static let body = CodingUserInfoKey(rawValue: "body")
        typealias Body = @Sendable (any Decoder) throws -> Void

        init(from decoder: any Decoder) throws {
            guard let key = Self.body, let body = decoder.userInfo[key] as? Body else { return }
            try body(decoder)
        }
    }

    private static func shown(_ path: [any CodingKey]) -> String {
        path.map { "\($0.stringValue)=\($0.intValue.map(String.init) ?? "-")" + ($0 is Numbered ? "!" : "") }
            .joined(separator: " ")
    }

    @Test func `keeps the keys of the type in the path of encoding`() throws {
        var paths: [String] = []
        func note(_ path: [any CodingKey]) { paths.append(Self.shown(path)) }
        _ = try PropertyList(
            encoding: Written { encoder in
                note(encoder.codingPath)
                var keyed = encoder.container(keyedBy: Numbered.self)
                try keyed.encode(
                    Written {
                        note($0.codingPath)
                        _ = $0.unkeyedContainer()
                    }, forKey: .first)
                var nested = keyed.nestedContainer(keyedBy: Numbered.self, forKey: .second)
                note(nested.codingPath)
                var list = nested.nestedUnkeyedContainer(forKey: .first)
                note(list.codingPath)
                let inner = list.nestedContainer(keyedBy: Numbered.self)
                note(inner.codingPath)
                note(nested.superEncoder().codingPath)
                note(nested.superEncoder(forKey: .second).codingPath)
            })
        #expect(
            paths == [
                "", "first=1!", "second=2!", "second=2! first=1!", "second=2! first=1! Index 0=0",
                "second=2! super=-", "second=2! second=2!",
            ])
    }

    @Test func `keeps the keys of the type in the path of decoding`() throws {
        let value: PropertyList = ["first": ["a"], "second": ["first": [["second": 1]], "super": [:], "second": [:]]]
        // It is safe because decoding is over before the paths are read.
        nonisolated(unsafe) var paths: [String] = []
        let note: @Sendable ([any CodingKey]) -> Void = { paths.append(Self.shown($0)) }
        let key = try #require(Read.body)
        let body: Read.Body = { decoder in
            guard decoder.codingPath.isEmpty else { return note(decoder.codingPath) }
            let keyed = try decoder.container(keyedBy: Numbered.self)
            _ = try keyed.decode(Read.self, forKey: .first)
            let nested = try keyed.nestedContainer(keyedBy: Numbered.self, forKey: .second)
            note(nested.codingPath)
            var list = try nested.nestedUnkeyedContainer(forKey: .first)
            note(list.codingPath)
            let inner = try list.nestedContainer(keyedBy: Numbered.self)
            note(inner.codingPath)
            note(try nested.superDecoder().codingPath)
            note(try nested.superDecoder(forKey: .second).codingPath)
            do {
                _ = try inner.decode(String.self, forKey: .second)
            } catch DecodingError.typeMismatch(_, let context) {
                note(context.codingPath)
            }
        }
        _ = try value.decoded(as: Read.self, userInfo: [key: body])
        #expect(
            paths == [
                "first=1!", "second=2!", "second=2! first=1!", "second=2! first=1! Index 0=0", "second=2! super=-",
                "second=2! second=2!", "second=2! first=1! Index 0=0 second=2!",
            ])
    }

    @Test func `continues what was encoded before in a nested container`() throws {
        let value = try PropertyList(
            encoding: Written { encoder in
                var keyed = encoder.container(keyedBy: Numbered.self)
                try keyed.encode(["a": 1, "b": 2], forKey: .first)
                var nested = keyed.nestedContainer(keyedBy: Name.self, forKey: .first)
                try nested.encode(3, forKey: Name("b"))
                try nested.encode(4, forKey: Name("c"))
                try keyed.encode(["x"], forKey: .second)
                var list = keyed.nestedUnkeyedContainer(forKey: .second)
                #expect(list.count == 1)
                try list.encode("y")
            })
        #expect(value == ["first": ["a": 1, "b": 3, "c": 4], "second": ["x", "y"]])
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Is encoded as nil although it is not an optional.
    private enum Choice: Codable, Equatable {
        case none, some(Int)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self = container.decodeNil() ? .none : .some(try container.decode(Int.self))
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            if case .some(let number) = self { try container.encode(number) } else { try container.encodeNil() }
        }
    }

    private struct Holder: Codable, Equatable {
        var choice: Choice
        var other: Choice
    }

    private struct Empty: Codable {}
    private struct HolderOfEmpty: Codable { var empty: Empty }

    @Test func `decodes a nil under a key whose type is not optional`() throws {
        let holder = Holder(choice: .none, other: .some(1))
        let value = try PropertyList(encoding: holder)
        #expect(value == ["other": 1])
        #expect(try value.decoded(as: Holder.self) == holder)
        #expect(throws: DecodingError.self) { try ([:] as PropertyList).decoded(as: HolderOfEmpty.self) }
    }

    // MARK: Encoding

    /// What a type does with its encoder, and the JSON text of the result, or nil if it is an error.
    private static let encodings: [(name: String, json: String?, body: @Sendable (any Encoder) throws -> Void)] = [
        (
            "a value, then a dictionary", #"{"first":3,"other":2}"#,
            {
                var single = $0.singleValueContainer()
                try single.encode(["first": 1, "other": 2])
                var keyed = $0.container(keyedBy: Numbered.self)
                try keyed.encode(3, forKey: .first)
            }
        ),
        (
            "a value, then an array", "[1,2]",
            {
                var single = $0.singleValueContainer()
                try single.encode([1])
                var list = $0.unkeyedContainer()
                try list.encode(2)
            }
        ),
        (
            "a string, then an array", nil,
            {
                var single = $0.singleValueContainer()
                try single.encode("a")
                _ = $0.unkeyedContainer()
            }
        ),
        (
            "the encoder of a subclass for its superclass", #"{"first":1,"second":2}"#,
            {
                var own = $0.container(keyedBy: Numbered.self)
                try own.encode(1, forKey: .first)
                var inherited = $0.container(keyedBy: Name.self)
                try inherited.encode(2, forKey: Name("second"))
            }
        ),
        (
            "encoders of superclasses in an array, used later", #"[0,"a","b",1]"#,
            {
                var list = $0.unkeyedContainer()
                try list.encode(0)
                var (first, second) = (
                    list.superEncoder().singleValueContainer(), list.superEncoder().singleValueContainer()
                )
                try list.encode(1)
                try second.encode("b")
                try first.encode("a")
            }
        ),
        (
            "an error inside the encoder of a superclass", nil,
            {
                var list = $0.unkeyedContainer()
                var inside = list.superEncoder().unkeyedContainer()
                try inside.encode([
                    Written {
                        _ = $0.unkeyedContainer()
                        throw CancellationError()
                    }
                ])
            }
        ),
        ("a number, then a value", #"{"first":42}"#, { try replace($0) { try $0.encode(0, forKey: .first) } }),
        (
            "a dictionary, then a value", #"{"first":42}"#,
            { try replace($0) { _ = $0.nestedContainer(keyedBy: Name.self, forKey: .first) } }
        ),
        (
            "an array, then a value", #"{"first":42}"#,
            { try replace($0) { _ = $0.nestedUnkeyedContainer(forKey: .first) } }
        ),
        (
            "containers without contents", "[[],{}]",
            {
                let map = Written { _ = $0.container(keyedBy: Name.self) }
                try [Written { _ = $0.unkeyedContainer() }, map].encode(to: $0)
            }
        ),
        ("a value without a container", nil, { try [Written { _ in }].encode(to: $0) }),
    ]

    /// Encodes 42 for a key that has a value already: in one way, and in the other.
    private static func replace(
        _ encoder: any Encoder, after encode: (inout KeyedEncodingContainer<Numbered>) throws -> Void
    ) throws {
        var keyed = encoder.container(keyedBy: Numbered.self)
        try encode(&keyed)
        try keyed.encode(42, forKey: .first)
        try encode(&keyed)
        var single = keyed.superEncoder(forKey: .first).singleValueContainer()
        try single.encode(42)
    }

    @Test(arguments: encodings.indices) func `encodes what a type puts into its containers`(_ row: Int) throws {
        let (name, json, body) = Self.encodings[row]
        let data = try? PropertyList(encoding: Written(body: body)).serialized(as: .json)
        #expect(data.map { String(decoding: $0, as: UTF8.self) } == json, "\(name)")
    }

    // MARK: Decoding

    /// What a type asks of its decoder, and what it finds out.
    private static let decodings: [(name: String, value: PropertyList, result: String, body: Reading)] = [
        (
            "nil checks, which consume nothing but nil", [1, .null, 2], "false false 1 true 2 true",
            {
                var list = try $0.unkeyedContainer()
                let checks = [try list.decodeNil(), try list.decodeNil()]
                return "\(checks[0]) \(checks[1]) \(try list.decode(Int.self)) \(try list.decodeNil()) "
                    + "\(try list.decode(Int.self)) \(list.isAtEnd)"
            }
        ),
        (
            "elements if present", [1], "1 nil nil",
            {
                var list = try $0.unkeyedContainer()
                let first = try list.decodeIfPresent(Int.self).map(String.init) ?? "nil"
                return "\(first) \(try list.decodeIfPresent(Int.self) == nil ? "nil" : "1") "
                    + "\(try list.decodeIfPresent(Date.self) == nil ? "nil" : "1")"
            }
        ),
        (
            "an element again after a failure", [1], "1",
            {
                var list = try $0.unkeyedContainer()
                return try (try? list.decode(String.self)) ?? "\(list.decode(Int.self))"
            }
        ),
        (
            "one type after another", [1, 2], "[1, 2]",
            { decoder in try (try? [String](from: decoder).description) ?? [Int](from: decoder).description }
        ),
        (
            "one scalar after another", "1.2", "1.2",
            {
                let single = try $0.singleValueContainer()
                return try (try? single.decode(Int.self)).map(String.init) ?? single.decode(String.self)
            }
        ),
        ("a null", ["first": .null], "no Int", { try "\(first($0, Int.self))" }),
        ("a null for a dictionary", ["first": .null], "no Dictionary", { try "\(first($0, [String: Int].self))" }),
        ("a null for an array", ["first": .null], "no Array", { try "\(first($0, [Int].self))" }),
        ("a key that is missing", [:], "no key first", { try "\(first($0, Int.self))" }),
        (
            "a container that is missing", [:], "no key first",
            { try "\($0.container(keyedBy: Numbered.self).nestedUnkeyedContainer(forKey: .first))" }
        ),
        ("a missing superclass as nil", [:], "true", { try "\(missing($0).singleValueContainer().decodeNil())" }),
        (
            "a missing superclass as a number", [:], "no Double",
            { try "\(missing($0).singleValueContainer().decode(Double.self))" }
        ),
        (
            "a missing superclass as a dictionary", [:], "no Dictionary",
            { try "\(missing($0).container(keyedBy: Numbered.self))" }
        ),
        ("a missing superclass as an array", [:], "no Array", { try "\(missing($0).unkeyedContainer())" }),
        (
            "keys that are equal as Swift strings", ["\u{E9}": 1, "e\u{301}": 1], "1",
            { try "\([String: Int](from: $0).count)" }
        ),
        ("a uid as a signed number", .uid(1), "other", { try "\(Int32(from: $0))" }),
    ]

    private typealias Reading = @Sendable (any Decoder) throws -> String

    private static func first<T: Decodable>(_ decoder: any Decoder, _ type: T.Type) throws -> T {
        try decoder.container(keyedBy: Numbered.self).decode(type, forKey: .first)
    }

    private static func missing(_ decoder: any Decoder) throws -> any Decoder {
        try decoder.container(keyedBy: Numbered.self).superDecoder(forKey: .first)
    }

    @Test(arguments: decodings.indices) func `decodes what a type asks for`(_ row: Int) throws {
        let (name, value, expected, body) = Self.decodings[row]
        // It is safe because decoding is over before the result is read.
        nonisolated(unsafe) var result = ""
        let key = try #require(Read.body)
        let note: Read.Body = { result = try body($0) }
        do {
            _ = try value.decoded(as: Read.self, userInfo: [key: note])
        } catch DecodingError.valueNotFound(let type, _) {
            result = "no \("\(type)".prefix { $0 != "<" })"
        } catch DecodingError.keyNotFound(let key, _) {
            result = "no key \(key.stringValue)"
        } catch {
            result = "other"
        }
        #expect(result == expected, "\(name)")
    }

    // MARK: Strategies

    private struct Upload: Codable, Equatable {
        var imageURL = "u"
        var at = [Date(timeIntervalSince1970: 1.5)]
        var byName = ["someKey": Date(timeIntervalSince1970: 2)]
        var bytes = Data([1, 2, 3])
    }

    private typealias Strategies = PropertyList.CodingStrategies

    private static let strategies: [(Strategies, json: String)] = [
        (
            Strategies(dates: .iso8601, data: .base64),
            #"{"at":["1970-01-01T00:00:01.5Z"],"byName":{"someKey":"1970-01-01T00:00:02Z"},"#
                + #""bytes":"AQID","imageURL":"u"}"#
        ),
        (
            Strategies(keys: .snakeCase, dates: .secondsSince1970, data: .base64),
            #"{"at":[1.5],"by_name":{"someKey":2},"bytes":"AQID","image_url":"u"}"#
        ),
        (
            Strategies(keys: .snakeCase, dates: .millisecondsSince1970, data: .base64),
            #"{"at":[1500],"by_name":{"someKey":2000},"bytes":"AQID","image_url":"u"}"#
        ),
    ]

    @Test(arguments: strategies.indices) func `converts keys, dates and data in both directions`(_ row: Int) throws {
        let (strategies, json) = Self.strategies[row]
        let bytes = try PropertyList(encoding: Upload(), strategies: strategies).serialized(as: .json)
        #expect(String(decoding: bytes, as: UTF8.self) == json)
        #expect(try PropertyList.decode(Upload.self, from: bytes, strategies: strategies) == Upload())
        // Dates and data of the format are decoded whatever the strategy is.
        let native = try PropertyList(encoding: Upload(), strategies: Strategies(keys: strategies.keys))
        #expect(try native.decoded(as: Upload.self, strategies: strategies) == Upload())
    }

    /// Names, their forms in snake case, and other keys from which they are decoded.
    @Test(arguments: [
        ("fooBar", "foo_bar", ["fooBar"]), ("myURLProperty", "my_url_property", ["myURLProperty"]),
        ("imageUrl", "image_url", ["image_Url", "image_URL"]), ("line1", "line1", ["line_1"]),
        ("_fooBar_", "_foo_bar_", []), ("foo_bar", "foo_bar", []), ("a", "a", []), ("__", "__", []), ("", "", []),
        ("URLString", "url_string", []),
    ])
    func `converts names to snake case and back`(_ name: String, _ stored: String, _ others: [String]) throws {
        let encoded = try PropertyList(
            encoding: Written { encoder in
                var keyed = encoder.container(keyedBy: Name.self)
                try keyed.encode(1, forKey: Name(name))
                try keyed.encode([name: 1], forKey: Name("by"))
            }, strategies: Strategies(keys: .snakeCase))
        #expect(encoded == .dictionary([stored: 1, "by": [name: 1]]))
        let body: Read.Body = { decoder in
            let keyed = try decoder.container(keyedBy: Name.self)
            #expect(keyed.contains(Name(name)))
            #expect(try keyed.decode(Int.self, forKey: Name(name)) == 7)
        }
        for key in [stored] + others {
            let value: PropertyList = .dictionary([key: 7])
            _ = try value.decoded(
                as: Read.self, strategies: Strategies(keys: .snakeCase), userInfo: [#require(Read.body): body])
        }
    }

    @Test func `refuses a date that a strategy cannot convert`() {
        let strategies = Strategies(dates: .iso8601)
        for value in ["2026-13-01T00:00:00Z", "soon", 5, true] as [PropertyList] {
            #expect(throws: DecodingError.self) { try value.decoded(as: Date.self, strategies: strategies) }
        }
        #expect(throws: EncodingError.self) {
            try PropertyList(encoding: [Date(timeIntervalSince1970: 1e18)], strategies: strategies)
        }
        // Foundation's description of this date traps, so the error must not reach the testing library.
        do {
            _ = try PropertyList(encoding: Date(timeIntervalSince1970: .nan), strategies: strategies)
            Issue.record("encoded")
        } catch {
            let text = "\(error)"
            #expect(text.contains("The date is beyond the years of ISO 8601."))
        }
    }

    // MARK: Round trips

    private enum Level: Int, Codable { case low = 1, high }
    private struct Label: Codable, Hashable { var text: String }

    private struct Everything: Codable, Hashable, Sendable {
        var level = Level.high
        var name: String? = "name"
        var missing: Int?
        var link = URL(string: "https://example.com/a/b?c#d")
        var data = Data([0xDE, 0xAD, 0xBE, 0xEF])
        var date = Date.distantPast
    }

    private static func values(_ values: any (Codable & Hashable & Sendable)...) -> [any (
        Codable & Hashable & Sendable
    )] { values }

    private static let roundTrips: [(formats: [PropertyList.Format], values: [any (Codable & Hashable & Sendable)])] = [
        (
            [.xml, .binary, .json],
            values(
                [Int8.min, .max], [Int16.min, .max], [Int32.min, .max], [Int64.min, .max], [UInt8.max], [UInt16.max],
                [UInt32.max], [UInt64.max], [Float.greatestFiniteMagnitude, -.leastNormalMagnitude, 3.14],
                [
                    Double.greatestFiniteMagnitude, -.leastNormalMagnitude, .leastNonzeroMagnitude,
                    7.45673334164903e-115,
                ],
                ["\u{1F698}", "\u{1F469}\u{1F3FB}\u{2764}\u{FE0F}", "&<>'\"", "/", "\u{E9}"], ["\u{E9}": "\u{2028}"],
                [Label(text: "a"): 1], [Label: Int](), [3: "c"], Decimal(string: "-0.1234567891011121314"),
                [Decimal(UInt64.max) + 1, Decimal(Int64.min) - 1], [[["a"]], [[]]], true, 1, "a", Level.low
            )
        ),
        (
            [.xml, .binary],
            values(
                Everything(), [Float.infinity, -.infinity], [Double.infinity, -.infinity],
                // These are the first moment of the year 0, one in the year 9, and one far in the future.
                [-63_145_612_800, -62_843_013_827, 728_512_994, 999_021_692_799].map(
                    Date.init(timeIntervalSinceReferenceDate:)), Data(), Date(timeIntervalSinceReferenceDate: 0))
        ),
        ([.binary, .json], values(["a\0b": "c\0d"])),
    ]

    @Test(arguments: roundTrips.indices) func `decodes what it has encoded`(_ row: Int) throws {
        func check<T: Codable & Hashable & Sendable>(_ value: T, _ format: PropertyList.Format) throws {
            let data = try PropertyList(encoding: value).serialized(as: format)
            #expect(try PropertyList.decode(T.self, from: data, as: format) == value, "\(format) \(value)")
        }
        for format in Self.roundTrips[row].formats {
            for value in Self.roundTrips[row].values { try check(value, format) }
        }
    }

    // MARK: Texts

    /// Texts with their values, or nil if they are refused.
    private static let texts: [(String, PropertyList?)] = [
        ("<plist><true> </true></plist>", true), ("<plist><string><![CDATA[a&b]]></string></plist>", "a&b"),
        ("<plist><string>&#x41;&amp;</string></plist>", "A&"),
        ("<plist><!-- c --><array><!-- d --></array></plist>", []),
        ("<?xml version='1.0'?><plist version='1.0'><dict><key>a</key><string></string></dict></plist>", ["a": ""]),
        ("<plist><integer> -\t0xFACE</integer></plist>", -0xFACE),
        ("<plist><real>  -iNf</real></plist>", .real(-.infinity)),
        ("<plist><real>31415.9e-4</real></plist>", 3.14159), ("<plist><string   >a</string></plist>", "a"),
        ("<plist><string>&#128664;</string></plist>", "\u{1F698}"),
        ("<string><![CDATA[&amp; <![CDATA[]]]> outside</string>", "&amp; <![CDATA[] outside"),
        ("<plist><dict><data>YQ==</data><string>b</string></dict></plist>", nil),
        ("<plist><dict><string>a</string><string>b</string></dict></plist>", nil),
        ("<plist><dict><key>a</key><strings>b</strings></dict></plist>", nil),
        ("<plist><true/><string>a</string></plist>", nil), ("<plist></plist>", nil), ("plist><true/></plist>", nil),
        ("<-- open\n<plist><true/></plist>", nil), ("<?xml version='1.0'?><!other plist><plist><true/></plist>", nil),
        ("<!DOCTYPE plist [<!ELEMENT a (#PCDATA)>]><plist><true/></plist>", nil), ("<array", nil),
        ("<array><!-- closed -->", nil), ("<plist><string>&#12345678901;</string></plist>", nil),
        ("<plist><real>1.e</real></plist>", nil), ("<plist><real>infinite</real></plist>", nil),
        ("data = <7465\n73 74   31\n\n32>;", ["data": .data(Data("test12".utf8))]),
        ("// first */\na = /*b*/ \"c\"; // d\ne = f /*g// */;", ["a": "c", "e": "f"]),
        ("{ a = b; }\r\nmore text", nil), ("a = b;\n\u{3000}\nc = d;", nil), ("'\\Ux'", nil), ("good bye", nil),
    ]

    @Test func `reads the same files`() throws {
        for (text, value) in Self.texts { #expect((try? PropertyList(parsing: text)) == value, "\(text)") }
        var bytes = Array(try PropertyList(["a": 1]).serialized(as: .binary))
        for version in "01x" {
            bytes[7] = version.asciiValue ?? 0
            #expect(try PropertyList(parsing: bytes) == ["a": 1], "\(version)")
        }
    }

    @Test func `has a sentence for every error`() {
        let errors: [any Error] = [
            DecodingFailure(.emptyInput, offset: 0, format: .json), EncodingFailure(.tooLarge(limit: 1), format: .xml),
            PropertyList.ConversionFailure(type: "T", path: EntryPath()),
        ]
        for error in errors { #expect(error.localizedDescription == "\(error)") }
    }
}
