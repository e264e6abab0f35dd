import Foundation
import PreferencesCoders
import TestSupport

/// Facts about containers and about the state of coders.
enum CoderFacts {
    static let all: [Fact] = [
        Fact("encodingMultipleNestedContainersWithTheSameTopLevelKey") {
            let value = Halves(left: "port", right: "starboard")
            try comesBack(value)
            let list =
                "<dict>\n\t<key>whole</key>\n\t<dict>\n\t\t<key>left</key>\n\t\t<string>port</string>"
                + "\n\t\t<key>right</key>\n\t\t<string>starboard</string>\n\t</dict>\n</dict>"
            try equal(text(encoded(value, .xml)), text(xml(list)))
        },
        Fact("nestedContainerCodingPaths") { _ = try PropertyListEncoder().encode(Paths(isSuper: false)) },
        Fact("superEncoderCodingPaths") { _ = try PropertyListEncoder().encode(Paths(isSuper: true)) },
        Fact("encoderStateThrowOnEncode") {
            let encoder = PropertyListEncoder()
            try fails { try encoder.encode(Layers(content: [Refusal()])) }
            try equal(decoded([Int].self, encoder.encode([1])), [1])
        },
        Fact("decoderStateThrowOnDecode") {
            let data = try PropertyListEncoder().encode([5, 6, 7])
            try equal(decoded(WordsOrNumbers.self, data), WordsOrNumbers(words: nil, numbers: [5, 6, 7]))
        },
        Fact("unkeyedContainerContainingNulls") {
            try comesBack(Gaps(words: [nil, "fog", nil]))
            try comesBack(Gaps(words: [nil]))
        },
        Fact("supers") { try comesBack(Supers()) },
        Fact("fauxStability_struct") {
            let first = try encoded(Harbour(), .binary)
            for _ in 0..<1000 { try equal(encoded(Harbour(), .binary), first) }
        },
        Fact("fauxStability_dict") {
            let words = { ["buoy": "b", "wharf": "w", "mast": "m"] }
            let first = try encoded(words(), .binary)
            for _ in 0..<1000 { try equal(encoded(words(), .binary), first) }
        },
        Fact("multipleDecodeOptions") {
            for guess: Guess in [.whole(1), .real(1.25), .word("rope")] { try comesBack(guess) }
        },
        Fact("customSubclass") {
            try isTrue(text(AlwaysXML().encode(["knot": "bowline"])).hasPrefix("<?xml"))
        },
        Fact("decodeIfPresent") {
            let (none, some) = (Kinds(), Kinds.allOne)
            for format in bothFormats {
                for writesNulls in [false, true] {
                    let keyed = try encoded(KeyedKinds(kinds: none, writesNulls: writesNulls), format)
                    try equal(decoded(KeyedKinds.self, keyed).kinds, none)
                    let unkeyed = try encoded(UnkeyedKinds(kinds: none, writesNulls: writesNulls), format)
                    try equal(decoded(UnkeyedKinds.self, unkeyed).kinds, none)
                }
                let keyed = try encoded(KeyedKinds(kinds: some, writesNulls: false), format)
                try equal(decoded(KeyedKinds.self, keyed).kinds, some)
                let unkeyed = try encoded(UnkeyedKinds(kinds: some, writesNulls: false), format)
                try equal(decoded(UnkeyedKinds.self, unkeyed).kinds, some)
            }
        },
        Fact("test_basicEncodeDecode") {
            let member = Mixture.Part(
                words: "sea", number: 4321, url: URL(string: "https://sea.example/a?b=c#d")!,
                kind: .second, data: Data([0, 255, 7]), date: .distantPast)
            let value = Mixture(level: .low, part: member)
            let plain = try PropertyListEncoder().encode(value)
            try equal(PropertyListDecoder().decode(Mixture.self, from: plain), value)
            try comesBack(value)
            try isTrue(String(validating: encoded(value, .xml), as: UTF8.self) != nil)
        },
    ]
}

/// Writes two members into the dictionary for one key, through a container for each.
private struct Halves: Codable, Equatable {
    enum Keys: CodingKey { case whole }
    enum LeftKeys: CodingKey { case left }
    enum RightKeys: CodingKey { case right }

    let left, right: String

    init(left: String, right: String) { (self.left, self.right) = (left, right) }

    init(from decoder: any Decoder) throws {
        let outer = try decoder.container(keyedBy: Keys.self)
        left = try outer.nestedContainer(keyedBy: LeftKeys.self, forKey: .whole).decode(String.self, forKey: .left)
        right = try outer.nestedContainer(keyedBy: RightKeys.self, forKey: .whole).decode(String.self, forKey: .right)
    }

    func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: Keys.self)
        var lefts = outer.nestedContainer(keyedBy: LeftKeys.self, forKey: .whole)
        try lefts.encode(left, forKey: .left)
        var rights = outer.nestedContainer(keyedBy: RightKeys.self, forKey: .whole)
        try rights.encode(right, forKey: .right)
    }
}

/// Checks the coding paths of the containers that it asks for.
private struct Paths: Encodable {
    enum Outer: Int, CodingKey { case x, y, z }
    enum Inner: Int, CodingKey { case north, south }

    let isSuper: Bool

    func encode(to encoder: any Encoder) throws {
        guard isSuper else { return try nest(in: encoder, below: []) }
        var outer = encoder.container(keyedBy: Outer.self)
        let inner = outer.superEncoder(forKey: .x)
        for path in [encoder.codingPath, outer.codingPath] { try equal(words(path), []) }
        try equal(words(inner.codingPath), ["x 0"])
        try nest(in: inner, below: ["x 0"])
    }

