import Foundation
import PreferencesCoders
import TestSupport

/// Optional members of every type for which a container has its own function.
struct Kinds: Equatable {
    var flag: Bool?
    var word: String?
    var int: Int?
    var int8: Int8?
    var int16: Int16?
    var int32: Int32?
    var int64: Int64?
    var uint: UInt?
    var uint8: UInt8?
    var uint16: UInt16?
    var uint32: UInt32?
    var uint64: UInt64?
    var float: Float?
    var double: Double?
    var list: [Int]?

    static var allOne: Kinds {
        Kinds(
            flag: true, word: "1", int: 1, int8: 1, int16: 1, int32: 1, int64: 1, uint: 1, uint8: 1, uint16: 1,
            uint32: 1, uint64: 1, float: 1, double: 1, list: [1])
    }
}

/// Writes the members into a dictionary, absent ones as nothing or not at all.
struct KeyedKinds: Codable {
    enum CodingKeys: CodingKey {
        case flag, word, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float, double, list
    }

    let kinds: Kinds
    let writesNulls: Bool

    init(kinds: Kinds, writesNulls: Bool) { (self.kinds, self.writesNulls) = (kinds, writesNulls) }

    init(from decoder: any Decoder) throws {
        let box = try decoder.container(keyedBy: CodingKeys.self)
        writesNulls = false
        kinds = Kinds(
            flag: try box.decodeIfPresent(Bool.self, forKey: .flag),
            word: try box.decodeIfPresent(String.self, forKey: .word),
            int: try box.decodeIfPresent(Int.self, forKey: .int),
            int8: try box.decodeIfPresent(Int8.self, forKey: .int8),
            int16: try box.decodeIfPresent(Int16.self, forKey: .int16),
            int32: try box.decodeIfPresent(Int32.self, forKey: .int32),
            int64: try box.decodeIfPresent(Int64.self, forKey: .int64),
            uint: try box.decodeIfPresent(UInt.self, forKey: .uint),
            uint8: try box.decodeIfPresent(UInt8.self, forKey: .uint8),
            uint16: try box.decodeIfPresent(UInt16.self, forKey: .uint16),
            uint32: try box.decodeIfPresent(UInt32.self, forKey: .uint32),
            uint64: try box.decodeIfPresent(UInt64.self, forKey: .uint64),
            float: try box.decodeIfPresent(Float.self, forKey: .float),
            double: try box.decodeIfPresent(Double.self, forKey: .double),
            list: try box.decodeIfPresent([Int].self, forKey: .list)
        )
    }

    func encode(to encoder: any Encoder) throws {
        var box = encoder.container(keyedBy: CodingKeys.self)
        guard writesNulls else { return try encodePresent(in: &box) }
        try box.encode(kinds.flag, forKey: .flag)
        try box.encode(kinds.word, forKey: .word)
        try box.encode(kinds.int, forKey: .int)
        try box.encode(kinds.int8, forKey: .int8)
        try box.encode(kinds.int16, forKey: .int16)
        try box.encode(kinds.int32, forKey: .int32)
        try box.encode(kinds.int64, forKey: .int64)
        try box.encode(kinds.uint, forKey: .uint)
        try box.encode(kinds.uint8, forKey: .uint8)
        try box.encode(kinds.uint16, forKey: .uint16)
        try box.encode(kinds.uint32, forKey: .uint32)
        try box.encode(kinds.uint64, forKey: .uint64)
        try box.encode(kinds.float, forKey: .float)
        try box.encode(kinds.double, forKey: .double)
        try box.encode(kinds.list, forKey: .list)
    }

    private func encodePresent(in box: inout KeyedEncodingContainer<CodingKeys>) throws {
        try box.encodeIfPresent(kinds.flag, forKey: .flag)
        try box.encodeIfPresent(kinds.word, forKey: .word)
        try box.encodeIfPresent(kinds.int, forKey: .int)
        try box.encodeIfPresent(kinds.int8, forKey: .int8)
        try box.encodeIfPresent(kinds.int16, forKey: .int16)
        try box.encodeIfPresent(kinds.int32, forKey: .int32)
        try box.encodeIfPresent(kinds.int64, forKey: .int64)
        try box.encodeIfPresent(kinds.uint, forKey: .uint)
        try box.encodeIfPresent(kinds.uint8, forKey: .uint8)
        try box.encodeIfPresent(kinds.uint16, forKey: .uint16)
        try box.encodeIfPresent(kinds.uint32, forKey: .uint32)
        try box.encodeIfPresent(kinds.uint64, forKey: .uint64)
        try box.encodeIfPresent(kinds.float, forKey: .float)
        try box.encodeIfPresent(kinds.double, forKey: .double)
        try box.encodeIfPresent(kinds.list, forKey: .list)
    }
}

/// Writes the members into an array, absent ones as nothing or not at all.
struct UnkeyedKinds: Codable {
    let kinds: Kinds
    let writesNulls: Bool

    init(kinds: Kinds, writesNulls: Bool) { (self.kinds, self.writesNulls) = (kinds, writesNulls) }

    init(from decoder: any Decoder) throws {
        var box = try decoder.unkeyedContainer()
        writesNulls = false
        kinds = Kinds(
            flag: try box.decodeIfPresent(Bool.self),
            word: try box.decodeIfPresent(String.self),
            int: try box.decodeIfPresent(Int.self),
            int8: try box.decodeIfPresent(Int8.self),
            int16: try box.decodeIfPresent(Int16.self),
            int32: try box.decodeIfPresent(Int32.self),
            int64: try box.decodeIfPresent(Int64.self),
            uint: try box.decodeIfPresent(UInt.self),
            uint8: try box.decodeIfPresent(UInt8.self),
            uint16: try box.decodeIfPresent(UInt16.self),
            uint32: try box.decodeIfPresent(UInt32.self),
            uint64: try box.decodeIfPresent(UInt64.self),
            float: try box.decodeIfPresent(Float.self),
            double: try box.decodeIfPresent(Double.self),
            list: try box.decodeIfPresent([Int].self)
        )
    }

    func encode(to encoder: any Encoder) throws {
        var box = encoder.unkeyedContainer()
        func skip() throws { if writesNulls { try box.encodeNil() } }
        if let flag = kinds.flag { try box.encode(flag) } else { try skip() }
        if let word = kinds.word { try box.encode(word) } else { try skip() }
        if let int = kinds.int { try box.encode(int) } else { try skip() }
        if let int8 = kinds.int8 { try box.encode(int8) } else { try skip() }
        if let int16 = kinds.int16 { try box.encode(int16) } else { try skip() }
        if let int32 = kinds.int32 { try box.encode(int32) } else { try skip() }
        if let int64 = kinds.int64 { try box.encode(int64) } else { try skip() }
        if let uint = kinds.uint { try box.encode(uint) } else { try skip() }
        if let uint8 = kinds.uint8 { try box.encode(uint8) } else { try skip() }
        if let uint16 = kinds.uint16 { try box.encode(uint16) } else { try skip() }
        if let uint32 = kinds.uint32 { try box.encode(uint32) } else { try skip() }
        if let uint64 = kinds.uint64 { try box.encode(uint64) } else { try skip() }
        if let float = kinds.float { try box.encode(float) } else { try skip() }
        if let double = kinds.double { try box.encode(double) } else { try skip() }
        if let list = kinds.list { try box.encode(list) } else { try skip() }
    }
}
