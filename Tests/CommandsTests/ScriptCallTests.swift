import Commands
import Foundation
import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// A simulated machine with a script and its schema.
struct ScriptBench {
    let machine: SimulatedMachine

    static let schema = """
        {
            Domain = "com.example.backup"; Title = "Nightly backup"; Version = 2;
            Settings = (
                { Key = keep; Type = integer; Default = 7; Minimum = 1; Maximum = 365; Flag = keep; Short = k;
                  Environment = BACKUP_KEEP; Title = "Copies to keep"; },
                { Key = target; Required = YES; Positional = 1; Flag = target; },
                { Key = "dry-run"; Type = boolean; Default = NO; Flag = dry-run; Short = n; Transient = YES; },
                { Key = exclude; Type = array; Elements = { Type = string; }; Flag = exclude; Repeats = YES; },
                { Key = token; Sensitive = YES; Flag = token; Environment = BACKUP_TOKEN; },
                { Key = disk; Flag = disk; ByHost = YES; },
                { Key = retries; Type = integer; Default = 3; RenamedFrom = (tries); }
            );
            Migrations = ( { From = 1; Rename = { copies = keep; }; } );
        }
        """

    init(schema: String = Self.schema, script: String = "#!/bin/sh\n# prefs-schema: backup.plist\n") throws {
        machine = try SimulatedMachine()
        try write(schema, to: "/tmp/backup.plist")
        try write(script, to: "/tmp/backup")
    }

    func write(_ text: String, to path: FilePath) throws {
        try machine.fileSystem.makeFolders(path.parent)
        try machine.fileSystem.replace(path, with: Array(text.utf8).span.bytes)
    }

    func run(
        _ arguments: [String], options: [String] = [], script: String = "/tmp/backup",
        variables: EnvironmentVariables = [:], descriptors: [Int32: [UInt8]] = [:]
    ) throws -> Transcript.Outcome {
        try runPrefs(
            ["prefs", "args"] + options + [script, "--"] + arguments, on: machine, variables: variables,
            descriptors: descriptors)
    }

    func prefs(_ words: String...) throws -> Transcript.Outcome { try runPrefs(["prefs"] + words, on: machine) }

    /// The value that the output assigns to a variable.
    func value(_ name: String, in outcome: Transcript.Outcome) -> String? {
        outcome.output.split(separator: "\n").first { $0.hasPrefix("\(name)=") }.map {
            String($0.dropFirst(name.count + 1))
        }
    }
}

@Suite struct `prefs args` {
    @Test func `takes a value from the source with the highest priority`() throws {
        let bench = try ScriptBench()
        let file: FilePath = "/etc/xdg/prefs/com.example.backup.plist"
        func keep(_ arguments: [String] = ["t"], _ variables: EnvironmentVariables = [:]) throws -> String? {
            let outcome = try bench.run(arguments, variables: variables)
            #expect(outcome.errors.isEmpty && outcome.status == 0)
            return bench.value("keep", in: outcome)
        }
        #expect(try keep() == "'7'")
        try bench.machine.administrate(file, "{ keep = 11; }")
        #expect(try keep() == "'11'")
        _ = try bench.prefs("write", "com.example.backup", "keep", "-int", "12")
        #expect(try keep() == "'12'")
        _ = try bench.prefs("-currentHost", "write", "com.example.backup", "keep", "-int", "13")
        #expect(try keep() == "'13'")
        #expect(try keep(["t"], ["BACKUP_KEEP": "14"]) == "'14'")
        #expect(try keep(["t", "--keep", "15"], ["BACKUP_KEEP": "14"]) == "'15'")
        try bench.machine.administrate("/etc/prefs/forced/com.example.backup.plist", "{ keep = 16; }")
        let outcome = try bench.run(["t", "--keep", "15"])
        #expect(bench.value("keep", in: outcome) == "'16'")
        #expect(outcome.errors == "backup: --keep: ignored, because the administrator forces a value\n")
    }

