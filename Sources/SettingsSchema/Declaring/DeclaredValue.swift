internal import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A Swift type with a known rule for its values.
protocol DeclaredValue {
    static var rule: ValueRule { get }
}

protocol AnyOptional {
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
    static var rule: ValueRule {
        var rule = ValueRule(.array)
        rule.contents = .each(ValueRule(of: Element.self))
        return rule
    }
}

/// A set is stored as an array. Equal elements are one when it is decoded.
extension Set: DeclaredValue { static var rule: ValueRule { [Element].rule } }

extension Dictionary: DeclaredValue {
    static var rule: ValueRule {
        let type = Self.self as? any Decodable.Type
        // Other keys than these are elements of an array, each followed by its value.
        guard Key.self == String.self || Key.self == Int.self || Key.self is any CodingKeyRepresentable.Type else {
            return type.map { ValueRule(.array).decoded(as: $0) } ?? ValueRule(.any)
        }
        var rule = ValueRule(.dictionary)
        rule.contents = .each(ValueRule(of: Value.self))
        if Key.self != String.self, let type { rule.swiftType = SwiftType(type) }
        return rule
    }
}

extension Optional: DeclaredValue, AnyOptional {
    static var rule: ValueRule { ValueRule(of: Wrapped.self) }
    var isNothing: Bool { if case .none = self { true } else { false } }
}
