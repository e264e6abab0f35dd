import Foundation
import Preferences
import PropertyLists
import SimulatedPlatform
import Testing

private enum Mode: String, Codable, CaseIterable { case full, incremental }
private enum Word: String, Codable { case yes, no }
private enum Level: Int, Codable { case low = 1, high }
private enum Shape: Codable, Hashable { case circle(radius: Double), point }
private struct Days: OptionSet, Codable { let rawValue: Int }
private struct Server: Codable, Hashable { var host: String, port: Int }
private struct Port: Codable, Hashable {
    var number: Int

    init(_ number: Int) { self.number = number }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        number = try container.decode(Int.self)
        guard number < 1024 else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "ports are below 1024")
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}
private enum TextOrNumber: Codable, Hashable {
    case text(String), number(Int)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = try (try? .number(container.decode(Int.self))) ?? .text(container.decode(String.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        }
    }
}
/// A type that contains values of the same type.
private indirect enum Tree: Codable, Hashable {
    case leaf(String), list([Tree]), named([String: Tree])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let elements = try? container.decode([Tree].self) {
            self = .list(elements)
        } else if let members = try? container.decode([String: Tree].self) {
            self = .named(members)
        } else {
            self = .leaf(try container.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .leaf(let text): try container.encode(text)
        case .list(let elements): try container.encode(elements)
        case .named(let members): try container.encode(members)
        }
    }
}

/// The conversions of the values of a Swift type.
private struct TypeRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The text of a value, and an invalid text with its error.
    let text: String
    let refused: (text: String, reason: String)?
    /// The error for an argument with that text, if it is a different one.
    let said: String?
    let stores: @Sendable (Way) throws -> Bool
    let reads: @Sendable (Way, SchemaBench) throws -> Bool
    /// Returns the error for an argument.
    let refusal: @Sendable (String) throws -> String
    let isFlag: Bool

    enum Way: CaseIterable { case plain, titled, schema }

    init<Value: Codable & Sendable & Equatable>(
        _ default: Value, _ value: Value, text: String, _ textValue: Value? = nil, refused: (String, String)? = nil,
        said: String? = nil
    ) {
        (testDescription, self.text, self.refused, self.said) = ("\(Value.self)", text, refused, said)
        let isFlag = Value.self == Bool.self
        self.isFlag = isFlag
        let setting = Setting("v", default: `default`)
        let expected = textValue ?? value
        @Sendable func defaults(
            _ way: Way, _ bench: SchemaBench, _ arguments: [String] = []
        ) throws -> (Defaults, Setting<Value>) {
            let titled = setting.title("T").flag("value")
            switch way {
            case .plain: return (bench.defaults(), setting)
            case .titled: return (bench.defaults(), titled)
            case .schema:
                let schema = Schema(SchemaBench.domain.text) { titled }
                return (try schema.parse(["p"] + arguments, in: bench.store()).defaults, titled)
            }
        }
        stores = { way in
            let bench = try SchemaBench(nil)
            let (first, setting) = try defaults(way, bench)
            guard first[setting] == `default` else { return false }
            try first.set(value, for: setting)
            try first.flush()
            let (second, _) = try defaults(way, bench)
            return try second[setting] == value && second.value(of: setting) == value && bench.errors.isEmpty
        }
        reads = { way, bench in
            let arguments = isFlag ? ["--value"] : ["--value=\(text)"]
            let hasText = (try? bench.file()["v"]) != nil
            let (defaults, setting) = try defaults(way, bench, hasText ? [] : arguments)
            let isRefused = try bench.file()["v"]?.stringValue == refused?.0
            _ = defaults[setting]
            return defaults[setting] == (hasText && isRefused ? `default` : expected)
        }
        refusal = { text in
            do {
                _ = try defaults(.schema, SchemaBench(nil), ["--value=\(text)"])
                return ""
            } catch let ending as Schema.EarlyExit {
                return ending.description
            }
        }
    }
}

