internal import PropertyLists

/// Evaluates a predicate for any number of records, which share its budget of steps.
struct Evaluator {
    private let condition: Condition
    private let isStrict: Bool
    private let limit: Int
    private var remaining: Int
    /// The pattern that was last compiled from a right side that is not constant; nil if it is invalid.
    private var recent: (text: String, column: Int, pattern: TextPattern?)?
    /// The first operation on the present record whose operands have types that it cannot combine.
    private var mismatch: Selection.Mismatch?
    /// The number of records that are left out because of such an operation, with the first one.
    private(set) var mismatches: (count: Int, first: Selection.Mismatch)?

    init(_ predicate: Predicate) {
        self.init(predicate.condition, isStrict: predicate.isStrict, steps: predicate.limits.steps)
    }

    init(_ condition: Condition = .constant(true), isStrict: Bool = false, steps: Int) {
        self.condition = condition
        self.isStrict = isStrict
        limit = steps
        remaining = steps
    }

    mutating func matches(_ record: Record) throws(Predicate.Failure) -> Bool {
        mismatch = nil
        do throws(Predicate.Failure) {
            if try holds(condition, record) { return true }
            if let mismatch { mismatches = ((mismatches?.count ?? 0) + 1, mismatches?.first ?? mismatch) }
            return false
        } catch {
            var failure = error
            failure.record = record.path
            throw failure
        }
    }

    private mutating func charge(_ steps: Int) throws(Predicate.Failure) {
        remaining -= steps
        guard remaining >= 0 else {
            throw Predicate.Failure(.tooManySteps(limit: limit), at: nil)
        }
    }

    private mutating func holds(_ condition: Condition, _ record: Record) throws(Predicate.Failure) -> Bool {
        switch condition {
        case .constant(let result): return result
        case .not(let condition): return try !holds(condition, record)
        case .every(let conditions):
            for condition in conditions where try !holds(condition, record) { return false }
            return true
        case .some(let conditions):
            for condition in conditions where try holds(condition, record) { return true }
            return false
        case .comparison(let comparison): return try holds(comparison, record)
        }
    }

    private mutating func holds(_ comparison: Comparison, _ record: Record) throws(Predicate.Failure) -> Bool {
        let left = try value(of: comparison.left, in: record)
        let right =
            if let constant = comparison.constant {
                constant
            } else {
                comparison.folded(try value(of: comparison.right, in: record))
            }
        guard let quantifier = comparison.quantifier else { return try holds(comparison, left, right) }
        let elements: [Value]
        if let found = left.elements {
            elements = found
        } else {
            // A value that is not a collection is treated as a collection of one, and NULL as an empty one.
            if isStrict, let kind = left.kind {
                throw Predicate.Failure(
                    .incompatibleTypes(operator: quantifier.rawValue, kind, .array), at: comparison.column)
            }
            elements = left.isNull ? [] : [left]
        }
        let wanted = quantifier != .all
        for element in elements where try holds(comparison, element, right) == wanted { return quantifier.ifFound }
        return !quantifier.ifFound
    }

    /// Notes that an operation cannot combine two types. Throws in strict mode.
    private mutating func noteMismatch(
        _ name: String, _ column: Int?, _ left: PropertyList.Kind, _ right: PropertyList.Kind, key: String? = nil
    ) throws(Predicate.Failure) {
        if isStrict { throw Predicate.Failure(.incompatibleTypes(operator: name, left, right), at: column) }
        if mismatch == nil { mismatch = Selection.Mismatch(key: key, operator: name, left: left, right: right) }
    }
}

extension Comparison.Quantifier {
    /// The result if an element decides it: one that satisfies the comparison, or for ALL one that does not.
    fileprivate var ifFound: Bool { self == .any || self == .some }
}

// MARK: Comparisons

