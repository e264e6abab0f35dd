import Platform
import Preferences
import PropertyLists
import SettingsSchema
import SimulatedPlatform
import TestSupport
import Testing

extension Setting where Value == Int {
    fileprivate static let keep = Setting("keep", default: 1)
    fileprivate static let retries = Setting("retries", default: 1)
    fileprivate static let bounded = Setting("bounded", default: 5).range(1...9)
}

extension Setting where Value == String {
    fileprivate static let mode = Setting("mode", default: "none")
    fileprivate static let token = Setting("token", default: "none")
}

@Suite struct `An installed schema` {
    @Test func `has defaults that override registered ones`() throws {
        let defaults = try SchemaBench().defaults()
        defaults.register(defaults: ["keep": 2, "other": 4])
        #expect(defaults[.keep] == 7 && defaults.integer(forKey: "keep") == 7 && defaults.integer(forKey: "other") == 4)
        #expect(defaults.origin(of: .keep) == Origin(.default, file: SchemaBench.site.description))
        #expect(defaults.dictionaryRepresentation()["mode"] as? String == "full")
    }

    @Test func `is the user's own before that of the system`() throws {
        let bench = try SchemaBench()
        try bench.install(SchemaBench.text.replacing("Default = 7", with: "Default = 9"), at: SchemaBench.own)
        #expect(bench.defaults()[.keep] == 9)
    }

    @Test func `applies only to the native store`() throws {
        let bench = try SchemaBench()
        let store = Store(.folder("/home/ada/mine"), on: bench.bench.process())
        #expect(Defaults(SchemaBench.domain, in: store).object(forKey: "keep") == nil)
    }

    @Test(arguments: [("5", 5, Layer.environment), ("0", 7, .default), ("many", 7, .default), ("", 7, .default)])
    func `reads variables`(_ text: String, _ value: Int, _ layer: Layer) throws {
        let bench = try SchemaBench()
        let defaults = bench.defaults(variables: ["BACKUP_KEEP": text])
        #expect(defaults[.keep] == value)
        #expect(defaults.origin(of: .keep)?.layer == layer)
        #expect(bench.errors.isEmpty == (layer == .environment || text.isEmpty), "\(bench.errors)")
    }

    @Test(
        arguments: [
            (PropertyList.integer(9), 9, Layer.user, ""), (.string("9"), 9, .user, ""),
            (.integer(0), 7, .default, "must be from 1 to 365"), (.string("x"), 7, .default, "must be an integer"),
            (.array([1]), 7, .default, "must be an integer"),
        ], DomainKind.allCases)
    func `makes look-ups skip a stored value that violates it`(
        _ row: (stored: PropertyList, value: Int, layer: Layer, reason: String), _ kind: DomainKind
    ) throws {
        let (stored, value, layer, reason) = row
        let bench = try SchemaBench(as: kind)
        try bench.stored(["keep": stored])
        let defaults = bench.defaults()
        #expect(defaults[.keep] == value && defaults.integer(forKey: "keep") == value)
        #expect(try defaults.value(of: .keep) == value)
        #expect(defaults.origin(of: .keep)?.layer == layer)
        let explanation = defaults.explain(.keep)
        #expect(explanation.inForce?.value == .integer(PropertyList.Integer(value)))
        #expect(explanation.entries.map(\.fault) == (reason.isEmpty ? [nil, nil] : [reason, nil]))
        #expect(explanation.entries.allSatisfy { !$0.isError })
        // The issue is reported once.
        _ = defaults[.keep]
        let line =
            "program: com.example.backup: keep in user (\(bench.place)): \(reason); it is ignored\n"
        #expect(bench.errors == (reason.isEmpty ? "" : line))
    }

