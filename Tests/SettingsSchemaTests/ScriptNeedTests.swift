import Foundation
import PropertyLists
import SchemaTools
import SettingsSchema
import TestSupport
import Testing

/// Features of declarations beyond flags and values, each declared with one line per option.
@Suite struct `A script's declaration` {
    /// The lines of a declaration, a command line, and its expected result.
    static let rows: [(lines: String, line: String, expected: String)] = [
        // Operands.
        ("@flag -v", "a", "! unexpected operand a"), ("@flag -v", "-v", "v=true"),
        ("operands=2\n@flag -v", "a b", "-- a b"), ("operands=2\n@flag -v", "a", "! at least 2 operands are required"),
        ("operands=1...3\n@flag -v", "a b c d", "! unexpected operand d"),
        ("operands=1...\n@flag -v", "a b c d", "-- a b c d"), ("operands=1..2\n@flag -v", "a b", "-- a b"),
        ("operands=0\n@flag -v", "", ""),
        // Commas between flags, and three dots in bounds.
        ("@flag -v, --verbose", "-v", "verbose=true"), ("@option -k, --keep=INT [1...5]", "-k 5", "keep=5"),
        ("@option -k, --keep=INT [1...5]", "-k 6", "! -k 6: must be from 1 to 5"),
        ("@option --part=REAL [0...5]", "--part 1", "! --part 1: must be from 0.0 to 0.5"),
        // Flags that set a value.
        ("@option --level=INT <6> [1..9]\n@flag -1..-9 level=*\n@flag --best level=9", "", "level=6"),
        ("@option --level=INT <6> [1..9]\n@flag -1..-9 level=*\n@flag --best level=9", "-3", "level=3"),
        ("@option --level=INT <6> [1..9]\n@flag -1..-9 level=*\n@flag --best level=9", "-3 --best", "level=9"),
        (
            "@option --level=INT <6> [1..9]\n@flag -1..-9 level=*\n@flag --best level=9", "--best=1",
            "! --best takes no value"
        ),
        ("@option --pack=gzip|bzip2 <gzip>\n@flag -j pack=bzip2", "-j", "pack=bzip2"),
        ("@flag -8 level=8\n@option --level=INT <6>", "-8", "level=8"),
        ("@flag -0 level=0\n@option --level=INT <6>\n@command a\n@flag -9 level=9", "a -9", "command=a level=9"),
        ("@option --level=INT <6>\n@flag -9 level=9  Best {hidden}", "-9", "level=9"),
        ("@flag --all  Print { hidden } files", "--all", "all=true"),
        ("@option --name=TEXT\n@flag -j name=\"two words\"  Both", "-j", "name=two words"),
        ("@option --level=INT<6>[1..9]{key: grade}", "", "grade=6"),
        ("@option --level=INT<6>[1..9]{key: grade}", "--level 10", "! --level 10: must be from 1 to 9"),
        ("@arg source!:folder {key: from}", "", "! SOURCE is required"),
        // Several words.
        ("@option -r --range=INT <1 9> [0..9] {words: FROM TO}", "", "range=(1,9)"),
        ("@option -r --range=INT <1 9> [0..9] {words: FROM TO}", "--range 3 4", "range=(3,4)"),
        ("@option -r --range=INT <1 9> [0..9] {words: FROM TO}", "-r3 4", "range=(3,4)"),
        (
            "@option -r --range=INT <1 9> [0..9] {words: FROM TO}", "--range 3",
            "! --range requires a value: FROM and TO"
        ),
        ("@option -r --range=INT <1 9> [0..9] {words: FROM TO}", "-r 3 x", "! -r x: must be an integer"),
        ("@option -r --range=INT <1 9> [0..9] {words: FROM TO}", "-r 3 -4", "! -r -4: must be from 0 to 9"),
        (
            "@option --at=TEXT {words: A B}\n@flag -v", "--at 1 -v",
            "! --at requires a value: A and B (write --at=-v if that is the value)"
        ),
        ("@option --at=TEXT {words: A B C} {dash}\n@rest x", "--at 1 -v -- 4", "at=(1,-v,--) x=(4) -- 4"),
        // Optional values.
        ("@option --color[=auto|always] <auto> {implied: always}", "--color", "color=always"),
        ("@option --color[=auto|always] <auto> {implied: always}", "--color=auto", "color=auto"),
        ("@option --color[=auto|always] <auto> {implied: always}", "--color auto", "! unexpected operand auto"),
        ("@option -d[=INT] <0> {implied: 1}", "-d", "d=1"), ("@option -d[=INT] <0> {implied: 1}", "-d5", "d=5"),
        ("@option -d[=INT] <0> {implied: 1}\n@flag -v", "-vd", "d=1 v=true"),
        // Values that begin with a dash.
        ("@option -o=TEXT {dash}", "-o --x", "o=--x"), ("@option -o=TEXT {dash}", "-o -- ", "o=--"),
        (
            "@option -o=TEXT", "-o --x",
            "! -o requires a value: a string (write -o=--x if that is the value) / unknown flag --x"
        ),
        // Commands.
        ("@command remove|rm\n@arg name!", "rm x", "command=remove name=x"),
        ("@command list\n@command remote\n@command remote/add\n@arg name", "remote add x", "command=remote add name=x"),
        ("@command list\n@command remote\n@command remote/add\n@arg name", "remote", "! missing command: add"),
        (
            "@command list\n@command remote\n@command remote/add\n@arg name", "remote ad",
            "! unknown command ad; did you mean add?"
        ),
        ("@command list {default}\n@flag -l\n@command add", "", "command=list"),
        ("@command list {default}\n@flag -l\n@command add", "-l", "command=list l=true"),
        ("@command show {default}\n@arg name\n@command add", "x", "command=show name=x"),
        ("@command list {default}\n@command add", "x", "! unknown command x"),
        ("@command list\n@command debug {hidden}", "debug", "command=debug"),
        ("@command list\n@command debug {hidden}", "", "! missing command: list"),
        ("@flag -v\n@command a\n@flag -x\n@command b", "-v b -x", "! unknown flag -x"),
        // Unknown flags.
        (
            "@flag -v\n@rest others {pass}", "-v -x --color=no a -v",
            "others=(-x,--color=no,a) v=true -- -x --color=no a"
        ),
        ("@arg name!\n@rest others {pass}", "-x a b", "name=a others=(-x,b) -- -x b"),
        // Abbreviations.
        ("@flag --verbose\n@flag --version-check", "--verb", "verbose=true"),
        ("@flag --verbose\n@flag --version-check", "--ver", "! --ver is ambiguous: --verbose or --version-check"),
        ("exact\n@flag --verbose", "--verb", "! unknown flag --verb; did you mean --verbose?"),
        ("@flag --[no-]color", "--no-c", "color=false"), ("@flag --all\n@flag --all-users", "--all", "all=true"),
        // Lists.
        ("@option --ports=INT,", "--ports 1,2", "ports=(1,2)"), ("@option --ports=INT,", "--ports=", "ports=()"),
        ("@option --ports=INT,", "--ports 1,x", "! --ports 1,x: must be an integer"),
        ("@option --ports=INT,", "--ports 1 --ports 2", "! --ports must be given once only"),
        ("@option --ports=INT,...", "--ports 1,2 --ports 3", "ports=(1,2,3)"),
        ("@option --path=TEXT {separator: :}", "--path a:b", "path=(a,b)"),
        ("@option -x=TEXT...", "-x a -x b", "x=(a,b)"),
        // The first operand.
        ("interleaved=NO operands=0...\n@flag -v", "-v a -v", "v=true -- a -v"),
        ("operands=0...\n@flag -v", "a -v", "v=true -- a"),
        ("interleaved=NO operands=0...\n@flag -v", "-- -v -- x", "-- -v -- x"),
        // Dates, durations and sizes.
        ("@option --since=DATE", "--since 2026-01-31", "since=2026-01-31T00:00:00Z"),
        ("@option --wait=DURATION", "--wait 1.5h", "wait=5400"),
        ("@option --wait=DURATION", "--wait 1d12h", "wait=129600"),
        ("@option --wait=DURATION", "--wait 5min", "wait=300"),
        ("@option --wait=DURATION", "--wait 500ms", "! --wait 500ms: must be a duration such as 90, 5m or 1h30m"),
        ("@option --wait=REAL {kind: duration}", "--wait 500ms", "wait=0.5"),
        ("@option --wait=REAL {kind: duration}", "--wait 1.25", "wait=1.25"),
        ("@option --room=SIZE", "--room 1.5G", "room=1610612736"), ("@option --room=SIZE", "--room 4KiB", "room=4096"),
        ("@option --room=SIZE", "--room 1.0001K", "! --room 1.0001K: must be a size such as 512, 4K or 10MB"),
        ("@option --room=SIZE", "--room 9223372036854775807", "room=9223372036854775807"),
        ("@option --room=SIZE", "--room 8E", "! --room 8E: must be a size such as 512, 4K or 10MB"),
        // Addresses.
        ("@arg to:address", "ada@example.com", "to=ada@example.com"),
        ("@arg to:address", "example.com:22", "to=example.com:22"),
        ("@arg to:address", "@x", "! TO @x: must be an address such as ada@example.com"),
        ("@arg to:address", "ada@a..b", "! TO ada@a..b: must be an address such as ada@example.com"),
        // Counters, required options, and the built-in flags.
        ("@flag -v... --verbose", "-vvv --verbose", "verbose=4"), ("@option --to=FILE!", "", "! --to is required"),
        ("@flag -v", "--save", "! unknown flag --save"),
        (
            "domain=com.example.a\n@flag -v", "--save",
            "! --save: there is no flag to save"
        ),
        // Saving and removing.
        ("domain=com.example.a\n@flag -v\n@arg to!", "--save -v", "store v=true"),
        ("domain=com.example.a\n@flag -v\n@arg to!", "--save -v x", "to=x v=true save"),
        ("domain=com.example.a\n@flag -v\n@option --to=FILE!", "--save -v", "store v=true"),
        ("domain=com.example.a\n@flag -v {transient}", "--save -v", "! --save: there is no flag to save"),
        ("domain=com.example.a\n@option -k=INT\n@flag -v", "--save -k x", "! -k x: must be an integer"),
        (
            "domain=com.example.a\n@flag -a\n@flag -b {conflicts: a}", "--save -ab",
            "! -b cannot be given together with -a"
        ),
        ("domain=com.example.a\n@flag -a\n@flag -b {requires: a}", "--save -b", "store b=true"),
        ("domain=com.example.a\n@flag -a\n@flag -b {at-least-one: a}\n@flag -c", "--save -c", "store c=true"),
        ("domain=com.example.a\n@flag -v\n@command b\n@option --to=X", "--save -v", "store v=true"),
        ("domain=com.example.a\n@flag -v\n@command b\n@option --to=X", "b --save --to x", "command=b to=x save"),
        ("domain=com.example.a\n@flag -v\n@arg to!", "--reset", "store reset v,to"),
        ("domain=com.example.a\n@flag -v\n@option -k=INT", "--reset=k --reset=:v", "store reset k,v"),
        ("domain=com.example.a\n@flag -v\n@option -k=INT", "--reset=k --reset", "store reset v,k"),
        ("domain=com.example.a\n@option --keep=INT", "--reset=kep", "! --reset kep: unknown key; did you mean keep?"),
        ("domain=com.example.a\n@flag -v\n@command b\n@arg to!", "--reset=", "! --reset \"\": unknown key"),
        ("domain=com.example.a\n@flag -v\n@option -k=INT", "--reset --save -k3", "store reset v,k k=3"),
        ("domain=com.example.a\n@flag -v\n@option -k=INT", "--reset x", "! unexpected operand x"),
        (
            "domain=com.example.a\n@flag -v\n@option -k=INT", "--reset=v -k 3",
            "! -k: has no effect beside --reset without --save"
        ),
        ("domain=com.example.a\n@flag -v\n@command b\n@option --to=X", "b --reset=to", "store reset to"),
        // A flag that replaces one of prefs.
        ("domain=com.example.a\n@flag --save\n@flag -v", "--save --prefs-save -v", "store save=true v=true"),
        ("domain=com.example.a\n@option --reset=INT", "--reset 3", "reset=3"),
        ("@flag --help", "--help", "help=true"), ("@flag --help", "--prefs-help", "help"),
        ("@flag --level\n@option --n=INT\n@flag --help n=1", "--help", "n=1"),
        ("@flag -v", "--version", "! unknown flag --version; did you mean -v?"),
        ("version=2.36\n@flag -v", "--version", "prog 2.36"),
        ("program=nightly version=2\n@flag -v", "--version", "nightly 2"),
        ("version=1 version-short=V\n@flag -v", "-V", "prog 1"),
        // Several letters, and letters that are no names.
        ("@option -m -e --by=TEXT", "-e x", "by=x"), ("@option -m -e --by=TEXT", "-mx", "by=x"),
        ("@flag -v -V", "-Vv", "v=true"), ("@option -@=TEXT {key: at}", "-@ x", "at=x"),
        ("@flag -~ -? {key: ask}\n@flag -v", "-v?", "ask=true v=true"), ("@flag -+ --more", "-+", "more=true"),
        ("operands=0..\n@flag -+ --more", "+", "-- +"), ("@flag -: {key: colon}", "-:", "colon=true"),
        // Once.
        ("@option -k=INT {once}", "-k 1 -k 2", "! -k must be given once only"),
        ("@option -k --keep=INT {once}", "-k 1 --keep=x", "! --keep x: must be an integer"),
        ("@option -k=INT {once}\n@flag -9 k=9", "-k 1 -9", "! -9 must be given once only"),
        ("@flag -v {once}", "-vv", "! -v must be given once only"),
        ("@option -k=INT {once}", "-k 1", "k=1"), ("@option -k=INT", "-k 1 -k 2", "k=2"),
        // Groups.
        ("@flag -a\n@flag -b\n@flag -c {at-most-one: a b}", "-ac", "! at most one of -c, -a and -b can be given"),
        ("@flag -a\n@flag -b\n@flag -c {at-most-one: a b}", "-ab", "! at most one of -c, -a and -b can be given"),
        ("@flag -a\n@flag -b\n@flag -c {at-most-one: a b}", "", ""),
        ("@flag -a\n@flag -b\n@flag -c {at-most-one: a b}", "-b", "b=true"),
        (
            "@flag -a {at-least-one: b}\n@option -b=TEXT\n@flag -c {at-most-one: a b}", "-c",
            "! at least one of -a and -b must be given"
        ),
        ("@flag -a {at-least-one: b}\n@option -b=TEXT", "-a -b x", "a=true b=x"),
        ("@flag -a\n@flag -b {at-least-one: a b} {at-most-one: a b}", "-b", "b=true"),
        (
            "@flag -a\n@flag -b {at-least-one: a b} {at-most-one: a b}", "-a -b",
            "! at most one of -a and -b can be given"
        ),
        (
            "@flag --one m=1\n@flag --two m=2\n@flag -c {conflicts: m}", "--two -c",
            "! -c cannot be given together with --two"
        ),
        ("@rest a! {count: ..2}", "x y z", "! A must have from 1 to 2 elements"),
        // Messages.
        ("@option -k=INT [1..9] {message: must be a digit}", "-k 10", "! -k 10: must be a digit"),
        ("@option -k=INT [1..9] {message: must be a digit}", "-k x", "! -k x: must be a digit"),
        ("@option -k=TEXT {length: 2..} {pattern: a+} {message: must be aa}", "-k b", "! -k b: must be aa"),
        ("@option -k=INT... {message: must be a number}", "-k 1 -k x", "! -k x: must be a number"),
        ("@option -k=INT, [..5] {message: must be a digit to 5}", "-k 1,9", "! -k 9: must be a digit to 5"),
        ("@arg file! {message: must be a file}", "", "! FILE is required"),
        // Lines that continue others.
        ("@option -k=INT\n@ <7>  Copies\n@ to keep [1..9]", "-k 10", "! -k 10: must be from 1 to 9"),
        ("@option -k=INT  Copies\n@ to keep\n@ {env: KEEP} {once}", "-k 1 -k 1", "! -k must be given once only"),
        ("@command list  Lists\n@ {default}", "", "command=list"),
        // A key that only flags set.
        ("@flag --sign sign=yes\n@flag --no-sign sign=no", "", ""),
        ("@flag --sign sign=yes\n@flag --no-sign sign=no", "--no-sign", "sign=no"),
        ("@flag --sign sign=yes\n@flag --no-sign sign=no", "--sign --no-sign", "sign=no"),
        ("@flag -1 n=1\n@flag -2 n=2\n@option --sign=INT", "--sign 1 -2", "n=2 sign=1"),
        (
            "@flag -a\n@command b\n@flag -x x=1\n@flag -y x=2\n@command c\n@flag -x\n@option -z=TEXT {requires: x}",
            "b -ay", "command=b a=true x=2"
        ),
        // Uses in their order.
        (
            "@option -I --include=DIR... {ordered: paths}\n@option -B=INT... {ordered: paths}\n@flag -v {ordered: paths}",
            "-I a -B 0x2 -v -Ib", "B=(2) include=(a,b) v=true uses --include a -B 2 -v true --include b"
        ),
        ("@option -D=INT {map} {ordered: all}", "-D a=1", #"D={"a":1} uses -D {"a":1}"#),
        ("@option -D=X {ordered: all}\n@flag -9 D=9", "-9 -D x", "D=x uses -D 9 -D x"),
        ("@option -D=X {ordered: all} <a>", "", "D=a"),
        ("domain=com.example.a\n@option -D=X {ordered: all}", "--set :D=b", "D=b"),
        // Flags of a command for a key of the whole script.
        ("@flag --a k=1\n@flag --b k=2\n@command c\n@flag -d k=3", "c -d", "command=c k=3"),
        ("@arg b:INT... {count: 2..}", "x y", "! B x: must be an integer / B y: must be an integer"),
        // Maps.
        ("@option -D --define=NAME=VALUE {map}", "-D a=1 -Db=x=y -D a=2", #"define={"a":"2","b":"x=y"}"#),
        ("@option -D=INT {map}", "-D a=0x10", #"D={"a":16}"#), ("@option -D=TEXT {map: INT}", "-D a=1", #"D={"a":1}"#),
        ("@option -D=INT {map}", "-D a=x", "! -D a=x: must be an integer"),
        ("@option -D=INT [..9] {map}", "-D a=10", "! -D 10: must be at most 9"),
        ("@option -D=TEXT [..9] {map: INT}", "-D a=10", "! -D 10: must be at most 9"),
        ("@option -D=NAME {map}", "-D =x", "! -D =x: must be KEY=VALUE"),
        ("@option -D=NAME {map}", "-D x", "! -D x: must be KEY=VALUE"),
        ("@option -D=NAME {map} {message: must be a pair}", "-D x", "! -D x: must be a pair"),
        ("@option -D=NAME {map}", "-D", "! -D requires a value: KEY=VALUE"),
        ("@option -D=NAME {map}", "-D {a=b;}=1", #"D={"{a":"b;}=1"}"#),
        ("@option -D=NAME {map} <a=1 b=c=d>", "", #"D={"a":"1","b":"c=d"}"#),
        ("@option -D=INT {map} <a=1>", "-D b=2", #"D={"b":2}"#),
        ("@option -D=INT {map} {count: 2..}", "-D b=2", "! -D must have at least 2 elements"),
        ("@option -D=a|b {map}", "-D x=c", "! -D c: must be a or b"),
        ("@rest words!", "", "! WORDS is required"), ("@arg files...", "a b", "files=(a,b)"),
    ]

    @Test(arguments: rows.indices)
    func `is read as its row states`(_ index: Int) throws {
        let row = Self.rows[index]
        let schema = try Self.schema(row.lines)
        #expect(Self.notation(schema, row.line) == row.expected.replacing("; did you mean -v?", with: ""))
        // The declaration converted to a property list is the same schema.
        let text = try schema.openStepText()
        let (same, mistakes) = Schema.read(Array(text.utf8), from: .head)
        #expect(mistakes.isEmpty && same == schema, "\(text)")
    }

    /// Parses lines. The first one may be the rest of the head.
    static func schema(_ lines: String) throws -> Schema {
        let parts = lines.split(separator: "\n").map(String.init)
        let head = parts.first.map { $0.hasPrefix("@") ? "" : " \($0)" } ?? ""
        let rest = head.isEmpty ? parts[...] : parts.dropFirst()
        let (schema, mistakes) = Schema.read(lines: "#prefs\(head)\n" + rest.map { "# \($0)\n" }.joined())
        #expect(mistakes.isEmpty, "\(mistakes)")
        return try #require(schema)
    }

    static func notation(_ schema: Schema, _ line: String) -> String {
        switch schema.arguments(line.split(separator: " ").map(String.init)) {
        case .help: return "help"
        case .storing(let arguments):
            let reset = arguments.reset.map { " reset \(schema.storedKeys(of: $0).joined(separator: ","))" } ?? ""
            let saved = schema.valuesToSave(arguments.saves ? arguments.values : [:], of: arguments.command)
            return "store" + reset + saved.map { " \($0.key)=\($0.value.plainText)" }.joined()
        case .version: return String(schema.versionText(program: "prog").dropLast())
        case .mistakes(let mistakes): return "! " + mistakes.map(\.description).joined(separator: " / ")
        case .values(let arguments):
            var values = schema.defaultValues(command: arguments.command)
            for entry in arguments.values { values[entry.key] = entry.value }
            var words = values.map { entry -> String in
                let elements = entry.value.arrayValue.map { "(\($0.map(\.plainText).joined(separator: ",")))" }
                return "\(entry.key)=\(elements ?? entry.value.plainText)"
            }.sorted()
            if let command = arguments.command { words.insert("command=\(command)", at: 0) }
            if !arguments.uses.isEmpty {
                words.append("uses " + arguments.uses.map { "\($0.flag) \($0.value.plainText)" }.joined(separator: " "))
            }
            if !arguments.operands.isEmpty { words.append("-- " + arguments.operands.joined(separator: " ")) }
            if arguments.saves { words.append("save") }
            return words.joined(separator: " ")
        }
    }

    // MARK: Help

    @Test func `has help in sections with examples, without flags for storing`() throws {
        let schema = try Self.schema(
            """
            title="Rotates logs" version=1
            @group Output
            @flag -v --verbose  Print more
            @option --secret-door=TEXT  Nobody sees it {hidden}
            @option -l --level=INT <6>  How well to compress [1..9]
            @flag -1..-9 level=*
            @flag --worst level=1  Least {deprecated: use -1}
            @flag --odd level=3 {hidden}
            @option --colour[=auto|always]  When to color {implied: always} {key: color}
            @group Speed
            @flag --best level=9  Best
            @example rotate -9 log
            @epilogue See rotate(8).
            @group More commands
            @command clean|purge  Remove logs
            @command debug {hidden}
            """)
        #expect(
            schema.helpText(program: "rotate") == """
                usage: rotate [options] COMMAND …

                Rotates logs.

                More commands:
                  clean, purge                Remove logs

                Output:
                  -v, --verbose               Print more.
                  -l, --level N               How well to compress. From 1 to 9, -1 to -9.
                                              (default 6)
                      --worst                 Least. Deprecated: use -1.
                      --colour[=auto|always]  When to color. (without a value always)

                Speed:
                      --best                  Best.

                Options:
                  -h, --help                  Shows this text.
                      --version               Shows the version.

                Examples:
                  rotate -9 log

                See rotate(8).

                """)
    }

    // MARK: Variables

    @Test func `unsets the variables of commands that were not chosen`() throws {
        let schema = try Self.schema(
            "@command a\n@option --keep=INT\n@option --both=INT\n@command b\n@option --both=INT\n@flag -x")
        func text(_ command: String, _ output: ScriptOutput) throws -> String {
            try ScriptValues(schema: schema, values: [:], command: command).text(for: output)
        }
        #expect(try text("b", .bash) == "unset -v keep\nboth=''\nx='false'\ncommand='b'\nset --\n")
        #expect(try text("a", .fish).hasPrefix("set -e x;\n"))
        #expect(try text("a", .nul) == "keep=\0both=\0command=a\0")
    }

    // MARK: Bytes

    @Test(
        arguments: [
            [], [0x61], [0xFF], [0xC3], [0xC3, 0xA9], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x8F, 0xBA, 0x80],
            [0xF0, 0x9F, 0x91, 0x8D, 0x80, 0x0A], [0xC0, 0xAF], [0xF5, 0x80, 0x80, 0x80],
            [0xF4, 0x8F, 0xBB, 0xBF, 0xFE],
        ] as [[UInt8]])
    func `keeps bytes that are not text`(_ bytes: [UInt8]) {
        let text = ByteText.text(bytes)
        #expect(ByteText.bytes(text) == bytes)
        let isText = String(validating: bytes, as: UTF8.self) != nil && !bytes.starts(with: [0xF4, 0x8F, 0xBA])
        #expect(ByteText.holdsRaw(text) == !isText)
    }
}

/// The errors that `schema check` reports, with their places and fixes.
@Suite struct `An error in a script's declaration` {
    /// The lines after `#prefs`, and the expected errors. A tilde starts a property list between `#prefs{` and `#}`.
    static let rows: [(text: String, expected: String)] = [
        (
            "# @flag -v --verbose\n# @flag -v --version-check",
            "3:9: :Settings:1:Short: duplicate flag -v; remove or rename one of them"
        ),
        (
            "# @flag --all\n# @option --all=INT {key: other}",
            "3:11: :Settings:1:Flag: duplicate flag --all; remove or rename one of them"
        ),
        ("# @option --keep=INT [9..1]", "2:22: :Settings:0:Minimum: is above Maximum; lower it, or raise Maximum"),
        ("# @option --keep=INT <0> [1..9]", "2:22: :Settings:0:Default: must be from 1 to 9; change the value"),
        ("# @option --keep=INT <a>", "2:22: :Settings:0:Default: must be an integer; change the value"),
        ("# @option --mode=a|b <c>", "2:22: :Settings:0:Default: must be a or b; change the value"),
        (
            "# @option --name=TEXT {pattern: [a-z}",
            "2:23: :Settings:0:Pattern: the pattern ends inside a class at character 5 of the pattern"
        ),
        (
            "# @option --name=DATE [a..]",
            "2:23: :Settings:0:Minimum: must be a date such as 2026-01-31T12:00:00Z; change the value"
        ),
        (
            "# @option --name=BOOL [1..]",
            "2:23: :Settings:0:Minimum: does not apply to a boolean; remove it, or change Type"
        ),
        (
            "# @option --token=TEXT <abc> {secret}",
            "2:24: :Settings:0:Default: cannot be combined with Sensitive; remove one of them"
        ),
        (
            "# @option --a.b=INT\n# @option --a_b=INT",
            "3:11: :Settings:1:Key: becomes the shell variable a_b, as a.b does; rename one of them"
        ),
        (
            "# @option --PATH=TEXT",
            "2:11: :Settings:0:Key: becomes the shell variable PATH, which is reserved; rename it, or call prefs args with --prefix"
        ),
        (
            "# @option --command=TEXT\n# @command a",
            "2:11: :Settings:0:Key: becomes the shell variable command, which is reserved; rename it, or call prefs args with --prefix"
        ),
        (
            "# @option --to=FILE <x> {required}",
            "2:25: warning: :Settings:0:Required: has no effect beside Default; remove it, or Default"
        ),
        ("# @optoin --keep=INT", "2:3: unknown line @optoin; did you mean @option?"),
        ("# @option --keep=N:itn", "2:18: unknown type itn; did you mean int?"),
        ("# @option --keep", "2:17: the type of the value is missing, as in --keep=INT"),
        ("# @option --keep=INT {evn: KEEP}", "2:22: unknown {evn}; did you mean {env}?"),
        (
            "# @option --keep=INT {env: A B-C}",
            "2:22: :Settings:0:Environment: invalid name B-C; use letters, digits, dashes and underscores"
        ),
        ("# @flag --verbose=INT", "2:18: a flag has no value; declare it with @option"),

        (
            "# @flag --help",
            "2:9: warning: :Settings:0:Flag: replaces --help of prefs, which is now --prefs-help; rename it to keep that flag"
        ),
        ("# @flag", "2:8: a flag such as -v or --verbose must follow"),
        (
            "# @command a\n# @command b|a",
            "3:12: :Commands:1:Aliases: duplicate command a; remove or rename one of them"
        ),
        (
            "~Operands = 0; Settings = ({ Key = a; Positional = 1; });",
            "2:3: warning: :Operands: has no effect beside the declared operands; remove it, or the declared operands"
        ),
        ("# @command a/b", "2:12: unknown command a; declare it first"),
        (
            "# @flag -v,--verbose",
            "2:9: :Settings:0:Short: invalid name v,--verbose; use letters, digits, dashes and underscores"
        ),
        (
            "# @flag --n {implied: yes}",
            "2:13: :Settings:0:Implied: does not apply to a boolean; remove it, or change Type"
        ),
        ("# @option --n=<5>  Title", "2:15: warning: the type of the value is missing, as in --keep=INT"),
        ("# @option --n=INT <5", "2:19: warning: missing > at the end of the default"),
        ("# @option --n=INT  Title <5>", "2:20: warning: the default <5> precedes the title"),
        ("# @option --n=a|b  Title <b>", "2:20: warning: the default <b> precedes the title"),
        ("# @option --n=INT  Title {env: X", "2:20: warning: missing } at the end of {env"),
        ("# @option --n=INT  Title [1..", "2:20: warning: bounds are written [1..5]"),
        ("# @option --n=INT [1-5]  Title", "2:19: warning: bounds are written [1..5]"),
        // Text that nothing consumes.
        (
            "# @option --level=INT\n# @flag -9 level=9  Best {bad: 3}",
            "3:26: unknown {bad}"
        ),
        (
            "# @option --level=INT\n# @flag -9 level=9  Best {once}",
            "3:26: {once} does not apply to a flag that sets another option"
        ),
        (
            "# @option --level=INT\n# @flag -9 level=9 <7>",
            "3:20: <7> does not apply to a flag that sets another option"
        ),
        (
            "# @option --level=INT\n# @flag --[no-]best level=9",
            "3:9: [no-] and ... do not apply to a flag that sets another option"
        ),
        (
            "# @option --level=INT\n# @flag -9 level=9\n# @flag -9 level=8",
            "4:9: duplicate flag -9; remove one of them"
        ),
        ("# @option --n=INT {env: A} {env: B}", "2:28: duplicate {env}; remove one of them"),
        ("# @option --n=INT <1> <2>", "2:23: duplicate <2>; remove one of them"),
        ("# @option --n=INT [1..2] [3..4]", "2:26: duplicate [3..4]; remove one of them"),
        ("# @option --n=FILE {kind: folder}", "2:20: duplicate {kind}; remove one of them"),
        ("# @option --n=INT {key: a} {key: b}", "2:28: duplicate {key}; remove one of them"),
        ("# @option -n=INT --number=FILE", "2:27: a second type, FILE; the first is INT"),
        ("# @option --n=INT {count}", "2:19: {count} requires a bound, as in 1..5"),
        ("# @option --n=INT [..]", "2:19: [..] requires a bound, as in 1..5"),
        ("# @option --n=INT {unit}", "2:19: {unit} requires a value"),
        ("# @option --n=INT {env: }", "2:19: {env} requires a value"),
        ("# @arg to:path {new: x}", "2:16: {new} takes no value"),
        (
            "# @option --n=INT  How {env: N} many",
            "2:20: {env} must be before or after the title; as a part of it, write { env }"
        ),
        (
            "# @flag --all  Print {hidden} files",
            "2:16: {hidden} must be before or after the title; as a part of it, write { hidden }"
        ),
        ("# @command deploy {store: foo}", "2:19: :Commands:0:Store: must be shared or own; change the value"),
        ("# @option --color[=WHEN {implied: x}", "2:24: missing ] after the type"),
        ("# @option --color[=WHEN]! {implied: x}", "2:25: unexpected text after ]: !"),
        ("# @arg source.folder", "2:14: unexpected text after the name: .folder"),
        ("# @command a {default: x}", "2:14: {default} takes no value"),
        ("# @command a {default}\n# @command b {default}", "3:14: duplicate {default}; remove one of them"),
        ("# @command a [1..2]", "2:14: unknown [1..2]"),
        ("#prefs title=a\n#prefs title=b", "3:8: duplicate title; remove one of them"),
        (
            "# @arg source!:folder  Title",
            "2:14: warning: the type precedes the marks !, ... and the comma, as in source:FILE!"
        ),
        (
            "echo\n# @flag -v",
            "3:3: warning: @flag has no effect after the first line of code; move it to the line after #prefs"
        ),
        ("# @option --a=INT {requires: b}", "2:19: :Settings:0:Requires: unknown key b; remove it"),
        ("# @option --color[=auto|always]", "2:11: :Settings:0:ValueOptional: Implied is missing; add Implied"),
        (
            "# @option --level=INT [1..9]\n# @flag -0 level=0",
            "3:9: :Settings:0:Values:-0: must be from 1 to 9; change the value"
        ),
        ("# @option --level=INT\n# @flag -y levle=3", "3:12: unknown key levle; did you mean level?"),
        (
            "# @rest a\n# @rest b",
            "3:9: :Settings:1:Rest: cannot be combined with another setting that takes any number of operands; remove one of them"
        ),
        (
            "~Settings = ({ Key = a; Positional = 1; }, { Key = b; Positional = 3; });",
            "2:56: warning: :Settings:1:Positional: no setting has position 2; number the positions without a gap"
        ),
        (
            "~Settings = ({ Key = a; Positional = 9223372036854775807; });",
            "2:26: warning: :Settings:0:Positional: no setting has position 1; number the positions without a gap"
        ),
        (
            "~VersionShort = \"-V\"; Settings = ({ Key = a; });",
            "2:3: :VersionShort: invalid name -V; use letters, digits, dashes and underscores"
        ),
        (
            "# @flag -a..-é level=x\n# @option --level=TEXT",
            "2:9: :Settings:0:Values:-a..-é: invalid name -a..-é; use letters, digits, dashes and underscores"
        ),
        (
            "~Settings = ({ Key = a; Positional = 1; }, { Key = b; Positional = 1; });",
            "2:56: :Settings:1:Positional: duplicate position 1; remove or rename one of them"
        ),
        (
            "~Settings = ({ Key = a; Type = array; Flag = a; });",
            "2:40: warning: :Settings:0:Flag: a second --a replaces the value of the first; add Repeats = YES or a Separator"
        ),
        (
            "~Settings = ({ Key = a; Choices = (); });",
            "2:26: :Settings:0:Choices: is empty; add an element, or remove it"
        ),
        (
            "~Settings = ({ Key = a; Type = real; MinimumLength = 1; });",
            "2:39: :Settings:0:MinimumLength: does not apply to a number; remove it, or change Type"
        ),
        ("~Commands = ({ Name = a; }); DefaultCommand = b;", "2:31: :DefaultCommand: unknown name b; remove it"),
        (
            "~Operands = few; Settings = ({ Key = a; });",
            "2:3: :Operands: must be a count such as 2, 1...3 or 1...; change the value"
        ),
        // A key that only flags set moves the settings after it.
        (
            "# @flag -x x=1\n# @flag -y x=2\n# @option -n=INT\n# @  <0> A number\n# @    that is small [1..9]",
            "5:6: :Settings:1:Default: must be from 1 to 9; change the value"
        ),
        ("# @flag -x x=1", "2:12: unknown key x; declare it with @option, or add another flag for it"),
        ("# @flag -x x=1\n# @flag -y x=1 {hiden}", "3:16: unknown {hiden}; did you mean {hidden}?"),
        ("# @ more", "2:5: no line above that it continues"),
        ("# @flag -v\n#\n# @ more", "4:5: no line above that it continues"),
        ("# @flag -v\n# @ {evn: A}", "3:5: unknown {evn}; did you mean {env}?"),
        (
            "# @option -a=TEXT...\n# @flag -b a=x {env: A}",
            "3:9: :Settings:0:Values:-b:Environment: does not apply to an array; remove it, or change Type"
        ),
        (
            "# @option -a=TEXT {env: A}\n# @flag -b a=x {env: A}",
            "3:9: :Settings:0:Values:-b:Environment: duplicate variable A; remove or rename one of them"
        ),
        (
            "# @option -a=TEXT\n# @flag -b a=x {env: 1A}",
            "3:9: :Settings:0:Values:-b:Environment: invalid name 1A; use letters, digits, dashes and underscores"
        ),
        (
            "# @option -a=TEXT {default-from: b}\n# @option -b=INT",
            "2:19: :Settings:0:DefaultFrom: "
                + "must be a key with the same type and rules, and not a secret; change the value"
        ),
        ("# @option -a=TEXT {default-from: b}", "2:19: :Settings:0:DefaultFrom: unknown key b; remove it"),
        (
            "# @option -a=TEXT {default-from: a}",
            "2:19: :Settings:0:DefaultFrom: cannot be combined with itself; remove one of them"
        ),
        (
            "# @option -a=TEXT {default-from: b}\n# @option -b=TEXT {default-from: a}",
            "2:19: :Settings:0:DefaultFrom: cannot be combined with that of b; remove one of them"
        ),
        (
            "# @option -a=TEXT {default-from: b} <1>\n# @option -b=TEXT",
            "2:19: :Settings:0:DefaultFrom: cannot be combined with Default; remove one of them"
        ),
        (
            "# @option -a=TEXT {map} {default-from: b}\n# @option -b=TEXT {map}",
            "2:25: :Settings:0:DefaultFrom: does not apply to a dictionary; remove it, or change Type"
        ),
        (
            "# @option -a=TEXT {default-path: ~/x}",
            "2:19: :Settings:0:DefaultPath: does not apply to a string; remove it, or change Type"
        ),
        (
            "# @option -a=FILE {default-path: /x}",
            "2:19: :Settings:0:DefaultPath: must be a path that begins with ~/; change the value"
        ),
        (
            "# @option -a=FILE {default-path: ~/x} <y>",
            "2:19: :Settings:0:DefaultPath: cannot be combined with Default; remove one of them"
        ),
        ("# @option -D=X {map: ITN}", "2:16: unknown type ITN; did you mean int?"),
        (
            "# @option -D=INT {map} <x>",
            "2:24: :Settings:0:Default: must be a dictionary; change the value"
        ),
        (
            "~Settings = ({ Key = a; Map = YES; Type = string; Default = b; });",
            "2:52: :Settings:0:Default: must be a dictionary; change the value"
        ),
        (
            "~Settings = ({ Key = a; Map = YES; Type = integer; });",
            "2:26: :Settings:0:Map: does not apply to an integer; remove it, or change Type"
        ),
        (
            "~Settings = ({ Key = a; Map = YES; Entries = { Type = array; }; });",
            "2:37: :Settings:0:Entries: must be one rule for plain values; change the value"
        ),
        (
            "# @option -a=X, {ordered: all}",
            "2:17: :Settings:0:Ordered: cannot be combined with Separator; remove one of them"
        ),
        (
            "# @option -a=X {ordered: b.c}\n# @option --b-c=X",
            "2:16: :Settings:0:Ordered: becomes the shell variable b_c, as b-c does; rename one of them"
        ),
        (
            "# @option -a=X {ordered: PATH}",
            "2:16: :Settings:0:Ordered: becomes the shell variable PATH, which is reserved; rename it, or call prefs args with --prefix"
        ),
        (
            "# @option -z=X {ordered: all}\n# @command c\n# @option --all=X",
            "4:11: :Commands:0:Settings:0:Key: duplicate variable all; remove or rename one of them"
        ),
        (
            "# @flag --prefs-help",
            "2:9: :Settings:0:Flag: --prefs-help is reserved; choose another name"
        ),
        ("# @flag -a {map}", "2:12: {map} does not apply to a flag"),
        (
            "# @flag -a {at-most-one: a}",
            "2:12: :Settings:0:AtMostOneOf: cannot be combined with itself; remove one of them"
        ),
        (
            "# @arg a {ordered: b}",
            "2:10: :Settings:0:Ordered: Flag is missing; add Flag"
        ),
        ("# @flag -@", "2:9: -@ requires a {key: NAME}"),
        ("# @option --mode=a|b {choice: a}", "2:22: {choice} requires a choice and its title"),
        ("# @option --mode=a|b {choice: full \"F\"}", "2:22: unknown choice full"),
        (
            "# @option --mode=a|b {choice: a \"A\"} {choice: a \"B\"}",
            "2:38: duplicate {choice}; remove one of them"
        ),
        (
            "# @option --keep=INT... {once}",
            "2:25: :Settings:0:Once: cannot be combined with Repeats; remove one of them"
        ),
        (
            "# @option --at=TEXT... {words: A B}",
            "2:24: :Settings:0:Words: cannot be combined with Repeats; remove one of them"
        ),
        (
            "# @option --at=TEXT {words: A}",
            "2:21: :Settings:0:Words: must be an array of at least two names; change the value"
        ),
        ("#prefs format=toml", "2:8: :Format: must be xml1, binary1, json or gnustep; change the value"),
        ("# @flag -a {at-most-one: b}", "2:12: :Settings:0:AtMostOneOf: unknown key b; remove it"),
        (
            "~Settings = ({ Key = a; Kind = url; Exists = YES; });",
            "2:38: :Settings:0:Exists: does not apply to a URL; remove it, or change Type"
        ),
    ]

    /// What a built parser adds to a script besides the help: 6 KiB, 1 KiB for each kind of option, and 250 bytes for
    /// each option.
    @Test(arguments: [0, 1, 7, 32, 200])
    func `is built into little code`(_ count: Int) throws {
        let kinds = [
            "@flag --flag#  Title", "@option --text#=TEXT", "@option --number#=INT <5>", "@option --choice#=a|b",
        ]
        let lines = (0..<count).map { kinds[$0 % kinds.count].replacing("#", with: "\($0)") }
        let schema = try `A script's declaration`.schema((["title=T"] + lines).joined(separator: "\n"))
        let code = try StandaloneParser(schema, program: "tool").code()
        let size = code.utf8.count - schema.helpText(program: "tool").utf8.count
        #expect(size <= (6 + min(count, kinds.count)) * 1024 + 250 * count, "\(size) bytes")
    }

    /// Scripts whose comments begin differently, with the places of what is unknown in them.
    @Test(arguments: [
        ("//#prefs\n// @flag -v {hiden}\nint x;\n// @flag -v\n", "2:13"),
        ("#!/usr/bin/node\n\n  //#prefs tile=x\n", "3:12"), ("-- text\n--#prefs\r\n--  @flg -v\n", "3:5"),
        (";#prefs{\n; Tile = x;\n;#}\n", "2:3"), ("\"#prefs\n\" @flag -v {hiden}\n", "2:12"),
        // The first line names a shell, or a comment of a shell is the declaration.
        ("#!/bin/sh\n//#prefs\n#prefs tile=x\n", "3:8"), ("// text\n#prefs tile=x\n", "2:8"),
        ("x = 1;\n//#prefs tile=x\n#prefs tile=x\n", "3:8"), ("//#prefs\n-- @flag -v {hiden}\n", ""),
    ])
    func `is found in comments of other languages`(_ script: String, _ place: String) throws {
        let mistakes: [Schema.Mistake]
        switch try ScriptReference(script: script) {
        case .lines(let text): mistakes = Schema.read(lines: text, warns: true).mistakes
        case .inline(let text): mistakes = Schema.read(Array(text.utf8), from: .head, warns: true).mistakes
        case .file: mistakes = []
        }
        #expect(mistakes.map { $0.location.map { "\($0.line):\($0.column)" } ?? "" }.joined(separator: " ") == place)
        let isForeign = script.first != "#" && place != "2:8" && place != "3:8"
        #expect(ScriptReference.isScript(beginning: Array(script.utf8)) == (isForeign || script.hasPrefix("#")))
    }

    @Test(arguments: rows.indices)
    func `is reported with its position and how to fix it`(_ index: Int) throws {
        let (text, expected) = Self.rows[index]
        let isList = text.hasPrefix("~")
        let script = isList ? "#prefs{\n# \(text.dropFirst())\n#}\n" : "#prefs\n\(text)\n"
        let mistakes: [Schema.Mistake]
        switch try ScriptReference(script: script) {
        case .lines(let text): mistakes = Schema.read(lines: text, warns: true).mistakes
        case .inline(let text): mistakes = Schema.read(Array(text.utf8), from: .head, warns: true).mistakes
        case .file: mistakes = []
        }
        let found = mistakes.map { mistake in
            let place = mistake.location.map { "\($0.line):\($0.column): " } ?? ""
            let fix = mistake.reason.fix.map { "; \($0)" } ?? ""
            return "\(place)\(mistake.isWarning ? "warning: " : "")\(mistake.withoutLocation)\(fix)"
        }
        #expect(found == [expected])
    }

    @Test(arguments: [
        "# @option --to=TEXT  Send to <host>", "# @option --n=INT  A number [experimental]",
        "# @option --year=INT  The year [2024]", "# @flag -v  Use {braces",
        "# @flag -v\necho\n# @option --other", "# @rest a!", "# @arg a...", "# @option --ports=INT,...",
    ])
    func `is nothing that only looks like one`(_ lines: String) {
        let mistakes = Schema.read(lines: "#prefs\n\(lines)\n", warns: true).mistakes
        #expect(mistakes.isEmpty, "\(mistakes)")
    }

    @Test func `is found after any number of warnings, and rules still apply`() throws {
        let warned = (0..<1005).map { "# @option --o\($0)=" }.joined(separator: "\n")
        let lines = "#prefs\n\(warned)\n# @option --keep=INT <7>  How many [1..9]\n# @flag --keeping {titel}\n"
        let mistakes = Schema.read(lines: lines).mistakes
        #expect(mistakes.count == 1, "\(mistakes)")
        let read = Schema.read(lines: lines.replacing("# @flag --keeping {titel}\n", with: ""))
        #expect(
            try `A script's declaration`.notation(#require(read.schema), "--keep 77").hasPrefix(
                "! --keep 77: must be from 1 to 9"))
    }

    @Test func `is a line beyond the limit`() {
        func mistakes(_ count: Int) -> [String] {
            Schema.read(lines: "#prefs\n" + String(repeating: "# @group x\n", count: count)).mistakes.map(\.description)
        }
        #expect(mistakes(10_000) == [])
        #expect(mistakes(10_001) == ["10002:3: more than 10000 lines"])
        let continued = "#prefs\n# @flag -v\n" + String(repeating: "# @ x\n", count: 10_000)
        #expect(Schema.read(lines: continued).mistakes.map(\.description) == ["10002:5: more than 10000 lines"])
    }

    @Test func `is one of more than thirty`() { #expect(Self.rows.count >= 30) }

    @Test func `in a command that lists choices is one anywhere but in a script`() {
        let text = "{ Domain = d; Settings = ({ Key = branch; ChoicesFrom = \"git branch\"; }); }"
        for source in [Schema.Source.file, .fileOfScript] {
            let (schema, mistakes) = Schema.read(Array(text.utf8), from: source, checks: false)
            #expect(mistakes.map(\.reason) == [.notInHead])
            #expect(schema?.settings.first?.rule.choicesFrom == nil)
        }
        #expect((try? Schema.declared(in: Array(text.utf8)))?.settings.first?.rule.choicesFrom == nil)
        #expect(Schema.read(Array(text.utf8), from: .head).mistakes.isEmpty)
    }

    @Test(arguments: [
        ("{ Key = a; Flag = x; }, { Key = b; Flag = x; }", true),
        ("{ Key = a; Short = x; }, { Key = b; Short = x; }", true),
        ("{ Key = a; Positional = 1; }, { Key = b; Positional = 1; }", true),
        ("{ Key = a; Type = integer; Minimum = 2; Maximum = 1; }", true), ("{ Key = a; Pattern = \"(\"; }", true),
        ("{ Key = a; Short = h; Flag = b; }, { Key = b; Type = array; Flag = c; }", false),
    ])
    func `that makes parsing ambiguous ends the script immediately`(_ settings: String, _ isContradictory: Bool) {
        let text = "{ Domain = d; Settings = (\(settings)); }"
        #expect(Schema.read(Array(text.utf8), checks: false).schema?.isContradictory == isContradictory)
    }
}
