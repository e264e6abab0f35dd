#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How values of one type are decoded without a decoder of their own.
final class DecodingStrategy<T: Decodable> {
    let decode: (ValueDecoder) throws -> T

    fileprivate init(_ decode: @escaping (ValueDecoder) throws -> T) { self.decode = decode }

    /// The strategy for `T`, or nil where it must decode itself.
    static func find() -> DecodingStrategy? {
        let strategy = known[ObjectIdentifier(T.self)] ?? (T.self as? any DecodedByElements.Type)?.decodingStrategy
        return strategy as? DecodingStrategy
    }
}

/// The strategies of single values, and of arrays and dictionaries of them.
///
/// These are the types for which the compiler makes each of them a loop of its own. The table never changes, and
/// its closures hold nothing but types.
nonisolated(unsafe) private let known: [ObjectIdentifier: AnyObject] = {
    var known: [ObjectIdentifier: AnyObject] = [:]
    func add<Value: Scalar>(_ type: Value.Type) {
        known[ObjectIdentifier(type)] = DecodingStrategy<Value> { try $0.scalar(Value.self) }
    }
    func addWithContainers<Value: Scalar>(_ type: Value.Type) {
        add(type)
        known[ObjectIdentifier([Value].self)] = DecodingStrategy<[Value]> { try $0.scalars(Value.self) }
        known[ObjectIdentifier([String: Value].self)] = DecodingStrategy<[String: Value]> {
            try $0.scalarsByKey(Value.self)
        }
    }
    addWithContainers(Bool.self)
    addWithContainers(String.self)
    addWithContainers(Double.self)
    addWithContainers(Float.self)
    addWithContainers(Int.self)
    addWithContainers(Int32.self)
    addWithContainers(Int64.self)
    addWithContainers(UInt.self)
    addWithContainers(UInt8.self)
    addWithContainers(UInt32.self)
    addWithContainers(UInt64.self)
    addWithContainers(Date.self)
    addWithContainers(Data.self)
    addWithContainers(URL.self)
    addWithContainers(PropertyList.self)
    add(Int8.self)
    add(Int16.self)
    add(Int128.self)
    add(UInt16.self)
    add(UInt128.self)
    add(Decimal.self)
    add(PropertyList.Integer.self)
    return known
}()

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
