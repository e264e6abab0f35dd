public import PropertyLists

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Query {
    /// A condition in the language of NSPredicate, compiled once and then evaluated for any number of values.
    ///
    ///     let isLocal = try Query.Predicate("enabled == YES AND host ENDSWITH[c] '.local'")
    ///     try isLocal.matches(account)
    ///
    /// A key that is missing is NULL. A comparison is always true or false: NULL equals NULL only and is not ordered.
    /// Values of different types are unequal and not ordered either. Numbers and Booleans are one type, as in
    /// Foundation: YES equals 1.
    public struct Predicate: Sendable {
        /// The text that the predicate was compiled from.
        public let text: String
        /// Whether comparing values of different types is an error.
        public var isStrict = false
        /// The limits that evaluation respects.
        public var limits: Limits
        private(set) var condition: Condition

        /// The limits on a predicate.
        public struct Limits: Hashable, Sendable {
            /// The maximum length of the text in bytes.
            public var textBytes: Int
            /// The maximum nesting depth of parentheses, aggregates, NOT and signs.
            public var depth: Int
            /// The maximum number of steps of a query. A step is the evaluation of an operator for a value, or the
            /// examination of about 64 bytes of text.
            public var steps: Int

            /// Creates limits.
            public init(textBytes: Int = 1 << 14, depth: Int = 64, steps: Int = 10_000_000) {
                self.textBytes = textBytes
                self.depth = depth
                self.steps = steps
            }
        }

        /// Compiles a predicate.
        public init(_ text: String, limits: Limits = Limits()) throws(Failure) {
            var parser = try PredicateParser(text, limits)
            (self.text, self.limits, condition) = (text, limits, try parser.predicate())
        }
    }
}

extension Query.Predicate {
    /// Returns whether a value satisfies the predicate. Throws if a variable has no value or a limit is exceeded.
    public func matches(_ value: PropertyList) throws(Failure) -> Bool {
        var evaluator = Evaluator(self)
        return try evaluator.matches(Record(value))
    }

    /// The names of the variables that have no value yet, without duplicates.
    public var variables: [String] {
        var names: [String] = []
        condition.visit { expression in
            if case .variable(let name, _) = expression, !names.contains(exactly: name) { names.append(name) }
        }
        return names
    }

    /// Returns the predicate with variables replaced by values, which are never parsed. Throws if a value cannot be
    /// used in its place, such as an invalid pattern.
    public func bound(to values: [String: PropertyList]) throws(Failure) -> Query.Predicate {
        try bound(to: Dictionary(uniqueKeysWithValues: values.map { (Name($0), $1) }))
    }

    package func bound(to values: [Name: PropertyList]) throws(Failure) -> Query.Predicate {
        var bound = self
        bound.condition = try condition.bound(to: values)
        return bound
    }

    /// The keys that the predicate reads from a record, or nil if it may read any.
    package var fields: Set<Name>? {
        var fields = FieldSet()
        condition.visit { fields.insert($0) }
        return fields.names
    }
}

extension Query.Predicate {
    /// The reason a predicate cannot be compiled or evaluated.
    public struct Failure: Error, Hashable, Sendable {
        /// The kinds of failure.
        package enum Problem: Hashable, Sendable {
            /// Unexpected text. The first string is what was expected.
            case expected(String, found: String)
            /// A closing quotation mark is missing.
            case unterminatedString
            /// A backslash before a character that cannot be escaped.
            case unknownEscape(String)
            /// Not a number, or one that no property list can hold.
            case invalidNumber(String)
            /// Text that CAST cannot convert to a date.
            case invalidDate(String)
            /// A pattern that MATCHES or LIKE cannot use.
            case invalidPattern(String)
            /// A part of Apple's language that is not available here.
            case unsupported(String)
            /// A modifier other than `c` and `d`.
            case unknownModifier(String)
            /// A variable without a value.
            case unboundVariable(String)
            /// In strict mode: values of types that the operator cannot compare.
            case incompatibleTypes(operator: String, PropertyList.Kind, PropertyList.Kind)
            /// The text is too long.
            case tooLong(limit: Int)
            /// Parentheses are nested too deeply.
            case nestedTooDeeply(limit: Int)
            /// The query takes too many steps.
            case tooManySteps(limit: Int)
        }

        /// The kind of failure.
        package let problem: Problem
        /// The position in the text, in characters counted from 1; nil if the failure concerns the whole query.
        public let column: Int?
        /// The path of the record that was evaluated, in the value that was queried.
        public internal(set) var record: EntryPath?

        init(_ problem: Problem, at column: Int?) {
            self.problem = problem
            self.column = column
        }
    }
}

extension Query.Predicate.Failure: CustomStringConvertible {
    public var description: String {
        let place = column.map { "\(problem) at column \($0)" } ?? "\(problem)"
        guard let record, !record.components.isEmpty else { return place }
        return "\(record): \(place)"
    }
}

extension Query.Predicate.Failure.Problem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .expected(let what, let found): "expected \(what), not \(found),"
        case .unterminatedString: "missing closing quotation mark"
        case .unknownEscape(let escape): "unknown escape \(escape); write \\\\ for a backslash"
        case .invalidNumber(let text): "invalid number \(text)"
        case .invalidDate(let text): "invalid date \(text)"
        case .invalidPattern(let reason): reason
        case .unsupported(let name): "\(name) is not supported"
        case .unknownModifier(let text): "unknown modifier \(text); only c and d are available"
        case .unboundVariable(let name): "no value for $\(name)"
        case .incompatibleTypes(let name, let left, let right):
            "\(name) cannot compare \(left.rawValue) and \(right.rawValue)"
        case .tooLong(let limit): "a predicate of more than \(limit) bytes"
        case .nestedTooDeeply(let limit): "nested more than \(limit) deep"
        case .tooManySteps(let limit): "the query takes more than \(limit) steps"
        }
    }
}

// `localizedDescription` is the same sentence as `description`.

extension Query.Predicate.Failure: LocalizedError { public var errorDescription: String? { description } }
