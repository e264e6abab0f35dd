internal import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The result of an expression.
enum Value: Sendable {
    case null
    case one(PropertyList)
    /// The values that a key path has in the elements of an array, or those of an aggregate. They can be NULL.
    case many([Value])

    init(_ value: PropertyList?) {
        switch value {
        case nil, .null?: self = .null
        case let value?: self = .one(value)
        }
    }
}

extension Value {
    var isNull: Bool { if case .null = self { true } else { false } }

    var text: String? { if case .one(.string(let text)) = self { text } else { nil } }

    var number: Number? { if case .one(let value) = self { Number(value) } else { nil } }

    /// The elements of a collection: those of an array, or the values of a dictionary. Nil for other values.
    var elements: [Value]? {
        switch self {
        case .many(let values): values
        case .one(.array(let elements)): elements.map { Value($0) }
        case .one(.dictionary(let entries)): entries.map { Value($0.value) }
        default: nil
        }
    }

    /// The date that CAST creates from a day, a date and time, or a number of seconds since 2001.
    var date: Date? {
        switch self {
        case .one(.date(let date)): date
        case .one(.string(let text)): Date(word: text)
        default: number.map { Date(timeIntervalSinceReferenceDate: $0.asDouble) }
        }
    }

    /// The type for messages; nil for NULL.
    var kind: PropertyList.Kind? {
        switch self {
        case .null: nil
        case .one(let value): value.kind
        case .many: .array
        }
    }

    /// The text of a scalar for messages.
    var shown: String {
        switch self {
        case .one(.string(let text)): "“\(text)”"
        case .one(.integer(let number)): number.description
        case .one(.real(let number)): number.description
        default: kind?.rawValue ?? "NULL"
        }
    }
}

// MARK: Comparing

/// How two values relate.
enum Ordering {
    case less, equal, greater
    /// Neither value comes first: they have different types, or a type without an order, or one is not a number.
    case unordered

    init<Element: Comparable>(_ left: Element, _ right: Element) {
        self = left < right ? .less : left > right ? .greater : left == right ? .equal : .unordered
    }
}

extension Value {
    /// Returns whether both are NULL, or the same value. Numbers are compared by value, whatever their type.
    func equals(_ other: Value) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.one(let left), .one(let right)): left.equalsAsValue(right)
        case (.many, _), (_, .many):
            if let left = arrayElements, let right = other.arrayElements {
                left.count == right.count && zip(left, right).allSatisfy { $0.equals($1) }
            } else {
                false
            }
        default: false
        }
    }

    private var arrayElements: [Value]? {
        switch self {
        case .many(let values): values
        case .one(.array(let elements)): elements.map { Value($0) }
        default: nil
        }
    }

    func order(_ other: Value) -> Ordering {
        guard case .one(let left) = self, case .one(let right) = other else { return .unordered }
        switch (left, right) {
        case (.string(let a), .string(let b)):
            return a.hasSameBytes(as: b) ? .equal : a.isBefore(b) ? .less : .greater
        case (.date(let a), .date(let b)):
            return Ordering(a.timeIntervalSinceReferenceDate, b.timeIntervalSinceReferenceDate)
        default:
            guard let a = Number(left), let b = Number(right) else { return .unordered }
            return a.order(b)
        }
    }

    /// Whether comparing the two is meaningful: they have the same type, or one is NULL.
    func isComparable(with other: Value) -> Bool {
        guard let kind, let other = other.kind else { return true }
        return kind == other || kind.isNumber && other.isNumber
    }
}

extension PropertyList.Kind {
    var isNumber: Bool { self == .integer || self == .real || self == .boolean }
}

extension PropertyList {
    fileprivate func equalsAsValue(_ other: PropertyList) -> Bool {
        switch (self, other) {
        case (.string(let a), .string(let b)): return a.hasSameBytes(as: b)
        case (.array(let a), .array(let b)):
            return a.count == b.count && zip(a, b).allSatisfy { $0.equalsAsValue($1) }
        case (.dictionary(let a), .dictionary(let b)):
            return a.count == b.count && a.allSatisfy { b[$0.key]?.equalsAsValue($0.value) ?? false }
        default:
            if let a = Number(self), let b = Number(other) { return a.order(b) == .equal }
            return self == other
        }
    }
}

// MARK: Numbers

/// An integer, a real, or a Boolean as 0 or 1.
enum Number {
    case integer(PropertyList.Integer)
    case real(Double)

