import Observation
import Platform
import Preferences
import PropertyLists
import SettingsSchema
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

private enum Color: String, Codable, Sendable { case red, green, blue }

private struct Window: Codable, Sendable, Equatable {
    var width: Int
    var title: String?
}

extension Setting<Int> {
    fileprivate static let plain = Setting("interval", default: 60)
    fileprivate static let bounded = Setting("interval", default: 60).range(1...3600)
}

@Suite struct `A valid value that another process replaces by an invalid one` {
    static let name: DomainName = "com.example.service"

    /// The settings of a service, and the process that changes its file.
    struct Service {
        let bench: StoreBench
        let defaults: Defaults
        let terminal = SimulatedTerminal()

        init(_ values: PropertyList.Dictionary = [:], arguments: [String] = []) throws {
            bench = try StoreBench()
            let system = StoreBench.process(on: bench.simulated.disk, arguments: arguments, terminal: terminal)
            defaults = Defaults(name, in: Store(.native, on: system))
            if !values.isEmpty { try write(values) }
        }

        func write(_ values: PropertyList.Dictionary) throws {
            try bench.process().commit([DomainEdit(StoreBench.file(name)) { $0.values = values }])
            bench.settle()
        }

        var issues: [String] {
            terminal.text(of: .errors).split(separator: "\n").map(String.init)
        }
    }

    @Test(arguments: [Setting<Int>.bounded, .plain])
    func `stays in force`(setting: Setting<Int>) throws {
        let isBounded = setting.ownDeclaration != nil
        let service = try Service(["interval": 9])
        #expect(service.defaults[setting] == 9)
        for invalid in [isBounded ? 99_999 : "often", "never", [1]] as [PropertyList] {
            try service.write(["interval": invalid])
            #expect(service.defaults[setting] == 9, "\(invalid)")
            #expect(try service.defaults.value(of: setting) == 9)
            #expect(!service.defaults.isDefault(setting))
        }
        // Each is reported once.
        #expect(try service.defaults.value(of: setting) == 9)
        #expect(service.issues.count == 3, "\(service.issues)")
        try service.write(["interval": 12])
        #expect(service.defaults[setting] == 12)
        try service.write(["interval": "never"])
        #expect(service.defaults[setting] == 12)
    }

    @Test func `gives way to the next layer when it is deleted`() throws {
        let service = try Service(["interval": 9])
        #expect(service.defaults[.bounded] == 9)
        try service.write(["interval": 0])
        #expect(service.defaults[.bounded] == 9)
        try service.bench.administrate("/etc/xdg/prefs/com.example.service.plist", ["interval": 30])
        service.bench.settle()
        #expect(service.defaults[.bounded] == 9)
        try service.write([:])
        #expect(service.defaults[.bounded] == 30)
        try service.write(["interval": 0])
        #expect(service.defaults[.bounded] == 30)
    }

    @Test func `stays in force in a transaction and a session`() throws {
        let service = try Service(["interval": 9])
        #expect(service.defaults[.bounded] == 9)
        try service.write(["interval": 0])
        let session = service.defaults.edit()
        #expect(session[.bounded] == 9)
        session[.bounded] = 700
        session.discard()
        #expect(service.defaults[.bounded] == 9)
        try service.defaults.transaction { $0[.bounded] += 1 }
        #expect(service.defaults[.bounded] == 10)
    }

    @Test func `is the last one, also for types that share a kind of value`() throws {
        let (color, byte) = (Setting("color", default: Color.blue), Setting("byte", default: UInt8(1)))
        let service = try Service(["color": "red", "byte": 5])
        #expect(service.defaults[color] == .red && service.defaults[byte] == 5)
        try service.write(["color": "green", "byte": 6])
        #expect(service.defaults[color] == .green && service.defaults[byte] == 6)
        try service.write(["color": "purple", "byte": 900])
        #expect(service.defaults[color] == .green && service.defaults[byte] == 6)
        #expect(service.defaults.snapshot()[color] == .green && service.defaults.snapshot()[byte] == 6)
    }

