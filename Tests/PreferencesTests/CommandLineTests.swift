import Platform
import Preferences
import PropertyLists
import SettingsSchema
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

private enum Mode: String, Codable, CaseIterable { case full, incremental }

extension Setting where Value == Int {
    fileprivate static let keep = Setting("keep", default: 7).range(1...365).flag("keep", "k").environment(
        "BACKUP_KEEP"
    )
    .title("Copies to keep")
    fileprivate static let level = Setting("level", default: 0).flag("verbose", "v").repeats().transient()
    fileprivate static let here = Setting("here", default: 1).flag("here").byHost()
}

extension Setting where Value == Mode { fileprivate static let mode = Setting("mode", default: .full).flag("mode") }

extension Setting where Value == String {
    fileprivate static let token = Setting("token", default: "").flag("token").sensitive()
    fileprivate static let target = Setting("target", default: "").required().positional(1)
}

@Suite struct `A declared command line` {
    static let schema = Schema("com.example.backup", title: "Nightly backup", version: 2) {
        Setting.keep
        Setting.mode
        Setting.level
        Setting.here
        Setting.token
        Setting.target
    }.migrating(from: 1, rename: ["copies": "keep"])

    private func parse(_ words: [String], _ bench: SchemaBench, _ variables: EnvironmentVariables = [:]) throws
        -> Schema.Settings
    {
        try Self.schema.parse(["/usr/bin/backup"] + words, in: bench.store(variables: variables))
    }

    @Test func `overrides variables, which override stored values`() throws {
        let bench = try SchemaBench(nil)
        try bench.stored(["keep": 5, "mode": "incremental", "$schemaVersion": 2])
        let settings = try parse(["--keep", "3", "/mnt"], bench, ["BACKUP_KEEP": "4"])
        #expect(settings[.keep] == 3 && settings.origin(of: .keep)?.layer == .arguments)
        #expect(settings[.mode] == .incremental && settings.origin(of: .mode)?.layer == .user)
        #expect(settings[.here] == 1 && settings.origin(of: .here)?.layer == .default)
        #expect(settings[.target] == "/mnt" && settings.operands.isEmpty && settings.command == nil)
        let other = try parse(["/mnt"], bench, ["BACKUP_KEEP": "4"])
        #expect(other[.keep] == 4 && other.origin(of: .keep)?.layer == .environment)
        #expect(try parse(["/mnt"], bench)[.keep] == 5)
    }

    @Test func `applies to settings that are opened later`() throws {
        let bench = try SchemaBench(nil)
        let store = bench.store(["-mode", "odd"])
        _ = try Self.schema.parse(["backup", "-k3", "/mnt"], in: store)
        let defaults = Defaults("com.example.backup", in: store)
        #expect(defaults[.keep] == 3 && defaults.string(forKey: "mode") == "full")
    }

    @Test func `applies to settings that were opened before it was parsed`() throws {
        let bench = try SchemaBench(nil)
        try bench.stored(["keep": 5, "$schemaVersion": 2])
        let store = bench.store()
        let (early, untouched) = (Defaults("com.example.backup", in: store), Defaults("com.example.backup", in: store))
        let property = Preference(.keep, in: early)
        let changes = Mutex<[SettingsChange]>([])
        let observation = early.observe { batch in changes.withLock { $0 += batch.changes } }
        #expect(early[.keep] == 5 && property.wrappedValue == 5)
        let settings = try Self.schema.parse(["backup", "-k3", "/mnt"], in: store)
        #expect([early[.keep], untouched[.keep], property.wrappedValue, settings[.keep]] == [3, 3, 3, 3])
        #expect(early.origin(of: .keep)?.layer == .arguments)
        #expect(early.volatileDomain(forName: Defaults.argumentDomain)["keep"] as? Int == 3)
        early[.keep] = 999
        #expect(bench.errors.contains("999 must be from 1 to 365"))
        #expect(changes.withLock { $0.map(\.key) } == ["here", "keep", "level", "mode", "target", "token"])
        observation.cancel()
    }

    @Test func `is checked for errors of its own in a debug build`() throws {
        let schema = Schema("d") { Setting("a", default: "").pattern("[") }
        #expect(throws: Schema.Mistakes.self) { try schema.parse(["p"], in: .memory()) }
        let defaults = Defaults("d", in: .memory())
        #expect(throws: StoreFailure.self) { try defaults.set("x", for: Setting("a", default: "").pattern("[")) }
        try defaults.set("x", for: Setting("a", default: "").conflicts(with: "elsewhere"))
    }

