import Platform
import Preferences
import PropertyLists
import SettingsSchema
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

extension Setting<Int> {
    fileprivate static let plain = Setting("plain", default: 1)
    fileprivate static let timeout = Setting("timeout", default: 30).range(1...60)
    fileprivate static let retries = Setting("maxRetries", default: 3).renamed(from: "tries")
    fileprivate static let port = Setting("port", default: 80).flag("port")
}

extension Setting<String?> {
    fileprivate static let token = Setting("token").sensitive()
    fileprivate static let agent = Setting("agent").title("Name of the client")
}

extension Setting<Bool> {
    fileprivate static let verbose = Setting("verbose", default: false).flag("verbose", "v").negatable()
}

/// The settings of a library, which does not know the program.
@SchemaBuilder private var library: Schema.Part {
    Setting.timeout
    Setting.retries
    Setting.agent
    Setting.verbose
    Setting.token
    Schema.scope("proxy", title: "Proxy") { Setting.port }
}

private let program = Schema("com.example.service") {
    Setting.port
    Schema.scope("http", title: "HTTP") { library }
}

@Suite struct `The settings of a scope` {
    static let name: DomainName = "com.example.service"
    static let file = StoreBench.file(name)

    // MARK: Layers

    @Test func `come from the dictionary in each layer, and from longer names in those of the caller`() throws {
        let bench = try StoreBench()
        try bench.administrate("/etc/prefs/forced/com.example.service.plist", ["http": ["a": "forced"]])
        try bench.administrate(
            "/etc/xdg/prefs/com.example.service.plist", ["http": ["a": 0, "b": 0, "s": "site", "u": 0]])
        try bench.process().set("http", ["a": 0, "b": 0, "e": 0, "u": "user"], in: Self.file)
        try bench.process().set("http", ["g": "global", "u": 0], in: StoreBench.file(.global))
        let store = bench.store(
            arguments: ["-http-a", "no", "--http-b", "arguments", "-http-c", "arguments", "-e", "no"],
            variables: [
                "SERVICE_HTTP_E": "environment", "SERVICE_HTTP_MAX_TRIES": "environment", "HTTP_U": "no",
                "SERVICE_U": "no", "SERVICE_HTTP_C": "no", "SERVICE_HTTP_EMPTY": "",
            ])
        let scope = Defaults(Self.name, in: store).scoped("http")
        scope.register(defaults: ["r": "registered", "u": "no"])
        let expected = [
            "a": "forced", "b": "arguments", "c": "arguments", "e": "environment", "maxTries": "environment",
            "max-tries": "environment", "u": "user", "g": "global", "s": "site", "r": "registered",
        ]
        for (key, layer) in expected {
            #expect(scope.string(forKey: key) == layer, "\(key)")
            #expect(scope.origin(forKey: key)?.layer.name == layer, "\(key)")
            #expect(scope.explain(key).inForce?.origin.layer.name == layer, "\(key)")
            let snapshot = scope.snapshot()
            #expect(snapshot[key] == .string(layer) && snapshot.origin(forKey: key)?.layer.name == layer, "\(key)")
        }
        for key in ["empty", "http", "http-a", "x"] { #expect(scope.propertyList(forKey: key) == nil, "\(key)") }
    }

    @Test func `are converted and checked by their settings`() throws {
        let bench = try StoreBench()
        let store = bench.store(variables: [
            "SERVICE_HTTP_TIMEOUT": "45", "SERVICE_HTTP_PLAIN": "7", "SERVICE_HTTP_VERBOSE": "yes",
            "SERVICE_HTTP_MAX_RETRIES": "many",
        ])
        let scope = Defaults(Self.name, in: store).scoped("http")
        #expect(scope[.timeout] == 45 && scope[.plain] == 7 && scope[.verbose] && scope[.retries] == 3)
        #expect(scope.origin(of: .timeout)?.layer == .environment && scope.origin(of: .retries) == nil)
        #expect(throws: StoreFailure.self) { try scope.value(of: .retries) }
        #expect(scope.snapshot()[.timeout] == 45 && scope.snapshot().origin(of: .plain)?.layer == .environment)
    }

    @Test func `can be those of a scope in a scope`() throws {
        let bench = try StoreBench()
        let store = bench.store(arguments: ["--http-proxy-port", "8080"])
        let proxy = Defaults(Self.name, in: store).scoped("http").scoped("proxy")
        #expect(proxy.integer(forKey: "port") == 8080)
        proxy.set("example.org", forKey: "host")
        try proxy.flush()
        #expect(try Self.file.contents(on: bench.process()).values == ["http": ["proxy": ["host": "example.org"]]])
        proxy.removeObject(forKey: "host")
        try proxy.flush()
        #expect(try Self.file.contents(on: bench.process()).values == [:])
    }

    // MARK: A domain of its own

    /// A domain with the scope, and another domain with the same values at its top.
    private struct Twins {
        let bench: StoreBench
        let scope: Defaults
        let domain: Defaults
        static let other: DomainName = "com.example.http"

        init(seed: UInt64) throws {
            bench = try StoreBench(seed: seed)
            let store = bench.store()
            scope = Defaults(name, in: store).scoped("http")
            domain = Defaults(Self.other, in: store)
        }

        func write(_ values: PropertyList.Dictionary?, to folder: FilePath) throws {
            if folder.bytes.starts(with: "/etc".utf8) {
                try bench.administrate(
                    folder.appending("com.example.service.plist"), values.map { ["http": .dictionary($0)] } ?? [:])
                try bench.administrate(folder.appending("com.example.http.plist"), values ?? [:])
            } else {
                try bench.process().set("http", values.map { .dictionary($0) }, in: file)
                try bench.process().commit([
                    DomainEdit(StoreBench.file(Self.other)) { $0.values = values ?? [:] }
                ])
            }
            bench.settle()
        }

        /// What a program sees in settings.
        func view(_ defaults: Defaults) -> [String] {
            func origin(_ origin: Origin?) -> String { origin.map { "\($0.isFormer) \($0.layer)" } ?? "-" }
            let snapshot = defaults.snapshot()
            return [Setting.plain, .timeout, .retries, .port].flatMap { setting in
                [
                    "\(setting.key) \(defaults[setting]) \(origin(defaults.origin(of: setting)))",
                    "\(snapshot[setting]) \(origin(snapshot.origin(of: setting)))",
                    "\(defaults.isDefault(setting)) \((try? defaults.value(of: setting)) ?? -1)",
                    defaults.explain(setting).entries.map {
                        "\(origin($0.origin)) \($0.value) \($0.fault ?? "")"
                    }.joined(separator: "|"),
                ]
            }
                + defaults.dictionaryRepresentation().keys.sorted().map {
                    "\($0) \(defaults.propertyList(forKey: $0) ?? "none") \(origin(defaults.origin(forKey: $0)))"
                } + snapshot.values.map { "\($0.key) \($0.value)" }.sorted()
        }
    }

    private static let values: [PropertyList] = [2, 45, 700, "8", "never", ["a"], ["b": 1], true]
    private static let keys = ["plain", "timeout", "maxRetries", "tries", "port", "other"]

    @Test func `are like those of a domain of their own`() throws {
        let folders: [FilePath] = ["/etc/prefs/forced", "/home/ada/.config/prefs", "/etc/xdg/prefs"]
        for round in 0..<40 {
            var generator = SeededGenerator(stream: "scopes", round: round)
            let twins = try Twins(seed: generator.next())
            var text: [String] = []
            for _ in 0..<25 {
                func value() -> PropertyList { Self.values.randomElement(using: &generator) ?? 1 }
                let key = Self.keys.randomElement(using: &generator) ?? ""
                let both = [twins.scope, twins.domain]
                switch Int.random(in: 0..<8, using: &generator) {
                case 0, 1:
                    let keys = Self.keys.filter { _ in Bool.random(using: &generator) }
                    let values = PropertyList.Dictionary(keys.map { ($0, value()) })
                    let folder = folders.randomElement(using: &generator) ?? "/"
                    text.append("\(folder) \(values)")
                    try twins.write(values.isEmpty ? nil : values, to: folder)
                case 2:
                    let value = value()
                    text.append("set \(key) \(value)")
                    for defaults in both { defaults.set(value, forKey: key) }
                case 3:
                    text.append("remove \(key)")
                    for defaults in both { defaults.removeObject(forKey: key) }
                case 4:
                    let number = Int.random(in: -5..<80, using: &generator)
                    text.append("transaction \(number)")
                    let results = both.map { defaults in
                        try? defaults.transaction { draft in
                            draft[.timeout] = max(draft[.timeout], number)
                            draft[.plain] += 1
                        }
                    }
                    #expect((results[0] == nil) == (results[1] == nil), "\(text)")
                case 5:
                    let number = Int.random(in: 0..<9, using: &generator)
                    text.append("edit \(number)")
                    for defaults in both {
                        let session = defaults.edit()
                        session[.retries] = number
                        session["other"] = nil
                        text.append("\(session.changes.map { "\($0.key) \($0.newValue ?? "none")" })")
                        _ = try? session.commit()
                    }
                    #expect(text[text.count - 1] == text[text.count - 2], "\(text)")
                case 6:
                    text.append("replace")
                    let replaced = both.map { try? $0.replace(.timeout, expecting: $0[.timeout], with: 50) }
                    #expect(replaced[0] == replaced[1], "\(text)")
                default:
                    text.append("flush")
                    twins.bench.settle()
                }
                try #require(
                    twins.view(twins.scope) == twins.view(twins.domain), "\(Seed.ofThisRun), round \(round): \(text)")
            }
            for defaults in [twins.scope, twins.domain] { try defaults.flush() }
            let process = twins.bench.process()
            let stored = try Self.file.contents(on: process).values["http"]?.dictionaryValue ?? [:]
            #expect(
                try stored == StoreBench.file(Twins.other).contents(on: process).values,
                "\(Seed.ofThisRun), round \(round): \(text)")
        }
    }

    // MARK: Writing

    @Test func `do not overwrite what other processes set in the same dictionary`() throws {
        for round in 0..<50 {
            var generator = SeededGenerator(stream: "parallel scopes", round: round)
            let bench = try StoreBench(seed: generator.next())
            let scopes = (0..<3).map { _ in Defaults(Self.name, in: bench.store()).scoped("http") }
            var expected = PropertyList.Dictionary()
            for step in 0..<60 {
                // Each process has keys of its own, so that none overwrites those of another on purpose.
                let process = Int.random(in: 0..<3, using: &generator)
                let key = "p\(process)-\(Int.random(in: 0..<4, using: &generator))"
                let value = Bool.random(using: &generator) ? PropertyList.integer(PropertyList.Integer(step)) : nil
                if let value {
                    scopes[process].set(value, forKey: key)
                } else {
                    scopes[process].removeObject(forKey: key)
                }
                expected[key] = value
                #expect(scopes[process].propertyList(forKey: key) == value)
                if Int.random(in: 0..<4, using: &generator) == 0 { try scopes[process].flush() }
                if Int.random(in: 0..<9, using: &generator) == 0 { bench.settle() }
            }
            for scope in scopes { try scope.flush() }
            let stored = try Self.file.contents(on: bench.process()).values["http"]?.dictionaryValue ?? [:]
            #expect(stored == expected, "\(Seed.ofThisRun), round \(round)")
        }
    }

    @Test func `are refused, and reported, where another value is in the place of the dictionary`() throws {
        let bench = try StoreBench()
        let terminal = SimulatedTerminal()
        let store = Store(.native, on: StoreBench.process(on: bench.simulated.disk, terminal: terminal))
        let scope = Defaults(Self.name, in: store).scoped("http")
        scope.set(9, forKey: "timeout")
        scope.set(10, forKey: "limit")
        // Another process replaces the dictionary before this one writes.
        try bench.process().set("http", "off", in: Self.file)
        Defaults(Self.name, in: store).set(1, forKey: "other")
        try scope.flush()
        let stored = try Self.file.contents(on: bench.process()).values
        #expect(stored == ["http": "off", "other": 1])
        #expect(scope.propertyList(forKey: "timeout") == nil)
        #expect(terminal.text(of: .errors).contains("http: :http:"), "\(terminal.text(of: .errors))")
        #expect(throws: StoreFailure.self) { try scope.set(5, for: .timeout) }
        #expect(throws: (any Error).self) { try scope.transaction { $0[.timeout] = 5 } }
    }

    // MARK: Changes

    @Test func `report their changes under their own keys, and who made them`() throws {
        let bench = try StoreBench()
        let whole = Defaults(Self.name, in: bench.store())
        let scope = whole.scoped("http")
        let seen = Mutex<[String]>([])
        let observation = scope.observe { changes in
            let texts = changes.changes.map { "\($0.key)=\($0.newValue?.plainText ?? "none") \($0.isOwn)" }
            seen.withLock { $0 += texts }
        }
        defer { observation.cancel() }
        scope[.timeout] = 5
        whole.set(7, forKey: "timeout")
        whole.set(["timeout": 6, "agent": "a"] as PropertyList, forKey: "http")
        try scope.flush()
        try bench.process().set("http", ["agent": "a"], in: Self.file)
        bench.settle()
        #expect(scope[.timeout] == 30)
        #expect(seen.withLock(\.self) == ["timeout=5 true", "agent=a true", "timeout=6 true", "timeout=none false"])
    }

    @Test func `are found in a suite that the program adds later`() throws {
        let bench = try StoreBench()
        try bench.process().set("http", ["timeout": 12], in: StoreBench.file("com.example.shared"))
        let whole = Defaults(Self.name, in: bench.store())
        let scope = whole.scoped("http")
        #expect(scope[.timeout] == 30)
        whole.addSuite(named: "com.example.shared")
        #expect(scope[.timeout] == 12 && scope.origin(of: .timeout)?.layer == .suite)
        whole.removeSuite(named: "com.example.shared")
        #expect(scope[.timeout] == 30)
    }

    @Test func `are named by their path in reports`() throws {
        let bench = try StoreBench()
        let terminal = SimulatedTerminal()
        let store = Store(.native, on: StoreBench.process(on: bench.simulated.disk, terminal: terminal))
        try bench.process().set("http", ["timeout": 600, "token": "s3cret"], in: Self.file)
        let whole = Defaults(Self.name, in: store)
        let reads = Mutex<[String]>([])
        let observation = whole.observeReads { read in
            reads.withLock { $0.append("\(read.key) \(read.value?.plainText ?? "-")") }
        }
        defer { observation.cancel() }
        let scope = whole.scoped("http")
        #expect(scope[.timeout] == 30 && scope[.token] == "s3cret")
        #expect(reads.withLock(\.self) == [":http:timeout -", ":http:token ••••"])
        #expect(terminal.text(of: .errors).contains(":http:timeout"), "\(terminal.text(of: .errors))")
        #expect(scope.explain(.token).entries.map(\.value) == ["••••"])
        // Another invalid value is reported again.
        let former = terminal.text(of: .errors)
        try bench.process().set("http", ["timeout": 700], in: Self.file)
        bench.settle()
        #expect(scope[.timeout] == 30 && terminal.text(of: .errors) != former)
    }

    @Test func `report their changes to the whole domain as those of this process`() throws {
        let bench = try StoreBench()
        let parsed = try program.parse(["service"], in: bench.store())
        let seen = Mutex<[String]>([])
        let observation = parsed.defaults.observe { changes in
            seen.withLock { $0 += changes.changes.map { "\($0.key) \($0.isOwn)" } }
        }
        defer { observation.cancel() }
        parsed.defaults.scoped("http")[.timeout] = 5
        try parsed.defaults.flush()
        try bench.process().set("http", ["timeout": 6], in: Self.file)
        bench.settle()
        #expect(parsed.defaults.scoped("http")[.timeout] == 6)
        #expect(seen.withLock(\.self) == ["http true", "http-timeout true", "http false", "http-timeout false"])
    }

    @Test func `keep their secrets in the explanation of the whole dictionary`() throws {
        let bench = try StoreBench()
        try bench.process().set("http", ["timeout": 6, "token": "s3cret"], in: Self.file)
        let parsed = try program.parse(["service"], in: bench.store())
        let explained = parsed.defaults.explain("http").description
        #expect(explained.contains("••••") && !explained.contains("s3cret"), "\(explained)")
    }

    @Test func `keep their secrets in descriptions`() throws {
        let bench = try StoreBench()
        let parsed = try program.parse(["service"], in: bench.store())
        let seen = Mutex<[String]>([])
        let observation = parsed.defaults.observe { changes in seen.withLock { $0.append("\(changes)") } }
        defer { observation.cancel() }
        let session = parsed.defaults.edit()
        session[.agent] = "a"
        try bench.process().set("http", ["timeout": 6, "token": "s3cret"], in: Self.file)
        bench.settle()
        let texts = [
            "\(parsed.defaults.snapshot())", "\(parsed.defaults.scoped("http").snapshot())",
            "\(session.changes)", "\([parsed.defaults.snapshot()])", seen.withLock { $0.joined() },
        ]
        for text in texts { #expect(!text.contains("s3cret"), "\(text)") }
        #expect(texts[0].contains("••••") && texts[1].contains("••••") && texts[4].contains("••••"), "\(texts)")
        #expect(parsed.defaults.scoped("http").snapshot()[.token] == "s3cret")
    }

    /// While the program runs, another value in the place of a declared dictionary is like an invalid one in it.
    @Test func `keep their values while another value is in the place of the dictionary`() throws {
        let bench = try StoreBench()
        let terminal = SimulatedTerminal()
        let store = Store(.native, on: StoreBench.process(on: bench.simulated.disk, terminal: terminal))
        try bench.process().set("http", ["timeout": 9, "proxy": ["port": 1]], in: Self.file)
        let scope = try program.parse(["service"], in: store).defaults.scoped("http")
        #expect(scope[.timeout] == 9 && scope.scoped("proxy")[.port] == 1)
        try bench.process().set("http", "off", in: Self.file)
        bench.settle()
        #expect(scope[.timeout] == 9 && scope.scoped("proxy")[.port] == 1)
        #expect(scope.origin(of: .timeout)?.isFormer ?? false)
        #expect(terminal.text(of: .errors).contains(":http must be a dictionary"), "\(terminal.text(of: .errors))")
        try bench.process().set("http", ["timeout": 12], in: Self.file)
        bench.settle()
        #expect(scope[.timeout] == 12 && scope.scoped("proxy")[.port] == 80)
        try bench.process().set("http", nil, in: Self.file)
        bench.settle()
        #expect(scope[.timeout] == 30)
    }

    // MARK: Declared by the program

    @Test func `are declared for the command line, the environment and the help`() throws {
        try program.validate()
        let bench = try StoreBench()
        try bench.process().set("http", ["timeout": 20, "maxRetries": 9, "proxy": ["port": 1]], in: Self.file)
        let store = bench.store(variables: [
            "SERVICE_HTTP_MAX_RETRIES": "8", "HTTP_TIMEOUT": "5", "SERVICE_HTTP_PROXY_PORT": "3128",
        ])
        let words = ["service", "--port", "81", "--http-agent=cli", "--no-http-verbose"]
        let settings = try program.parse(words, in: store)
        #expect(settings[.port] == 81)
        let http = settings.defaults.scoped("http")
        #expect(http[.timeout] == 20 && http[.retries] == 8 && http[.agent] == "cli" && !http[.verbose])
        #expect(http.origin(of: .agent)?.layer == .arguments && http.origin(of: .retries)?.layer == .environment)
        #expect(http.origin(of: .timeout)?.layer == .user && http.origin(of: .verbose)?.layer == .arguments)
        #expect(http.scoped("proxy")[.port] == 3128 && http.propertyList(forKey: "port") == nil)
        #expect(settings.defaults.integer(forKey: "http-timeout") == 20)
        // A value of the program is not one of the scope.
        http[.agent] = "stored"
        try http.flush()
        let stored = try Self.file.contents(on: bench.process()).values
        #expect(stored["http"]?["agent"] == "stored" && http[.agent] == "cli")
        let refusal = #expect(throws: Schema.EarlyExit.self) {
            try program.parse(["service", "--timeout", "3"], in: store)
        }
        #expect("\(try #require(refusal))".contains("--timeout"))
    }

    @Test func `are saved in their dictionary`() throws {
        let bench = try StoreBench()
        let words = ["service", "--save", "--http-timeout", "50", "--http-proxy-port", "9", "--port", "81"]
        #expect(throws: Schema.EarlyExit.self) { try program.parse(words, in: bench.store()) }
        let stored = try Self.file.contents(on: bench.process()).values
        #expect(stored == ["http": ["timeout": 50, "proxy": ["port": 9]], "port": 81])
    }

    @Test func `appear in the help under their title`() throws {
        let bench = try StoreBench()
        let ending = #expect(throws: Schema.EarlyExit.self) {
            try program.parse(["service", "--help"], in: bench.store())
        }
        let help = "\(try #require(ending))"
        for text in [
            "HTTP:", "Proxy:", "--http-timeout", "--http-proxy-port", "--http-max-retries", "--[no-]http-verbose",
        ] {
            #expect(help.contains(text), "\(text) is not in \(help)")
        }
    }

    @Test func `are checked by the schema of the domain`() throws {
        let bench = try StoreBench()
        let settings = try program.parse(["service"], in: bench.store())
        let http = settings.defaults.scoped("http")
        // The key alone, as a library in another language would set it.
        http.set(600, forKey: "timeout")
        #expect(http.propertyList(forKey: "timeout") == 30)
        try http.flush()
        #expect(try !Self.file.contents(on: bench.process()).exists)
        settings.defaults.set(600, forKey: "http-timeout")
        try http.flush()
        #expect(try !Self.file.contents(on: bench.process()).exists)
    }

    @Test func `survive as a schema file`() throws {
        let text = try program.openStepText()
        let read = try Schema.read(PropertyList(parsing: text, as: .openstep), checks: true).schema
        #expect(read == program)
    }

    private static let mistakes: [(schema: Schema, mistake: String)] = [
        (Schema("a.b") { Schema.scope("") { Setting.port } }, "Scope: invalid name"),
        (Schema("a.b") { Schema.scope("x\0y") { Setting.port } }, "Scope: invalid name"),
        (
            Schema("a.b") {
                Setting("http", default: 1)
                Schema.scope("http") { Setting.port }
            }, "duplicate key http"
        ),
        (
            Schema("a.b") {
                Setting("http-port", default: 1)
                Schema.scope("http") { Setting.port }
            }, "duplicate key http-port"
        ),
        (
            Schema("a.b") {
                Schema.scope("http") { Setting.port }
                Schema.Command("http") { Setting("x", default: 1).flag("x") }.store(.own)
            }, "duplicate"
        ),
        (
            Schema("a.b") {
                Schema.scope("http") {
                    Setting("proxy", default: 1)
                    Schema.scope("proxy") { Setting.port }
                }
            }, "duplicate"
        ),
    ]

    @Test(arguments: mistakes.indices)
    func `are refused where their place is not theirs alone`(index: Int) {
        let (schema, mistake) = Self.mistakes[index]
        let found = schema.mistakes.map(\.description).joined(separator: "\n")
        #expect(found.contains(mistake), "\(found)")
    }
}
