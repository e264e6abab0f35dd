import Foundation
import PreferencesCoders
import TestSupport

/// The facts about the JSON coders that come from the first half of their published tests.
enum JSONCodingFacts {
    // MARK: - Helpers

    /// Encodes a value, compares the text where one is given, and expects an equal value from decoding it.
    static func roundTrip<T: Codable & Equatable>(
        _ value: T, _ text: String? = nil, line: Int = #line,
        by encoder: JSONEncoder = JSONEncoder(), and decoder: JSONDecoder = JSONDecoder()
    ) throws {
        let data = try encoder.encode(value)
        if let text { try equal(String(decoding: data, as: UTF8.self), text, line: line) }
        try equal(try decoder.decode(T.self, from: data), value, line: line)
    }

    /// Decodes a text in UTF-8 with default options.
    static func read<T: Decodable>(
        _ type: T.Type, _ text: String, by decoder: JSONDecoder = JSONDecoder()
    ) throws -> T {
        try decoder.decode(type, from: Data(text.utf8))
    }

    /// Encodes with default options and returns the text.
    static func write<T: Encodable>(_ value: T, by encoder: JSONEncoder = JSONEncoder()) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Expects the same value from a text in each encoding that JSON may have.
    static func readsInEachEncoding<T: Decodable & Equatable>(
        _ text: String, _ value: T, line: Int = #line
    ) throws {
        let encodings: [String.Encoding] = [
            .utf8, .utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian,
        ]
        for encoding in encodings {
            guard let data = text.data(using: encoding) else { throw Difference(description: "line \(line): no data") }
            try equal(try JSONDecoder().decode(T.self, from: data), value, line: line)
        }
    }

    static func dates(
        _ encoding: JSONEncoder.DateEncodingStrategy, _ decoding: JSONDecoder.DateDecodingStrategy
    ) -> (JSONEncoder, JSONDecoder) {
        let coders = (JSONEncoder(), JSONDecoder())
        (coders.0.dateEncodingStrategy, coders.1.dateDecodingStrategy) = (encoding, decoding)
        return coders
    }

    static func bytes(
        _ encoding: JSONEncoder.DataEncodingStrategy, _ decoding: JSONDecoder.DataDecodingStrategy
    ) -> (JSONEncoder, JSONDecoder) {
        let coders = (JSONEncoder(), JSONDecoder())
        (coders.0.dataEncodingStrategy, coders.1.dataDecodingStrategy) = (encoding, decoding)
        return coders
    }

