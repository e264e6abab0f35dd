#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    /// Encodes a value. Throws an `EncodingError` with the path of the entry that cannot be encoded.
    ///
    /// Dates and data get the form of `strategies`, and property lists are kept as they are. A `Float` becomes the
    /// double with the same shortest digits. `Decimal` and `URL` become strings. If a type encodes several values for a
    /// key, the last one is used; but a container that it requests again is continued.
    ///
    /// A type that encodes nothing, an integer beyond 64 bits, and nesting of more than 384 levels are errors.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - keepsNulls: Whether nil is encoded as null. Otherwise it is omitted under a key, and elsewhere an error, as
    ///     in an array. The code that the compiler writes for a type never encodes the properties that are nil.
    ///   - strategies: The forms of keys, dates and data.
    ///   - userInfo: Values that the encoder makes available to the encoded types.
    public init(
        encoding value: some Encodable, keepsNulls: Bool = false, strategies: CodingStrategies = CodingStrategies(),
        userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws {
        self = try Self.encoded(
            value, EncodingOptions(null: keepsNulls ? .null : nil, forms: strategies, userInfo: userInfo))
    }

    package static func encoded(_ value: some Encodable, _ options: EncodingOptions) throws -> PropertyList {
        let root = EncodingNode(options)
        return try root.encode(value, at: nil) ?? root.null(value, at: nil)
    }
}

/// A type that is encoded without calling its `encode(to:)`: a scalar, or an array or dictionary.
protocol DirectlyEncoded: Encodable {
    /// Returns the encoded value, which belongs at `key` in the container of `node`, or is the value of `node` itself
    /// if `key` is nil.
    func encoded(in node: EncodingNode, at key: PathKey?) throws -> PropertyList
}

/// The path from the root to a value that is being encoded. It refers to no container, so an encoder that outlives the
/// encoding does not keep the enclosing containers alive.
final class EncodingPath {
    private let parent: EncodingPath?
    private let key: PathKey?

    init(_ parent: EncodingPath?, _ key: PathKey?) { (self.parent, self.key) = (parent, key) }

    var keys: [any CodingKey] { (parent?.keys ?? []) + (key.map { [$0.shown] } ?? []) }
}

/// What a coder has set for an encoding.
package final class EncodingOptions {
    /// The value of a nil, or nil if it is omitted under a key and elsewhere refused.
    let null: PropertyList?
    let forms: any EncodingForms
    let userInfo: [CodingUserInfoKey: any Sendable]
    fileprivate let convertsKeys: Bool
    fileprivate let convertsValues: Bool

    package init(null: PropertyList?, forms: any EncodingForms, userInfo: [CodingUserInfoKey: any Sendable]) {
        (self.null, self.forms, self.userInfo) = (null, forms, userInfo)
        (convertsKeys, convertsValues) = (forms.convertsKeys, forms.convertsValues)
    }
}

enum EncodingProblem: String, Error {
    case nothing = "The value encodes nothing."
    case null = "A setting cannot be null; nil can only be left out under a key."
    case twice = "The value requested containers of different kinds."
    case outOfRange = "A property list holds integers from −2⁶³ to 2⁶⁴−1."
    case nestedTooDeeply = "The value is nested too deeply, or holds itself."
}

/// The encoder of one value, and the container that the value requests.
///
/// Requests that come too late or break the rules never trap: the problem is recorded and thrown at the end.
final class EncodingNode {
    fileprivate enum Content { case nothing, null, single, keyed, unkeyed, finished }

    /// The path to the enclosing value, and the key of this value in it. `path` is created only if it is needed.
    private let outerPath: EncodingPath?
    private let key: PathKey?
    private lazy var path = EncodingPath(outerPath, key)
    private let depth: Int
    fileprivate let options: EncodingOptions
    private var content = Content.nothing
    private var single = PropertyList.boolean(false)
    private var entries = ContiguousArray<PropertyList.Dictionary.Entry>()
    private var elements: [PropertyList] = []
    /// The positions of values that are known only at the end: nested containers, and nil, which has no node.
    private var pending: [(position: Int, node: EncodingNode?)] = []
    /// The nested containers by key, unless another value was encoded for the key since.
    private var nested: [EntryPath.Component: EncodingNode] = [:]
    /// The last position of each key in the first `count` entries.
    private var lastPositions: (byKey: [EntryPath.Component: Int], count: Int) = ([:], 0)
    private var problem: EncodingProblem?

    fileprivate init(
        in outerPath: EncodingPath? = nil, at key: PathKey? = nil, depth: Int = 0, _ options: EncodingOptions
    ) {
        (self.outerPath, self.key, self.depth, self.options) = (outerPath, key, depth, options)
    }

