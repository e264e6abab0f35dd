import Foundation
import PropertyLists
import SettingsSchema
import TestSupport
import Testing

/// A command line and its expected result.
struct ArgumentRow: Sendable, CustomTestStringConvertible {
    let schema: Schemas
    let line: String
    let expected: String
    var variables: [String: String] = [:]
    var stored: PropertyList.Dictionary = [:]

    /// The schemas of the rows.
    enum Schemas: String, Sendable {
        /// Values of every type, with flags.
        case flags
        case operands, list, middle, rest, commands, relations, secret
    }

    init(
        _ schema: Schemas, _ line: String, _ expected: String, _ variables: [String: String] = [:],
        stored: PropertyList.Dictionary = [:]
    ) {
        (self.schema, self.line, self.expected) = (schema, line, expected)
        (self.variables, self.stored) = (variables, stored)
    }

    var testDescription: String { "\(schema.rawValue): \(line)" }

    /// The arguments: spaces separate them, `''` is an empty one and `␣` a space.
    var arguments: [String] {
        line.split(separator: " ").map { $0 == "''" ? "" : String($0).replacing("␣", with: " ") }
    }
}

extension ArgumentRow.Schemas {
    var text: String {
        switch self {
        case .flags:
            """
            { Key = keep; Type = integer; Default = 7; Minimum = 1; Maximum = 365; Flag = keep; Short = k; Environment = BACKUP_KEEP; },
            { Key = target; Flag = (target, destination); Short = t; Kind = folder; Environment = (BACKUP_TARGET, TARGET); },
            { Key = mode; Choices = (full, incremental); Default = full; Flag = mode; },
            { Key = color; Type = boolean; Flag = color; Short = c; Negatable = YES; Environment = COLOR; },
            { Key = dry; Type = boolean; Flag = dry-run; Short = n; },
            { Key = verbose; Type = integer; Maximum = 3; Flag = verbose; Short = v; Repeats = YES; },
            { Key = ratio; Type = real; Flag = ratio; Short = r; },
            { Key = every; Type = integer; Kind = duration; Maximum = 3600; Flag = every; },
            { Key = limit; Type = integer; Kind = size; Flag = limit; },
            { Key = since; Type = date; Flag = since; }, { Key = blob; Type = data; Flag = blob; },
            { Key = exclude; Type = array; Elements = { Type = string; Pattern = "[a-z*.]+"; }; MaximumCount = 3; Repeats = YES; Flag = exclude; Short = x; },
            { Key = ports; Type = array; Elements = { Type = integer; Minimum = 1; }; Flag = ports; Environment = PORTS; },
            { Key = server; Type = dictionary; Entries = ({ Key = host; }, { Key = port; Type = integer; Maximum = 9; }); Flag = server; Default = { host = a; }; },
            { Key = grid; Type = array; Elements = { Type = array; Elements = { Type = integer; }; }; Repeats = YES; Flag = grid; },
            { Key = free; Type = dictionary; }, { Key = hidden; Type = integer; RenamedFrom = secretive; },
            { Key = old; Flag = old; Deprecated = "use --new"; }, { Key = two; Flag = two; Short = 2; }
            """
        case .operands:
            """
            { Key = source; Required = YES; Positional = 1; Flag = source; }, { Key = count; Type = integer; Positional = 2; },
            { Key = force; Type = boolean; Flag = force; Short = f; }
            """
        case .list:
            "{ Key = files; Type = array; Positional = 1; MinimumCount = 1; Required = YES; }, { Key = last; Required = YES; Positional = 2; }"
        case .middle:
            """
            { Key = first; Required = YES; Positional = 1; }, { Key = numbers; Type = array; Elements = { Type = integer; }; Positional = 2; MaximumCount = 2; },
            { Key = end; Positional = 3; }, { Key = quiet; Type = boolean; Short = q; }
            """
        case .rest:
            """
            { Key = host; Required = YES; Positional = 1; }, { Key = line; Type = array; Rest = YES; },
            { Key = quiet; Type = boolean; Flag = quiet; Short = q; }
            """
        case .commands: "{ Key = verbose; Type = boolean; Flag = verbose; Short = v; }"
        case .relations:
            """
            { Key = a; Type = boolean; Flag = a-flag; Conflicts = b; }, { Key = b; Type = boolean; Flag = b-flag; },
            { Key = c; Flag = c-flag; Requires = d; }, { Key = d; Flag = d-flag; },
            { Key = x; Type = boolean; Flag = x-flag; ExactlyOneOf = (y); Environment = X; }, { Key = y; Type = boolean; Flag = y-flag; },
            { Key = need; Required = YES; Flag = need; Environment = NEED; }, { Key = z; Flag = z; }
            """
        case .secret:
            "{ Key = token; Sensitive = YES; Flag = token; Environment = TOKEN; Pattern = \"[a-z]+\"; }, { Key = other; Sensitive = YES; }"
        }
    }

