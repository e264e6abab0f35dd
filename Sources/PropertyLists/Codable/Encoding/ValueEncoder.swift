/// The encoder of one value.
///
/// It is small enough to stand in an `any Encoder` without an allocation.
struct ValueEncoder {
    let node: EncodingNode
}

extension ValueEncoder: Encoder {
    var codingPath: [any CodingKey] { node.path }
    var userInfo: [CodingUserInfoKey: Any] { node.session.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> { node.container(type) }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { node.unkeyedContainer() }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension EncodingNode {
    func container<Key: CodingKey>(_ type: Key.Type) -> KeyedEncodingContainer<Key> {
        beginKeyed(type)
        return KeyedEncodingContainer(KeyedEncoding(node: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        begin(.unkeyed)
        return UnkeyedEncoding(node: self)
    }
}

extension ValueEncoder: SingleValueEncodingContainer {
    func encodeNil() throws {
        try node.checkDepth()
        node.setSingle(nil)
    }

    func encode<T: Encodable>(_ value: T) throws { node.setSingle(try node.encode(value, as: .itself)) }

    @inline(__always)
    private func put<Value: Scalar>(_ value: Value) throws {
        try node.checkDepth()
        guard let scalar = value.scalar else { throw node.invalid(value, as: .itself, .outOfRange) }
        node.setSingle(scalar)
    }
}

// One row a type, so that each is found without a search for what the type is.
extension ValueEncoder {
    func encode(_ value: Bool) throws { try put(value) }
    func encode(_ value: String) throws { try put(value) }
    func encode(_ value: Double) throws { try put(value) }
    func encode(_ value: Float) throws { try put(value) }
    func encode(_ value: Int) throws { try put(value) }
    func encode(_ value: Int8) throws { try put(value) }
    func encode(_ value: Int16) throws { try put(value) }
    func encode(_ value: Int32) throws { try put(value) }
    func encode(_ value: Int64) throws { try put(value) }
    func encode(_ value: Int128) throws { try put(value) }
    func encode(_ value: UInt) throws { try put(value) }
    func encode(_ value: UInt8) throws { try put(value) }
    func encode(_ value: UInt16) throws { try put(value) }
    func encode(_ value: UInt32) throws { try put(value) }
    func encode(_ value: UInt64) throws { try put(value) }
    func encode(_ value: UInt128) throws { try put(value) }
}
