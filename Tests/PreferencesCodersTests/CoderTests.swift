import Foundation
import PreferencesCoders
import PropertyLists
import TestSupport
import Testing

/// The coders beside those of Foundation.
@Suite struct `A coder with Foundation's members` {
    /// A random value with everything that has several forms.
    private struct Parcel: Codable, Equatable {
        var date: Date
        var dates: [Date]
        var data: [String: Data]
        var float: Float
        var doubles: [Double]
        var decimal: Decimal
        var link: URL?
        var optional: [Int?]
        var names: [String: String?]
        var wide: [UInt64]

        init(_ random: inout SeededGenerator) {
            func date() -> Date {
                Date(timeIntervalSince1970: Double(Int.random(in: -1 << 33...1 << 34, using: &random)))
            }
            func data() -> Data {
                Data(
                    (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
            }
            (self.date, dates) = (date(), [date(), date()])
            self.data = ["fooBar": data(), "b_c": data()]
            float = Float(bitPattern: UInt32.random(in: 0..<0x7F80_0000, using: &random))
            doubles = [
                Double(bitPattern: UInt64.random(in: 0..<0x7FF0 << 48, using: &random)),
                Double(Int.random(in: -1 << 60...1 << 60, using: &random)), -0.5, 0, 3,
            ]
            decimal = Decimal(Int64.random(in: .min...Int64.max, using: &random)) / 1000
            link = Bool.random(using: &random) ? URL(string: "https://example.com/a?b=\(doubles[1])#c") : nil
            optional = [nil, Int.random(in: .min...Int.max, using: &random)]
            names = ["a/b": nil, "é": "“\u{1}\\\"", "": ""]
            wide = [.max, UInt64.random(in: 0...UInt64.max, using: &random)]
        }
    }

    /// The same settings for the coders of both libraries.
    private static let forms: [(name: String, set: @Sendable (Coders) -> Void)] = [
        ("default", { _ in }),
        (
            "seconds and arrays",
            {
                ($0.here.encoder.dateEncodingStrategy, $0.here.decoder.dateDecodingStrategy) =
                    (.secondsSince1970, .secondsSince1970)
                ($0.there.encoder.dateEncodingStrategy, $0.there.decoder.dateDecodingStrategy) =
                    (.secondsSince1970, .secondsSince1970)
                ($0.here.encoder.dataEncodingStrategy, $0.here.decoder.dataDecodingStrategy) =
                    (.deferredToData, .deferredToData)
                ($0.there.encoder.dataEncodingStrategy, $0.there.decoder.dataDecodingStrategy) =
                    (.deferredToData, .deferredToData)
            }
        ),
        (
            "milliseconds, snake case, pretty",
            {
                ($0.here.encoder.dateEncodingStrategy, $0.here.decoder.dateDecodingStrategy) =
                    (.millisecondsSince1970, .millisecondsSince1970)
                ($0.there.encoder.dateEncodingStrategy, $0.there.decoder.dateDecodingStrategy) =
                    (.millisecondsSince1970, .millisecondsSince1970)
                ($0.here.encoder.keyEncodingStrategy, $0.here.decoder.keyDecodingStrategy) =
                    (.convertToSnakeCase, .convertFromSnakeCase)
                ($0.there.encoder.keyEncodingStrategy, $0.there.decoder.keyDecodingStrategy) =
                    (.convertToSnakeCase, .convertFromSnakeCase)
                $0.here.encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
                $0.there.encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            }
        ),
        (
            "text",
            {
                ($0.here.encoder.dateEncodingStrategy, $0.here.decoder.dateDecodingStrategy) = (.iso8601, .iso8601)
                ($0.there.encoder.dateEncodingStrategy, $0.there.decoder.dateDecodingStrategy) = (.iso8601, .iso8601)
            }
        ),
    ]

    private struct Coders {
        let here = (encoder: PreferencesCoders.JSONEncoder(), decoder: PreferencesCoders.JSONDecoder())
        let there = (encoder: Foundation.JSONEncoder(), decoder: Foundation.JSONDecoder())
    }

    @Test(arguments: forms.indices) func `reads and writes the JSON that Foundation writes and reads`(_ form: Int)
        throws
    {
        var random = SeededGenerator(stream: "coders", round: form)
        let coders = Coders()
        Self.forms[form].set(coders)
        for _ in 0..<60 {
            let parcel = Parcel(&random)
            let (written, expected) = (try coders.here.encoder.encode(parcel), try coders.there.encoder.encode(parcel))
            #expect(try coders.there.decoder.decode(Parcel.self, from: written) == parcel, "\(Seed.ofThisRun)")
            #expect(try coders.here.decoder.decode(Parcel.self, from: expected) == parcel, "\(Seed.ofThisRun)")
            let (mine, its) = (
                try JSONSerialization.jsonObject(with: written), try JSONSerialization.jsonObject(with: expected)
            )
            #expect((mine as? NSDictionary) == (its as? NSDictionary), "\(Seed.ofThisRun)")
        }
    }

    @Test(arguments: [true, false]) func `reads and writes the property lists of Foundation`(_ isBinary: Bool) throws {
        var random = SeededGenerator(stream: "property list coders")
        let (here, there) = (PreferencesCoders.PropertyListEncoder(), Foundation.PropertyListEncoder())
        here.outputFormat = isBinary ? .binary : .xml
        there.outputFormat = isBinary ? .binary : .xml
        for _ in 0..<60 {
            let parcel = Parcel(&random)
            let (written, expected) = (try here.encode(parcel), try there.encode(parcel))
            #expect(
                try Foundation.PropertyListDecoder().decode(Parcel.self, from: written) == parcel, "\(Seed.ofThisRun)")
            #expect(
                try PreferencesCoders.PropertyListDecoder().decode(Parcel.self, from: expected) == parcel,
                "\(Seed.ofThisRun)")
        }
    }