extension Evaluator {
    private mutating func holds(
        _ comparison: Comparison, _ unfolded: Value, _ right: Value
    ) throws(Predicate.Failure) -> Bool {
        try charge(1 + unfolded.size / 64 + (comparison.constant == nil ? right.size / 64 : 0))
        let left = comparison.folded(unfolded)
        switch comparison.operator {
        case .equal, .notEqual:
            try check(comparison, left, right, left.isComparable(with: right))
            return left.equals(right) == (comparison.operator == .equal)
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            return try isOrdered(comparison, left, right)
        case .between:
            guard let bounds = right.elements, bounds.count == 2 else {
                try check(comparison, left, right, right.isNull)
                return false
            }
            for bound in bounds { try check(comparison, left, bound, left.isComparable(with: bound)) }
            return left.order(bounds[0]).isAtLeast && bounds[1].order(left).isAtLeast
        case .isIn: return try contains(comparison, right, left)
        case .contains: return try contains(comparison, left, right)
        case .beginsWith, .endsWith, .like, .matches: return try isLike(comparison, left, right)
        }
    }

    private mutating func check(
        _ comparison: Comparison, _ left: Value, _ right: Value, _ isAllowed: Bool
    ) throws(Predicate.Failure) {
        guard !isAllowed, let left = left.kind, let right = right.kind else { return }
        // Values under no key have no common type, so that a comparison selects those of one type.
        guard isStrict || comparison.leftKey != nil else { return }
        try noteMismatch(comparison.operator.rawValue, comparison.column, left, right, key: comparison.leftKey)
    }

    private mutating func isOrdered(_ comparison: Comparison, _ left: Value, _ right: Value) throws(Predicate.Failure)
        -> Bool
    {
        if left.isNull, right.isNull {
            return comparison.operator == .lessOrEqual || comparison.operator == .greaterOrEqual
        }
        let order = left.order(right)
        if order == .unordered { try check(comparison, left, right, left.number != nil && right.number != nil) }
        return switch comparison.operator {
        case .less: order == .less
        case .lessOrEqual: order == .less || order == .equal
        case .greater: order == .greater
        default: order.isAtLeast
        }
    }

    private mutating func contains(
        _ comparison: Comparison, _ collection: Value, _ value: Value
    ) throws(Predicate.Failure) -> Bool {
        if let text = collection.text, let part = value.text {
            return (comparison.needle ?? Needle(part)).isContained(in: text)
        }
        guard let elements = collection.elements else {
            try check(comparison, collection, value, false)
            return false
        }
        for element in elements {
            try charge(1 + element.size / 64)
            if element.equals(value) { return true }
        }
        return false
    }

    private mutating func isLike(
        _ comparison: Comparison, _ left: Value, _ right: Value
    ) throws(Predicate.Failure) -> Bool {
        guard let text = left.text, let other = right.text else {
            try check(comparison, left, right, false)
            return false
        }
        switch comparison.operator {
        case .beginsWith: return text.utf8.starts(with: other.utf8)
        case .endsWith: return text.utf8.reversed().starts(with: other.utf8.reversed())
        default:
            let compiled = if let pattern = comparison.pattern { pattern } else { try pattern(comparison, other) }
            guard let compiled else { return false }
            // A step for about 16 states.
            let budget = remaining.multipliedReportingOverflow(by: 16)
            var left = budget.overflow ? .max : budget.partialValue
            let before = left
            guard let result = compiled.matches(text, budget: &left) else {
                throw Predicate.Failure(.tooManySteps(limit: limit), at: nil)
            }
            try charge((before - left) / 16)
            return result
        }
    }

    /// The pattern of a right side that is not constant; nil if it is invalid, which strict mode reports.
    private mutating func pattern(
        _ comparison: Comparison, _ text: String
    ) throws(Predicate.Failure) -> TextPattern? {
        if let recent, recent.column == comparison.column, recent.text.hasSameBytes(as: text) { return recent.pattern }
        try charge(text.utf8.count)
        do throws(Predicate.Failure) {
            recent = (text, comparison.column, try comparison.pattern(text))
        } catch {
            if isStrict { throw error }
            recent = (text, comparison.column, nil)
        }
        return recent?.pattern
    }
}

extension Ordering {
    fileprivate var isAtLeast: Bool { self == .greater || self == .equal }
}

