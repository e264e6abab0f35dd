/// A regular expression that must match a whole text, limited to features that can be matched in linear time.
///
/// Literals, `.` (any character but a newline), `[a-z]`, `[^…]`, `( )`, `|`, `*`, `+`, `?`, `{m}`, `{m,}`, `{m,n}`,
/// `\d` (ASCII digits), `\w` (ASCII letters, digits, `_`), `\s` (ASCII white space), `\n`, `\r`, `\t`, and a backslash
/// before any character that is neither letter nor digit. A character is a Unicode scalar.
///
/// An invalid pattern matches everything; `failure` is then set.
package struct Pattern: Sendable {
    package let text: String
    /// The reason the pattern is invalid.
    package let failure: PatternFailure?
    /// Whether the text is a regular expression, rather than one with wildcards.
    let isRegular: Bool
    private let program: PatternProgram

    /// The maximum number of states of the compiled pattern.
    package static let maximumStateCount = 10_000
    /// The maximum nesting depth of groups.
    package static let maximumGroupDepth = 100

    package init(_ text: String) {
        self.init(text, isRegular: true) { () throws(PatternFailure) in try PatternParser.parse(text) }
    }

    /// Compiles a text in which `*` matches any characters, `?` matches one, and a backslash makes the next one
    /// literal.
    init(wildcards text: String) {
        self.init(text, isRegular: false) { PatternNode(wildcards: text) }
    }

    private init(_ text: String, isRegular: Bool, _ parse: () throws(PatternFailure) -> PatternNode) {
        self.text = text
        self.isRegular = isRegular
        do throws(PatternFailure) {
            program = try PatternProgram(parse())
            failure = nil
        } catch {
            program = PatternProgram()
            failure = error
        }
    }

    /// The number of states of the compiled pattern.
    package var stateCount: Int { program.states.count }

    /// Returns whether the whole of `value` matches.
    package func matches(_ value: String) -> Bool {
        var budget = Int.max
        return matches(value, budget: &budget) ?? true
    }

    /// Returns whether the whole of `value` matches, or nil if the budget is used up. Each visit of a state costs 1.
    func matches(_ value: String, ignoresCase: Bool = false, budget: inout Int) -> Bool? {
        guard failure == nil else { return true }
        var matcher = PatternMatcher(program, ignoresCase: ignoresCase)
        return matcher.matches(value, budget: &budget)
    }
}

extension Pattern: Hashable {
    package static func == (left: Pattern, right: Pattern) -> Bool { left.text == right.text }
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// The reason a pattern is invalid, and the position of the character, counted from 1.
package struct PatternFailure: Error, Hashable, Sendable {
    package enum Problem: Hashable, Sendable {
        /// The pattern ends inside the named construct.
        case unexpectedEnd(inside: String)
        /// An unmatched closing parenthesis.
        case unopened
        case nothingToRepeat
        /// A repetition of a repetition, which has different meanings in other languages.
        case repeatedTwice
        case unknownEscape(String)
        case invalidCount
        /// The bounds of a count or range are reversed.
        case reversed
        /// `^` or `$`, which are unnecessary because a pattern matches the whole value.
        case anchor
        case emptyClass
        case tooManyStates(limit: Int)
        case nestedTooDeeply(limit: Int)
    }

    package let problem: Problem
    package let position: Int
}

extension PatternFailure: CustomStringConvertible {
    package var description: String { "\(problem) at character \(position) of the pattern" }
}

extension PatternFailure.Problem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unexpectedEnd(let place): "the pattern ends inside \(place)"
        case .unopened: "unmatched )"
        case .nothingToRepeat: "nothing to repeat"
        case .repeatedTwice: "nested repetition; put the inner one in ( )"
        case .unknownEscape(let escape): "unknown escape \(escape)"
        case .invalidCount: "invalid count; write {2} or {2,5}"
        case .reversed: "the lower bound is above the upper one"
        case .anchor: "anchors are not needed, since the whole value must match; remove it, or write \\ before it"
        case .emptyClass: "empty class"
        case .tooManyStates(let limit): "more than \(limit) states"
        case .nestedTooDeeply(let limit): "groups nested more than \(limit) deep"
        }
    }
}

/// The nondeterministic automaton that a pattern compiles to.
struct PatternProgram: Sendable {
    enum State: Sendable {
        /// Consumes a scalar of the set and continues with the next state.
        case take(ScalarSet)
        /// Continues with both states without consuming a character.
        case either(Int, Int)
        case go(Int)
    }

