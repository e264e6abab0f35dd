import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// Options that exclude or require each other, with values in several layers.
@Suite struct `Options that exclude each other` {
    private static let script = """
        #!/bin/sh
        #prefs domain=com.example.backup
        # @flag   --json {conflicts: text} {env: J}
        # @flag   --text
        # @option --from=TEXT {conflicts: to}
        # @option --to=TEXT {requires: port}
        # @option --port=INT
        # @flag   --a {one-of: b} {env: A}
        # @flag   --b

        """

    struct Row: Sendable, CustomTestStringConvertible {
        let line: String
        var variables: EnvironmentVariables = [:]
        var user = "{ a = YES; }"
        var site: String?
        var forced: String?
        /// The values that are neither empty nor false, or the first error and the status.
        let expected: String
        var notes = ""

        var testDescription: String { "\(user) \(site ?? "") \(forced ?? "") \(line): \(expected)" }
    }

    private static let file = "user (/home/ada/.config/prefs/com.example.backup.plist)"

    private static let rows = [
        // The command line displaces stored values and variables.
        Row(line: "--text", expected: "a text"), Row(line: "--text --a", expected: "a text"),
        Row(
            line: "--text", variables: ["J": "1"], expected: "a text",
            notes: "backup: J: ignored, because it cannot be given together with --text\n"),
        Row(line: "--from x", user: "{ a = YES; to = y; port = 1; }", expected: "a from port"),
        Row(line: "--to x", user: "{ a = YES; from = y; port = 1; }", expected: "a port to"),
        Row(line: "--b", expected: "b"), Row(line: "", variables: ["A": "1"], user: "{ b = YES; }", expected: "a"),
        // A false value is ignored.
        Row(line: "", user: "{ a = YES; json = NO; text = YES; }", expected: "a text"),
        Row(line: "--text", variables: ["J": "0"], expected: "a text"),
        Row(line: "", user: "{ a = NO; b = YES; }", expected: "b"),
        Row(line: "", user: "{ a = NO; }", expected: "exactly one of --a and --b must be given 2"),
        // A higher stored layer displaces a lower one.
        Row(line: "", site: "{ json = YES; b = YES; }", expected: "a json"),
        Row(line: "", user: "{ b = YES; text = YES; }", site: "{ json = YES; a = YES; }", expected: "b text"),
        Row(line: "", user: "{ a = YES; json = YES; }", forced: "{ text = YES; }", expected: "a text"),
        // Within a layer they are an error, unless a higher one decides.
        Row(line: "--json --text", expected: "--json cannot be given together with --text 2"),
        Row(
            line: "", user: "{ a = YES; json = YES; text = YES; }",
            expected: "--json in \(file) cannot be given together with --text 2"),
        Row(line: "--text", user: "{ a = YES; json = YES; text = YES; }", expected: "a text"),
        // A forced value cannot be displaced.
        Row(
            line: "--json", forced: "{ text = YES; }",
            expected: "--json cannot be given together with --text, which the administrator forces 2"),
        Row(
            line: "", variables: ["J": "1"], forced: "{ text = YES; }",
            expected: "J cannot be given together with --text, which the administrator forces 2"),
        Row(
            line: "--json --save", forced: "{ text = YES; }",
            expected: "--json cannot be given together with --text, which the administrator forces 4"),
        // What is required must be in force.
        Row(line: "--to x", expected: "--to requires --port 2"),
        Row(line: "", user: "{ a = YES; to = x; }", expected: "--to in \(file) requires --port 2"),
        Row(line: "--from x", user: "{ a = YES; to = x; }", expected: "a from"),
    ]

