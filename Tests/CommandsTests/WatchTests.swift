import Commands
import Platform
import Preferences
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

@Suite struct WatchTests {
    @Test func `notes that the domain is not a pattern, unless it exists`() throws {
        let machine = try SimulatedMachine()
        let outcome = try runPrefs(["prefs", "watch", "com.*"], on: machine)
        let note = "prefs: com.*: waiting for a domain of this name; DOMAIN is not a pattern\n"
        #expect(outcome == Transcript.Outcome(errors: note))
        _ = try runPrefs(["prefs", "write", "--new-domain", "com.*", "k", "v"], on: machine)
        #expect(try runPrefs(["prefs", "watch", "com.*"], on: machine) == Transcript.Outcome())
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let words: [String]
        /// The concurrent changes of others, as arguments of `prefs`.
        let meanwhile: [String]
        let output: String

        init(_ words: [String], _ meanwhile: [String], _ output: String) {
            (self.words, self.meanwhile, self.output) = (words, meanwhile, output)
        }

        var testDescription: String { words.joined(separator: " ") }
    }

    /// The initial values: `d` has theme, window and secret, and the global domain has lang.
    static let before = [
        "write d theme light", "write d window -dict width -int 80", "write d secret x", "write -g lang de",
    ]

    static let rows = [
        Row([], [], ""), Row([], ["read d"], ""), Row([], ["write d theme light"], ""),
        Row(
            [], ["write d theme dark", "write d new -int 1", "delete d secret"],
            """
            user d theme: "light" -> "dark"
            user d new: (none) -> 1
            user d secret: "x" -> (none)

            """),
        Row(
            [], ["write e k -bool true", "-currentHost write d theme blue", "delete e"],
            """
            user e k: (none) -> true
            user-host d theme: "light" -> "blue"
            user e k: true -> (none)

            """),
        Row(
            ["d"], ["write e k 1", "write -g lang en", "write d :window:width -int 90"],
            "user d :window:width: 80 -> 90\n"),
        Row(["d", "theme"], ["write d secret y", "write d theme dark"], "user d theme: \"light\" -> \"dark\"\n"),
        Row(
            ["d", ":window:width"],
            ["write d :window:height -int 1", "write d :window:width -int 81", "delete d window"],
            """
            user d :window:width: 80 -> 81
            user d :window:width: 81 -> (none)

            """),
        Row(["-g"], ["write d theme dark", "write -g lang en"], "global NSGlobalDomain lang: \"de\" -> \"en\"\n"),
        Row(
            ["--ignore", "sec*", "--ignore", "e"], ["write d secret y", "write e k 1", "write d theme dark"],
            "user d theme: \"light\" -> \"dark\"\n"),
        Row(["d", "secret", "--ignore", "s?????"], ["write d secret y"], ""),
        Row(
            ["--format", "json"], ["write d theme dark", "write d :window:x -date 2001-01-01T00:00:00Z"],
            """
            {"change":"changed","domain":"d","layer":"user","new":"dark","old":"light","path":":theme"}
            {"change":"added","domain":"d","layer":"user","new":{"$date":"2001-01-01T00:00:00Z"},"path":":window:x"}

            """),
        Row(
            ["--format", "commands"], ["write d theme 'it'\\''s'", "-currentHost write d a -int 1", "delete d window"],
            """
            prefs write d theme -string 'it'\\''s'
            prefs -currentHost write d a -int 1
            prefs delete d window

            """),
        Row(
            ["d", ":window:width", "--format", "commands"],
            ["write d window -dict width -int 7 height -int 9"], "prefs write d :window:width -int 7\n"),
        Row(
            ["--effective", "d"],
            ["write d theme dark", "-currentHost write d theme blue", "write d theme red", "write -g lang en"],
            """
            user d theme: "light" -> "dark"
            user-host d theme: "dark" -> "blue"
            global d lang: "de" -> "en"

            """),
        Row(
            ["--effective"], ["write e lang fr", "write -g lang en", "delete e lang"],
            """
            user e lang: (none) -> "fr"
            global NSGlobalDomain lang: "de" -> "en"
            user e lang: "fr" -> (none)

            """),
        Row(["~/x.plist"], ["write '~/x.plist' a -int 1", "write d theme dark"], "user ~/x.plist a: (none) -> 1\n"),
    ]