    var rest: String {
        guard self == .commands else { return "" }
        return """
            Commands = (
                { Name = restore; Settings = ({ Key = from; Required = YES; Positional = 1; }, { Key = force; Type = boolean; Flag = force; Short = f; }); },
                { Name = list; Settings = ({ Key = long; Type = boolean; Short = l; }, { Key = depth; Type = integer; Flag = depth; }); });
            """
    }
}

@Suite struct `A command line` {
    @Test(arguments: flagRows + valueRows + mistakeRows + operandRows + commandRows + otherRows)
    func `is parsed as its row states`(_ row: ArgumentRow) throws {
        let schema = try Sample.settings(row.schema.text, rest: row.schema.rest)
        let context = Schema.Arguments.Context(
            variables: row.variables, stored: row.stored, now: Date(timeIntervalSinceReferenceDate: 0))
        #expect(Self.notation(schema.arguments(row.arguments, in: context)) == row.expected)
    }

    /// The outcome as one line.
    static func notation(_ outcome: Schema.Arguments.Outcome) -> String {
        switch outcome {
        case .help(let request):
            "help" + (request.command.map { " \($0)" } ?? "") + (request.showsValues ? " with values" : "")
        case .version: "version"
        case .storing(let arguments): "storing " + notation(.values(arguments))
        case .mistakes(let mistakes): mistakes.map(\.description).joined(separator: " / ")
        case .values(let arguments):
            [
                arguments.command, arguments.values.isEmpty ? nil : PropertyList.dictionary(arguments.values).plainText,
                arguments.environment.isEmpty
                    ? nil : "variables \(PropertyList.dictionary(arguments.environment).plainText)",
                arguments.operands.isEmpty ? nil : "operands \(arguments.operands)", arguments.saves ? "save" : nil,
                arguments.secrets.isEmpty ? nil : arguments.secrets.map { "\($0.key) from \($0.source)" }.joined(),
                arguments.notes.isEmpty ? nil : arguments.notes.map(\.description).joined(),
            ].compactMap(\.self).joined(separator: " ")
        }
    }

    @Test func `has more than one hundred and fifty rows`() {
        #expect((flagRows + valueRows + mistakeRows + operandRows + commandRows + otherRows).count >= 150)
    }

    @Test func `of any kind is parsed or rejected, and never traps`() throws {
        var generator = SeededGenerator(stream: "arguments")
        let pieces = [
            "-", "--", "=", "keep", "k", "-k", "--keep", "--set", ":a:b", ":", "3", "-3", "no-", "color", "''", "é",
            "\0", "\n",
            "--exclude", "x", "restore", "(", "{a", "--help", "-vvv", "--token", "--token-fd", "99999999999999999999",
            "$(x)",
        ]
        for name in [ArgumentRow.Schemas.flags, .operands, .list, .middle, .rest, .commands, .relations, .secret] {
            let schema = try Sample.settings(name.text, rest: name.rest)
            for _ in 0..<200 {
                let line = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                    (0..<Int.random(in: 1...3, using: &generator)).compactMap { _ in
                        pieces.randomElement(using: &generator)
                    }.joined()
                }
                if case .mistakes(let mistakes) = schema.arguments(line) {
                    #expect(!mistakes.isEmpty, "\(Seed.ofThisRun) \(line)")
                    #expect(mistakes.allSatisfy { !$0.description.contains("\n") }, "\(Seed.ofThisRun) \(line)")
                }
            }
        }
    }

    @Test(arguments: [
        ("abc\n", "abc"), ("abc", "abc"), ("abc\r\n", "abc"), ("ABC", "--token-file ••••: must match [a-z]+"),
    ])
    func `does not read a secret itself`(_ text: String, _ expected: String) throws {
        let schema = try Sample.settings(ArgumentRow.Schemas.secret.text)
        guard case .values(let arguments) = schema.arguments(["--token-file", "f"]) else {
            Issue.record("the arguments were refused")
            return
        }
        let request = try #require(arguments.secrets.first)
        let result = Result { () throws(Schema.Arguments.Mistake) in try schema.secret(text, for: request) }
        switch result {
        case .success(let value): #expect(value.stringValue == expected)
        case .failure(let mistake): #expect(mistake.description == expected)
        }
    }
}