    @Test(arguments: DomainKind.allCases)
    func `shows the value under a former key, and moves it with the first write`(_ kind: DomainKind) throws {
        let bench = try SchemaBench(as: kind)
        try bench.stored(["tries": 5])
        let defaults = bench.defaults()
        #expect(defaults[.retries] == 5)
        #expect(defaults.origin(of: .retries)?.layer == .user)
        try defaults.transaction { draft in draft[.retries] += 1 }
        #expect(try bench.file() == ["retries": 6])
        try bench.stored(["tries": 5])
        defaults.synchronize()
        #expect(defaults[.retries] == 5)
        defaults[.keep] = 4
        try defaults.flush()
        #expect(try bench.file() == ["retries": 5, "keep": 4])
        try bench.stored(["tries": 5])
        defaults.synchronize()
        defaults.reset(.retries)
        #expect(defaults[.retries] == 3)
        try defaults.flush()
        #expect(try bench.file().isEmpty)
    }

    @Test(arguments: DomainKind.allCases)
    func `notifies observers under the current key`(_ kind: DomainKind) async throws {
        let bench = try SchemaBench(as: kind)
        let defaults = bench.defaults()
        var changes = defaults.changes(forKey: "retries").makeAsyncIterator()
        try bench.stored(["tries": 5])
        let change = await changes.next()
        #expect(change?.oldValue == 3 && change?.newValue == 5)
    }

    @Test(arguments: DomainKind.allCases)
    func `gives a key the value of another one, and notifies of it`(_ kind: DomainKind) async throws {
        let text = """
            { Domain = "com.example.backup"; Settings = (
                { Key = keep; Type = integer; Default = 7; }, { Key = last; Type = integer; DefaultFrom = retries; },
                { Key = retries; Type = integer; DefaultFrom = keep; },
                { Key = place; Kind = file; DefaultPath = "~/x"; },
                { Key = http-host; Type = string; Scope = http; },
                { Key = http-origin; Type = string; Scope = http; DefaultFrom = http-host; }
            ); }
            """
        let bench = try SchemaBench(text, as: kind)
        let defaults = bench.defaults()
        #expect(defaults.integer(forKey: "last") == 7)
        #expect(defaults.string(forKey: "place") == "/home/ada/x")
        var changes = defaults.changes(forKey: "last").makeAsyncIterator()
        try bench.stored(["keep": 5])
        let change = await changes.next()
        #expect(change?.oldValue == 7 && change?.newValue == 5)
        try bench.stored(["keep": 5, "retries": 6])
        let second = await changes.next()
        #expect(second?.oldValue == 5 && second?.newValue == 6)
        #expect(defaults.explain("last").entries.map(\.origin.layer) == [.default])
        try bench.stored(["http": ["host": "a.example"]])
        defaults.synchronize()
        #expect(defaults.scoped("http").string(forKey: "origin") == "a.example")
    }

    @Test func `is an error for programs if a forced value violates it`() throws {
        let bench = try SchemaBench()
        try bench.bench.administrate("/etc/prefs/forced/com.example.backup.plist", ["keep": 0])
        let explanation = bench.defaults().explain("keep")
        #expect(explanation.entries.map(\.isError) == [true, false])
        #expect(explanation.description.contains(": 0 (error: must be from 1 to 365)"))
    }

