internal import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A Swift type that decides by its own decoding which values are valid.
///
/// The rest of a rule describes the type for help, for other programs and for messages. Only this one is exact.
// It is `Sendable` because a metatype never changes, and no conformance of a type of `Sendable` values is an actor's.
package struct SwiftType: @unchecked Sendable {
    private let base: any Decodable.Type

    init(_ type: any Decodable.Type) { base = type }

    /// The name of the type in messages.
    var name: String { "\(base)" }

    /// The placeholder of the value in help, or nil if there is no better one than that of the rule.
    var placeholder: String? {
        switch base {
        case is Decimal.Type: "N"
        case is Duration.Type: "DURATION"
        case is UUID.Type, is URL.Type: name
        default: nil
        }
    }
}

extension SwiftType: Hashable {
    package static func == (left: Self, right: Self) -> Bool { left.base == right.base }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(base)) }
}

// MARK: Checking

extension SwiftType {
    private func decode(_ value: PropertyList) throws { try Self.decode(value, as: base) }

    private static func decode<Value: Decodable>(_ value: PropertyList, as type: Value.Type) throws {
        _ = try value.decoded(as: type)
    }

    /// Returns the reason the type cannot be decoded from a value, with the path inside the value, or nil if it can.
    func problem(with value: PropertyList, isSecret: Bool) -> (path: EntryPath, reason: Schema.Problem.Reason)? {
        do {
            try decode(value)
            return nil
        } catch let error as DecodingError {
            return problem(error, in: value, isSecret)
        } catch {
            return (EntryPath(), .undecodable(type: name, reason: isSecret ? "" : "\(error)"))
        }
    }

    /// Whether the name of the type is enough to describe its values.
    private var isKnown: Bool { base is any DeclaredValue.Type || placeholder != nil }

    private func problem(
        _ error: DecodingError, in value: PropertyList, _ isSecret: Bool
    ) -> (path: EntryPath, reason: Schema.Problem.Reason) {
        switch error {
        case .valueNotFound(_, let context) where value[EntryPath(context.codingPath, in: value)] == nil:
            return (EntryPath(context.codingPath, in: value), .missing)
        case .typeMismatch(let expected, let context), .valueNotFound(let expected, let context):
            guard !context.codingPath.isEmpty || !isKnown else {
                return (EntryPath(), .undecodable(type: name, reason: ""))
            }
            let rule = ValueRule(of: expected)
            let noun = rule.type == .any ? "a value of type \(expected)" : rule.type.noun
            return (EntryPath(context.codingPath, in: value), .wrongType(expected: noun))
        case .keyNotFound(let key, let context): return (EntryPath(context.codingPath + [key], in: value), .missing)
        case .dataCorrupted(let context):
            let reason = isSecret || (context.codingPath.isEmpty && isKnown) ? "" : context.debugDescription
            return (EntryPath(context.codingPath, in: value), .undecodable(type: name, reason: reason))
        @unknown default: return (EntryPath(), .undecodable(type: name, reason: ""))
        }
    }
}

// MARK: Order

extension SwiftType {
    /// Returns whether one value is less than another, or nil if the type has no order.
    func isBelow(_ left: PropertyList, _ right: PropertyList) -> Bool? {
        (base as? any (Comparable & Decodable).Type).map { Self.isBelow(left, right, as: $0) }
    }

    private static func isBelow<Value: Comparable & Decodable>(
        _ left: PropertyList, _ right: PropertyList, as type: Value.Type
    ) -> Bool {
        guard let left = try? left.decoded(as: type), let right = try? right.decoded(as: type) else { return false }
        return left < right
    }
}

// MARK: Text

extension SwiftType {
    /// Returns the value that a text denotes, or nil if the type has none: the text itself, a number or a boolean, or
    /// a property list in text.
    func value(ofText text: String) -> PropertyList? {
        if base == Duration.self, let amount = Quantity.seconds.amount(text) {
            return try? PropertyList(encoding: amount.duration)
        }
        let parsed = text.contains { "()[]{}<>\"".contains($0) } ? try? PropertyList(parsing: text) : nil
        let words = [ValueType.integer, .real, .boolean].compactMap { try? ValueRule($0).value(ofText: text) }
        let candidates = (parsed.map { [$0] } ?? []) + [.string(text)] + words
        return candidates.lazy.map(fitted).first { (try? decode($0)) != nil }
    }

    /// Returns the text of a value, if it is better than the one that the value itself has.
    func text(of value: PropertyList) -> String? {
        guard base == Duration.self, let duration = try? value.decoded(as: Duration.self),
            duration == .seconds(duration.components.seconds)
        else { return nil }
        return Quantity.seconds.text(of: PropertyList.Integer(duration.components.seconds))
    }

