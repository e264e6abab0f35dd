import Platform
import Preferences
import PropertyLists
import SettingsSchema
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

extension Setting<Int> {
    fileprivate static let timeout = Setting("timeout", default: 30).range(1...60).flag("timeout", "t")
        .environment("SERVICE_TIMEOUT")
}

extension Setting<String?> {
    fileprivate static let config = Setting("config").configuration().flag("config").environment("SERVICE_CONFIG")
    fileprivate static let url = Setting("url").flag("url")
}

@Suite struct `A file as a layer of a program` {
    static let name: DomainName = "com.example.service"

    struct Machine {
        let bench: StoreBench
        let terminal = SimulatedTerminal()

        init() throws { bench = try StoreBench() }

        func store(_ arguments: [String] = [], _ variables: EnvironmentVariables = [:]) -> Store {
            Store(
                .native,
                on: StoreBench.process(
                    on: bench.simulated.disk, arguments: arguments, variables: variables, terminal: terminal))
        }

        func write(_ text: String, to path: FilePath = "/etc/service.json") throws {
            let root = bench.simulated.disk.process()
            try root.makeFolders(path.parent)
            let draft = path.parent.appending("draft")
            try root.replace(draft, with: Array(text.utf8))
            try root.open(draft, .reading)?.setPermissions(FilePermissions(rawValue: 0o644))
            try root.rename(draft, to: path)
            bench.settle()
        }

        func remove(_ path: FilePath = "/etc/service.json") throws {
            try bench.simulated.disk.process().remove(path)
            bench.settle()
        }

        var issues: [String] { terminal.text(of: .errors).split(separator: "\n").map(String.init) }
    }

    // MARK: Orders

    private struct Row: Sendable {
        let order: [SearchedLayer]
        /// The layers in which a key has a value, and the one that wins.
        let winners: [String: String]
    }

    private static let rows: [Row] = [
        Row(
            order: [.arguments, .environment, .file("/etc/service.json"), .user],
            winners: [
                "all": "forced", "a": "arguments", "e": "environment", "f": "file", "h": "user-host", "u": "user",
            ]),
        Row(
            order: [.user, .file("/etc/service.json"), .environment, .arguments],
            winners: ["a": "user-host", "e": "user-host", "f": "user-host", "h": "user-host", "u": "user"]),
        Row(order: [.file("/etc/service.json")], winners: ["a": "file", "f": "file", "h": "-", "u": "-", "s": "-"]),
        Row(
            order: [.site, .file("/etc/service.json"), .global],
            winners: ["a": "site", "f": "site", "s": "site", "g": "global", "u": "site"]),
        Row(order: [], winners: ["all": "forced", "a": "-", "u": "-", "d": "registered"]),
    ]

    private static func values(upTo key: String) -> PropertyList.Dictionary {
        let keys = ["all", "a", "e", "f", "h", "u", "s", "g", "d"]
        return PropertyList.Dictionary(keys.prefix { $0 != key }.map { ($0, .integer(1)) } + [(key, .integer(1))])
    }

    @Test(arguments: rows.indices)
    func `is searched where the program wants it`(index: Int) throws {
        let row = Self.rows[index]
        let machine = try Machine()
        // Each layer has its own key, and those of the layers before it.
        try machine.bench.administrate("/etc/prefs/forced/com.example.service.plist", ["all": 0])
        let process = machine.bench.process()
        let host = try #require(try StorePlaces(.native, on: process)).host()
        try process.commit([
            DomainEdit(StoreBench.store.file(of: Self.name, on: host)) { $0.values = Self.values(upTo: "h") },
            DomainEdit(StoreBench.file(Self.name)) { $0.values = Self.values(upTo: "u") },
            DomainEdit(StoreBench.file(.global)) { $0.values = Self.values(upTo: "g") },
        ])
        try machine.bench.administrate("/etc/xdg/prefs/com.example.service.plist", Self.values(upTo: "s"))
        let file = try PropertyList.dictionary(Self.values(upTo: "f")).serialized(as: .json)
        try machine.write(String(decoding: file, as: UTF8.self))
        let store = machine.store(["-all", "1", "-a", "1"], ["E": "1", "A": "1"])
        let defaults = try Defaults(Self.name, in: store, layers: row.order, environment: ["E": "e", "A": "a"])
        defaults.register(defaults: ["d": 1])
        for (key, winner) in row.winners {
            #expect(defaults.origin(forKey: key)?.layer.name ?? "-" == winner, "\(key)")
        }
    }

