extension PropertyList {
    /// Decodes a value of type `T`. Throws a `DecodingError` with the path of the invalid entry.
    ///
    /// A Boolean is never decoded as a number or a string, nor the reverse. An integer is decoded as a `Double`, and a
    /// real as an integer, if no precision is lost. A real beyond ±2⁵³ is not decoded as an integer, because it may
    /// have been rounded from another integer; `decode(_:from:)` decodes such numbers exactly.
    ///
    /// A missing entry is nil. The string `$null`, which Foundation's encoder writes for nil, is a string.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - strategies: The forms of keys, dates and data.
    ///   - userInfo: Values that the decoder makes available to the decoded types.
    public func decoded<T: Decodable>(
        as type: T.Type = T.self, strategies: CodingStrategies = CodingStrategies(),
        userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws -> T {
        try decoder(DecodingOptions(forms: strategies, userInfo: userInfo)).decode(type)
    }

    func decoder(_ options: DecodingOptions) -> ValueDecoder {
        ValueDecoder(node: DecodingNode(root: self, options), position: 0)
    }
}

/// What a coder has set for a decoding.
package final class DecodingOptions {
    let forms: any DecodingForms
    let userInfo: [CodingUserInfoKey: any Sendable]
    fileprivate let convertsKeys: Bool
    fileprivate let convertsValues: Bool
    /// The string that stands for nil besides null.
    fileprivate let nullText: String?
    /// The numbers of the JSON text that is decoded.
    var exactNumbers: ExactNumbers?

    package init(
        forms: any DecodingForms, userInfo: [CodingUserInfoKey: any Sendable], nullText: String? = nil
    ) {
        (self.forms, self.userInfo, self.nullText) = (forms, userInfo, nullText)
        (convertsKeys, convertsValues) = (forms.convertsKeys, forms.convertsValues)
    }
}

/// A type that is decoded without calling its `init(from:)`: a scalar, or an array or dictionary.
protocol DirectlyDecoded: Decodable {
    static func decoded(from decoder: ValueDecoder) throws -> Self
}

/// A container of the value that is being decoded, and the path to it from the root.
final class DecodingNode {
    /// The container around this one; nil at the root, which is an array of the one value.
    private let parent: DecodingNode?
    /// The position of this container in its parent.
    private let position: Int
    let depth: Int
    let options: DecodingOptions
    let dictionary: PropertyList.Dictionary?
    let elements: [PropertyList]
    /// The key with which a type requested this container.
    private let ownKey: PathKey?
    /// The position and key of the child that a type requested most recently.
    private var asked: (position: Int, key: PathKey)?
    /// The key of a missing value, which this empty node represents.
    private let missingKey: PathKey?
    /// Whether a type has called `decodeNil()` for the missing value.
    fileprivate var wasAskedForNil = false
    /// The position after the key that was found most recently. Types usually decode keys in the order in which they
    /// encode them.
    private var expected = 0

    /// The positions of the entries by their converted keys. Of several, the first one is used.
    private lazy var positionsByDecodedName: [Name: Int] = {
        let entries = decodedNames.enumerated().map { (Name($1), $0) }
        return Swift.Dictionary(entries) { first, _ in first }
    }()

    init(root value: PropertyList, _ options: DecodingOptions) {
        (parent, position, depth, ownKey, self.options) = (nil, 0, 0, nil, options)
        (dictionary, elements, missingKey) = (nil, [value], nil)
    }

    fileprivate init(_ dictionary: PropertyList.Dictionary?, _ elements: [PropertyList], at place: ValueDecoder) {
        (parent, position, depth) = (place.node, place.position, place.node.depth + 1)
        ownKey = place.node.asked(at: place.position)
        (self.dictionary, self.elements, missingKey, options) = (dictionary, elements, nil, place.node.options)
    }

    /// A node whose only child is the missing value for `key` in `node`.
    fileprivate init(missing key: some CodingKey, in node: DecodingNode) {
        (parent, position, depth, options) = (node.parent, node.position, node.depth, node.options)
        (dictionary, elements, missingKey, ownKey) = (nil, [], .own(key), node.ownKey)
    }

    /// Records the key with which a type requests the value at a position.
    fileprivate func ask(_ position: Int, _ key: some CodingKey) { asked = (position, .own(key)) }

    private func asked(at position: Int) -> PathKey? { asked?.position == position ? asked?.key : nil }

    fileprivate var count: Int { dictionary?.count ?? elements.count }

    fileprivate func value(at position: Int) -> PropertyList? {
        guard position < count else { return nil }
        return dictionary?[position].value ?? elements[position]
    }