    /// Returns a value with the texts inside it converted, where the type cannot decode them unchanged.
    ///
    /// Old-style property lists, which have no numbers, are read like this.
    func fitted(_ value: PropertyList) -> PropertyList {
        guard value.isContainer else { return value }
        var fitted = value
        // Each round converts one text. No user enters a value with more of them.
        for _ in 0..<256 {
            do {
                try decode(fitted)
                return fitted
            } catch DecodingError.typeMismatch(let expected, let context) {
                let path = EntryPath(context.codingPath, in: fitted)
                guard case .string(let text)? = fitted[path], !path.components.isEmpty else { return fitted }
                let converted = ValueRule(of: expected).adapted(.string(text))
                guard converted != .string(text), (try? fitted.set(converted, at: path)) != nil else { return fitted }
            } catch {
                return fitted
            }
        }
        return fitted
    }
}

extension EntryPath {
    /// The path in a value. A key with a number is an index only in an array.
    init(_ codingPath: [any CodingKey], in value: PropertyList) {
        self.init()
        var value: PropertyList? = value
        for key in codingPath {
            let index = value?.arrayValue == nil ? nil : key.intValue
            let component = index.map { Component($0) } ?? Component(key.stringValue)
            components.append(component)
            value = value?[EntryPath([component])]
        }
    }
}

// MARK: Kinds of values

/// A decoder without a value, which records the kinds of values that a type asks for.
final class TypeProbe: Decoder, SingleValueDecodingContainer {
    private var types: Set<ValueType> = []

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// Returns the type of a setting whose values are of a Swift type: `any` if they may be of several types.
    static func type(of type: any Decodable.Type) -> ValueType {
        let probe = TypeProbe()
        _ = try? type.init(from: probe)
        return probe.types.count == 1 ? probe.types.first ?? .any : .any
    }

    /// The error of every request, so that a type tries its alternatives.
    private func refuse<Value>(_ type: ValueType, as swiftType: Any.Type) throws -> Value {
        types.insert(type)
        throw DecodingError.typeMismatch(swiftType, .init(codingPath: [], debugDescription: "There is no value."))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try refuse(.dictionary, as: type)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try refuse(.array, as: [Any].self) }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { false }

