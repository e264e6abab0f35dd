import Commands
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// Commands on a domain with a secret whose schema cannot be read, is damaged, or is gone.
@Suite struct SecrecyTests {
    private static let own: FilePath = "/home/ada/.local/share/prefs/schemas"
    private static let site: FilePath = "/usr/share/prefs/schemas"
    private static let memory: FilePath = "/home/ada/.config/prefs/.secrets"
    private static let schema = """
        { Domain = d; Settings = (
            { Key = theme; }, { Key = token; Sensitive = YES; RenamedFrom = key; },
            { Key = account; Type = dictionary; Entries = ({ Key = name; }, { Key = password; Sensitive = YES; }); }
        ); }
        """
    private static let publicSchema = "{ Domain = d; Settings = ({ Key = token; }); }"

    /// Where a schema is.
    enum Place: CaseIterable { case own, site }

    private func machine(_ place: Place = .own, extends: Bool = false, remembers: Bool = false) throws
        -> SimulatedMachine
    {
        let machine = try SimulatedMachine()
        let folder = place == .own ? Self.own : Self.site
        if extends {
            try machine.administrate(folder.resolving("d.plist"), "{ Domain = d; Extends = base; }")
            let base = Self.schema.replacing("Domain = d", with: "Domain = base")
            try machine.administrate(folder.resolving("base.plist"), base)
        } else {
            try machine.administrate(folder.resolving("d.plist"), Self.schema)
        }
        for line in [
            "write d theme light", "write d token hidden1", "write d account -dict name ada password hidden2",
            "write d token hidden3", "write other token elsewhere",
        ] {
            #expect(try machine.run("prefs " + line) == Transcript.Outcome())
        }
        if !remembers { try machine.disk.process().remove(Self.memory.resolving("d.plist")) }
        return machine
    }

    /// The verbs that print many values, and those that print one value or copy it.
    private static let many = [
        "read d", "read", "read --effective d", "find d", "find theme", "explain d", "explain d token", "history d",
        "history --full d", "history --format json d", "history --show 2 d", "query d TRUEPREDICATE",
        "diff d other", "diff --format commands other d", "diff --versions 1..3 d", "diff d@1", "diff other d@1",
        "read /home/ada/.config/prefs/d.plist",
    ]
    private static let single = [
        "read d token", "read d :account:password", "read --effective d token", "read --format raw d theme",
        "export d -", "export --effective d -", "convert -o - d xml", "edit d", "copy d token shown",
        "copy --to other d token shown", "rename d token shown", "rename --to other d token shown", "form --plain d",
        "export --domains -", "copy --to new d", "rename --to new d",
    ]

    /// What is printed in place of a secret must not become the secret, also where no schema declares it.
    @Test(arguments: [
        ("read --format json", "apply --domains", ":d:account:password", 3),
        ("read --format json d", "import d", ":account:password", 3),
        ("read --format json d", "import new", ":account:password", 0),
        ("read --format xml d", "apply --domain new", ":account:password", 0),
    ])
    func `is not replaced by what is printed in its place`(
        _ print: String, _ store: String, _ place: String, _ statusIfForced: Int32
    ) throws {
        let machine = try machine()
        let printed = try machine.run("prefs " + print)
        try machine.fileSystem.replace("/home/ada/printed", with: Array(printed.output.utf8))
        let refused = try machine.run("prefs \(store) /home/ada/printed")
        #expect(refused.status == 3 && refused.errors.contains("printed: \(place): ••••"), "\(refused)")
        #expect(try machine.run("prefs \(store) --force /home/ada/printed").status == statusIfForced)
        #expect(try machine.run("prefs export --format json d /home/ada/exported").status == 0)
        #expect(try machine.run("prefs read /home/ada/exported :account:password").output == "hidden2\n")
    }

    // MARK: Files of the store

    /// Commands that name a file of the store by its path.
    private static let paths = [
        "read D.prefs/token.txt", "convert -o - D.prefs/token.txt xml",
        "convert -o /home/ada/out D.prefs/token.txt json",
        "convert D.prefs/account.plist json", "query D.prefs/token.txt TRUEPREDICATE",
        "query D.prefs/account.plist name==1",
        "lint D.prefs/token.txt", "diff D.prefs/account.plist D.prefs/theme.txt", "read D.prefs/account.plist",
        "import other D.prefs/account.plist", "apply --domain other D.prefs/account.plist",
        "diff --from xml D.prefs/account.plist D.prefs/account.plist", "edit D.prefs/account.plist",
        "import other F.plist", "apply --domain other F.plist", "copy --to other F.plist token token",
    ]

