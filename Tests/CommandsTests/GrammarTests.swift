import Commands
import Foundation
import Platform
import Preferences
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct GrammarTests {
    /// Returns the verb, the options and the operands of a parsed command line.
    private func reading(_ words: [String], as program: String = "prefs") throws -> String {
        let request = try Parser.request(words, program: program) { $0 == "Notes" ? "org.example.notes" : nil }
        guard case .run(let invocation) = request else { return "" }
        let options = (Option.global + invocation.verb.options).flatMap { option in
            invocation.all(option).map { $0.isEmpty ? option.name : "\(option.name)=\($0)" }
        }
        let operands = Set(invocation.verb.forms.joined().map(\.name)).sorted().flatMap { name in
            invocation.words(name).isEmpty ? [] : ["\(name):\(invocation.words(name).joined(separator: ","))"]
        }
        let value = invocation.typedValue.isEmpty ? [] : ["=\(invocation.typedValue.joined(separator: ","))"]
        return (invocation.path + options + operands + value).joined(separator: " ")
    }

    static let rows: [([String], String)] = [
        (["read"], "read"), (["READ"], "read"), (["Read", "d"], "read DOMAIN:d"),
        (["read", "d", "k"], "read DOMAIN:d KEY:k"),
        (["read", "-g"], "read DOMAIN:-g"), (["read", "-globalDomain", "k"], "read DOMAIN:-globalDomain KEY:k"),
        (["-currentHost", "read", "d"], "read -currentHost DOMAIN:d"), (["-host", "h", "read"], "read -host=h"),
        (["--store", "gnustep", "domains"], "domains --store=gnustep"),
        (["--store=/x", "domains"], "domains --store=/x"),
        (["read", "--format", "XML1", "d"], "read --format=xml DOMAIN:d"),
        (["read", "--format=binary1", "d"], "read --format=binary DOMAIN:d"),
        (["read", "--layer", "Site", "-g", "k"], "read --layer=site DOMAIN:-g KEY:k"),
        (["read", "--default", "", "d", "k"], "read --default DOMAIN:d KEY:k"),
        (["read", "--", "--d"], "read DOMAIN:--d"),
        (["read", "--effective", "--", "-d", "--"], "read --effective DOMAIN:-d KEY:--"),
        (["remove", "d"], "delete DOMAIN:d"), (["delete", "d", "--", "-k"], "delete DOMAIN:d KEY:-k"),
        (["write", "d", "k", "v"], "write DOMAIN:d KEY:k VALUE:v"),
        (["write", "d", "k", "-int", "-5"], "write DOMAIN:d KEY:k =-int,-5"),
        (["write", "--int", "-5", "d", "k"], "write DOMAIN:d KEY:k =-int,-5"),
        (["write", "d", "--int=-5", "k", "--force"], "write --force DOMAIN:d KEY:k =-int,-5"),
        (["write", "d", "k", "--string", "--force"], "write DOMAIN:d KEY:k =-string,--force"),
        (["write", "d", "k", "-5"], "write DOMAIN:d KEY:k VALUE:-5"),
        (["write", "d", "k", "-.5e3", "--layer=site"], "write --layer=site DOMAIN:d KEY:k VALUE:-.5e3"),
        (["write", "d", "k", "--", "--force"], "write DOMAIN:d KEY:k VALUE:--force"),
        (["write", "d", "--", "k", "-int"], "write DOMAIN:d KEY:k VALUE:-int"),
        (["write", "--force", "d", "k", "v", "--if-absent"], "write --force --if-absent DOMAIN:d KEY:k VALUE:v"),
        (["write", "d", "--plist", "{}"], "write DOMAIN:d =-plist,{}"),
        (
            ["write", "d", "k", "-array", "--", "x", "--force"],
            "write DOMAIN:d KEY:k =-array,-string,x,-string,--force"
        ),
        (
            ["write", "d", "k", "--array", "a", "--string", "--force"],
            "write DOMAIN:d KEY:k =-array,a,--string,--force"
        ),
        (["write", "d", "k", "--array", "-h", "-currentHost"], "write DOMAIN:d KEY:k =-array,-h,-currentHost"),
        (["write", "d", "k", "--dict", "-int", "-int", "1"], "write DOMAIN:d KEY:k =-dict,-int,-int,1"),
        (
            ["write", "d", "k", "--dict", "a", "--int", "1", "--", "--force", "--"],
            "write DOMAIN:d KEY:k =-dict,a,--int,1,--force,-string,--"
        ),
        (["write", "d", "n", "--add", "-1", "--print"], "write --print DOMAIN:d KEY:n =-add,-1"),
        (["write", "d", "--add=.5", "n"], "write DOMAIN:d KEY:n =-add,.5"),
        (["write", "d", "--toggle", "b", "--force"], "write --force DOMAIN:d KEY:b =-toggle"),
        (["write", "d", "k", "--dict-add"], "write DOMAIN:d KEY:k =-dict-add"),
        (["read", "d", "k", "--effective", "--format=json"], "read --effective --format=json DOMAIN:d KEY:k"),
        (["read", "d", "--current-host"], "read -currentHost DOMAIN:d"),
        (["read", "--host", "h", "d", "--store=/x"], "read -host=h --store=/x DOMAIN:d"),
        (["read", "--global-domain", "k"], "read DOMAIN:--global-domain KEY:k"),
        (["read", "-app", "Notes", "k"], "read DOMAIN:org.example.notes KEY:k"),
        (["diff", "--app", "Notes", "-g"], "diff A:org.example.notes B:-g"),
        (["write", "d", "k", "-h"], ""),
        (["import", "d", "-"], "import DOMAIN:d FILE:-"),
        (["export", "--format", "xml", "-g", "-"], "export --format=xml DOMAIN:-g FILE:-"),
        (["find", "-x"], ""), (["find", "--", "-x"], "find WORD:-x"),
        (["explain", "d", "--format", "json", "k"], "explain --format=json DOMAIN:d KEY:k"),
        (["diff", "a", "b", "--format=commands"], "diff --format=commands A:a B:b"),
        (["diff", "-g", "--", "--b"], "diff A:-g B:--b"),
        (["apply", "a", "--dry-run", "b", "c", "--prune"], "apply --prune --dry-run FILE:a,b,c"),
        (["apply", "-"], "apply FILE:-"),
        (["watch", "--ignore", "a*", "--ignore", "b"], "watch --ignore=a* --ignore=b"),
        (["undo", "d", "3"], "undo DOMAIN:d N:3"),
        (["convert", "f", "xml", "-o", "g"], "convert -o=g FILE|DOMAIN:f FORMAT:xml"),
        (["convert", "f", "XML1"], "convert FILE|DOMAIN:f FORMAT:xml"),
        (["completions", "Bash"], "completions SHELL:bash"),
        (["args", "s", "--", "-k", "--", "x"], "args ARGUMENT:-k,--,x SCRIPT:s"),
        (["mirror", "sync", "--pull"], "mirror sync --pull"),
        (["mirror", "conflicts"], "mirror conflicts"),
        (["mirror", "conflicts", "show", "7k"], "mirror conflicts NAME|DOMAIN:7k show|accept|restore:show"),
        (["schema", "show", "d", "--format", "man"], "schema show --format=man DOMAIN|FILE:d"),
        (["__complete", "bash", "--format", ""], "__complete SHELL:bash WORD:--format,"),
    ]

    @Test(arguments: rows.filter { !$0.1.isEmpty })
    func `a command line is parsed as its row states`(_ words: [String], _ expected: String) throws {
        #expect(try reading(words) == expected)
    }

    /// The grammar of macOS: options precede the domain, and everything after it is literal.
    static let classicRows: [([String], String)] = [
        (["delete", "d", "-k"], "delete DOMAIN:d KEY:-k"), (["write", "d", "k", "v"], "write DOMAIN:d KEY:k VALUE:v"),
        (["write", "d", "{}"], "write DICTIONARY:{} DOMAIN:d"),
        (["write", "d", "k", "-int", "-5"], "write DOMAIN:d KEY:k VALUE:-int,-5"),
        (["write", "--force", "d", "k", "--force"], "write --force DOMAIN:d KEY:k VALUE:--force"),
        (["write", "d", "k", "--help"], "write DOMAIN:d KEY:k VALUE:--help"),
        (["write", "d", "-int", "5"], "write DOMAIN:d KEY:-int VALUE:5"),
        (["write", "d", "k", "-array", "--", "x"], "write DOMAIN:d KEY:k VALUE:-array,--,x"),
        (["read", "-app", "Notes", "k"], "read DOMAIN:org.example.notes KEY:k"),
        (["read", "d", "-app"], "read DOMAIN:d KEY:-app"),
        (["-currentHost", "read", "d"], "read -currentHost DOMAIN:d"),
        (["explain", "d", "--format", "json", "k"], "explain --format=json DOMAIN:d KEY:k"),
    ]

    @Test(arguments: classicRows)
    func `a command line of macOS is parsed as its row states`(_ words: [String], _ expected: String) throws {
        #expect(try reading(words, as: "defaults") == expected)
    }

    @Test func `an option after the domain is rejected where it would be taken as a value`() throws {
        let failure = #expect(throws: UsageFailure.self) {
            try Parser.request(["delete", "d", "k", "--force"], program: "defaults")
        }
        #expect(failure?.problem == .lateOption("--force"))
    }

    static let failures: [([String], UsageFailure.Problem)] = [
        ([], .noVerb), (["-g", "read"], .unknownOption("-g", known: Option.global.map(\.name))),
        (["read", "d", "k", "x"], .unexpectedOperand("x")), (["write"], .missingOperand("DOMAIN")),
        (["write", "d"], .missingOperand("KEY")), (["rename", "d", "a"], .missingOperand("NEW")),
        (["import", "d"], .missingOperand("FILE")), (["find"], .missingOperand("WORD")),
        (["lint"], .missingOperand("FILE")),
        (["diff"], .missingOperand("A")),
        (["domains", "x"], .unexpectedOperand("x")),
        (["write", "--if-current"], .missingArgument(option: "--if-current", argument: "TEXT")),
        (["write", "d", "theme", "--force"], .missingOperand("VALUE")),
        (["write", "d", "k"], .missingOperand("VALUE")), (["write", "d", "{}"], .missingOperand("VALUE")),
        (["write", "d", "k", "a", "b"], .unexpectedOperand("b")),
        (["write", "d", "k", "v", "--int", "5"], .unexpectedOperand("v")),
        (["write", "d", "k", "--int", "5", "--int", "6"], .unexpectedOperand("--int")),
        (["write", "d", "k", "--int"], .missingArgument(option: "--int", argument: "N")),
        (["write", "d", "k", "--add"], .missingArgument(option: "--add", argument: "N")),
        (["write", "d", "k", "--toggle=on"], .unexpectedArgument(option: "--toggle")),
        (["write", "d", "k", "--toggle", "on"], .unexpectedOperand("on")),
        (["write", "d", "k", "--toggle", "--add", "1"], .unexpectedOperand("--add")),
        (["write", "d", "k", "--array", "a", "--layer", "site"], .optionAmongValues("--layer", of: "--array")),
        (["write", "d", "k", "-dict", "a", "b", "--host=x"], .optionAmongValues("--host", of: "--dict")),
        (["write", "d", "k", "-dict-add", "--help"], .optionAmongValues("--help", of: "--dict-add")),
        (["write", "d", "k", "--array-add", "a", "--help"], .optionAmongValues("--help", of: "--array-add")),
        (["read", "-app", "Nots"], .unknownApplication("Nots")),
        (["read", "-app"], .missingArgument(option: "-app", argument: "NAME")),
        (
            ["explain", "d", "--default"],
            .unknownOption(
                "--default",
                known: ["--effective", "--global", "--format", "-currentHost", "-host", "--store", "--help"])
        ),
        (
            ["watch", "--format", "yaml"],
            .unknownArgument(option: "--format", word: "yaml", known: ["text", "json", "commands"])
        ),
        (["completions", "csh"], .unknownOperand("SHELL", word: "csh", known: ["bash", "zsh", "fish"])),
        (
            ["convert", "f", "raw"],
            .unknownOperand(
                "FORMAT", word: "raw", known: ["xml", "binary", "json", "openstep", "gnustep", "toml", "folder"])
        ),
        (
            ["mirror", "conflicts", "drop", "1"],
            .unknownOperand("show|accept|restore", word: "drop", known: ["show", "accept", "restore"])
        ),
    ]

    @Test(arguments: failures)
    func `a command line that matches no form is rejected`(_ words: [String], _ problem: UsageFailure.Problem) {
        let failure = #expect(throws: UsageFailure.self) { try Parser.request(words) }
        #expect(failure?.problem == problem)
        #expect(failure?.status == .usage)
        #expect(failure?.lines.count == 1)
    }

    @Test func `without a verb a summary is printed on standard error`() throws {
        let outcome = try runPrefs(["prefs"])
        #expect(outcome == Transcript.Outcome(errors: HelpText.summary(program: "prefs"), status: 2))
        #expect(try runPrefs(["prefs", "help"]) == Transcript.Outcome(output: HelpText.overview()))
        #expect(try runPrefs(["prefs", "--help"]) == Transcript.Outcome(output: HelpText.overview()))
    }

    @Test func `without a verb the status is that of usage, although the summary cannot be printed`() throws {
        let machine = try SimulatedMachine()
        let terminal = SimulatedTerminal()
        terminal.failWrites(.noSpace)
        var environment = machine.environment
        environment.arguments = ["prefs"]
        let context = CommandContext(
            SystemServices(
                fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher,
                environment: environment, terminal: terminal))
        #expect(Prefs.run(in: context) == .usage)
    }

    @Test func `a closed output pipe is not an error, and a full disk is`() throws {
        let machine = try SimulatedMachine()
        for (code, status) in [(ErrorCode(rawValue: 32), ExitStatus.done), (.noSpace, .systemFailed)] {
            let terminal = SimulatedTerminal()
            terminal.failWrites(code)
            var environment = machine.environment
            environment.arguments = ["prefs", "help"]
            let context = CommandContext(
                SystemServices(
                    fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher,
                    environment: environment, terminal: terminal))
            #expect(Prefs.run(in: context) == status)
        }
    }

    @Test func `random command lines never trap`() throws {
        var generator = SeededGenerator(stream: "command lines")
        let options = Verb.all.flatMap(\.options).map(\.name) + Option.global.map(\.name)
        let words =
            Verb.all.map(\.name) + options + TypeFlag.allCases.map(\.rawValue)
            + ["-", "--", "", "-g", "d", ":a:0", "\\:", "{", "(", "json", "=", "--=", "--format=", "\0", "é"]
            + String.awkward
        let machine = try SimulatedMachine()
        for _ in 0..<(Extent.isFull ? 10_000 : 2000) {
            let line = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                words.randomElement(using: &generator) ?? ""
            }
            let outcome = try runPrefs([Bool.random(using: &generator) ? "prefs" : "defaults"] + line, on: machine)
            // Like grep, `find` prints nothing if it finds nothing.
            #expect(outcome.status <= 1 || !(outcome.errors + outcome.output).isEmpty, "\(line) \(Seed.ofThisRun)")
        }
    }
}

