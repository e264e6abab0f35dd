import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// Commands of a script that have options with the same key.
@Suite struct `Commands with the same key` {
    /// Returns a script with two commands, each with its declaration of `--target`.
    private static func script(_ build: String, _ deploy: String, items: (String, String) = ("", "")) -> String {
        """
        #!/bin/sh
        #prefs domain=com.example.backup
        # @option --keep=INT <7>
        # @command build \(items.0)
        # @option --target=\(build)
        # @command deploy \(items.1)
        # @option --target=\(deploy)

        """
    }

    private static let different = script("TEXT <debug>", "TEXT!")

    struct Row: Sendable, CustomTestStringConvertible {
        let build: String
        let deploy: String
        var items = ("", "")
        /// What `build --save --target a` stores.
        let stored: String

        var testDescription: String { "\(build) \(deploy) \(items)" }
    }

    private static let shared = #"{"target":"a"}"#
    private static let own = #"{"build":{"target":"a"}}"#

    private static let rows = [
        Row(build: "TEXT", deploy: "TEXT", stored: shared),
        Row(build: "TEXT  What to build", deploy: "TEXT {summary: Where}", stored: shared),
        Row(build: "a|b", deploy: "a|b", stored: shared),
        Row(build: "TEXT <x>", deploy: "TEXT!", stored: own), Row(build: "TEXT <x>", deploy: "TEXT <y>", stored: own),
        Row(build: "TEXT", deploy: "TEXT!", stored: own), Row(build: "a|b", deploy: "a|c", stored: own),
        Row(build: "TEXT", deploy: "FILE", stored: own), Row(build: "TEXT", deploy: "INT", stored: own),
        Row(build: "TEXT", deploy: "TEXT {transient}", stored: own),
        Row(build: "TEXT", deploy: "TEXT {by-host}", stored: own),
        Row(build: "TEXT", deploy: "TEXT [1..9]", stored: own),
        Row(build: "TEXT", deploy: "TEXT", items: ("{store: own}", ""), stored: own),
        Row(build: "TEXT", deploy: "TEXT", items: ("", "{store: own}"), stored: shared),
        Row(build: "TEXT", deploy: "INT", items: ("", "{store: own}"), stored: shared),
        Row(build: "TEXT", deploy: "INT", items: ("{store: shared}", ""), stored: shared),
        Row(build: "TEXT", deploy: "INT", items: ("", "{store: shared}"), stored: own),
    ]

    private func stored(_ bench: ScriptBench) throws -> String {
        try bench.prefs("read", "--layer", "user", "--format", "json", "com.example.backup").output.filter {
            !" \n".contains($0)
        }
    }

    private func install(_ bench: ScriptBench) throws {
        #expect(try bench.prefs("schema", "install", "/tmp/backup").status == 0)
    }

    @Test(arguments: rows) func `share a value if they declare it alike`(_ row: Row) throws {
        let bench = try ScriptBench(script: Self.script(row.build, row.deploy, items: row.items))
        let saved = try bench.run(["build", "--save", "--target", "a"])
        #expect(saved.status == 0 && saved.errors.isEmpty, "\(saved)")
        #expect(try stored(bench) == row.stored)
        #expect(bench.value("target", in: try bench.run(["build"])) == "'a'")
    }

    @Test func `do not use each other's value`() throws {
        let bench = try ScriptBench(script: Self.different)
        #expect(try bench.run(["build", "--target", "release", "--save"]).status == 0)
        let deployed = try bench.run(["deploy"])
        #expect(deployed.status == 2 && deployed.errors.hasPrefix("backup: --target is required\n"), "\(deployed)")
        #expect(try bench.run(["deploy", "--target", "host", "--save", "--keep", "3"]).status == 0)
        #expect(try stored(bench) == #"{"build":{"target":"release"},"deploy":{"target":"host"},"keep":3}"#)
        #expect(bench.value("target", in: try bench.run(["build"])) == "'release'")
        #expect(bench.value("target", in: try bench.run(["deploy"])) == "'host'")
        #expect(bench.value("keep", in: try bench.run(["build"])) == "'3'")
        let help = try bench.run(["build", "--help-values"]).output
        #expect(help.contains("now release from user"), "\(help)")
    }