    private func nest(in encoder: any Encoder, below base: [String]) throws {
        var outer = encoder.container(keyedBy: Outer.self)
        func outerStays() throws {
            for path in [encoder.codingPath, outer.codingPath] { try equal(words(path), base) }
        }
        try outerStays()

        var keyed = outer.nestedContainer(keyedBy: Inner.self, forKey: .x)
        try equal(words(keyed.codingPath), base + ["x 0"])
        let keyedInKeyed = keyed.nestedContainer(keyedBy: Inner.self, forKey: .north)
        try equal(words(keyedInKeyed.codingPath), base + ["x 0", "north 0"])
        let unkeyedInKeyed = keyed.nestedUnkeyedContainer(forKey: .south)
        try equal(words(unkeyedInKeyed.codingPath), base + ["x 0", "south 1"])
        try equal(words(keyed.codingPath), base + ["x 0"])
        try outerStays()

        var unkeyed = outer.nestedUnkeyedContainer(forKey: .y)
        try equal(words(unkeyed.codingPath), base + ["y 1"])
        let keyedInUnkeyed = unkeyed.nestedContainer(keyedBy: Inner.self)
        try equal(words(keyedInUnkeyed.codingPath), base + ["y 1", "Index 0 0"])
        try equal(words(unkeyed.codingPath), base + ["y 1"])
        let unkeyedInUnkeyed = unkeyed.nestedUnkeyedContainer()
        try equal(words(unkeyedInUnkeyed.codingPath), base + ["y 1", "Index 1 1"])
        try equal(words(unkeyed.codingPath), base + ["y 1"])
        try outerStays()
    }

    private func words(_ path: [any CodingKey]) -> [String] {
        path.map { $0.intValue.map { [number = $0.stringValue] in "\(number) \($0)" } ?? $0.stringValue }
    }
}

/// Cannot be written.
private struct Refusal: Encodable, Error {
    func encode(to encoder: any Encoder) throws { throw self }
}

/// Writes its content two arrays deep, the inner one through an encoder for a superclass.
private struct Layers: Encodable {
    let content: [Refusal]

    func encode(to encoder: any Encoder) throws {
        var outer = encoder.unkeyedContainer()
        var inner = outer.superEncoder().unkeyedContainer()
        try inner.encode(content)
    }
}

/// Tries two types for the same value.
private struct WordsOrNumbers: Decodable, Equatable {
    let words: [String]?
    let numbers: [Int]?

    init(words: [String]?, numbers: [Int]?) { (self.words, self.numbers) = (words, numbers) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        words = try? container.decode([String].self)
        numbers = words == nil ? try container.decode([Int].self) : nil
    }
}

/// Writes an array with nothing at some places.
private struct Gaps: Codable, Equatable {
    var words: [String?]

    init(words: [String?]) { self.words = words }

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        words = []
        while !container.isAtEnd {
            words.append(try container.decodeNil() ? nil : try container.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for word in words {
            if let word { try container.encode(word) } else { try container.encodeNil() }
        }
    }
}

/// Uses every kind of coder for a superclass.
private struct Supers: Codable, Equatable {
    enum CodingKeys: CodingKey { case nothing, word, list }

    init() {}

    init(from decoder: any Decoder) throws {
        let keyed = try decoder.container(keyedBy: CodingKeys.self)
        try isTrue(keyed.decodeNil(forKey: .nothing))
        try equal(keyed.superDecoder(forKey: .word).singleValueContainer().decode(String.self), "anchor")
        try equal(keyed.superDecoder().singleValueContainer().decode(String.self), "above")
        var list = try keyed.superDecoder(forKey: .list).unkeyedContainer()
        try isTrue(list.decodeNil())
        try equal(list.superDecoder().singleValueContainer().decode(String.self), "late")
        try equal(list.decode(String.self), "last")
    }

    func encode(to encoder: any Encoder) throws {
        var keyed = encoder.container(keyedBy: CodingKeys.self)
        try keyed.encodeNil(forKey: .nothing)
        var word = keyed.superEncoder(forKey: .word).singleValueContainer()
        try word.encode("anchor")
        var above = keyed.superEncoder().singleValueContainer()
        try above.encode("above")
        var list = keyed.superEncoder(forKey: .list).unkeyedContainer()
        try list.encodeNil()
        let middle = list.superEncoder()
        try list.encode("last")
        var late = middle.singleValueContainer()
        try late.encode("late")
    }
}

/// Finds out by trying which type the only element of an array has.
private enum Guess: Codable, Equatable {
    case whole(Int), real(Float), word(String)

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        if let number = try? container.decode(Int.self) {
            self = .whole(number)
        } else if let number = try? container.decode(Float.self) {
            self = .real(number)
        } else {
            self = .word(try container.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        switch self {
        case .whole(let number): try container.encode(number)
        case .real(let number): try container.encode(number)
        case .word(let word): try container.encode(word)
        }
    }
}

/// An encoder whose format cannot be changed. It is `Sendable` because it has no state.
private final class AlwaysXML: PropertyListEncoder, @unchecked Sendable {
    override var outputFormat: Format {
        get { .xml }
        set {}
    }
}

/// Has members of the common types that Foundation adds.
private struct Mixture: Codable, Equatable {
    enum Level: Int, Codable { case low = 1, high }

    /// The inner value, some of whose members can be absent.
    struct Part: Codable, Equatable {
        enum Kind: String, Codable { case first = "1st", second }

        let words: String?
        let number: Int?
        let url: URL
        let kind: Kind?
        var data: Data
        var date: Date?
    }

    let level: Level
    let part: Part
}