    @Test(arguments: rows)
    func `a change is reported as it was made, and others are not`(_ row: Row) throws {
        let machine = try SimulatedMachine()
        for line in Self.before { #expect(try Self.prefs(line, on: machine) == 0) }
        let meanwhile = row.meanwhile.map { line in { @Sendable () throws in try Self.change(line, on: machine) } }
        let outcome = try runPrefs(["prefs", "watch"] + row.words, on: machine, meanwhile: meanwhile)
        #expect(outcome == Transcript.Outcome(output: row.output))
    }

    @Test func `a domain that is a folder is watched in each of its files`() throws {
        let machine = try SimulatedMachine()
        for line in Self.before + ["convert d folder"] { #expect(try Self.prefs(line, on: machine) == 0) }
        let folder: FilePath = "/home/ada/.config/prefs/d.prefs"
        let outcome = try runPrefs(
            ["prefs", "watch", "d"], on: machine,
            meanwhile: [
                { try Self.change("write d theme dark", on: machine) },
                { try machine.fileSystem.replace(folder.appending("theme.txt"), with: Array("blue\n".utf8)) },
                { try machine.fileSystem.replace(folder.appending("new.txt"), with: Array("1\n".utf8)) },
                { try machine.fileSystem.remove(folder.appending("secret.txt")) },
                { try Self.change("convert d json", on: machine) },
                { try Self.change("write d theme red", on: machine) },
            ])
        #expect(
            outcome.output == """
                user d theme: "light" -> "dark"
                user d theme: "dark" -> "blue"
                user d new: (none) -> "1"
                user d secret: "x" -> (none)
                user d theme: "blue" -> "red"

                """)
        #expect(outcome.status == 0)
    }

    @Test func `several changes between two checks are one, and an overflow loses none`() throws {
        let machine = try SimulatedMachine()
        var manner = SimulatedFolderWatcher.Manner()
        (manner.delivery, manner.queueLength) = (.onRequest, 1)
        machine.watcher.manner = manner
        let outcome = try runPrefs(
            ["prefs", "watch"], on: machine,
            meanwhile: [
                {
                    for line in ["write d k 1", "write d k 2", "write e k 3"] { _ = try Self.prefs(line, on: machine) }
                    machine.watcher.deliver()
                }
            ])
        #expect(outcome.output == "user d k: (none) -> \"2\"\nuser e k: (none) -> \"3\"\n")
    }

    @Test func `a file that is damaged meanwhile is reported once, and its previous values remain`() throws {
        let machine = try SimulatedMachine()
        let path: FilePath = "/home/ada/x.plist"
        _ = try Self.prefs("write '~/x.plist' k 1", on: machine)
        // Without a kept version, there is no replacement for a damaged file.
        let histories: FilePath = "/home/ada/.local/state/prefs/history/.paths"
        for folder in try #require(try machine.fileSystem.names(in: histories)).map(histories.appending) {
            for name in try machine.fileSystem.names(in: folder) ?? [] {
                try machine.fileSystem.remove(folder.appending(name))
            }
        }
        let outcome = try runPrefs(
            ["prefs", "watch", "~/x.plist"], on: machine,
            meanwhile: [
                { try machine.fileSystem.replace(path, with: Array("<plist><dict>".utf8).span.bytes) },
                { try machine.fileSystem.replace(path, with: Array("<plist><dict>".utf8).span.bytes) },
                { try machine.fileSystem.replace(path, with: Array("{\"k\": \"2\"}".utf8).span.bytes) },
            ])
        #expect(outcome.output == "user ~/x.plist k: \"1\" -> \"2\"\n")
        #expect(outcome.errors == "prefs: /home/ada/x.plist:1:14: ends inside <dict>\n")
        #expect(outcome.status == 0)
    }

    // MARK: Programs

    struct ProgramRow: Sendable, CustomTestStringConvertible {
        let words: [String]
        /// The changes of others before the program runs.
        let meanwhile: [String]
        /// The changes during the first run of the program: its own, and those of others.
        var (own, others) = ([String](), [String]())
        /// For each run, the domain, the key, the old and the new value.
        let runs: [String]

