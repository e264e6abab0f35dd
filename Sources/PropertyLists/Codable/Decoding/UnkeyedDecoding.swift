/// The elements of an array, decoded one after the other.
struct UnkeyedDecoding {
    let node: DecodingNode
    private(set) var currentIndex = 0

    init(node: DecodingNode) { self.node = node }

    @inline(__always)
    private mutating func scalar<Value: Scalar>(_ type: Value.Type) throws -> Value {
        guard currentIndex < node.elements.count, let value = Value(scalar: node.elements[currentIndex]) else {
            throw next.scalarFailure(type)
        }
        currentIndex += 1
        return value
    }

    /// The decoder of the next element; of a missing one behind the last.
    @inline(__always)
    private var next: ValueDecoder { ValueDecoder(node: node, position: currentIndex) }

    /// Goes on to the next element if `body` takes this one.
    @inline(__always)
    private mutating func take<Result>(_ body: (ValueDecoder) throws -> Result) throws -> Result {
        let result = try body(next)
        currentIndex += 1
        return result
    }
}

extension UnkeyedDecoding: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { node.path }
    var count: Int? { node.elements.count }
    var isAtEnd: Bool { currentIndex >= node.elements.count }

    /// A property list has no null, so no element is nil.
    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd else { throw next.failure(Any?.self) }
        return false
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard !isAtEnd else { throw next.failure(type) }
        return try take { try $0.decode(type) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try take { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try take { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder {
        guard !isAtEnd else { throw next.failure((any Decoder).self) }
        return try take { $0 }
    }
}

// One row a type, so that each is found without a search for what the type is.
extension UnkeyedDecoding {
    mutating func decode(_ type: Bool.Type) throws -> Bool { try scalar(type) }
    mutating func decode(_ type: String.Type) throws -> String { try scalar(type) }
    mutating func decode(_ type: Double.Type) throws -> Double { try scalar(type) }
    mutating func decode(_ type: Float.Type) throws -> Float { try scalar(type) }
    mutating func decode(_ type: Int.Type) throws -> Int { try scalar(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try scalar(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try scalar(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try scalar(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try scalar(type) }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try scalar(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try scalar(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try scalar(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try scalar(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try scalar(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try scalar(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try scalar(type) }
}
