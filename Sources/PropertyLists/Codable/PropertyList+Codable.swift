#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension PropertyList: Codable {
    /// Decodes a value. `PropertyList.decoded(as:)` returns it unchanged. With any other decoder, its kind is that of
    /// the first type that the decoder accepts.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? ValueDecoder {
            self = try decoder.decode(PropertyList.self)
        } else if let single = try Self.single(from: decoder) {
            self = single
        } else if let elements = try? decoder.unkeyedContainer() {
            self = .array(try Self.elements(elements))
        } else {
            self = try Self.entries(decoder.container(keyedBy: PathKey.self))
        }
    }

    /// Encodes the value. `PropertyList(encoding:)` keeps it unchanged. Any other encoder receives strings, numbers and
    /// so on, and the dictionary `{CF$UID = n}` for a uid.
    public func encode(to encoder: any Encoder) throws {
        if let encoder = encoder as? ValueEncoder { return try encoder.encode(self) }
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        case .real(let number): try container.encode(number)
        case .boolean(let flag): try container.encode(flag)
        case .date(let date): try container.encode(date)
        case .data(let data): try container.encode(data)
        case .array(let elements): try container.encode(elements)
        case .dictionary(let dictionary): try Self.encode(dictionary, to: encoder)
        case .uid(let number): try Self.encode([Self.uidKey: .integer(Integer(number))], to: encoder)
        case .null: try container.encodeNil()
        }
    }

    private static func encode(_ dictionary: Dictionary, to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PathKey.self)
        for entry in dictionary { try container.encode(entry.value, forKey: PathKey(stringValue: entry.key)) }
    }
}

// MARK: Other decoders

extension PropertyList {
    /// Returns the value, or nil if it is a container. Numbers come before dates, which other formats may write as
    /// numbers.
    private static func single(from decoder: any Decoder) throws -> PropertyList? {
        guard let container = try? decoder.singleValueContainer() else { return nil }
        if let flag = try? container.decode(Bool.self) { return .boolean(flag) }
        if let number = try? container.decode(Int64.self) { return .integer(Integer(number)) }
        if let number = try? container.decode(UInt64.self) { return .integer(Integer(number)) }
        if let number = try? container.decode(Double.self) { return .real(try checked(number, container)) }
        if let text = try? container.decode(String.self) { return .string(text) }
        if let date = try? container.decode(Date.self) { return .date(date) }
        if let data = try? container.decode(Data.self) { return .data(data) }
        return container.decodeNil() ? .null : nil
    }

    /// Throws for an integer that another decoder has rounded.
    private static func checked(_ number: Double, _ container: any SingleValueDecodingContainer) throws -> Double {
        guard number.magnitude > 0x1p53, let exact = try? container.decode(Decimal.self),
            DecimalDigits(exact.description)?.integer != nil, Decimal(string: number.description) != exact
        else { return number }
        throw DecodingError.dataCorrupted(
            .init(codingPath: container.codingPath, debugDescription: "The integer \(exact) is beyond 64 bits."))
    }

    private static func elements(_ container: consuming any UnkeyedDecodingContainer) throws -> [PropertyList] {
        var container = container
        var elements: [PropertyList] = []
        while !container.isAtEnd { elements.append(try container.decode(PropertyList.self)) }
        return elements
    }

    private static func entries(_ container: KeyedDecodingContainer<PathKey>) throws -> PropertyList {
        var dictionary = Dictionary()
        for key in container.allKeys {
            dictionary.updateValue(try container.decode(PropertyList.self, forKey: key), forKey: key.stringValue)
        }
        if dictionary.count == 1, case .integer(let number)? = dictionary[uidKey], let uid = UInt64(exactly: number) {
            return .uid(uid)
        }
        return .dictionary(dictionary)
    }
}

extension PropertyList.Integer: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self.init(number)
        } else {
            self.init(try container.decode(UInt64.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if isNegative {
            try container.encode(Int64(bitPattern: bits))
        } else if let small = Int64(exactly: self) {
            try container.encode(small)
        } else {
            try container.encode(bits)
        }
    }
}

// MARK: Paths

/// A step of a coding path: the key that a type has used, the key of a dictionary or the position in an array.
///
/// Paths are made on demand.
package enum PathKey: CodingKey {
    case own(any CodingKey)
    case key(String)
    case index(Int)

    /// The key as users of a path see it.
    var shown: any CodingKey { if case .own(let key) = self { key } else { self } }

    package init(stringValue: String) { self = .key(stringValue) }
    package init(intValue: Int) { self = .index(intValue) }

    package var stringValue: String {
        switch self {
        case .own(let key): key.stringValue
        case .key(let key): key
        case .index(let index): "Index \(index)"
        }
    }

    package var intValue: Int? {
        switch self {
        case .own(let key): key.intValue
        case .key: nil
        case .index(let index): index
        }
    }

    /// The default key of a superclass.
    static let superclass = PathKey.key("super")
}

/// The maximum nesting depth of values that are encoded or decoded.
///
/// A level takes up to a kilobyte of stack, and the smallest stack of a thread is 512 KiB. The limit also ends the
/// encoding of a graph of objects that has a cycle.
let mostCodingLevels = 384