        init(_ words: String, _ meanwhile: [String], own: [String] = [], others: [String] = [], _ runs: [String]) {
            self.words = words.split(separator: " ").map(String.init)
            (self.meanwhile, self.own, self.others, self.runs) = (meanwhile, own, others, runs)
        }

        var testDescription: String { words.joined(separator: " ") + " \(meanwhile) \(own) \(others)" }
    }

    static let programRows = [
        ProgramRow("d --run hook", ["write d theme dark"], ["d|theme|light|dark"]),
        ProgramRow("d --run hook", ["write d theme light"], []),
        ProgramRow("--run hook", ["write e n --int 5", "delete e"], ["e|n|-|5", "e|n|5|-"]),
        ProgramRow("d --run hook", ["delete d"], ["d|secret|x|-", "d|theme|light|-", "d|window|{\"width\":80}|-"]),
        ProgramRow("d :window:width --run hook", ["write d :window:width --int 9"], ["d|:window:width|80|9"]),
        ProgramRow("d theme --run hook", ["write d secret y"], []),
        ProgramRow(
            "d --run hook", ["write d on --bool true", "write d on --array a"], ["d|on|-|true", "d|on|true|[\"a\"]"]),
        // Changes by the program.
        ProgramRow("d --run hook", ["write d theme dark"], own: ["write d n 1"], ["d|theme|light|dark"]),
        ProgramRow(
            "--run hook", ["write d theme dark"], own: ["write new n 1", "write d n 1"], ["d|theme|light|dark"]),
        ProgramRow("--run hook", ["write d theme dark"], own: ["delete d"], ["d|theme|light|dark"]),
        ProgramRow("-g --run hook", ["write -g lang en"], own: ["delete -g lang"], ["NSGlobalDomain|lang|de|en"]),
        // Changes by others, alone or besides those of the program.
        ProgramRow(
            "d --run hook", ["write d theme dark"], others: ["write d n 1"], ["d|theme|light|dark", "d|n|-|1"]),
        ProgramRow(
            "d theme --run hook", ["write d theme dark"], own: ["write d theme blue", "write d n 1"],
            others: ["write d theme red"],
            ["d|theme|light|dark", "d|theme|dark|red"]),
        ProgramRow(
            "d --run hook", ["write d theme dark"], own: ["write d n 1"], others: ["write e n 1", "write d m 2"],
            ["d|theme|light|dark", "d|m|-|2"]),
        ProgramRow("d --once --run hook", ["write d theme dark", "write d theme red"], ["d|theme|light|dark"]),
        ProgramRow(
            "d theme --initial --once --run hook", ["write d theme dark", "write d theme red"],
            ["d|theme|-|light", "d|theme|light|dark"]),
        ProgramRow("s --run hook", ["write s token x"], ["s|token|-|\(Masking.dots)"]),
    ]