    @Test func `is kept for each rule of its own`() throws {
        let wide = Setting("interval", default: 60).range(1...100_000)
        let service = try Service(["interval": 9])
        #expect(service.defaults[.bounded] == 9 && service.defaults[wide] == 9)
        try service.write(["interval": 5_000])
        #expect(service.defaults[.bounded] == 9 && service.defaults[wide] == 5_000)
        try service.write(["interval": 500_000])
        #expect(service.defaults[.bounded] == 9 && service.defaults[wide] == 5_000)
        for number in 0..<30 {
            try service.write(["interval": .integer(PropertyList.Integer(600_000 + number))])
            #expect(service.defaults[.bounded] == 9 && service.defaults[wide] == 5_000)
        }
    }

    @Test func `is a change for readers that have seen another one`() async throws {
        let service = try Service(["interval": 9])
        var changes = service.defaults.changes(of: .bounded).makeAsyncIterator()
        for value in [10, 0, 10, 0, 12] as [PropertyList] { try service.write(["interval": value]) }
        var seen: [[Int]] = []
        while let change = await changes.next() {
            seen.append([change.oldValue, change.newValue])
            if change.newValue == 12 { break }
        }
        #expect(seen == [[9, 10], [10, 12]])
    }

    @Test func `does not come back from the time before a deletion, also under a former key`() throws {
        let setting = Setting("present", default: 60).range(1...3600).renamed(from: "former")
        let service = try Service(["former": 5])
        #expect(service.defaults[setting] == 5)
        try service.write(["other": 1])
        #expect(service.defaults.integer(forKey: "other") == 1)
        try service.write(["present": 0])
        #expect(service.defaults[setting] == 60)
    }

    @Test func `stays in force in the dictionary of a command`() throws {
        let schema = """
            { Domain = "com.example.backup"; Commands = ({ Name = build; Store = own; Settings = (
                { Key = level; Type = integer; Default = 2; Minimum = 1; Maximum = 9; },
                { Key = x; Type = integer; }); }); }
            """
        let bench = try SchemaBench(schema)
        func level() -> PropertyList? { defaults.propertyList(forKey: "build")?["level"] }
        let defaults = bench.defaults()
        for (entry, expected) in [(3, 3), (90, 3), (4, 4), (0, 4)] as [(PropertyList, PropertyList)] {
            try bench.stored(["build": ["level": entry, "x": 1]])
            bench.bench.settle()
            #expect(level() == expected, "\(entry)")
        }
        // This process changes another setting in the same dictionary.
        try defaults.transaction { $0["build"] = ["level": 0, "x": 2] }
        #expect(level() == 4)
        try bench.stored(["build": ["x": 1]])
        bench.bench.settle()
        _ = level()
        try bench.stored(["build": ["level": 0]])
        bench.bench.settle()
        #expect(level() != 4)
    }

    @Test func `is not taken from a file that others could read`() throws {
        let bench = try SchemaBench()
        let token = Setting("token", default: "")
        let path = StoreBench.file(SchemaBench.domain).path
        func write(_ value: PropertyList, _ permissions: UInt16) throws {
            let bytes = try StoreBench.file(SchemaBench.domain).serialized(["token": value], as: .xml)
            try bench.bench.process().scribble(bytes, to: path)
            let file = try bench.bench.process().fileSystem.open(path, .reading)
            try file?.setPermissions(FilePermissions(rawValue: .init(permissions)))
            bench.bench.settle()
        }
        let defaults = bench.defaults()
        try write("s3cret", 0o644)
        #expect(defaults[token] == "" && defaults.snapshot()[token] == "")
        #expect(defaults.snapshot().origin(of: token) == nil && defaults.snapshot()["token"] == nil)
        try write(["no", "text"], 0o600)
        #expect(defaults[token] == "" && defaults.snapshot()[token] == "")
        try write("right", 0o600)
        #expect(defaults[token] == "right" && defaults.snapshot()[token] == "right")
    }

