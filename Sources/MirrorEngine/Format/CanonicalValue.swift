package import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A value in its only valid encoding: equal values have equal bytes.
///
/// For example, `0b 01 01 61 0a 02 04 01 03` is `{a = (1, true)}`: a dictionary of one entry, its key of one byte, an
/// array of two elements, a natural number and a boolean. Entries are sorted by the bytes of their keys, numbers are as
/// short as possible, and there is one zero and one NaN.
package struct CanonicalValue: Hashable, Sendable {
    private let storage: Storage

    private enum Storage: Hashable, Sendable {
        case short([UInt8])
        /// A value longer than a pack can contain.
        case long(LongValue)
    }

    private init(bytes: [UInt8]) {
        storage = bytes.count > Blob.longestInPack ? .long(LongValue(bytes)) : .short(bytes)
    }

    init(_ value: LongValue) { storage = .long(value) }

    /// The encoding. If the value is long, it may have to be read from a file.
    package var bytes: [UInt8] {
        switch storage {
        case .short(let bytes): bytes
        case .long(let value): value.bytes
        }
    }

    /// The length of the encoding in bytes.
    package var count: Int {
        switch storage {
        case .short(let bytes): bytes.count
        case .long(let value): value.size
        }
    }

    /// The value if it is too long for a pack.
    package var long: LongValue? { if case .long(let value) = storage { value } else { nil } }

    /// The SHA-256 of the encoding.
    var contentHash: ContentHash { long?.name.hash ?? ContentHash(of: bytes) }

    /// The first byte of a value. `deleted` and `left` are not values; they are stored in place of one.
    enum Tag: UInt8 {
        case deleted = 0
        case left, no, yes, natural, negative, real, date, string, data, array, dictionary, uid
        /// A reference to a value in a file of its own. Only records contain it.
        case blob
    }

    /// The limit of nested containers.
    package static let deepest = 512
    /// The length limit of an encoding, in bytes.
    package static let longest = 16 << 20
    /// The length limit of a dictionary key, in bytes.
    package static let longestKey = 1024
}

// MARK: Encoding

extension CanonicalValue {
    /// Encodes a value within the limits.
    package init(_ value: PropertyList) throws(PackFault) {
        var bytes: [UInt8] = []
        try Self.append(value, to: &bytes, depth: 0)
        self.init(bytes: bytes)
    }

    private static func append(_ value: PropertyList, to bytes: inout [UInt8], depth: Int) throws(PackFault) {
        guard bytes.count <= longest else { throw .beyondLimit("bytes of a value") }
        switch value {
        case .boolean(let flag): bytes.append(flag ? Tag.yes : .no)
        case .integer(let number): append(number, to: &bytes)
        case .real(let number): bytes.append(.real, number.canonicalBits)
        case .date(let date): bytes.append(.date, date.timeIntervalSinceReferenceDate.canonicalBits)
        case .uid(let number):
            bytes.append(Tag.uid)
            bytes.append(leb128: number)
        case .string(let text):
            bytes.append(Tag.string)
            bytes.append(run: text.utf8)
        case .data(let data):
            bytes.append(Tag.data)
            bytes.append(run: data)
        // A domain cannot contain null.
        case .null: throw .unknownTag
        case .array, .dictionary: try appendContainer(value, to: &bytes, depth: depth)
        }
        guard bytes.count <= longest else { throw .beyondLimit("bytes of a value") }
    }

    private static func append(_ number: PropertyList.Integer, to bytes: inout [UInt8]) {
        let isNegative = number < 0
        bytes.append(isNegative ? Tag.negative : .natural)
        bytes.append(leb128: isNegative ? number.magnitude - 1 : number.magnitude)
    }

    private static func appendContainer(
        _ value: PropertyList, to bytes: inout [UInt8], depth: Int
    ) throws(PackFault) {
        guard depth < deepest else { throw .beyondLimit("depth of a value") }
        if case .array(let elements) = value {
            bytes.append(Tag.array)
            bytes.append(leb128: UInt64(elements.count))
            for element in elements { try append(element, to: &bytes, depth: depth + 1) }
        } else if case .dictionary(let dictionary) = value {
            bytes.append(Tag.dictionary)
            bytes.append(leb128: UInt64(dictionary.count))
            let entries = dictionary.map { (key: Array($0.key.utf8), value: $0.value) }
            for entry in entries.sorted(by: { $0.key.isBefore($1.key) }) {
                guard entry.key.count <= longestKey else { throw .beyondLimit("bytes of a key") }
                bytes.append(run: entry.key)
                try append(entry.value, to: &bytes, depth: depth + 1)
            }
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ tag: CanonicalValue.Tag) { append(tag.rawValue) }

    fileprivate mutating func append(_ tag: CanonicalValue.Tag, _ bits: UInt64) {
        append(tag.rawValue)
        append(littleEndian: bits)
    }
}

// MARK: Decoding

extension CanonicalValue {
    /// Accepts an encoding if it is the one that this type writes.
    package init(decoding bytes: [UInt8]) throws(PackFault) {
        guard bytes.count <= Self.longest else { throw .beyondLimit("bytes of a value") }
        if bytes.first == Tag.string.rawValue {
            // Most values are strings. None is made to check the bytes.
            var reader = ByteReader(bytes)
            _ = try reader.byte()
            guard try reader.run(limit: Self.longest).isUTF8 else { throw .notUTF8 }
            try reader.expectEnd()
        } else {
            _ = try Self.parse(bytes)
        }
        self.init(bytes: bytes)
    }

