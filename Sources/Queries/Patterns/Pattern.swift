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
