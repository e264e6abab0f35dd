#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How values of one type are encoded without an encoder of their own.
final class EncodingStrategy<T: Encodable> {
    typealias Encode = (_ value: T, _ node: EncodingNode, _ step: EncodingNode.Step) throws -> PropertyList?

    let encode: Encode

    fileprivate init(_ encode: @escaping Encode) { self.encode = encode }

    /// The strategy for `T`, or nil where it must encode itself.
    static func find() -> EncodingStrategy? {
        let strategy = known[ObjectIdentifier(T.self)] ?? (T.self as? any EncodedByElements.Type)?.encodingStrategy
        return strategy as? EncodingStrategy
    }
}

/// The strategies of single values, and of arrays and dictionaries of them.
///
/// These are the types for which the compiler makes each of them a loop of its own. The table never changes, and
/// its closures hold nothing but types.
nonisolated(unsafe) private let known: [ObjectIdentifier: AnyObject] = {
    var known: [ObjectIdentifier: AnyObject] = [:]
    func add<Value: Scalar>(_ type: Value.Type) {
        known[ObjectIdentifier(type)] = EncodingStrategy<Value> { value, node, step in
            guard let scalar = value.scalar else { throw node.invalid(value, as: step, .outOfRange) }
            return scalar
        }
    }
    func addWithContainers<Value: Scalar>(_ type: Value.Type) {
        add(type)
        known[ObjectIdentifier([Value].self)] = EncodingStrategy<[Value]> { values, _, _ in
            .array(values.map { $0.scalar ?? .boolean(false) })
        }
        known[ObjectIdentifier([String: Value].self)] = EncodingStrategy<[String: Value]> { values, _, _ in
            var entries = ContiguousArray<PropertyList.Dictionary.Entry>()
            entries.reserveCapacity(values.count)
            for (key, value) in values { entries.append(.init(key: key, value: value.scalar ?? .boolean(false))) }
            return .dictionary(PropertyList.Dictionary(differing: entries))
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