    /// Returns the decoded value. Throws only if it is long and cannot be read, because every initializer validates the
    /// bytes.
    package func decoded() throws(PackFault) -> PropertyList { try Self.parse(bytes) }

    /// The decoded value, or an empty dictionary if it cannot be read. A store that fails to read a value records
    /// nothing that follows from this one.
    package var propertyList: PropertyList { (try? decoded()) ?? .dictionary([:]) }

    /// The decoded value if it is a dictionary.
    var dictionary: PropertyList? { beginning.first == Tag.dictionary.rawValue ? propertyList : nil }

    /// The decoded value if it is a dictionary or an array.
    var container: PropertyList? { beginning.first == Tag.array.rawValue ? propertyList : dictionary }

    /// Whether this is a dictionary with at least one entry.
    package var isFilledDictionary: Bool {
        let beginning = beginning
        return beginning.count > 1 && beginning[0] == Tag.dictionary.rawValue && beginning[1] != 0
    }

    private var beginning: [UInt8] { long?.beginning ?? bytes }

    private static func parse(_ bytes: [UInt8]) throws(PackFault) -> PropertyList {
        var reader = ByteReader(bytes)
        var open: [OpenContainer] = []
        while true {
            var finished = try value(&reader, &open)
            while let value = finished {
                guard let container = open.popLast() else {
                    try reader.expectEnd()
                    return value
                }
                finished = try add(value, to: container, &reader, &open)
            }
        }
    }

    /// A container that is not decoded completely.
    private struct OpenContainer {
        var elements: [PropertyList] = []
        var entries = PropertyList.Dictionary()
        /// The key of the next entry, or nil in an array.
        var key: ArraySlice<UInt8>?
        var missing: Int

        var value: PropertyList { key == nil ? .array(elements) : .dictionary(entries) }
    }

    /// Decodes a value, or opens the container that begins here and returns nil.
    private static func value(_ reader: inout ByteReader, _ open: inout [OpenContainer]) throws(PackFault)
        -> PropertyList?
    {
        guard let tag = Tag(rawValue: try reader.byte()) else { throw .unknownTag }
        switch tag {
        case .deleted, .left, .blob: throw .unknownTag
        case .no: return .boolean(false)
        case .yes: return .boolean(true)
        case .natural: return .integer(PropertyList.Integer(try reader.number()))
        case .negative: return .integer(try negative(&reader))
        case .real: return .real(try real(&reader))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: try real(&reader)))
        case .uid: return .uid(try reader.number())
        case .string: return .string(try reader.text(limit: longest))
        case .data: return .data(Data(try reader.run(limit: longest)))
        case .array, .dictionary: return try container(isArray: tag == .array, &reader, &open)
        }
    }

    private static func negative(_ reader: inout ByteReader) throws(PackFault) -> PropertyList.Integer {
        guard let distance = Int64(exactly: try reader.number()) else { throw .notCanonical }
        return PropertyList.Integer(-1 - distance)
    }

    private static func real(_ reader: inout ByteReader) throws(PackFault) -> Double {
        let bits = try reader.word()
        let number = Double(bitPattern: bits)
        guard number.canonicalBits == bits else { throw .notCanonical }
        return number
    }

    private static func container(
        isArray: Bool, _ reader: inout ByteReader, _ open: inout [OpenContainer]
    ) throws(PackFault) -> PropertyList? {
        guard open.count < deepest else { throw .beyondLimit("depth of a value") }
        // An element takes at least one byte.
        let count = try reader.count(limit: reader.remaining, of: "elements")
        if count == 0 { return isArray ? .array([]) : .dictionary([:]) }
        open.append(OpenContainer(key: isArray ? nil : try reader.run(limit: longestKey), missing: count))
        return nil
    }

    /// Adds an element, and returns the container if it is complete.
    private static func add(
        _ value: PropertyList, to container: OpenContainer, _ reader: inout ByteReader, _ open: inout [OpenContainer]
    ) throws(PackFault) -> PropertyList? {
        var container = container
        container.missing -= 1
        if let key = container.key {
            guard let text = String(validating: key, as: UTF8.self) else { throw .notUTF8 }
            container.entries[text] = value
            if container.missing > 0 {
                let next = try reader.run(limit: longestKey)
                guard Array(key).isBefore(Array(next)) else { throw .notCanonical }
                container.key = next
            }
        } else {
            container.elements.append(value)
        }
        guard container.missing > 0 else { return container.value }
        open.append(container)
        return nil
    }
}