private let flagRows: [ArgumentRow] = [
    .init(.flags, "", ""), .init(.flags, "--keep 3", "{\"keep\":3}"), .init(.flags, "--keep=3", "{\"keep\":3}"),
    .init(.flags, "-k 3", "{\"keep\":3}"), .init(.flags, "-k3", "{\"keep\":3}"), .init(.flags, "-k=3", "{\"keep\":3}"),
    .init(.flags, "-keep 3", "{\"keep\":3}"), .init(.flags, "-keep=3", "{\"keep\":3}"),
    .init(.flags, "--keep 3 --keep 4", "{\"keep\":4}"), .init(.flags, "--keep 400 --keep 4", "{\"keep\":4}"),
    .init(.flags, "--target /x", "{\"target\":\"/x\"}"), .init(.flags, "--destination /x", "{\"target\":\"/x\"}"),
    .init(.flags, "-t/x", "{\"target\":\"/x\"}"), .init(.flags, "--target=", "--target \"\": must be a folder"),
    .init(.flags, "--target=a=b", "{\"target\":\"a=b\"}"), .init(.flags, "--target -", "{\"target\":\"-\"}"),
    .init(.flags, "--target=-x", "{\"target\":\"-x\"}"), .init(.flags, "-t-x", "{\"target\":\"-x\"}"),
    .init(.flags, "--color", "{\"color\":true}"), .init(.flags, "--no-color", "{\"color\":false}"),
    .init(.flags, "--color=false", "{\"color\":false}"), .init(.flags, "--color=YES", "{\"color\":true}"),
    .init(.flags, "--color=maybe", "--color maybe: must be true or false"),
    .init(.flags, "--no-color=yes", "--no-color takes no value"), .init(.flags, "-c", "{\"color\":true}"),
    .init(.flags, "-c=no", "{\"color\":false}"), .init(.flags, "--color no", "{\"color\":true} operands [\"no\"]"),
    .init(.flags, "-color", "{\"color\":true}"), .init(.flags, "-no-color", "{\"color\":false}"),
    .init(.flags, "--color --no-color", "{\"color\":false}"),
    .init(.flags, "-cn", "{\"color\":true,\"dry\":true}"),
    .init(.flags, "-cnk3", "{\"color\":true,\"dry\":true,\"keep\":3}"),
    .init(.flags, "-cnk 3", "{\"color\":true,\"dry\":true,\"keep\":3}"),
    .init(.flags, "-nc=no", "{\"color\":false,\"dry\":true}"),
    .init(.flags, "-v", "{\"verbose\":1}"), .init(.flags, "-vvv", "{\"verbose\":3}"),
    .init(.flags, "-v -cv", "{\"color\":true,\"verbose\":2}"),
    .init(.flags, "--verbose --verbose", "{\"verbose\":2}"), .init(.flags, "--verbose=2", "{\"verbose\":2}"),
    .init(.flags, "--verbose=1 -v", "{\"verbose\":2}"),
    .init(.flags, "--verbose 2", "{\"verbose\":1} operands [\"2\"]"),
    .init(.flags, "-vvvv", "-v 4: must be at most 3"),
    .init(.flags, "-2 x", "{\"two\":\"x\"}"), .init(.flags, "-2x", "{\"two\":\"x\"}"),
    .init(.flags, "--old x", "{\"old\":\"x\"} --old is deprecated: use --new"),
    .init(.flags, "--target=\u{301}x", "{\"target\":\"\u{301}x\"}"),
    .init(.flags, "-t\u{301}", "{\"target\":\"\u{301}\"}"),
    .init(.flags, "--set target=\u{301}", "{\"target\":\"\u{301}\"}"),
    .init(.flags, "--\u{301}", "unknown flag --\u{301}"),
    .init(.flags, "-info", "unknown flag -info"), .init(.flags, "-Infinity", "operands [\"-Infinity\"]"),
    .init(.flags, "--save --keep 3", "storing {\"keep\":3} save"),
    .init(.flags, "--save", "--save: there is no flag to save"),
    .init(.flags, "--save=yes", "--save takes no value"),
    .init(.flags, "--help", "help"), .init(.flags, "-h", "help"), .init(.flags, "-help", "help"),
    .init(.flags, "--help-values", "help with values"),
    .init(.flags, "--keep x --help", "help"), .init(.flags, "--version", "version"),
    .init(.flags, "--bogus --version", "version"),
    .init(.flags, "-- --help", "operands [\"--help\"]"), .init(.flags, "--help=x", "--help takes no value"),
]

