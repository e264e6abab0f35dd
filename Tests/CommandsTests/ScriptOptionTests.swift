import Foundation
import PropertyLists
import Queries
import SchemaTools
import SettingsSchema
import TestSupport
import Testing

/// A public script whose options are declared in Tests/Examples/options, with command lines and their results.
struct PublicScript: Sendable, CustomTestStringConvertible {
    let name: String
    /// The number of lines that parse the options in the original script.
    let linesBefore: Int
    /// The reason that `--build` cannot inline the parser, or nil if it can.
    var refusal: String?

    var testDescription: String { name }

    static let all = [
        PublicScript(name: "ldd", linesBefore: 62), PublicScript(name: "savelog", linesBefore: 23),
        PublicScript(
            name: "ssh-copy-id", linesBefore: 28, refusal: "10:13: Kind: address"),
        PublicScript(name: "fakeroot", linesBefore: 60), PublicScript(name: "apt-key", linesBefore: 62),
        PublicScript(name: "ucf", linesBefore: 38), PublicScript(name: "which", linesBefore: 7),
        PublicScript(name: "zgrep", linesBefore: 123),
        PublicScript(name: "memusage", linesBefore: 120),
        PublicScript(name: "pg_virtualenv", linesBefore: 18), PublicScript(name: "bats", linesBefore: 138),
        PublicScript(name: "git-standup", linesBefore: 89), PublicScript(name: "git-changelog", linesBefore: 49),
        PublicScript(name: "dehydrated", linesBefore: 231), PublicScript(name: "mkinitramfs", linesBefore: 52),
        PublicScript(name: "autoconf", linesBefore: 68), PublicScript(name: "texi2dvi", linesBefore: 62),
        PublicScript(name: "xdg-icon-resource", linesBefore: 99),
        PublicScript(name: "debsign", linesBefore: 45),
    ]

    /// The installed shells that run parsers in POSIX shell. yash reads only text that is valid in its locale.
    static let shells = [
        ["dash"], ["bash", "--posix"], ["busybox", "sh"], ["mksh"], ["env", "LC_ALL=C.UTF-8", "yash"],
    ].filter { Tool.isExpected($0[0] == "env" ? $0[2] : $0[0]) }

    struct Row {
        let arguments: [String]
        let expected: String
    }

    private static let folder = packageRoot.appending(path: "Tests/Examples/options")

    var text: String {
        get throws { String(decoding: try Data(contentsOf: Self.folder.appending(path: name)), as: UTF8.self) }
    }

