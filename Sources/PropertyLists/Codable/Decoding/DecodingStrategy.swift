#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How values of one type are decoded without a decoder of their own.
///
/// The type is known where the strategy is made, and again where it is used, but not in between: the result is left
/// in memory for an optional of the type.
struct DecodingStrategy {
    let decode: (_ decoder: ValueDecoder, _ result: UnsafeMutableRawPointer) throws -> Void

    /// The strategy for `type`, or nil where it must decode itself.
    init?(for type: any Decodable.Type) {
        if let known = Self.known[ObjectIdentifier(type)] {
            self = known
        } else if let type = type as? any DecodedByElements.Type {
            self = type.decodingStrategy
        } else {
            return nil
        }
    }

    fileprivate init<T>(_ type: T.Type, _ decode: @escaping (ValueDecoder) throws -> T) {
        self.decode = { decoder, result in result.assumingMemoryBound(to: T?.self).pointee = try decode(decoder) }
    }

    /// The strategies of single values, and of arrays and dictionaries of them.
    ///
    /// These are the types for which the compiler makes each of them a loop of its own. The table never changes, and
    /// its closures hold nothing but types.
    nonisolated(unsafe) private static let known: [ObjectIdentifier: DecodingStrategy] = {
        var known: [ObjectIdentifier: DecodingStrategy] = [:]
        func add<Value: Scalar>(_ type: Value.Type) {
            known[ObjectIdentifier(type)] = DecodingStrategy(type) { try $0.scalar(type) }
        }
        func addWithContainers<Value: Scalar>(_ type: Value.Type) {
            add(type)
            known[ObjectIdentifier([Value].self)] = DecodingStrategy([Value].self) { try $0.scalars(type) }
            known[ObjectIdentifier([String: Value].self)] = DecodingStrategy([String: Value].self) {
                try $0.scalarsByKey(type)
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
}

/// A container whose elements are decoded here, without the container type's own loop.
private protocol DecodedByElements {
    static var decodingStrategy: DecodingStrategy { get }
}

extension Array: DecodedByElements where Element: Decodable {
    fileprivate static var decodingStrategy: DecodingStrategy {
        DecodingStrategy(Self.self) { try $0.array(of: Element.self) }
    }
}

extension Dictionary: DecodedByElements where Key == String, Value: Decodable {
    fileprivate static var decodingStrategy: DecodingStrategy {
        DecodingStrategy(Self.self) { try $0.dictionary(of: Value.self) }
    }
}
