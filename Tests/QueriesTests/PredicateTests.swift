import PropertyLists
import Queries
import TestSupport
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

private typealias Predicate = Query.Predicate

/// The record that the rows test.
private let sample: PropertyList = [
    "name": "Zoë", "nick": "STRASSE", "street": "straße", "greek": "ΣΊΣΥΦΟΣ", "host": "mail.example.org", "text": "",
    "path": "a/b*c?d", "line": "one\ntwo", "digits": "007",
    "age": 42, "zero": 0, "negative": -7, "big": 9_007_199_254_740_993, "height": 1.75, "whole": 42.0,
    "enabled": true, "off": false,
    "born": .date(Date(timeIntervalSinceReferenceDate: 14_256_000)), "blob": .data(Data([1, 2, 3])), "uid": .uid(5),
    "tags": ["work", "Home", "café"], "scores": [3, 1, 2], "empty": [], "nothing": [:], "mixed": [1, "two", true],
    "a": ["b": ["c": 7]],
    "items": [
        ["price": 2, "name": "pen", "tags": ["x", "y"]], ["price": 3.5, "name": "ink"], ["name": "paper"],
    ],
    "matrix": [[1, 2], [3, 4]],
    "font-size": 14, "com.apple.x": 1, "a b": "spaced", "size": 3, "in": 5, "like": "me", "first": "f", "lower": 40,
    "upper": 50, "wild": "m*l.*", "regex": "[a-z.]+", "broken": "(", "around": "[Z-a]+", "unknown": "\\D+",
]

/// Rows of a predicate and whether the sample satisfies it.
private struct Row: CustomTestStringConvertible {
    let predicate: String
    let expected: Bool
    var testDescription: String { predicate }

    static func table(_ expected: Bool, _ text: String) -> [Row] {
        text.split(separator: "\n").map { Row(predicate: String($0), expected: expected) }
    }
}

