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
    /// Creates the rule for the values of a Swift type. For unknown types it is derived from the encoded example.
    init(of type: Any.Type, example: (any Encodable)? = nil) {
        if let known = type as? any DeclaredValue.Type {
            self = known.rule
        } else if let cases = type as? any (CaseIterable & Encodable).Type {
            self.init(cases: cases)
        } else {
            let encoded = example.flatMap { try? PropertyList(encoding: $0) }
            self.init(encoded.flatMap { ValueType($0.kind) } ?? .dictionary)
        }
    }

    private init<Cases: CaseIterable & Encodable>(cases: Cases.Type) {
        let choices = Cases.allCases.compactMap { try? PropertyList(encoding: $0) }
        self.init(choices.first.flatMap { ValueType($0.kind) } ?? .string)
        if choices.count <= Schema.maximumSettings { self.choices = choices }
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
extension Double: DeclaredValue { static var rule: ValueRule { ValueRule(.real) } }
extension Float: DeclaredValue { static var rule: ValueRule { ValueRule(.real) } }
extension Bool: DeclaredValue { static var rule: ValueRule { ValueRule(.boolean) } }
extension String: DeclaredValue { static var rule: ValueRule { ValueRule(.string) } }
extension Date: DeclaredValue { static var rule: ValueRule { ValueRule(.date) } }
extension Data: DeclaredValue { static var rule: ValueRule { ValueRule(.data) } }

extension URL: DeclaredValue {
    static var rule: ValueRule {
        var rule = ValueRule(.string)
        rule.kind = .url
        return rule
    }
}

extension Array: DeclaredValue {
    static var rule: ValueRule {
        var rule = ValueRule(.array)
        rule.contents = .each(ValueRule(of: Element.self))
        return rule
    }
}

extension Set: DeclaredValue {
    static var rule: ValueRule {
        var rule = [Element].rule
        rule.isUnique = true
        return rule
    }
}

extension Dictionary: DeclaredValue {
    static var rule: ValueRule {
        var rule = ValueRule(.dictionary)
        rule.contents = .each(ValueRule(of: Value.self))
        return rule
    }
}

extension Optional: DeclaredValue, AnyOptional {
    static var rule: ValueRule { ValueRule(of: Wrapped.self) }
    var isNothing: Bool { if case .none = self { true } else { false } }
}