    @Test func `stays in force if the file is public afterwards`() throws {
        let service = try Service(["interval": 9])
        #expect(service.defaults[.bounded] == 9)
        let path = StoreBench.file(Self.name).path
        let bytes = try StoreBench.file(Self.name).serialized(["interval": 0], as: .xml)
        try service.bench.process().scribble(bytes, to: path)
        let file = try service.bench.process().fileSystem.open(path, .reading)
        try file?.setPermissions(FilePermissions(rawValue: 0o644))
        service.bench.settle()
        #expect(service.defaults[.bounded] == 9)
    }

    @Test func `stays in force if this process set it`() throws {
        let service = try Service()
        try service.defaults.set(9, for: .bounded)
        try service.defaults.flush()
        try service.write(["interval": 0])
        #expect(service.defaults[.bounded] == 9)
    }

    @Test func `is unknown to a process that starts later`() throws {
        let service = try Service(["interval": 9])
        try service.write(["interval": 0])
        #expect(service.defaults[.bounded] == 60)
    }

    @Test func `comes back when a higher layer loses its value`() throws {
        let service = try Service(["interval": 9])
        #expect(service.defaults[.bounded] == 9)
        let forced: FilePath = "/etc/prefs/forced/com.example.service.plist"
        try service.bench.administrate(forced, ["interval": 5])
        service.bench.settle()
        #expect(service.defaults[.bounded] == 5)
        try service.write(["interval": 0])
        #expect(service.defaults[.bounded] == 5)
        try service.bench.administrate(forced, [:])
        service.bench.settle()
        #expect(service.defaults[.bounded] == 9)
    }

    @Test func `stays in force in the administrator's layers`() throws {
        let service = try Service()
        for path in ["/etc/prefs/forced/", "/etc/xdg/prefs/"] as [FilePath] {
            let file = path.appending("com.example.service.plist")
            try service.bench.administrate(file, ["interval": 5])
            service.bench.settle()
            #expect(service.defaults[.bounded] == 5)
            try service.bench.administrate(file, ["interval": 0])
            service.bench.settle()
            #expect(service.defaults[.bounded] == 5, "\(path)")
            try service.bench.administrate(file, [:])
            service.bench.settle()
        }
    }

    @Test func `stays in force if the value is of a type of the program`() throws {
        let setting = Setting("window", default: Window(width: 1))
        let service = try Service(["window": ["width": 300, "title": "A"]])
        #expect(service.defaults[setting] == Window(width: 300, title: "A"))
        try service.write(["window": ["title": "B"]])
        #expect(service.defaults[setting] == Window(width: 300, title: "A"))
        try service.write(["window": ["width": 200]])
        #expect(service.defaults[setting] == Window(width: 200))
    }

    @Test func `stays in force if an installed schema has the rule`() throws {
        let bench = try SchemaBench()
        try bench.stored(["keep": 30, "mode": "incremental"])
        let defaults = bench.defaults()
        #expect(defaults.integer(forKey: "keep") == 30)
        try bench.stored(["keep": 0, "mode": "fast"])
        bench.bench.settle()
        #expect(defaults.integer(forKey: "keep") == 30 && defaults.string(forKey: "mode") == "incremental")
    }

    @Test func `stays in force for observers`() async throws {
        let service = try Service(["interval": 9])
        let property = Preference(Setting.bounded, in: service.defaults)
        var values = service.defaults.values(of: .bounded).makeAsyncIterator()
        var changes = service.defaults.changes(of: .bounded).makeAsyncIterator()
        #expect(await values.next() == 9)
        let count = Mutex(0)
        withObservationTracking {
            #expect(property.wrappedValue == 9)
        } onChange: {
            count.withLock { $0 += 1 }
        }
        try service.write(["interval": 0])
        #expect(property.wrappedValue == 9)
        try service.write(["interval": 10])
        #expect(property.wrappedValue == 10)
        #expect(await values.next() == 10)
        let change = await changes.next()
        #expect(change?.oldValue == 9 && change?.newValue == 10)
    }