private let satisfied = Row.table(
    true,
    #"""
    TRUEPREDICATE
    truepredicate
    NOT FALSEPREDICATE
    !FALSEPREDICATE
    (TRUEPREDICATE)
    ((TRUEPREDICATE)) AND TRUEPREDICATE
    age = 42
    age == 42
    age == 42.0
    whole == 42
    age != 41
    age <> 41
    age > 41
    age >= 42
    age => 42
    age < 43
    age <= 42
    age =< 42
    42 == age
    age==42
    age == 0x2A
    age == 0x2E-4
    age == 4.2e+1
    age == 0o52
    age == 0b101010
    height == 1.75
    height == 175e-2
    height > 1
    height < 2
    negative == -7
    negative < 0
    -negative == 7
    - -7 == 7
    big == 9007199254740993
    big > 9007199254740992.0
    big != 9007199254740992.0
    enabled == YES
    enabled == TRUE
    enabled == true
    enabled = yes
    off == NO
    off == FALSE
    enabled != off
    enabled == 1
    off == 0
    off < enabled
    name == "Zoë"
    name == 'Zoë'
    name != "Zoe"
    name ==[d] "Zoe"
    name ==[cd] "ZOE"
    name ==[dc] "zoe"
    name !=[c] "Zoe"
    nick ==[c] street
    greek ==[c] "σίσυφοσ"
    greek ==[c] "σίσυφος"
    greek ==[cd] "σισυφος"
    nick < "T"
    nick <[c] "T"
    "a" <[c] "B"
    "a" > "B"
    "10" < "9"
    text == ""
    text != nil
    born == CAST("2001-06-15", "NSDate")
    born == CAST("2001-06-15T00:00:00Z", "NSDate")
    born == CAST(14256000, "NSDate")
    born > CAST("2001-06-14", "NSDate")
    born BETWEEN {CAST("2001-01-01", "NSDate"), CAST("2002-01-01", "NSDate")}
    CAST(host, "NSDate") == NULL
    blob == blob
    uid == uid
    tags == tags
    tags == {"work", "Home", "café"}
    {1, 2} == {1.0, 2}
    nothing == nothing
    items[0] == items[0]
    missing == NULL
    missing == nil
    missing = NIL
    missing == other
    missing != "x"
    missing != 0
    nil != "x"
    "x" != nil
    nil <= nil
    nil >= nil
    NOT missing > 0
    NOT missing < 0
    NOT missing <= 0
    age != "42"
    age != tags
    NOT age < "50"
    NOT age > "1"
    NOT name < 5
    NOT tags < tags
    NOT blob <= blob
    age BETWEEN {42, 42}
    age BETWEEN {lower, upper}
    age BETWEEN { 1.5 , 99 }
    name BETWEEN {"A", "z"}
    NOT age BETWEEN {43, 50}
    NOT missing BETWEEN {0, 1}
    NOT age BETWEEN {"0", "99"}
    NOT age BETWEEN scores
    age IN {1, 42}
    age IN {41.5, 42.0}
    NOT age IN {}
    NOT age IN {"42"}
    "work" IN tags
    "WORK" IN[c] tags
    "cafe" IN[d] tags
    "example" IN host
    "EXAMPLE" IN[c] host
    7 IN a.b
    nil IN {nil}
    NOT nil IN tags
    tags CONTAINS "work"
    tags CONTAINS[cd] "CAFE"
    scores CONTAINS 2
    a.b CONTAINS 7
    host CONTAINS "example"
    host CONTAINS ""
    host CONTAINS[c] "EXAMPLE"
    name CONTAINS[d] "oe"
    NOT tags CONTAINS "wor"
    NOT age CONTAINS 4
    NOT missing CONTAINS "x"
    mixed CONTAINS "two"
    mixed CONTAINS 1
    host BEGINSWITH "mail"
    host BEGINSWITH ""
    host BEGINSWITH[c] "MAIL"
    name BEGINSWITH[cd] "ZO"
    NOT host BEGINSWITH "example"
    NOT age BEGINSWITH "4"
    host ENDSWITH ".org"
    host ENDSWITH[c] ".ORG"
    street ENDSWITH[c] "SSE"
    NOT host ENDSWITH "mail"
    NOT missing ENDSWITH ""
    host LIKE "mail.*"
    host LIKE "*"
    host LIKE "m??l*org"
    host LIKE "mail.example.org"
    host LIKE[c] "*.EXAMPLE.*"
    name LIKE "Zo?"
    name LIKE[d] "Zoe"
    line LIKE "one*two"
    path LIKE "a/b\\*c\\?d"
    path LIKE "a/b\*c\?d"
    host LIKE wild
    text LIKE ""
    text LIKE "*"
    NOT host LIKE "mail"
    NOT host LIKE "?"
    NOT age LIKE "*"
    NOT missing LIKE "*"
    host MATCHES "[a-z]+(\\.[a-z]+)*"
    host MATCHES ".*"
    host MATCHES[c] "MAIL.[A-Z.]+"
    name MATCHES[d] "Zoe"
    name MATCHES[cd] "zOE"
    digits MATCHES "\\d{3}"
    host MATCHES regex
    name LIKE[cd] "zO?"
    nick MATCHES[c] regex
    "zA" MATCHES[c] around
    NOT digits MATCHES[c] unknown
    NOT host MATCHES "mail"
    NOT host MATCHES broken
    NOT age MATCHES "\\d+"
    NOT missing MATCHES ".*"
    NOT name MATCHES[c] "[^zoë]+"
    age == 42 AND enabled == YES
    age == 42 && enabled == YES
    age == 0 OR enabled == YES
    age == 0 || enabled == YES
    age == 42 OR age == 0 AND FALSEPREDICATE
    NOT age == 0 AND age == 42
    NOT (age == 42 AND age == 0)
    (age == 0 OR age == 42) AND (off == NO)
    NOT NOT age == 42
    age == 42 and not off == yes or falsepredicate
    ANY tags == "work"
    SOME tags == "work"
    any tags ==[c] "home"
    ANY tags BEGINSWITH "caf"
    ANY scores > 2
    ANY scores IN {2, 9}
    ALL scores > 0
    ALL empty > 0
    ALL missing > 0
    NONE scores > 3
    NONE empty == 1
    NOT ANY empty == 1
    NOT ANY missing == 1
    NOT ANY missing == nil
    NOT ALL scores > 1
    NOT NONE scores == 1
    ANY items.price > 3
    ANY items.price == nil
    ANY items.name LIKE "p*"
    ALL items.name MATCHES "[a-z]+"
    ANY a.b == 7
    ANY age == 42
    a.b.c == 7
    a.b.x == nil
    a.x.c == nil
    age.x == nil
    a["b"].c == 7
    tags[0] == "work"
    tags[LAST] == "café"
    tags[FIRST] == "work"
    tags[-1] == "café"
    tags[SIZE] == 3
    tags[3] == nil
    tags[-4] == nil
    matrix[1][0] == 3
    items[1].name == "ink"
    items.name[2] == "paper"
    {1, 2, 3}[1] == 2
    age[0] == nil
    tags.@count == 3
    nothing.@count == 0
    age.@count == nil
    items.price.@count == 3
    items.@count > 2
    scores.@sum == 6
    scores.@min == 1
    scores.@max == 3
    scores.@avg == 2
    empty.@sum == 0
    empty.@max == nil
    empty.@avg == nil
    items.@sum.price == 5.5
    items.@max.price == 3.5
    items.@min.name == "ink"
    items.@avg.price == 2.75
    age.@sum == nil
    @count > 30
    SELF.age == 42
    SELF != nil
    SELF["font-size"] == 14
    #in == 5
    #like == "me"
    size == 3
    first == "f"
    SELF.in == 5
    :font-size == 14
    :font-size==14
    (:font-size > 13)
    :a\ b == "spaced"
    :com.apple.x == 1
    :a:b:c == 7
    :items:0:name == "pen"
    :items:-1:name == "paper"
    :tags:9 == nil
    :matrix:1[1] == 4
    -:font-size == -14
    age + 1 == 43
    age - 2 == 40
    age * 2 == 84
    age / 2 == 21
    7 / 2 == 3.5
    age / 0 == nil
    2 ** 10 == 1024
    2 ** -1 == 0.5
    9 ** 0.5 == 3
    0 ** -1 == nil
    1 + 2 * 3 == 7
    (1 + 2) * 3 == 9
    10 - 3 - 2 == 5
    100 / 10 / 5 == 2
    2 * 3 ** 2 == 18
    age + height > 43.7
    18446744073709551615 + 1 == 18446744073709551616.0
    9223372036854775807 + 1 == 9223372036854775808
    -9223372036854775808 - 1 == -9223372036854775808
    enabled + 1 == 2
    name + 1 == nil
    missing * 2 == nil
    lower + 2 == age AND upper - 8 == age
    scores[0] + scores[1] == 4
    "a\tb\"\\\u00e9" == "a	b\"\\é"
    """#)

private let unsatisfied = Row.table(
    false,
    #"""
    FALSEPREDICATE
    age == 41
    age == "42"
    age > 42
    age < 42
    age >= 43
    age <= 41
    missing == 0
    missing == ""
    missing > nil
    missing < nil
    missing != nil
    name == "Zoe"
    name ==[c] "zoe"
    name ==[d] "zoe"
    nick == street
    enabled == "YES"
    enabled == NO
    enabled == 2
    big == 9007199254740992
    tags == {"Home", "work", "café"}
    tags == {"work"}
    tags CONTAINS nil
    tags CONTAINS "Work"
    "café" IN[c] {"CAFE"}
    age BETWEEN {50, 42}
    host LIKE "mail.?"
    host LIKE "*.com"
    host MATCHES "example"
    host MATCHES ""
    ANY tags == "wor"
    ALL tags == "work"
    NONE tags == "work"
    SOME scores == 9
    FALSEPREDICATE OR FALSEPREDICATE
    TRUEPREDICATE AND FALSEPREDICATE
    born == "2001-06-15"
    born < CAST("2001-06-15", "NSDate")
    uid == 5
    blob == "x"
    :com:apple:x == 1
    items.@sum.price == 5
    nan == nan AND nan != nil
    """#)

@Suite struct `A predicate` {
    @Test(arguments: satisfied + unsatisfied)
    fileprivate func `is evaluated as on macOS`(_ row: Row) throws {
        #expect(try Predicate(row.predicate).matches(sample) == row.expected)
    }

    @Test func `has enough rows`() { #expect(satisfied.count + unsatisfied.count >= 150) }

    /// The claims of Apple's guide, in rows of our own.
    @Test(
        arguments: [
            ("1 BETWEEN {0, 33}", [:], true), ("$LOW < price", ["price": 3], true),
            ("ANY children.age < 18", ["children": [["age": 30], ["age": 17]]], true),
            ("ALL children.age < 18", ["children": [["age": 30], ["age": 17]]], false),
            ("NONE children.age < 18", ["children": [["age": 30], ["age": 19]]], true),
            ("NOT (ANY children.age < 18)", ["children": [["age": 30], ["age": 19]]], true),
            ("given IN {\"Ada\", \"Grace\", \"Alan\"}", ["given": "Grace"], true),
            ("given BEGINSWITH[cd] $NAME", ["given": "Éva"], true), ("given like[cd] $NAME", ["given": "EVA"], true),
            ("given MATCHES \"E.*\"", ["given": "Eva"], true), ("given LIKE \"?v*\"", ["given": "Eva"], true),
            ("(lastName like[cd] $NAME) AND (birthday > $DATE)", ["lastName": "Éva"], false),
            ("SELF IN {\"a\", \"b\"}", "b", true), ("SELF like[c] \"*x*\"", "aXb", true), ("SELF > 2", 3, true),
            ("SELF BETWEEN {1, 5}", 5, true), ("department.name = $NAME", ["department": ["name": "eva"]], true),
            ("group.members.@count > 1", ["group": ["members": [1, 2]]], true),
            ("payees.@max.total >= 10", ["payees": [["total": 3], ["total": 12]]], true),
            ("list[FIRST] = 1 AND list[LAST] = 3 AND list[SIZE] = 3 AND list[1] = 2", ["list": [1, 2, 3]], true),
            ("#IN = 1", ["IN": 1], true), ("date = nil", [:], true), ("flag = YES", ["flag": 1], true),
        ] as [(String, PropertyList, Bool)])
    func `follows Apple's guide`(_ text: String, _ record: PropertyList, _ expected: Bool) throws {
        let predicate = try Predicate(text).bound(to: ["LOW": 2, "NAME": "eva", "DATE": 0])
        #expect(try predicate.matches(record) == expected)
    }

    @Test(arguments: [
        ("", "expected a key or a value, not the end, at column 1"),
        ("   ", "expected a key or a value, not the end, at column 4"),
        ("age", "expected a comparison operator, not the end, at column 4"),
        ("age ==", "expected a key or a value, not the end, at column 7"),
        ("age == 1 2", "expected AND, OR or the end, not “2”, at column 10"),
        ("age == == 1", "expected a key or a value, not “==”, at column 8"),
        ("age == 1 AND", "expected a key or a value, not the end, at column 13"),
        ("AND age == 1", "expected a key or a value, not “AND”, at column 1"),
        ("(age == 1", "expected “)”, not the end, at column 10"),
        ("age == 1)", "expected AND, OR or the end, not “)”, at column 9"),
        ("(age == 1) == YES", "expected AND, OR or the end, not “==”, at column 12"),
        ("age == (b == 1)", "expected AND, OR or the end, not the end, at column 16"),
        ("age == 'x", "missing closing quotation mark at column 8"),
        (#"age == "\d""#, #"unknown escape \d; write \\ for a backslash at column 9"#),
        (#"age == "\uZZ""#, #"unknown escape \uZZ"; write \\ for a backslash at column 9"#),
        (#"age == "\ud800""#, #"unknown escape \ud800; write \\ for a backslash at column 9"#),
        ("age == 1x", "invalid number 1x at column 8"), ("age == 1.2.3", "invalid number 1.2.3 at column 8"),
        ("age == 0x", "invalid number 0x at column 8"), ("age == 1e999", "invalid number 1e999 at column 8"),
        ("age == %@", "a format argument (use $NAME) is not supported at column 8"),
        ("age == ~1", "expected a word, a value or an operator, not “~”, at column 8"),
        ("age =[x] 1", "unknown modifier x; only c and d are available at column 7"),
        ("age =[] 1", "expected c, d or cd, not “]”, at column 7"),
        ("age =[c 1", "expected “]”, not “1”, at column 9"),
        ("FUNCTION(a, 'b') == 1", "FUNCTION() is not supported at column 1"),
        ("a == SUBQUERY(b, $x, $x == 1).@count", "SUBQUERY() is not supported at column 6"),
        ("now() > d", "NOW() is not supported at column 1"),
        ("a UTI-CONFORMS-TO 'x'", "UTI-CONFORMS-TO is not supported at column 3"),
        ("$a := 1", ":= is not supported at column 4"), ("a.@median.b == 1", "@median is not supported at column 3"),
        ("CAST('x', 'NSDate') == 1", "invalid date “x” at column 1"),
        ("CAST('1', 'NSNumber') == 1", "CAST to NSNumber is not supported at column 11"),
        ("a MATCHES '('", "the pattern ends inside a group at character 2 of the pattern at column 11"),
        (
            "a MATCHES '^a$'",
            """
            anchors are not needed, since the whole value must match; remove it, or write \\ before it \
            at character 1 of the pattern at column 11
            """
        ),
        ("a BETWEEN {1}", "expected two values in braces, not 1, at column 11"),
        ("a[x] == 1", "expected an index, FIRST, LAST, SIZE or a key in quotes, not “x”, at column 3"),
        ("a[1 == 1", "expected “]”, not “==”, at column 5"), ("a. == 1", "expected a key, not “==”, at column 4"),
        (": == 1", "expected a key after :, not “ ”, at column 2"),
        ("@ == 1", "expected a name after @, not “ ”, at column 2"),
        ("{1, 2", "expected “}”, not the end, at column 6"),
        ("ANY a", "expected a comparison operator, not the end, at column 6"),
        ("a == 1 + (b == 2)", "expected AND, OR or the end, not the end, at column 18"),
    ])
    func `with an error reports its column`(_ text: String, _ message: String) {
        let failure = #expect(throws: Predicate.Failure.self) { try Predicate(text) }
        #expect(failure?.description == message)
    }

    @Test func `binds variables as values`() throws {
        let predicate = try Predicate("name == $NAME AND age IN {$A, 7} AND NOT $NAME MATCHES $NAME")
        #expect(predicate.variables == ["NAME", "A"])
        #expect(throws: Predicate.Failure.self) { try predicate.matches(["name": "x"]) }
        let value = "x' OR TRUEPREDICATE OR 'x+"
        let bound = try predicate.bound(to: ["NAME": .string(value), "A": 3])
        #expect(bound.variables.isEmpty)
        #expect(try bound.matches(["name": .string(value), "age": 3]))
        #expect(try !bound.matches(["name": "x", "age": 3]))
        let pattern = try Predicate("a MATCHES $P")
        let failure = #expect(throws: Predicate.Failure.self) { try pattern.bound(to: ["P": "("]) }
        #expect(failure?.column == 11)
    }

    @Test func `knows the keys that it reads`() throws {
        #expect(try Predicate("a.b == 1 AND ANY :c-d:0 > $X OR e[0] IN {f, @key}").fields == ["a", "c-d", "e", "f"])
        #expect(try Predicate("SELF == 1 AND a == 1").fields == nil)
        #expect(try Predicate("@count == 1").fields == nil)
        #expect(try Predicate("TRUEPREDICATE").fields == [])
    }

    @Test(arguments: [
        ("age < 'x'", "< cannot compare integer and string at column 5"),
        ("age == 'x'", "== cannot compare integer and string at column 5"),
        ("age != tags", "!= cannot compare integer and array at column 5"),
        ("tags < tags", "< cannot compare array and array at column 6"),
        ("age CONTAINS 1", "CONTAINS cannot compare integer and integer at column 5"),
        ("age IN 5", "IN cannot compare integer and integer at column 5"),
        ("age BETWEEN {1, 'x'}", "BETWEEN cannot compare integer and string at column 5"),
        ("age LIKE '*'", "LIKE cannot compare integer and string at column 5"),
        ("ANY age == 42", "ANY cannot compare integer and array at column 9"),
        ("name + 1 == 2", "+ cannot compare string and integer"),
        ("name MATCHES broken", "the pattern ends inside a group at character 2 of the pattern at column 14"),
    ])
    func `in strict mode refuses unlike types`(_ text: String, _ message: String) throws {
        var predicate = try Predicate(text)
        _ = try predicate.matches(sample)
        predicate.isStrict = true
        let failure = #expect(throws: Predicate.Failure.self) { try predicate.matches(sample) }
        #expect(failure?.description == message)
    }

    @Test(arguments: [
        "missing < 1", "age < 43.5", "enabled == 1", "missing == 'x'", "missing LIKE '*'", "ANY missing == 1",
    ])
    func `in strict mode accepts missing keys and all numbers`(_ text: String) throws {
        var predicate = try Predicate(text)
        predicate.isStrict = true
        _ = try predicate.matches(sample)
    }
}

// MARK: Limits

@Suite struct `The limits of a predicate` {
    private func problem(
        _ text: String, _ limits: Predicate.Limits = Predicate.Limits()
    ) -> Predicate.Failure.Problem? {
        do throws(Predicate.Failure) {
            _ = try Predicate(text, limits: limits).matches(sample)
            return nil
        } catch {
            return error.problem
        }
    }

    @Test(arguments: [
        ("(", ")", "a == 1"), ("NOT ", "", "a == 1"), ("!", "", "a == 1"), ("- ", "", "a == 1"), ("{", "}", "1"),
    ])
    func `bound the depth`(_ opening: String, _ closing: String, _ inner: String) {
        func nested(_ depth: Int) -> String {
            let text = String(repeating: opening, count: depth) + inner + String(repeating: closing, count: depth)
            return opening == "{" ? "a == " + text : text
        }
        #expect(problem(nested(64)) == nil)
        #expect(problem(nested(65)) == .nestedTooDeeply(limit: 64))
        #expect(problem(nested(2000)) == .nestedTooDeeply(limit: 64))
    }

    @Test func `bound the depth of collection operators`() {
        #expect(problem("a" + String(repeating: ".@sum", count: 64) + " == 1") == nil)
        #expect(problem("a" + String(repeating: ".@sum", count: 65) + " == 1") == .nestedTooDeeply(limit: 64))
    }

    @Test func `bound the length`() {
        let text = "a == '" + String(repeating: "x", count: 16_384 - 7) + "'"
        #expect(problem(text) == nil)
        #expect(problem(text + " ") == .tooLong(limit: 16_384))
    }

    @Test func `allow long chains`() {
        #expect(problem("a == 1" + String(repeating: " OR a == 1", count: 1600)) == nil)
        #expect(problem("a == 1" + String(repeating: " AND a == 1", count: 1400)) == nil)
        #expect(problem("a == 1" + String(repeating: " + 1", count: 4000)) == nil)
        #expect(problem("a == 2" + String(repeating: "**2", count: 4000)) == nil)
        #expect(problem("a" + String(repeating: ".a", count: 8000) + " == 1") == nil)
        #expect(problem("a" + String(repeating: "[0]", count: 5000) + " == 1") == nil)
    }

    @Test func `bound the steps`() throws {
        let limits = Predicate.Limits(steps: 10)
        #expect(problem("age == 1" + String(repeating: " OR age == 1", count: 9), limits) == nil)
        #expect(problem("age == 1" + String(repeating: " OR age == 1", count: 10), limits) == .tooManySteps(limit: 10))
        let long: PropertyList = ["a": .string(String(repeating: "ab", count: 500_000))]
        var predicate = try Predicate("a MATCHES '(a|b|ab|(ab)*|a*b*)*x'")
        predicate.limits.steps = 1000
        let failure = #expect(throws: Predicate.Failure.self) { try predicate.matches(long) }
        #expect(failure?.problem == .tooManySteps(limit: 1000))
        predicate = try Predicate("ANY list.@sum.list > 0")
        predicate.limits.steps = 1000
        #expect(throws: Predicate.Failure.self) {
            try predicate.matches(["list": .array(Array(repeating: ["list": 1], count: 2000))])
        }
    }

    /// Also patterns whose states mostly consume no character, and budgets that end with a part of a step.
    @Test(arguments: ["a*b", "(a(\(String(repeating: "|", count: 300))))*b"], [1, 3, 4, 20_000])
    func `bound the steps of a pattern`(_ pattern: String, _ steps: Int) throws {
        var predicate = try Predicate("a MATCHES '\(pattern)'")
        predicate.limits.steps = steps
        let failure = #expect(throws: Predicate.Failure.self) {
            try predicate.matches(["a": .string(String(repeating: "a", count: pattern == "a*b" ? 200_000 : 5000))])
        }
        #expect(failure?.problem == .tooManySteps(limit: steps))
    }

    @Test(arguments: [
        "a MATCHES '(a*)*b'", "a MATCHES '(a|a)*b'", "a LIKE '*a*a*a*a*a*a*a*a*b'",
        "a CONTAINS '\(String(repeating: "a", count: 9000))b'",
        "a LIKE '\(String(repeating: "*a", count: 500))b'",
    ])
    func `keep hostile patterns linear`(_ text: String) throws {
        let value: PropertyList = ["a": .string(String(repeating: "a", count: 5000))]
        #expect(try !Predicate(text).matches(value))
    }

    @Test func `survive any text`() {
        let pieces = [
            "a", "==", "(", ")", "[", "]", "{", "}", "'", "\"", "\\", "1", ".", "@", "$", "#", ":", "NOT", "AND", "ANY",
            "BETWEEN", "CAST", ",", "-", "*", "**", "\u{301}", "é", "\u{0}", "🙂", " ", "[c]", "SELF", "@count", "nil",
        ]
        var random = SeededGenerator(stream: "predicates")
        for _ in 0..<20_000 {
            let text = (0...Int.random(in: 0..<16, using: &random)).map { _ in
                pieces[Int.random(in: pieces.indices, using: &random)] + (Bool.random(using: &random) ? " " : "")
            }.joined()
            do throws(Predicate.Failure) {
                _ = try Predicate(text).matches(sample)
            } catch {
                #expect(!error.description.isEmpty, "\(Seed.ofThisRun)")
            }
        }
    }
}