    @Test(arguments: [
        ("{", "the property list ends"), ("{ Domain = other; }", "is the schema of another domain, other"),
        ("{ Domain = \"com.example.backup\"; Settings = ({ Key = keep; Type = intger; }); }", "unknown name intger"),
        ("{ Domain = \"com.example.backup\"; Extends = nowhere; }", "there is no schema for nowhere"),
    ])
    func `that is invalid breaks no program`(_ text: String, _ reason: String) throws {
        let bench = try SchemaBench(text)
        try bench.stored(["keep": 0])
        let defaults = bench.defaults()
        #expect(defaults[.keep] == 0)
        defaults[.keep] = -1
        #expect(defaults[.keep] == -1)
        #expect(bench.errors.contains("the schema is ignored"))
        #expect(bench.errors.split(separator: "\n").count == 1, "\(bench.errors)")
        let found = try #require(
            SchemaPlaces(on: bench.bench.process()).schema(of: SchemaBench.domain, on: bench.bench.process()))
        #expect(found.schema == nil && found.faults.count == 1, "\(found.faults)")
        #expect(text == "{" || found.faults[0].contains(reason), "\(found.faults)")
    }

    @Test func `includes the schemas that it extends, from any folder`() throws {
        let bench = try SchemaBench("{ Domain = \"com.example.backup\"; Extends = (common); }")
        try bench.install(
            "{ Domain = common; Extends = base; Settings = ({ Key = keep; Type = integer; Default = 4; }); }",
            at: "/home/ada/.local/share/prefs/schemas/common.plist")
        try bench.install(
            "{ Domain = base; Settings = ({ Key = mode; Default = odd; }); }",
            at: "/usr/local/share/prefs/schemas/base.plist")
        #expect(bench.defaults()[.keep] == 4 && bench.defaults()[.mode] == "odd")
        try bench.install(
            "{ Domain = base; Extends = \"com.example.backup\"; }", at: "/usr/local/share/prefs/schemas/base.plist")
        #expect(bench.defaults()[.keep] == 1)
        #expect(bench.errors.contains("a schema that extends itself"))
    }

    @Test(arguments: DomainKind.allCases) func `keeps a secret from files that others can read`(_ kind: DomainKind)
        throws
    {
        let bench = try SchemaBench(as: kind)
        try bench.stored(["token": "secret", "keep": 4])
        #expect(bench.defaults()[.token] == "secret")
        #expect(!bench.defaults().explain("token").description.contains("secret"))
        let files = bench.bench.process().fileSystem
        let path = try #require(FilePath(kind == .file ? bench.place : bench.place + "/token.txt"))
        #expect(try files.status(of: path)?.permissions == .privateFile)
        try files.open(path, .reading)?.setPermissions(FilePermissions(rawValue: 0o644))
        if kind == .folder {
            // A folder that others cannot search makes its files private.
            #expect(bench.defaults()[.token] == "secret")
            try files.open(path.parent, .reading)?.setPermissions(FilePermissions(rawValue: 0o755))
        }
        let defaults = bench.defaults()
        #expect(defaults[.token] == "none" && defaults[.keep] == 4)
        #expect(bench.errors.contains("token in user") && !bench.errors.contains("secret\n"))
        #expect(throws: StoreFailure.self) { try defaults.set("other", for: .token) }
        try defaults.set(5, for: .keep)
    }

    @Test func `that is missing costs one failed open for each folder`() throws {
        let bench = try SchemaBench(nil)
        let files = try #require(bench.bench.process().fileSystem as? SimulatedFileSystem)
        let system = SystemServices(
            fileSystem: files, clock: bench.bench.simulated.clock, watcher: bench.bench.simulated.watcher,
            environment: bench.bench.process().environment, terminal: bench.terminal)
        let before = files.operations.count
        #expect(SchemaPlaces(on: system).schema(of: "d", on: system) == nil)
        #expect(files.operations.count - before == 3)
    }
}

@Suite struct `A setting with rules of its own` {
    @Test func `rejects and skips values that violate them, even without a schema`() throws {
        let bench = try SchemaBench(nil)
        try bench.stored(["bounded": 12])
        let defaults = bench.defaults()
        #expect(defaults[.bounded] == 5)
        #expect(throws: StoreFailure.self) { try defaults.set(0, for: .bounded) }
        defaults[.bounded] = 10
        #expect(bench.errors.contains("10 must be from 1 to 9; nothing was changed"), "\(bench.errors)")
        try defaults.set(9, for: .bounded)
        #expect(defaults[.bounded] == 9)
        #expect(throws: StoreFailure.self) { try defaults.transaction { $0[.bounded] = 0 } }
        #expect(throws: StoreFailure.self) { try defaults.replace(.bounded, expecting: 9, with: 0) }
        let session = defaults.edit()
        session[.bounded] = 11
        #expect(session.changes.isEmpty)
    }
}