    @Test(arguments: programRows)
    func `a program runs once for each change that it did not make`(_ row: ProgramRow) throws {
        let machine = try SimulatedMachine()
        for line in Self.before { #expect(try Self.prefs(line, on: machine) == 0) }
        try machine.makeProgram("hook")
        let schema = "{ Domain = s; Settings = ({ Key = token; Sensitive = YES; }); }"
        try machine.fileSystem.replace("/tmp/s.plist", with: Array(schema.utf8).span.bytes)
        try Self.change("schema install /tmp/s.plist", on: machine)
        let meanwhile = row.meanwhile.map { line in { @Sendable () throws in try Self.change(line, on: machine) } }
        let runs = Mutex<[String]>([])
        let outcome = try runPrefs(
            ["prefs", "watch"] + row.words, on: machine, meanwhile: meanwhile,
            foreground: { program in
                func value(_ name: String) -> String {
                    program.variables.first { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
                        ?? "-"
                }
                let text = ["DOMAIN", "KEY", "OLD", "NEW"].map { value("PREFS_\($0)") }.joined(separator: "|")
                #expect(program.path == "/usr/bin/hook" && program.arguments.isEmpty && !program.takesInterrupts)
                guard
                    runs.withLock({
                        $0.append(text)
                        return $0.count
                    }) == 1
                else { return 0 }
                for line in row.own {
                    let words = try ["prefs"] + ShellScript.words(line)
                    let variables: EnvironmentVariables = ["PREFS_WATCH": value("PREFS_WATCH")]
                    #expect(try runPrefs(words, on: machine, variables: variables).status == 0)
                }
                for line in row.others { try Self.change(line, on: machine) }
                return 0
            })
        #expect(runs.withLock { $0 } == row.runs)
        #expect(outcome == Transcript.Outcome())
    }

    @Test func `a value that no variable can have leaves it unset`() throws {
        let machine = try SimulatedMachine()
        try machine.makeProgram("hook")
        let size = 64 << 10
        let lines = [
            "--string \(String(repeating: "x", count: size))", "--string \(String(repeating: "x", count: size + 1))",
        ]
        let sizes = Mutex<[Int?]>([])
        let outcome = try runPrefs(
            ["prefs", "watch", "d", "--run", "hook"], on: machine,
            meanwhile: [
                { try Self.change("write d k \(lines[0])", on: machine) },
                { try Self.change("write d k \(lines[1])", on: machine) },
                { _ = try runPrefs(["prefs", "import", "d", "-"], input: "{\"k\": \"a\\u0000b\"}", on: machine) },
            ],
            foreground: { program in
                sizes.withLock { $0.append(program.variables.first { $0.name == "PREFS_NEW" }?.value?.count) }
                return 3
            })
        #expect(sizes.withLock { $0 } == [size, nil, nil])
        #expect(outcome.errors == String(repeating: "prefs: /usr/bin/hook: status 3\n", count: 3))
        #expect(outcome.status == 0)
    }

    static let refusals: [(String, Int32)] = [
        ("d --run", 2), ("d --run missing", 1), ("d --run ./missing", 1), ("d --run /usr", 1),
        ("d --format json --run hook", 2),
    ]

    @Test(arguments: refusals)
    func `a program that cannot run is refused before the first change`(_ words: String, _ status: Int32) throws {
        let machine = try SimulatedMachine()
        try machine.makeProgram("hook")
        let outcome = try runPrefs(["prefs", "watch"] + ShellScript.words(words), on: machine)
        #expect(outcome.status == status && !outcome.errors.isEmpty)
    }

    @Test func `a program in another process gets words, variables and interrupts as promised`() throws {
        let result = try BuiltCommand().script(
            """
            printf '%s\\n' '#!/bin/sh' 'printf "%s\\n" "$1|$2|$PREFS_DOMAIN|$PREFS_KEY|$PREFS_OLD|$PREFS_NEW"' \
                '"$PREFS" write d n --add 1' 'test "$PREFS_NEW" != stop || kill -INT $$' > hook
            chmod +x hook
            "$PREFS" write d k a
            touch out
            timeout -k 1 60 "$PREFS" watch d --initial --run ./hook --once '$(x)' > out &
            until grep -q 'k||a' out; do :; done
            "$PREFS" write d k '; exit 1'
            until grep -q 'k|a|; exit 1' out; do :; done
            "$PREFS" write d k stop
            wait $!
            echo "status $?"
            cat out
            "$PREFS" read d n
            """)
        #expect(
            String(decoding: result.output, as: UTF8.self) == """
                status 0
                --once|$(x)|d|k||a
                --once|$(x)|d|k|a|; exit 1
                --once|$(x)|d|k|; exit 1|stop
                3

                """)
        #expect(result.errors.isEmpty, "\(String(decoding: result.errors, as: UTF8.self))")
    }

    @Test func `a reader that goes away ends it without a change`() throws {
        let result = try BuiltCommand().script(
            "{ timeout -k 1 60 \"$PREFS\" watch; echo $? > status; } | true; cat status")
        #expect(String(decoding: result.output, as: UTF8.self) == "0\n")
    }

    /// Runs a command line that must succeed.
    static func change(_ line: String, on machine: SimulatedMachine) throws {
        #expect(try prefs(line, on: machine) == 0)
    }

    /// Runs a command line while another one runs, and returns its exit status.
    static func prefs(_ line: String, on machine: SimulatedMachine) throws -> Int32 {
        try runPrefs(["prefs"] + ShellScript.words(line), on: machine).status
    }
}

extension SimulatedMachine {
    /// Makes an executable file in a folder of `PATH`.
    fileprivate func makeProgram(_ name: FileName) throws {
        try administrate(FilePath("/usr/bin").appending(name), "#!", permissions: FilePermissions(rawValue: 0o755))
    }
}
