import Commands
import Foundation
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// A machine with a file `~/blob` of the bytes 00 FF. Its clock shows the first second of 2024.
func sampleContext(input: String = "", _ arguments: [String] = ["defaults"]) throws -> CommandContext {
    let machine = try SimulatedMachine()
    let file = try machine.fileSystem.open("/home/ada/blob", .creatingNew(.privateFile))
    try file?.write(([0, 0xFF] as [UInt8]).span.bytes, at: 0)
    var environment = machine.environment
    environment.arguments = arguments
    return CommandContext(
        SystemServices(
            fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher, environment: environment,
            terminal: SimulatedTerminal(input: input)))
}

/// `Testing` has a type of this name too.
typealias ExitStatus = Commands.ExitStatus

/// Invalid words for a value, and the error.
struct Refusal: Sendable {
    let words: [String]
    let status: ExitStatus
    let line: String

    init(_ words: [String], _ status: ExitStatus, _ line: String) {
        (self.words, self.status, self.line) = (words, status, line)
    }
}

@Suite struct WriteValueTests {
    static let values: [(words: [String], value: String)] = [
        (["-string", "a"], #""a""#), (["-string", ""], #""""#), (["-string", "-int"], #""-int""#),
        (["-string", "{ a"], #""{ a""#),
        (["-int", "42"], "42"), (["-integer", "42"], "42"), (["-int", "-7"], "-7"), (["-int", "+7"], "7"),
        (["-int", "007"], "7"), (["-int", "0x10"], "16"), (["-int", "0XfF"], "255"), (["-int", "-0x10"], "-16"),
        (["-int", "18446744073709551615"], "18446744073709551615"),
        (["-int", "0xffffffffffffffff"], "18446744073709551615"),
        (["-int", "-9223372036854775808"], "-9223372036854775808"), (["-int", "-0"], "0"),
        (["-float", "1.25"], "1.25"), (["-float", "3"], "3.0"), (["-float", "-0"], "-0.0"),
        (["-float", "1e3"], "1000.0"),
        (["-float", ".5"], "0.5"), (["-float", "nan"], "nan"), (["-float", "inf"], "inf"),
        (["-float", "-INF"], "-inf"),
        (["-float", "infinity"], "inf"), (["-float", "0x1p-2"], "0.25"),
        (["-bool", "true"], "true"), (["-bool", "YES"], "true"), (["-bool", "on"], "true"), (["-bool", "1"], "true"),
        (["-bool", "False"], "false"), (["-bool", "no"], "false"), (["-bool", "OFF"], "false"),
        (["-bool", "0"], "false"),
        (["-boolean", "yes"], "true"),
        (["-date", "2024-01-02T03:04:05Z"], "@2024-01-02T03:04:05Z"),
        (["-date", "2024-01-02T05:04:05+02:00"], "@2024-01-02T03:04:05Z"),
        (["-date", "2001-01-01T00:00:00.5Z"], "@(0.5)"), (["-date", "2001-01-01 00:00:01 +0000"], "@(1.0)"),
        (["-date", "2001-01-01 01:00:00 +0100"], "@(0.0)"), (["-date", "2000-12-31 22:30:00.25 -0130"], "@(0.25)"),
        (["-date", "2024-01-02"], "@2024-01-02T00:00:00Z"), (["-date", "2024-01-02 15:04"], "@2024-01-02T15:04:00Z"),
        (["-date", "2024-01-02 15:04:05"], "@2024-01-02T15:04:05Z"),
        (["-date", "2024-01-02T15:04:05"], "@2024-01-02T15:04:05Z"),
        (["-date", "2024-01-02T15:04"], "@2024-01-02T15:04:00Z"),
        (["-array", "@\\U21a9", "a\\tb", "x\\", "C:\\"], #"["@\u{21A9}", "a\tb", "x\\", "C:\\"]"#),
        (["-dict", "Send", "@\\U21a9", "k\\n", "-string", "a\\n"], #"{Send: "@\u{21A9}", "k\\n": "a\\n"}"#),
        (["-data", ""], "<>"), (["-data", "1234ABCD"], "<1234abcd>"), (["-data", "<12 34\nab cd>"], "<1234abcd>"),
        (["-data", "base64:AP8="], "<00ff>"), (["-data", "base64:"], "<>"), (["-data", "@~/blob"], "<00ff>"),
        (["-data", "@/home/ada/blob"], "<00ff>"), (["-data", "@-"], "<69 6e>"),
        (["-array"], "[]"), (["-array", "one", "two", "three"], #"["one", "two", "three"]"#),
        (["-array", "-int", "1", "two", "-bool", "no"], #"[1, "two", false]"#),
        (["-array", "-string", "-array"], #"["-array"]"#), (["-array", "-add", "-toggle"], #"["-add", "-toggle"]"#),
        (["-array", "{ a = 1; }"], #"[{a: "1"}]"#),
        (["-array", "-json", "[1]"], "[[1]]"), (["-array", "-x"], #"["-x"]"#),
        (["-dict"], "{}"), (["-dict", "one", "1"], #"{one: "1"}"#),
        (["-dict", "one", "-int", "1", "two", "b"], #"{one: 1, two: "b"}"#),
        (["-dict", "-int", "-int", "1"], #"{"-int": 1}"#), (["-dict", "a", "1", "a", "2"], #"{a: "2"}"#),
        (["-json", "{\"a\": [1, 1.5, true]}"], "{a: [1, 1.5, true]}"), (["-json", "\"text\""], #""text""#),
        (["-json", "{\"$date\": \"2001-01-01T00:00:00Z\"}"], "@(0.0)"), (["-json", "{\"$data\": \"AP8=\"}"], "<00ff>"),
        (["-plist", "{ a = (1, 2); }"], #"{a: ["1", "2"]}"#), (["-plist", "{ a = <*I1>; }"], "{a: 1}"),
        (["-plist", "<plist><integer>1</integer></plist>"], "1"),
    ]

    static let bareValues: [(word: String, value: String)] = [
        ("42", #""42""#), ("", #""""#), ("two words", #""two words""#), ("-5", #""-5""#), ("-unknown", #""-unknown""#),
        ("--long", #""--long""#), ("/a/b", #""/a/b""#), ("a = b;", #""a = b;""#), ("é\n", #""\u{E9}\n""#),
        ("(one,two,three)", #"["one", "two", "three"]"#), ("{ one = 1; two = 2; }", #"{one: "1", two: "2"}"#),
        ("()", "[]"), ("{}", "{}"), ("\"quoted\"", #""quoted""#), ("<0fbd77>", "<0fbd77>"), ("<>", "<>"),
        ("<integer>5</integer>", "5"), ("<?xml version=\"1.0\"?><plist><true/></plist>", "true"),
        ("<array><string>a</string></array>", #"["a"]"#), (" { a = ( 1 ); } ", #"{a: ["1"]}"#),
    ]

    static let failures: [Refusal] = [
        Refusal(["-int", "abc"], .invalidValue, "-int abc: not a whole number from −2^63 to 2^64−1"),
        Refusal(["-int", ""], .invalidValue, "-int '': not a whole number from −2^63 to 2^64−1"),
        Refusal(["-int", "1.5"], .invalidValue, "-int 1.5: not a whole number from −2^63 to 2^64−1"),
        Refusal(
            ["-int", "18446744073709551616"], .invalidValue,
            "-int 18446744073709551616: not a whole number from −2^63 to 2^64−1"),
        Refusal(
            ["-int", "-9223372036854775809"], .invalidValue,
            "-int -9223372036854775809: not a whole number from −2^63 to 2^64−1"),
        Refusal(["-int", "--1"], .invalidValue, "-int --1: not a whole number from −2^63 to 2^64−1"),
        Refusal(["-int", "-+1"], .invalidValue, "-int -+1: not a whole number from −2^63 to 2^64−1"),
        Refusal(["-int", "0x"], .invalidValue, "-int 0x: not a whole number from −2^63 to 2^64−1"),
        Refusal(["-integer", " 1"], .invalidValue, "-integer ' 1': not a whole number from −2^63 to 2^64−1"),
        Refusal(["-float", "abc"], .invalidValue, "-float abc: not a number that a double can hold"),
        Refusal(["-float", "1e999"], .invalidValue, "-float 1e999: not a number that a double can hold"),
        Refusal(["-float", "nan(1)"], .invalidValue, "-float 'nan(1)': not a number that a double can hold"),
        Refusal(["-bool", "maybe"], .invalidValue, "-bool maybe: not true, false, yes, no, on, off, 1 or 0"),
        Refusal(["-bool", "2"], .invalidValue, "-bool 2: not true, false, yes, no, on, off, 1 or 0"),
        Refusal(
            ["-date", "yesterday"], .invalidValue,
            "-date yesterday: not a date; write 2001-02-03T04:05:06Z, 2001-02-03 04:05:06 +0000, 2001-02-03 or now"),
        Refusal(
            ["-date", "2023-02-29T00:00:00Z"], .invalidValue,
            "-date 2023-02-29T00:00:00Z: not a date; write 2001-02-03T04:05:06Z, 2001-02-03 04:05:06 +0000, 2001-02-03 or now"
        ),
        Refusal(["-data", "123"], .invalidValue, "-data 123: an odd number of hexadecimal digits"),
        Refusal(["-data", "<12 3>"], .invalidValue, "-data '<12 3>': an odd number of hexadecimal digits"),
        Refusal(["-data", "<12"], .invalidValue, "-data '<12': not hexadecimal digits, @FILE or base64:TEXT"),
        Refusal(["-data", "xy"], .invalidValue, "-data xy: not hexadecimal digits, @FILE or base64:TEXT"),
        Refusal(["-data", "base64:A"], .invalidValue, "-data base64:A: not hexadecimal digits, @FILE or base64:TEXT"),
        Refusal(["-data", "@/nowhere"], .notFound, "/nowhere: no such file"),
        Refusal(["-data", "@/etc"], .systemFailed, "cannot read /etc: Is a directory"),
        Refusal(["{ a"], .invalidValue, "Could not parse: { a.  Try single-quoting it."),
        Refusal(
            [String(repeating: "(", count: 1000)], .invalidValue,
            "Could not parse: \(String(repeating: "(", count: 200))….  Try single-quoting it."),
        Refusal(["-foo", "3"], .usage, "unknown type -foo"), Refusal(["-add", "3"], .usage, "unknown type -add"),
        Refusal(["-bol", "1"], .usage, "unknown type -bol; did you mean -bool?"),
        Refusal(["foo (bar)"], .invalidValue, "Could not parse: foo (bar).  Try single-quoting it."),
        Refusal(["-array", "a", "b)"], .invalidValue, "Could not parse: b).  Try single-quoting it."),
        Refusal(["-dict", "one", "1", "two"], .invalidValue, "Key two lacks a corresponding value"),
        Refusal(["-dict", "one"], .invalidValue, "Key one lacks a corresponding value"),
        Refusal(["-dict-add", "one"], .invalidValue, "Key one lacks a corresponding value"),
        Refusal(["-dict", "one", "-int"], .usage, "-int requires N"),
        Refusal(["-array", "-bool"], .usage, "-bool requires B"),
        Refusal(
            ["-array", "-array", "a"], .invalidValue,
            "Cannot nest composite types (arrays and dictionaries); leaving defaults unchanged."),
        Refusal(
            ["-dict", "a", "-dict-add"], .invalidValue,
            "Cannot nest composite types (arrays and dictionaries); leaving defaults unchanged."),
        Refusal([], .usage, "missing value; leaving defaults unchanged."),
        Refusal(["-int"], .usage, "-int requires N"),
        Refusal(["-string"], .usage, "-string requires TEXT"),
        Refusal(["-int", "1", "2"], .usage, "Unexpected argument 2; leaving defaults unchanged."),
        Refusal(["a", "b"], .usage, "Unexpected argument b; leaving defaults unchanged."),
        Refusal(["-json", "1", "x y"], .usage, "Unexpected argument 'x y'; leaving defaults unchanged."),
        Refusal(["-intt", "1"], .usage, "unknown type -intt; did you mean -int?"),
        Refusal(["-arry", "1", "2"], .usage, "unknown type -arry; did you mean -array?"),
        Refusal(["-whatever", "1"], .usage, "unknown type -whatever"),
        Refusal(["-json", "{\"a\": }"], .invalidValue, "-json: 1:7: expected a value (at :a)"),
        Refusal(
            ["-json", "[98765432109876543210]"], .invalidValue,
            "-json: 1:2: integer out of range: “98765432109876543210” (at :0)"),
        Refusal(["-json", ""], .invalidValue, "-json: 1:1: the input is empty"),
        Refusal(["-plist", "{ a = 1 }"], .invalidValue, "-plist: 1:8: expected ; after the value (at :a)"),
    ]

    @Test(arguments: values)
    func `words after a type make a value`(_ row: (words: [String], value: String)) throws {
        let request = try ValueArguments.request(row.words, in: sampleContext(input: "in"))
        #expect(request == .value(try ValueNotation.value(row.value)))
    }

    /// The default format of `export` has no fractions of a second.
    @Test func `now is the time of the clock in whole seconds`() throws {
        let context = try sampleContext()
        try #require(context.clock as? SimulatedClock).advance(by: .milliseconds(2700))
        let request = try ValueArguments.request(["-date", "now"], in: context)
        #expect(try request == .value(ValueNotation.value("@2026-01-01T00:00:02Z")))
    }

    @Test(arguments: bareValues)
    func `a bare word is a string, or the text of a property list`(_ row: (word: String, value: String)) throws {
        let request = try ValueArguments.request([row.word], in: sampleContext())
        #expect(request == .bare(row.word))
        #expect(try request.value(replacing: nil, key: "k") == ValueNotation.value(row.value))
    }

    @Test(arguments: failures)
    func `an invalid value is rejected with a reason`(_ row: Refusal) throws {
        let context = try sampleContext()
        let failure = #expect(throws: ValueFailure.self) {
            try ValueArguments.request(row.words, in: context).value(replacing: nil, key: "k")
        }
        #expect(failure?.classicLines == [row.line])
        #expect(failure?.status == row.status)
    }

    @Test(
        arguments: [
            (["-array-add", "a"], nil, "[\"a\"]"), (["-array-add", "a", "-int", "1"], "[true]", "[true, \"a\", 1]"),
            (["-array-add"], "[1]", "[1]"), (["-dict-add", "a", "1"], nil, "{a: \"1\"}"),
            (["-dict-add", "a", "1", "b", "2"], "{a: true, c: 3}", "{a: \"1\", c: 3, b: \"2\"}"),
            (["-array", "a"], "[1]", "[\"a\"]"), (["-int", "1"], "\"text\"", "1"),
        ] as [([String], String?, String)])
    func `elements and entries are added to the existing value`(
        _ words: [String], _ old: String?, _ expected: String
    ) throws {
        let request = try ValueArguments.request(words, in: sampleContext())
        let value = try request.value(replacing: old.map(ValueNotation.value), key: "k")
        #expect(value == (try ValueNotation.value(expected)))
    }

    @Test(arguments: [
        (
            ["-array-add", "a"], "\"text\"",
            "Value for key s is not an array; cannot append.  Leaving defaults unchanged."
        ),
        (["-array-add", "a"], "{}", "Value for key s is not an array; cannot append.  Leaving defaults unchanged."),
        (
            ["-dict-add", "a", "b"], "[]",
            "Value for key s is not a dictionary; cannot append.  Leaving defaults unchanged."
        ),
    ])
    func `nothing is added to a value of another type`(_ words: [String], _ old: String, _ line: String) throws {
        let request = try ValueArguments.request(words, in: sampleContext())
        let stored = try ValueNotation.value(old)
        let failure = #expect(throws: ValueFailure.self) { try request.value(replacing: stored, key: "s") }
        #expect(failure?.classicLines == [line])
        #expect(failure?.status == .invalidValue)
    }

    @Test func `only a dictionary replaces a domain`() throws {
        #expect(try PropertyList.Dictionary(replacement: "{ root = 1; }") == ["root": "1"])
        for text in ["text", "(a)", "<00>"] {
            let failure = #expect(throws: ValueFailure.self) { try PropertyList.Dictionary(replacement: text) }
            #expect(failure?.classicLines == ["Rep argument is not a dictionary", "Defaults have not been changed."])
            #expect(failure?.status == .notFound)
        }
        let failure = #expect(throws: ValueFailure.self) { try PropertyList.Dictionary(replacement: "{ a") }
        #expect(failure?.status == .invalidValue)
    }

    @Test(
        arguments: [
            ("14", "14", "k: was integer, is now string"), ("14", "\"x\"", nil), ("14", nil, nil),
            ("(1)", "\"x\"", "k: was string, is now array"),
        ] as [(String, String?, String?)])
    func `a bare word that changes the type prints a note`(
        _ word: String, _ old: String?, _ remark: String?
    ) throws {
        let old = try old.map(ValueNotation.value)
        let request = WriteRequest.bare(word)
        #expect(request.notice(replacing: old, with: try request.value(replacing: old, key: "k"), key: "k") == remark)
        #expect(WriteRequest.value("14").notice(replacing: 14, with: "14", key: "k") == nil)
    }

    @Test func `a reason is one line, whatever the word`() {
        let failure = ValueFailure(.malformed(.int, "a\n\u{1B}[2J" + String(repeating: "x", count: 1000)))
        #expect(failure.lines.count == 1)
        #expect(failure.lines[0].utf8.allSatisfy { $0 >= 0x20 })
        #expect(failure.lines[0].count < 300)
    }
}