@Suite struct VerbTableTests {
    static let everyVerb: [[Verb]] = Verb.all.flatMap { verb in [[verb]] + verb.parts.map { [verb, $0] } }

    @Test func `names and aliases are unique`() {
        let names = Verb.all.flatMap { [$0.name] + $0.aliases }
        #expect(Set(names).count == names.count)
        for verb in Verb.all { #expect(Set(verb.parts.map(\.name)).count == verb.parts.count) }
    }

    @Test func `a verb found by the fast path is the one in the table`() {
        for verb in Verb.all {
            let found = Verb.fastPath(verb.name)
            #expect(found == nil || (found?.name == verb.name && found?.summary == verb.summary))
        }
        #expect(Verb.fastPath("read") != nil)
    }

    @Test(arguments: everyVerb)
    func `a row of the table is well-formed`(_ path: [Verb]) throws {
        let verb = try #require(path.last)
        #expect(verb.name == verb.name.lowercased())
        #expect(!verb.summary.isEmpty && !verb.summary.hasSuffix("."))
        #expect(Set(verb.options.map(\.name)).count == verb.options.count)
        #expect(verb.options.allSatisfy { $0.name.hasPrefix("--") || $0.name == "-o" })
        #expect(!verb.options.contains { $0.summary.hasSuffix(".") || $0.summary.isEmpty })
        #expect(Set(verb.statuses).isDisjoint(with: [.done, .usage]))
        for form in verb.forms {
            let open = form.drop { $0.occurrence == .once }
            #expect(!open.dropFirst().contains { $0.occurrence == .once }, "optional operands come last")
            #expect(!form.dropLast().contains { [.oneOrMore, .zeroOrMore].contains($0.occurrence) })
        }
    }

    @Test(arguments: everyVerb)
    func `help lists everything in the row`(_ path: [Verb]) throws {
        let verb = try #require(path.last)
        let text = HelpText.text(of: path)
        for option in verb.options { #expect(text.contains("  \(option.name)")) }
        for form in verb.forms { for operand in form { #expect(text.contains(operand.name)) } }
        for part in verb.parts { #expect(text.contains("  \(part.name)")) }
        for status in verb.allStatuses { #expect(text.contains(status.meaning)) }
        for line in text.split(separator: "\n") { #expect(line.count <= 79, "\(line)") }
    }

    @Test func `the overview names every verb and global option on lines that fit`() {
        let text = HelpText.overview()
        for verb in Verb.all where verb.kind != .hidden { #expect(text.contains("\n  \(verb.name)")) }
        for option in Option.global { #expect(text.contains(option.name)) }
        #expect(!text.contains("__complete"))
        for line in text.split(separator: "\n") { #expect(line.count <= 79, "\(line)") }
    }

    @Test(arguments: HelpTopic.all.map(\.name))
    func `a topic fits on a terminal, and its examples parse`(_ name: String) throws {
        let lines = try runPrefs(["prefs", "help", name]).output.split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 24 && lines.allSatisfy { $0.count <= 79 }, "\(lines)")
        #expect(HelpText.overview().contains(name))
        #expect(try runPrefs(["prefs", "help", name.uppercased()]).output == lines.joined(separator: "\n"))
        #expect(try runPrefs(["prefs", "help", name, "x"]).errors == "prefs: help: unexpected argument x\n")
        let examples = lines.filter { $0.hasPrefix("    prefs ") }
        #expect(!examples.isEmpty)
        for example in examples {
            // Quotes group words, and are no part of them.
            let parts = example.dropFirst("    prefs ".count).split(separator: "'", omittingEmptySubsequences: false)
            let words = parts.enumerated().flatMap { index, part in
                index.isMultiple(of: 2) ? part.split(separator: " ").map(String.init) : [String(part)]
            }
            #expect(throws: Never.self, "\(example)") { try Parser.request(words) }
        }
    }

    @Test func `the summary fits on a terminal of 24 lines, and names the verbs as the manual does`() throws {
        let text = HelpText.summary(program: "prefs")
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 24 && lines.allSatisfy { $0.count <= 79 }, "\(text)")
        let manual = try String(decoding: Data(contentsOf: packageRoot.appending(path: "man/prefs.1")), as: UTF8.self)
        for (title, verbs) in Verb.tasks {
            let names = verbs.map(\.name)
            #expect(manual.contains("\n.It \(title)\n.Cm \(names.joined(separator: " , "))\n"), "\(title)")
            let row = lines.first { $0.hasPrefix(title + " ") }
            #expect(row?.hasSuffix(" " + names.joined(separator: ", ")) == true, "\(title)")
        }
    }

    @Test func `each verb has an example in its help`() throws {
        let paths = Self.everyVerb.filter { $0.last?.kind != .hidden && $0.last?.parts.isEmpty == true }
        #expect(paths.count == Verb.examples.count)
        for path in paths {
            let words = (["prefs"] + path.map(\.name)).joined(separator: " ")
            let example = try #require(Verb.examples.first { ($0 + " ").hasPrefix(words + " ") }, "\(words)")
            #expect(HelpText.text(of: path).contains("\n\n    \(example)\n"), "\(words)")
            guard case .run(let invocation) = try Parser.request(Self.words(example)) else {
                Issue.record("\(example)")
                continue
            }
            #expect(invocation.path == path.map(\.name), "\(example)")
        }
    }

    private static func words(_ example: String) throws -> [String] {
        Array(try ShellScript.words(example.replacing("~/", with: "./")).dropFirst())
    }

    /// Those that need neither a terminal nor other hosts, in their order.
    @Test func `the examples of help do what they say`() throws {
        let machine = try SimulatedMachine()
        try machine.setWorkingFolder("/home/ada")
        let files = [
            "package.json": #"{"contributors": [{"name": "Ada"}, {"name": "Bea"}]}"#,
            "settings.json": #"{"theme": "dark"}"#, "settings/com.example.app.json": #"{"theme": "light"}"#,
            ".config/Code/User/settings.json": "{}",
        ]
        for (name, text) in files {
            let path = FilePath("/home/ada").resolving(try #require(FilePath(name)))
            try machine.fileSystem.makeFolders(path.parent)
            try machine.fileSystem.replace(path, with: Array(text.utf8).span.bytes)
        }
        let skipped = ["edit", "form", "browse", "lint", "args", "watch", "schema", "mirror", "doctor"]
        var count = 0
        for example in Verb.examples {
            let words = try Self.words(example)
            guard !skipped.contains(words[0]) else { continue }
            let outcome = try runPrefs(["prefs"] + words, on: machine)
            let isDifferent = ["diff", "apply"].contains(words[0])
            #expect(outcome.status == (isDifferent ? 8 : 0), "\(example): \(outcome)")
            count += 1
        }
        #expect(count > 18)
    }

    @Test func `statuses are numbered from 0 to 13, and each belongs to a verb`() {
        #expect(ExitStatus.allCases.map(\.rawValue) == Array(0...13))
        #expect(Set(Verb.all.flatMap(\.allStatuses)) == Set(ExitStatus.allCases))
    }

    /// Options without an effect, the only ones that each command line has.
    static let withoutEffect = [
        "lint --store s ./a.json", "lint --host h ./a.json", "lint --current-host ./a.json", "help --store s",
        "completions bash --host h", "doctor --host h", "doctor --current-host",
        "explain --current-host d", "mirror init --host h ./m", "mirror status --current-host",
        "schema list --host h", "schema check --store s ./a.json", "schema check --host h ./a.json",
        "write --new-host d k v", "import --new-host d ./a.json", "copy --new-host d a b",
        "rename --new-host d a b", "apply --new-host ./a.json",
        "write --layer site ./a.json k v", "read --layer user ./a.json", "read --current-host ./a.json k",
        "history --current-host ./a.json", "watch --layer site ./a.json", "edit --layer site ./a.json",
        "delete --layer site ./a.json k", "undo --layer site ./a.json", "import --layer site ./a.json ./a.json",
        "export --layer site ./a.json -", "rename --layer site ./a.json a b", "copy --layer site ./a.json a b",
    ]

    @Test(arguments: withoutEffect)
    func `an option without an effect is refused, and nothing is done`(_ line: String) throws {
        let machine = try SimulatedMachine()
        try machine.setWorkingFolder("/home/ada")
        let text = #"{"a": 1}"#
        try machine.fileSystem.replace("/home/ada/a.json", with: Array(text.utf8).span.bytes)
        let words = line.split(separator: " ").map(String.init)
        let outcome = try runPrefs(["prefs"] + words, on: machine)
        let option = try #require(words.first { $0.hasPrefix("--") })
        #expect(outcome.status == 2 && outcome.errors.contains(option), "\(outcome)")
        #expect(outcome.output.isEmpty)
        #expect(try machine.fileSystem.contents(of: "/home/ada/a.json", limit: 100) == Array(text.utf8))
    }

    @Test func `a pattern is the name of a domain only if that is asked for`() throws {
        let machine = try SimulatedMachine()
        try machine.setWorkingFolder("/home/ada")
        _ = try runPrefs(["prefs", "write", "d", "k", "1"], on: machine)
        let words = [["write", "com.*", "k", "2"], ["import", "a?", "-"], ["copy", "d", "k", "k", "--to", "[ab]"]]
        for words in words {
            let refused = try runPrefs(["prefs"] + words, input: "{}", on: machine)
            #expect(refused.status == 2 && refused.errors.contains("--new-domain"), "\(refused)")
        }
        #expect(try runPrefs(["prefs", "domains"], on: machine).output == "d\n")
        #expect(try runPrefs(["prefs", "write", "--new-domain", "com.*", "k", "2"], on: machine).status == 0)
        // It exists now.
        #expect(try runPrefs(["prefs", "write", "com.*", "k", "3"], on: machine).status == 0)
        #expect(try runPrefs(["defaults", "write", "a*", "k", "2"], on: machine).status == 0)
    }
}