    fileprivate var codingPath: [any CodingKey] { path.keys }

    private func invalid(_ value: Any, at key: (any CodingKey)?, _ reason: String) -> EncodingError {
        let path = codingPath + (key.map { [$0] } ?? [])
        return .invalidValue(value, .init(codingPath: path, debugDescription: reason))
    }

    private func invalid(_ value: Any, at key: (any CodingKey)?, _ problem: EncodingProblem) -> EncodingError {
        invalid(value, at: key, problem.rawValue)
    }
}

// MARK: Values

extension EncodingNode {
    /// Returns the property list that `value` encodes itself as, or nil if it encodes itself as nil.
    func encode<T: Encodable>(_ value: T, at key: PathKey?) throws -> PropertyList? {
        try checkDepth()
        if T.self is any DirectlyEncoded.Type, let value = value as? any DirectlyEncoded {
            return try value.encoded(in: self, at: key)
        }
        return try inside(value, at: key) { node in
            try value.encode(to: ValueEncoder(node: node))
            return try node.finish()
        }
    }

    /// Runs `body` with the node of a `value` at `key`.
    fileprivate func inside<T, Result>(
        _ value: T, at key: PathKey?, _ body: (EncodingNode) throws -> Result
    ) throws -> Result {
        guard depth < mostCodingLevels else { throw invalid(value, at: key, .nestedTooDeeply) }
        do {
            return try body(EncodingNode(in: path, at: key, depth: depth + 1, options))
        } catch let problem as EncodingProblem {
            throw invalid(value, at: key, problem)
        }
    }

    /// Returns the value of a nil without a key, or throws if there is none.
    fileprivate func null(_ value: Any, at key: @autoclosure () -> (any CodingKey)?) throws -> PropertyList {
        guard let null = options.null else { throw invalid(value, at: key(), .null) }
        return null
    }

    fileprivate func scalar<T: Scalar>(_ value: T, at key: @autoclosure () -> (any CodingKey)?) throws -> PropertyList {
        try checkDepth()
        if converts(T.self), let converted = try converted(value, at: key()) { return converted }
        guard let scalar = value.scalar else { throw invalid(value, at: key(), .outOfRange) }
        return scalar
    }

    fileprivate func converts<T: Scalar>(_ type: T.Type) -> Bool { options.convertsValues && T.hasForms }

    /// Returns the value in the form of the coder, or nil if it is the usual one.
    private func converted(_ value: some Scalar, at key: (any CodingKey)?) throws -> PropertyList? {
        switch try options.forms.encodedForm(of: value) {
        case .usual: return nil
        case .value(let value): return value
        case .custom(let encode):
            return try inside(value, at: key.map(PathKey.own)) { node in
                try encode(ValueEncoder(node: node))
                return try node.finishPending() ?? node.null(value, at: nil)
            }
        // The error has the property list of a date, because Foundation's description of some dates traps.
        case .impossible(let reason): throw invalid((value as? Date)?.scalar ?? value, at: key, reason)
        }
    }

    /// The name under which a value is encoded.
    fileprivate func name(_ key: some CodingKey) -> String {
        options.convertsKeys ? options.forms.encodedName(of: key) { codingPath } : key.stringValue
    }

    /// Throws if an earlier request for a container was nested too deeply. The request itself cannot throw.
    fileprivate func checkDepth() throws {
        if problem == .nestedTooDeeply { throw EncodingProblem.nestedTooDeeply }
    }

    /// Returns the encoded value, or nil if the value encoded itself as nil.
    fileprivate func finish() throws -> PropertyList? {
        if let problem { throw problem }
        defer { content = .finished }
        switch content {
        case .nothing, .finished: throw EncodingProblem.nothing
        case .null: return nil
        case .single: return single
        case .keyed: return .dictionary(try finishedDictionary())
        case .unkeyed:
            for (position, node) in pending {
                let value = try node?.finishPending() ?? options.null
                guard let value else { throw EncodingProblem.null }
                elements[position] = value
            }
            return .array(elements)
        }
    }

    /// Like `finish`, but returns an empty dictionary for a superclass that encoded nothing.
    private func finishPending() throws -> PropertyList? {
        content == .nothing && problem == nil ? .dictionary([:]) : try finish()
    }

    private func finishedDictionary() throws -> PropertyList.Dictionary {
        var omitted: Set<Int> = []
        for (position, node) in pending {
            if let value = try node?.finishPending() ?? (node == nil ? nil : options.null) {
                entries[position].value = value
            } else {
                omitted.insert(position)
            }
        }
        guard !omitted.isEmpty else { return PropertyList.Dictionary(read: entries, areSorted: false) { _ in } }
        var kept = PropertyList.Dictionary(minimumCapacity: entries.count)
        for (position, entry) in entries.enumerated() {
            kept[entry.key] = omitted.contains(position) ? nil : entry.value
        }
        return kept
    }
}

