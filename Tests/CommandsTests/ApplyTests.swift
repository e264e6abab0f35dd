import Commands
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct ApplyTests {
    static let first = "{\"a\": {\"theme\": \"dark\", \"size\": 14}, \"b\": {\"size\": 1}}"
    static let second = "{\"a\": {\"theme\": \"light\"}, \"c\": {\"size\": 2}}"

    private static func machine() throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        for line in ["prefs write a own kept", "prefs write b own kept"] { _ = try machine.run(line) }
        #expect(try machine.run("prefs apply --domains -", input: first).status == 0)
        machine.disk.synchronize()
        return machine
    }

    /// The contents of all domains, as a new process of the user reads them from the disk.
    private static func state(_ disk: SimulatedDisk, _ machine: SimulatedMachine) throws -> String {
        try run(["read", "--format", "typed"], on: disk, machine).output
    }

    private static func run(
        _ words: [String], input: String = "", on disk: SimulatedDisk, _ machine: SimulatedMachine,
        _ plan: FaultPlan = FaultPlan()
    ) throws -> (status: ExitStatus, output: String, wasHit: Bool) {
        let files = disk.process(user: 1000, plan)
        let terminal = SimulatedTerminal(input: input)
        var environment = machine.environment
        environment.arguments = ["prefs"] + words
        let status = Prefs.run(
            in: CommandContext(
                SystemServices(
                    fileSystem: files, clock: disk.clock, watcher: SimulatedFolderWatcher(disk),
                    environment: environment, terminal: terminal)))
        let wasHit = files.hits > 0
        files.kill()
        return (status, terminal.text(of: .output), wasHit)
    }

    static let effects: [Fault.Effect] = [.fail(.inputOutput), .dieAfter, .dieWithin(keeping: 9)]

    @Test(arguments: effects)
    func `an interrupted apply leaves all changes or none, and a record that matches`(_ effect: Fault.Effect) throws {
        let machine = try Self.machine()
        let words = ["apply", "--domains", "--prune-domains", "-"]
        let old = try Self.state(machine.disk.copy(), machine)
        let flawless = machine.disk.copy()
        #expect(try Self.run(words, input: Self.second, on: flawless, machine).status == .done)
        let new = try Self.state(flawless, machine)
        #expect(old != new && new.contains("light") && !new.contains("14"))
        let last = try Extent.operations(every: 7, stream: "apply \(effect)").first { number in
            let disk = machine.disk.copy()
            let run = try Self.run(words, input: Self.second, on: disk, machine, FaultPlan(effect, at: number))
            for survivors in [nil, SimulatedDisk.Survivors.none] as [SimulatedDisk.Survivors?] {
                let after = disk.copy()
                if let survivors { after.crash(survivors) }
                let found = try Self.state(after, machine)
                let place: Comment = "\(effect) at \(number), \(String(describing: survivors))"
                #expect(run.status == .done ? found == new : found == old || found == new, place)
                // In either state, the record lists what was applied, so an empty declaration removes all of it.
                #expect(try Self.run(words, input: "{}", on: after, machine).status == .done)
                let left = try Self.state(after, machine)
                for line in ["theme", "size"] { #expect(!left.contains(line), place) }
                #expect(left.split(separator: "kept").count == 3, "\(left)")
            }
            return !run.wasHit
        }
        #expect(try #require(last) > 20)
    }

    @Test func `an unreadable domain leaves all others unchanged`() throws {
        let machine = try SimulatedMachine()
        let folder: FilePath = "/home/ada/.config/prefs"
        try machine.fileSystem.makeFolders(folder)
        try machine.fileSystem.replace(folder.appending("b.plist"), with: Array("bplist00 not".utf8).span.bytes)
        let outcome = try machine.run("prefs apply --domains -", input: Self.first)
        #expect(outcome.status == 5 && outcome.errors.hasPrefix("prefs: /home/ada/.config/prefs/b.plist"))
        #expect(try machine.run("defaults read a").status == 1)
        let names = try machine.fileSystem.names(in: "/home/ada/.local/state/prefs") ?? []
        #expect(!names.contains(".applied.plist"))
    }

    @Test func `a key that the user removed after an earlier apply is ignored`() throws {
        let machine = try Self.machine()
        #expect(try machine.run("prefs delete a size").status == 0)
        #expect(try machine.run("prefs delete b").status == 0)
        #expect(try machine.run("prefs apply --domains --prune-domains -", input: "{}").status == 0)
        #expect(try machine.run("defaults read a").output == "{\n    own = kept;\n}\n")
        #expect(try machine.run("prefs read b").status == 1)
    }

    @Test func `an apply is undone like any other write`() throws {
        let machine = try Self.machine()
        let names = try machine.fileSystem.names(in: "/home/ada/.local/state/prefs/history/a") ?? []
        #expect(names.contains { $0.description.contains("-apply-") })
    }

    /// Commands with their input, and what they print.
    struct Row: Sendable {
        let what: String
        let before: [(String, String)]
        let command: String
        var input = ""
        var status: Int32 = 0
        var output = ""
        var errors = ""
        /// The values afterwards, as `prefs read --format json` prints them.
        let values: String
    }

    static let one = "{\"a\": {\"x\": 1, \"y\": 1}, \"b\": {\"z\": 1}}"

    static let rows: [Row] = [
        Row(
            what: "a second set leaves the keys of the first", before: [("--domains --set one -", one)],
            command: "--domains --set two --prune-domains -", input: "{\"a\": {\"w\": 2}}", output: "+ a w: 2\n",
            values: "{\"a\":{\"w\":2,\"x\":1,\"y\":1},\"b\":{\"z\":1}}"),
        Row(
            what: "a key that is no longer declared is deleted", before: [("--domains --set one -", one)],
            command: "--domains --set one --prune -", input: "{\"a\": {\"x\": 3}, \"b\": {\"z\": 1}}",
            output: "~ a x: 1 → 3\n- a y: 1\n", values: "{\"a\":{\"x\":3},\"b\":{\"z\":1}}"),
        Row(
            what: "a domain without keys is removed", before: [("--domains --set one -", one)],
            command: "--domains --set one --prune -", input: "{\"a\": {\"x\": 1, \"y\": 1}, \"b\": {}}",
            output: "- b z: 1\n", values: "{\"a\":{\"x\":1,\"y\":1}}"),
        Row(
            what: "a domain without a file is not pruned", before: [("--domains --set one -", one)],
            command: "--domains --set one --prune -", input: "{\"b\": {\"z\": 2}}", status: 8,
            errors:
                "prefs: no file for a, where the set one has keys; nothing was changed (--prune-domains deletes them)\n",
            values: "{\"a\":{\"x\":1,\"y\":1},\"b\":{\"z\":1}}"),
        Row(
            what: "a domain without a file is pruned on request", before: [("--domains --set one -", one)],
            command: "--domains --set one --prune-domains --quiet -", input: "{\"b\": {\"z\": 2}}",
            values: "{\"b\":{\"z\":2}}"),
        Row(
            what: "a key of another set is set with a note", before: [("--domains --set one -", one)],
            command: "--domains -", input: "{\"a\": {\"x\": 2}}", output: "~ a x: 1 → 2\n",
            errors: "prefs: a x: part of the set one (--take moves it to this one)\n",
            values: "{\"a\":{\"x\":2,\"y\":1},\"b\":{\"z\":1}}"),
        Row(
            what: "pruning refuses a key of another set", before: [("--domains --set one -", one)],
            command: "--domains --prune -", input: "{\"a\": {\"x\": 2}}", status: 8,
            errors: "prefs: a x: part of the set one; nothing was changed (--take moves it to this one)\n",
            values: "{\"a\":{\"x\":1,\"y\":1},\"b\":{\"z\":1}}"),
        Row(
            what: "a key that was taken is pruned with its new set, and not with the former one",
            before: [
                ("--domains --set one -", one), ("--domains --set two --take -", "{\"a\": {\"x\": 2}}"),
                ("--domains --set one --prune-domains -", "{}"),
            ], command: "--domains --set two --prune-domains -", input: "{}", output: "- a x: 2\n", values: "{}"),
        Row(
            what: "the name of a single file is the set", before: [("one.json", ""), ("two.json", "")],
            command: "--list",
            output: "/home/ada/one.json:\none k\n/home/ada/two.json:\ntwo k\n",
            values: "{\"one\":{\"k\":1},\"two\":{\"k\":2}}"),
        Row(
            what: "several files are the set default, and the last value is used", before: [],
            command: "--domains all.json -", input: "{\"a\": {\"x\": 2}}",
            output: "+ a x: 2\n+ a y: 1\n",
            errors: "prefs: standard input: a x: replaces the value in all.json\n",
            values: "{\"a\":{\"x\":2,\"y\":1}}"),
        Row(
            what: "a trial prints the changes and makes none", before: [("--domains --set one -", one)],
            command: "--domains --set one --dry-run --prune-domains -", input: "{}", status: 8,
            output: "- a x: 1\n- a y: 1\n- b z: 1\n",
            values: "{\"a\":{\"x\":1,\"y\":1},\"b\":{\"z\":1}}"),
        Row(
            what: "a check prints nothing", before: [], command: "--domains --check -", input: one, status: 8,
            values: "{}"),
        Row(
            what: "a check of what is so already", before: [("--domains -", one)], command: "--domains --check -",
            input: one, values: "{\"a\":{\"x\":1,\"y\":1},\"b\":{\"z\":1}}"),
        Row(
            what: "a skipped file of a domain prevents pruning, and a slash at the end of a folder makes no other set",
            before: [("folder", "")], command: "--prune-domains folder/", status: 8,
            errors: """
                prefs: folder/: not read: two.txt
                prefs: two.txt: not read, and two has keys of the set; nothing was changed

                """,
            values: "{\"one\":{\"k\":1},\"two\":{\"k\":2}}"),
    ]

    @Test(arguments: rows.indices) func `a set owns the keys that it has set`(_ index: Int) throws {
        let row = Self.rows[index]
        let machine = try SimulatedMachine()
        let home: FilePath = "/home/ada"
        try machine.setWorkingFolder(home)
        let folder = home.appending("folder")
        try machine.fileSystem.makeFolders(folder)
        let texts = ["one": "{\"k\": 1}", "two": "{\"k\": 2}", "all": "{\"a\": {\"x\": 1, \"y\": 1}}"]
        for (name, text) in texts {
            for place in name == "all" ? [home] : [home, folder] {
                let path = place.appending(try #require(FileName("\(name).json")))
                try machine.fileSystem.replace(path, with: Array(text.utf8).span.bytes)
            }
        }
        for (words, input) in row.before {
            #expect(try machine.run("prefs apply --quiet \(words)", input: input).status == 0, "\(row.what)")
        }
        if row.before.first?.0 == "folder" {
            try machine.fileSystem.rename(folder.appending("two.json"), to: folder.appending("two.txt"))
        }
        let outcome = try machine.run("prefs apply \(row.command)", input: row.input)
        #expect(outcome.status == row.status && outcome.output == row.output, "\(row.what): \(outcome)")
        #expect(outcome.errors == row.errors, "\(row.what)")
        let values = try PropertyList(parsing: Array(machine.run("prefs read --format json").output.utf8))
        #expect(try values == PropertyList(parsing: Array(row.values.utf8)), "\(row.what)")
    }

    @Test func `a record of an earlier version is the set default`() throws {
        let machine = try SimulatedMachine()
        #expect(try machine.run("prefs apply --domains -", input: Self.one).status == 0)
        let record: FilePath = "/home/ada/.local/state/prefs/.applied.plist"
        let former =
            "{ \"/home/ada/.config/prefs/a.plist\" = { domain = a; keys = (x); }; "
            + "\"/home/ada/.config/prefs/b.plist\" = { domain = b; keys = (z); }; }"
        try machine.fileSystem.replace(record, with: Array(former.utf8).span.bytes)
        #expect(try machine.run("prefs apply --list").output == "default:\na x\nb z\n")
        let outcome = try machine.run("prefs apply --domains --prune-domains -", input: "{}")
        #expect(outcome.output == "- a x: 1\n- b z: 1\n", "\(outcome)")
        #expect(try machine.run("prefs read a y").output == "1\n")
    }

    // MARK: Layers

    /// A folder with declarations for three layers and two hosts, on the machine of a user.
    private static func layers(user: UInt32) throws -> SimulatedMachine {
        let machine = try SimulatedMachine(user: user)
        for (folder, text) in [
            ("", #"{"theme": "dark", "size": 1}"#), ("/site", #"{"size": 5}"#), ("/forced", #"{"proxy": "p"}"#),
            ("/hosts/simulated", #"{"size": 9}"#), ("/hosts/other", #"{"size": 19}"#),
        ] {
            let folder = try #require(FilePath("/home/ada/clone" + folder))
            try machine.fileSystem.makeFolders(folder)
            try machine.fileSystem.replace(folder.appending("d.json"), with: Array(text.utf8).span.bytes)
        }
        return machine
    }

    private static let noteOnHost =
        "prefs: /home/ada/clone/hosts/other: not applied: unknown host other; the known ones are simulated (this host); to write for another, add --new-host\n"

    @Test(arguments: ["json", "xml", "binary"])
    func `a backup of all domains makes the same domains in an empty home, and is complete`(_ format: String) throws {
        let (machine, other) = (try SimulatedMachine(), try SimulatedMachine())
        for line in [
            "a :x:y 1", "a when --date 2001-01-01", "-g width --float 2.5", "c.d data --data 00ff",
            "c.d n --array 1 two", "c.d on --bool yes",
        ] {
            #expect(try machine.run("prefs write \(line)") == Transcript.Outcome())
        }
        #expect(try machine.run("prefs export --domains --format \(format) /home/ada/all").status == 0)
        let backup = try #require(try machine.fileSystem.contents(of: "/home/ada/all"))
        try other.fileSystem.replace("/home/ada/all", with: backup)
        #expect(try other.run("prefs apply --domains /home/ada/all").status == 0)
        #expect(try other.run("prefs read --format typed").output == machine.run("prefs read --format typed").output)
        // The same set, from the standard output.
        let shown = try machine.run("prefs export --domains").output
        try other.fileSystem.replace("/home/ada/all", with: Array(shown.utf8))
        #expect(try other.run("prefs apply --domains --dry-run /home/ada/all") == Transcript.Outcome())

        try machine.fileSystem.replace("/home/ada/.config/prefs/damaged.plist", with: Array("{".utf8))
        #expect(try machine.run("prefs export --domains /home/ada/other.json").status == 5)
        #expect(try machine.fileSystem.contents(of: "/home/ada/other.json") == nil)
        for line in ["export --domains a /home/ada/o", "export --domains --effective /home/ada/o", "export a"] {
            #expect(try machine.run("prefs \(line)").status == 2)
        }
    }

    @Test func `a file in a folder is one domain, also if its values are dictionaries`() throws {
        let machine = try SimulatedMachine()
        try machine.fileSystem.makeFolders("/home/ada/state")
        try machine.fileSystem.replace("/home/ada/state/app.json", with: Array("{\"window\": {\"x\": 1}}".utf8))
        #expect(try machine.run("prefs apply /home/ada/state/app.json").status == 2)
        #expect(try machine.run("prefs apply /home/ada/state").status == 0)
        #expect(try machine.run("prefs read app :window:x").output == "1\n")
    }

    @Test func `the folders of layers and hosts are applied by the administrator`() throws {
        let machine = try Self.layers(user: 0)
        let apply = "prefs apply --layers /home/ada/clone"
        let hosts = try machine.run("prefs domains --hosts").output
        let host = try #require(hosts.split { $0.isWhitespace }.first)
        let changes = """
            + d@forced proxy: "p"
            + d@site size: 5
            + d for host \(host) size: 9
            + d size: 1
            + d theme: "dark"

            """
        let trial = try machine.run(apply + " --dry-run")
        #expect(trial.status == 8 && trial.output == changes && trial.errors == Self.noteOnHost, "\(trial)")
        let outcome = try machine.run(apply)
        #expect(outcome.status == 0 && outcome.output == changes && outcome.errors == Self.noteOnHost, "\(outcome)")
        for (line, output) in [
            ("read d size", "9\n"), ("read --layer user d size", "1\n"), ("read --layer site d size", "5\n"),
            ("read --layer forced d proxy", "p\n"),
            (
                "apply --list --layers",
                "/home/ada/clone:\nd@forced proxy\nd for host \(host) size\nd size\nd theme\nd@site size\n"
            ),
        ] {
            #expect(try machine.run("prefs " + line).output == output, "\(line)")
        }
        let permissions = try machine.fileSystem.status(of: "/etc/xdg/prefs")?.permissions.rawValue
        #expect(permissions == 0o755)
        #expect(try machine.run(apply + " --check").status == 0)

        // Keys that the folder does not have now are pruned in each layer.
        try machine.fileSystem.remove("/home/ada/clone/site/d.json")
        try machine.fileSystem.replace("/home/ada/clone/forced/d.json", with: Array("{}".utf8).span.bytes)
        let refused = try machine.run(apply + " --prune")
        #expect(
            refused.status == 8 && refused.output == "" && refused.errors.contains("no file for d@site"), "\(refused)")
        #expect(try machine.run("prefs read --layer forced d proxy").output == "p\n")
        let pruned = try machine.run(apply + " --prune-domains --new-host")
        let expected = "- d@forced proxy: \"p\"\n- d@site size: 5\n+ d for host other size: 19\n"
        #expect(pruned.status == 0 && pruned.output == expected && pruned.errors == "", "\(pruned)")

        #expect(try machine.run("prefs undo --layer forced --transaction d").status == 0)
        #expect(try machine.run("prefs read --layer forced d proxy").output == "p\n")
    }

    @Test func `another user changes nothing in any layer`() throws {
        let machine = try Self.layers(user: 1000)
        let outcome = try machine.run("prefs apply --layers /home/ada/clone")
        #expect(outcome.status == 6 && outcome.output == "", "\(outcome)")
        #expect(try machine.run("prefs read d").status == 1)
    }

    @Test func `a value that one layer refuses leaves the others unchanged`() throws {
        let machine = try Self.layers(user: 0)
        try machine.fileSystem.replace("/home/ada/clone/d.json", with: Array("[1]".utf8).span.bytes)
        #expect(try machine.run("prefs apply --layers /home/ada/clone").status != 0)
        #expect(try machine.run("prefs write d proxy x --layer forced").status == 0)
        try machine.fileSystem.replace(
            "/home/ada/clone/d.json", with: Array(#"{"proxy": "mine"}"#.utf8).span.bytes)
        let outcome = try machine.run("prefs apply --layers /home/ada/clone")
        #expect(outcome.status == 4 && outcome.output == "", "\(outcome)")
        #expect(try machine.run("prefs read --layer site d").status == 1)
    }

    /// What the call itself changes in the forced layer decides, and not what was there before.
    @Test func `a key moves between the forced and the user's layer in one call`() throws {
        let machine = try Self.layers(user: 0)
        let both = Array(#"{"proxy": "p", "size": 1}"#.utf8)
        try machine.fileSystem.replace("/home/ada/clone/d.json", with: both.span.bytes)
        for option in [" --dry-run", ""] {
            let outcome = try machine.run("prefs apply --layers /home/ada/clone" + option)
            #expect(outcome.status == 4 && outcome.output == "", "\(outcome)")
            #expect(outcome.errors.contains("d proxy: forced by the administrator"), "\(outcome)")
        }
        #expect(try machine.run("prefs read --layer forced d").status == 1)
        try machine.fileSystem.replace("/home/ada/clone/d.json", with: Array("{}".utf8).span.bytes)
        #expect(try machine.run("prefs apply --layers /home/ada/clone").status == 0)
        try machine.fileSystem.replace("/home/ada/clone/d.json", with: both.span.bytes)
        try machine.fileSystem.replace("/home/ada/clone/forced/d.json", with: Array("{}".utf8).span.bytes)
        let moved = try machine.run("prefs apply --layers --prune /home/ada/clone")
        #expect(moved.status == 0 && moved.output.hasPrefix("- d@forced proxy"), "\(moved)")
        #expect(try machine.run("prefs read --layer user d proxy").output == "p\n")
    }

    @Test(arguments: [
        ("--layers --host simulated /home/ada/clone", "with --layers, the folders say which domains"),
        ("--layers --domain d /home/ada/clone", "with --layers, the folders say which domains"),
        ("--layers /home/ada/clone/d.json", "not a folder, as --layers requires"),
        ("--layers -", "not a folder, as --layers requires"),
        ("--new-host /home/ada/clone", "--new-host is for --host"),
    ])
    func `layers need a folder that names them`(_ words: String, _ message: String) throws {
        let outcome = try Self.layers(user: 0).run("prefs apply " + words)
        #expect(outcome.status == 2 && outcome.errors.contains(message), "\(outcome)")
    }

    @Test func `changes that cannot be printed were made, which the message reports`() throws {
        let machine = try SimulatedMachine()
        let terminal = SimulatedTerminal(input: #"{"a": {"x": 1}}"#)
        terminal.failWrites(.noSpace, to: [.output])
        var environment = machine.environment
        environment.arguments = ["prefs", "apply", "--domains", "-"]
        let context = CommandContext(
            SystemServices(
                fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher,
                environment: environment, terminal: terminal))
        #expect(Prefs.run(in: context) == .systemFailed)
        let message = "prefs: wrote /home/ada/.config/prefs/a.plist, but could not write: No space left on device\n"
        #expect(terminal.text(of: .errors) == message)
        #expect(try machine.run("prefs read a x").output == "1\n")
    }
}