    @Test func `is shown by origin and explain`() throws {
        let service = try Service(["interval": 9])
        #expect(service.defaults[.bounded] == 9)
        try service.write(["interval": 0])
        let origin = service.defaults.origin(of: .bounded)
        let file = "/home/ada/.config/prefs/com.example.service.plist"
        #expect(origin?.isFormer == true && origin?.layer == .user && origin?.file == file)
        let explanation = service.defaults.explain(.bounded)
        #expect(
            explanation.description == """
                user (\(file)): 0 (ignored: must be from 1 to 3600)
                former value of user (\(file)): 9
                """)
        #expect(explanation.inForce?.value == 9)
        try service.write(["interval": 10])
        #expect(service.defaults.origin(of: .bounded)?.isFormer == false)
    }

    @Test func `is shown by origin under a key that a schema declares`() throws {
        let bench = try SchemaBench()
        try bench.stored(["keep": 30])
        let defaults = bench.defaults()
        #expect(defaults.integer(forKey: "keep") == 30)
        for (value, isFormer) in [(0, true), (31, false), (0, true)] {
            try bench.stored(["keep": .integer(PropertyList.Integer(value))])
            bench.bench.settle()
            #expect(defaults.origin(forKey: "keep")?.isFormer == isFormer)
        }
        #expect(defaults.integer(forKey: "keep") == 31)
    }

    /// A process that changes the value itself knows what it does.
    @Test func `is forgotten when this process changes the value`() throws {
        let service = try Service(["interval": 9])
        #expect(service.defaults[.plain] == 9)
        try service.write(["interval": "often"])
        #expect(service.defaults[.plain] == 9)
        service.defaults.set("never", forKey: "interval")
        #expect(service.defaults[.plain] == 60)
    }
}

@Suite struct `A value that is read after each of many changes by other processes` {
    private static let layers: [FilePath] = [
        "/etc/prefs/forced/com.example.service.plist", "/home/ada/.config/prefs/com.example.service.plist",
        "/home/ada/.config/prefs/.GlobalPreferences.plist", "/etc/xdg/prefs/com.example.service.plist",
    ]

    /// What a file has for a setting.
    private enum Entry: Sendable { case valid(Int), invalid, nothing }

    @Test(arguments: [Setting<Int>.plain, .bounded])
    func `is the last valid one of the first layer that has any`(setting: Setting<Int>) throws {
        let isBounded = setting.ownDeclaration != nil
        for round in 0..<60 {
            var generator = SeededGenerator(stream: "reloaded \(isBounded)", round: round)
            let bench = try StoreBench(seed: 1)
            let defaults = Defaults("com.example.service", in: bench.store())
            var entries = Self.layers.map { _ in Entry.nothing }
            var (known, inRow) = (Self.layers.map { _ in Int?.none }, Self.layers.map { _ in 0 })
            for step in 0..<30 {
                let index = Int.random(in: 0..<Self.layers.count, using: &generator)
                let number = Int.random(in: 1...3600, using: &generator)
                let invalid: PropertyList =
                    isBounded && Bool.random(using: &generator) ? 5_000 : .string("no \(number)")
                let value: PropertyList?
                switch Int.random(in: 0..<5, using: &generator) {
                case 0: (entries[index], value) = (.nothing, nil)
                case 1...2: (entries[index], value) = (.invalid, invalid)
                default: (entries[index], value) = (.valid(number), .integer(PropertyList.Integer(number)))
                }
                var values: PropertyList.Dictionary = ["other": .integer(PropertyList.Integer(step))]
                values["interval"] = value
                if Self.layers[index].description.hasPrefix("/etc") {
                    try bench.administrate(Self.layers[index], values)
                } else {
                    try bench.process().scribble(
                        StoreBench.file("any").serialized(values, as: .xml), to: Self.layers[index])
                }
                bench.settle()
                let read = defaults[setting]
                // The file is loaded after each change, whichever layer is in force.
                var expected: Int?
                for (index, entry) in entries.enumerated() {
                    switch entry {
                    case .nothing: known[index] = nil
                    case .valid(let number): known[index] = number
                    case .invalid: break
                    }
                    expected = expected ?? known[index]
                }
                if case .invalid = entries[index], known[index] != nil {
                    inRow[index] += 1
                } else {
                    inRow[index] = 0
                }
                // Of values that no look-up has returned, seven invalid ones are survived.
                if inRow[index] > 7 { break }
                #expect(read == expected ?? 60, "\(Seed.ofThisRun), round \(round), step \(step)")
                if read != expected ?? 60 { return }
            }
        }
    }
}

