import Foundation
import PropertyLists
import TestSupport
import Testing

@Suite struct WriterTests {
    typealias Problem = EncodingFailure.Problem

    static func date(_ seconds: Double) -> PropertyList { .date(Date(timeIntervalSinceReferenceDate: seconds)) }

    /// Expects a failure for the value at `:list:1:key`, which cannot be written.
    private static func expectRefusal(
        _ value: PropertyList, _ format: PropertyList.Format, _ problem: Problem,
        options: PropertyList.WritingOptions = .default
    ) {
        let root: PropertyList = .dictionary(["list": .array([.string("x"), .dictionary(["key": value])])])
        let failure = #expect(throws: EncodingFailure.self) { try root.serialized(as: format, options: options) }
        #expect(failure?.problem == problem)
        #expect(failure?.path.description == ":list:1:key")
        #expect(failure?.format == format)
        #expect(throws: EncodingFailure.self) { try value.serialized(as: format, options: options) }
    }

    /// Apple's tools write and read other control characters as they are.
    @Test func `XML refuses NUL`() throws {
        let (text, code) = ("text before it \0 and after it", 0 as UInt32)
        Self.expectRefusal(.string(text), .xml, .characterNotSupported(code))
        let failure = #expect(throws: EncodingFailure.self) {
            try PropertyList.dictionary([text: .integer(1)]).serialized(as: .xml)
        }
        #expect(failure?.problem == .characterNotSupported(code))
    }

    @Test(arguments: [
        (0.5, Problem.fractionOfSecond), (-0.001, .fractionOfSecond), (.nan, .dateOutOfRange),
        (.infinity, .dateOutOfRange),
        (-.infinity, .dateOutOfRange), (1e13 + 1, .dateOutOfRange), (-1e13 - 1, .dateOutOfRange),
        (1e300, .dateOutOfRange),
    ])
    func `XML refuses a date that it would not give back`(_ seconds: Double, _ problem: Problem) {
        Self.expectRefusal(Self.date(seconds), .xml, problem)
    }

    @Test(arguments: [0, 1, UInt64.max])
    func `XML refuses a dictionary that would come back as a uid`(_ number: UInt64) {
        Self.expectRefusal(.dictionary(["CF$UID": .integer(PropertyList.Integer(number))]), .xml, .looksLike(.uid))
    }

    @Test(arguments: [
        PropertyList.dictionary(["CF$UID": .integer(-1)]), .dictionary(["CF$UID": .string("1")]),
        .dictionary(["CF$UID": .integer(1), "b": .integer(2)]), .uid(.max), .real(.nan),
    ])
    func `XML writes values that only resemble those it rejects`(_ value: PropertyList) throws {
        #expect(try PropertyList(parsing: value.serialized(as: .xml)) == value)
    }

    @Test(arguments: [1e13, -1e13])
    func `XML writes the farthest dates`(_ seconds: Double) throws {
        let value = Self.date(seconds)
        #expect(try PropertyList(parsing: value.serialized(as: .xml)) == value)
    }

    @Test(arguments: [(0.5, 0.0), (-0.5, -1), (1.999, 1), (-1.001, -2), (7, 7)])
    func `XML floors a date where loss is allowed`(_ seconds: Double, _ floor: Double) throws {
        var options = PropertyList.WritingOptions()
        options.isLossy = true
        let bytes = try Self.date(seconds).serialized(as: .xml, options: options)
        #expect(try PropertyList(parsing: bytes) == Self.date(floor))
    }

    @Test(arguments: [
        (date(0), Problem.kindNotSupported(.date)), (.data(Data()), .kindNotSupported(.data)),
        (.uid(1), .kindNotSupported(.uid)), (.real(.nan), .notFinite), (.real(.infinity), .notFinite),
        (.real(-.infinity), .notFinite),
    ])
    func `JSON refuses what it has no type for`(_ value: PropertyList, _ problem: Problem) {
        Self.expectRefusal(value, .json, problem)
    }

    @Test(arguments: [
        (date(0), "\"2001-01-01T00:00:00Z\""), (date(0.25), "\"2001-01-01T00:00:00.25Z\""),
        (.data(Data([0, 255])), "\"AP8=\""), (.uid(7), "7"), (.real(1), "1.0"), (.integer(1), "1"),
    ])
    func `JSON coerces on request`(_ value: PropertyList, _ text: String) throws {
        var options = PropertyList.WritingOptions()
        options.coerces = true
        #expect(String(decoding: try value.serialized(as: .json, options: options), as: UTF8.self) == text)
    }

    @Test(arguments: [
        (date(0), "{\"$date\":\"2001-01-01T00:00:00Z\"}"), (.data(Data([0, 255])), "{\"$data\":\"AP8=\"}"),
        (.uid(7), "{\"$uid\":7}"), (.real(.nan), "{\"$real\":\"nan\"}"),
        (.dictionary(["$date": .string("x")]), "{\"$$date\":\"x\"}"), (.dictionary(["$": .integer(1)]), "{\"$$\":1}"),
        (.dictionary(["$ref": .string(":a")]), "{\"$ref\":\":a\"}"), (.dictionary(["$$ref": 1]), "{\"$$$ref\":1}"),
        (.dictionary(["$a": .integer(1), "$b": .integer(2)]), "{\"$a\":1,\"$b\":2}"), (.real(1.5), "1.5"),
    ])
    func `JSON wraps on request`(_ value: PropertyList, _ text: String) throws {
        var options = PropertyList.WritingOptions()
        options.wrapsInJSON = true
        #expect(String(decoding: try value.serialized(as: .json, options: options), as: UTF8.self) == text)
    }

    @Test(arguments: [(Double.nan, "nan"), (.infinity, "infinity"), (-.infinity, "-infinity")])
    func `JSON wraps a date that is not finite and reads it back`(_ seconds: Double, _ name: String) throws {
        var options = PropertyList.WritingOptions()
        options.wrapsInJSON = true
        let bytes = try Self.date(seconds).serialized(as: .json, options: options)
        #expect(String(decoding: bytes, as: UTF8.self) == "{\"$date\":\"\(name)\"}")
        guard case .date(let date) = try PropertyList(parsing: bytes, as: .json, options: .init(unwrapsJSON: true))
        else {
            Issue.record("not a date")
            return
        }
        let read = date.timeIntervalSinceReferenceDate
        #expect(read == seconds || read.isNaN && seconds.isNaN)
    }

    @Test(arguments: [
        ("\"", "\"\\\"\""), ("\\", "\"\\\\\""), ("/", "\"/\""), ("\u{8}\u{C}\n\r\t", "\"\\b\\f\\n\\r\\t\""),
        ("\u{0}\u{1}\u{1F}", "\"\\u0000\\u0001\\u001f\""), ("\u{7F}\u{2028}\u{2029}é😀", "\"\u{7F}\u{2028}\u{2029}é😀\""),
        ("<>&'", "\"<>&'\""), ("", "\"\""), ("0123456789abcdef\"", "\"0123456789abcdef\\\"\""),
    ])
    func `JSON escapes what must be and nothing else`(_ text: String, _ expected: String) throws {
        let bytes = try PropertyList.string(text).serialized(as: .json)
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test(arguments: [
        (0.0, "0.0"), (-0.0, "-0.0"), (1, "1.0"), (0.1, "0.1"), (1e15, "1000000000000000.0"), (1e16, "1e+16"),
        (1e22, "1e+22"),
        (1e300, "1e+300"), (1e-5, "1e-05"), (5e-1, "0.5"), (123_456_789.125, "123456789.125"),
        (.greatestFiniteMagnitude, "1.7976931348623157e+308"), (.leastNonzeroMagnitude, "5e-324"),
    ])
    func `JSON writes a real with a point or an exponent`(_ number: Double, _ expected: String) throws {
        let text = String(decoding: try PropertyList.real(number).serialized(as: .json), as: UTF8.self)
        #expect(text == expected)
        #expect(text.contains { ".e".contains($0) })
    }

    @Test func `pretty JSON has two spaces a level`() throws {
        var options = PropertyList.WritingOptions()
        options.isPretty = true
        let value = try ValueNotation.value("{b: [1, {c: []}], a: {}}")
        let expected = """
            {
              "a": {},
              "b": [
                1,
                {
                  "c": []
                }
              ]
            }

            """
        #expect(String(decoding: try value.serialized(as: .json, options: options), as: UTF8.self) == expected)
        #expect(
            String(decoding: try value.serialized(as: .json), as: UTF8.self) == "{\"a\":{},\"b\":[1,{\"c\":[]}]}")
    }

    @Test(arguments: [PropertyList.integer(1), .real(1), .boolean(true), date(0), .uid(1)])
    func `OpenStep refuses what it cannot type`(_ value: PropertyList) throws {
        Self.expectRefusal(value, .openstep, .kindNotSupported(value.kind))
        var options = PropertyList.WritingOptions()
        options.coerces = true
        let back = try PropertyList(parsing: value.serialized(as: .openstep, options: options), as: .openstep)
        #expect(back.kind == .string)
    }

    @Test(arguments: [
        ("a", "a"), ("a.b-c_d$e:f/9", "a.b-c_d$e:f/9"), ("", "\"\""), ("a b", "\"a b\""), ("/a", "\"/a\""),
        ("a/b", "a/b"),
        ("-1", "\"-1\""), ("\"", "\"\\\"\""), ("\\", "\"\\\\\""), ("a;", "\"a;\""), ("é", "\"é\""), ("a+b", "\"a+b\""),
    ])
    func `a string is unquoted if both readers accept it`(_ text: String, _ expected: String) throws {
        for format in [PropertyList.Format.openstep, .gnustep] {
            let written = String(decoding: try PropertyList.string(text).serialized(as: format), as: UTF8.self)
            #expect(written.trimmingCharacters(in: .newlines) == expected)
        }
    }

    @Test(arguments: [
        (0, "10 00"), (255, "10 FF"), (256, "11 01 00"), (65535, "11 FF FF"), (65536, "12 00 01 00 00"),
        (4_294_967_295, "12 FF FF FF FF"), (4_294_967_296, "13 00 00 00 01 00 00 00 00"),
        (-1, "13 FF FF FF FF FF FF FF FF"), (.max, "13 7F FF FF FF FF FF FF FF"), (.min, "13 80 00 00 00 00 00 00 00"),
    ])
    func `binary uses the smallest integer that holds the number`(_ number: Int, _ encoded: String) throws {
        let bytes = try PropertyList.integer(PropertyList.Integer(number)).serialized(as: .binary)
        #expect(try bytes.dropFirst(8).dropLast(33) == Data(hex: encoded))
    }

    /// The sign of a NaN depends on the processor.
    @Test func `all NaN values have the same bytes in binary`() throws {
        let others = [-Double.nan, Double(nan: 1, signaling: false), Double(nan: 1, signaling: true)]
        for kind in [PropertyList.real, { .date(Date(timeIntervalSinceReferenceDate: $0)) }] {
            let expected = try PropertyList.array([kind(.nan), kind(.nan)]).serialized(as: .binary)
            for other in others {
                #expect(kind(other) == kind(.nan))
                #expect(try PropertyList.array([kind(.nan), kind(other)]).serialized(as: .binary) == expected)
            }
        }
    }

    @Test func `binary uses sixteen bytes if a signed word cannot hold an integer`() throws {
        for number in [UInt64(1) << 63, .max] {
            let bytes = try PropertyList.integer(PropertyList.Integer(number)).serialized(as: .binary)
            #expect(bytes.dropFirst(8).dropLast(33) == Data([0x14]) + Data(count: 8) + number.bigEndian(width: 8))
        }
    }

    @Test(arguments: [(254, 1), (255, 2), (256, 2), (65534, 2), (65535, 4)])
    func `binary uses references that are just wide enough`(_ elements: Int, _ size: UInt8) throws {
        let value = PropertyList.array((0..<elements).map { .integer(PropertyList.Integer($0)) })
        let bytes = try value.serialized(as: .binary)
        #expect(bytes[bytes.count - 25] == size)
        #expect(try PropertyList(parsing: bytes) == value)
    }

    @Test func `a binary file is marked as sorted only on request and if it is`() throws {
        var options = PropertyList.WritingOptions()
        options.marksSortedRoot = true
        let value = try ValueNotation.value("{b: 1, a: 2}")
        func mark(_ value: PropertyList) throws -> UInt8 {
            let bytes = try value.serialized(as: .binary, options: options)
            return bytes[bytes.count - 27]
        }
        #expect(try mark(value) == 1)
        options.keepsKeyOrder = true
        #expect(try mark(value) == 0)
        #expect(try mark(.array([])) == 0)
        options = .default
        #expect(try mark(value) == 0)
    }
}

@Test func `wrapped JSON escapes a key only if it is the only one`() throws {
    let value: PropertyList = ["a": ["$x": 1], "$b": 2]
    var options = PropertyList.WritingOptions()
    options.wrapsInJSON = true
    options.keepsKeyOrder = true
    #expect(
        String(decoding: try value.serialized(as: .json, options: options), as: UTF8.self) == #"{"a":{"$$x":1},"$b":2}"#
    )
}
