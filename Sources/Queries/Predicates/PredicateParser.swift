internal import PropertyLists

/// A recursive descent parser for predicates.
struct PredicateParser {
    private var scanner: PredicateScanner
    private let limits: Predicate.Limits
    private var depth = 0

    /// The contents of parentheses.
    private enum Node {
        case condition(Condition)
        case expression(Expression)
    }

    init(_ text: String, _ limits: Predicate.Limits) throws(Predicate.Failure) {
        scanner = try PredicateScanner(text, limits)
        self.limits = limits
    }

    mutating func predicate() throws(Predicate.Failure) -> Condition {
        let condition = try condition(disjunction())
        guard scanner.token == .end else { throw expected("AND, OR or the end") }
        return condition
    }

    /// Parses key paths separated by commas, each with an optional sign.
    mutating func keys(allowsSigns: Bool) throws(Predicate.Failure) -> [(isNegative: Bool, key: Expression)] {
        var keys: [(Bool, Expression)] = []
        repeat {
            let isNegative = allowsSigns ? try take("-") : false
            if allowsSigns, !isNegative { _ = try take("+") }
            let place = scanner.column
            guard case .expression(let key) = try postfix(), key.isKeyPath else {
                throw Predicate.Failure(.expected("a key path", found: "another expression"), at: place)
            }
            keys.append((isNegative, key))
        } while try take(",")
        guard scanner.token == .end else { throw expected("a comma or the end") }
        return keys
    }

    private func expected(_ what: String) -> Predicate.Failure {
        Predicate.Failure(.expected(what, found: scanner.shown), at: scanner.column)
    }

    /// Takes the symbol if it is next.
    private mutating func take(_ symbol: String) throws(Predicate.Failure) -> Bool {
        guard scanner.token == .symbol(symbol) else { return false }
        try scanner.advance()
        return true
    }

    private mutating func require(_ symbol: String) throws(Predicate.Failure) {
        guard try take(symbol) else { throw expected("“\(symbol)”") }
    }

    /// The keyword that is next, in any case, or nil.
    private var keyword: Keyword? {
        guard case .word(let word) = scanner.token else { return nil }
        return Keyword(rawValue: word.uppercased())
    }

    private mutating func take(_ keyword: Keyword) throws(Predicate.Failure) -> Bool {
        guard self.keyword == keyword else { return false }
        try scanner.advance()
        return true
    }

    /// Runs `body` one level deeper.
    private mutating func nested<Result>(
        _ body: (inout PredicateParser) throws(Predicate.Failure) -> Result
    ) throws(Predicate.Failure) -> Result {
        depth += 1
        guard depth <= limits.depth else {
            throw Predicate.Failure(.nestedTooDeeply(limit: limits.depth), at: scanner.column)
        }
        let result = try body(&self)
        depth -= 1
        return result
    }

    /// The words that are not keys.
    private enum Keyword: String {
        case and = "AND"
        case or = "OR"
        case not = "NOT"
        case anyElement = "ANY"
        case someElement = "SOME"
        case allElements = "ALL"
        case noElement = "NONE"
        case between = "BETWEEN"
        case isIn = "IN"
        case contains = "CONTAINS"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case like = "LIKE"
        case matches = "MATCHES"
        case null = "NULL"
        case `nil` = "NIL"
        case itself = "SELF"
        case yes = "YES"
        case no = "NO"
        case `true` = "TRUE"
        case `false` = "FALSE"
        case truePredicate = "TRUEPREDICATE"
        case falsePredicate = "FALSEPREDICATE"
    }
}

// MARK: Conditions

extension PredicateParser {
    private mutating func condition(_ node: Node) throws(Predicate.Failure) -> Condition {
        guard case .condition(let condition) = node else { throw expected("a comparison operator") }
        return condition
    }

    private mutating func disjunction() throws(Predicate.Failure) -> Node {
        let first = try conjunction()
        guard try take("||", .or) else { return first }
        var conditions = [try condition(first)]
        repeat { conditions.append(try condition(conjunction())) } while try take("||", .or)
        return .condition(.some(conditions))
    }

    private mutating func conjunction() throws(Predicate.Failure) -> Node {
        let first = try negation()
        guard try take("&&", .and) else { return first }
        var conditions = [try condition(first)]
        repeat { conditions.append(try condition(negation())) } while try take("&&", .and)
        return .condition(.every(conditions))
    }

    /// Takes a logical operator, in either spelling, if it is next.
    private mutating func take(_ symbol: String, _ keyword: Keyword) throws(Predicate.Failure) -> Bool {
        if try take(symbol) { return true }
        return try take(keyword)
    }

    private mutating func negation() throws(Predicate.Failure) -> Node {
        guard try take("!", .not) else { return try comparison() }
        return try nested { parser throws(Predicate.Failure) in
            .condition(.not(try parser.condition(parser.negation())))
        }
    }