    /// The position of the entry that a type requests with a key, or nil if there is none.
    fileprivate func position(of key: some CodingKey) -> Int? {
        guard options.convertsKeys else { return position(of: key.stringValue) }
        return options.forms.soughtName(of: key).flatMap(position(of:))
            ?? positionsByDecodedName[Name(key.stringValue)]
    }

    /// The names of the keys that the keys of the dictionary stand for.
    fileprivate var decodedNames: [String] {
        let names = (dictionary ?? [:]).map(\.key)
        guard options.convertsKeys else { return names }
        return names.map { options.forms.decodedName(of: $0) { path } }
    }

    fileprivate func position(of key: String) -> Int? {
        guard let dictionary else { return nil }
        if expected < dictionary.count, dictionary[expected].key.hasSameBytes(as: key) {
            expected += 1
            return expected - 1
        }
        guard let found = dictionary.position(of: key) else { return nil }
        expected = found + 1
        return found
    }

    /// The path from the root to the child at `position`.
    fileprivate func path(to position: Int) -> [any CodingKey] {
        guard let parent else { return [] }
        let key = missingKey ?? asked(at: position) ?? dictionary.map { .key($0[position].key) } ?? .index(position)
        return parent.path(to: self.position, ownKey) + [key.shown]
    }

    /// The path from the root to the child at `position`, which a type requested with this key.
    private func path(to position: Int, _ key: PathKey?) -> [any CodingKey] {
        guard let key, let parent else { return path(to: position) }
        return parent.path(to: self.position, ownKey) + [key.shown]
    }

    /// The path from the root to the child at `position`, as an entry path.
    func entryPath(to position: Int) -> EntryPath {
        guard let parent else { return EntryPath() }
        let component = dictionary.map { EntryPath.Component($0[position].key) } ?? EntryPath.Component(position)
        return EntryPath(parent.entryPath(to: self.position).components + [component])
    }

    /// The path from the root to this container.
    fileprivate var path: [any CodingKey] { parent?.path(to: position, ownKey) ?? [] }
}

/// The decoder of the value at one position of a container.
struct ValueDecoder {
    let node: DecodingNode
    let position: Int

    /// The value to be decoded, or nil if it is missing.
    var value: PropertyList? {
        let value = node.value(at: position)
        if let text = node.options.nullText, case .string(text)? = value { return .null }
        return value
    }

    func keyedNode() throws -> DecodingNode {
        guard case .dictionary(let dictionary)? = value else { throw failure([String: any Decodable].self) }
        try checkDepth()
        return DecodingNode(dictionary, [], at: self)
    }

    func unkeyedNode() throws -> DecodingNode {
        guard case .array(let elements)? = value else { throw failure([any Decodable].self) }
        try checkDepth()
        return DecodingNode(nil, elements, at: self)
    }