private let id = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!
private let idText = id.uuidString
private let rows: [TypeRow] = [
    TypeRow(false, true, text: "yes", refused: ("maybe", "must be a boolean")),
    TypeRow(0, 7, text: "7", refused: ("x", "must be an integer")),
    TypeRow(Int8(0), -7, text: "-7", refused: ("200", "must be from -128 to 127")),
    TypeRow(UInt8(0), 7, text: "7", refused: ("-1", "must be from 0 to 255")),
    TypeRow(UInt64(0), .max, text: "18446744073709551615", refused: ("-1", "must be at least 0")),
    TypeRow(Int128(0), -7, text: "-7", refused: ("1.5", "must be an integer")),
    TypeRow(UInt128(0), 7, text: "7", refused: ("-1", "must be at least 0")),
    TypeRow(0.0, 0.1, text: "0.1", refused: ("x", "must be a number")),
    TypeRow(Float(0), 0.1, text: "0.1", refused: ("1e300", "must be a valid Float")),
    TypeRow(CGFloat(0), 0.1, text: "0.1", refused: ("x", "must be a number")),
    TypeRow("", "a", text: "b", "b"),
    TypeRow(
        Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 86400), text: "1970-01-02T00:00:00Z",
        refused: ("x", "must be a date"), said: "--value x: must be a date such as 2026-01-31T12:00:00Z"),
    TypeRow(
        Data(), Data([1, 2]), text: "0102", refused: ("x", "must be data"),
        said: "--value x: must be data: hexadecimal digits, or base64:…"),
    TypeRow(
        URL(string: "a:b")!, URL(string: "https://example.com/x?y")!, text: "https://example.com/x?y",
        refused: ("", "must be a valid URL"), said: "--value \"\": must be a valid URL"),
    TypeRow(nil as URL?, URL(string: "relative/path"), text: "relative/path"),
    TypeRow(nil as UUID?, id, text: idText, refused: ("x", "must be a valid UUID")),
    TypeRow(Decimal(0), Decimal(string: "12.34")!, text: "12.34", refused: ("abc", "must be a valid Decimal")),
    TypeRow(nil as Decimal?, Decimal(string: "0.1"), text: "0.1", refused: ("1.2.3", "must be a valid Decimal")),
    TypeRow(nil as Duration?, .seconds(90), text: "1m30s", refused: ("soon", "must be a valid Duration")),
    TypeRow(Duration.zero, .milliseconds(1), text: "5", .seconds(5), refused: ("-", "must be a valid Duration")),
    TypeRow(Mode.full, .incremental, text: "incremental", refused: ("pink", "must be full or incremental")),
    TypeRow(nil as Mode?, .full, text: "full", refused: ("pink", "must be full or incremental")),
    TypeRow(
        nil as Word?, .yes, text: "yes",
        refused: ("pink", "must be a valid Word: Cannot initialize Word from invalid String value pink")),
    TypeRow(
        Level.low, .high, text: "2",
        refused: ("3", "must be a valid Level: Cannot initialize Level from invalid Int value 3")),
    TypeRow(Days(rawValue: 0), Days(rawValue: 5), text: "5", refused: ("x", "must be an integer")),
    TypeRow(Port(1), Port(80), text: "80", refused: ("8080", "must be a valid Port: ports are below 1024")),
    TypeRow(TextOrNumber.number(0), .text("a"), text: "b", .text("b")),
    TypeRow(Tree.leaf("a"), .list([.leaf("b"), .named(["c": .list([])])]), text: "b", .leaf("b")),
    TypeRow([] as [String], ["a", "b"], text: "(a, b)", refused: nil),
    TypeRow(
        [] as [Int], [1, 2], text: "(1, 2)", refused: ("(1, x)", ":v:1 must be an integer"),
        said: "--value x: must be an integer"),
    TypeRow(
        [] as [UUID], [id], text: "(\"\(idText)\")", refused: ("(x)", ":v:0 must be a valid UUID"),
        said: "--value x: must be a valid UUID"),
    TypeRow(
        [] as [Word], [.no], text: "(no)",
        refused: ("(pink)", ":v:0 must be a valid Word: Cannot initialize Word from invalid String value pink"),
        said: "--value pink: must be a valid Word: Cannot initialize Word from invalid String value pink"),
    TypeRow(
        [] as Set<Mode>, [.full], text: "(full)", refused: ("(pink)", ":v:0 must be full or incremental"),
        said: "--value pink: must be full or incremental"),
    TypeRow(
        [] as Set<Word>, [.yes, .no], text: "(yes, no, yes)",
        refused: ("(pink)", ":v:0 must be a valid Word: Cannot initialize Word from invalid String value pink"),
        said: "--value pink: must be a valid Word: Cannot initialize Word from invalid String value pink"),
    TypeRow(
        [:] as [String: Mode], ["a": .full], text: "{a = full;}",
        refused: ("{a = pink;}", ":v:a must be full or incremental"), said: "--value pink: must be full or incremental"),
    TypeRow(
        [:] as [String: Word], ["a": .yes], text: "{a = yes;}",
        refused: ("{a = pink;}", ":v:a must be a valid Word: Cannot initialize Word from invalid String value pink"),
        said: "--value pink: must be a valid Word: Cannot initialize Word from invalid String value pink"),
    TypeRow(
        [:] as [Int: String], [1: "a"], text: "{1 = a;}", refused: ("{x = a;}", ":v:x must be an integer"),
        said: "--value a: must be an integer"),
    TypeRow(
        [:] as [Word: Int], [.yes: 1], text: "(yes, 1)", refused: ("(yes)", "must be a valid Dictionary<Word, Int>")),
    TypeRow(
        0..<1, 1..<5, text: "(1, 5)",
        refused: (
            "(5, 1)",
            "must be a valid Range<Int>: Cannot initialize Range<Int> with a lowerBound (5) greater than upperBound (1)"
        )),
    TypeRow(
        0...1.5, 1...2.5, text: "(1, 2.5)", refused: ("x", ":v:0 must be a number"), said: "--value x: must be a number"
    ),
    TypeRow("" as PropertyList, ["a": 1], text: "b", "b"),
    TypeRow(nil as PropertyList?, [true, 1], text: "b", "b"),
    TypeRow(nil as PropertyList.Integer?, 7, text: "7", refused: ("x", "must be an integer")),
    TypeRow(
        Server(host: "a", port: 1), Server(host: "b", port: 2), text: "{host = b; port = 2;}",
        refused: ("{host = b;}", ":v:port is required"), said: "--value :port is required"),
    TypeRow(
        [] as [Server], [Server(host: "b", port: 2)], text: "({host = b; port = 2;})",
        refused: ("({host = b; port = x;})", ":v:0:port must be an integer"), said: "--value x: must be an integer"),
    TypeRow(
        Shape.point, .circle(radius: 1.5), text: "{circle = {radius = 1.5;};}",
        refused: ("{square = {};}", "must be a dictionary")),
    TypeRow(
        TimeZone(identifier: "GMT")!, TimeZone(identifier: "Europe/Paris")!, text: "{identifier = \"Europe/Paris\";}",
        refused: ("{}", ":v:identifier is required"), said: "--value :identifier is required"),
    TypeRow(
        nil as Locale?, Locale(identifier: "de_DE"), text: "{identifier = \"de_DE\";}",
        refused: ("x", "must be a dictionary"), said: "--value x: must be a dictionary such as {a = b;}"),
]