    @Test func `skips stored values that violate its rules`() throws {
        let bench = try SchemaBench(nil)
        try bench.stored(["keep": 0, "mode": "fast", "$schemaVersion": 2])
        let settings = try parse(["/mnt"], bench)
        #expect(settings[.keep] == 7 && settings[.mode] == .full)
        #expect(bench.errors.split(separator: "\n").count == 2, "\(bench.errors)")
        settings[.keep] = 0
        #expect(bench.errors.hasSuffix("keep: 0 must be from 1 to 365; nothing was changed\n"), "\(bench.errors)")
    }

    @Test func `overrides the installed schema`() throws {
        let bench = try SchemaBench()
        #expect(try parse(["/mnt"], bench).defaults.object(forKey: "retries") == nil)
    }

    @Test func `migrates stored settings once, but not for help or a syntax error`() throws {
        let bench = try SchemaBench(nil)
        try bench.stored(["copies": 5])
        for words in [["--help"], ["--keep", "many", "/mnt"]] {
            #expect(throws: Schema.EarlyExit.self) { try parse(words, bench) }
            #expect(try bench.file() == ["copies": 5])
        }
        #expect(try parse(["/mnt"], bench)[.keep] == 5)
        #expect(try bench.file() == ["keep": 5, "$schemaVersion": 2])
        #expect(try parse(["/mnt"], bench)[.keep] == 5)
        #expect(try bench.file() == ["keep": 5, "$schemaVersion": 2])
    }