    init?(_ value: PropertyList) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .real(number)
        case .boolean(let flag): self = .integer(flag ? 1 : 0)
        default: return nil
        }
    }

    private init(_ number: Int128) {
        self = PropertyList.Integer(exactly: number).map { .integer($0) } ?? .real(Double(number))
    }

    var value: Value {
        switch self {
        case .integer(let number): .one(.integer(number))
        case .real(let number): .one(.real(number))
        }
    }

    var asDouble: Double {
        switch self {
        case .integer(let number): number.asDouble
        case .real(let number): number
        }
    }

    private var wide: Int128? { if case .integer(let number) = self { Int128(exactly: number) } else { nil } }

    var negated: Number { wide.map { Number(-$0) } ?? .real(-asDouble) }

    /// Compares exactly, even an integer that no double can hold.
    func order(_ other: Number) -> Ordering {
        switch (self, other) {
        case (.integer(let a), .integer(let b)): return Ordering(a, b)
        case (.real(let a), .real(let b)): return Ordering(a, b)
        case (.integer, .real): return other.order(self).reversed
        case (.real(let a), .integer(let b)):
            guard !a.isNaN else { return .unordered }
            // Every integer of a property list is between these bounds.
            guard abs(a) < 0x1p65 else { return a < 0 ? .less : .greater }
            let (whole, exact) = (Int128(a.rounded(.down)), Int128(exactly: b) ?? 0)
            return whole == exact && a > a.rounded(.down) ? .greater : Ordering(whole, exact)
        }
    }

    /// The result of an operation: an integer if it is exact, otherwise a real. Nil for a division by zero, or if the
    /// result is not a finite number.
    func applying(_ operation: Arithmetic, _ other: Number) -> Number? {
        if let a = wide, let b = other.wide, let exact = Self.exact(a, operation, b) { return Number(exact) }
        let (a, b) = (asDouble, other.asDouble)
        let result =
            switch operation {
            case .plus: a + b
            case .minus: a - b
            case .times: a * b
            case .over: a / b
            case .power: pow(a, b)
            }
        return result.isFinite ? .real(result) : nil
    }

    private static func exact(_ a: Int128, _ operation: Arithmetic, _ b: Int128) -> Int128? {
        switch operation {
        case .plus: return a + b
        case .minus: return a - b
        case .times:
            let (product, overflow) = a.multipliedReportingOverflow(by: b)
            return overflow ? nil : product
        case .over: return b != 0 && a % b == 0 ? a / b : nil
        case .power:
            // A greater power of any other base overflows.
            guard 0...127 ~= b else { return nil }
            var power: Int128 = 1
            for _ in 0..<b {
                let (product, overflow) = power.multipliedReportingOverflow(by: a)
                if overflow { return nil }
                power = product
            }
            return power
        }
    }
}

extension Ordering {
    var reversed: Ordering {
        switch self {
        case .less: .greater
        case .greater: .less
        default: self
        }
    }
}

extension Query {
    /// The ways in which many values are summarized as one.
    public enum Summary: String, Hashable, Sendable, CaseIterable {
        /// The sum of the numbers.
        case sum
        /// The least value.
        case minimum
        /// The greatest value.
        case maximum
        /// The mean of the numbers.
        case average

        /// Creates the summary that a collection operator names, or returns nil if there is none.
        init?(operatorName name: String) {
            guard let summary = Self.allCases.first(where: { $0.operatorName == name }) else { return nil }
            self = summary
        }

        /// The name of the collection operator.
        var operatorName: String {
            switch self {
            case .sum: "sum"
            case .minimum: "min"
            case .maximum: "max"
            case .average: "avg"
            }
        }

        /// Summarizes values. Values without a number are ignored, as are values without an order for a minimum or
        /// maximum. The sum of no values is 0; other summaries of none are NULL.
        func of(_ values: some Sequence<Value>) -> Value {
            switch self {
            case .sum, .average:
                var (total, count) = (Number.integer(0), 0)
                for number in values.lazy.compactMap(\.number) {
                    total = total.applying(.plus, number) ?? .real(total.asDouble + number.asDouble)
                    count += 1
                }
                if self == .sum { return total.value }
                return count == 0 ? .null : total.applying(.over, .integer(PropertyList.Integer(count)))?.value ?? .null
            case .minimum, .maximum:
                var best = Value.null
                let wanted = self == .minimum ? Ordering.less : .greater
                for value in values where value.order(value) == .equal {
                    if best.isNull || value.order(best) == wanted { best = value }
                }
                return best
            }
        }
    }
}