private let valueRows: [ArgumentRow] = [
    .init(.flags, "--ratio 0.5", "{\"ratio\":0.5}"), .init(.flags, "--ratio -0.5", "{\"ratio\":-0.5}"),
    .init(.flags, "-r -.5", "{\"ratio\":-0.5}"), .init(.flags, "-r-5", "{\"ratio\":-5.0}"),
    .init(.flags, "--ratio -inf", "{\"ratio\":{\"$real\":\"-infinity\"}}"),
    .init(.flags, "--ratio 3", "{\"ratio\":3.0}"),
    .init(.flags, "--keep -5", "--keep -5: must be from 1 to 365"), .init(.flags, "--every 5m", "{\"every\":300}"),
    .init(.flags, "--every 2h", "--every 2h: must be at most 1h"), .init(.flags, "--limit 4K", "{\"limit\":4096}"),
    .init(.flags, "--limit -1", "--limit -1: must be at least 0"),
    .init(.flags, "--every -5m", "--every -5m: must be at least 0s"),
    .init(.flags, "--limit many", "--limit many: must be a size such as 512, 4K or 10MB"),
    .init(.flags, "--since 2026-01-31T12:00:00Z", "{\"since\":{\"$date\":\"2026-01-31T12:00:00Z\"}}"),
    .init(.flags, "--since 2026-01-31␣12:00:00␣+0100", "{\"since\":{\"$date\":\"2026-01-31T11:00:00Z\"}}"),
    .init(.flags, "--since now", "{\"since\":{\"$date\":\"2001-01-01T00:00:00Z\"}}"),
    .init(.flags, "--since today", "--since today: must be a date such as 2026-01-31T12:00:00Z"),
    .init(.flags, "--blob 01ff", "{\"blob\":{\"$data\":\"Af8=\"}}"),
    .init(.flags, "--blob base64:Af8=", "{\"blob\":{\"$data\":\"Af8=\"}}"),
    .init(.flags, "--blob 1", "--blob 1: must be data: hexadecimal digits, or base64:…"),
    .init(.flags, "--grid (1,2) --grid (3)", "{\"grid\":[[1,2],[3]]}"),
    .init(.flags, "-x a -x b", "{\"exclude\":[\"a\",\"b\"]}"),
    .init(.flags, "--exclude a -xb --exclude=c", "{\"exclude\":[\"a\",\"b\",\"c\"]}"),
    .init(.flags, "-x a -x B", "-x B: must match [a-z*.]+"),
    .init(.flags, "-x a -x b -x c -x d", "-x must have at most 3 elements"),
    .init(.flags, "-x (a,b)", "-x (a,b): must match [a-z*.]+"), .init(.flags, "-x", "-x requires a value: a string"),
    .init(.flags, "--ports (1,2)", "{\"ports\":[1,2]}"), .init(.flags, "--ports [1,2]", "{\"ports\":[1,2]}"),
    .init(.flags, "--ports 80", "{\"ports\":[80]}"), .init(.flags, "--ports -1", "--ports -1: must be at least 1"),
    .init(.flags, "--ports (1,x)", "--ports x: must be an integer"),
    .init(.flags, "--ports (1", "--ports (1: must be an array such as (a, b)"),
    .init(.flags, "--ports=", "{\"ports\":[]}"), .init(.flags, "--ports 1 --ports 2", "{\"ports\":[2]}"),
    .init(.flags, "--server {host␣=␣b;}", "{\"server\":{\"host\":\"b\"}}"),
    .init(.flags, "--server b", "--server b: must be a dictionary such as {a = b;}"),
    .init(.flags, "--server {port␣=␣10;}", "--server 10: must be at most 9"),
    .init(.flags, "--mode full", "{\"mode\":\"full\"}"),
    .init(.flags, "--mode ''", "--mode \"\": must be full or incremental"),
    .init(.flags, "--mode ful", "--mode ful: must be full or incremental; did you mean full?"),
    .init(.flags, "--set :keep=3", "{\"keep\":3}"), .init(.flags, "--set=:keep=3", "{\"keep\":3}"),
    .init(.flags, "--set keep=3", "{\"keep\":3}"),
    .init(.flags, "--set :server:port=5", "{\"server\":{\"host\":\"a\",\"port\":5}}"),
    .init(.flags, "--set :server:port=5 --set :server:host=b", "{\"server\":{\"host\":\"b\",\"port\":5}}"),
    .init(.flags, "--set :server:port=50", "--set :server:port 50: must be at most 9"),
    .init(.flags, "--set :server:port=x", "--set :server:port x: must be an integer"),
    .init(
        .flags, "--set :server:host=b", "{\"server\":{\"host\":\"b\",\"port\":1}}",
        stored: ["server": ["host": "z", "port": 1]]),
    .init(.flags, "--set :ports:=5", "{\"ports\":[5]}"),
    .init(.flags, "--set :ports:=6", "{\"ports\":[1,6]}", ["PORTS": "1"]),
    .init(
        .flags, "--set :ports:0=6",
        "--set :ports:0: there is no array yet; an empty last component (:ports:) begins one"),
    .init(.flags, "--set :server:=6", "--set :server:: a dictionary has no end, as an array has"),
    .init(.flags, "--set :keep:a=6", "--set :keep:a: leads into a value of type integer"),
    .init(.flags, "--set :free:a:b=c", "{\"free\":{\"a\":{\"b\":\"c\"}}}"),
    .init(.flags, "--set :free:a=(1,2)", "{\"free\":{\"a\":[\"1\",\"2\"]}}"),
    .init(.flags, "--set :free:a=<b", "{\"free\":{\"a\":\"<b\"}}"), .init(.flags, "--set :hidden=1", "{\"hidden\":1}"),
    .init(.flags, "--set :secretive=1", "{\"hidden\":1}"),
    .init(.flags, "--set :keep=a=b", "--set :keep a=b: must be an integer"),
    .init(.flags, "--set :kep=3", "--set :kep: unknown key; did you mean keep?"),
    .init(.flags, "--set :keep", "--set :keep: must be :KEY=VALUE"),
    .init(.flags, "--set =3", "--set =3: must be :KEY=VALUE"),
    .init(.flags, "--set", "--set requires a value: :KEY=VALUE"),
    .init(.flags, "--set :a\\b=1", "--set :a\\b: \\b is not an escape; only \\:, \\\\ and \\* are"),
]