    private func checkDepth() throws {
        guard node.depth < mostCodingLevels else {
            throw DecodingError.dataCorrupted(context("The value is nested too deeply.", nil))
        }
    }
}

extension ValueDecoder: Decoder, SingleValueDecodingContainer {
    var codingPath: [any CodingKey] { node.path(to: position) }
    var userInfo: [CodingUserInfoKey: Any] { node.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(KeyedDecoding(node: try keyedNode()))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { UnkeyedDecoding(node: try unkeyedNode()) }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    /// Returns true for null and for a missing value.
    func decodeNil() -> Bool {
        guard let value else {
            node.wasAskedForNil = true
            return true
        }
        return value == .null
    }

    func decode<T: Scalar>(_ type: T.Type) throws -> T { try decode(scalar: type) }

    private func decode<T: Scalar>(scalar type: T.Type) throws -> T {
        if converts(type), let value, let converted = try node.options.forms.decoded(type, of: value, from: self) {
            return converted
        }
        guard let scalar = scalar(type) else { throw scalarFailure(type) }
        return scalar
    }

    /// Whether a value of the type may have another form than the usual one.
    func converts<T: Scalar>(_ type: T.Type) -> Bool {
        node.options.convertsValues && (T.hasForms || node.options.nullText != nil && T.self == String.self)
    }

    // The protocol's default implementations of these two methods only throw.
    func decode(_ type: Int128.Type) throws -> Int128 { try decode(scalar: type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try decode(scalar: type) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        // `type` may be a subclass of `T`.
        if let direct = type as? any DirectlyDecoded.Type, let result = try direct.decoded(from: self) as? T {
            return result
        }
        return try type.init(from: self)
    }
}

// MARK: Failures

extension ValueDecoder {
    /// The failure for a value that is missing, null, or of another kind.
    func failure(_ type: any Any.Type, at key: (any CodingKey)? = nil) -> DecodingError {
        guard let value else { return .valueNotFound(type, context("There is no value.", key)) }
        let context = context(value.kind.finding, key)
        return value.kind == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// The failure for a value that is missing, of another kind, or out of range.
    func scalarFailure<Value: Scalar>(_ type: Value.Type, at key: (any CodingKey)? = nil) -> DecodingError {
        guard let value, type.isNear(value.kind) || node.options.forms.areNear(value.kind, type) else {
            return failure(type, at: key)
        }
        return .dataCorrupted(
            context("The \(value.kind.rawValue) \(value.excerpt) is not a value of type \(type).", key))
    }

    fileprivate func context(_ description: String, _ key: (any CodingKey)?) -> DecodingError.Context {
        var path = codingPath
        if let key, !path.isEmpty { path[path.count - 1] = key }
        return DecodingError.Context(codingPath: path, debugDescription: description)
    }
}

extension PropertyList.Kind {
    /// A constant string, because a type that tries one kind after another creates many of these descriptions.
    fileprivate var finding: String {
        switch self {
        case .string: "The value is a string."
        case .integer: "The value is an integer."
        case .real: "The value is a real."
        case .boolean: "The value is a boolean."
        case .date: "The value is a date."
        case .data: "The value is data."
        case .array: "The value is an array."
        case .dictionary: "The value is a dictionary."
        case .uid: "The value is a uid."
        case .null: "The value is null."
        }
    }
}

extension PropertyList {
    fileprivate var excerpt: String {
        switch self {
        case .string(let text): "“\(text.prefix(40))”"
        case .integer(let number): number.description
        case .real(let number): number.description
        case .uid(let number): number.description
        default: ""
        }
    }
}

// MARK: Keyed containers

/// The entries of a dictionary, decoded by key.
private struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let node: DecodingNode

    var codingPath: [any CodingKey] { node.path }
    /// The keys without those that are equal as Swift strings to another one.
    var allKeys: [Key] {
        var found: Set<String> = []
        return node.decodedNames.filter { found.insert($0).inserted }.compactMap(Key.init(stringValue:))
    }

    func contains(_ key: Key) -> Bool { node.position(of: key) != nil }

    /// Returns true for null and for a missing entry.
    func decodeNil(forKey key: Key) throws -> Bool { decoderIfPresent(key)?.decodeNil() ?? true }

    /// The decoder of the value under `key`.
    private func decoder(_ key: Key) throws -> ValueDecoder {
        guard let decoder = decoderIfPresent(key) else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "There is no entry with this key."))
        }
        return decoder
    }

    private func decoderIfPresent(_ key: some CodingKey) -> ValueDecoder? {
        node.position(of: key).map { ValueDecoder(node: node, position: $0) }
    }

    private func decoderOfMissing(_ key: some CodingKey) -> ValueDecoder {
        ValueDecoder(node: DecodingNode(missing: key, in: node), position: 0)
    }

    private func scalar<T: Scalar>(_ decoder: ValueDecoder, _ key: Key) throws -> T {
        if decoder.converts(T.self) {
            node.ask(decoder.position, key)
            return try decoder.decode(T.self)
        }
        // Unlike this function, the one it calls is specialized for `T`, so it creates no type at run time.
        do { return try T.decoded(from: decoder) } catch { throw decoder.scalarFailure(T.self, at: key) }
    }

    func decode<T: Scalar>(_ type: T.Type, forKey key: Key) throws -> T { try scalar(decoder(key), key) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try scalar(decoder(key), key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try scalar(decoder(key), key) }

    func decodeIfPresent<T: Scalar>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let decoder = decoderIfPresent(key), !decoder.decodeNil() else { return nil }
        return try scalar(decoder, key)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if let decoder = decoderIfPresent(key) {
            node.ask(decoder.position, key)
            return try decoder.decode(type)
        }
        return try decodeMissing(type, forKey: key)
    }

