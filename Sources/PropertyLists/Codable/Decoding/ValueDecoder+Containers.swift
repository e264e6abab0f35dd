// Whole arrays and dictionaries. Two keys that Swift holds to be equal are one key here, and the last one wins.

extension ValueDecoder {
    @inline(__always)
    func scalars<Value: Scalar>(_ type: Value.Type) throws -> [Value] {
        guard case .array(let elements)? = value else { throw failure([Value].self) }
        var result: [Value] = []
        result.reserveCapacity(elements.count)
        for at in elements.indices {
            guard let value = Value(scalar: elements[at]) else {
                throw ValueDecoder(node: try unkeyedNode(), position: at).scalarFailure(type)
            }
            result.append(value)
        }
        return result
    }

    @inline(__always)
    func scalarsByKey<Value: Scalar>(_ type: Value.Type) throws -> [String: Value] {
        guard case .dictionary(let dictionary)? = value else { throw failure([String: Value].self) }
        // To make room later would be a call of generic code.
        var result = [String: Value](minimumCapacity: dictionary.count)
        for at in dictionary.entries.indices {
            guard let value = Value(scalar: dictionary.entries[at].value) else {
                throw ValueDecoder(node: try keyedNode(), position: at).scalarFailure(type)
            }
            result[dictionary.entries[at].key] = value
        }
        return result
    }

    func array<Element: Decodable>(of type: Element.Type) throws -> [Element] {
        let node = try unkeyedNode()
        var result: [Element] = []
        result.reserveCapacity(node.count)
        let strategy = node.session.strategy(for: type)
        for at in 0..<node.count {
            result.append(try ValueDecoder(node: node, position: at).decode(strategy, as: type))
        }
        return result
    }

    func dictionary<Value: Decodable>(of type: Value.Type) throws -> [String: Value] {
        let node = try keyedNode()
        var result = [String: Value](minimumCapacity: node.count)
        let strategy = node.session.strategy(for: type)
        for at in 0..<node.count {
            result[node.dictionary.entries[at].key] = try ValueDecoder(node: node, position: at)
                .decode(strategy, as: type)
        }
        return result
    }
}
