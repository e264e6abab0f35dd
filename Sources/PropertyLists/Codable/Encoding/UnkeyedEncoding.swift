/// The elements of an array, encoded one after the other.
struct UnkeyedEncoding {
    let node: EncodingNode

    @inline(__always)
    private func put<Value: Scalar>(_ value: Value) throws {
        try node.checkDepth()
        guard let scalar = value.scalar else { throw node.invalid(value, as: .index(count), .outOfRange) }
        node.append(scalar)
    }
}

extension UnkeyedEncoding: UnkeyedEncodingContainer {
    var codingPath: [any CodingKey] { node.path }
    var count: Int { node.count }

    func encodeNil() throws { throw node.invalid(Any?.none as Any, as: .index(count), .null) }

    func encode<T: Encodable>(_ value: T) throws {
        guard let encoded = try node.encode(value, as: .index(count)) else {
            throw node.invalid(value, as: .index(count), .null)
        }
        node.append(encoded)
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        node.pendingNode(at: .index(count)).container(type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        node.pendingNode(at: .index(count)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { ValueEncoder(node: node.pendingNode(at: .index(count))) }
}

// One row a type, so that each is found without a search for what the type is.
extension UnkeyedEncoding {
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