private let mistakeRows: [ArgumentRow] = [
    .init(.flags, "--kep 3", "unknown flag --kep; did you mean --keep?"),
    .init(.flags, "--kep=3", "unknown flag --kep; did you mean --keep?"),
    .init(.flags, "--KEEP 3", "unknown flag --KEEP; did you mean --keep?"),
    .init(.flags, "--colour", "unknown flag --colour; did you mean --color?"),
    .init(.flags, "--xyzzy", "unknown flag --xyzzy"), .init(.flags, "-z", "unknown flag -z"),
    .init(.flags, "-cz", "unknown flag -z"),
    .init(.flags, "-kep 3", "-k ep: must be an integer"), .init(.flags, "-keeep 3", "-k eeep: must be an integer"),
    .init(.flags, "-zeep 3", "unknown flag -zeep; did you mean --keep?"),
    .init(.flags, "--no-keep", "unknown flag --no-keep"),
    .init(.flags, "--no-dry-run", "unknown flag --no-dry-run; did you mean --dry-run?"),
    .init(.flags, "--keep", "--keep requires a value: an integer"),
    .init(.flags, "-k", "-k requires a value: an integer"),
    .init(.flags, "--keep --color", "--keep requires a value: an integer (write --keep=--color if that is the value)"),
    .init(.flags, "--keep -- 3", "--keep requires a value: an integer"),
    .init(.flags, "--target -x a", "--target requires a value: a string (write --target=-x if that is the value)"),
    .init(.flags, "--target -5", "--target requires a value: a string (write --target=-5 if that is the value)"),
    .init(.flags, "--keep abc", "--keep abc: must be an integer"),
    .init(.flags, "--keep 400", "--keep 400: must be from 1 to 365"),
    .init(.flags, "--keep=", "--keep \"\": must be an integer"), .init(.flags, "-k 0x10", "{\"keep\":16}"),
    .init(
        .flags, "--keep 9 --kep 1 --mode x --ratio r",
        "unknown flag --kep; did you mean --keep? / --ratio r: must be a number / --mode x: must be full or incremental"
    ),
    .init(.flags, "--keep a\u{1B}[2J", "--keep a\\u{1B}[2J: must be an integer"),
    .init(.flags, "-é", "unknown flag -é"),
    .init(.flags, "--keep a\u{202E}b", "--keep a\\u{202E}b: must be an integer"),
]