extension Value {
    /// A measure of the time that comparing the value takes: the length of a text, or of a container.
    fileprivate var size: Int {
        switch self {
        case .null: 0
        case .many(let values): 8 * values.count
        case .one(.string(let text)): text.utf8.count
        case .one(.data(let data)): data.count
        case .one(.array(let elements)): 8 * elements.count
        case .one(.dictionary(let entries)): 8 * entries.count
        case .one: 0
        }
    }
}

// MARK: Expressions

extension Evaluator {
    mutating func value(of expression: Expression, in record: Record) throws(Predicate.Failure) -> Value {
        switch expression {
        case .record: return Value(record.value)
        case .key: return Value(record.key.map { .string($0) })
        case .domain: return Value(record.domain.map { .string($0) })
        case .constant(let value): return value
        case .variable(let name, let column): throw Predicate.Failure(.unboundVariable(name), at: column)
        case .steps(.record, let steps):
            if steps.count == 1, case .key(let key) = steps[0], case .dictionary(let entries) = record.value {
                return Value(entries[key])
            }
            return try follow(steps[...], from: Value(record.value))
        case .steps(let base, let steps): return try follow(steps[...], from: value(of: base, in: record))
        case .aggregate(let expressions):
            var values: [Value] = []
            for expression in expressions { values.append(try value(of: expression, in: record)) }
            return .many(values)
        case .negated(let expression):
            let value = try value(of: expression, in: record)
            if value.number == nil, let kind = value.kind { try noteMismatch("-", nil, kind, .integer) }
            return value.number?.negated.value ?? .null
        case .arithmetic(let first, let rest):
            var result = try value(of: first, in: record)
            for (sign, expression) in rest {
                result = try combine(result, sign, value(of: expression, in: record))
            }
            return result
        case .date(let expression): return Value(try value(of: expression, in: record).date.map { .date($0) })
        }
    }

    private mutating func combine(
        _ left: Value, _ sign: Arithmetic, _ right: Value
    ) throws(Predicate.Failure) -> Value {
        try charge(1)
        guard let a = left.number, let b = right.number else {
            if let left = left.kind, let right = right.kind { try noteMismatch(sign.rawValue, nil, left, right) }
            return .null
        }
        return a.applying(sign, b)?.value ?? .null
    }

    private mutating func follow(_ steps: ArraySlice<Step>, from value: Value) throws(Predicate.Failure) -> Value {
        var value = value
        for step in steps { value = try take(step, from: value) }
        return value
    }

    private mutating func take(_ step: Step, from value: Value) throws(Predicate.Failure) -> Value {
        switch step {
        case .key(let key): return try self.value(under: key, of: value)
        case .entry(let component):
            if case .one(.dictionary(let entries)) = value { return Value(entries[component.text]) }
            return element(component.index, of: value)
        case .index(let index): return element(index, of: value)
        case .count: return Value(value.elements.map { .integer(PropertyList.Integer($0.count)) })
        case .summary(let summary, let rest):
            guard let elements = value.elements else { return .null }
            var values: [Value] = []
            for element in elements {
                try charge(1)
                values.append(try follow(rest[...], from: element))
            }
            return summary.of(values)
        }
    }

    private func element(_ index: Int?, of value: Value) -> Value {
        guard let index else { return .null }
        switch value {
        case .one(.array(let elements)):
            return index.position(among: elements.count).map { Value(elements[$0]) } ?? .null
        case .many(let values):
            return index.position(among: values.count).map { values[$0] } ?? .null
        default: return .null
        }
    }

    /// The value under a key of a dictionary, or those under the keys of all elements of an array.
    private mutating func value(under key: String, of value: Value) throws(Predicate.Failure) -> Value {
        switch value {
        case .one(.dictionary(let entries)): return Value(entries[key])
        case .one(.array(let elements)): return try values(under: key, of: elements.lazy.map { Value($0) })
        case .many(let values): return try self.values(under: key, of: values)
        default: return .null
        }
    }

    private mutating func values(
        under key: String, of elements: some Sequence<Value>
    ) throws(Predicate.Failure) -> Value {
        var values: [Value] = []
        for element in elements {
            try charge(1)
            values.append(try value(under: key, of: element))
        }
        return .many(values)
    }
}