// MARK: Containers

extension EncodingNode {
    fileprivate var count: Int { elements.count }

    /// Begins the container or value of the node. If the node already has another one, records a problem, except that a
    /// value that was encoded as a container of this kind is continued.
    private func begin(_ kind: Content) {
        if content == .nothing {
            content = kind
        } else if content != kind || kind == .single, content != .single || !extend(single, as: kind) {
            problem = problem ?? .twice
        }
    }

    /// Makes the node a container of this `kind` with the contents of a value, if the value is such a container.
    private func extend(_ value: PropertyList, as kind: Content) -> Bool {
        switch (value, kind) {
        case (.dictionary(let dictionary), .keyed):
            for entry in dictionary { entries.append(entry) }
        case (.array(let array), .unkeyed): elements = array
        default: return false
        }
        content = kind
        return true
    }

    fileprivate func setSingle(_ value: PropertyList?) {
        begin(value == nil ? .null : .single)
        if let value { single = value }
    }

    fileprivate func container<Key: CodingKey>(_ type: Key.Type) -> KeyedEncodingContainer<Key> {
        begin(.keyed)
        if entries.isEmpty { entries.reserveCapacity(12) }
        return KeyedEncodingContainer(KeyedEncoding(node: self))
    }

    fileprivate func unkeyedContainer() -> any UnkeyedEncodingContainer {
        begin(.unkeyed)
        return UnkeyedEncoding(node: self)
    }

    fileprivate func append(_ value: PropertyList) { elements.append(value) }

    /// Adds an entry; nil removes an earlier one.
    fileprivate func add(_ value: PropertyList?, _ key: String) {
        if !nested.isEmpty { nested[.init(key)] = nil }
        if value == nil { pending.append((entries.count, nil)) }
        entries.append(.init(key: key, value: value ?? .boolean(false)))
    }

    /// Returns the node of a container of this `kind` under a key. It continues an existing container of this kind, or
    /// a value that was encoded as one.
    fileprivate func nestedNode(_ kind: Content, forKey key: some CodingKey) -> EncodingNode {
        let component = EntryPath.Component(name(key))
        if let node = nested[component], node.content == kind { return node }
        let former = nested[component] == nil ? lastEntry(component) : nil
        let node = pendingNode(at: .own(key))
        nested[component] = node
        if let former { _ = node.extend(former, as: kind) }
        return node
    }

    /// The value that was encoded last for a key.
    private func lastEntry(_ key: EntryPath.Component) -> PropertyList? {
        for position in lastPositions.count..<entries.count {
            lastPositions.byKey[EntryPath.Component(entries[position].key)] = position
        }
        lastPositions.count = entries.count
        return lastPositions.byKey[key].map { entries[$0].value }
    }

    /// Returns the node of a child that is encoded later.
    fileprivate func pendingNode(at key: PathKey) -> EncodingNode {
        let isTooDeep = depth >= mostCodingLevels
        // Beyond the limit the path does not grow.
        let node = EncodingNode(
            in: isTooDeep ? outerPath : path, at: isTooDeep ? self.key : key, depth: depth + (isTooDeep ? 0 : 1),
            options)
        if isTooDeep { (problem, node.problem) = (.nestedTooDeeply, .nestedTooDeeply) }
        let position: Int
        if case .index = key {
            position = elements.count
            append(.boolean(false))
        } else {
            position = entries.count
            add(.boolean(false), name(key))
        }
        if !isTooDeep { pending.append((position, node)) }
        return node
    }
}

// MARK: Encoders

/// The encoder of one value.
struct ValueEncoder: Encoder, SingleValueEncodingContainer {
    let node: EncodingNode

