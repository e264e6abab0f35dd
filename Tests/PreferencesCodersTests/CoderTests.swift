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
        #expect(throws: EncodingError.self) { try encoder.encode(["a": PropertyList.real(.nan)]) }
    }
}