@Suite struct `A setting of a Swift type` {
    @Test(arguments: rows)
    fileprivate func `stores its values and reads them back, whatever else is declared`(_ row: TypeRow) throws {
        for way in TypeRow.Way.allCases { #expect(try row.stores(way), "\(way)") }
    }

    @Test(arguments: rows)
    fileprivate func `takes an argument`(_ row: TypeRow) throws {
        #expect(try row.reads(.schema, SchemaBench(nil)))
        guard let refused = row.refused, !row.isFlag else { return }
        let sentence = try row.refusal(refused.text)
        #expect(sentence == row.said ?? "--value \(refused.text): \(refused.reason)")
    }

    @Test(arguments: rows)
    fileprivate func `converts text that is stored, or reports it once`(_ row: TypeRow) throws {
        for way in TypeRow.Way.allCases {
            let bench = try SchemaBench(nil)
            try bench.stored(["v": .string(row.text)])
            #expect(try row.reads(way, bench), "\(way)")
            #expect(bench.errors == "", "\(way)")
            guard let refused = row.refused else { continue }
            let other = try SchemaBench(nil)
            try other.stored(["v": .string(refused.text)])
            #expect(try row.reads(way, other), "\(way)")
            let lines = other.errors.split(separator: "\n")
            #expect(lines.count == 1, "\(way): \(other.errors)")
            let reason = lines.first?.split(separator: "): ", maxSplits: 1).last ?? ""
            #expect(reason == "\(refused.reason); it is ignored", "\(way)")
        }
    }
}