    @Test func `a stored value that breaks the schema never breaks the script`() throws {
        let bench = try ScriptBench()
        try bench.machine.administrate("/etc/xdg/prefs/com.example.backup.plist", "{ keep = 11; }")
        for value in ["0", "many", "{}", "(1)"] {
            _ = try bench.prefs("write", "--force", "com.example.backup", "keep", value)
            let outcome = try bench.run(["t"])
            #expect(bench.value("keep", in: outcome) == "'11'", "\(value)")
            #expect(outcome.status == 0)
        }
    }

    @Test func `an ignored stored value is reported, unless a higher layer overrides it`() throws {
        let bench = try ScriptBench()
        _ = try bench.prefs("write", "--force", "com.example.backup", "keep", "-int", "0")
        let file = "/home/ada/.config/prefs/com.example.backup.plist"
        let told = "backup: keep in layer user (\(file)) is ignored: must be from 1 to 365\n"
        #expect(try bench.run(["t"]).errors == told)
        #expect(try bench.run(["t", "--keep", "3"]).errors.isEmpty)
        #expect(try bench.run(["t"], variables: ["BACKUP_KEEP": "3"]).errors.isEmpty)
        _ = try bench.prefs("write", "--force", "com.example.backup", "exclude", "-array", "-string", "a")
        try bench.machine.store(["exclude": ["a", 5], "keep": 5, "$schemaVersion": 2], as: "com.example.backup")
        let inside = try bench.run(["t"])
        #expect(inside.errors == "backup: exclude in layer user (\(file)) is ignored: :exclude:1 must be a string\n")
        #expect(bench.value("exclude", in: inside) == "''" && inside.status == 0)
    }