    private mutating func comparison() throws(Predicate.Failure) -> Node {
        if try take(Keyword.truePredicate) { return .condition(.constant(true)) }
        if try take(Keyword.falsePredicate) { return .condition(.constant(false)) }
        let quantifier = try quantifier()
        let node = try sum()
        let (column, shown) = (scanner.column, scanner.shown)
        guard let comparison = try comparisonOperator() else {
            guard quantifier == nil else { throw expected("a comparison operator") }
            return node
        }
        guard case .expression(let left) = node else {
            throw Predicate.Failure(.expected("AND, OR or the end", found: shown), at: column)
        }
        let folding = try modifiers()
        let place = scanner.column
        let right = try expression(sum())
        if comparison == .between, let count = right.aggregateCount, count != 2 {
            throw Predicate.Failure(.expected("two values in braces", found: "\(count)"), at: place)
        }
        return .condition(
            .comparison(
                try Comparison(quantifier, left, comparison, folding, right, column: column, rightColumn: place)))
    }

    private mutating func quantifier() throws(Predicate.Failure) -> Comparison.Quantifier? {
        guard case .word(let word) = scanner.token, let quantifier = Comparison.Quantifier(rawValue: word.uppercased())
        else { return nil }
        try scanner.advance()
        return quantifier
    }

    private mutating func comparisonOperator() throws(Predicate.Failure) -> Comparison.Operator? {
        let found: Comparison.Operator?
        switch scanner.token {
        case .symbol(let symbol): found = Comparison.Operator(rawValue: symbol)
        case .word(let word):
            let word = word.uppercased()
            if word == "UTI" { throw Predicate.Failure(.unsupported("UTI-CONFORMS-TO"), at: scanner.column) }
            found = Comparison.Operator(rawValue: word)
        default: found = nil
        }
        if found != nil { try scanner.advance() }
        return found
    }

    /// Parses `[cd]`.
    private mutating func modifiers() throws(Predicate.Failure) -> Folding {
        guard try take("[") else { return [] }
        guard case .word(let word) = scanner.token else { throw expected("c, d or cd") }
        var folding: Folding = []
        for letter in word.lowercased() {
            switch letter {
            case "c": folding.insert(.case)
            case "d": folding.insert(.diacritics)
            default: throw Predicate.Failure(.unknownModifier("\(letter)"), at: scanner.column)
            }
        }
        try scanner.advance()
        try require("]")
        return folding
    }
}

// MARK: Expressions

extension PredicateParser {
    private mutating func expression(_ node: Node) throws(Predicate.Failure) -> Expression {
        guard case .expression(let expression) = node else { throw expected("AND, OR or the end") }
        return expression
    }

    private mutating func sum() throws(Predicate.Failure) -> Node {
        try arithmetic([.plus, .minus]) { parser throws(Predicate.Failure) in
            try parser.arithmetic([.times, .over]) { parser throws(Predicate.Failure) in
                try parser.arithmetic([.power]) { parser throws(Predicate.Failure) in try parser.sign() }
            }
        }
    }

    /// Parses operands separated by operators of one rank, which are evaluated from left to right.
    private mutating func arithmetic(
        _ operators: [Arithmetic], _ operand: (inout PredicateParser) throws(Predicate.Failure) -> Node
    ) throws(Predicate.Failure) -> Node {
        let first = try operand(&self)
        var rest: [(Arithmetic, Expression)] = []
        while case .symbol(let symbol) = scanner.token, let sign = Arithmetic(rawValue: symbol),
            operators.contains(sign)
        {
            guard case .expression = first else { throw expected("AND, OR or the end") }
            try scanner.advance()
            rest.append((sign, try expression(operand(&self))))
        }
        guard case .expression(let expression) = first, !rest.isEmpty else { return first }
        return .expression(.arithmetic(expression, rest))
    }

    private mutating func sign() throws(Predicate.Failure) -> Node {
        if try take("-") {
            return try nested { parser throws(Predicate.Failure) in
                .expression(try parser.expression(parser.sign()).negative)
            }
        }
        return try postfix()
    }

    /// Parses an operand with the key path and the indexes after it.
    private mutating func postfix() throws(Predicate.Failure) -> Node {
        let node = try primary()
        guard case .expression(let base) = node else { return node }
        let steps = try steps()
        guard !steps.isEmpty else { return node }
        if case .steps(let inner, let first) = base { return .expression(.steps(inner, first + steps)) }
        return .expression(.steps(base, steps))
    }

    private mutating func steps() throws(Predicate.Failure) -> [Step] {
        var steps: [Step] = []
        while true {
            if try take("[") {
                steps.append(try index())
                try require("]")
                continue
            }
            guard try take(".") else { return steps }
            switch scanner.token {
            case .word(let word), .key(let word):
                steps.append(.key(word))
                try scanner.advance()
            case .attribute(let name): return steps + [try attribute(name)]
            default: throw expected("a key")
            }
        }
    }

