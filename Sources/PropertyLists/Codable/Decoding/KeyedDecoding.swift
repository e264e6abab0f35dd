/// The entries of a dictionary, decoded by key.
///
/// It holds one reference and no more, for Swift's own container copies it whenever a value is asked for.
struct KeyedDecoding<Key: CodingKey> {
    let node: DecodingNode

    @inline(__always)
    private func position(of key: Key) -> Int { node.position(of: key.stringValue) }

    /// The decoder of what stands under `key`.
    private func entry(_ key: Key) throws -> ValueDecoder {
        let position = position(of: key)
        guard position >= 0 else { throw missing(key) }
        return ValueDecoder(node: node, position: position)
    }

    @inline(__always)
    func scalar<Value: Scalar>(_ type: Value.Type, _ key: Key) throws -> Value {
        let position = position(of: key)
        guard position >= 0 else { throw missing(key) }
        guard let value = Value(scalar: node.dictionary.entries[position].value) else {
            throw ValueDecoder(node: node, position: position).scalarFailure(type, at: key)
        }
        return value
    }

    @inline(__always)
    func scalarIfPresent<Value: Scalar>(_ type: Value.Type, _ key: Key) throws -> Value? {
        let position = position(of: key)
        guard position >= 0 else { return nil }
        guard let value = Value(scalar: node.dictionary.entries[position].value) else {
            throw ValueDecoder(node: node, position: position).scalarFailure(type, at: key)
        }
        return value
    }

    @inline(never)
    private func missing(_ key: Key) -> DecodingError {
        .keyNotFound(key, .init(codingPath: codingPath, debugDescription: "There is no entry with this key."))
    }
}

extension KeyedDecoding: KeyedDecodingContainerProtocol {
    var codingPath: [any CodingKey] { node.path }
    var allKeys: [Key] {
        var keys: [Key] = []
        keys.reserveCapacity(node.count)
        for entry in node.dictionary.entries {
            if let key = Key(stringValue: entry.key) { keys.append(key) }
        }
        return keys
    }

    func contains(_ key: Key) -> Bool { node.dictionary.position(of: key.stringValue) != nil }

    /// A property list has no null: only what was left out is nil.
    func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let position = position(of: key)
        if position >= 0 { return try ValueDecoder(node: node, position: position).decode(type) }
        // An optional that was nil was left out by the encoder.
        guard type is any ExpressibleByNilLiteral.Type else { throw missing(key) }
        return try ValueDecoder(node: MissingNode(key, in: node), position: 0).decode(type)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        let position = position(of: key)
        guard position >= 0 else { return nil }
        return try ValueDecoder(node: node, position: position).decode(type)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try entry(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try entry(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { decoder(PathKey.superclass) }
    func superDecoder(forKey key: Key) throws -> any Decoder { decoder(key) }

    /// A superclass may have nothing to decode, so that nothing need be there.
    private func decoder(_ key: some CodingKey) -> any Decoder {
        guard let position = node.dictionary.position(of: key.stringValue) else {
            return ValueDecoder(node: MissingNode(key, in: node), position: 0)
        }
        return ValueDecoder(node: node, position: position)
    }
}
