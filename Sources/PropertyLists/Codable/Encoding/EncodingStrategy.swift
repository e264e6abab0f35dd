/// How values of one type are encoded without an encoder of their own.
final class EncodingStrategy<T> {
    typealias Encode = (_ value: T, _ node: EncodingNode, _ step: EncodingNode.Step) throws -> PropertyList?

    let encode: Encode

    fileprivate init(_ encode: @escaping Encode) { self.encode = encode }
}

/// The `EncodingStrategy` for `T`, or nil where it must encode itself.
///
/// No method of that class, for to name it in generic code is to look it up.
func encodingStrategy<T: Encodable>(for type: T.Type) -> AnyObject? {
    known[ObjectIdentifier(type)] ?? (type as? any EncodedByElements.Type)?.encodingStrategy
}

/// The strategies of single values, and of arrays and dictionaries of them.
///
/// Safe from any thread because the table never changes, and its closures hold nothing but types.
nonisolated(unsafe) private let known: [ObjectIdentifier: AnyObject] = {
    var collector = Collector()
    collector.visitAll()
    return collector.strategies
}()

private struct Collector: ScalarVisitor {
    var strategies: [ObjectIdentifier: AnyObject] = [:]

    mutating func visit<Value: Scalar>(_ type: Value.Type) {
        strategies[ObjectIdentifier(type)] = EncodingStrategy<Value> { value, node, step in
            guard let scalar = value.scalar else { throw node.invalid(value, as: step, .outOfRange) }
            return scalar
        }
    }

    mutating func visitWithContainers<Value: Scalar>(_ type: Value.Type) {
        visit(type)
        strategies[ObjectIdentifier([Value].self)] = EncodingStrategy<[Value]> { values, node, step in
            var elements: [PropertyList] = []
            elements.reserveCapacity(values.count)
            for value in values {
                guard let scalar = value.scalar else { throw node.invalid(value, as: step, .outOfRange) }
                elements.append(scalar)
            }
            return .array(elements)
        }
        strategies[ObjectIdentifier([String: Value].self)] = EncodingStrategy<[String: Value]> { values, node, step in
            var entries = ContiguousArray<PropertyList.Dictionary.Entry>()
            entries.reserveCapacity(values.count)
            for (key, value) in values {
                guard let scalar = value.scalar else { throw node.invalid(value, as: step, .outOfRange) }
                entries.append(.init(key: key, value: scalar))
            }
            return .dictionary(PropertyList.Dictionary(differing: entries))
        }
    }
}

/// A container whose elements are encoded here, without the container type's own loop.
private protocol EncodedByElements {
    static var encodingStrategy: AnyObject { get }
}

extension Array: EncodedByElements where Element: Encodable {
    fileprivate static var encodingStrategy: AnyObject {
        EncodingStrategy<Self> { elements, node, step in
            try node.inside(elements, at: step) { node in .array(try node.encodedElements(elements)) }
        }
    }
}

extension Dictionary: EncodedByElements where Key == String, Value: Encodable {
    fileprivate static var encodingStrategy: AnyObject {
        EncodingStrategy<Self> { entries, node, step in
            try node.inside(entries, at: step) { node in .dictionary(try node.encodedEntries(entries)) }
        }
    }
}

extension EncodingNode {
    fileprivate func encodedElements<Element: Encodable>(_ elements: [Element]) throws -> [PropertyList] {
        var result: [PropertyList] = []
        result.reserveCapacity(elements.count)
        for (position, element) in elements.enumerated() {
            guard let encoded = try encode(element, as: .index(position)) else {
                throw invalid(element, as: .index(position), .null)
            }
            result.append(encoded)
        }
        return result
    }

    fileprivate func encodedEntries<Value: Encodable>(_ entries: [String: Value]) throws -> PropertyList.Dictionary {
        var result = ContiguousArray<PropertyList.Dictionary.Entry>()
        result.reserveCapacity(entries.count)
        for (key, value) in entries {
            if let value = try encode(value, as: .key(key)) { result.append(.init(key: key, value: value)) }
        }
        return PropertyList.Dictionary(differing: result)
    }
}
