import Foundation
import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// `export --format env`: variables that a shell and `import --from env` read.
@Suite struct EnvironmentExportTests {
    private static let schema = """
        { Domain = d; Settings = (
            { Key = flag; Type = boolean; }, { Key = size; Type = integer; }, { Key = ratio; Type = real; },
            { Key = day; Type = date; }, { Key = text; },
            { Key = token; Sensitive = YES; }, { Key = "a-key"; Sensitive = YES; Type = array; }
        ); }
        """

    private static func machine(_ values: PropertyList, schema: Bool = false) throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        if schema { try machine.administrate("/usr/share/prefs/schemas/d.plist", Self.schema) }
        let path = "/home/ada/.config/prefs/d.plist" as FilePath
        try machine.fileSystem.makeFolders(path.parent)
        try machine.fileSystem.replace(path, with: Array(try values.serialized(as: .binary)).span.bytes)
        return machine
    }

    @Test func `it has a line for each key, sorted, with the raw text of its value`() throws {
        let values: PropertyList = [
            "b": true, "A": 5, "c_1": -1.5, "_d": "it's", "e": .date(Date(timeIntervalSinceReferenceDate: 0)), "f": "",
            "g": false, "B": "a\nb",
        ]
        let lines =
            "A='5'\nB='a\nb'\n_d='it'\\''s'\nb='true'\nc_1='-1.5'\ne='2001-01-01T00:00:00Z'\nf=''\ng='false'\n"
        let machine = try Self.machine(values)
        #expect(try machine.run("prefs export --format env d -") == Transcript.Outcome(output: lines))
        #expect(try machine.run("prefs export --format env d /tmp/.env") == Transcript.Outcome())
        #expect(try machine.text(of: "/tmp/.env") == lines)
    }

    static let refused: [(key: String, value: PropertyList, reason: String)] = [
        ("a-b", "x", "a key that is no name of a shell variable"),
        ("a.b", "x", "a key that is no name of a shell variable"),
        ("1a", "x", "a key that is no name of a shell variable"),
        ("aé", "x", "a key that is no name of a shell variable"),
        ("a b", "x", "a key that is no name of a shell variable"), ("a", ["x"], "a value of type array"),
        ("a", ["x": 1], "a value of type dictionary"), ("a", .data(Data([1])), "a value of type data"),
        ("a", "x\0y", "the character U+0000"),
    ]

    @Test(arguments: refused)
    func `what a variable cannot hold is an error that names its key`(
        _ row: (key: String, value: PropertyList, reason: String)
    ) throws {
        let machine = try Self.machine(["k": "v", "z-z": 1, .init(row.key): row.value])
        let outcome = try machine.run("prefs export --format env d /tmp/out")
        let line = "\(row.key): env cannot hold \(row.reason)\n"
        let lines = [line, "z-z: env cannot hold a key that is no name of a shell variable\n"]
        #expect(outcome == Transcript.Outcome(errors: "prefs: " + lines.joined(), status: 3))
        #expect(try machine.fileSystem.contents(of: "/tmp/out") == nil)
    }

    @Test(arguments: ["-", "/tmp/out"])
    func `sensitive values are left out of an output and of a file`(_ file: String) throws {
        let machine = try Self.machine(["size": 1, "token": "secret", "a-key": ["secret"]], schema: true)
        let outcome = try machine.run("prefs export --format env d \(file)")
        #expect(outcome.errors == "prefs: d: omitted, since it is sensitive: a-key, token\n" && outcome.status == 0)
        #expect(try (file == "-" ? outcome.output : machine.text(of: "/tmp/out")) == "size='1'\n")
    }

    /// Texts in which a shell, or a reader of variables, may see something else.
    static let texts = [
        "", " ", " a b ", "it's", "'", "''", "\"", "a\"b\"", "$HOME ${x} $(y)", "`z`", "\\", "\\\\n", "\\'", "a\nb",
        "\n",
        "a\n", "# no comment", "a # b", "*?[~!]", "a=b", "é 😀", "\u{1B}[0m\t\r", "a\r\nb", "export A=1", "-n", "%s\\0",
    ]

    @Test(arguments: [["sh"], ["dash"], ["busybox", "sh"]].filter { Tool.path(of: $0[0]) != nil })
    func `a shell reads the values that were exported, and so does import`(_ shell: [String]) throws {
        var random = SeededGenerator(stream: "env \(shell)")
        let joined = (0..<100).map { _ in
            (0..<Int.random(in: 1...4, using: &random)).compactMap { _ in Self.texts.randomElement(using: &random) }
                .joined()
        }
        let texts = Self.texts + joined
        let keys = texts.indices.map { "key_\($0)" }
        let values = PropertyList.Dictionary(zip(keys, texts).map { ($0, .string($1)) })
        let machine = try Self.machine(.dictionary(values))
        let exported = try machine.run("prefs export --format env d -")
        let folder = try TemporaryFolder()
        try Data(exported.output.utf8).write(to: folder.url.appending(path: "file"))
        let words = keys.map { "\"$\($0)\"" }.joined(separator: " ")
        let read = try Subprocess.run(
            "env", ["-i"] + shell.map { Tool.path(of: $0) ?? $0 } + ["-c", ". ./file; printf '%s\\0' \(words)"],
            in: folder.url)
        #expect(read.errorText == "" && read.status == 0)
        #expect(
            read.text.split(separator: "\0", omittingEmptySubsequences: false).dropLast() == texts.map { $0[...] }[...])
        let imported = try runPrefs(
            ["prefs", "import", "--from", "env", "--all", "e", "-"], input: exported.output, on: machine)
        #expect(imported.status == 0 && imported.errors == "")
        #expect(try machine.run("prefs diff d e") == Transcript.Outcome(), "\(Seed.ofThisRun)")
    }

    @Test func `values of declared types are imported again without a change`() throws {
        let machine = try Self.machine(
            [
                "flag": true, "size": -7, "ratio": 0.1, "day": .date(Date(timeIntervalSinceReferenceDate: 86_400)),
                "text": "5",
            ], schema: true)
        let exported = try machine.run("prefs export --format env d -")
        let before = try machine.run("prefs read --format typed d")
        #expect(try machine.run("prefs delete-all d").status == 0)
        let imported = try runPrefs(
            ["prefs", "import", "--from", "env", "d", "-"], input: exported.output, on: machine)
        #expect(imported.status == 0 && imported.errors == "" && before.status == 0)
        #expect(try machine.run("prefs read --format typed d") == before)
    }

    @Test func `variables that end in NUL are imported as they are`() throws {
        let machine = try Self.machine([:])
        let input = "A= 'x' # y\0B=1\n2\0C=\0export D=$A\0"
        let outcome = try runPrefs(["prefs", "import", "--from", "env", "--all", "e", "-"], input: input, on: machine)
        let lines = [#"A: " 'x' # y""#, #"B: "1\n2""#, #"C: """#, #"export D: "$A""#]
        #expect(outcome == Transcript.Outcome(output: lines.map { "+ e \($0)\n" }.joined()))
    }
}