    @Test func `encodes a property list in the forms that are set`() throws {
        let encoder = PreferencesCoders.JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        let list: PropertyList = [
            "a": .date(Date(timeIntervalSince1970: 5)), "b": [.data(Data([1, 2])), .uid(0), .null, 2.5],
        ]
        let text = String(decoding: try encoder.encode(list), as: UTF8.self)
        #expect(text == #"{"a":5,"b":["AQI=",{"CF$UID":0},null,2.5]}"#)
        encoder.keyEncodingStrategy = .convertToSnakeCase
        #expect(String(decoding: try encoder.encode(["myKey": 1] as PropertyList), as: UTF8.self) == #"{"myKey":1}"#)
        #expect(throws: EncodingError.self) { try encoder.encode(["a": PropertyList.real(.nan)]) }
        let deep = (0..<600).reduce(PropertyList.null) { list, _ in [list] }
        #expect(throws: EncodingError.self) { try encoder.encode(deep) }
    }

    // MARK: Rows that once differed from Foundation

    @Test func `leaves out the fraction of a second in XML`() throws {
        let encoder = PreferencesCoders.PropertyListEncoder()
        encoder.outputFormat = .xml
        let data = try encoder.encode(["d": Date(timeIntervalSinceReferenceDate: -1.25)])
        let read = try Foundation.PropertyListDecoder().decode([String: Date].self, from: data)
        #expect(read == ["d": Date(timeIntervalSinceReferenceDate: -2)])
    }

    private class Base: Codable {
        var name = "base"
        init() {}
        private enum CodingKeys: CodingKey { case name }
    }

    private final class Derived: Base {
        var note = "keep"

        override init() { super.init() }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            note = try container.decode(String.self, forKey: .note)
            try super.init(from: container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(note, forKey: .note)
            try super.encode(to: container.superEncoder())
        }

        private enum Keys: CodingKey { case note }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    @Test func `converts the key of a superclass`() throws {
        let (encoder, decoder) = (PreferencesCoders.JSONEncoder(), PreferencesCoders.JSONDecoder())
        encoder.keyEncodingStrategy = .custom { Name("X" + ($0.last?.stringValue ?? "")) }
        decoder.keyDecodingStrategy = .custom { Name(String(($0.last?.stringValue ?? "").dropFirst())) }
        let derived = Derived()
        (derived.name, derived.note) = ("changed", "noted")
        let data = try encoder.encode(derived)
        #expect(String(decoding: data, as: UTF8.self) == #"{"Xnote":"noted","Xsuper":{"Xname":"changed"}}"#)
        let read = try decoder.decode(Derived.self, from: data)
        #expect(read.name == "changed" && read.note == "noted")
    }