    @Test func `have their values in every layer`() throws {
        let bench = try ScriptBench(script: Self.different)
        func target() throws -> String? { bench.value("target", in: try bench.run(["build"])) }
        try install(bench)
        #expect(try target() == "'debug'")
        try bench.machine.administrate("/etc/xdg/prefs/com.example.backup.plist", "{ build = { target = s; }; }")
        #expect(try target() == "'s'")
        #expect(try bench.prefs("write", "com.example.backup", ":build:target", "u").errors == "")
        #expect(try target() == "'u'")
        _ = try bench.prefs("-currentHost", "write", "com.example.backup", ":build:target", "h")
        #expect(try target() == "'h'")
        let explained = try bench.prefs("explain", "com.example.backup", ":build:target").output
        let layers = explained.split(separator: "\n").dropFirst().map { line in
            line.split(separator: " ").filter { $0 != "*" }.first.map(String.init) ?? ""
        }
        #expect(layers == ["user-host", "user", "site", "default"], "\(explained)")
        #expect(try bench.prefs("explain", "com.example.backup").output.contains(":build:target\n"))
        let effective = try bench.prefs("read", "--effective", "com.example.backup", ":build:target")
        #expect(effective.output == "h\n")
        let form = try runPrefs(
            ["prefs", "form", "--plain", "/tmp/backup"], input: "9\n\nf\n:save\n", on: bench.machine)
        #expect(form.status == 0, "\(form)")
        #expect(bench.value("target", in: try bench.run(["deploy"])) == "'f'", "\(form)")
        try bench.machine.administrate(
            "/etc/prefs/forced/com.example.backup.plist", "{ build = { target = x; }; }")
        let forced = try bench.run(["build", "--target", "y"])
        #expect(
            bench.value("target", in: forced) == "'x'" && forced.errors.contains("the administrator forces a value"))
        #expect(try bench.run(["build", "--target", "y", "--save"]).status == 4)
        #expect(try bench.run(["deploy", "--target", "y", "--save"]).status == 0)
        #expect(try bench.prefs("write", "com.example.backup", ":build:target", "z").status == 4)
        #expect(try bench.prefs("write", "com.example.backup", ":deploy:target", "z").status == 0)
        #expect(bench.value("target", in: try bench.run(["deploy"])) == "'z'")
    }

    @Test func `are checked by their own rules`() throws {
        let bench = try ScriptBench(script: Self.script("a|b", "INT [1..9]"))
        try install(bench)
        #expect(try bench.prefs("write", "com.example.backup", ":build:target", "c").status == 3)
        #expect(try bench.prefs("write", "com.example.backup", ":deploy:target", "12").status == 3)
        #expect(try bench.prefs("write", "--force", "com.example.backup", ":deploy:target", "12").status == 0)
        // An invalid value does not prevent other changes, and is ignored alone.
        #expect(try bench.prefs("write", "com.example.backup", ":build:target", "b").status == 0)
        #expect(bench.value("target", in: try bench.run(["build"])) == "'b'")
        let deployed = try bench.run(["deploy"])
        #expect(bench.value("target", in: deployed) == "''" && deployed.errors.contains("must be from 1 to 9"))
        let bare = try bench.prefs("write", "com.example.backup", "target", "b")
        #expect(bare.errors.contains("it declares :build:target and :deploy:target"), "\(bare)")
    }

    @Test func `do not get a secret that they would show`() throws {
        let bench = try ScriptBench(script: Self.script("TEXT {secret}", "TEXT"))
        try install(bench)
        #expect(try bench.prefs("write", "com.example.backup", "target", "hunter2").status == 0)
        let migrated = try bench.prefs("schema", "migrate", "com.example.backup", "--to", "deploy")
        #expect(
            migrated.status == 8 && migrated.output.contains("is sensitive, and :deploy:target is not"), "\(migrated)")
        #expect(try bench.prefs("read", "com.example.backup").output.contains("hunter2") == false)
        #expect(try bench.prefs("schema", "migrate", "com.example.backup", "--to", "build").status == 0)
    }

    @Test func `ignore the value that they shared, and say so once`() throws {
        let bench = try ScriptBench(script: Self.script("TEXT", "TEXT"))
        #expect(try bench.run(["build", "--save", "--target", "a"]).status == 0)
        try bench.write(Self.different, to: "/tmp/backup")
        let first = try bench.run(["build"])
        #expect(bench.value("target", in: first) == "'debug'")
        #expect(
            first.errors
                == "backup: target in user (/home/ada/.config/prefs/com.example.backup.plist) is ignored since build and deploy each store a value of their own; to move it there: prefs schema migrate /tmp/backup --to build or prefs schema migrate /tmp/backup --to deploy\n"
        )
        #expect(try bench.run(["build"]).errors.isEmpty)
        #expect(try bench.run(["deploy"]).errors.hasPrefix("backup: --target is required\n"))
        #expect(try bench.prefs("schema", "migrate", "/tmp/backup", "--to", "biuld").status == 2)
        let moved = try bench.prefs("schema", "migrate", "/tmp/backup", "--to", "deploy")
        #expect(moved.output == "target is now :deploy:target\n", "\(moved)")
        #expect(try stored(bench) == #"{"deploy":{"target":"a"}}"#)
        #expect(bench.value("target", in: try bench.run(["deploy"])) == "'a'")
        try install(bench)
        try bench.machine.store(["target": "b", "deploy": ["target": "a"]], as: "com.example.backup")
        let kept = try bench.prefs("schema", "migrate", "com.example.backup", "--to", "deploy")
        #expect(kept.output == "target is unchanged because :deploy:target already has a value\n", "\(kept)")
        let other = try bench.prefs("schema", "migrate", "com.example.backup", "--to", "build")
        #expect(other.output == "target is now :build:target\n", "\(other)")
        #expect(try stored(bench) == #"{"build":{"target":"b"},"deploy":{"target":"a"}}"#)
    }

    @Test func `never replace a value that is in the place of their dictionary`() throws {
        let bench = try ScriptBench(script: Self.different)
        let files = bench.machine.fileSystem
        for value in ["5", "<00>", "x"] {
            try bench.write("{ build = \(value); target = t; }", to: "/home/ada/.config/prefs/com.example.backup.plist")
            let before = try files.contents(of: "/home/ada/.config/prefs/com.example.backup.plist")
            for outcome in [
                try bench.run(["build", "--target", "a", "--save"]),
                try bench.prefs("schema", "migrate", "/tmp/backup", "--to", "build"),
                try bench.prefs("write", "com.example.backup", ":build:target", "a"),
            ] {
                #expect(outcome.status == 3, "\(value): \(outcome)")
                #expect(outcome.errors.contains(":build:target: leads into a value of type"), "\(outcome)")
            }
            #expect(try files.contents(of: "/home/ada/.config/prefs/com.example.backup.plist") == before)
        }
    }

    @Test func `with a space in their names are quoted in the note`() throws {
        let bench = try ScriptBench(
            script: """
                #!/bin/sh
                #prefs domain=com.example.backup
                # @command remote
                # @command remote/add {store: own}
                # @option --url=TEXT

                """)
        try bench.machine.store(["url": "u"], as: "com.example.backup")
        let call = try bench.run(["remote", "add"])
        let note = "is ignored since remote add stores a value of its own; to move it there: "
        let command = "prefs schema migrate /tmp/backup --to 'remote add'"
        #expect(call.status == 0 && call.errors.hasSuffix("\(note)\(command)\n"), "\(call)")
        let doctor = try bench.prefs("schema", "install", "/tmp/backup")
        #expect(doctor.status == 0)
        #expect(try bench.prefs("doctor").output.contains("--to 'remote add'"))
        #expect(try runPrefs(ShellScript.words(command), on: bench.machine).status == 0)
        #expect(bench.value("url", in: try bench.run(["remote", "add"])) == "'u'")
    }

    @Test func `are listed with their places by schema check`() throws {
        let bench = try ScriptBench(script: Self.different)
        #expect(
            try bench.prefs("schema", "check", "/tmp/backup").output == """
                /tmp/backup: keep is stored in :keep
                /tmp/backup: target of build is stored in :build:target
                /tmp/backup: target of deploy is stored in :deploy:target
                /tmp/backup: OK

                """)
        try bench.write(Self.script("TEXT", "TEXT"), to: "/tmp/backup")
        #expect(
            try bench.prefs("schema", "check", "/tmp/backup").output.contains(
                "target of build and deploy is stored in :target\n"))
        let clash = Self.different.replacing("--keep=INT <7>", with: "--build=INT")
        try bench.write(clash, to: "/tmp/backup")
        let check = try bench.prefs("schema", "check", "/tmp/backup")
        #expect(check.status == 5 && check.output.contains("duplicate key build, which holds values of a command"))
        #expect(try bench.run(["build"]).status == 5)
    }

    @Test func `keep secrets apart and masked`() throws {
        let script = Self.script("TEXT", "TEXT {secret}")
        let bench = try ScriptBench(script: script)
        try install(bench)
        try bench.write("s3cret\n", to: "/tmp/token")
        let saved = try bench.run(["deploy", "--save", "--target-file", "/tmp/token"])
        #expect(saved.status == 0 && bench.value("target", in: saved) == "'s3cret'", "\(saved)")
        #expect(try bench.prefs("read", "com.example.backup", ":deploy:target").status == 3)
        #expect(bench.value("target", in: try bench.run(["build"])) == "''")
        // A value that the commands shared could be the secret.
        try bench.machine.store(["target": "s3cret"], as: "com.example.backup")
        #expect(try bench.prefs("read", "com.example.backup", "target").status == 3)
    }

    @Test func `inside other commands have nested dictionaries`() throws {
        let bench = try ScriptBench(
            script: """
                #!/bin/sh
                #prefs domain=com.example.backup
                # @command remote
                # @command remote/add {store: own}
                # @option --name=TEXT
                # @command remote/remove {store: own}
                # @option --name=TEXT

                """)
        #expect(try bench.run(["remote", "add", "--save", "--name", "a"]).status == 0)
        #expect(try bench.run(["remote", "remove", "--save", "--name", "b"]).status == 0)
        #expect(try stored(bench) == #"{"remote":{"add":{"name":"a"},"remove":{"name":"b"}}}"#)
        #expect(bench.value("name", in: try bench.run(["remote", "add"])) == "'a'")
    }
}