private let operandRows: [ArgumentRow] = [
    .init(.flags, "a b", "operands [\"a\", \"b\"]"),
    .init(.flags, "a --keep 3 b", "{\"keep\":3} operands [\"a\", \"b\"]"),
    .init(.flags, "- --keep 3", "{\"keep\":3} operands [\"-\"]"), .init(.flags, "-- -k 3", "operands [\"-k\", \"3\"]"),
    .init(.flags, "a -- -- b", "operands [\"a\", \"--\", \"b\"]"), .init(.flags, "''", "operands [\"\"]"),
    .init(.flags, "-7", "operands [\"-7\"]"), .init(.flags, "-.5", "operands [\"-.5\"]"),
    .init(.flags, "-27", "{\"two\":\"7\"}"),
    .init(.operands, "a", "{\"source\":\"a\"}"), .init(.operands, "a 3", "{\"count\":3,\"source\":\"a\"}"),
    .init(.operands, "a -3", "{\"count\":-3,\"source\":\"a\"}"),
    .init(.operands, "-3", "unknown flag -3 / SOURCE is required"),
    .init(.operands, "a -f 3", "{\"count\":3,\"force\":true,\"source\":\"a\"}"),
    .init(.operands, "-- -a", "{\"source\":\"-a\"}"),
    .init(.operands, "a x", "COUNT x: must be an integer"),
    .init(.operands, "a 3 b c", "unexpected operand b / unexpected operand c"),
    .init(.operands, "", "SOURCE is required"), .init(.operands, "", "", stored: ["source": "s"]),
    .init(.operands, "--source a 3", "{\"count\":3,\"source\":\"a\"}"),
    .init(.operands, "3 --source a", "{\"count\":3,\"source\":\"a\"}"),
    .init(.operands, "--source a 3 4", "unexpected operand 4"),
    .init(.operands, "-x", "unknown flag -x / SOURCE is required"),
    .init(.list, "a b", "{\"files\":[\"a\"],\"last\":\"b\"}"),
    .init(.list, "a b c d", "{\"files\":[\"a\",\"b\",\"c\"],\"last\":\"d\"}"),
    .init(.list, "a", "LAST is required"), .init(.list, "", "FILES is required / LAST is required"),
    .init(.middle, "a", "{\"first\":\"a\"}"), .init(.middle, "a 1", "{\"end\":\"1\",\"first\":\"a\"}"),
    .init(.middle, "a 1 z", "{\"end\":\"z\",\"first\":\"a\",\"numbers\":[1]}"),
    .init(.middle, "a 1 -2 z", "{\"end\":\"z\",\"first\":\"a\",\"numbers\":[1,-2]}"),
    .init(.middle, "a 1 x y", "NUMBERS x: must be an integer"), .init(.middle, "a 1 2 z y", "unexpected operand y"),
    .init(.middle, "a 1 2 3 -q y", "unexpected operand y"),
    .init(.rest, "h", "{\"host\":\"h\"}"),
    .init(.rest, "h ls -l", "{\"host\":\"h\",\"line\":[\"ls\",\"-l\"]} operands [\"ls\", \"-l\"]"),
    .init(.rest, "-q h ls -q", "{\"host\":\"h\",\"line\":[\"ls\",\"-q\"],\"quiet\":true} operands [\"ls\", \"-q\"]"),
    .init(
        .rest, "h -q ls -- -q",
        "{\"host\":\"h\",\"line\":[\"ls\",\"--\",\"-q\"],\"quiet\":true} operands [\"ls\", \"--\", \"-q\"]"),
    .init(.rest, "h ls --help", "{\"host\":\"h\",\"line\":[\"ls\",\"--help\"]} operands [\"ls\", \"--help\"]"),
    .init(.rest, "h -- --help", "{\"host\":\"h\",\"line\":[\"--help\"]} operands [\"--help\"]"),
    .init(.rest, "--quite h ls", "unknown flag --quite; did you mean --quiet?"),
]

