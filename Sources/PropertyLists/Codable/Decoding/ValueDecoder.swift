/// The decoder of the value that stands at one position of a container.
///
/// It is small enough to stand in an `any Decoder` without an allocation.
struct ValueDecoder {
    let node: DecodingNode
    let position: Int

    @inline(__always)
    init(node: DecodingNode, position: Int) {
        self.node = node
        self.position = position
    }

    /// The value to be decoded, or nil where it is missing.
    @inline(__always)
    var value: PropertyList? { node.value(at: position) }

    /// The value as a `T`, by the shortest way there is.
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try decode(node.session.strategy(for: type), as: type)
    }

    /// The value as a `type`, which may be a subclass of `T`, by a way that was found before.
    @inline(__always)
    func decode<T: Decodable>(_ strategy: DecodingStrategy<T>?, as type: T.Type) throws -> T {
        if let strategy { return try strategy.decode(self) }
        return try type.init(from: self)
    }

    /// The value as a `Value`, which is known here and needs no search for a way.
    @inline(__always)
    func scalar<Value: Scalar>(_ type: Value.Type) throws -> Value {
        guard let value, let result = Value(scalar: value) else { throw scalarFailure(type) }
        return result
    }

    func keyedNode(order: KeyOrder? = nil) throws -> DecodingNode {
        guard case .dictionary(let dictionary)? = value else { throw failure([String: any Decodable].self) }
        try checkDepth()
        return DecodingNode(dictionary, at: self, order: order)
    }

    func unkeyedNode() throws -> DecodingNode {
        guard case .array(let elements)? = value else { throw failure([any Decodable].self) }
        try checkDepth()
        return DecodingNode(elements, at: self)
    }

    private func checkDepth() throws {
        guard node.depth < mostCodingLevels else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: codingPath, debugDescription: "The value is nested too deeply."))
        }
    }
}

extension ValueDecoder: Decoder {
    var codingPath: [any CodingKey] { node.path(to: position) }
    var userInfo: [CodingUserInfoKey: Any] { node.session.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(KeyedDecoding(node: try keyedNode(order: node.session.order(of: type))))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { UnkeyedDecoding(node: try unkeyedNode()) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension ValueDecoder: SingleValueDecodingContainer {
    /// A property list has no null: only what is missing is nil.
    func decodeNil() -> Bool { value == nil }

    func decode(_ type: Bool.Type) throws -> Bool { try scalar(type) }
    func decode(_ type: String.Type) throws -> String { try scalar(type) }
    func decode(_ type: Double.Type) throws -> Double { try scalar(type) }
    func decode(_ type: Float.Type) throws -> Float { try scalar(type) }
    func decode(_ type: Int.Type) throws -> Int { try scalar(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try scalar(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try scalar(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try scalar(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try scalar(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try scalar(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try scalar(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try scalar(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try scalar(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try scalar(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try scalar(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try scalar(type) }
}
