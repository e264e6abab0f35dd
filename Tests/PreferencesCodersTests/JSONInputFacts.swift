import Foundation
import PreferencesCoders
import TestSupport

#if canImport(Glibc)
    import Glibc
#endif

/// Facts about the text that a decoder is given, and about the types that read it.
enum JSONInputFacts {
    static let text: [Fact] = [
        Fact("localeDecimalPolicyIndependence") {
            let before = setlocale(LC_ALL, nil).map { String(cString: $0) } ?? "C"
            defer { setlocale(LC_ALL, before) }
            for name in ["fr_FR", "fr_FR.UTF-8", "de_DE.UTF-8"] {
                setlocale(LC_ALL, name)
                let text = try JSONEncoder().write(["price": 2.75])
                try equal(text, #"{"price":2.75}"#)
                try equal(try JSONDecoder().read(text), ["price": 2.75])
                setlocale(LC_ALL, "en_US_POSIX")
                try equal(try JSONDecoder().read(text), ["price": 2.75])
            }
        },
        Fact("whitespace") {
            for end in ["\n", "\r\n", "\r"] { try equal(try JSONDecoder().read("{\"on\"\(end) : true}"), ["on": true]) }
        },
        Fact("assumesTopLevelDictionary") {
            let rows: [(String, [String: Int]?)] = [
                (#""age" : 7"#, ["age": 7]), (#"{"age" : 7}"#, ["age": 7]), ("", [:]),
                (#""age" : 7}"#, nil), (#"{"age" : 7"#, nil),
            ]
            try reads(rows, .with(dictionary: true))
        },
        Fact("assumesTopLevelDictionaryTrailingNumber") {
            let decoder = JSONDecoder.with(dictionary: true)
            try equal(try decoder.read(#""age" : 12"#), ["age": 12])
            try equal(try decoder.read(#""age" : 12.25"#), ["age": 12.25])
            try equal(try JSONDecoder.with(json5: true, dictionary: true).read(#""age" : 12."#), ["age": 12.0])
        },
        Fact("bomPrefixes") {
            let word = "h\u{E9}llo \u{1F44B}\u{1F3FD}"
            func bytes(_ encoding: String.Encoding) -> Data { "\"\(word)\"".data(using: encoding) ?? Data() }
            let utf8 = Data([0xEF, 0xBB, 0xBF])
            let big16 = Data([0xFE, 0xFF])
            let little16 = Data([0xFF, 0xFE])
            let big32 = Data([0, 0, 0xFE, 0xFF])
            let little32 = Data([0xFE, 0xFF, 0, 0])
            let marked: [Data] = [
                utf8 + bytes(.utf8), big16 + bytes(.utf16BigEndian), little16 + bytes(.utf16LittleEndian),
                big32 + bytes(.utf32BigEndian), little32 + bytes(.utf32LittleEndian),
            ]
            for data in marked { try equal(try JSONDecoder().decode(String.self, from: data), word) }
            let mixed: [Data] = [
                little32 + bytes(.utf32BigEndian), big16 + bytes(.utf32LittleEndian), utf8 + bytes(.utf16BigEndian),
            ]
            for data in mixed { try fails { try JSONDecoder().decode(String.self, from: data) } }
        },
        Fact("twoByteUTF16Inputs") {
            for bytes: [UInt8] in [[0, 0x38], [0x38, 0]] {
                try equal(try JSONDecoder().decode(Int.self, from: Data(bytes)), 8)
            }
        },
        Fact("invalidKeyUTF8") {
            let data = Data(#"{"name"#.utf8) + [0xFF] + Data(#"":"x"}"#.utf8)
            /// A type with one member.
            struct Named: Decodable { let name: String }
            try fails { try JSONDecoder().decode(Named.self, from: data) }
        },
    ]

    /// A type that expects no value for a missing key and takes note of the error.
    struct Tolerant: Decodable {
        let known: Bool
        var missing = false

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Name.self)
            known = try values.decode(Bool.self, forKey: Name("known"))
            do {
                _ = try values.superDecoder(forKey: Name("other")).singleValueContainer().decode(String.self)
            } catch DecodingError.valueNotFound { missing = true }
        }
    }

    /// A dictionary whose keys are not text.
    struct Table: Codable, Equatable {
        var cells: [Cell: String] = [:]

        /// A key of the table.
        struct Cell: Codable, Hashable { var row: String }
    }

    static let types: [Fact] = [
        Fact("valueNotFoundError") {
            let value: Tolerant = try JSONDecoder().read(#"{"known":true}"#)
            try isTrue(value.known && value.missing)
        },
        Fact("SR17581_codingEmptyDictionaryWithNonstringKeyDoesRoundtrip") { try survives(Table()) },
        Fact("decodeIfPresent") {
            for members in [Members(), .ones] {
                for text in [try JSONEncoder().write(members), try JSONEncoder().write(WithNulls(members: members))] {
                    try equal(try JSONDecoder().read(text), members)
                }
                let row = try JSONEncoder().write(Row(members: members))
                try equal(try JSONDecoder().read(row, as: Row.self).members, members)
            }
            try equal(try JSONEncoder().write(Members()), "{}")
            try equal(try JSONDecoder().read("[]", as: Row.self).members, Members())
            try isTrue(try JSONEncoder().write(WithNulls(members: Members())).contains(#""text":null"#))
        },
    ]

    /// An optional member of every basic type.
    struct Members: Codable, Equatable {
        var flag: Bool?, text: String?, int: Int?, int8: Int8?, int16: Int16?, int32: Int32?, int64: Int64?
        var uint: UInt?, uint8: UInt8?, uint16: UInt16?, uint32: UInt32?, uint64: UInt64?
        var float: Float?, double: Double?, list: [Int]?

        static var ones: Members {
            Members(
                flag: true, text: "1", int: 1, int8: 1, int16: 1, int32: 1, int64: 1, uint: 1, uint8: 1, uint16: 1,
                uint32: 1, uint64: 1, float: 1, double: 1, list: [1])
        }

        var named: [(String, any Encodable)] {
            [
                ("flag", flag), ("text", text), ("int", int), ("int8", int8), ("int16", int16), ("int32", int32),
                ("int64", int64), ("uint", uint), ("uint8", uint8), ("uint16", uint16), ("uint32", uint32),
                ("uint64", uint64), ("float", float), ("double", double), ("list", list),
            ]
        }
    }

    /// The members as a dictionary in which absent ones are null.
    struct WithNulls: Encodable {
        let members: Members

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: Name.self)
            for (name, value) in members.named { try values.encode(value, forKey: Name(name)) }
        }
    }

    /// The members as an array in which absent ones are null.
    struct Row: Codable {
        let members: Members

        init(members: Members) { self.members = members }

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            var found = Members()
            found.flag = try list.decodeIfPresent(Bool.self)
            found.text = try list.decodeIfPresent(String.self)
            found.int = try list.decodeIfPresent(Int.self)
            found.int8 = try list.decodeIfPresent(Int8.self)
            found.int16 = try list.decodeIfPresent(Int16.self)
            found.int32 = try list.decodeIfPresent(Int32.self)
            found.int64 = try list.decodeIfPresent(Int64.self)
            found.uint = try list.decodeIfPresent(UInt.self)
            found.uint8 = try list.decodeIfPresent(UInt8.self)
            found.uint16 = try list.decodeIfPresent(UInt16.self)
            found.uint32 = try list.decodeIfPresent(UInt32.self)
            found.uint64 = try list.decodeIfPresent(UInt64.self)
            found.float = try list.decodeIfPresent(Float.self)
            found.double = try list.decodeIfPresent(Double.self)
            found.list = try list.decodeIfPresent([Int].self)
            members = found
        }

        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            for (_, value) in members.named { try list.encode(value) }
        }
    }
}