    private func bench(_ row: Row) throws -> ScriptBench {
        let bench = try ScriptBench(script: Self.script)
        try bench.machine.store(
            try #require(PropertyList(parsing: row.user).dictionaryValue), as: "com.example.backup")
        if let site = row.site { try bench.machine.administrate("/etc/xdg/prefs/com.example.backup.plist", site) }
        if let forced = row.forced {
            try bench.machine.administrate("/etc/prefs/forced/com.example.backup.plist", forced)
        }
        return bench
    }

    @Test(arguments: rows) func `are used by layer`(_ row: Row) throws {
        let bench = try bench(row)
        let outcome = try bench.run(
            row.line.split(separator: " ").map(String.init), variables: row.variables)
        if outcome.status == 0 {
            let names = ["a", "b", "from", "json", "port", "text", "to"].filter {
                !["''", "'false'"].contains(bench.value($0, in: outcome) ?? "")
            }
            #expect(names.joined(separator: " ") == row.expected)
            #expect(outcome.errors == row.notes)
        } else {
            let line = outcome.errors.split(separator: "\n").first.map { String($0.dropFirst("backup: ".count)) } ?? ""
            #expect("\(line) \(outcome.status)" == row.expected)
        }
    }

    @Test func `replace each other in the stored settings`() throws {
        let bench = try bench(Row(line: "", user: "{ a = YES; port = 1; }", expected: ""))
        func stored() throws -> String {
            try bench.prefs("read", "--format", "json", "com.example.backup").output.filter { !" \n".contains($0) }
        }
        #expect(try bench.run(["--save", "--from", "x"]).status == 0)
        #expect(try stored() == #"{"a":"YES","from":"x","port":"1"}"#)
        #expect(try bench.run(["--save", "--to", "y"]).status == 0)
        #expect(try stored() == #"{"a":"YES","port":"1","to":"y"}"#)
        #expect(try bench.run(["--save", "--b"]).status == 0)
        #expect(try stored() == #"{"b":true,"port":"1","to":"y"}"#)
        _ = try bench.prefs("-currentHost", "write", "com.example.backup", "json", "-bool", "YES")
        #expect(try bench.run(["--save", "--text"]).status == 0)
        #expect(try bench.prefs("-currentHost", "read", "com.example.backup", "json").status == 1)
        #expect(try stored() == #"{"b":true,"port":"1","text":true,"to":"y"}"#)
    }

    @Test func `are both shown with the values in force`() throws {
        let bench = try bench(Row(line: "", user: "{ a = YES; from = x; }", expected: ""))
        let help = try bench.run(["--text", "--to", "y", "--help-values"], variables: ["J": "1"]).output
        let text = help.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: " ")
        #expect(text.contains("now not set; true from environment gives way to --text"), "\(help)")
        #expect(text.contains("now not set; x from user gives way to --to"), "\(help)")
        #expect(text.contains("now not set; true given") && text.contains("now not set; y given"), "\(help)")
    }

    /// The settings of a command, with values that exclude each other: the writer, its input, and the status.
    @Test(
        arguments: [
            ("own", "write d :c:to y", "", 3), ("shared", "write d to y", "", 3),
            ("own", "write d c {from=x;to=y;}", "", 3), ("shared", "import d -", "{ from = x; to = y; }", 3),
            ("own", "import d -", "{ c = { from = x; to = y; }; }", 3),
            ("own", "import d -", "{ c = { to = y; }; }", 0), ("shared", "import d -", "{ to = y; }", 3),
            ("own", "form --plain d", "\ny\n:save\n", 8),
            ("shared", "form --plain d", "\ny\n:save\n", 8), ("own", "write d :c:port 1", "", 0),
        ] as [(String, String, String, Int32)])
    func `are checked for commands by every writer`(
        _ store: String, _ line: String, _ input: String, _ status: Int32
    ) throws {
        let bench = try ScriptBench(
            script: """
                #!/bin/sh
                #prefs domain=d
                # @command c {store: \(store)}
                # @option --from=TEXT {conflicts: to}
                # @option --to=TEXT
                # @option --port=INT
                # @option --name=TEXT!

                """)
        #expect(try bench.prefs("schema", "install", "/tmp/backup").status == 0)
        #expect(try bench.run(["c", "--from", "x", "--name", "n", "--save"]).status == 0)
        let words = ["prefs"] + line.split(separator: " ").map(String.init)
        let outcome = try runPrefs(words, input: input, on: bench.machine)
        #expect(outcome.status == status, "\(outcome)")
        let call = try bench.run(["c", "--name", "n"])
        #expect(call.status == 0, "\(outcome) \(call)")
        if line.hasPrefix("form") {
            #expect((outcome.output + outcome.errors).contains("cannot both have a value"), "\(outcome)")
        } else if status != 0 {
            let keys = store == "own" ? (":c:from", ":c:to") : ("from", "to")
            #expect(outcome.errors.contains("\(keys.0): cannot be given together with \(keys.1)"), "\(outcome)")
        }
    }
}