    @Test func `has the values of the files in their order`() throws {
        let machine = try Machine()
        try machine.write(#"{ "a": 1 }"#, to: "/etc/one.json")
        try machine.write("a = 2\nb = 2\n", to: "/etc/two.toml")
        let defaults = try Defaults(
            Self.name, in: machine.store(), layers: [.file("/etc/one.json"), .file("/etc/two.toml")])
        #expect(defaults.integer(forKey: "a") == 1 && defaults.integer(forKey: "b") == 2)
        #expect(defaults.origin(forKey: "b")?.file == "/etc/two.toml")
    }

    // MARK: Files that cannot be read

    static let failures: [(text: String?, isRequired: Bool, message: String?)] = [
        (nil, true, "cannot read /etc/service.json: No such file or directory"),
        (nil, false, nil),
        ("{", false, "/etc/service.json:1:2: ends inside an object"),
        ("[1]", false, "/etc/service.json: the root value is of type array, not a dictionary of settings"),
        ("{}", true, nil),
        ("", false, "/etc/service.json:1:1: the input is empty"),
    ]

    @Test(arguments: failures)
    func `stops the start if it cannot be read`(text: String?, isRequired: Bool, message: String?) throws {
        let machine = try Machine()
        if let text { try machine.write(text) }
        do {
            _ = try Defaults(
                Self.name, in: machine.store(), layers: [.file("/etc/service.json", isRequired: isRequired)])
            #expect(message == nil)
        } catch {
            #expect("\(error)" == message)
        }
    }

    @Test func `is read again when it changes, and kept when it cannot be read`() throws {
        let machine = try Machine()
        try machine.write(#"{ "timeout": 7, "mode": "a" }"#)
        let defaults = try Defaults(
            Self.name, in: machine.store(), layers: [.file("/etc/service.json", isRequired: true), .user])
        #expect(defaults[.timeout] == 7)
        try machine.write(#"{ "timeout": 8 }"#)
        #expect(defaults[.timeout] == 8 && defaults.string(forKey: "mode") == nil)
        for broken in [#"{ "timeout": 9"#, "", "[9]"] {
            try machine.write(broken)
            #expect(defaults[.timeout] == 8)
        }
        try machine.write(#"{ "timeout": 900, "mode": "b" }"#)
        #expect(defaults[.timeout] == 8 && defaults.string(forKey: "mode") == "b")
        #expect(defaults.origin(of: .timeout)?.isFormer == true)
        try machine.remove()
        #expect(defaults.string(forKey: "mode") == "b")
        try machine.write(#"{ "timeout": 10 }"#)
        #expect(defaults[.timeout] == 10)
        #expect(machine.issues.count == 5, "\(machine.issues)")
    }

    @Test func `gives way to the next layer when an optional file is removed, and can appear later`() throws {
        let machine = try Machine()
        let defaults = try Defaults(Self.name, in: machine.store(), layers: [.file("/etc/service.json"), .user])
        let seen = Mutex<[PropertyList?]>([])
        let observation = defaults.observe { changes in
            for change in changes.changes { seen.withLock { $0.append(change.newValue) } }
        }
        defer { observation.cancel() }
        defaults.set(5, forKey: "timeout")
        try machine.write(#"{ "timeout": 7 }"#)
        #expect(defaults[.timeout] == 7)
        // A value is set in the user's layer, which the file hides.
        try defaults.set(6, for: .timeout)
        #expect(defaults[.timeout] == 7)
        try machine.remove()
        #expect(defaults[.timeout] == 6)
        #expect(seen.withLock(\.self) == [5, 7, 6])
        #expect(machine.issues.isEmpty)
    }

    // MARK: Providers

    @Test func `can be a provider, whose changes are followed`() async throws {
        let machine = try Machine()
        try machine.bench.process().commit([
            DomainEdit(StoreBench.file(Self.name)) { $0.values = ["timeout": 5, "mode": "stored"] }
        ])
        let provider = MemoryProvider(["timeout": 7], name: "vault")
        let defaults = try Defaults(Self.name, in: machine.store(), layers: [.environment, .provider(provider), .user])
        #expect(defaults[.timeout] == 7 && defaults.string(forKey: "mode") == "stored")
        #expect(defaults.origin(of: .timeout)?.description == "provider vault")
        var values = defaults.values(of: .timeout).makeAsyncIterator()
        #expect(await values.next() == 7)
        provider.values = ["timeout": 8, "mode": "given"]
        #expect(await values.next() == 8)
        #expect(defaults.string(forKey: "mode") == "given")
        // An invalid value is reported, and the last valid one stays.
        provider.values = ["timeout": 900, "other": 1]
        var changes = defaults.changes(forKey: "other").makeAsyncIterator()
        if defaults.object(forKey: "other") == nil { #expect(await changes.next()?.isOwn == false) }
        #expect(defaults[.timeout] == 8 && defaults.string(forKey: "mode") == "stored")
        #expect(machine.issues.count == 1, "\(machine.issues)")
        try defaults.set(6, for: .timeout)
        provider.values = [:]
        while let value = await values.next(), value != 6 {}
        #expect(defaults[.timeout] == 6)
    }

    @Test func `is released with the settings that search it`() throws {
        let machine = try Machine()
        weak var released: MemoryProvider?
        do {
            let provider = MemoryProvider(["a": 1])
            released = provider
            let defaults = try Defaults(Self.name, in: machine.store(), layers: [.provider(provider)])
            #expect(defaults.integer(forKey: "a") == 1)
        }
        #expect(released == nil)
    }

    // MARK: Reports

    @Test func `is reported with each value that the program reads`() throws {
        let machine = try Machine()
        try machine.write(#"{ "timeout": 7, "token": "secret" }"#)
        let schema = Schema("com.example.service") {
            Setting.timeout
            Setting("token", default: "").sensitive()
        }
        let store = machine.store()
        _ = try schema.parse(["service"], in: store)
        let defaults = try Defaults(Self.name, in: store, layers: [.file("/etc/service.json"), .user])
        let reads = Mutex<[String]>([])
        let before = defaults.snapshot()
        let observation = defaults.observeReads { read in
            let value = read.value.map { "\($0)" } ?? "-"
            reads.withLock { $0.append("\(read.key) \(value) \(read.origin?.description ?? "-")") }
        }
        #expect(defaults[.timeout] == 7 && before[.timeout] == 7)
        #expect(defaults.snapshot()[.timeout] == 7)
        #expect(defaults.bool(forKey: "none") == false)
        #expect(defaults.origin(of: .timeout)?.layer == .file && !defaults.isDefault(.timeout))
        _ = defaults.string(forKey: "token")
        // The settings' own declarations count, too.
        let (pin, former) = (Setting("pin", default: "").sensitive(), Setting("new", default: 1).renamed(from: "old"))
        try defaults.set("1234", for: pin)
        defaults.set(8, forKey: "old")
        #expect(defaults[pin] == "1234" && defaults[former] == 8)
        observation.cancel()
        #expect(defaults[.timeout] == 7)
        #expect(
            reads.withLock(\.self) == [
                "timeout 7 file (/etc/service.json)", "timeout 7 file (/etc/service.json)", "none - -",
                "token \"••••\" default",
                "pin \"••••\" user (/home/ada/.config/prefs/com.example.service.plist)",
                "new 8 user (/home/ada/.config/prefs/com.example.service.plist)",
            ])
    }

    // MARK: --config

    static let schema = Schema("com.example.service") {
        Setting.config
        Setting.timeout
        Setting.url
        Setting("token", default: "").flag("token").requires("url")
    }

    private func parse(
        _ words: [String], _ machine: Machine, _ variables: EnvironmentVariables = [:], _ schema: Schema = schema
    ) throws -> Schema.Settings {
        try schema.parse(["/usr/bin/service"] + words, in: machine.store([], variables))
    }

    @Test func `is named by a flag or a variable, and overridden by others`() throws {
        let machine = try Machine()
        try machine.bench.process().commit([
            DomainEdit(StoreBench.file(Self.name)) { $0.values = ["timeout": 5, "url": "stored"] }
        ])
        try machine.write("timeout = 7\n", to: "/etc/a.toml")
        try machine.write("// none\n{ \"timeout\": 8 }\n", to: "/home/ada/b.json")
        #expect(try parse([], machine)[.timeout] == 5)
        let settings = try parse(["--config", "/etc/a.toml"], machine, ["SERVICE_CONFIG": "/etc/none"])
        #expect(settings[.timeout] == 7 && settings[.url] == "stored")
        #expect(settings.origin(of: .timeout)?.description == "file (/etc/a.toml)")
        #expect("\(settings.defaults.explain(.timeout))".hasPrefix("file (/etc/a.toml), line 1: 7\nuser"))
        #expect(try parse(["--config", "~/b.json"], machine)[.timeout] == 8)
        #expect(try parse(["-t3", "--config", "~/b.json"], machine)[.timeout] == 3)
        #expect(try parse([], machine, ["SERVICE_CONFIG": "/etc/a.toml"])[.timeout] == 7)
        #expect(
            try parse([], machine, ["SERVICE_CONFIG": "/etc/a.toml", "SERVICE_TIMEOUT": "9"])[.timeout] == 9)
        // A rule about several settings counts what the file has.
        try machine.write(#"{ "url": "x" }"#)
        try machine.bench.process().commit([DomainEdit(StoreBench.file(Self.name)) { $0.values = [:] }])
        #expect(throws: Schema.EarlyExit.self) { try parse(["--token", "t"], machine) }
        #expect(try parse(["--token", "t", "--config", "/etc/service.json"], machine)[.url] == "x")
        try machine.write(#"{ "url": "y" }"#)
        #expect(settings[.timeout] == 7)
    }

    static let mistakes: [(words: [String], text: String?, message: String)] = [
        (["--config", "/etc/none"], nil, "--config: cannot read /etc/none: No such file or directory"),
        (["--config", "/etc/service.json"], "{", "--config: /etc/service.json:1:2: ends inside an object"),
        (
            ["--config", "/etc/service.json"], "{\n\"timeout\": 99,\n\"url\": [] }",
            "/etc/service.json:2: :timeout must be from 1 to 60\n/etc/service.json:3: :url must be a string"
        ),
        // The missing setting may be one of the file.
        (
            ["--config", "/etc/service.json", "--token", "t"], "{ \"timeout\": 99 }",
            "/etc/service.json:1: :timeout must be from 1 to 60"
        ),
        ([], nil, "config in environment: cannot read /etc/other: No such file or directory"),
    ]

    @Test(arguments: mistakes)
    func `with errors ends the program`(words: [String], text: String?, message: String) throws {
        let machine = try Machine()
        if let text { try machine.write(text) }
        let error = #expect(throws: Schema.EarlyExit.self) {
            try parse(words, machine, words.isEmpty ? ["SERVICE_CONFIG": "/etc/other"] : [:])
        }
        #expect(error?.description == message)
    }

    @Test func `is optional if only the default names it`() throws {
        let schema = Schema("com.example.service") {
            Setting("config", default: "~/service.toml").configuration().flag("config")
            Setting.timeout
        }
        let machine = try Machine()
        #expect(try parse([], machine, [:], schema)[.timeout] == 30)
        try machine.write("timeout = 7\n", to: "/home/ada/service.toml")
        let settings = try parse([], machine, [:], schema)
        #expect(settings[.timeout] == 7)
        try machine.write("timeout = 8\n", to: "/home/ada/service.toml")
        #expect(settings[.timeout] == 8)
        try machine.write("timeout = \n", to: "/home/ada/service.toml")
        #expect(settings[.timeout] == 8)
        #expect(throws: Schema.EarlyExit.self) { try parse([], machine, [:], schema) }
        #expect(throws: Schema.EarlyExit.self) { try parse(["--config", "/none"], machine, [:], schema) }
    }

    static let commands = Schema("com.example.service") {
        Setting.url
        Schema.Command("commit") {
            Setting("config", default: "/etc/commit.toml").configuration().flag("config")
            Setting<Int?>("n").required().range(1...9).flag("num")
        }
        Schema.Command("push") {
            Setting("file", default: "/etc/push.toml").configuration().flag("file")
            Setting("n", default: 5).range(1...9).flag("num")
        }
        Schema.Command("other") { Setting("m", default: 1) }
    }

    static let callsOfCommands: [(words: [String], file: String, result: String)] = [
        (["commit"], "[commit]\nn = 3\n", "3"), (["commit", "--num", "4"], "[commit]\nn = 3\n", "4"),
        (["commit", "--config", "/etc/service.toml"], "", "--num is required"),
        (
            ["commit", "--num", "1"], "[commit]\nn = 99\n",
            "/etc/commit.toml:2: :commit:n must be from 1 to 9"
        ),
        (["push"], "[push]\nn = 4\n", "4"), (["push", "--file", "/etc/commit.toml"], "[push]\nn = 4\n", "4"),
        (
            ["push", "--num", "2"], "[push]\nn = 4\n[commit]\nn = 0\n",
            "/etc/push.toml:4: :commit:n must be from 1 to 9"
        ),
        (["other"], "[", "1"),
    ]

    @Test(arguments: callsOfCommands)
    func `is that of the chosen command`(words: [String], file: String, result: String) throws {
        let machine = try Machine()
        try machine.write(words[0] == "push" ? "[" : file, to: "/etc/commit.toml")
        try machine.write(words[0] == "push" ? file : "[", to: "/etc/push.toml")
        if words.contains("/etc/commit.toml") { try machine.write(file, to: "/etc/commit.toml") }
        if words.contains("/etc/service.toml") { try machine.write("", to: "/etc/service.toml") }
        do {
            let settings = try parse(words, machine, [:], Self.commands)
            let key = words[0] == "other" ? "m" : "n"
            #expect(settings.defaults.integer(forKey: key).description == result)
        } catch {
            #expect("\(error)" == result)
        }
    }

    @Test func `is the one that a stored path names, as soon as there is one`() throws {
        let machine = try Machine()
        try machine.write(#"{ "timeout": 7 }"#)
        try machine.bench.process().commit([
            DomainEdit(StoreBench.file(Self.name)) { $0.values = ["config": "/etc/service.json", "timeout": 5] }
        ])
        #expect(try parse([], machine)[.timeout] == 7)
        // Also for a program that does not parse, with the installed schema.
        let folder: FilePath = "/usr/share/prefs/schemas/com.example.service.plist"
        try machine.write(String(decoding: Self.schema.export(as: .xml), as: UTF8.self), to: folder)
        for path in ["/usr", "/usr/share", "/usr/share/prefs", "/usr/share/prefs/schemas"] as [FilePath] {
            try machine.bench.simulated.disk.process().open(path, .reading)?
                .setPermissions(FilePermissions(rawValue: 0o755))
        }
        #expect(Defaults(Self.name, in: machine.store())[.timeout] == 7)
    }

    @Test func `follows the variables in a program that orders its layers`() throws {
        let machine = try Machine()
        try machine.write(#"{ "timeout": 7 }"#)
        let store = machine.store()
        _ = try Self.schema.parse(["service", "--config", "/etc/service.json"], in: store)
        try Defaults(Self.name, in: store).set(5, for: .timeout)
        let order: [SearchedLayer] = [.arguments, .environment, .user]
        #expect(try Defaults(Self.name, in: store, layers: order)[.timeout] == 7)
        #expect(try Defaults(Self.name, in: store, layers: [.user, .environment])[.timeout] == 5)
        // A session of a program that does not search the user's layer.
        let session = try Defaults(Self.name, in: store, layers: [.arguments]).edit()
        session[.timeout] = 9
        #expect(session[.timeout] == 9)
    }

    @Test func `cannot name itself, and has no more than a hundred errors`() throws {
        let machine = try Machine()
        var schema = Self.schema
        try machine.write(#"{ "config": "/etc/other" }"#)
        let error = #expect(throws: Schema.EarlyExit.self) { try parse(["--config", "/etc/service.json"], machine) }
        #expect(error?.description == "/etc/service.json:1: :config names this file, and cannot be set in it")
        schema = try Schema(
            parsing: Data(
                """
                { Domain = "com.example.service"; Closed = YES;
                  Settings = ({ Key = config; Flag = config; Configuration = YES; }); }
                """
                .utf8))
        let keys = (0..<500).map { "\"key\($0)\": 1" }.joined(separator: ",\n")
        try machine.write("{\(keys)}")
        let many = #expect(throws: Schema.EarlyExit.self) {
            try parse(["--config", "/etc/service.json"], machine, [:], schema)
        }
        #expect(many?.description.split(separator: "\n").count == 100)
    }

    @Test func `must be a path, and is one only`() {
        let schema = Schema("com.example.service") {
            Setting("a", default: "x").configuration()
            Setting("b", default: "x").configuration()
            Setting("c", default: 3).configuration()
            Schema.Command("x") { Setting("d", default: "x").kind(.folder).configuration().sensitive() }
        }
        #expect(
            schema.mistakes.map(\.description) == [
                "Setting(\"c\"): Configuration: does not apply to an integer",
                "Setting(\"b\"): Configuration: cannot be combined with that of a",
                "Setting(\"c\"): Configuration: cannot be combined with that of b",
                "Schema.Command(\"x\"), Setting(\"d\"): Configuration: does not apply to a folder",
                "Schema.Command(\"x\"), Setting(\"d\"): Sensitive: cannot be combined with Configuration",
                "Schema.Command(\"x\"), Setting(\"d\"): Configuration: cannot be combined with that of a",
            ])
    }
}
