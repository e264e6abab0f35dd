/// The entries of a dictionary, encoded by key.
struct KeyedEncoding<Key: CodingKey> {
    let node: EncodingNode

    @inline(__always)
    func put<Value: Scalar>(_ value: Value, _ key: Key) throws {
        try node.checkDepth()
        guard let scalar = value.scalar else { throw node.invalid(value, at: codingPath + [key], .outOfRange) }
        node.add(scalar, key.stringValue)
    }
}

extension KeyedEncoding: KeyedEncodingContainerProtocol {
    var codingPath: [any CodingKey] { node.path }

    /// Leaves the key out, for a property list has no null.
    func encodeNil(forKey key: Key) throws {
        try node.checkDepth()
        node.omit(key.stringValue)
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        let key = key.stringValue
        if let value = try node.encode(value, as: .key(key)) { node.add(value, key) } else { node.omit(key) }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        node.nestedNode(.keyed, forKey: key.stringValue).container(type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        node.nestedNode(.unkeyed, forKey: key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { superEncoder(under: PathKey.superclass.stringValue) }
    func superEncoder(forKey key: Key) -> any Encoder { superEncoder(under: key.stringValue) }

    private func superEncoder(under key: String) -> any Encoder { ValueEncoder(node: node.pendingNode(at: .key(key))) }
}

// One row a type, so that each is found without a search for what the type is.
extension KeyedEncoding {
    func encode(_ value: Bool, forKey key: Key) throws { try put(value, key) }
    func encode(_ value: String, forKey key: Key) throws { try put(value, key) }
    func encode(_ value: Double, forKey key: Key) throws { try put(value, key) }
    func encode(_ value: Float, forKey key: Key) throws { try put(value, key) }
    func encode(_ value: Int, forKey key: Key) throws { try put(value, key) }
    func encode(_ value: Int8, forKey key: Key) throws { try put(value, key) }
    func encode(_ value: Int16, forKey key: Key) throws { try put(value, key) }
    func encode(_ value: Int32, forKey key: Key) throws { try put(value, key) }
    func encode(_ value: Int64, forKey key: Key) throws { try put(value, key) }
    func encode(_ value: Int128, forKey key: Key) throws { try put(value, key) }
    func encode(_ value: UInt, forKey key: Key) throws { try put(value, key) }
    func encode(_ value: UInt8, forKey key: Key) throws { try put(value, key) }
    func encode(_ value: UInt16, forKey key: Key) throws { try put(value, key) }
    func encode(_ value: UInt32, forKey key: Key) throws { try put(value, key) }
    func encode(_ value: UInt64, forKey key: Key) throws { try put(value, key) }
    func encode(_ value: UInt128, forKey key: Key) throws { try put(value, key) }
}