    @Test(arguments: paths)
    func `a path into the store shows no secret that the domain hides`(_ line: String) throws {
        for isReadable in [true, false] {
            let machine = try machine()
            #expect(try machine.run("prefs import f /home/ada/.config/prefs/d.plist --force").status == 0)
            let f = Self.schema.replacing("Domain = d", with: "Domain = f")
            try machine.administrate(Self.own.resolving("f.plist"), isReadable ? f : "{")
            #expect(try machine.run("prefs convert d folder").status == 0)
            if !isReadable { try machine.administrate(Self.own.resolving("d.plist"), "{") }
            let words = line.replacing("D.prefs", with: "/home/ada/.config/prefs/d.prefs")
                .replacing("F.plist", with: "/home/ada/.config/prefs/f.plist")
            let outcome = try machine.run("prefs \(words)")
            #expect(!"\(outcome)".contains("hidden"), "\(outcome)")
            #expect(outcome.status == (isReadable ? 3 : 5), "\(outcome)")
            #expect(try machine.run("prefs read other").output.contains("hidden") == false)
            #expect(try machine.fileSystem.status(of: "/home/ada/out") == nil)
        }
    }

    @Test func `a path into the store leads to values that are not sensitive`() throws {
        let machine = try machine()
        #expect(try machine.run("prefs import d /home/ada/.config/prefs/d.plist").status == 0)
        #expect(try machine.run("prefs --host h import --new-host d /home/ada/.config/prefs/d.plist").status == 0)
        #expect(try machine.run("prefs import --force other /home/ada/.config/prefs/d.plist").status == 0)
        #expect(try machine.run("prefs convert d folder").status == 0)
        #expect(try machine.run("prefs convert -o - /home/ada/.config/prefs/d.prefs/theme.txt json").status == 0)
    }

    // MARK: Unreadable schemas

    /// A way to make a file unreadable.
    struct Way: CustomTestStringConvertible {
        let testDescription: String
        let wreck: @Sendable (_ path: FilePath, _ root: SimulatedFileSystem) throws -> Void

        init(_ name: String, _ wreck: @escaping @Sendable (FilePath, SimulatedFileSystem) throws -> Void) {
            (testDescription, self.wreck) = (name, wreck)
        }

        static func text(_ name: String, _ text: String) -> Way {
            Way(name) { path, root in try root.replace(path, with: Array(text.utf8)) }
        }

        static func link(_ name: String, _ target: FilePath?) -> Way {
            Way(name) { path, root in
                try root.remove(path)
                try root.makeSymbolicLink(path, to: target ?? path)
            }
        }
    }

    static let ways: [Way] = [
        Way("closed") { path, root in
            try root.open(path, .reading)?.setPermissions(.privateFile)
            try root.open(path, .reading)?.setOwner(0, group: 0)
        },
        .link("dangling link", "/nowhere"), .link("link to itself", nil),
        Way("folder") { path, root in
            try root.remove(path)
            _ = try root.makeFolder(path, .publicFolder)
        },
        Way("too large") { path, root in
            try root.open(path, .writing)?.truncate(to: SchemaPlaces.mostBytes + 1)
        },
        .text("empty", ""), .text("without settings", "{}"), .text("missing brace", "{ Domain = d;"),
        .text("array", "( d )"), .text("binary of a later version", "bplist99"),
        .text("later attribute", "{ Domain = d; Profiles = ({ Key = token; Secret = YES; }); }"),
        .text("misspelled Settings", "{ Domain = d; Setings = ({ Key = token; Sensitive = YES; }); }"),
        .text("misspelled Sensitive", "{ Domain = d; Settings = ({ Key = token; Sensitve = YES; }); }"),
        .text("invalid Sensitive", "{ Domain = d; Settings = ({ Key = token; Sensitive = perhaps; }); }"),
        .text("misspelled Key", "{ Domain = d; Settings = ({ Kee = token; Sensitive = YES; }); }"),
        .text(
            "invalid Entries", "{ Domain = d; Settings = ({ Key = account; Type = dictionary; Entries = password; }); }"
        ),
    ]

