/// How values of one type are decoded without a decoder of their own.
final class DecodingStrategy<T> {
    let decode: (ValueDecoder) throws -> T

    fileprivate init(_ decode: @escaping (ValueDecoder) throws -> T) { self.decode = decode }
}

/// The `DecodingStrategy` for `T`, or nil where it must decode itself.
///
/// No method of that class, for to name it in generic code is to look it up.
func decodingStrategy<T: Decodable>(for type: T.Type) -> AnyObject? {
    known[ObjectIdentifier(type)] ?? (type as? any DecodedByElements.Type)?.decodingStrategy
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
        strategies[ObjectIdentifier(type)] = DecodingStrategy<Value> { try $0.scalar(Value.self) }
    }

    mutating func visitWithContainers<Value: Scalar>(_ type: Value.Type) {
        visit(type)
        strategies[ObjectIdentifier([Value].self)] = DecodingStrategy<[Value]> { try $0.scalars(Value.self) }
        strategies[ObjectIdentifier([String: Value].self)] = DecodingStrategy<[String: Value]> {
            try $0.scalarsByKey(Value.self)
        }
    }
}

/// A container whose elements are decoded here, without the container type's own loop.
private protocol DecodedByElements {
    static var decodingStrategy: AnyObject { get }
}

extension Array: DecodedByElements where Element: Decodable {
    fileprivate static var decodingStrategy: AnyObject {
        DecodingStrategy<Self> { try $0.array(of: Element.self) }
    }
}

extension Dictionary: DecodedByElements where Key == String, Value: Decodable {
    fileprivate static var decodingStrategy: AnyObject {
        DecodingStrategy<Self> { try $0.dictionary(of: Value.self) }
    }
}
