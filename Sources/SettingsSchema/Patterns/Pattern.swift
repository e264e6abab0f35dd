/// What the whole of a text must be, in a language whose search takes time linear in the text.
///
/// Literals, `.` (any character but a newline), `[a-z]`, `[^…]`, `( )`, `|`, `*`, `+`, `?`, `{m}`, `{m,}`, `{m,n}`,
/// `\d` (ASCII digits), `\w` (ASCII letters, digits, `_`), `\s` (ASCII white space), `\n`, `\r`, `\t`, and a backslash
/// before any character that is neither letter nor digit. A character is a Unicode scalar.
///
/// A pattern with a mistake in it refuses nothing; `failure` says what is wrong with it.
package struct Pattern: Sendable {
    package let text: String
    /// What is wrong with the pattern.
    package let failure: PatternFailure?
    private let program: PatternProgram

    /// The most states of the machine that a pattern is compiled into.
    package static let mostStates = 10_000
    /// How deep groups may stand inside one another.
    package static let deepestGroup = 100

    package init(_ text: String) {
        self.text = text
        do throws(PatternFailure) {
            program = try PatternProgram(PatternParser.parse(text))
            failure = nil
        } catch {
            program = PatternProgram()
            failure = error
        }
    }

    /// How many states the machine has.
    package var stateCount: Int { program.states.count }

    /// Whether the whole of `value` is what the pattern says.
    package func matches(_ value: String) -> Bool {
        guard failure == nil else { return true }
        var matcher = PatternMatcher(program)
        return matcher.matches(value)
    }
}

extension Pattern: Hashable {
    package static func == (left: Pattern, right: Pattern) -> Bool { left.text == right.text }
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// What is wrong with a pattern, and at which character, counted from 1.
package struct PatternFailure: Error, Hashable, Sendable {
    package enum Problem: Hashable, Sendable {
        /// The pattern stops inside what is named.
        case unexpectedEnd(inside: String)
        /// A parenthesis that closes nothing.
        case unopened
        /// `*`, `+`, `?` or `{` with nothing before it that could be repeated.
        case nothingToRepeat
        /// A repetition of a repetition, which other languages read in ways of their own.
        case repeatedTwice
        case unknownEscape(String)
        case invalidCount
        /// The lower count or end of a range lies above the upper one.
        case reversed
        /// `^` or `$`: a pattern matches the whole value anyway.
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
        case .unopened: "a ) that closes no ("
        case .nothingToRepeat: "nothing to repeat"
        case .repeatedTwice: "a repetition of a repetition; put the inner one in ( )"
        case .unknownEscape(let escape): "\(escape) is no escape"
        case .invalidCount: "not a count such as {2} or {2,5}"
        case .reversed: "the lower bound is above the upper one"
        case .anchor: "the whole value must match anyway; leave the anchor out, or write \\ before it"
        case .emptyClass: "a class without a character"
        case .tooManyStates(let limit): "more than \(limit) states"
        case .nestedTooDeeply(let limit): "groups more than \(limit) deep"
        }
    }
}
