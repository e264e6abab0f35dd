import Queries
import Testing

@Suite struct `A pattern` {
    @Test(arguments: [
        ("", ["": true, "a": false]), ("abc", ["abc": true, "abcd": false, "xabc": false, "ab": false]),
        ("a|bc|", ["a": true, "bc": true, "": true, "b": false]), ("(a|b)c", ["ac": true, "bc": true, "c": false]),
        ("a*", ["": true, "aaaa": true, "ab": false]), ("a+", ["": false, "a": true, "aa": true]),
        ("a?b", ["b": true, "ab": true, "aab": false]), ("a{3}", ["aa": false, "aaa": true, "aaaa": false]),
        ("a{2,}", ["a": false, "aa": true, "aaaaaa": true]), ("a{0,2}b", ["b": true, "aab": true, "aaab": false]),
        ("a{0}", ["": true, "a": false]), ("(ab){1,2}", ["ab": true, "abab": true, "ababab": false]),
        (".", ["a": true, "é": true, "\n": false, "": false, "👍": true]),
        ("[a-c]", ["b": true, "d": false]), ("[^a-c]", ["b": false, "d": true, "\n": true]),
        ("[a-]+", ["a-a": true, "b": false]), ("[]a]", ["a": false]), ("[\\]a]+", ["]a": true]),
        ("[\\d.]+", ["1.2.3": true, "a": false]),
        ("[x1-35-9a-cb-dm2-6]+", ["123456789abcdmx": true, "e": false, "0": false]),
        ("[^x1-35-9\\s]", ["4": true, "5": false, " ": false]), ("[α-ω]+", ["λόγος": false, "λογος": true]),
        ("\\d{4}-\\d\\d", ["2026-11": true, "２０２６-11": false]), ("\\w+", ["a_1": true, "é": false, "a-b": false]),
        ("\\s", [" ": true, "\t": true, "\u{A0}": false]), ("\\.\\*\\\\", [".*\\": true]), ("\\n", ["\n": true]),
        ("(|a)+", ["": true, "aaa": true]), ("(a*)*", ["": true, "aaa": true, "b": false]),
        ("(a*|b){2,3}c", ["c": true, "aabc": true, "abac": true, "ababc": false]),
        ("e\u{301}", ["\u{E9}": false]), ("e.", ["e\u{301}": true]),
        ("(a|ab)(c|bcd)", ["abcd": true, "ac": true, "abc": true]),
    ])
    func `matches only whole values`(_ pattern: String, _ values: [String: Bool]) {
        guard pattern != "[]a]" else { return #expect(Pattern(pattern).failure?.problem == .emptyClass) }
        #expect(Pattern(pattern).failure == nil)
        for (value, isMatch) in values { #expect(Pattern(pattern).matches(value) == isMatch, "\(value)") }
    }

    @Test(arguments: [
        ("(a", PatternFailure.Problem.unexpectedEnd(inside: "a group"), 3), ("a)", .unopened, 2),
        ("*a", .nothingToRepeat, 1), ("a|+", .nothingToRepeat, 3), ("(?:a)", .nothingToRepeat, 2),
        ("a**", .repeatedTwice, 3), ("a+?", .repeatedTwice, 3), ("a{2}{3}", .repeatedTwice, 5),
        ("a{2}*", .repeatedTwice, 5), ("\\q", .unknownEscape("\\q"), 1), ("a\\1", .unknownEscape("\\1"), 2),
        ("a\\", .unexpectedEnd(inside: "an escape"), 2), ("[a", .unexpectedEnd(inside: "a class"), 3),
        ("[]", .emptyClass, 1), ("[^]", .emptyClass, 1), ("[z-a]", .reversed, 2), ("[a-\\d]", .reversed, 2),
        ("a{3,2}", .reversed, 2), ("a{", .unexpectedEnd(inside: "a count"), 3), ("a{x}", .invalidCount, 2),
        ("a{,3}", .invalidCount, 2), ("a{1", .unexpectedEnd(inside: "a count"), 4), ("a{1x", .invalidCount, 2),
        ("^a", .anchor, 1), ("a$", .anchor, 2), ("a{10001}", .tooManyStates(limit: 10_000), 1),
        ("(){10001}", .tooManyStates(limit: 10_000), 1), ("(((){9999}){9999}){9999}", .tooManyStates(limit: 10_000), 1),
        ("((a{1000}){1000}){1000}", .tooManyStates(limit: 10_000), 1),
        ("(((((a{99999}){99999}){99999}){99999}){99999}){99999}", .tooManyStates(limit: 10_000), 1),
        (String(repeating: "(", count: 101), .nestedTooDeeply(limit: 100), 101),
    ])
    func `with an error reports its position`(_ pattern: String, _ problem: PatternFailure.Problem, _ position: Int) {
        #expect(Pattern(pattern).failure?.problem == problem)
        #expect(Pattern(pattern).failure?.position == position)
        #expect(Pattern(pattern).matches("anything"))
    }

    @Test(arguments: [
        "a{10000}", "(){10000}", "(a|b){2500}", String(repeating: "(", count: 100) + String(repeating: ")", count: 100),
    ])
    func `may be as great as the limits`(_ pattern: String) {
        #expect(Pattern(pattern).failure == nil)
        #expect(Pattern(pattern).stateCount <= Pattern.maximumStateCount)
    }

    /// A search in exponential time would never end.
    @Test(arguments: ["(a+)+b", "(a*)*b", "(a|aa)+b", "(a|a)*b", "((a?){30}a{30})*b"])
    func `that hangs a backtracking search ends`(_ pattern: String) {
        let compiled = Pattern(pattern)
        let value = String(repeating: "a", count: 10_000)
        #expect(!compiled.matches(value))
        #expect(compiled.matches(value + "b"))
    }
}