    private struct Digits: Codable, Equatable {
        var waterH2O: Int?
        var time1H: Int?
        var line2: Int?
    }

    @Test(arguments: [#"{"water_h2o":1,"time_1h":2,"line2":3}"#, #"{"water_h2_o":1,"time1_h":2,"line2":3}"#])
    func `finds names with digits in snake case`(_ text: String) throws {
        let decoder = PreferencesCoders.JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let read = try decoder.decode(Digits.self, from: Data(text.utf8))
        #expect(read == Digits(waterH2O: 1, time1H: 2, line2: 3))
    }

    @Test func `lists a key once`() throws {
        struct Keys: Decodable {
            let names: [String]
            init(from decoder: any Decoder) throws {
                names = try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue)
            }
        }
        let decoder = PreferencesCoders.JSONDecoder()
        #expect(try decoder.decode(Keys.self, from: Data("{\"e\u{301}\":1,\"é\":2}".utf8)).names == ["é"])
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        #expect(try decoder.decode(Keys.self, from: Data(#"{"a_b":1,"aB":2}"#.utf8)).names == ["aB"])
    }

    @Test func `takes the text of a null for nil only`() {
        for list in [#"("a","$null")"#, #"("$null")"#] {
            let error = #expect(throws: DecodingError.self) {
                try PreferencesCoders.PropertyListDecoder().decode([String].self, from: Data(list.utf8))
            }
            guard case .valueNotFound? = error else {
                Issue.record("\(list): \(String(describing: error))")
                continue
            }
        }
        #expect(throws: DecodingError.self) {
            try PreferencesCoders.PropertyListDecoder().decode([String: URL].self, from: Data("{a=$null;}".utf8))
        }
    }

    @Test(arguments: ["\n", " {\n} "]) func `reads an empty OpenStep file`(_ text: String) throws {
        var format = PropertyListDecoder.PropertyListFormat.binary
        let read = try PreferencesCoders.PropertyListDecoder()
            .decode([String: Int].self, from: Data(text.utf8), format: &format)
        #expect(read == [:] && format == .openStep)
    }

    private static let assumed: [(text: String, isJSON5: Bool)] = [
        ("{\"a\":1}", false), ("\"a\":1", false), ("a:1 // c", true), ("/*c*/{a:1}", true), ("// x\n{a:1}", true),
        (" \"a\" : 1\n", false),
    ]

    @Test(arguments: assumed) func `reads a dictionary with or without braces`(_ text: String, _ isJSON5: Bool) throws {
        let decoder = PreferencesCoders.JSONDecoder()
        decoder.assumesTopLevelDictionary = true
        decoder.allowsJSON5 = isJSON5
        let encodings: [String.Encoding] = [
            .utf8, .utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian,
        ]
        for encoding in encodings {
            for text in [text, "\u{FEFF}" + text] {
                let data = try #require(text.data(using: encoding))
                #expect(try decoder.decode([String: Int].self, from: data) == ["a": 1], "\(encoding)")
            }
        }
    }

    @Test func `asks no strategy for a null`() throws {
        let decoder = PreferencesCoders.JSONDecoder()
        decoder.dateDecodingStrategy = .custom { _ in Date(timeIntervalSince1970: 0) }
        #expect(throws: DecodingError.self) { try decoder.decode([Date].self, from: Data("[null]".utf8)) }
        #expect(try decoder.decode([Date?].self, from: Data("[null]".utf8)) == [nil])
    }

    @Test func `finds all digits of a number in a deep text`() throws {
        struct Number: Decodable { let n: Decimal }
        let deep =
            String(repeating: "[", count: 180) + "1.5" + String(repeating: ",1.5", count: 2000)
            + String(repeating: "]", count: 180)
        let text = "{\"n\":0.1234567890123456789,\"x\":\(deep)}"
        let number = try PreferencesCoders.JSONDecoder().decode(Number.self, from: Data(text.utf8)).n
        #expect(number.description == "0.1234567890123456789")
    }
}