    /// Decodes a value that the encoder omits because it encodes itself as nil. An optional is decoded as nil, and any
    /// other type that calls `decodeNil()` is decoded from a null.
    private func decodeMissing<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let missing = decoderOfMissing(key)
        if type is any ExpressibleByNilLiteral.Type { return try missing.decode(type) }
        guard let value = try? missing.decode(type), missing.node.wasAskedForNil else {
            return try decoder(key).decode(type)
        }
        return value
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let decoder = decoderIfPresent(key), !decoder.decodeNil() else { return nil }
        node.ask(decoder.position, key)
        return try decoder.decode(type)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let decoder = try decoder(key)
        node.ask(decoder.position, key)
        return try decoder.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        let decoder = try decoder(key)
        node.ask(decoder.position, key)
        return try decoder.unkeyedContainer()
    }

    /// A superclass may have nothing to decode, so the entry may be missing.
    func superDecoder() throws -> any Decoder {
        guard let decoder = decoderIfPresent(PathKey.superclass) else { return decoderOfMissing(PathKey.superclass) }
        node.ask(decoder.position, PathKey.superclass)
        return decoder
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        guard let decoder = decoderIfPresent(key) else { return decoderOfMissing(key) }
        node.ask(decoder.position, key)
        return decoder
    }
}

// MARK: Unkeyed containers

/// The elements of an array, decoded one after the other.
private struct UnkeyedDecoding: UnkeyedDecodingContainer {
    let node: DecodingNode
    private(set) var currentIndex = 0

    init(node: DecodingNode) { self.node = node }

    var codingPath: [any CodingKey] { node.path }
    var count: Int? { node.elements.count }
    var isAtEnd: Bool { currentIndex >= node.elements.count }

    /// Runs `body` for the current element, and advances to the next one if it succeeds.
    private mutating func take<Result>(_ body: (ValueDecoder) throws -> Result) throws -> Result {
        let result = try body(ValueDecoder(node: node, position: currentIndex))
        currentIndex += 1
        return result
    }

    /// Throws a failure if there are no more elements.
    private func checkEnd(_ type: any Any.Type) throws {
        if isAtEnd { throw ValueDecoder(node: node, position: currentIndex).failure(type) }
    }

    mutating func decodeNil() throws -> Bool {
        try checkEnd(Any?.self)
        guard ValueDecoder(node: node, position: currentIndex).decodeNil() else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Scalar>(_ type: T.Type) throws -> T { try take { try $0.decode(type) } }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try take { try $0.decode(type) } }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try take { try $0.decode(type) } }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try checkEnd(type)
        return try take { try $0.decode(type) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try take { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try take { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder {
        try checkEnd((any Decoder).self)
        return try take { $0 }
    }
}

// MARK: Arrays and dictionaries

extension Array: DirectlyDecoded where Element: Decodable {
    static func decoded(from decoder: ValueDecoder) throws -> Self {
        if let scalar = Element.self as? any Scalar.Type, let elements = try scalar.array(from: decoder) as? Self {
            return elements
        }
        let node = try decoder.unkeyedNode()
        return try node.elements.indices.map { try ValueDecoder(node: node, position: $0).decode(Element.self) }
    }
}

extension Dictionary: DirectlyDecoded where Key == String, Value: Decodable {
    /// Two keys that are equal as Swift strings are one key here, and the last one wins.
    static func decoded(from decoder: ValueDecoder) throws -> Self {
        if let scalar = Value.self as? any Scalar.Type, let entries = try scalar.dictionary(from: decoder) as? Self {
            return entries
        }
        let node = try decoder.keyedNode()
        var result = Self(minimumCapacity: node.count)
        for (position, entry) in node.dictionary!.enumerated() {
            result[entry.key] = try ValueDecoder(node: node, position: position).decode(Value.self)
        }
        return result
    }
}

extension Scalar {
    static func decoded(from decoder: ValueDecoder) throws -> Self { try decoder.decode(Self.self) }

    static func array(from decoder: ValueDecoder) throws -> Any? {
        if decoder.converts(Self.self) { return nil }
        guard case .array(let elements)? = decoder.value else { throw decoder.failure([Self].self) }
        var result: [Self] = []
        result.reserveCapacity(elements.count)
        for (position, element) in elements.enumerated() {
            guard let value = try decoder.scalar(element, as: Self.self, at: { $0.unkeyedNode }, position) else {
                throw ValueDecoder(node: try decoder.unkeyedNode(), position: position).scalarFailure(Self.self)
            }
            result.append(value)
        }
        return result
    }

    static func dictionary(from decoder: ValueDecoder) throws -> Any? {
        if decoder.converts(Self.self) { return nil }
        guard case .dictionary(let dictionary)? = decoder.value else { throw decoder.failure([String: Self].self) }
        var result = [String: Self](minimumCapacity: dictionary.count)
        for (position, entry) in dictionary.enumerated() {
            guard let value = try decoder.scalar(entry.value, as: Self.self, at: { $0.keyedNode }, position) else {
                throw ValueDecoder(node: try decoder.keyedNode(), position: position).scalarFailure(Self.self)
            }
            result[entry.key] = value
        }
        return result
    }
}