private let commandRows: [ArgumentRow] = [
    .init(.commands, "restore x", "restore {\"from\":\"x\"}"),
    .init(.commands, "restore x -f", "restore {\"force\":true,\"from\":\"x\"}"),
    .init(.commands, "-v restore x", "restore {\"from\":\"x\",\"verbose\":true}"),
    .init(.commands, "restore -v x", "restore {\"from\":\"x\",\"verbose\":true}"),
    .init(.commands, "restore", "FROM is required"), .init(.commands, "", "missing command: restore or list"),
    .init(.commands, "-v", "missing command: restore or list"),
    .init(.commands, "restor x", "unknown command restor; did you mean restore?"),
    .init(.commands, "restor --force", "unknown command restor; did you mean restore?"),
    .init(.commands, "-f restore x", "-f must follow restore"),
    .init(.commands, "--force restore x", "--force must follow restore"),
    .init(.commands, "--depth 3 list", "--depth must follow list"),
    .init(.commands, "--f restore x", "unknown flag --f"), .init(.commands, "--l list", "unknown flag --l"),
    .init(.commands, "list -l", "list {\"long\":true}"), .init(.commands, "list -f", "unknown flag -f"),
    .init(.commands, "list x", "list operands [\"x\"]"),
    .init(.commands, "-- restore x", "restore {\"from\":\"x\"}"), .init(.commands, "--help", "help"),
    .init(.commands, "restore --help", "help restore"),
    .init(.commands, "--help restore", "help restore"), .init(.commands, "restore list", "restore {\"from\":\"list\"}"),
    .init(.commands, "list --set :long=yes", "list {\"long\":true}"),
    .init(.commands, "list --set :from=x", "--set :from: unknown key"),
]

