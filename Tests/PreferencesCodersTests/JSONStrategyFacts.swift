import Foundation
import PreferencesCoders
import TestSupport

extension JSONCodingFacts {
    private static let moment = Date(timeIntervalSince1970: 2500)

    /// Expects the text from a value and from the same value in an optional.
    private static func alsoOptional<T: Codable & Equatable>(
        _ value: T, _ text: String, _ coders: (JSONEncoder, JSONDecoder), line: Int = #line
    ) throws {
        try roundTrip(value, text, line: line, by: coders.0, and: coders.1)
        try roundTrip(Optional(value), text, line: line, by: coders.0, and: coders.1)
    }

    static let datesAndBytes: [Fact] = [
        Fact("encodingDateSecondsSince1970") {
            try alsoOptional(moment, "2500", dates(.secondsSince1970, .secondsSince1970))
        },
        Fact("encodingDateMillisecondsSince1970") {
            try alsoOptional(moment, "2500000", dates(.millisecondsSince1970, .millisecondsSince1970))
        },
        Fact("encodingDateCustom") {
            let coders = dates(
                .custom { _, encoder in try Single(81).encode(to: encoder) },
                .custom { _ in moment })
            try alsoOptional(moment, "81", coders)
            try roundTrip(Listed(moment), "[81]", by: coders.0, and: coders.1)
        },
        Fact("encodingDateCustomEmpty") {
            try alsoOptional(moment, "{}", dates(.custom { _, _ in }, .custom { _ in moment }))
        },
        Fact("encodingData") {
            try alsoOptional(Data([255, 0, 128, 7]), "[255,0,128,7]", bytes(.deferredToData, .deferredToData))
        },
        Fact("encodingDataCustom") {
            let coders = bytes(
                .custom { _, encoder in try Single(81).encode(to: encoder) },
                .custom { _ in Data() })
            try alsoOptional(Data(), "81", coders)
        },
        Fact("encodingDataCustomEmpty") {
            try alsoOptional(Data(), "{}", bytes(.custom { _, _ in }, .custom { _ in Data() }))
        },
    ]

    static let floats: [Fact] = [
        Fact("encodingNonConformingFloats") {
            func refuses<F: BinaryFloatingPoint & Encodable>(_ type: F.Type) throws {
                for value in [F.infinity, -F.infinity, F.nan] {
                    try fails { try write(value) }
                    try fails { try write(Optional(value)) }
                }
            }
            try refuses(Float.self)
            try refuses(Double.self)
        },
        Fact("encodingNonConformingFloatStrings") {
            func becomesWord<F: BinaryFloatingPoint & Codable>(_ type: F.Type) throws {
                let coders = wordsForFloats()
                try alsoOptional(F.infinity, "\"over\"", coders)
                try alsoOptional(-F.infinity, "\"under\"", coders)
                try equal(try write(F.nan, by: coders.0), "\"none\"")
                try isTrue(try read(F.self, "\"none\"", by: coders.1).isNaN)
            }
            try becomesWord(Float.self)
            try becomesWord(Double.self)
        },
    ]

    static let keys: [Fact] = [
        Fact("encodingKeyStrategyCustom") {
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .custom { path in AnyKey("my-" + path[path.count - 1].stringValue) }
            try equal(try write(UnderKey(key: "size"), by: encoder), #"{"my-size":1}"#)
        },
        Fact("encodingKeyStrategyPath") {
            struct Middle: Encodable { let second = UnderKey(key: "thirdKey") }
            struct Outer: Encodable { let first = Middle() }
            let (encoder, log) = (JSONEncoder(), PathLog())
            encoder.keyEncodingStrategy = .custom { path in
                log.paths.append(path.map(\.stringValue))
                return AnyKey("my-" + (path.last?.stringValue ?? ""))
            }
            try equal(try write(Outer(), by: encoder), #"{"my-first":{"my-second":{"my-thirdKey":1}}}"#)
            let expected = [["first"], ["first", "second"], ["first", "second", "thirdKey"]]
            try equal(log.paths.sorted { $0.count < $1.count }, expected)
        },
        Fact("decodingKeyStrategyCustom") {
            struct Target: Decodable { let size: Int }
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .custom { path in
                AnyKey(String(path[path.count - 1].stringValue.dropFirst(3)))
            }
            try equal(try read(Target.self, #"{"my-size":1}"#, by: decoder).size, 1)
        },
        Fact("decodingDictionaryStringKeyConversionUntouched") {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            try equal(try read([String: String].self, #"{"left_as_is":"x"}"#, by: decoder), ["left_as_is": "x"])
        },
        Fact("decodingDictionaryFailureKeyPath") {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            let error = try fails { try read([String: Int].self, #"{"left_as_is":"x"}"#, by: decoder) }
            guard case DecodingError.typeMismatch(_, let context) = error else { throw error }
            try equal(context.codingPath.map(\.stringValue), ["left_as_is"])
        },
        Fact("keyStrategyDuplicateKeys") {
            struct Pair: Codable {
                enum CodingKeys: CodingKey { case same, other }
                let (same, seen): (String, Int)

                init() { (same, seen) = ("one", 0) }
                init(from decoder: any Decoder) throws {
                    let container = try decoder.container(keyedBy: CodingKeys.self)
                    (same, seen) = (try container.decode(String.self, forKey: .same), container.allKeys.count)
                }
                func encode(to encoder: any Encoder) throws {
                    var container = encoder.container(keyedBy: CodingKeys.self)
                    try container.encode(same, forKey: .same)
                    try container.encode("two", forKey: .other)
                }
            }
            let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
            decoder.keyDecodingStrategy = .custom { _ in AnyKey("same") }
            let pair = try read(Pair.self, #"{"first key":"one","second key":"two"}"#, by: decoder)
            try equal(pair.seen, 1)
            try equal(pair.same, "one")
            encoder.keyEncodingStrategy = .custom { _ in AnyKey("same") }
            try equal(try write(Pair(), by: encoder), #"{"same":"two"}"#)
        },
    ]
}
