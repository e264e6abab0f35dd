import Foundation
import PreferencesCoders
import TestSupport

/// Facts about what an encoder writes.
enum JSONOutputFacts {
    /// A value that does what `body` says with the encoder.
    struct Written: Encodable {
        let body: (any Encoder) throws -> Void

        init(_ body: @escaping (any Encoder) throws -> Void) { self.body = body }
        func encode(to encoder: any Encoder) throws { try body(encoder) }
    }

    /// Ways to fill a key before it is written again.
    enum Filling: CaseIterable { case number, dictionary, array }

    static let containers: [Fact] = [
        Fact("typeEncodesNothing") {
            let nothing = Written { _ in }
            try fails { try JSONEncoder().write(nothing) }
            try equal(try JSONEncoder().write([nothing]), "[{}]")
            try equal(try JSONEncoder().write(["it": nothing]), #"{"it":{}}"#)
        },
        Fact("superEncoders") {
            let text = try JSONEncoder.with(.sortedKeys).write(
                Written { encoder in
                    var values = encoder.container(keyedBy: Name.self)
                    let (first, second) = (
                        values.superEncoder(forKey: Name("a")), values.superEncoder(forKey: Name("b"))
                    )
                    try "one".encode(to: first)
                    try "two".encode(to: second)
                    var list = values.nestedUnkeyedContainer(forKey: Name("list"))
                    try list.encode(7)
                    let (third, fourth) = (list.superEncoder(), list.superEncoder())
                    try list.encode(8)
                    try "one".encode(to: third)
                    try "two".encode(to: fourth)
                    try ["inner": "three"].encode(to: values.superEncoder(forKey: Name("direct")))
                })
            try equal(text, #"{"a":"one","b":"two","direct":{"inner":"three"},"list":[7,"one","two",8]}"#)
        },
        Fact("redundantKeys") {
            for filling in Filling.allCases {
                for throughSuper in [false, true] {
                    let text = try JSONEncoder().write(
                        Written { encoder in
                            var values = encoder.container(keyedBy: Name.self)
                            switch filling {
                            case .number: try values.encode(1, forKey: Name("it"))
                            case .dictionary: _ = values.nestedContainer(keyedBy: Name.self, forKey: Name("it"))
                            case .array: _ = values.nestedUnkeyedContainer(forKey: Name("it"))
                            }
                            if throughSuper { return try 2.encode(to: values.superEncoder(forKey: Name("it"))) }
                            try values.encode(2, forKey: Name("it"))
                        })
                    try equal(text, #"{"it":2}"#)
                }
            }
        },
        Fact("redundantKeyedContainer") {
            let text = try JSONEncoder.with(.sortedKeys).write(
                Written { encoder in
                    var values = encoder.container(keyedBy: Name.self)
                    try values.encode("plain", forKey: Name("last"))
                    try values.encode(["old": "first"], forKey: Name("box"))
                    var box = values.nestedContainer(keyedBy: Name.self, forKey: Name("box"))
                    try box.encode("second", forKey: Name("young"))
                })
            try equal(text, #"{"box":{"old":"first","young":"second"},"last":"plain"}"#)
        },
        Fact("singleValueDictionaryAmendedByContainer") {
            let text = try JSONEncoder.with(.sortedKeys).write(
                Written { encoder in
                    var single = encoder.singleValueContainer()
                    try single.encode(["left": "1", "right": "2"])
                    var values = encoder.container(keyedBy: Name.self)
                    try values.encode("3", forKey: Name("left"))
                })
            try equal(text, #"{"left":"3","right":"2"}"#)
        },
        Fact("encodingMultipleNestedContainersWithTheSameTopLevelKey") {
            try survives(
                Halves(one: "left", two: "right"), as: #"{"both":{"one":"left","two":"right"}}"#,
                .with(.sortedKeys))
        },
    ]

    /// A value whose members are in two nested containers for one key.
    struct Halves: Codable, Equatable {
        let one, two: String

        init(one: String, two: String) { (self.one, self.two) = (one, two) }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Name.self)
            func member(_ name: String) throws -> String {
                let nested = try values.nestedContainer(keyedBy: Name.self, forKey: Name("both"))
                return try nested.decode(String.self, forKey: Name(name))
            }
            self.init(one: try member("one"), two: try member("two"))
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: Name.self)
            for (name, value) in [("one", one), ("two", two)] {
                var nested = values.nestedContainer(keyedBy: Name.self, forKey: Name("both"))
                try nested.encode(value, forKey: Name(name))
            }
        }
    }

    /// A class with members, one of them optional.
    final class Book: Codable, Equatable {
        let title, author: String
        let page: URL?

        init() { (title, author, page) = ("Facts", "Nobody", nil) }

        static func == (one: Book, other: Book) -> Bool {
            (one.title, one.author, one.page) == (other.title, other.author, other.page)
        }
    }

    static let sorted: [Fact] = [
        Fact("encodingTopLevelStructuredClass") {
            try survives(Book(), as: #"{"author":"Nobody","title":"Facts"}"#, .with(.sortedKeys))
        },
        Fact("encodingOutputFormattingSortedKeys") {
            try survives([Book()], as: #"[{"author":"Nobody","title":"Facts"}]"#, .with(.sortedKeys))
        },
        Fact("encodingOutputFormattingPrettyPrintedSortedKeys") {
            let text = "{\n  \"author\" : \"Nobody\",\n  \"title\" : \"Facts\"\n}"
            try survives(Book(), as: text, .with([.prettyPrinted, .sortedKeys]))
        },
        Fact("encodingSortedKeys") {
            let sorted = ["SUN", "Sun", "Sun13", "Sun4", "day", "sun", "sun1", "sun15", "sun5", "s\u{FC}n"]
            let values = Dictionary(uniqueKeysWithValues: zip(sorted, 0...))
            let text = sorted.enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ",")
            try survives(values, as: "{\(text)}", .with(.sortedKeys))
        },
        Fact("encodingSortedKeysStableOrdering") {
            try survives(["BBB": 1, "BBBBBBC": 2], as: #"{"BBB":1,"BBBBBBC":2}"#, .with(.sortedKeys))
            let texts = (0..<256).map { "\($0)" }.sorted().map { ",\"name\($0)\":\($0)" }.joined()
            for step in [1, 37, 101, 255] {
                var values = ["BBB": 1, "BBBBBBC": 2]
                for index in 0..<256 { values["name\(index * step % 256)"] = index * step % 256 }
                try survives(values, as: "{\"BBB\":1,\"BBBBBBC\":2\(texts)}", .with(.sortedKeys))
            }
        },
    ]

    static let strategies: [Fact] = [
        Fact("infiniteDate") {
            let strategies: [JSONEncoder.DateEncodingStrategy] = [
                .deferredToDate, .secondsSince1970, .millisecondsSince1970,
            ]
            for strategy in strategies {
                let encoder = JSONEncoder()
                encoder.dateEncodingStrategy = strategy
                try fails { try encoder.write([Date(timeIntervalSince1970: .infinity)]) }
            }
        },
        Fact("encodingDateISO8601") {
            let encoder = JSONEncoder()
            let decoder = JSONDecoder()
            encoder.dateEncodingStrategy = .iso8601
            decoder.dateDecodingStrategy = .iso8601
            let date = Date(timeIntervalSince1970: 3 * 86_400 + 3_725)
            try survives(date, as: "\"\(date.formatted(.iso8601))\"", encoder, decoder)
            try survives(Optional(date), as: #""1970-01-04T01:02:05Z""#, encoder, decoder)
        },
        Fact("encodingDataBase64") {
            let data = Data([0xC0, 0xDE, 0xCA, 0xFE])
            try survives(data, as: #""wN7K/g==""#, .with(.withoutEscapingSlashes))
            try survives(Optional(data), as: #""wN7K\/g==""#)
        },
        Fact("interceptURL") {
            guard let url = URL(string: "https://example.org") else { throw Difference(description: "no URL") }
            try survives(url, as: #""https:\/\/example.org""#)
            try survives(Optional(url), as: #""https:\/\/example.org""#)
        },
        Fact("interceptURLWithoutEscapingOption") {
            guard let url = URL(string: "https://example.org") else { throw Difference(description: "no URL") }
            try survives(url, as: #""https://example.org""#, .with(.withoutEscapingSlashes))
            try survives(Optional(url), as: #""https://example.org""#, .with(.withoutEscapingSlashes))
        },
    ]
}