    /// The states; a match is complete at the index after the last one.
    private(set) var states: [State] = []

    init() {}

    init(_ node: PatternNode) throws(PatternFailure) {
        guard node.stateCount <= Pattern.maximumStateCount else {
            throw PatternFailure(problem: .tooManyStates(limit: Pattern.maximumStateCount), position: 1)
        }
        append(node)
    }

    /// The index after the last state, at which a match is complete.
    var end: Int { states.count }

    private mutating func append(_ node: PatternNode) {
        switch node {
        case .one(let set): states.append(.take(set))
        case .sequence(let parts): for part in parts { append(part) }
        case .alternatives(let parts): append(alternatives: parts)
        case .repeated(let part, let least, nil): append(part, atLeast: least)
        case .repeated(let part, let least, let most?):
            for _ in 0..<least { append(part) }
            appendOptional(part, times: most - least)
        }
    }

    private mutating func append(alternatives parts: [PatternNode]) {
        var exits: [Int] = []
        for (number, part) in parts.enumerated() {
            guard number < parts.count - 1 else {
                append(part)
                break
            }
            let branch = states.count
            states.append(.either(branch + 1, branch + 1))
            append(part)
            exits.append(states.count)
            states.append(.go(0))
            states[branch] = .either(branch + 1, states.count)
        }
        for exit in exits { states[exit] = .go(states.count) }
    }

    private mutating func append(_ part: PatternNode, atLeast least: Int) {
        guard least > 0 else {
            let branch = states.count
            states.append(.either(branch + 1, branch + 1))
            append(part)
            states.append(.go(branch))
            states[branch] = .either(branch + 1, states.count)
            return
        }
        var start = states.count
        for _ in 0..<least {
            start = states.count
            append(part)
        }
        states.append(.either(start, states.count + 1))
    }

    private mutating func appendOptional(_ part: PatternNode, times: Int) {
        var branches: [Int] = []
        for _ in 0..<times {
            branches.append(states.count)
            states.append(.either(states.count + 1, states.count + 1))
            append(part)
        }
        for branch in branches { states[branch] = .either(branch + 1, states.count) }
    }
}

/// Runs the automaton of a pattern, following all states simultaneously.
struct PatternMatcher {
    private let program: PatternProgram
    private var current: [Int] = []
    private var upcoming: [Int] = []
    /// For each state, the step at which it was last entered.
    private var entered: [Int]
    private var step = 0
    private var pending: [Int] = []
    /// The number of states that were visited since the last step, including those that consume no character.
    private var visitCount = 0
    private let ignoresCase: Bool

    init(_ program: PatternProgram, ignoresCase: Bool) {
        self.program = program
        self.ignoresCase = ignoresCase
        entered = Array(repeating: -1, count: program.end + 1)
    }

    /// Returns nil once `budget` is used up.
    mutating func matches(_ text: String, budget: inout Int) -> Bool? {
        budget -= entered.count / 16
        enter(0)
        current = upcoming
        for scalar in text.unicodeScalars {
            if current.isEmpty { return false }
            budget -= visitCount
            if budget < 0 { return nil }
            take(scalar)
        }
        return entered[program.end] == step
    }

    private mutating func take(_ scalar: Unicode.Scalar) {
        step += 1
        visitCount = 0
        upcoming.removeAll(keepingCapacity: true)
        let others = ignoresCase ? scalar.otherCases : []
        for state in current {
            guard case .take(let set) = program.states[state] else { continue }
            if set.contains(scalar.value, or: others) { enter(state + 1) }
        }
        swap(&current, &upcoming)
    }

    /// Enters a state and all states reachable without consuming a character.
    private mutating func enter(_ state: Int) {
        pending.append(state)
        while let state = pending.popLast() {
            visitCount += 1
            guard entered[state] != step else { continue }
            entered[state] = step
            guard state < program.end else { continue }
            switch program.states[state] {
            case .take: upcoming.append(state)
            case .go(let next): pending.append(next)
            case .either(let first, let second):
                pending.append(second)
                pending.append(first)
            }
        }
    }
}

extension Unicode.Scalar {
    /// The scalars that differ from this one only in case.
    fileprivate var otherCases: [UInt32] {
        [properties.lowercaseMapping, properties.uppercaseMapping].compactMap { mapping in
            let scalars = mapping.unicodeScalars
            guard let scalar = scalars.first, scalars.count == 1, scalar != self else { return nil }
            return scalar.value
        }
    }
}