    var schema: Schema {
        get throws { try #require(Schema.read(lines: try text).schema) }
    }

    var rows: [Row] {
        get throws {
            let text = String(
                decoding: try Data(contentsOf: Self.folder.appending(path: "\(name).rows")), as: UTF8.self)
            return text.split(separator: "\n").map { line in
                let parts = " \(line)".split(separator: "=> ", maxSplits: 1, omittingEmptySubsequences: false)
                return Row(arguments: parts[0].split(separator: " ").map(String.init), expected: String(parts[1]))
            }
        }
    }

    /// A script body that prints the variables and operands instead of the script's work.
    func body(hasArrays: Bool) throws -> String {
        var lines = ["printf 'operands'", "for word in \"$@\"; do printf ' %s' \"$word\"; done", "printf '\\n'"]
        // Commands can have the same keys.
        var settings: [SettingDeclaration] = []
        for setting in try schema.allSettings where settings.declaration(of: setting.key) == nil {
            settings.append(setting)
        }
        for (name, isArray) in settings.map({ ($0.key, $0.rule.type == .array) }) + [("command", false)] {
            let variable = String(name.map { $0 == "-" ? "_" : $0 })
            if name == "command", try schema.commands.isEmpty, settings.contains(where: { $0.key == "command" }) {
                continue
            }
            guard isArray else {
                lines.append("printf '%s=%s\\n' \(variable) \"${\(variable)-}\"")
                continue
            }
            lines.append(hasArrays ? "set -- ${\(variable)+\"${\(variable)[@]}\"}" : "eval \"set -- ${\(variable)-}\"")
            lines.append(
                "printf '\(variable)='; mark=; for word in \"$@\"; do printf '%s%s' \"$mark\" \"$word\"; mark=,; done; printf '\\n'"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the output of the script in the notation of a row.
    func notation(_ result: Subprocess, like expected: String) -> String {
        if result.status != 0 {
            let lines = result.errorText.split(separator: "\n").map { line in
                line.hasPrefix("\(name): ") ? String(line.dropFirst(name.count + 2)) : String(line)
            }
            let end = lines.last ?? ""
            let isEnded =
                end.hasPrefix("Try \(name) ") && end.hasSuffix("--help.") && result.status == 2 && result.text.isEmpty
            return isEnded ? "! \(lines.dropLast().joined(separator: " / "))" : "status \(result.status): \(lines)"
        }
        if result.text.hasPrefix("usage: \(name) ") { return "help" }
        if !result.text.contains("=") || !result.text.hasPrefix("operands"), result.text.hasPrefix("\(name) ") {
            return "version"
        }
        var lines = result.text.split(separator: "\n").map(String.init)
        let operands = lines.removeFirst().dropFirst("operands".count)
        let words = lines.filter { !$0.hasSuffix("=") && !$0.hasSuffix("=false") && !$0.hasSuffix("=0") }
        let isOfOperands = expected.contains("-- ")
        return (words.sorted() + (isOfOperands ? ["--\(operands)"] : [])).joined(separator: " ")
    }

    /// Returns a row's expectation in the order of `notation`.
    static func normal(_ expected: String) -> String {
        if expected.hasPrefix("! ") { return expected }
        let parts = expected.split(separator: "-- ", maxSplits: 1, omittingEmptySubsequences: false)
        let words = parts[0].split(separator: " ").filter { !$0.hasSuffix("=") }.map(String.init).sorted()
        return (words + parts.dropFirst().map { "-- \($0)" }).joined(separator: " ")
    }
}

@Suite(.enabled(if: InstalledCommand.isBuilt, "the executable is not beside the tests"), .serialized)
struct `The options of a public script` {
    @Test(arguments: PublicScript.all)
    func `mean the same when they are declared`(_ script: PublicScript) throws {
        let (command, folder) = (try InstalledCommand(), try TemporaryFolder())
        let text = try script.text
        let isBash = text.hasPrefix("#!/bin/bash")
        try folder.write(text + script.body(hasArrays: isBash), to: script.name)
        for row in try script.rows {
            let result = try Subprocess.run(
                isBash ? "bash" : "dash", [script.name] + row.arguments, environment: command.variables, in: folder.url)
            let found = script.notation(result, like: row.expected)
            #expect(found == PublicScript.normal(row.expected), "\(script.name) \(row.arguments): \(result.errorText)")
        }
    }

    @Test func `are completed by a script that was built with its completions`() throws {
        let (command, folder) = (try InstalledCommand(), try TemporaryFolder())
        let line = "eval \"$(prefs args \"$0\" -- \"$@\" || echo exit $?)\"\n"
        let script = "#!/bin/sh\n#prefs title=\"It's\"\n# @option --mode=full|half\n# @arg file:file\n" + line
        try folder.write(script + "echo \"$mode $file\"\n", to: "tool")
        let path = folder.url.appending(path: "tool").path
        func args(_ words: String...) throws -> Subprocess { try command.run("prefs", ["args"] + words + [path]) }
        let built = try args("--build", "--with-completions")
        try folder.write(String(decoding: built.output, as: UTF8.self), to: "built/tool")
        for shell in PublicScript.shells where Tool.isExpected(shell[0]) {
            func call(_ words: String...) throws -> Subprocess {
                try Subprocess.run(
                    shell[0], shell.dropFirst() + ["built/tool"] + words, environment: command.variables,
                    in: folder.url)
            }
            for name in ["bash", "zsh", "fish"] {
                let expected = try args("--completions", name)
                #expect(try call("--completions", name).output == expected.output)
            }
            #expect(try call("--mode", "half", "x").output == Data("half x\n".utf8))
            let refused = try call("--completions", "tcsh")
            #expect(
                refused.status == 2 && refused.errorText == "tool: --completions requires a shell: bash, zsh or fish\n")
        }
        #expect(try args("--with-completions").status == 2)
        try folder.write(script.replacing("--mode", with: "--completions"), to: "tool")
        #expect(try args("--build", "--with-completions").status == 2)
    }

    @Test(arguments: PublicScript.all)
    func `mean the same with an inlined parser, on a host without prefs`(_ script: PublicScript) throws {
        let (command, folder) = (try InstalledCommand(), try TemporaryFolder())
        let text = try script.text.replacing("#!/bin/bash", with: "#!/bin/sh")
        try folder.write(text + script.body(hasArrays: false), to: script.name)
        let built = try Subprocess.run(
            "bash", ["-c", "prefs args --build \(script.name)"], environment: command.variables, in: folder.url)
        if let refusal = script.refusal {
            #expect(built.status == 2)
            let reason = "needs prefs, which --build cannot inline"
            #expect(built.errorText == "prefs: \(script.name):\(refusal) \(reason)\n")
            return
        }
        #expect(built.status == 0, "\(built.errorText)")
        try folder.write(built.text, to: script.name)
        for shell in PublicScript.shells where Tool.isExpected(shell[0]) {
            for row in try script.rows {
                let result = try Subprocess.run(
                    shell[0], shell.dropFirst() + [script.name] + row.arguments,
                    environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"], in: folder.url)
                let found = script.notation(result, like: row.expected)
                #expect(
                    found == PublicScript.normal(row.expected),
                    "\(shell) \(script.name) \(row.arguments): \(result.errorText)")
            }
        }
    }

    /// A declaration, and command lines on which scripts with an inlined parser once differed.
    static let inlined: [(lines: String, rows: [[String]])] = [
        (
            """
            #prefs title=Copies version=1
            # @flag -v --verbose
            # @flag -d --debug... [..3]
            # @flag -n --dry-run
            # @option -k --keep=INT <7> [1..365] {env: KEEP}
            # @option -c --count=INT
            # @option -m --mode=full|incr <full>
            # @option --when[=TEXT] {implied: always}
            # @option -o --out=FILE
            # @arg source!
            # @arg number:int [-5..5]
            """,
            [
                ["a", "--keep=9223372036854775808"], ["a", "--keep=-9223372036854775809"], ["a", "-nv"], ["a", "-c3"],
                ["a", "-c", "18446744073709551615"], ["a", "-c", "18446744073709551616"],
                ["a", "-c", "-9223372036854775808"], ["a", "-c", "-9223372036854775809"], ["a", "-c", "0x10"],
                ["a", "-c", "-0XfF"], ["a", "-c", "0xffffffffffffffff"], ["a", "-c", "+-3"], ["a", "-c", "+007"],
                ["a", "-m"], ["-m", "bogus", "a", "-m"], ["a", "-k", "-inf"], ["a", "-k", "-.5"], ["a", "-.5"],
                ["a", "-k", "\u{1B}[31mx\ty\n"], ["a", "-dddd"], ["a", "-k", "0", "-k", "x"], ["a", "--out="],
                ["a", "--keep=0x190", "--keep=x", "-k"], ["a", "-ver"], ["a", "-ver=1"], ["a", "-verbose"],
            ]
        ),
        (
            """
            #prefs operands=0
            # @flag -v --verbose
            # @option -k --keep=INT [1..9] {env: KEEP}
            # @command up
            # @arg where
            # @command add
            # @flag -f --force
            # @option -m --message=TEXT
            # @command two {operands: 1...1}
            # @option --first=TEXT
            """,
            [
                ["up", "x"], ["-fm", "add"], ["-f", "add"], ["-m", "x", "add"], ["-vf", "add"], ["-vm", "x", "add"],
                ["-m=x", "add"], ["-force", "add"], ["add", "-fm", "x"], ["two", "a"], ["two", "a", "b"],
                ["--f", "add"], ["--v", "add"], ["-k", "10", "bogus"], ["-="],
            ]
        ),
        (
            """
            #prefs
            # @option -e --extra=TEXT... {conflicts: three}
            # @option -i --int=INT... [2..9]
            # @option --pick=a|b...
            # @flag -a --all {conflicts: only,none} {env: ALL}
            # @option --only=TEXT <xy> {env: ONLY} {length: 2..4}
            # @option --none=TEXT {requires: level} {deprecated: use --all} {env: NONE}
            # @flag -l --level... {env: LEVEL} {deprecated}
            # @option --one=INT {one-of: one,two,three} {env: ONE}
            # @option --two=TEXT {env: TWO}
            # @flag --three
            # @option --in=FILE {exists} {env: IN}
            # @option --to=FOLDER {exists}
            # @option --name=TEXT! {length: ..3}
            # @rest words {requires: all}
            """,
            [
                ["--all", "--only", "ab", "--one", "1"], ["--name", "a", "--three"],
                ["--name=ab", "--two", "x", "-al", "y"],
                ["--name=\u{E9}\u{E9}\u{E9}", "--three"], ["--name=\u{E9}\u{E9}\u{E9}a", "--three"],
                ["--name=a", "--one=x", "--two=y"], ["--name=a", "--one=1", "--in=/", "--to=/"],
                ["--name=a", "--one=1", "--in=/etc/passwd", "--to=/etc/passwd"],
                ["--name=a", "--three", "--none=x", "-ll"],
                ["--name=a", "--three", "--none=x"], ["--name=a", "--three", "w"], ["--all=maybe", "--only=a"],
                ["--level=x", "-l", "--none=/etc"], ["--name=a", "--three", "--to=/nowhere", "-l", "--level=2"],
                ["--name=a", "--one=1", "-e", "it's", "-e=", "-e*", "--extra", "a b\\n", "-i0x5", "-i", "-3", "-i10"],
                ["--name=a", "--one=1", "--pick=a", "--pick", "c", "--pick=a", "-i", "x", "-i", "-x", "-e"],
                ["--name=a", "--one=1", "-i", "8", "-i7", "--pick=b", "--extra=$(touch x)", "-e", "`a`\n"],
            ]
        ),
        (
            """
            #prefs
            # @option --host=TEXT {conflicts: file}
            # @option --file=FILE {env: FILE}
            # @option --mode=a|b {deprecated}
            # @flag -f mode=a {deprecated: old}
            # @command add
            # @option --force=TEXT {conflicts: host} {env: FORCE} {deprecated: no}
            # @arg place:PATH {exists} {length: 1..6}
            # @command del
            # @flag -q {requires: file} {env: QUIET}
            # @arg where:FOLDER! {exists}
            """,
            [
                ["add", "--force=a", "--host=b", "/etc"], ["add", "/etc", "--file", "x", "--host", "y"],
                ["del", "/etc", "-q"], ["del", "/none", "-q", "--file=a"], ["del"], ["add", "--force", "x", "/longer"],
                ["-ff", "--mode=b", "add"],
            ]
        ),
        (
            """
            #prefs
            # @flag -v --verbose {env: VERBOSE}
            # @option --level=INT <3> [1..9]
            # @command remote|r
            # @option --as=TEXT {env: AS}
            # @command remote/add|a {operands: 1..2}
            # @flag -f --fetch
            # @option -t --track=TEXT... {conflicts: fetch}
            # @command remote/list|ls {default}
            # @arg pattern:int [..5]
            # @command remote/set
            # @command remote/set/url|u
            # @arg url!
            # @command remote/set/head {operands: 0}
            # @option --auto[=TEXT] {implied: yes}
            # @command status {default}
            # @flag -s --short
            # @flag -5 --five
            # @option --verb=TEXT
            # @option --ve=TEXT
            # @arg where
            # @command bare {operands: 0}
            # @flag --short
            """,
            [
                [], ["remote"], ["r", "ls", "4"], ["r", "4", "--as=x"], ["r", "x"], ["remote", "add", "-f", "n"],
                ["-f", "remote", "add", "n"], ["remote", "--fetch", "add", "n"], ["r", "a", "n", "m", "o"],
                ["r", "set"], ["r", "set", "u"], ["r", "set", "u", "there"], ["r", "set", "nothing"], ["there"],
                ["r", "set", "head", "--auto"], ["r", "set", "head", "x"], ["status", "x", "y"], ["remote", "-5"],
                ["-5"], ["--auto", "r", "set", "head"], ["r", "--as"], ["r", "--help"], ["r", "set", "-h"],
                ["bare", "x"], ["r", "--", "add", "n"], ["--", "r", "add", "n"], ["r", "a", "-tx", "-ty", "-f", "n"],
                ["-s"], ["--short", "x"], ["-short"], ["-vs"], ["-sv", "x"], ["--verb", "x"], ["--ve=x"],
                ["r", "--pattern=3"],
                ["--where=x"], ["-where", "x"], ["-s=1"], ["nothing", "--short"], ["r", "set", "no", "-s"],
                ["-v", "-5", "x"],
                ["bare", "--short"], ["-five"], ["--wher=x"],
            ]
        ),
        (
            #"""
            #prefs
            # @option -n --name=TEXT {pattern: [a-z]+(-[0-9]{2})?} {env: NAME} {length: ..5}
            # @option --mail=TEXT... {pattern: [^@]+@[^@]+}
            # @option --size[=TEXT] {pattern: \d+(K|M|)} {implied: 1K}
            # @arg two {pattern: ..}
            """#,
            [
                ["--name", "ab-12"], ["--name=Ab"], ["-n", ""], ["-nabc-123"], ["--mail", "é@b", "--mail=a\n@b"],
                ["--mail=a@@b", "--mail", "a@b"], ["--size"], ["--size=5"], ["--size=5\n"], ["--size=5MK"], ["éb"],
                ["\nb"],
                ["é"], ["'\""], ["👍$"], ["--mail=\u{1}@\u{1}"], ["\t\t"],
            ]
        ),
        (
            """
            #prefs
            # @option -k=INT, {count: 2..3} {unique} {env: KS} {deprecated: use --tag}
            # @option --names=TEXT,... {unique} {env: NAMES} <a,b>
            # @option --tag=TEXT... {count: ..2} {unique} {length: 1..} {conflicts: names}
            # @option --levels=INT, [1..9] <3,4>
            # @option --places=TEXT, {conflicts: tag} {env: FOLDERS}
            # @rest files
            """,
            [
                ["-k", "1,2"], ["-k1,1,1,1"], ["-k", "1,x"], ["-k", "1,2", "-k", "3,4"], ["-k="], ["-k", "-1,+2"],
                ["--names=c", "--names", "d,e"], ["--names=a,a"], ["--names", "a", "--names", "a"], ["--names="],
                ["--names=,"], ["--names=x,,y,"], ["--tag=1", "--tag=2", "--tag=3"], ["--tag", "1", "--tag=1"],
                ["--tag=''", "--tag="], ["--levels", "1,12,0"], ["--levels=0x9"], ["--levels", "5,"], ["-k"],
                ["-k", "1,2,3,4", "-k"], ["--levels", "7", "--levels"], ["--tag=it's", "--tag=it's"],
                ["--places=a b,'"],
                ["--places", "a", "--tag", "b"], ["--places=a", "--places=b"], ["--names=a' 'a,a"], ["-k3,1,2", "f"],
            ]
        ),
        (
            """
            #prefs
            # @command a
            # @flag -v... {deprecated: use -q}
            # @option --keys=INT,
            # @flag --[no-]fast {requires: keys}
            # @command b
            # @flag -v...
            # @option --keys=TEXT,... {count: 2..}
            # @flag --[no-]fast
            """,
            [
                ["a", "-v"], ["a", "-vv"], ["b", "-vv"], ["b", "--keys"], ["b", "--keys=x,y", "--keys"],
                ["a", "--keys=1", "--keys"], ["a", "--no-fast", "--fast=x"], ["a", "--fast=x"],
                ["a", "--fast", "--fast=x"], ["a", "--no-fast"], ["a", "--help", "-v", "-v"],
            ]
        ),
        (
            """
            #prefs
            # @flag --sign -s sign=yes
            # @flag --no-sign sign=no
            # @option -m -e --by=TEXT {pattern: .+@.+} {length: ..9} {message: must be an 'address'} {once}
            # @option --mode=full|part {env: MODE} {at-most-one: by at} {message: must be "full"}
            # @option -@=TEXT, {key: at} {count: 2..}
            # @flag -? -~ {key: ask} {at-least-one: mode at} {once}
            # @option -k=INT [1..9] {message: must be a digit} {env: K}
            # @option --list=INT... [1..9] {message: must be digits}
            # @arg file:file {exists} {message: must be your file}
            """,
            [
                ["-s", "--no-sign"], ["--sign", "--mode", "part"], ["-m", "a@b", "-e", "b@c"], ["-e", "x"],
                ["-e", "a@bbbbbbbbbbbb"], ["-m", "xbbbbbbbbbbbb"], ["--mode", "fall"], ["-@", "x"], ["-@x,y"],
                ["-@", "x,y", "-@x,y", "-?"], ["-?~"], ["-?"], ["-k", "0"], ["-kx"], ["--list=1", "--list=x"],
                ["--list=0", "--list=10"], ["script"], ["--mode=full", "nothing"], ["--mode=full", "-m", "a@b"],
                ["-?", "-@a,b"], ["-m", "-m", "a@b"], ["--by", "a@b", "-m"],
            ]
        ),
        (
            """
            #prefs
            # @option -D --define=NAME=VALUE {map} <x=1 y=2>
            # @option -n --number=INT {map} [..9] {count: ..2} {message: must be small} {deprecated: use -D}
            # @option --mode=full|part {map} {conflicts: define}
            # @option --empty=TEXT {map} {length: 1..} {pattern: [a-z]*}
            """,
            [
                ["-D", "a=1", "-Db=x=y", "-D", "a=2"], ["-D", "a"], ["-D", "=a"], ["-D", "a="], ["-D", "it's=]"],
                ["-D", "$(x)=`y`", "-D", "*=1", "-D", "@=2", "-D", "]=3", "-D", "[=4", "-D", "a b=c d"],
                ["-n", "a=1", "-n", "b=0x9"], ["-n", "a=1", "-n", "b=1", "-n", "c=1"], ["-n", "a=10", "-n", "b=x"],
                ["--mode", "a=full", "--mode=b=part"], ["--mode", "a=none"], ["--mode=a=full", "-Dx=1"], ["-D"],
                ["--empty", "a="], ["--empty=a=é"], ["-D", "{a=b;}=1"], ["-D", "a\nb=c\nd"],
            ]
        ),
        (
            """
            #prefs
            # @option -I --include=DIR... {ordered: paths}
            # @option -B --before=INT... {ordered: paths}
            # @flag -q -v {ordered: paths}
            # @option -D=INT {map} {ordered: rest}
            # @option -k=INT <7> {ordered: rest} {env: K}
            # @flag -9 k=9
            # @command c
            # @option -x=TEXT {ordered: own}
            """,
            [
                ["-I", "a b", "-B", "0x2", "-q", "-Iit's", "-v", "c"], ["-B1", "-9", "-k3", "-D", "a=0x1", "c"],
                ["c", "-x", "y", "-k", "z"], ["-D", "a=x", "c"], ["-k=1", "c", "-x", ""], ["c"], ["-B", "x", "-B"],
            ]
        ),
        (
            """
            #prefs
            # @option --level=INT <3> [0..9] {env: LEVEL} {conflicts: fast}
            # @flag -q --quiet level=0 {env: QUIET SILENT} Print nothing
            # @flag -9 level=9 {env: BEST}
            # @flag --[no-]fast {env: FAST}
            # @flag --yes sign=yes {env: YES} {deprecated}
            # @flag --no sign=no {env: NO}
            """,
            [
                [], ["-q"], ["--level=5"], ["--fast"], ["--fast", "-9"], ["--yes"], ["--no", "--no-fast"],
                ["--level=x"],
            ]
        ),
        (
            """
            #prefs
            # @option --third=FOLDER {default-from: second} {env: THIRD}
            # @option --second=FOLDER {default-from: first} {conflicts: fast}
            # @option --first=FOLDER {default-path: ~/it's here/a b} {env: FIRST}
            # @flag --[no-]fast {env: FAST}
            # @flag --slow {default-from: fast}
            # @option --more=INT... [1..9] {default-from: some}
            # @option --some=INT... [1..9] <3>
            # @arg place:FOLDER {default-from: third}
            """,
            [
                [], ["--first", "/a"], ["--second", "/b"], ["--third=/c", "--first=/d"], ["/e"],
                ["--fast", "--third="],
                ["--slow", "--no-fast"], ["--fast", "--second=/f"], ["--some=1", "--some=2"], ["--more=4"],
                ["--some=0"], ["--first="],
            ]
        ),
        (
            """
            #prefs
            # @flag -v
            # @arg first:INT
            # @arg files:FILE... {count: 1..3} {pattern: [a-z]*\\.[a-z]*} {message: must have an ending}
            # @arg last!
            # @arg end
            """,
            [
                [], ["a"], ["a.b"], ["a.b", "c"], ["1", "a.b", "c"], ["1", "a.b", "-v", "c", "d"],
                ["1", "a", "b", "c"],
                ["1", "a.b", "c.d", "e.f", "g", "h"], ["1", "a.b", "c.d", "e.f", "g.h", "i", "j"], ["-5", "a.b", "c"],
            ]
        ),
        (
            """
            #prefs
            # @option -k=INT {requires: numbers}
            # @arg name {conflicts: numbers}
            # @arg numbers:INT... [-5..5] {unique} {deprecated: use -k}
            """,
            [
                [], ["a"], ["a", "-1"], ["a", "-1", "-1"], ["a", "-9", "x", "3"], ["-1"], ["a", "1", "-2", "-3"],
                ["-k", "1"], ["-k1", "a", "0x2"],
            ]
        ),
    ]

    /// Each shell with the name of its script.
    private static let shellsOfPairs: [([String], String)] =
        PublicScript.shells.map { ($0, "sh") } + [(["bash"], "bash"), (["zsh", "-f"], "zsh")]

    @Test(arguments: inlined.indices)
    func `mean the same with and without an inlined parser`(_ index: Int) throws {
        let (command, folder) = (try InstalledCommand(), try TemporaryFolder())
        let (lines, rows) = Self.inlined[index]
        var random = SeededGenerator(stream: "inlined parser", round: index)
        let words = Set(rows.joined()).sorted() + ["-", "--", "=", "--verb", "-kx", "-h", "''", "5", "365", "366"]
        let others = (0..<(Extent.isFull ? 200 : 20)).map { _ in
            (0..<Int.random(in: 0...5, using: &random)).compactMap { _ in words.randomElement(using: &random) }
        }
        let settings = Schema.read(lines: lines).schema?.allSettings ?? []
        func body(_ shell: String) -> String {
            // The parser depends on neither.
            var lines = [
                "set -eu", "IFS=' 123'", "eval \"$(prefs args \"$0\" -- \"$@\" || echo exit $?)\"",
                "set +eu", "printf '<%s>' \"$@\"",
            ]
            for setting in settings where !setting.takesRest {
                let name = setting.key.replacing("-", with: "_")
                guard setting.rule.type == .array || setting.isMap else {
                    lines.append("printf '<%s>' \"${\(name)-unset}\"")
                    continue
                }
                // The order of the pairs in an associative array is the shell's own.
                let words =
                    switch (shell, setting.isMap) {
                    case ("sh", _): "eval \"set -- $\(name)\""
                    case (_, false): "set -- \"${\(name)[@]}\""
                    case ("zsh", _): "set --; for _k _v in \"${(@kv)\(name)}\"; do set -- \"$@\" \"$_k=$_v\"; done"
                    default:
                        "_v=(\"${\(name)[@]}\") _i=0; set --; "
                            + "for _k in \"${!\(name)[@]}\"; do set -- \"$@\" \"$_k=${_v[_i]}\"; _i=$((_i + 1)); done"
                    }
                let order = setting.isMap ? "\\n' \"$@\" | LC_ALL=C sort" : "' \"$@\""
                lines.append("\(words); printf '[%s]\(order)")
            }
            for list in settings.orderedLists {
                let words = shell == "sh" ? "eval \"set -- ${\(list)-}\"" : "set -- \"${\(list)[@]}\""
                lines.append("\(words); printf '(%s)' \"$@\"")
            }
            return lines.joined(separator: "\n") + "\n"
        }
        for name in ["sh", "bash", "zsh"] {
            try folder.write("#!/bin/\(name)\n\(lines)\n\(body(name))", to: "live-\(name)/script")
            let line = "mkdir \(name); prefs args --build live-\(name)/script > \(name)/script"
            let built = try Subprocess.run("bash", ["-c", line], environment: command.variables, in: folder.url)
            #expect(built.status == 0, "\(built.errorText)")
        }
        let names = settings.flatMap(\.allVariables)
        for (number, row) in (rows + others).enumerated() {
            var variables = command.variables
            for name in names where number >= rows.count && Int.random(in: 0..<3, using: &random) == 0 {
                variables[name] = words.randomElement(using: &random)
            }
            func run(_ shell: [String], _ script: String) throws -> (status: Int32, output: Data, errors: String) {
                let result = try Subprocess.run(
                    shell[0], shell.dropFirst() + ["\(script)/script"] + row, environment: variables,
                    in: folder.url)
                return (result.status, result.output, result.errorText)
            }
            let live = try run(["dash"], "live-sh")
            for (shell, name) in Self.shellsOfPairs where Tool.isExpected(shell[0]) {
                let built = try run(shell, name)
                // A value after a misspelled flag is skipped only if the flag is recognized.
                let hasSameErrors = built.errors == live.errors || live.errors.contains("; did you mean ")
                #expect(
                    built.status == live.status && built.output == live.output && hasSameErrors,
                    "\(Seed.ofThisRun) \(shell) \(row) \(variables.filter { names.contains($0.key) }): \(live) \(built)"
                )
            }
        }
    }

    /// The programs that check patterns: those of the system and those of busybox.
    @Test(
        .enabled(if: Tool.isExpected("busybox"), "\(Tool.absence(of: "busybox"))"),
        arguments: 0..<(Extent.isFull ? 100 : 10))
    func `match the same with and without prefs`(_ round: Int) throws {
        var random = SeededGenerator(stream: "inlined patterns", round: round)
        func pick(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }
        let characters = [
            "a", "b", "7", "-", "]", "^", "[", "\\", ".", " ", "é", "👍", "\n", "\t", "\u{1}", "\u{B}", "'", "$",
        ]
        func pattern(_ depth: Int) -> String {
            let isDeep = depth < 3
            let atom =
                switch Int.random(in: 0..<(isDeep ? 8 : 5), using: &random) {
                case 0, 1:
                    pick(["a", "b", "7", "-", "\\]", "\\^", "\\[", "\\\\", "\\.", " ", "'", "\\$", "\\t", "\\{"])
                case 2: pick([".", "\\d", "\\w", "\\s", "\\S", "\\W", "\\n", "é"])
                case 3:
                    pick([
                        "[a-c]", "[^a]", "[^-]", "[\\]a]", "[\\^-]", "[^\\]\\^[-]", "[\\s-]", "[^\\n]", "[a\\n]",
                        "[ -~]",
                    ])
                case 4: pick(["[[a^-]", "[-^]", "[^\\w]", "[^\\s]", "[.-9]", "[^ -~]", "[\\[:]", "[\\[.a]", "[Z-a]"])
                default:
                    "("
                        + (0..<Int.random(in: 1...3, using: &random)).map { _ in pattern(depth + 1) }.joined(
                            separator: "|") + ")"
                }
            let count = pick(["", "", "", "*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "{0}"])
            let rest = isDeep && Bool.random(using: &random) ? pattern(depth + 1) : ""
            return pick(["", atom, atom, atom, atom, atom, atom, atom]).isEmpty ? rest : atom + count + rest
        }
        let (command, folder) = (try InstalledCommand(), try TemporaryFolder())
        for name in ["grep", "tr"] {
            _ = try Subprocess.run(
                "bash", ["-c", "mkdir -p box; ln -s \"$(command -v busybox)\" box/\(name)"], in: folder.url)
        }
        var built = 0
        for number in 0..<10 {
            let text = pattern(0)
            let literal = String(decoding: try PropertyList.string(text).serialized(as: .openstep), as: UTF8.self)
            let entries = "{ Key = a; Positional = 1; Pattern = \(literal.trimmingCharacters(in: .newlines)); }"
            let declaration = "#prefs{\n# Settings = (\(entries));\n#}"
            try folder.write("#!/bin/sh\n\(declaration)\neval \"$(prefs args \"$0\" -- \"$@\")\"\n", to: "\(number)")
            let line = "prefs args --build \(number) > built"
            let result = try Subprocess.run("bash", ["-c", line], environment: command.variables, in: folder.url)
            guard result.status == 0 else {
                #expect(result.errorText.contains("Pattern: with "), "\(Seed.ofThisRun) \(text) \(result.errorText)")
                continue
            }
            built += 1
            let values = (0..<20).map { _ in
                (0..<Int.random(in: 0...5, using: &random)).map { _ in pick(characters) }.joined()
            }
            let expected = values.map { Pattern(text).matches($0) ? "1" : "0" }.joined()
            for path in ["", "PATH=$PWD/box:$PATH; "] {
                let loop =
                    "\(path)for value; do (set -- -- \"$value\"; . ./built) 2> /dev/null && printf 1 || printf 0; done"
                let found = try Subprocess.run("dash", ["-c", loop, "sh"] + values, in: folder.url)
                #expect(found.text == expected, "\(Seed.ofThisRun) \(path)\(text) \(values)")
            }
        }
        #expect(built > 0)
    }

    @Test(
        arguments: [
            ("eval \"$(prefs args --prefix opt_ \"$0\" -- \"$@\" || echo exit $?)\"", nil),
            ("  eval \"$(prefs args \"$0\" --prefix=\"opt_\" -- \"$@\")\"  # Sets the variables.", nil),
            ("eval \"$(prefs args \"$(realpath \"$0\")\" --prefix opt_ -- \"$@\")\"", nil),
            ("eval \"$(prefs args --prefix \"$p\" \"$0\" -- \"$@\")\"", "a call with --prefix"),
            ("eval \"$(prefs args --shell=sh \"$0\" -- \"$@\")\"", "a call with --shell=sh"),
            ("eval \"$(prefs args --schema a.plist \"$0\" -- \"$@\")\"", "a call with --schema"),
            ("eval \"$(prefs args \"$0\" -- \"$@\" ||\n  echo exit $?)\"", ""),
            ("eval \"$(prefs args \"$0\" -- \"$@\")\" || exit", ""),
        ] as [(String, String?)])
    func `have the parser in place of the whole call, with its prefix`(_ call: String, _ refusal: String?) throws {
        let (command, folder) = (try InstalledCommand(), try TemporaryFolder())
        try folder.write("#!/bin/sh\n#prefs\n# @option --keep=INT <7>\n\(call)\necho \"$opt_keep\"\n", to: "script")
        let line = "prefs args --build script > built && dash built --keep 3"
        let result = try Subprocess.run("bash", ["-c", line], environment: command.variables, in: folder.url)
        let reason =
            refusal == ""
            ? "requires a line that contains only eval \"$(prefs args …)\""
            : "cannot inline \(refusal ?? "")"
        #expect(result.text == (refusal == nil ? "3\n" : ""))
        #expect(result.errorText == (refusal == nil ? "" : "prefs: script:4: --build \(reason)\n"))
    }

    /// A declaration that `--build` refuses, and the places and names of the parts.
    @Test(
        arguments: [
            ("#prefs domain=com.example.a\n# @flag -v", ["2:8: Domain:"]),
            ("#prefs\n# @command a {default}\n# @command a/b", ["3:14: DefaultCommand: with commands in it"]),
            (
                "#prefs\n# @option -k=BOOL, {count: 2..3}\n# @option --name=TEXT {pattern: é*} {secret}",
                [
                    "3:14: Type: array", "3:14: Separator:", "3:20: MaximumCount:", "3:20: MinimumCount:",
                    "4:23: Pattern: with é", "4:37: Sensitive:",
                ]
            ),
            ("#prefs\n# @command a\n# @rest b {pass}\n# @arg c", ["4:11: PassUnknown: a rest with other operands"]),
            (
                "#prefs\n# @rest a <x> {env: A} {unique}", ["3:11: Default:", "3:15: Environment:", "3:24: Unique:"]
            ),
            ("#prefs\n# @rest a {count: 2..}", ["3:11: MinimumCount:"]),
            ("#prefs\n# @option --keys=TEXT,\n# @flag -a keys=a,b", ["3:11: Values: of a list"]),
            ("#prefs{\n# Settings = (\n#  { Key = a; Type = real; });\n#}", ["4:15: :Settings:0:Type: real"]),
            (
                "#prefs{\n# Settings = (\n#  { Key = a; Type = array; Rest = YES; Required = YES; Flag = a; });\n#}",
                ["4:41: :Settings:0:Required:", "4:57: :Settings:0:Flag:"]
            ),
        ] as [(String, [String])])
    func `are refused with each part that needs prefs`(_ lines: String, _ parts: [String]) throws {
        let (command, folder) = (try InstalledCommand(), try TemporaryFolder())
        try folder.write("#!/bin/sh\n\(lines)\neval \"$(prefs args \"$0\" -- \"$@\")\"\n", to: "script")
        let result = try Subprocess.run(
            "bash", ["-c", "prefs args --build script"], environment: command.variables, in: folder.url)
        let expected = "prefs: " + parts.map { "script:\($0) needs prefs, which --build cannot inline\n" }.joined()
        #expect(result.errorText == expected && result.status == 2)
    }

    @Test func `take fewer lines to declare than to parse`() throws {
        let after = try PublicScript.all.map { script in
            try script.text.split(separator: "\n").dropFirst().count
        }
        for (script, lines) in zip(PublicScript.all, after) where script.linesBefore > 10 {
            #expect(lines <= script.linesBefore, "\(script.name): \(script.linesBefore) lines became \(lines)")
        }
        let before = PublicScript.all.map(\.linesBefore).reduce(0, +)
        #expect(after.reduce(0, +) < before / 3, "\(before) lines became \(after.reduce(0, +))")
    }

    /// A shell must not execute any of the arguments.
    @Test func `execute nothing, whichever shell parses them`() throws {
        let (command, folder) = (try InstalledCommand(), try TemporaryFolder())
        let head = """
            #!/bin/sh
            #prefs interleaved=NO
            # @option -k --keep=TEXT <a>  Text {env: KEEP_VALUE}
            # @option --item=TEXT...
            # @rest words
            eval "$(prefs args "$0" -- "$@" || echo exit $?)"
            printf '%s\\0' "$keep" "$@"
            eval "set -- $item"
            [ $# = 0 ] || printf '%s\\0' "$@"

            """
        try folder.write(head, to: "script")
        let built = try Subprocess.run(
            "bash", ["-c", "prefs args --build script"], environment: command.variables, in: folder.url)
        #expect(built.status == 0, "\(built.errorText)")
        try folder.write(built.text, to: "built")
        let texts = Array(`A script in its shell`.hostile.filter { !$0.isEmpty }.prefix(540))
        for (file, shell) in [("script", ["dash"])] + PublicScript.shells.map({ ("built", $0) })
        where Tool.isExpected(shell[0]) {
            let flag = try Subprocess.run(
                shell[0],
                shell.dropFirst() + [file, "--keep=\(texts[0])"] + texts.map { "--item=\($0)" } + ["--"] + texts,
                environment: command.variables, in: folder.url)
            let wanted = ([texts[0]] + texts + texts).map { $0 + "\0" }.joined()
            #expect(Array(flag.output) == Array(wanted.utf8), "\(shell) \(Seed.ofThisRun): \(flag.errorText)")
            for text in texts.prefix(40) {
                var variables = command.variables
                variables["KEEP_VALUE"] = text
                let result = try Subprocess.run(
                    shell[0], shell.dropFirst() + [file], environment: variables, in: folder.url)
                #expect(Array(result.output) == Array((text + "\0").utf8), "\(shell) \(text.debugDescription)")
            }
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { !$0.hasPrefix(".") }
        #expect(files.sorted() == ["built", "script"])
    }
}