    /// Parses a collection operator and the rest of its key path.
    private mutating func attribute(_ name: String) throws(Predicate.Failure) -> Step {
        let column = scanner.column
        try scanner.advance()
        if name == "count" { return .count }
        guard let summary = Summary(operatorName: name) else {
            throw Predicate.Failure(.unsupported("@\(name)"), at: column)
        }
        return try nested { parser throws(Predicate.Failure) in .summary(summary, try parser.steps()) }
    }

    private mutating func index() throws(Predicate.Failure) -> Step {
        let isNegative = try take("-")
        let step: Step?
        switch scanner.token {
        case .number(.integer(let number)): step = Int(exactly: number).map { .index(isNegative ? -$0 : $0) }
        case .string(let key) where !isNegative: step = .key(key)
        case .word(let word) where !isNegative:
            switch word.uppercased() {
            case "FIRST": step = .first
            case "LAST": step = .last
            case "SIZE": step = .count
            default: step = nil
            }
        default: step = nil
        }
        guard let step else { throw expected("an index, FIRST, LAST, SIZE or a key in quotes") }
        try scanner.advance()
        return step
    }

    private mutating func primary() throws(Predicate.Failure) -> Node {
        let column = scanner.column
        switch scanner.token {
        case .symbol("("):
            return try nested { parser throws(Predicate.Failure) in
                try parser.scanner.advance()
                let node = try parser.disjunction()
                try parser.require(")")
                return node
            }
        case .symbol("{"): return .expression(try nested { parser throws(Predicate.Failure) in try parser.aggregate() })
        case .string(let text):
            try scanner.advance()
            return .expression(.constant(.one(.string(text))))
        case .number(let number):
            try scanner.advance()
            return .expression(.constant(.one(number)))
        case .variable(let name):
            try scanner.advance()
            if scanner.token == .symbol(":=") { throw Predicate.Failure(.unsupported(":="), at: scanner.column) }
            return .expression(.variable(name, column: column))
        case .key(let name):
            try scanner.advance()
            return .expression(.steps(.record, [.key(name)]))
        case .path(let components):
            try scanner.advance()
            return .expression(.steps(.record, components.map { .entry($0) }))
        case .attribute(let name):
            if name == "key" || name == "domain" {
                try scanner.advance()
                return .expression(name == "key" ? .key : .domain)
            }
            return .expression(.steps(.record, [try attribute(name)]))
        case .word(let word): return .expression(try named(word, column))
        default: throw expected("a key or a value")
        }
    }

    private mutating func aggregate() throws(Predicate.Failure) -> Expression {
        try scanner.advance()
        var elements: [Expression] = []
        if scanner.token != .symbol("}") {
            repeat { elements.append(try expression(sum())) } while try take(",")
        }
        try require("}")
        return .aggregate(elements).simplified
    }

    private mutating func named(_ word: String, _ column: Int) throws(Predicate.Failure) -> Expression {
        let value: Expression
        switch keyword {
        case .null?, .nil?: value = .constant(.null)
        case .itself?: value = .record
        case .yes?, .true?: value = .constant(.one(.boolean(true)))
        case .no?, .false?: value = .constant(.one(.boolean(false)))
        case nil: value = .steps(.record, [.key(word)])
        default: throw expected("a key or a value")
        }
        try scanner.advance()
        guard case .symbol("(") = scanner.token else { return value }
        guard word.uppercased() == "CAST" else {
            throw Predicate.Failure(.unsupported("\(word.uppercased())()"), at: column)
        }
        return try nested { parser throws(Predicate.Failure) in try parser.cast(column) }
    }

    private mutating func cast(_ column: Int) throws(Predicate.Failure) -> Expression {
        try scanner.advance()
        let operand = try expression(sum())
        try require(",")
        guard case .string(let type) = scanner.token else { throw expected("\"NSDate\"") }
        guard type == "NSDate" else { throw Predicate.Failure(.unsupported("CAST to \(type)"), at: scanner.column) }
        try scanner.advance()
        try require(")")
        guard case .constant(let value) = operand else { return .date(operand) }
        guard let date = value.date else {
            throw Predicate.Failure(.invalidDate(value.shown), at: column)
        }
        return .constant(.one(.date(date)))
    }
}

extension Expression {
    /// The expression with the opposite sign.
    fileprivate var negative: Expression {
        if case .constant(let value) = self, let number = value.number { return .constant(number.negated.value) }
        return .negated(self)
    }

    /// The number of elements of an aggregate, or nil for any other expression.
    fileprivate var aggregateCount: Int? {
        switch self {
        case .aggregate(let elements): elements.count
        case .constant(.many(let values)): values.count
        default: nil
        }
    }

    /// Whether the expression is a key path of the record, or its key or domain.
    fileprivate var isKeyPath: Bool {
        switch self {
        case .record, .key, .domain, .steps(.record, _): true
        default: false
        }
    }
}