    @Test(arguments: ways, Place.allCases)
    func `no verb prints a secret while its schema cannot be read`(_ way: Way, _ place: Place) throws {
        let machine = try machine(place)
        let path = (place == .own ? Self.own : Self.site).resolving("d.plist")
        try way.wreck(path, machine.disk.process())
        try checkDoubt(path, on: machine)
    }

    @Test(
        arguments: ways + [
            Way("missing") { path, root in try root.remove(path) }, .text("cycle", "{ Domain = base; Extends = d; }"),
        ])
    func `no verb prints a secret while a schema that its schema extends cannot be read`(_ way: Way) throws {
        let machine = try machine(extends: true)
        try way.wreck(Self.own.resolving("base.plist"), machine.disk.process())
        try checkDoubt(Self.own.resolving("d.plist"), on: machine)
    }

    @Test func `a parent in another folder does not stand in for one that cannot be read`() throws {
        let machine = try machine(extends: true)
        try machine.administrate(Self.site.resolving("base.plist"), "{ Domain = base; Settings = ({ Key = token; }); }")
        try machine.administrate(Self.own.resolving("base.plist"), "x", permissions: .privateFile)
        try checkDoubt(Self.own.resolving("d.plist"), on: machine)
    }

    @Test(arguments: Self.ways.filter { !["without settings"].contains($0.testDescription) })
    func `no verb prints a secret while the memory of sensitive settings cannot be read`(_ way: Way) throws {
        let machine = try machine(remembers: true)
        let root = machine.disk.process()
        try root.remove(Self.own.resolving("d.plist"))
        let path = Self.memory.resolving("d.plist")
        try way.wreck(path, root)
        try checkDoubt(path, on: machine)
    }

    /// Checks the output of all verbs while it is not known which values are sensitive because of a file.
    private func checkDoubt(_ path: FilePath, on machine: SimulatedMachine) throws {
        for verb in Self.many {
            let outcome = try machine.run("prefs \(verb)")
            #expect([0, 8].contains(outcome.status), "\(verb): \(outcome)")
            #expect(!"\(outcome)".contains("hidden"), "\(verb): \(outcome)")
            #expect(outcome.errors.contains("\(path): "), "\(verb): \(outcome)")
        }
        for verb in Self.single {
            let outcome = try machine.run("prefs \(verb)")
            #expect(outcome.status == 5 && outcome.output.isEmpty, "\(verb): \(outcome)")
            #expect(outcome.errors.contains("\(path)") && !outcome.errors.contains("hidden"), "\(verb): \(outcome)")
        }
        for verb in ["read d token", "export d -"] {
            let outcome = try machine.run("defaults \(verb)")
            #expect(outcome.status == 1 && outcome.output.isEmpty, "\(verb): \(outcome)")
        }
        #expect(try machine.run("defaults read d").output.contains("token = \"••••\";"))
        #expect(try machine.run("prefs read --default none d missing").output == "none\n")
        #expect(try machine.run("prefs write d theme dark").status == 0)
        #expect(try machine.run("prefs export d /home/ada/out.json") == Transcript.Outcome())
        let file = try #require(try machine.fileSystem.contents(of: "/home/ada/out.json"))
        #expect(String(decoding: file, as: UTF8.self).contains("hidden3"))
        #expect(try machine.fileSystem.status(of: "/home/ada/out.json")?.permissions == .privateFile)
        let doctor = try machine.run("prefs doctor")
        #expect(doctor.status == 8 && doctor.output.contains("\(path): "), "\(doctor)")
        #expect(doctor.output.contains("all values of d are masked"), "\(doctor)")
    }

    static let codes: [ErrorCode] = [.inputOutput, .accessDenied, .tooManyOpenFiles, .staleHandle]

    @Test(
        arguments: [
            "read d", "read d token", "export d -", "find d", "explain d", "history --full d",
            "copy --to other d token k",
        ], codes)
    func `no failure of the system makes a verb print a secret`(_ verb: String, _ code: ErrorCode) throws {
        for remembers in [true, false] {
            let machine = try machine(remembers: remembers)
            let words = ShellScript.split("prefs \(verb)")
            for time in [Fault.Time.once, Fault.Time.from] {
                for number in 1... {
                    let victim = machine.disk.process(user: 1000, FaultPlan([Fault(.fail(code), time(number))]))
                    let outcome = try runPrefs(words, on: machine, as: victim)
                    #expect(!"\(outcome)".contains("hidden"), "\(code) at \(number): \(outcome)")
                    guard victim.hits > 0 else { break }
                }
            }
            #expect(!(try machine.run("prefs read other").output.contains("hidden")))
        }
    }

