internal import PropertyLists

/// A compiled predicate.
indirect enum Condition: Sendable {
    case constant(Bool)
    case not(Condition)
    case every([Condition])
    case some([Condition])
    case comparison(Comparison)
}

/// A comparison of two expressions.
struct Comparison: Sendable {
    enum Operator: String, Sendable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case between = "BETWEEN"
        case isIn = "IN"
        case contains = "CONTAINS"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case like = "LIKE"
        case matches = "MATCHES"
    }

    /// The elements of the left collection for which the comparison must hold.
    enum Quantifier: String, Sendable {
        case any = "ANY"
        case all = "ALL"
        case none = "NONE"
        case some = "SOME"
    }

    let quantifier: Quantifier?
    let left: Expression
    let `operator`: Operator
    let folding: Folding
    let right: Expression
    /// The columns of the operator and of the right side.
    let column: Int
    let rightColumn: Int
    /// The right side, folded, if it is constant.
    private(set) var constant: Value?
    /// The compiled form of a constant right side.
    private(set) var needle: Needle?
    private(set) var pattern: TextPattern?

    init(
        _ quantifier: Quantifier?, _ left: Expression, _ operator: Operator, _ folding: Folding, _ right: Expression,
        column: Int, rightColumn: Int
    ) throws(Predicate.Failure) {
        self.quantifier = quantifier
        self.left = left
        self.operator = `operator`
        self.folding = folding
        self.right = right
        self.column = column
        self.rightColumn = rightColumn
        guard case .constant(let value) = right else { return }
        let operand = folded(value)
        constant = operand
        guard let text = operand.text else { return }
        switch `operator` {
        case .contains: needle = Needle(text)
        case .like, .matches: pattern = try pattern(text)
        default: break
        }
    }

    /// The keys of the record on the path to the left side, if it is such a value and the operator reads it as it is.
    var leftKey: String? {
        guard case .steps(.record, let steps) = left, `operator` != .isIn else { return nil }
        let keys = steps.map { step -> String? in if case .key(let key) = step { key } else { nil } }
        return keys.contains(nil) ? nil : keys.compactMap(\.self).joined(separator: ".")
    }

    /// Returns an operand without the differences that the comparison ignores. A pattern and the text that it matches
    /// are unchanged, because `TextPattern` folds both.
    func folded(_ value: Value) -> Value {
        `operator` == .like || `operator` == .matches ? value : folding.folded(value)
    }

    /// Compiles the right side of LIKE or MATCHES.
    func pattern(_ text: String) throws(Predicate.Failure) -> TextPattern {
        do throws(PatternFailure) {
            return try TextPattern(text, isRegular: `operator` == .matches, folding)
        } catch {
            throw Predicate.Failure(.invalidPattern(error.description), at: rightColumn)
        }
    }
}

/// An operand of a comparison.
indirect enum Expression: Sendable {
    case record
    /// The key under which a dictionary has the record.
    case key
    /// The name of the domain that has the record.
    case domain
    case constant(Value)
    case variable(String, column: Int)
    /// A key path, applied to the value of an expression.
    case steps(Expression, [Step])
    case aggregate([Expression])
    case negated(Expression)
    case arithmetic(Expression, [(Arithmetic, Expression)])
    /// `CAST(…, "NSDate")`.
    case date(Expression)
}

/// A component of a key path.
enum Step: Hashable, Sendable {
    /// The value of a key; of an array, the values of all elements.
    case key(String)
    /// A component of an entry path, which is a key or an index.
    case entry(EntryPath.Component)
    /// The element at an index, counted from the end if it is negative.
    case index(Int)
    /// The number of elements.
    case count
    /// A summary of the values that the rest of the path has in the elements of a collection.
    case summary(Summary, [Step])

    static let first = Step.index(0)
    static let last = Step.index(-1)
}

/// An arithmetic operator.
enum Arithmetic: String, Sendable {
    case plus = "+"
    case minus = "-"
    case times = "*"
    case over = "/"
    case power = "**"
}

// MARK: Walking and binding

extension Condition {
    /// Calls `body` with every expression.
    func visit(_ body: (Expression) -> Void) {
        switch self {
        case .constant: break
        case .not(let condition): condition.visit(body)
        case .every(let conditions), .some(let conditions): for condition in conditions { condition.visit(body) }
        case .comparison(let comparison):
            comparison.left.visit(body)
            comparison.right.visit(body)
        }
    }

    func bound(to values: [Name: PropertyList]) throws(Predicate.Failure) -> Condition {
        switch self {
        case .constant: return self
        case .not(let condition): return .not(try condition.bound(to: values))
        case .every(let conditions): return .every(try Self.bound(conditions, to: values))
        case .some(let conditions): return .some(try Self.bound(conditions, to: values))
        case .comparison(let comparison): return .comparison(try comparison.bound(to: values))
        }
    }

    private static func bound(
        _ conditions: [Condition], to values: [Name: PropertyList]
    ) throws(Predicate.Failure) -> [Condition] {
        try conditions.map { condition throws(Predicate.Failure) in try condition.bound(to: values) }
    }
}

extension Comparison {
    fileprivate func bound(to values: [Name: PropertyList]) throws(Predicate.Failure) -> Comparison {
        try Comparison(
            quantifier, left.bound(to: values), `operator`, folding, right.bound(to: values), column: column,
            rightColumn: rightColumn)
    }
}

extension Expression {
    func visit(_ body: (Expression) -> Void) {
        body(self)
        switch self {
        case .record, .key, .domain, .constant, .variable: break
        // The record itself is not read if only some of its keys are.
        case .steps(.record, _): break
        case .steps(let base, _): base.visit(body)
        case .aggregate(let expressions): for expression in expressions { expression.visit(body) }
        case .negated(let expression), .date(let expression): expression.visit(body)
        case .arithmetic(let first, let rest):
            first.visit(body)
            for (_, expression) in rest { expression.visit(body) }
        }
    }

    func bound(to values: [Name: PropertyList]) throws(Predicate.Failure) -> Expression {
        switch self {
        case .record, .key, .domain, .constant: return self
        case .variable(let name, _): return values[Name(name)].map { .constant(.one($0)) } ?? self
        case .steps(let base, let steps): return .steps(try base.bound(to: values), steps)
        case .aggregate(let expressions):
            let bound = try expressions.map { expression throws(Predicate.Failure) in try expression.bound(to: values) }
            return .aggregate(bound).simplified
        case .negated(let expression): return .negated(try expression.bound(to: values))
        case .date(let expression): return .date(try expression.bound(to: values))
        case .arithmetic(let first, let rest):
            var bound: [(Arithmetic, Expression)] = []
            for (sign, expression) in rest { bound.append((sign, try expression.bound(to: values))) }
            return .arithmetic(try first.bound(to: values), bound)
        }
    }

    /// The expression as a constant if its parts are.
    var simplified: Expression {
        guard case .aggregate(let expressions) = self else { return self }
        var values: [Value] = []
        for expression in expressions {
            guard case .constant(let value) = expression else { return self }
            values.append(value)
        }
        return .constant(.many(values))
    }
}

/// The keys that expressions read from a record.
struct FieldSet {
    /// The keys; nil if any may be read.
    private(set) var names: Set<Name>? = []

    mutating func insert(_ expression: Expression) {
        switch expression {
        case .record: names = nil
        case .steps(.record, let steps):
            switch steps.first {
            case .key(let key): names?.insert(Name(key))
            case .entry(let component): names?.insert(component.name)
            default: names = nil
            }
        default: break
        }
    }
}
