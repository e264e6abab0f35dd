import Commands
import Foundation
import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// Invalid scripts and schemas cause a one-line error and output that is safe to evaluate.
@Suite struct `A hostile script` {
    /// Scripts, their errors after the program's name, and the exit status.
    static let scripts: [(script: String, errors: String, status: Int32)] = [
        (
            "",
            "/tmp/backup: the script has no declaration; add a line #prefs, without a space, or # prefs-schema: FILE", 5
        ),
        (
            "#!/bin/sh\necho hello\n",
            "/tmp/backup: the script has no declaration; add a line #prefs, without a space, or # prefs-schema: FILE", 5
        ),
        (
            "\0\0\0\u{FFFF}",
            "/tmp/backup: the script has no declaration; add a line #prefs, without a space, or # prefs-schema: FILE",
            5
        ),
        ("# prefs-schema:\n", "/tmp/backup:1: missing file name after prefs-schema:", 5),
        ("# prefs-schema: none.plist\n", "/tmp/none.plist: no such schema", 1),
        ("# prefs-schema: /tmp\n", "/tmp: not a regular file", 6),
        ("# prefs-schema: a\0b\n", "/tmp/backup: missing file name", 5),
        ("\n#prefs{\n# Domain = d;\n", "/tmp/backup:2: missing #} at the end of the schema", 5),
        ("#prefs{\ntouch canary\n#}\n", "/tmp/backup:2: a line of the schema must begin with #", 5),
        ("#prefs{\n#}\n", "/tmp/backup:1:1: the input is empty", 5),
        (
            "#prefs{\n# Domain = \"../evil\";\n#}\n", "/tmp/backup:2:3: :Domain: invalid name ../evil",
            5
        ),
        (
            "#prefs{\n# Domain = d; Settings = ({ Key = k; Typ = integer; });\n#}\n",
            "/tmp/backup:2:38: :Settings:0:Typ: unknown attribute Typ; did you mean Type?", 5
        ),
        (
            "#prefs{\n# Domain = d; Settings = ({ Key = PATH; });\n#}\n",
            "backup: the shell reserves the variable PATH; use --prefix for the setting PATH", 5
        ),
        (
            "#prefs{\n# Domain = d; Settings = ({ Key = a.b; }, { Key = a_b; });\n#}\n",
            "backup: the settings a.b and a_b would all become the variable a_b", 5
        ),
        (
            "#prefs{\n# Domain = d; Extends = (d);\n#}\n",
            "/tmp/backup:2:26: :Extends:0: a schema that extends itself: d → d", 5
        ),
    ]

    @Test(arguments: scripts.indices)
    func `is an error, and ends`(_ index: Int) throws {
        let (script, errors, status) = Self.scripts[index]
        let outcome = try ScriptBench(script: script).run([])
        #expect(outcome.errors == "prefs: \(errors)\n")
        #expect(outcome.output == "exit \(status)\n")
        #expect(outcome.status == status)
    }

    @Test func `is searched only as far as a schema can be from its start`() throws {
        let bench = try ScriptBench()
        let payload = String(repeating: "x", count: 3 << 20)
        try bench.write("# prefs-schema: backup.plist\n\(payload)", to: "/tmp/large")
        #expect(try bench.run(["t"], script: "/tmp/large").status == 0)
        try bench.write("\(payload)\n# prefs-schema: backup.plist\n", to: "/tmp/late")
        #expect(try bench.run(["t"], script: "/tmp/late").status == 5)
    }

    @Test func `has no schema beyond the size limit`() throws {
        let bench = try ScriptBench(schema: String(repeating: " ", count: (16 << 20) + 1))
        let outcome = try bench.run(["t"])
        #expect(outcome.errors == "prefs: /tmp/backup.plist: too large for a schema, with 16777217 bytes\n")
        #expect(outcome.output == "exit 5\n")
    }

    @Test(arguments: [
        ("/tmp/none", "/tmp/none: no such script", 1), ("/tmp", "/tmp: not a regular file", 6),
        ("/tmp/loop", "cannot open /tmp/loop: Too many levels of symbolic links", 6),
        ("/tmp/backup/x", "cannot open /tmp/backup/x: Not a directory", 6),
    ])
    func `may be missing`(_ script: String, _ errors: String, _ status: Int32) throws {
        let bench = try ScriptBench()
        try bench.machine.fileSystem.makeSymbolicLink("/tmp/loop", to: "/tmp/loop")
        let outcome = try bench.run([], script: script)
        #expect(outcome.errors == "prefs: \(errors)\n")
        #expect(outcome.output == "exit \(status)\n" && outcome.status == status)
    }

    @Test func `may be a link, with its schema next to the link or the script`() throws {
        let bench = try ScriptBench()
        try bench.machine.fileSystem.makeFolders("/tmp/bin")
        try bench.machine.fileSystem.makeSymbolicLink("/tmp/bin/backup", to: "/tmp/backup")
        #expect(bench.value("keep", in: try bench.run(["t"], script: "/tmp/bin/backup")) == "'7'")
        try bench.write("{ Domain = d; Settings = ({ Key = keep; Default = here; }); }", to: "/tmp/bin/backup.plist")
        #expect(bench.value("keep", in: try bench.run([], script: "/tmp/bin/backup")) == "'here'")
    }

    @Test(
        arguments: [
            (["--bogus", "s"], "exit 2\n"), (["--shell", "csh", "s"], "exit 2\n"), ([], "exit 2\n"),
            (["--shell", "fish", "--bogus", "s"], "exit 2;\n"), (["--shell=json", "--bogus", "s"], ""),
            (["--completions", "bash"], ""), (["--man", "--bogus"], ""), (["--prefix"], "exit 2\n"),
            (["--prefix", "1-", "/tmp/backup", "--", "t"], "exit 2\n"),
        ] as [([String], String)])
    func `ends even if prefs was called incorrectly`(_ words: [String], _ output: String) throws {
        let bench = try ScriptBench()
        let outcome = try runPrefs(["prefs", "args"] + words, on: bench.machine)
        #expect(outcome.output == output)
        #expect(outcome.status == 2 && !outcome.errors.isEmpty)
    }

    @Test func `ends if its settings are damaged`() throws {
        let bench = try ScriptBench()
        try bench.write("{ keep = ", to: "/home/ada/.config/prefs/com.example.backup.plist")
        let outcome = try bench.run(["t"])
        #expect(outcome.output == "exit 5\n" && outcome.status == 5)
        #expect(outcome.errors.contains("com.example.backup.plist"))
    }

    @Test func `ends if a value cannot be in a variable`() throws {
        let bench = try ScriptBench()
        try bench.machine.store(["target": "a\0b"], as: "com.example.backup")
        let outcome = try bench.run([])
        #expect(outcome.output == "exit 3\n" && outcome.status == 3)
        #expect(outcome.errors == "prefs: backup: the value of target contains a NUL, which a variable cannot hold\n")
        #expect(try bench.run([], options: ["--shell", "json"]).status == 0)
    }
}