    /// Coders that write the floating-point values without a JSON number as words.
    static func wordsForFloats() -> (JSONEncoder, JSONDecoder) {
        let coders = (JSONEncoder(), JSONDecoder())
        coders.0.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "over", negativeInfinity: "under", nan: "none")
        coders.1.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "over", negativeInfinity: "under", nan: "none")
        return coders
    }

    /// The error of closures and types that refuse.
    struct Refused: Error {}

    /// A key with any text or index.
    struct AnyKey: CodingKey {
        let stringValue: String
        let intValue: Int?

        init(_ text: String) { (stringValue, intValue) = (text, nil) }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { (self.stringValue, self.intValue) = ("#\(intValue)", intValue) }
    }

    /// Keeps the coding paths that a closure was called with. It is `Sendable` because only one thread uses it.
    final class PathLog: @unchecked Sendable {
        var paths: [[String]] = []
    }

    // MARK: - Shapes of values

    /// A structure without members.
    struct Hollow: Codable, Equatable {}

    /// A class without members.
    class HollowObject: Codable, Equatable {
        static func == (left: HollowObject, right: HollowObject) -> Bool { type(of: left) == type(of: right) }
    }

    /// A structure that is coded as its only value.
    struct Single<Value: Codable & Equatable>: Codable, Equatable {
        let value: Value

        init(_ value: Value) { self.value = value }
        init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(Value.self)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    /// An object that is coded as its only value.
    final class SingleObject<Value: Codable & Equatable>: Codable, Equatable {
        let value: Value

        init(_ value: Value) { self.value = value }
        init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(Value.self)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
        static func == (left: SingleObject, right: SingleObject) -> Bool { left.value == right.value }
    }

    /// A structure that is coded as an array with one element.
    struct Listed<Value: Codable & Equatable>: Codable, Equatable {
        let value: Value

        init(_ value: Value) { self.value = value }
        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            value = try list.decode(Value.self)
            guard list.isAtEnd else { throw Refused() }
        }
        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            try list.encode(value)
        }
    }

    /// An enumeration that is coded as true or false.
    enum Valve: Codable {
        case open, shut

        init(from decoder: any Decoder) throws {
            self = try decoder.singleValueContainer().decode(Bool.self) ? .open : .shut
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(self == .open)
        }
    }

    /// An enumeration that is coded as true, false or null.
    enum Answer: Codable {
        case yes, no, unknown

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() { self = .unknown } else { self = try container.decode(Bool.self) ? .yes : .no }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            if self == .unknown { try container.encodeNil() } else { try container.encode(self == .yes) }
        }
    }

    /// A structure with several members.
    struct Room: Codable, Equatable {
        var floor = -2
        var label = "Pump room"
        var building = "North"
        var wing = "B"
        var use = "Storage"
    }

    /// A class with an optional member.
    class Device: Codable, Equatable {
        let label: String
        let maker: String
        let manual: URL?

        init(label: String, maker: String, manual: URL? = nil) {
            (self.label, self.maker, self.manual) = (label, maker, manual)
        }
        func matches(_ other: Device) -> Bool {
            type(of: self) == type(of: other) && (label, maker) == (other.label, other.maker) && manual == other.manual
        }
        static func == (left: Device, right: Device) -> Bool { left.matches(right) }
    }

    /// A class that puts its own member and those of its superclass into the same container.
    final class Sensor: Device {
        private enum CodingKeys: CodingKey { case channel }
        let channel: Int

        init(channel: Int) {
            self.channel = channel
            super.init(label: "Level", maker: "Works 9")
        }
        required init(from decoder: any Decoder) throws {
            channel = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .channel)
            try super.init(from: decoder)
        }
        override func encode(to encoder: any Encoder) throws {
            var own = encoder.container(keyedBy: CodingKeys.self)
            try own.encode(channel, forKey: .channel)
            try super.encode(to: encoder)
        }
        override func matches(_ other: Device) -> Bool {
            super.matches(other) && channel == (other as? Sensor)?.channel
        }
    }

    /// A structure with members that are structures and objects.
    struct Plant: Codable, Equatable {
        var room = Room()
        var sensors = [Sensor(channel: 3), Sensor(channel: 11)]
    }

    /// A number that is coded with a shift which the configuration gives.
    struct Shifted: CodableWithConfiguration, Equatable {
        /// A type that provides the shift.
        enum ByTen: EncodingConfigurationProviding, DecodingConfigurationProviding {
            static var encodingConfiguration: Int { 10 }
            static var decodingConfiguration: Int { 10 }
        }
        let number: Int

        init(_ number: Int) { self.number = number }
        init(from decoder: any Decoder, configuration: Int) throws {
            number = try decoder.singleValueContainer().decode(Int.self) - configuration
        }
        func encode(to encoder: any Encoder, configuration: Int) throws {
            var container = encoder.singleValueContainer()
            try container.encode(number + configuration)
        }
    }

    /// The first of two types that can be decoded.
    enum Either<First: Decodable, Second: Decodable>: Decodable {
        case first(First), second(Second)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(First.self) {
                self = .first(value)
            } else {
                self = .second(try container.decode(Second.self))
            }
        }
        var second: Second? { if case .second(let value) = self { value } else { nil } }
    }

    /// A value that is encoded in an array which is in the super encoder of another array.
    struct InSuper<Value: Encodable>: Encodable {
        let value: Value

        func encode(to encoder: any Encoder) throws {
            var outer = encoder.unkeyedContainer()
            var inner = outer.superEncoder().unkeyedContainer()
            try inner.encode(value)
        }
    }

    /// A structure that is coded under one key which is chosen at run time.
    struct UnderKey: Encodable {
        let key: String

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(1, forKey: AnyKey(key))
        }
    }
}
