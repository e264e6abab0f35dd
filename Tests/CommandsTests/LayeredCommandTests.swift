import Commands
import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// The verbs, with settings of the administrator.
@Suite struct LayeredCommandTests {
    static let forced: FilePath = "/etc/prefs/forced/d.plist"
    static let site: FilePath = "/etc/xdg/prefs/d.plist"

    private func machine(forcedMode: UInt16 = 0o644) throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        try machine.administrate(
            Self.forced, "{\"locked\": \"by force\"}", permissions: FilePermissions(rawValue: forcedMode))
        try machine.administrate(Self.site, "{\"locked\": \"site\", \"theme\": \"Site Blue\", \"size\": 14}")
        let forced = try machine.run("prefs write --force d locked mine")
        #expect(
            forced == Transcript.Outcome(errors: "prefs: d locked: the value in layer forced stays in force\n"),
            "\(forced)")
        for line in ["prefs write d theme dark", "prefs write -g size -int 12"] {
            #expect(try machine.run(line) == Transcript.Outcome())
        }
        return machine
    }

    @Test func `explain shows every layer, highest priority first, and the value in force`() throws {
        let text = """
            locked
              * forced  "by force"  /etc/prefs/forced/d.plist
                user    "mine"      /home/ada/.config/prefs/d.plist
                site    "site"      /etc/xdg/prefs/d.plist
            size
              * global  12  /home/ada/.config/prefs/.GlobalPreferences.plist
                site    14  /etc/xdg/prefs/d.plist
            theme
              * user  "dark"       /home/ada/.config/prefs/d.plist
                site  "Site Blue"  /etc/xdg/prefs/d.plist

            """
        let shown = try machine().run("prefs explain d").output
        #expect(shown.split { " \n".contains($0) } == text.split { " \n".contains($0) })
    }

    @Test func `a file that others can write forces nothing`() throws {
        let machine = try machine(forcedMode: 0o666)
        #expect(try machine.run("prefs read --effective d locked").output == "mine\n")
        #expect(try !machine.run("prefs explain d locked").output.contains("forced"))
        #expect(try machine.run("prefs write d locked other").status == 0)
    }

    @Test(
        arguments: [
            "delete d", "delete d k", "delete-all d", "rename d a b", "undo d", "restore d 1", "convert d xml",
            "copy d e",
            "export d -", "history d",
        ], ["", "--layer site", "--layer forced", "-currentHost"])
    func `a command on a domain that never existed creates nothing`(_ line: String, _ layer: String) throws {
        let machine = try SimulatedMachine()
        var words = try ShellScript.words("prefs \(line)")
        words.insert(contentsOf: layer.split(separator: " ").map(String.init), at: 2)
        var administrator = machine.environment
        administrator.user = 0
        let root = machine.disk.process(user: 0)
        #expect(try runPrefs(words, on: machine, as: root, environment: administrator).status != 0)
        let created = try ["/home/ada", "/etc", "/var"].flatMap { folder in
            try root.names(in: folder)?.map(\.description) ?? []
        }
        #expect(created.sorted() == ["machine-id", "passwd"])
    }

    @Test func `a layer that has the key but not the entry hides those below it`() throws {
        let machine = try machine()
        try machine.administrate(Self.site, "{\"window\": {\"width\": 80}}")
        #expect(try machine.run("prefs write d window -dict height -int 25").status == 0)
        let shown = try machine.run("prefs explain d :window:width").output.split(separator: "\n")
        #expect(shown.count == 3)
        #expect(shown[1].hasPrefix("  * user") && shown[1].contains("  no such entry  /"))
        #expect(shown[2].hasPrefix("    site") && shown[2].contains("  80 "))
        #expect(try machine.run("prefs read --effective d :window:width").status == 1)
    }

    /// Commands that show values, each with its output.
    static let shown: [(String, String)] = [
        ("read d locked", "by force\n"), ("read --layer user d locked", "mine\n"), ("read d size", "12\n"),
        ("read --layer site d size", "14\n"), ("read d theme --default x", "dark\n"), ("read-type d size", "integer\n"),
        ("read d", "{\n  \"locked\": \"by force\",\n  \"theme\": \"dark\"\n}\n"),
        ("read d locked --default x", "by force\n"), ("find --layer site size", "d\tsize\t14\n"),
        ("find force", "d\tlocked\tby force\n"), ("find mine", ""), ("query d 'size == 12' --count", "0\n"),
        ("query --effective d 'size == 12' --count", "1\n"), ("query --layer site d 'size == 14' --count", "1\n"),
        ("query d 'locked == \"by force\"' --count", "1\n"), ("read -g size", "12\n"),
    ]

    @Test(arguments: shown)
    func `verbs that show print the values in force, or one layer`(_ line: String, _ output: String) throws {
        #expect(try machine().run("prefs \(line)").output == output)
    }

    @Test func `the store can show the user's layer alone`() throws {
        let machine = try machine()
        #expect(try machine.run("prefs write prefs readLayer user").status == 0)
        #expect(try machine.run("prefs read d locked").output == "mine\n")
        #expect(try machine.run("prefs read d size").status == 1)
        #expect(try machine.run("prefs read --effective d locked").output == "by force\n")
    }

    /// Conditions of a write, with the status and the user's value after it.
    static let conditions: [(String, Int32, String)] = [
        ("--if-absent d size -int 1", 8, ""), ("--if-absent --layer user d size -int 1", 0, "1\n"),
        ("--if-current 14 d size -int 1", 8, ""), ("--if-current 12 d size -int 1", 0, "1\n"),
        ("--if-current '\"dark\"' d theme blue", 0, "blue\n"), ("--if-absent d other 1", 0, "1\n"),
        ("--if-current dark d theme blue", 0, "blue\n"), ("--if-current Dark d theme blue", 8, "dark\n"),
        ("--if-current '[' d theme blue", 8, "dark\n"), ("--if-current '' d theme blue", 8, "dark\n"),
    ]

    @Test(arguments: conditions, [false, true])
    func `a condition of a write is about the value in force`(
        _ row: (words: String, status: Int32, value: String), _ readsUserLayer: Bool
    ) throws {
        let machine = try machine()
        if readsUserLayer { #expect(try machine.run("prefs write prefs readLayer user").status == 0) }
        #expect(try machine.run("prefs write \(row.words)").status == row.status)
        let key = row.words.split(separator: " d ")[1].split(separator: " ")[0]
        let value = try machine.run("prefs read --layer user d \(key)").output
        #expect(value == row.value)
    }

    /// Changes of a stored value, with the status and either the new value or the end of the error. The global domain
    /// has the size 12, which hides the one of the site.
    static let changes: [(String, Int32, String)] = [
        ("d new --add 1", 0, "1"), ("d new --add -2.5", 0, "-2.5"), ("d size --add 1", 0, "13"),
        ("d size --add 1 --layer user", 0, "1"), ("d size --add 0x10", 0, "28"), ("d size --add 0.5", 0, "12.5"),
        ("d count --add 1", 0, "4"), ("d count --add=-1", 0, "2"), ("d ratio --add -1", 0, "-0.5"),
        ("d :counts:1 --add 5", 0, "7"), ("d new --toggle", 0, "true"), ("d isOn --toggle", 0, "false"),
        ("d new --toggle --layer user", 0, "true"),
        ("d most --add 1", 3, "most: the sum is beyond the range or precision of its type; nothing was changed"),
        ("d most --add -1", 0, "18446744073709551614"),
        ("d most --add 0.5", 3, "most: the sum is beyond the range or precision of its type; nothing was changed"),
        ("d huge --add 1", 3, "huge: the sum is beyond the range or precision of its type; nothing was changed"),
        ("d huge --add 1e308", 3, "huge: the sum is beyond the range or precision of its type; nothing was changed"),
        (
            "d theme --add 1", 3,
            "theme: the value is a string, and --add requires a finite number; nothing was changed (--int replaces it)"
        ),
        (
            "d count --toggle", 3,
            "count: the value is an integer, and --toggle requires a Boolean; nothing was changed (--bool replaces it)"
        ),
        (
            "d isOn --add 1", 3,
            "isOn: the value is a boolean, and --add requires a finite number; nothing was changed (--int replaces it)"
        ),
        ("d count --add one", 3, "--add one: not a finite number"),
        ("d count --add nan", 3, "--add nan: not a finite number"),
        ("d count --add 1e999", 3, "--add 1e999: not a finite number"),
        (
            "d counts --array-add --add 1", 3,
            "--add is for a whole value, and cannot be inside an array or a dictionary"
        ),
        ("d :counts:0 --insert --add 1", 2, "write: --insert requires a new value, not --add or --toggle"),
        ("d --add 1", 3, "d: only a dictionary can replace all values; name a key to set one"),
    ]

    @Test(arguments: changes)
    func `a number is added to, and a Boolean inverted`(
        _ words: String, _ status: Int32, _ text: String
    ) throws {
        let machine = try machine()
        for line in [
            "count --int 3", "ratio --float 0.5", "counts --array --int 1 --int 2", "isOn --bool yes",
            "most --int 18446744073709551615", "huge --float 1e308",
        ] { #expect(try machine.run("prefs write d \(line)").status == 0) }
        let before = try machine.run("prefs read --layer user d").output
        let outcome = try machine.run("prefs write --print \(words)")
        #expect(outcome.status == status)
        #expect(status == 0 ? outcome.output == "\(text)\n" : outcome.errors == "prefs: \(text)\n", "\(outcome)")
        let key = words.split(separator: " ")[1]
        #expect(try status != 0 || machine.run("prefs read --layer user d \(key)").output == outcome.output)
        #expect(try status == 0 || machine.run("prefs read --layer user d").output == before)
    }

    /// Contents of a domain that cannot be moved without a loss.
    @Test(arguments: ["{\"big\": 123456789012345678901234567890}", "garbage", "<plist><array/></plist>"])
    func `a domain is moved as a whole or not at all`(_ text: String) throws {
        let machine = try machine()
        try machine.fileSystem.replace("/home/ada/.config/prefs/e.plist", with: Array(text.utf8))
        for verb in ["rename", "copy"] {
            #expect(try machine.run("prefs \(verb) --to f e").status == 5)
            let file = try #require(try machine.fileSystem.contents(of: "/home/ada/.config/prefs/e.plist"))
            #expect(String(decoding: file, as: UTF8.self) == text)
            #expect(try machine.run("prefs read f").status == 1)
        }
        #expect(try machine.run("prefs rename --to f d").status == 4)
        #expect(try machine.run("prefs rename --force --to f d").status == 0)
    }

    @Test(arguments: ["rename", "copy"], ["xml", "json", "binary"])
    func `a new domain has the format of the one that it is made from`(_ verb: String, _ format: String) throws {
        let machine = try machine()
        #expect(try machine.run("prefs write e a 1").status == 0)
        #expect(try machine.run("prefs convert e \(format)").status == 0)
        let before = try #require(try machine.fileSystem.contents(of: "/home/ada/.config/prefs/e.plist"))
        #expect(try machine.run("prefs \(verb) --to f e").status == 0)
        #expect(try machine.fileSystem.contents(of: "/home/ada/.config/prefs/f.plist") == before)
    }

    /// Words for hosts, each with the commands before, and the status and the last line of a write.
    static let hosts: [(String, [String], Int32, String)] = [
        ("simulated", [], 0, ""), ("SIMULATED", [], 0, ""), ("665baf1d03664e1f83dc22b83f7281fb", [], 0, ""),
        (
            "box", [], 2,
            "prefs: unknown host box; the known ones are simulated (this host); to write for another, add --new-host"
        ),
        ("box", ["--host box write --new-host d k 1"], 0, ""),
        ("box", ["--host box write --new-host d k 1", "--host box delete d"], 0, ""),
        (
            "bix", ["--host box write --new-host d k 1"], 2,
            "prefs: unknown host bix; the known ones are simulated (this host), box; to write for another, add --new-host"
        ),
        ("a.b", [], 2, "prefs: a.b is not a valid host name: it contains a dot"),
    ]

    @Test(arguments: hosts)
    func `a host is named by what it is called`(
        _ word: String, _ before: [String], _ status: Int32, _ message: String
    ) throws {
        let machine = try SimulatedMachine()
        for line in before { #expect(try machine.run("prefs \(line)").status == 0) }
        let outcome = try machine.run("prefs --host \(word) write e k 2")
        #expect(outcome.status == status && outcome.errors == (message.isEmpty ? "" : message + "\n"), "\(outcome)")
        #expect(try machine.run("prefs --host \(word) read e k").status == status)
        let isOwn = word != "box" && status == 0
        #expect(try machine.run("prefs -currentHost read e k").status == (isOwn ? 0 : 1))
    }

    @Test func `a file in the name of this host is named in a note`() throws {
        let machine = try SimulatedMachine()
        try machine.store(["k": 1], as: "ByHost/d.simulated")
        let outcome = try machine.run("prefs --host simulated write d k 2")
        #expect(outcome.status == 0 && outcome.errors.contains("simulated is this host, "), "\(outcome)")
        #expect(try machine.run("prefs -currentHost read d k").output == "2\n")
        let hosts = try machine.run("prefs domains --hosts").output.split(separator: "\n")
        #expect(hosts.count == 2 && hosts[0].hasSuffix("\tsimulated") && hosts[1] == "simulated")
    }

    @Test func `find shows what is stored, or with --effective what is in force`() throws {
        let machine = try machine()
        #expect(try machine.run("defaults find force").output.isEmpty)
        #expect(try machine.run("defaults find --effective force").output.contains("locked = \"by force\";"))
        #expect(try machine.run("defaults find --effective mine").output.isEmpty)
        #expect(try machine.run("defaults find --effective blue").output.isEmpty)
        #expect(try machine.run("defaults find --layer site blue").output.contains("theme = \"Site Blue\";"))
        // The global value hides the one of the site.
        let size = "Found 1 keys in domain 'Apple Global Domain': {\n    size = 12;\n}\n"
        #expect(try machine.run("defaults find --effective size").output == size)
    }

    @Test func `diff compares layers`() throws {
        let machine = try machine()
        #expect(
            try machine.run("prefs diff d@forced d").output
                == "- locked: \"by force\"\n+ locked: \"mine\"\n+ theme: \"dark\"\n")
        #expect(try machine.run("prefs diff d@effective d@effective").status == 0)
        #expect(
            try machine.run("prefs diff d@site d@effective").output.hasPrefix(
                "- locked: \"site\"\n+ locked: \"by force\"\n"))
    }

    static let refused = [
        "prefs apply - --domain d", "prefs apply - --domain d --dry-run", "prefs apply --domains -",
    ]

    @Test(arguments: refused)
    func `apply rejects a forced key before anything is written`(_ line: String) throws {
        let machine = try machine()
        let values = "{\"locked\": \"x\", \"new\": 1}"
        let input = line.hasSuffix("-") ? "{\"a\": {\"k\": 1}, \"d\": \(values), \"z\": {\"k\": 1}}" : values
        let outcome = try machine.run(line, input: input)
        #expect(outcome.status == 4)
        #expect(
            outcome.errors.hasPrefix(
                "prefs: d locked: forced by the administrator in /etc/prefs/forced/d.plist; "))
        #expect(try machine.run("prefs domains").output == "d\n")
        #expect(try machine.run("prefs read d new").status == 1)
        #expect(try machine.run(line + " --force", input: input).status == (line.contains("dry") ? 8 : 0))
    }

    @Test func `write rejects a key that is forced under its former name`() throws {
        let machine = try machine()
        try machine.administrate(
            "/usr/share/prefs/schemas/d.plist",
            "{ Domain = d; Settings = ({ Key = door; Type = string; RenamedFrom = (locked); }); }")
        #expect(try machine.run("prefs read --effective d door").output == "by force\n")
        let outcome = try machine.run("prefs write d door open")
        #expect(outcome.status == 4)
        #expect(outcome.errors.hasPrefix("prefs: d door: forced by the administrator in /etc/prefs/forced/d.plist; "))
    }

    @Test func `edit rejects a forced key, and keeps the text`() throws {
        let machine = try machine()
        @Sendable func edit(_ arguments: [String]) throws -> Int32 {
            let path = try #require(arguments.last.flatMap { FilePath($0) })
            let text = String(decoding: try machine.fileSystem.contents(of: path) ?? [], as: UTF8.self)
            try machine.fileSystem.replace(path, with: Array(text.replacing("mine", with: "ours").utf8).span.bytes)
            return 0
        }
        let refusal = try runPrefs(["prefs", "edit", "d"], on: machine, program: edit)
        #expect(
            refusal.status == 4 && refusal.errors.contains("\nthe edited text is kept in /tmp/"), "\(refusal.errors)")
        #expect(try machine.run("prefs read --layer user d locked").output == "mine\n")
        #expect(try runPrefs(["prefs", "edit", "--force", "d"], on: machine, program: edit).status == 0)
        #expect(try machine.run("prefs read --layer user d locked").output == "ours\n")
    }

    @Test func `watch reports changes in the administrator's layers`() throws {
        let machine = try machine()
        let changes: [@Sendable () throws -> Void] = [
            { try machine.administrate(Self.site, "{\"size\": 15}") },
            { try machine.administrate(Self.forced, "{\"locked\": \"more\"}") },
            { _ = try machine.run("prefs write --force d locked yours") },
        ]
        #expect(
            try runPrefs(["prefs", "watch", "--layer", "site", "d"], on: machine, meanwhile: changes).output == """
                site d locked: "site" -> (none)
                site d size: 14 -> 15
                site d theme: "Site Blue" -> (none)

                """)
        let inForce = try runPrefs(
            ["prefs", "watch", "d"], on: machine,
            meanwhile: [
                { _ = try machine.run("prefs write --force d locked hidden") },
                { try machine.administrate(Self.forced, "{}") },
            ])
        #expect(inForce.output == "user d locked: \"more\" -> \"hidden\"\n")
    }
}