    // MARK: Closed folders

    static let folders: [(folder: FilePath, owner: UInt32, isTrusted: Bool)] = [
        (own, 0, true), (own, 1000, true), (own, 1001, true), (own.parent, 0, true), (site, 0, true),
        (site, 1000, true), (site.parent, 0, true), (site, 1001, false), (site.parent, 1001, false),
    ]

    @Test(arguments: folders)
    func `a closed folder hides all values if the user or the administrator has closed it`(
        _ row: (folder: FilePath, owner: UInt32, isTrusted: Bool)
    ) throws {
        for remembers in [false, true] where row.isTrusted || remembers {
            let place: Place = row.folder.components.starts(with: Self.own.parent.components) ? .own : .site
            let machine = try machine(place, remembers: remembers)
            let folder = try #require(try machine.disk.process().open(row.folder, .reading))
            try folder.setPermissions(FilePermissions(rawValue: 0))
            try folder.setOwner(row.owner, group: row.owner)
            for verb in Self.many + Self.single {
                let outcome = try machine.run("prefs \(verb)")
                #expect(!"\(outcome)".contains("hidden"), "\(verb): \(outcome)")
            }
            let other = try machine.run("prefs read other token")
            #expect(other.output == (row.isTrusted ? "" : "elsewhere\n"), "\(other)")
            #expect(try machine.run("prefs read d theme").output == (row.isTrusted ? "" : "light\n"))
        }
    }

    // MARK: Remembered settings

    private func install(_ text: String, _ machine: SimulatedMachine) throws {
        #expect(try machine.run("prefs schema install -", input: text) == Transcript.Outcome())
    }

