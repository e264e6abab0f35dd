import Foundation
import PreferencesCoders
import TestSupport

typealias Format = PropertyListDecoder.PropertyListFormat

let bothFormats: [Format] = [.xml, .binary]

func encoded<T: Encodable>(_ value: T, _ format: Format) throws -> Data {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = format
    return try encoder.encode(value)
}

func decoded<T: Decodable>(_ type: T.Type = T.self, _ data: Data) throws -> T {
    try PropertyListDecoder().decode(type, from: data)
}

/// Checks that a value survives a trip through each format, and that the format is recognized.
func comesBack<T: Codable & Equatable>(_ value: T, _ formats: [Format] = bothFormats, line: Int = #line) throws {
    for format in formats {
        var found: Format = format == .xml ? .binary : .xml
        let copy = try PropertyListDecoder().decode(T.self, from: encoded(value, format), format: &found)
        try equal(copy, value, line: line)
        try equal(found, format, line: line)
    }
}

/// Checks that a value can be no whole property list, but is part of one.
func needsCollection<T: Codable & Equatable>(_ value: T, line: Int = #line) throws {
    for format in bothFormats { try fails(line: line) { try encoded(value, format) } }
    try comesBack(Boxed(content: value), line: line)
}

/// Checks that the decoder itself finds the data unsuitable for a type.
func rejects<T: Decodable>(_ type: T.Type, _ data: Data, line: Int = #line) throws {
    let error = try fails(line: line) { try decoded(type, data) }
    if let difference = error as? Difference { throw difference }
}

func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }

let xmlHead = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">

    """

func xml(_ content: String) -> Data { Data("\(xmlHead)\(content)\n</plist>\n".utf8) }

func bytes(_ text: String) -> Data { Data(text.utf8) }

/// Writes the units of a text from the least significant byte on, after a mark of their order.
func utf16(_ text: String) -> Data {
    Data([0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })
}

func bigEndian(_ number: UInt64, _ size: Int = 8) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64($0 * 8)) }
}

func ascii(_ text: String) -> [UInt8] { [0x50 | UInt8(text.utf8.count)] + Array(text.utf8) }

/// A binary property list whose parts can be set to something wrong.
struct BinaryList {
    var objects: [[UInt8]]
    var offsetSize = 1
    var referenceSize = 1
    var wrongOffsets: [Int: UInt64] = [:]
    var count: UInt64?
    var top: UInt64 = 0
    var table: UInt64?

    var data: Data {
        var all = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for (index, object) in objects.enumerated() {
            offsets += bigEndian(wrongOffsets[index] ?? UInt64(all.count), offsetSize)
            all += object
        }
        let end = UInt64(all.count)
        all += offsets + [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        return Data(all + bigEndian(count ?? UInt64(objects.count)) + bigEndian(top) + bigEndian(table ?? end))
    }
}

/// Holds a value that is no collection.
struct Boxed<Content: Codable & Equatable>: Codable, Equatable {
    let content: Content
}

/// A value without any members.
struct Blank: Codable, Equatable {}

/// An object without any members.
final class BlankObject: Codable, Equatable {
    static func == (left: BlankObject, right: BlankObject) -> Bool { true }
}

/// Is written as a Boolean value.
enum Lamp: Codable, Equatable {
    case lit, dark

    init(from decoder: any Decoder) throws {
        self = try decoder.singleValueContainer().decode(Bool.self) ? .lit : .dark
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self == .lit)
    }
}

/// Is written as a real number.
struct Depth: Codable, Equatable {
    let metres: Double

    init(metres: Double) { self.metres = metres }

    init(from decoder: any Decoder) throws { metres = try decoder.singleValueContainer().decode(Double.self) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(metres)
    }
}

/// An object that is written as a whole number.
final class Tally: Codable, Equatable {
    let count: Int

    init(count: Int) { self.count = count }

    init(from decoder: any Decoder) throws { count = try decoder.singleValueContainer().decode(Int.self) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(count)
    }

    static func == (left: Tally, right: Tally) -> Bool { left.count == right.count }
}

/// Is written as a Boolean value or as nothing.
enum Answer: Codable, Equatable, CaseIterable {
    case yes, no, none

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .none : try container.decode(Bool.self) ? .yes : .no
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if self == .none { try container.encodeNil() } else { try container.encode(self == .yes) }
    }
}

/// Is written as an array through a container for one value.
struct Tides: Codable, Equatable {
    let heights: [Int]

    init(heights: [Int]) { self.heights = heights }

    init(from decoder: any Decoder) throws { heights = try decoder.singleValueContainer().decode([Int].self) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(heights)
    }
}

/// An object that is written as a dictionary through a container for one value.
final class Signals: Codable, Equatable {
    let meanings: [String: String]

    init(meanings: [String: String]) { self.meanings = meanings }

    init(from decoder: any Decoder) throws {
        meanings = try decoder.singleValueContainer().decode([String: String].self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(meanings)
    }

    static func == (left: Signals, right: Signals) -> Bool { left.meanings == right.meanings }
}

/// A value with members of several kinds.
struct Harbour: Codable, Equatable {
    var name = "Seeby"
    var country = "North Isle"
    var berths = 318
    var isOpen = true
}

/// An object with members, the last one optional.
class Vessel: Codable, Equatable {
    let name: String
    let port: String
    let owner: String?

    init(name: String, port: String, owner: String? = nil) { (self.name, self.port, self.owner) = (name, port, owner) }

    func matches(_ other: Vessel) -> Bool { name == other.name && port == other.port && owner == other.owner }

    static func == (left: Vessel, right: Vessel) -> Bool { left.matches(right) }
}

/// An object that shares its coder with the class that it inherits from.
final class Tug: Vessel {
    enum CodingKeys: CodingKey { case pull }

    let pull: Int

    init(name: String, pull: Int) {
        self.pull = pull
        super.init(name: name, port: "Seeby")
    }

    required init(from decoder: any Decoder) throws {
        pull = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .pull)
        try super.init(from: decoder)
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(pull, forKey: .pull)
        try super.encode(to: encoder)
    }

    override func matches(_ other: Vessel) -> Bool { (other as? Tug)?.pull == pull && super.matches(other) }
}

/// A value whose members are values and objects with members.
struct Fleet: Codable, Equatable {
    var home = Harbour()
    var tugs = [Tug(name: "Ox", pull: 60), Tug(name: "Ant", pull: 25)]
}

/// A dictionary with a list of values of several types, which checks what it reads.
struct Manifest: Decodable {
    enum CodingKeys: CodingKey { case goods, from, to }

    static let list = """
        <dict>
            <key>goods</key>
            <array>
                <string>salt</string>
                <integer>75</integer>
                <false/>
                <date>1987-06-05T04:03:02Z</date>
                <data>
                AQIDBPz9/v8=
                </data>
            </array>
            <key>from</key>
            <string>Seeby</string>
            <key>to</key>
            <string>Holm</string>
        </dict>
        """

    init(from decoder: any Decoder) throws {
        let keyed = try decoder.container(keyedBy: CodingKeys.self)
        var goods = try keyed.nestedUnkeyedContainer(forKey: .goods)
        try equal(goods.decode(String.self), "salt")
        try equal(goods.decode(Int.self), 75)
        try equal(goods.decode(Bool.self), false)
        try equal(goods.decode(Date.self), Date(timeIntervalSince1970: 549_864_182))
        try equal(goods.decode(Data.self), Data([1, 2, 3, 4, 252, 253, 254, 255]))
        try isTrue(goods.isAtEnd)
        try equal(keyed.decode(String.self, forKey: .from), "Seeby")
        try equal(keyed.decode(String.self, forKey: .to), "Holm")
    }
}