private let otherRows: [ArgumentRow] = [
    .init(.flags, "", "variables {\"keep\":9}", ["BACKUP_KEEP": "9"]),
    .init(.flags, "--keep 3", "{\"keep\":3}", ["BACKUP_KEEP": "9"]),
    .init(.flags, "--keep 3", "{\"keep\":3}", ["BACKUP_KEEP": "many"]),
    .init(.flags, "", "BACKUP_KEEP many: must be an integer", ["BACKUP_KEEP": "many"]),
    .init(.flags, "", "BACKUP_KEEP 400: must be from 1 to 365", ["BACKUP_KEEP": "400"]),
    .init(.flags, "", "", ["BACKUP_KEEP": ""]),
    .init(.flags, "", "variables {\"target\":\"/a\"}", ["BACKUP_TARGET": "/a", "TARGET": "/b"]),
    .init(.flags, "", "variables {\"target\":\"/b\"}", ["TARGET": "/b"]),
    .init(.flags, "", "", ["BACKUP_TARGET": ""]),
    .init(.flags, "", "variables {\"target\":\"/b\"}", ["BACKUP_TARGET": "", "TARGET": "/b"]),
    .init(.flags, "", "variables {\"ports\":[1,2]}", ["PORTS": "(1,2)"]),
    .init(
        .flags, "--mode x", "BACKUP_KEEP x: must be an integer / --mode x: must be full or incremental",
        ["BACKUP_KEEP": "x"]),
    .init(.flags, "", "variables {\"color\":false}", ["COLOR": "off"]),
    .init(.relations, "--x-flag --need n", "{\"need\":\"n\",\"x\":true}"),
    .init(.relations, "--x-flag", "--need is required"),
    .init(.relations, "--x-flag --need n -z=1", "unknown flag -z; did you mean --z?"),
    .init(.relations, "--x-flag --need n -q", "unknown flag -q"),
    .init(.relations, "--x-flag", "{\"x\":true} variables {\"need\":\"e\"}", ["NEED": "e"]),
    .init(.relations, "--x-flag", "{\"x\":true}", stored: ["need": "s"]),
    .init(.relations, "--x-flag --need", "--need requires a value: a string"),
    .init(.relations, "--need n", "exactly one of --x-flag and --y-flag must be given"),
    .init(.relations, "--need n", "{\"need\":\"n\"}", stored: ["y": true]),
    .init(.relations, "--need n --x-flag", "{\"need\":\"n\",\"x\":true}", stored: ["y": true]),
    .init(.relations, "--need n --x-flag --y-flag", "exactly one of --x-flag and --y-flag must be given"),
    .init(.relations, "--need n --x-flag --a-flag --b-flag", "--a-flag cannot be given together with --b-flag"),
    .init(.relations, "--need n --x-flag --a-flag", "{\"a\":true,\"need\":\"n\",\"x\":true}", stored: ["b": true]),
    .init(.relations, "--need n --x-flag --c-flag 1", "--c-flag requires --d-flag"),
    .init(.relations, "--need n --x-flag --c-flag 1", "{\"c\":\"1\",\"need\":\"n\",\"x\":true}", stored: ["d": "2"]),
    .init(
        .relations, "--a-flag --b-flag --c-flag 1",
        "--a-flag cannot be given together with --b-flag / --c-flag requires --d-flag / exactly one of --x-flag and --y-flag must be given / --need is required"
    ),
    .init(.secret, "--tokn abc", "unknown flag --tokn; did you mean --token-file?"),
    .init(.secret, "--tokn", "unknown flag --tokn; did you mean --token-file?"),
    .init(.secret, "--token-fil f", "token from file(\"f\")"),
    .init(.secret, "--token-file f", "token from file(\"f\")"),
    .init(.secret, "--token-file=f", "token from file(\"f\")"),
    .init(.secret, "--token-file -", "token from file(\"-\")"),
    .init(.secret, "--token-fd 3", "token from descriptor(3)"),
    .init(.secret, "--token-fd x", "--token-fd x: must be the number of an open descriptor"),
    .init(.secret, "--token-fd -1", "--token-fd requires a value: a descriptor"),
    .init(.secret, "--token-file a --token-fd 3", "token from descriptor(3)"),
    .init(.secret, "--token-file", "--token-file requires a value: a file"),
    .init(
        .secret, "--token abc",
        "--token would expose a secret to other users of this machine; use --token-file or --token-fd"),
    .init(
        .secret, "--token=abc",
        "--token would expose a secret to other users of this machine; use --token-file or --token-fd"),
    .init(
        .secret, "--set :token=abc",
        "--set :token would expose a secret to other users of this machine; use --token-file, --token-fd or the variable TOKEN"
    ),
    .init(
        .secret, "--set :other=abc",
        "--set :other would expose a secret to other users of this machine; use the stored setting"),
    .init(.secret, "", "variables {\"token\":\"abc\"}", ["TOKEN": "abc"]),
    .init(.secret, "", "TOKEN ••••: must match [a-z]+", ["TOKEN": "S3CRET"]),
]