    @Test func `reports all errors and ends the script`() throws {
        let bench = try ScriptBench()
        let outcome = try bench.run(["--kep", "3", "--mode", "x", "-k", "0"])
        #expect(
            outcome.errors == """
                backup: unknown flag --kep; did you mean --keep?
                backup: unknown flag --mode
                backup: -k 0: must be from 1 to 365
                Try backup --help.

                """)
        #expect(outcome.output == "exit 2\n")
        #expect(outcome.status == 2)
    }

    @Test(arguments: [
        ("bash", "printf '%s' '", "\nexit 0\n"), ("sh", "printf '%s' '", "\nexit 0\n"),
        ("zsh", "printf '%s' '", "\nexit 0\n"), ("fish", "printf '%s' '", ";\nexit 0;\n"),
    ])
    func `makes the script print its help`(_ shell: String, _ start: String, _ end: String) throws {
        let bench = try ScriptBench()
        let outcome = try bench.run(["--help"], options: ["--shell", shell])
        #expect(outcome.output.hasPrefix(start + "usage: backup [options]"))
        #expect(outcome.output.hasSuffix(end))
        #expect(outcome.errors.isEmpty && outcome.status == 0)
        let version = try bench.run(["--version"], options: ["--shell", shell])
        #expect(version.output.contains("backup: settings of com.example.backup, version 2"))
    }

    @Test(arguments: ["json", "nul"])
    func `prints only values for a program in another language`(_ output: String) throws {
        let bench = try ScriptBench()
        for arguments in [["--help"], ["--version"]] {
            let outcome = try bench.run(arguments, options: ["--shell", output])
            #expect(outcome.output.isEmpty && !outcome.errors.isEmpty && outcome.status == 0)
        }
        #expect(try bench.run(["--bogus"], options: ["--shell", output]).output.isEmpty)
    }

    @Test func `shows where the values in force come from`() throws {
        let bench = try ScriptBench()
        _ = try bench.prefs("write", "com.example.backup", "keep", "-int", "12")
        let help = try bench.run(["--help-values"], variables: ["BACKUP_TOKEN": "s3cret"]).output
        #expect(help.contains("now 12 from user"))
        #expect(help.contains("now 3 from default"))
        #expect(help.contains("now •••• from environment") && !help.contains("s3cret"))
    }

    // MARK: Saving

    @Test func `saves the given flags in one step, each in its layer`() throws {
        let bench = try ScriptBench()
        let outcome = try bench.run(["--save", "-k", "30", "--disk=sdb", "-n", "/mnt"])
        #expect(outcome.errors.isEmpty)
        #expect(bench.value("dry_run", in: outcome) == "'true'")
        #expect(
            try bench.prefs("read", "--layer", "user", "--format", "json", "com.example.backup").output
                == "{\n  \"keep\": 30,\n  \"target\": \"/mnt\"\n}\n")
        #expect(try bench.prefs("-currentHost", "read", "com.example.backup", "disk").output == "sdb\n")
        let again = try bench.run([])
        #expect(bench.value("keep", in: again) == "'30'" && bench.value("target", in: again) == "'/mnt'")
        #expect(bench.value("dry_run", in: again) == "'false'")
        #expect(try bench.prefs("history", "com.example.backup").output.contains("write"))
    }

    @Test func `saves in JSON with comments unless another format is set`() throws {
        let script = "#!/bin/sh\n#prefs domain=com.example.tool\n# @option --keep=INT <7>\n# @option --mode=TEXT\n"
        let path: FilePath = "/home/ada/.config/prefs/com.example.tool.plist"
        func text(_ bench: ScriptBench) throws -> String {
            String(decoding: try #require(try bench.machine.fileSystem.contents(of: path)), as: UTF8.self)
        }
        let bench = try ScriptBench(script: script)
        #expect(try bench.run(["--save", "--keep", "9"]).status == 0)
        #expect(try text(bench) == "{\n  \"keep\": 9\n}\n")
        try bench.write("{\n  // Enough for a month.\n  \"keep\": 31,\n}\n", to: path)
        #expect(try bench.run(["--save", "--mode", "all"]).status == 0)
        #expect(try text(bench) == "{\n  // Enough for a month.\n  \"keep\": 31,\n  \"mode\": \"all\",\n}\n")
        // Other writers find the format in the installed schema.
        let other = try ScriptBench(script: script)
        #expect(try other.prefs("schema", "install", "/tmp/backup").status == 0)
        #expect(try other.prefs("write", "com.example.tool", "keep", "9").status == 0)
        #expect(try text(other).hasPrefix("{"))
        // The user's choice and that of the declaration come first.
        for (line, format) in [("", "xml1"), (" format=xml1", nil)] {
            let bench = try ScriptBench(script: script.replacing(".tool\n", with: ".tool\(line)\n"))
            if let format { #expect(try bench.prefs("write", "prefs", "newDomainFormat", format).status == 0) }
            #expect(try bench.run(["--save", "--keep", "9"]).status == 0)
            #expect(try text(bench).hasPrefix("<?xml"))
        }
    }

    @Test func `names the help of the command whose line has errors`() throws {
        let lines = [
            "#!/bin/sh", "#prefs title=T", "# @flag -v", "# @command push", "# @arg to!:folder", "# @command list",
        ]
        let bench = try ScriptBench(script: lines.joined(separator: "\n") + "\n")
        for (words, command) in [
            (["-x"], ""), (["push"], "push "), (["push", "-x", "."], "push "), (["lst"], ""),
            (["-x", "list"], "list "),
        ] {
            let outcome = try bench.run(words)
            #expect(outcome.errors.hasSuffix("\nTry backup \(command)--help.\n"), "\(words): \(outcome)")
        }
    }

    @Test func `removes what was saved, and ends`() throws {
        let bench = try ScriptBench()
        #expect(try bench.run(["--reset"]).errors == "backup: nothing is saved, so nothing was removed\n")
        #expect(
            try bench.run(["--reset=keep"]).errors == "backup: keep is not saved, so nothing was removed\n")
        let saved = try bench.run(["--save", "-k", "30", "--disk=sdb"])
        #expect(saved.output == "exit 0\n" && saved.errors == "backup: saved keep = 30 and disk = sdb\n", "\(saved)")
        let one = try bench.run(["--reset=keep"])
        #expect(one.output == "exit 0\n" && one.errors == "backup: removed keep\n", "\(one)")
        #expect(bench.value("keep", in: try bench.run(["/mnt"])) == "'7'")
        #expect(bench.value("disk", in: try bench.run(["/mnt"])) == "'sdb'")
        let both = try bench.run(["--reset", "--save", "-k9"])
        #expect(both.errors == "backup: saved keep = 9; removed disk\n", "\(both)")
        // Removing is a change that can be undone.
        #expect(try bench.run(["--reset"]).errors == "backup: removed keep\n")
        #expect(try bench.prefs("undo", "com.example.backup").status == 0)
        #expect(bench.value("keep", in: try bench.run(["/mnt"])) == "'9'")
    }

    /// A declaration, the stored values of the user and the host, a command line, its report, and what is stored then.
    @Test(
        arguments: [
            (
                "# @option --cc=TEXT {conflicts: dd}\n# @option --dd=TEXT", "{ cc = 1; dd = 2; }", "", "--reset",
                "removed cc and dd", "{}"
            ),
            (
                "# @option --cc=TEXT {conflicts: dd}\n# @option --dd=TEXT", "{ cc = 1; dd = 2; }", "", "--reset=cc",
                "removed cc", #"{"dd":"2"}"#
            ),
            (
                "# @option --cc=TEXT {at-most-one: dd}\n# @option --dd=TEXT", "{ cc = 1; }", "", "--save --dd 2",
                "saved dd = 2; removed cc", #"{"dd":"2"}"#
            ),
            (
                "# @option --http-port=INT {scope: http}", "{ http = { port = 1; other = 2; }; own = 3; }", "",
                "--reset",
                "removed :http:port", #"{"http":{"other":"2"},"own":"3"}"#
            ),
            (
                "# @command push {store: own}\n# @option --to=X\n# @command pull {store: own}\n# @option --to=X",
                "{ push = { to = 1; }; pull = { to = 2; }; }", "", "push --reset=to", "removed :push:to",
                #"{"pull":{"to":"2"}}"#
            ),
            (
                "# @command push {store: own}\n# @option --to=X\n# @command pull {store: own}\n# @option --to=X",
                "{ push = { to = 1; }; pull = { to = 2; }; }", "", "--reset=:pull:to", "removed :pull:to",
                #"{"push":{"to":"1"}}"#
            ),
            (
                "# @option -n=INT\n# @command push {default}\n# @option --branch=X", "", "", "--save --branch x -n 3",
                "saved n = 3 and branch = x", #"{"branch":"x","n":3}"#
            ),
            (
                "# @option --name=X", "{ name = main; }", "{ name = host; }", "--reset --save --name new",
                "saved name = new", "{}"
            ),
            (
                "# @option --name=X\n# @flag -n {transient}", "", "", "--save -n --name a",
                "-n: not saved\nbackup: saved name = a", #"{"name":"a"}"#
            ),
        ] as [(String, String, String, String, String, String)])
    func `reports what it saves and removes`(
        _ lines: String, _ user: String, _ host: String, _ line: String, _ report: String, _ stored: String
    ) throws {
        let bench = try ScriptBench(script: "#!/bin/sh\n#prefs domain=com.example.backup\n\(lines)\n")
        for (text, option) in [(user, []), (host, ["-currentHost"])] where !text.isEmpty {
            let words = ["prefs"] + option + ["import", "com.example.backup", "-"]
            #expect(try runPrefs(words, input: text, on: bench.machine).status == 0)
        }
        let outcome = try bench.run(line.split(separator: " ").map(String.init))
        #expect(outcome.output == "exit 0\n" && outcome.errors == "backup: \(report)\n", "\(outcome)")
        let found = try bench.prefs("read", "--layer", "user", "--format", "json", "com.example.backup").output
        #expect((found.isEmpty ? "{}" : found.filter { !" \n".contains($0) }) == stored, "\(found)")
    }

    @Test func `removes values of an earlier version`() throws {
        let bench = try ScriptBench()
        try bench.write("{ copies = 30; }", to: "/home/ada/.config/prefs/com.example.backup.plist")
        let outcome = try bench.run(["--reset=keep"])
        #expect(outcome.errors == "backup: removed keep\n", "\(outcome)")
        #expect(bench.value("keep", in: try bench.run(["/mnt"])) == "'7'")
    }

    @Test func `saves a relative path as an absolute one`() throws {
        let schema = """
            { Domain = "com.example.backup"; Settings = ({ Key = target; Kind = folder; Flag = target; },
              { Key = name; Flag = name; }); }
            """
        let bench = try ScriptBench(schema: schema)
        try bench.machine.setWorkingFolder("/home/ada")
        let outcome = try bench.run(["--save", "--target", "copies", "--name", "copies"])
        #expect(outcome.output == "exit 0\n")
        #expect(outcome.errors == "backup: saved target = /home/ada/copies and name = copies\n")
        #expect(try bench.prefs("read", "com.example.backup", "target").output == "/home/ada/copies\n")
        #expect(try bench.prefs("read", "com.example.backup", "name").output == "copies\n")
        let filled = try runPrefs(
            ["prefs", "form", "com.example.backup", "--schema", "/tmp/backup.plist"], input: "../x\n:save\n",
            on: bench.machine)
        #expect(filled.status == 0, "\(filled)")
        #expect(try bench.prefs("read", "com.example.backup", "target").output == "/home/x\n")
    }

    @Test func `a secret is stored where no other user can read it, and a forced key is not written`() throws {
        let bench = try ScriptBench()
        try bench.write("s3cret\n", to: "/tmp/token")
        let unknown = try bench.run(["--save", "--token-file", "/tmp/token", "t"])
        #expect(unknown.output == "exit 3\n" && unknown.errors.contains("prefs schema install FILE"))
        #expect(try bench.prefs("read", "com.example.backup").status == 1)
        #expect(try bench.prefs("schema", "install", "/tmp/backup.plist").status == 0)
        let outcome = try bench.run(["--save", "--token-file", "/tmp/token", "t"])
        #expect(bench.value("token", in: outcome) == "'s3cret'" && outcome.errors.isEmpty)
        #expect(bench.value("token", in: try bench.run([])) == "'s3cret'")
        try bench.machine.administrate("/etc/prefs/forced/com.example.backup.plist", "{ keep = 16; }")
        let refused = try bench.run(["--save", "--keep", "9", "u"])
        #expect(refused.output == "exit 4\n" && refused.status == 4)
        let file = "/etc/prefs/forced/com.example.backup.plist"
        let reason = "com.example.backup keep: forced by the administrator in \(file); nothing was changed"
        #expect(refused.errors == "backup: \(reason)\n")
        #expect(
            try bench.prefs("write", "com.example.backup", "keep", "9").errors
                == "prefs: \(reason) (--force overrides this)\n")
        #expect(try bench.prefs("read", "com.example.backup", "target").output == "t\n")
    }

    // MARK: Versions

    @Test func `migrates stored values to the schema's version, once`() throws {
        let bench = try ScriptBench()
        _ = try bench.prefs("write", "com.example.backup", "copies", "-int", "21")
        _ = try bench.prefs("write", "com.example.backup", "tries", "-int", "5")
        for arguments in [["--help-values"], ["--version"], ["--bogus"]] { _ = try bench.run(arguments) }
        #expect(try bench.prefs("read", "com.example.backup", "copies").output == "21\n")
        let outcome = try bench.run(["t"])
        #expect(bench.value("keep", in: outcome) == "'21'" && bench.value("retries", in: outcome) == "'5'")
        #expect(try bench.prefs("read", "com.example.backup", "copies").status == 1)
        #expect(try bench.prefs("read", "com.example.backup", "retries").output == "5\n")
        let history = try bench.prefs("history", "com.example.backup").output
        #expect(history.contains("migrate"))
        _ = try bench.run(["t"])
        #expect(try bench.prefs("history", "com.example.backup").output == history)
    }

    @Test func `a file that cannot be written does not stop the script`() throws {
        let bench = try ScriptBench()
        _ = try bench.prefs("write", "com.example.backup", "copies", "-int", "21")
        let folder: FilePath = "/home/ada/.config/prefs"
        try bench.machine.fileSystem.open(folder, .reading)?.setPermissions(FilePermissions(rawValue: 0o500))
        let outcome = try bench.run(["t"])
        #expect(bench.value("keep", in: outcome) == "'21'" && outcome.status == 0)
        #expect(!outcome.errors.isEmpty)
    }

    @Test func `settings of a later version are read and never changed`() throws {
        let bench = try ScriptBench()
        try bench.machine.store(["keep": 40, "$schemaVersion": 3], as: "com.example.backup")
        let outcome = try bench.run(["t"])
        #expect(bench.value("keep", in: outcome) == "'40'" && outcome.status == 0)
        #expect(outcome.errors.contains("has settings of version 3"))
        let refused = try bench.run(["--save", "-k", "5", "t"])
        #expect(refused.output == "exit 3\n" && refused.status == 3)
        #expect(try bench.prefs("read", "com.example.backup", "keep").output == "40\n")
    }

    @Test(arguments: [
        ("{ Key = z; Type = integer; Default = 9; Maximum = 5; }", "Default: must be at most 5"),
        (
            "{ Key = who; Positional = 1; Required = YES; Default = 9; Pattern = \"[a-z]\"; }",
            "Default: must match [a-z]"
        ),
    ])
    func `a default that violates its own rule is reported, and never an empty value`(
        _ row: (setting: String, reason: String)
    )
        throws
    {
        let bench = try ScriptBench(schema: "{ Domain = com.example.broken; Settings = (\(row.setting)); }")
        let outcome = try bench.run([])
        #expect(outcome.output == "exit 5\n" && outcome.errors.contains(row.reason), "\(outcome)")
    }

    @Test func `missing operands are an error if some are required`() throws {
        let schema = """
            { Domain = com.example.rest; Settings = (
                { Key = rest; Type = array; Elements = { Type = string; }; Positional = 1; MinimumCount = 1; }); }
            """
        let outcome = try ScriptBench(schema: schema).run([])
        #expect(outcome.output == "exit 2\n" && outcome.errors.contains("REST"), "\(outcome)")
        #expect(try ScriptBench(schema: schema).run(["a"]).status == 0)
    }

    // MARK: Secrets

    @Test func `reads a secret from a file that nobody else can read, or from a descriptor`() throws {
        let bench = try ScriptBench()
        try bench.write("s3cret\n", to: "/tmp/token")
        func token(_ arguments: String...) throws -> (value: String?, errors: String) {
            let outcome = try bench.run(arguments + ["t"], descriptors: [9: Array("fr0m 9".utf8), 10: [0xFF], 11: []])
            return (bench.value("token", in: outcome), outcome.errors)
        }
        #expect(try token("--token-file", "/tmp/token").value == "'s3cret'")
        #expect(try token("--token-fd", "9").value == "'fr0m 9'")
        #expect(try token("--token-file", "/dev/fd/9").value == "'fr0m 9'")
        #expect(try token("--token-fd=11").value == "''")
        #expect(try token("--token-fd", "10").errors == "backup: --token-fd: is not UTF-8 text\nTry backup --help.\n")
        #expect(
            try token("--token-fd", "8").errors
                == "backup: --token-fd: 8 is not an open descriptor\nTry backup --help.\n")
        #expect(
            try token("--token-file", "/tmp/none").errors
                == "backup: --token-file: /tmp/none: no such file\nTry backup --help.\n")
        #expect(
            try token("--token-file", "/tmp").errors
                == "backup: --token-file: /tmp: not a regular file\nTry backup --help.\n")
        #expect(
            try token("--token", "s3cret").errors
                == "backup: --token would expose a secret to other users of this machine; use --token-file or --token-fd\nTry backup --help.\n"
        )
        try bench.machine.fileSystem.open("/tmp/token", .reading)?.setPermissions(FilePermissions(rawValue: 0o640))
        #expect(
            try token("--token-file", "/tmp/token").errors
                == "backup: --token-file: /tmp/token: other users can read this file; fix it with chmod 600\nTry backup --help.\n"
        )
    }

    @Test(arguments: [(1000, nil), (0, nil), (2002, "backup: --token-file: /tmp/token: owned by another user")])
    func `reads a secret from a file of one's own or of root`(_ owner: UInt32, _ error: String?) throws {
        let bench = try ScriptBench()
        try bench.write("s3cret", to: "/tmp/token")
        let file = try #require(try bench.machine.fileSystem.open("/tmp/token", .reading))
        try file.setPermissions(FilePermissions(rawValue: 0o600))
        let root = bench.machine.disk.process()
        try root.open("/tmp/token", .reading)?.setOwner(owner, group: owner)
        let outcome = try runPrefs(
            ["prefs", "args", "/tmp/backup", "--", "--token-file", "/tmp/token", "t"], on: bench.machine, as: root)
        #expect((bench.value("token", in: outcome) == "'s3cret'") == (error == nil))
        #expect(outcome.errors.hasPrefix(error ?? "") && outcome.errors.isEmpty == (error == nil), "\(outcome.errors)")
    }

    @Test func `a secret inside a value is protected everywhere`() throws {
        let schema = """
            { Domain = "com.example.backup"; Settings = ({ Key = server; Type = dictionary; Flag = server;
              Entries = ({ Key = host; }, { Key = password; Sensitive = YES; }); }); }
            """
        let bench = try ScriptBench(schema: schema)
        let given = try bench.run(["--save", "--set", ":server:host=h"])
        #expect(given.output == "exit 0\n" && given.errors.hasPrefix("backup: saved server = "), "\(given)")
        #expect(bench.value("server", in: try bench.run([])) == "'{\"host\":\"h\"}'")
        let set = try bench.run(["--set", ":server:password=sesame"])
        #expect(set.output == "exit 2\n" && set.errors.contains("use --server-file or --server-fd"))
        try bench.write("{ host = h; password = sesame; }", to: "/tmp/server")
        let unknown = try bench.run(["--save", "--server-file", "/tmp/server"])
        #expect(unknown.output == "exit 3\n" && unknown.errors.contains("server: is a secret"), "\(unknown)")
        #expect(try bench.prefs("schema", "install", "/tmp/backup.plist").status == 0)
        let saved = try bench.run(["--save", "--server-file", "/tmp/server"])
        #expect(saved.status == 0 && !saved.errors.contains("sesame"), "\(saved)")
        #expect(bench.value("server", in: try bench.run([]))?.contains("sesame") == true)
        let help = try bench.run(["--help-values"])
        #expect(help.output.contains("••••") && !help.output.contains("sesame"), "\(help)")
        let file: FilePath = "/home/ada/.config/prefs/com.example.backup.plist"
        try bench.machine.fileSystem.open(file, .reading)?.setPermissions(FilePermissions(rawValue: 0o644))
        let exposed = try bench.run([])
        #expect(bench.value("server", in: exposed) == "''")
        #expect(exposed.errors.contains("\(file)) is ignored: is sensitive, but other users can read the file"))
    }

    @Test func `a stored secret that others can read is ignored`() throws {
        let bench = try ScriptBench()
        try bench.machine.store(["token": "s3cret"], as: "com.example.backup")
        #expect(bench.value("token", in: try bench.run(["t"])) == "'s3cret'")
        let file: FilePath = "/home/ada/.config/prefs/com.example.backup.plist"
        try bench.machine.fileSystem.open(file, .reading)?.setPermissions(FilePermissions(rawValue: 0o644))
        let outcome = try bench.run(["t"])
        #expect(bench.value("token", in: outcome) == "''")
        #expect(outcome.errors.contains("\(file)) is ignored: is sensitive, but other users can read the file"))
    }
}