@Suite struct `A late reader` {
    static let size = Setting("size", default: 0)

    @Test func `of values receives only the newest ones`() async {
        let defaults = Defaults("com.example.late", in: .memory())
        var values = defaults.values(of: Self.size).makeAsyncIterator()
        for number in 1...20_000 { defaults[Self.size] = number }
        #expect(await values.next() == 20_000)
    }

    @Test func `of changes learns how many were dropped`() async {
        let defaults = Defaults("com.example.late", in: .memory())
        var all = defaults.changes().makeAsyncIterator()
        var ofKey = defaults.changes(forKey: "size").makeAsyncIterator()
        var ofSetting = defaults.changes(of: Self.size).makeAsyncIterator()
        let count = 20_000
        for number in 1...count { defaults[Self.size] = number }
        var received = (0, 0, 0)
        var dropped = (0, 0, 0)
        while let batch = await all.next() {
            (received.0, dropped.0) = (received.0 + 1, dropped.0 + batch.dropped)
            if batch.changes.first?.newValue?.integerValue == PropertyList.Integer(count) { break }
        }
        while let change = await ofKey.next() {
            (received.1, dropped.1) = (received.1 + 1, dropped.1 + change.dropped)
            if change.newValue?.integerValue == PropertyList.Integer(count) { break }
        }
        while let change = await ofSetting.next() {
            (received.2, dropped.2) = (received.2 + 1, dropped.2 + change.dropped)
            if change.newValue == count { break }
        }
        #expect(dropped.0 > 0 && dropped.1 > 0 && dropped.2 > 0)
        #expect(received.0 + dropped.0 == count && received.1 + dropped.1 == count && received.2 + dropped.2 == count)
        #expect(max(received.0, received.1, received.2) <= 1_000)
    }

    @Test func `of issues learns how many were dropped`() async throws {
        let defaults = Defaults("com.example.late", in: .memory())
        var issues = defaults.issues().makeAsyncIterator()
        for number in 1...2_000 { defaults.set(number, forKey: "\u{0}") }
        defaults.set(1, forKey: "")
        guard case .dropped(let dropped)? = await issues.next()?.kind else {
            Issue.record("nothing was dropped")
            return
        }
        var received = 0
        while let issue = await issues.next() {
            received += 1
            if case .refused("", _) = issue.kind { break }
        }
        #expect(received + dropped == 2_001)
    }

    @Test func `that ends is no longer served`() async throws {
        let defaults = Defaults("com.example.late", in: .memory())
        let task = Task { [changes = defaults.changes()] in
            for await _ in changes {}
        }
        defaults[Self.size] = 1
        task.cancel()
        await task.value
        weak var waiting: Defaults? = nil
        do {
            let other = Defaults("com.example.late", in: .memory())
            waiting = other
            var changes = other.changes(forKey: "size").makeAsyncIterator()
            other[Self.size] = 2
            #expect(await changes.next()?.newValue == 2)
        }
        #expect(waiting == nil)
    }
}