    var codingPath: [any CodingKey] { node.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { node.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> { node.container(type) }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { node.unkeyedContainer() }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() throws {
        try node.checkDepth()
        node.setSingle(nil)
    }

    func encode<T: Scalar>(_ value: T) throws { node.setSingle(try node.scalar(value, at: nil)) }
    // The protocols' default implementations of these methods only throw.
    func encode(_ value: Int128) throws { node.setSingle(try node.scalar(value, at: nil)) }
    func encode(_ value: UInt128) throws { node.setSingle(try node.scalar(value, at: nil)) }
    func encode<T: Encodable>(_ value: T) throws { node.setSingle(try node.encode(value, at: nil)) }
}

/// The entries of a dictionary, encoded by key.
private struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: EncodingNode

    var codingPath: [any CodingKey] { node.codingPath }

    func encodeNil(forKey key: Key) throws {
        try node.checkDepth()
        node.add(node.options.null, node.name(key))
    }

    func encode<T: Scalar>(_ value: T, forKey key: Key) throws {
        node.add(try node.scalar(value, at: key), node.name(key))
    }

    func encode(_ value: Int128, forKey key: Key) throws { node.add(try node.scalar(value, at: key), node.name(key)) }
    func encode(_ value: UInt128, forKey key: Key) throws { node.add(try node.scalar(value, at: key), node.name(key)) }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        node.add(try node.encode(value, at: .own(key)) ?? node.options.null, node.name(key))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        node.nestedNode(.keyed, forKey: key).container(type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        node.nestedNode(.unkeyed, forKey: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { ValueEncoder(node: node.pendingNode(at: .superclass)) }
    func superEncoder(forKey key: Key) -> any Encoder {
        ValueEncoder(node: node.pendingNode(at: .own(key)))
    }
}

/// The elements of an array, encoded one after the other.
private struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let node: EncodingNode

    var codingPath: [any CodingKey] { node.codingPath }
    var count: Int { node.count }
    private var next: PathKey { .index(count) }

    func encodeNil() throws { node.append(try node.null(Any?.none as Any, at: next)) }

    func encode<T: Scalar>(_ value: T) throws { node.append(try node.scalar(value, at: next)) }
    func encode(_ value: Int128) throws { node.append(try node.scalar(value, at: next)) }
    func encode(_ value: UInt128) throws { node.append(try node.scalar(value, at: next)) }

    func encode<T: Encodable>(_ value: T) throws {
        node.append(try node.encode(value, at: next) ?? node.null(value, at: next))
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        node.pendingNode(at: next).container(type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { node.pendingNode(at: next).unkeyedContainer() }
    func superEncoder() -> any Encoder { ValueEncoder(node: node.pendingNode(at: next)) }
}

// MARK: Scalars, arrays and dictionaries

extension Scalar {
    func encoded(in node: EncodingNode, at key: PathKey?) throws -> PropertyList { try node.scalar(self, at: key) }

    static func encoded(arrayOrDictionary value: Any, in node: EncodingNode, at key: PathKey?) throws -> PropertyList? {
        // A fast path: most of these values are in range and need no node.
        if node.converts(Self.self) { return nil }
        if let array = value as? [Self] {
            var elements: [PropertyList] = []
            elements.reserveCapacity(array.count)
            for (position, element) in array.enumerated() {
                if let scalar = element.scalar {
                    elements.append(scalar)
                } else {
                    return try node.inside(value, at: key) {
                        .some(try $0.scalar(element, at: PathKey.index(position)))
                    }
                }
            }
            return .array(elements)
        }
        guard let dictionary = value as? [String: Self] else { return nil }
        var entries = ContiguousArray<PropertyList.Dictionary.Entry>()
        entries.reserveCapacity(dictionary.count)
        for (name, element) in dictionary {
            if let scalar = element.scalar {
                entries.append(.init(key: name, value: scalar))
            } else {
                return try node.inside(value, at: key) { .some(try $0.scalar(element, at: PathKey.key(name))) }
            }
        }
        return .dictionary(PropertyList.Dictionary(read: entries, areSorted: false) { _ in })
    }
}

extension Array: DirectlyEncoded where Element: Encodable {
    func encoded(in node: EncodingNode, at key: PathKey?) throws -> PropertyList {
        let scalar = Element.self as? any Scalar.Type
        if let array = try scalar?.encoded(arrayOrDictionary: self, in: node, at: key) { return array }
        return try node.inside(self, at: key) { node in
            var elements: [PropertyList] = []
            elements.reserveCapacity(count)
            for (position, element) in enumerated() {
                elements.append(
                    try node.encode(element, at: .index(position))
                        ?? node.null(element, at: PathKey.index(position)))
            }
            return .array(elements)
        }
    }
}

extension Dictionary: DirectlyEncoded where Key == String, Value: Encodable {
    func encoded(in node: EncodingNode, at key: PathKey?) throws -> PropertyList {
        let scalar = Value.self as? any Scalar.Type
        if let dictionary = try scalar?.encoded(arrayOrDictionary: self, in: node, at: key) { return dictionary }
        return try node.inside(self, at: key) { node in
            var entries = ContiguousArray<PropertyList.Dictionary.Entry>()
            entries.reserveCapacity(count)
            for (key, value) in self {
                if let encoded = try node.encode(value, at: .key(key)) ?? node.options.null {
                    entries.append(.init(key: key, value: encoded))
                }
            }
            return .dictionary(PropertyList.Dictionary(read: entries, areSorted: false) { _ in })
        }
    }
}
