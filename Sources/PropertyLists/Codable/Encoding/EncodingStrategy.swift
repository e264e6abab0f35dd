#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How values of one type are encoded without an encoder of their own.
///
/// The type is known where the strategy is made, and again where it is used, but not in between: the value is passed
/// as its address.
struct EncodingStrategy {
    typealias Encode = (UnsafeRawPointer, EncodingNode, EncodingNode.Step) throws -> PropertyList?

    let encode: Encode

    /// The strategy for `type`, or nil where it must encode itself.
    init?(for type: any Encodable.Type) {
        if let known = Self.known[ObjectIdentifier(type)] {
            self = known
        } else if let type = type as? any EncodedByElements.Type {
            self = type.encodingStrategy
        } else {
            return nil
        }
    }

    fileprivate init<T>(
        _ type: T.Type, _ encode: @escaping (T, EncodingNode, EncodingNode.Step) throws -> PropertyList?
    ) {
        self.encode = { value, node, step in try encode(value.assumingMemoryBound(to: T.self).pointee, node, step) }
    }

    /// The strategies of single values, and of arrays and dictionaries of them.
    ///
    /// These are the types for which the compiler makes each of them a loop of its own. The table never changes, and
    /// its closures hold nothing but types.
    nonisolated(unsafe) private static let known: [ObjectIdentifier: EncodingStrategy] = {
        var known: [ObjectIdentifier: EncodingStrategy] = [:]
        func add<Value: Scalar>(_ type: Value.Type) {
            known[ObjectIdentifier(type)] = EncodingStrategy(type) { value, node, step in
                guard let scalar = value.scalar else { throw node.invalid(value, as: step, .outOfRange) }
                return scalar
            }
        }
        func addWithContainers<Value: Scalar>(_ type: Value.Type) {
            add(type)
            known[ObjectIdentifier([Value].self)] = EncodingStrategy([Value].self) { values, _, _ in
                .array(values.map { $0.scalar ?? .boolean(false) })
            }
            known[ObjectIdentifier([String: Value].self)] = EncodingStrategy([String: Value].self) { values, _, _ in
                var entries = ContiguousArray<PropertyList.Dictionary.Entry>()
                entries.reserveCapacity(values.count)
                for (key, value) in values { entries.append(.init(key: key, value: value.scalar ?? .boolean(false))) }
                return .dictionary(PropertyList.Dictionary(read: entries, areSorted: false) { _ in })
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

/// A container whose elements are encoded here, without the container type's own loop.
private protocol EncodedByElements {
    static var encodingStrategy: EncodingStrategy { get }
}

extension Array: EncodedByElements where Element: Encodable {
    fileprivate static var encodingStrategy: EncodingStrategy {
        EncodingStrategy(Self.self) { elements, node, step in
            try node.inside(elements, at: step) { node in .array(try node.encodedElements(elements)) }
        }
    }
}

extension Dictionary: EncodedByElements where Key == String, Value: Encodable {
    fileprivate static var encodingStrategy: EncodingStrategy {
        EncodingStrategy(Self.self) { entries, node, step in
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
        return PropertyList.Dictionary(read: result, areSorted: false) { _ in }
    }
}