    @Test func `is parsed with the migrated values`() throws {
        let schema = Schema("com.example.backup", version: 2) {
            Setting("folders", default: [:] as [String: Int]).required().flag("folders")
        }.migrating(from: 1, rename: ["dirs": "folders"])
        let bench = try SchemaBench(nil)
        try bench.stored(["dirs": ["a": 1]])
        let words = ["b", "--save", "--set", ":folders:b=2"]
        #expect(throws: Schema.EarlyExit.stored("saved folders = {\"a\":1,\"b\":2}")) {
            try schema.parse(words, in: bench.store())
        }
        let changed = try schema.parse(["b"], in: bench.store())
        #expect(changed.defaults.propertyList(forKey: "folders") == ["a": 1, "b": 2])
        #expect(try bench.file() == ["folders": ["a": 1, "b": 2], "$schemaVersion": 2])
    }

    @Test func `is shown with values that are not migrated a second time`() throws {
        let text = """
            {
                Domain = d; Version = 3; Settings = ({ Key = keep; Type = integer; }, { Key = copies; Type = integer; });
                Migrations = ({ From = 1; Rename = { copies = keep; }; });
            }
            """
        let schema = EffectiveSchema(try Schema(parsing: Array(text.utf8)), program: .init())
        let stored = LayerSource(Origin(.user), ["copies": 5, "keep": 7, "$schemaVersion": 3])
        let layers = LayerStack([stored], schema, on: try StoreBench().process())
        #expect(layers.shownValues(.none).mapValues(\.value) == ["copies": 5, "keep": 7])
    }

    @Test func `has no effect if it is refused`() throws {
        let bench = try SchemaBench(nil)
        try bench.install("{ keep = 9; }", at: "/etc/prefs/forced/com.example.backup.plist")
        let store = bench.store()
        #expect(throws: StoreFailure.self) {
            try Self.schema.parse(["b", "--save", "-k", "3", "--mode", "incremental", "/mnt"], in: store)
        }
        #expect(Defaults("com.example.backup", in: store)[.mode] == .full)
    }

    @Test func `refuses paths that do not exist, and then saves nothing`() throws {
        let bench = try SchemaBench(nil)
        let text =
            "{ Domain = com.example.backup; Settings = ({ Key = to; Kind = folder; Exists = YES; Flag = to; }); }"
        let schema = try Schema(parsing: Array(text.utf8))
        #expect(throws: Schema.EarlyExit.self) {
            try schema.parse(["b", "--save", "--to", "/none"], in: bench.store())
        }
        #expect(try bench.file().isEmpty)
        #expect(try schema.parse(["b", "--to", "/home"], in: bench.store()).defaults.string(forKey: "to") == "/home")
    }

    @Test func `only reads settings of a later version`() throws {
        let bench = try SchemaBench(nil)
        try bench.stored(["keep": 5, "$schemaVersion": 3])
        let settings = try parse(["/mnt"], bench)
        #expect(settings[.keep] == 5)
        #expect(settings.notes.map { $0.contains("version 3") } == [true])
        settings[.keep] = 6
        #expect(bench.errors.contains("version 3, but its schema supports only up to 2; they are read-only"))
        #expect(throws: StoreFailure.self) { try parse(["--save", "-k", "6", "/mnt"], bench) }
        #expect(try bench.file() == ["keep": 5, "$schemaVersion": 3])
    }

    @Test func `is saved on request`() throws {
        let bench = try SchemaBench(nil)
        _ = try parse(["--save", "-k", "3", "-vv", "--here", "9", "/mnt"], bench)
        #expect(try bench.file() == ["keep": 3, "$schemaVersion": 2])
        let settings = try parse(["/mnt"], bench)
        #expect(settings[.keep] == 3 && settings[.level] == 0 && settings[.here] == 9)
        #expect(settings.origin(of: .here)?.layer == .userHost)
    }

    @Test func `displaces what it excludes, and removes it when it is saved`() throws {
        let (from, to) = (
            Setting("from", default: "").flag("from").conflicts(with: "to").environment("FROM"),
            Setting("to", default: "").flag("to")
        )
        let schema = Schema("com.example.backup") {
            from
            to
        }
        let bench = try SchemaBench(nil)
        try bench.stored(["from": "x"])
        let settings = try schema.parse(["backup", "--to", "y"], in: bench.store(variables: ["FROM": "z"]))
        #expect(settings[from] == "" && settings[to] == "y")
        #expect(settings.notes == ["FROM: ignored, because it cannot be given together with --to"])
        #expect(try schema.parse(["backup"], in: bench.store())[from] == "x")
        #expect(throws: Schema.EarlyExit.stored("saved to = y; removed from")) {
            try schema.parse(["backup", "--to", "y", "--save"], in: bench.store())
        }
        let again = try schema.parse(["backup"], in: bench.store())
        #expect(again[from] == "" && again[to] == "y")
    }

    @Test func `has values of its own for each command that declares a key differently`() throws {
        let target = Setting("target", default: "debug").flag("target")
        let other = Setting("target", default: "host").flag("target")
        let schema = Schema("com.example.backup") {
            Schema.Command("build") { target }
            Schema.Command("deploy") { other }
        }
        let bench = try SchemaBench(nil)
        try bench.stored(["target": "x"])
        func parse(_ words: String...) throws -> Schema.Settings {
            try schema.parse(["backup"] + words, in: bench.store())
        }
        let settings = try parse("build", "--target", "release", "--save")
        #expect(settings[target] == "release")
        #expect(try parse("deploy")[other] == "host" && parse("build")[target] == "release")
        let build = try parse("build")
        build[target] = "fast"
        try build.defaults.flush()
        #expect(build[target] == "fast" && build.origin(of: target)?.layer == .user)
        #expect(build.defaults.explain("target").inForce?.value == "fast")
        try build.defaults.transaction { $0[target] += "er" }
        let session = build.defaults.edit()
        session[target] += "!"
        #expect(session[target] == "faster!" && build[target] == "faster")
        try session.commit()
        #expect(try build.defaults.replace(target, expecting: "faster!", with: "safe"))
        #expect(try parse("build")[target] == "safe" && parse("deploy")[other] == "host")
        build.defaults.reset(target)
        try build.defaults.flush()
        #expect(build[target] == "debug")
    }

    @Test func `is saved for this host if a value for this host would override it`() throws {
        let bench = try SchemaBench(nil)
        let places = try #require(try StorePlaces(.native, on: bench.bench.process()))
        let file = places.user.file(of: SchemaBench.domain, on: try places.host())
        try bench.bench.process().commit([DomainEdit(file) { $0.values = ["keep": 4, "$schemaVersion": 2] }])
        _ = try parse(["--save", "-k", "3", "/mnt"], bench)
        let settings = try parse(["/mnt"], bench)
        #expect(settings[.keep] == 3 && settings.origin(of: .keep)?.layer == .userHost)
    }

    @Test func `has a note about a flag that the administrator overrides`() throws {
        let bench = try SchemaBench(nil)
        try bench.bench.administrate("/etc/prefs/forced/com.example.backup.plist", ["keep": 9])
        let settings = try parse(["-k", "3", "/mnt"], bench)
        #expect(settings[.keep] == 9)
        #expect(settings.notes == ["--keep: ignored, because the administrator forces a value"])
    }

    @Test func `is saved in one step, each value in its layer`() throws {
        let bench = try SchemaBench(nil)
        _ = try parse(["--save", "-k", "3", "--here", "9", "/mnt"], bench)
        let places = try #require(try StorePlaces(.native, on: bench.bench.process()))
        let files = [
            places.user.file(of: SchemaBench.domain), places.user.file(of: SchemaBench.domain, on: try places.host()),
        ]
        let transactions = files.flatMap { file in
            History(of: file, on: bench.bench.process())?.versions.map(\.transaction) ?? []
        }
        #expect(transactions.count == 2 && Set(transactions).count == 1, "\(transactions)")
    }

    @Test func `is saved with absolute paths`() throws {
        let bench = try SchemaBench(nil)
        let root = bench.bench.simulated.disk.process()
        try root.makeFolders("/proc/self")
        for folder in ["/proc", "/proc/self"] as [FilePath] {
            try root.open(folder, .reading)?.setPermissions(FilePermissions(rawValue: 0o755))
        }
        try root.makeSymbolicLink("/proc/self/cwd", to: "/home/ada")
        let schema = Schema("com.example.backup") {
            Setting("copies", default: nil as String?).kind(.folder).flag("copies")
        }
        #expect(throws: Schema.EarlyExit.stored("saved copies = /home/ada/here")) {
            try schema.parse(["b", "--save", "--copies", "here"], in: bench.store())
        }
        #expect(try bench.file() == ["copies": "/home/ada/here"])
    }

    @Test func `saves no secret that other programs would not protect`() throws {
        let bench = try SchemaBench(nil)
        try bench.bench.simulated.fileSystem.replace("/home/ada/token", with: Array("abc\n".utf8).span.bytes)
        let words = ["--save", "-k", "3", "--token-file", "/home/ada/token", "/mnt"]
        do {
            _ = try parse(words, bench)
            Issue.record("it was kept")
        } catch let Schema.EarlyExit.mistakes(mistakes) {
            #expect(
                mistakes.map(\.description) == [
                    "--save: token is a secret, and would be shown and mirrored until its schema is installed (prefs schema install FILE)"
                ])
        }
        #expect(try bench.file().isEmpty)
        try bench.install(String(decoding: try Self.schema.export(as: .json), as: UTF8.self), at: SchemaBench.own)
        #expect(try parse(words, bench)[.token] == "abc")
        #expect(try bench.file() == ["keep": 3, "token": "abc", "$schemaVersion": 2])
        // No other process can see a store in memory.
        let memory = Store(.memory, on: bench.bench.process())
        #expect(try Self.schema.parse(["b"] + words, in: memory)[.token] == "abc")
    }

    @Test func `saves no forced value`() throws {
        let bench = try SchemaBench(nil)
        try bench.install("{ keep = 9; }", at: "/etc/prefs/forced/com.example.backup.plist")
        #expect(throws: StoreFailure.self) { try parse(["--save", "-k", "3", "--mode", "full", "/mnt"], bench) }
        #expect(try bench.file().isEmpty)
        _ = try parse(["--save", "--mode", "full", "/mnt"], bench)
        #expect(try bench.file() == ["mode": "full", "$schemaVersion": 2])
    }

    @Test func `throws all errors at once`() throws {
        let bench = try SchemaBench(nil)
        do {
            _ = try parse(["--kep", "3", "--mode", "fast"], bench)
            Issue.record("it was taken")
        } catch let Schema.EarlyExit.mistakes(mistakes) {
            #expect(
                mistakes.map(\.description) == [
                    "unknown flag --kep; did you mean --keep?",
                    "--mode fast: must be full or incremental", "TARGET is required",
                ])
        }
    }

    static let endings: [([String], Int32, String, String)] = [
        (["--version"], 0, "backup: settings of com.example.backup, version 2\n", ""),
        (
            ["--kep", "3", "/mnt"], 2, "",
            "backup: unknown flag --kep; did you mean --keep?\nTry backup --help.\n"
        ),
        (["--token", "abc", "/mnt"], 2, "", "backup: --token would expose a secret"),
        (["--token-file", "/none", "/mnt"], 2, "", "backup: --token-file: "),
        (["--token-fd", "9", "/mnt"], 2, "", "backup: --token-fd: "),
        (["--help"], 0, "usage: backup [options] TARGET\n", ""),
    ]

    @Test func `names the program before each line of an error`() throws {
        let bench = try SchemaBench(nil)
        let schema = Schema("com.example.backup") {
            Setting("a", default: "").pattern("[")
            Setting("b", default: "").pattern("(")
        }
        #expect(throws: ProgramExit(status: 1)) { try schema.parseOrExit(["b"], in: bench.store()) }
        let lines = bench.errors.split(separator: "\n")
        #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("b: ") }, "\(bench.errors)")
    }

    @Test(arguments: endings)
    func `ends the program with the requested text or with errors`(
        _ words: [String], _ status: Int32, _ output: String, _ errors: String
    ) throws {
        let bench = try SchemaBench(nil)
        #expect(throws: ProgramExit(status: status)) {
            try Self.schema.parseOrExit(["/usr/bin/backup"] + words, in: bench.store())
        }
        #expect(bench.terminal.exitStatus == status)
        #expect(bench.terminal.text(of: .output).hasPrefix(output) && bench.errors.hasPrefix(errors), "\(bench.errors)")
    }

    @Test(
        arguments: [
            ["keep": 5, "token": "abc", "$schemaVersion": 2], ["copies": 5, "token": "abc", "$schemaVersion": 1],
        ] as [PropertyList.Dictionary])
    func `shows the values in force in its help, migrated ones too`(_ stored: PropertyList.Dictionary) throws {
        let bench = try SchemaBench(nil)
        try bench.stored(stored)
        do {
            _ = try parse(["--help-values", "--keep", "3"], bench)
        } catch let Schema.EarlyExit.help(text) {
            #expect(text.contains("now 5 from user") && text.contains("now full from default"), "\(text)")
            #expect(!text.contains("abc") && text.contains("••••"))
        }
    }

    @Test func `takes secrets from a file that nobody else can read, or from a descriptor`() throws {
        let bench = try SchemaBench(nil)
        let files = bench.bench.simulated.fileSystem
        try files.replace("/home/ada/token", with: Array("abc\n".utf8).span.bytes)
        let settings = try parse(["--token-file", "/home/ada/token", "/mnt"], bench)
        #expect(settings[.token] == "abc")
        #expect(!settings.defaults.explain(.token).description.contains("abc"))
        try files.open("/home/ada/token", .reading)?.setPermissions(FilePermissions(rawValue: 0o644))
        #expect(throws: Schema.EarlyExit.self) { try parse(["--token-file", "/home/ada/token", "/mnt"], bench) }
        let terminal = SimulatedTerminal(descriptors: [5: Array("def".utf8), 6: Array("ghi".utf8)])
        let store = Store(.native, on: StoreBench.process(on: bench.bench.simulated.disk, terminal: terminal))
        #expect(try Self.schema.parse(["b", "--token-fd", "5", "/mnt"], in: store)[.token] == "def")
        #expect(try Self.schema.parse(["b", "--token-file", "/dev/fd/6", "/mnt"], in: store)[.token] == "ghi")
    }

    @Test func `removes what was saved`() throws {
        let bench = try SchemaBench(nil)
        _ = try parse(["--save", "-k", "3", "--here", "9", "/mnt"], bench)
        #expect(throws: Schema.EarlyExit.stored("removed keep")) { try parse(["--reset=keep"], bench) }
        #expect(try parse(["/mnt"], bench)[.keep] == 7)
        let ending = #expect(throws: Schema.EarlyExit.self) { try parse(["--reset"], bench) }
        #expect("\(try #require(ending))".contains("here"))
        #expect(throws: Schema.EarlyExit.stored("nothing is saved, so nothing was removed")) {
            try parse(["--reset"], bench)
        }
    }

    @Test func `works with a store in memory`() throws {
        let store = Store.memory()
        let settings = try Self.schema.parse(["b", "--save", "-k", "9", "/mnt"], in: store)
        #expect(settings[.keep] == 9)
        #expect(try Self.schema.parse(["b", "/mnt"], in: store)[.keep] == 9)
    }

    @Test func `exports a schema that can be installed`() throws {
        let text = String(decoding: try Self.schema.export(as: .json), as: UTF8.self)
        let bench = try SchemaBench(text)
        #expect(bench.defaults().integer(forKey: "keep") == 7)
        #expect(try Schema(parsing: Array(text.utf8)) == Self.schema)
    }
}