    func decode(_ type: Bool.Type) throws -> Bool { try refuse(.boolean, as: type) }
    func decode(_ type: String.Type) throws -> String { try refuse(.string, as: type) }
    func decode(_ type: Double.Type) throws -> Double { try refuse(.real, as: type) }
    func decode(_ type: Float.Type) throws -> Float { try refuse(.real, as: type) }
    func decode(_ type: Int.Type) throws -> Int { try refuse(.integer, as: type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try refuse(.integer, as: type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try refuse(.integer, as: type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try refuse(.integer, as: type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try refuse(.integer, as: type) }
    func decode(_ type: UInt.Type) throws -> UInt { try refuse(.integer, as: type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try refuse(.integer, as: type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try refuse(.integer, as: type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try refuse(.integer, as: type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try refuse(.integer, as: type) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let known = type as? any DeclaredValue.Type else { return try type.init(from: self) }
        return try refuse(known.valueType, as: type)
    }
}

/// A Swift type with a known rule for its values.
protocol DeclaredValue {
    static var rule: ValueRule { get }

    /// The type of the rule. It is found without the rules of elements, because the type of an element may contain
    /// values of this type.
    static var valueType: ValueType { get }
}

extension DeclaredValue {
    static var valueType: ValueType { rule.type }
}

/// An optional of any type.
package protocol AnyOptional {
    var isNothing: Bool { get }
}

extension ValueRule {
    /// Creates the rule for the values of a Swift type. A type without a rule of its own decides by its decoding.
    init(of type: Any.Type) {
        if let known = type as? any DeclaredValue.Type {
            self = known.rule
        } else if let cases = type as? any (CaseIterable & Encodable).Type, let rule = ValueRule(cases: cases) {
            self = rule
        } else if let type = type as? any Decodable.Type {
            self.init(TypeProbe.type(of: type))
            swiftType = SwiftType(type)
        } else {
            self.init(.any)
        }
    }

    /// Creates a rule with the cases of a type as choices, or returns nil if they cannot be listed.
    private init?<Cases: CaseIterable & Encodable>(cases: Cases.Type) {
        let choices = Cases.allCases.map { try? PropertyList(encoding: $0) }
        guard 1...Schema.maximumSettings ~= choices.count, let first = choices[0],
            let type = ValueType(first.kind), choices.allSatisfy({ $0?.kind == first.kind })
        else { return nil }
        self.init(type)
        self.choices = choices.compactMap(\.self)
    }

    /// The rule with the values that a Swift type can be decoded from.
    func decoded(as type: any Decodable.Type) -> ValueRule {
        var rule = self
        rule.swiftType = SwiftType(type)
        return rule
    }
}

extension FixedWidthInteger {
    /// A rule for integers with the type's bounds, if they are narrower than those of a property list.
    fileprivate static var integerRule: ValueRule {
        var rule = ValueRule(.integer)
        if isSigned, bitWidth < 64 {
            rule.minimum = PropertyList.Integer(exactly: Self.min).map { .integer($0) }
        } else if !isSigned {
            rule.minimum = .integer(0)
        }
        if bitWidth < 64 { rule.maximum = PropertyList.Integer(exactly: Self.max).map { .integer($0) } }
        return rule
    }
}

extension Int: DeclaredValue { static var rule: ValueRule { integerRule } }
extension Int8: DeclaredValue { static var rule: ValueRule { integerRule } }
extension Int16: DeclaredValue { static var rule: ValueRule { integerRule } }
extension Int32: DeclaredValue { static var rule: ValueRule { integerRule } }
extension Int64: DeclaredValue { static var rule: ValueRule { integerRule } }
extension UInt: DeclaredValue { static var rule: ValueRule { integerRule } }
extension UInt8: DeclaredValue { static var rule: ValueRule { integerRule } }
extension UInt16: DeclaredValue { static var rule: ValueRule { integerRule } }
extension UInt32: DeclaredValue { static var rule: ValueRule { integerRule } }
extension UInt64: DeclaredValue { static var rule: ValueRule { integerRule } }
extension Int128: DeclaredValue { static var rule: ValueRule { integerRule } }
extension UInt128: DeclaredValue { static var rule: ValueRule { integerRule } }
extension PropertyList.Integer: DeclaredValue { static var rule: ValueRule { ValueRule(.integer) } }
extension Double: DeclaredValue { static var rule: ValueRule { ValueRule(.real) } }
extension Float: DeclaredValue { static var rule: ValueRule { ValueRule(.real).decoded(as: Self.self) } }
extension Bool: DeclaredValue { static var rule: ValueRule { ValueRule(.boolean) } }
extension String: DeclaredValue { static var rule: ValueRule { ValueRule(.string) } }
extension Date: DeclaredValue { static var rule: ValueRule { ValueRule(.date) } }
extension Data: DeclaredValue { static var rule: ValueRule { ValueRule(.data) } }

extension URL: DeclaredValue { static var rule: ValueRule { ValueRule(.string).decoded(as: Self.self) } }
extension Decimal: DeclaredValue { static var rule: ValueRule { ValueRule(.any).decoded(as: Self.self) } }
extension Duration: DeclaredValue { static var rule: ValueRule { ValueRule(.any).decoded(as: Self.self) } }
extension PropertyList: DeclaredValue { static var rule: ValueRule { ValueRule(.any) } }

extension Array: DeclaredValue {
    static var valueType: ValueType { .array }

    static var rule: ValueRule {
        var rule = ValueRule(.array)
        rule.contents = .each(ValueRule(of: Element.self))
        return rule
    }
}

/// A set is stored as an array. Equal elements are one when it is decoded.
extension Set: DeclaredValue {
    static var valueType: ValueType { .array }
    static var rule: ValueRule { [Element].rule }
}

extension Dictionary: DeclaredValue {
    /// A dictionary, or for other keys an array of keys, each followed by its value.
    static var valueType: ValueType {
        Key.self == String.self || Key.self == Int.self || Key.self is any CodingKeyRepresentable.Type
            ? .dictionary : .array
    }

    static var rule: ValueRule {
        let type = Self.self as? any Decodable.Type
        guard valueType == .dictionary else {
            return type.map { ValueRule(.array).decoded(as: $0) } ?? ValueRule(.any)
        }
        var rule = ValueRule(.dictionary)
        rule.contents = .each(ValueRule(of: Value.self))
        if Key.self != String.self, let type { rule.swiftType = SwiftType(type) }
        return rule
    }
}

extension Optional: DeclaredValue, AnyOptional {
    static var valueType: ValueType { (Wrapped.self as? any DeclaredValue.Type)?.valueType ?? .any }
    static var rule: ValueRule { ValueRule(of: Wrapped.self) }
    package var isNothing: Bool { if case .none = self { true } else { false } }
}