    @Test func `a value remains sensitive after its schema was uninstalled`() throws {
        let machine = try SimulatedMachine()
        try install(Self.schema, machine)
        for line in ["write d token hidden", "write d account -dict name ada password hidden", "schema uninstall d"] {
            #expect(try machine.run("prefs \(line)") == Transcript.Outcome())
        }
        #expect(try machine.fileSystem.status(of: Self.memory.resolving("d.plist"))?.permissions == .privateFile)
        let refused = Transcript.Outcome(
            errors: "prefs: d token is sensitive and not shown; --reveal prints it\n", status: 3)
        #expect(try machine.run("prefs read d token") == refused)
        #expect(try machine.run("prefs read --reveal d token") == Transcript.Outcome(output: "hidden\n"))
        #expect(try machine.run("prefs read --reveal --format json d :account:password").output == "\"hidden\"\n")
        for line in ["read --reveal d", "read --reveal"] { #expect(try machine.run("prefs \(line)").status == 2) }
        let classic = "defaults: d token is sensitive and not shown; prefs read --reveal prints it\n"
        #expect(try machine.run("defaults read d token") == Transcript.Outcome(errors: classic, status: 1))
        #expect(try machine.run("prefs read d :account:name").output == "ada\n")
        #expect(try machine.run("prefs read d :account:password").status == 3)
        #expect(try machine.run("prefs copy d token shown").status == 3)
        for verb in ["copy", "rename"] {
            let refused = try machine.run("prefs \(verb) --to new d")
            #expect(refused.status == 3 && refused.errors.contains("d: account is sensitive"), "\(refused)")
            #expect(try machine.run("prefs read new").status == 1)
        }
        #expect(try machine.run("prefs copy --force --to /home/ada/all.json d").status == 0)
        #expect(try machine.fileSystem.status(of: "/home/ada/all.json")?.permissions == .privateFile)
        let doctor = try machine.run("prefs doctor")
        #expect(doctor.status == 0 && doctor.errors.contains("d token: masked, since an earlier schema"), "\(doctor)")
        // A schema that does not mention the key changes nothing.
        try install("{ Domain = d; Settings = ({ Key = theme; }); }", machine)
        #expect(try machine.run("prefs read d token").status == 3)
        try install(Self.publicSchema, machine)
        #expect(try machine.run("prefs read d token").output == "hidden\n")
        #expect(try machine.run("prefs read d :account:password").status == 3)
        #expect(try machine.run("prefs schema uninstall d").status == 0)
        #expect(try machine.run("prefs read d token").output == "hidden\n")
    }

    @Test(arguments: ["undo d", "restore d 2"])
    func `a secret that a version brings back is remembered`(_ line: String) throws {
        let machine = try SimulatedMachine()
        for line in ["write d theme light", "write d token hidden", "delete d token"] {
            #expect(try machine.run("prefs \(line)").status == 0)
        }
        let folder: FilePath = "/home/ada/.local/share/prefs/schemas"
        try machine.fileSystem.makeFolders(folder)
        try machine.fileSystem.replace(folder.resolving("d.plist"), with: Array(Self.schema.utf8).span.bytes)
        #expect(try machine.run("prefs \(line)").status == 0)
        #expect(try machine.fileSystem.remove(folder.resolving("d.plist")))
        #expect(try machine.run("prefs read d token").status == 3)
    }

    static let ends: [(name: String, end: @Sendable (SimulatedMachine) throws -> Void)] = [
        ("write", { _ = try $0.run("prefs write d theme dark") }),
        ("uninstall", { _ = try $0.run("prefs schema uninstall d") }),
        (
            "program",
            { machine in
                let system = SystemServices(
                    fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher,
                    environment: machine.environment, terminal: machine.terminal)
                let defaults = Defaults("d", in: Store(.native, on: system))
                defaults.set("dark", forKey: "theme")
                try defaults.flush()
            }
        ),
    ]

    @Test(arguments: 0..<ends.count)
    func `the settings of a schema that an earlier version installed are remembered`(_ index: Int) throws {
        let machine = try machine()
        try Self.ends[index].end(machine)
        try machine.disk.process().remove(Self.own.resolving("d.plist"))
        for verb in Self.many + Self.single {
            let outcome = try machine.run("prefs \(verb)")
            #expect(!"\(outcome)".contains("hidden"), "\(verb): \(outcome)")
        }
        // A former key of a sensitive setting is remembered with it.
        try machine.store(["key": "hidden"], as: "d")
        #expect(try machine.run("prefs read d key").status == 3)
    }

    @Test func `a schema that cannot be read is not uninstalled`() throws {
        let machine = try machine()
        try machine.administrate(Self.own.resolving("d.plist"), "{")
        let outcome = try machine.run("prefs schema uninstall d")
        #expect(outcome.status == 5 && outcome.errors.contains("\(Self.own)/d.plist"), "\(outcome)")
        try install(Self.publicSchema, machine)
        #expect(try machine.run("prefs read d token").output == "hidden3\n")
    }

    @Test func `another schema for a form or a script does not unmask a value`() throws {
        let machine = try machine(remembers: true)
        let folder: FilePath = "/home/ada/public.plist"
        try machine.fileSystem.replace(folder, with: Array(Self.publicSchema.utf8))
        for line in [
            "form --plain --schema \(folder) d", "args --schema \(folder) --shell sh x -- --help-values",
        ] {
            let outcome = try machine.run("prefs \(line)", input: ":quit\n")
            #expect(!"\(outcome)".contains("hidden") && "\(outcome)".contains("••••"), "\(line): \(outcome)")
        }
    }

    @Test func `keys that look alike are remembered apart`() throws {
        let machine = try SimulatedMachine()
        let keys = ["\u{e9}", "e\u{301}"]
        let settings = keys.map { "{ Key = \"\($0)\"; Sensitive = YES; }" }
        let path = Self.own.resolving("d.plist")
        try machine.administrate(path, "{ Domain = d; Settings = (\(settings.joined(separator: ", "))); }")
        for key in keys { #expect(try runPrefs(["prefs", "write", "d", key, "hidden"], on: machine).status == 0) }
        try machine.disk.process().remove(path)
        for key in keys { #expect(try runPrefs(["prefs", "read", "d", key], on: machine).status == 3) }
    }

    @Test func `a store in a folder remembers, too`() throws {
        let machine = try machine(remembers: true)
        let outcome = try machine.run("prefs --store /home/ada/.config/prefs/ read d token")
        #expect(outcome.status == 3 && outcome.output.isEmpty, "\(outcome)")
    }
}

extension ShellScript {
    /// Returns the words of a line without quotes.
    fileprivate static func split(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }
}
