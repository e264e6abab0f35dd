import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

extension Setting where Value == Int {
    fileprivate static let size = Setting("size", default: 12)
}

extension Setting where Value == String {
    fileprivate static let theme = Setting("theme", default: "light")
}

extension Setting where Value == String? {
    fileprivate static let nickname = Setting("nickname", default: nil)
}

extension Setting where Value == Window {
    fileprivate static let window = Setting("window", default: Window(width: 800, title: "Untitled"))
}

private struct Window: Codable, Equatable {
    var width: Double
    var title: String
}

@Suite struct `Settings of a program` {
    static let name: DomainName = "com.example.editor"

    @Test func `are typed and have defaults`() throws {
        let defaults = Defaults(Self.name, in: try StoreBench().store())
        #expect(defaults[.size] == 12)
        defaults[.size] = 14
        defaults[.theme] = "dark"
        #expect(defaults[.size] == 14 && defaults[.theme] == "dark")
        #expect(defaults.integer(forKey: "size") == 14)
        defaults.reset(.size)
        #expect(defaults[.size] == 12)
    }

    @Test func `are stored as a structure that a path leads into`() throws {
        let bench = try StoreBench()
        let defaults = Defaults(Self.name, in: bench.store())
        defaults[.window] = Window(width: 640, title: "Notes")
        try defaults.flush()
        let file = StoreBench.file(Self.name)
        #expect(try file.value(at: ["window", "title"], on: bench.process()).value == "Notes")
        #expect(Defaults(Self.name, in: bench.store())[.window] == Window(width: 640, title: "Notes"))
    }

    @Test func `that are absent are removed`() throws {
        let defaults = Defaults(Self.name, in: try StoreBench().store())
        defaults[.nickname] = "Ada"
        #expect(defaults[.nickname] == "Ada")
        defaults[.nickname] = nil
        #expect(defaults[.nickname] == nil)
        #expect(defaults.object(forKey: "nickname") == nil)
    }

    @Test func `of another type are treated as missing and reported as an issue`() async throws {
        let defaults = Defaults(Self.name, in: try StoreBench().store())
        defaults.set("large", forKey: "size")
        var issues = defaults.issues().makeAsyncIterator()
        #expect(defaults[.size] == 12)
        #expect(throws: StoreFailure.self) { try defaults.value(of: .size) }
        let issue = await issues.next()
        #expect(issue?.description.contains("size") == true)
    }

    @Test func `agree between all instances of a domain`() throws {
        let store = try StoreBench().store()
        let (a, b) = (Defaults(Self.name, in: store), Defaults(Self.name, in: store))
        a[.size] = 20
        #expect(b[.size] == 20)
        b.removeObject(forKey: "size")
        #expect(a[.size] == 12)
        a.register(defaults: ["size": 13])
        #expect(b[.size] == 13)
    }

    @Test func `reach the disk without a further call`() throws {
        let bench = try StoreBench()
        let defaults = Defaults(Self.name, in: bench.store())
        defaults[.size] = 14
        bench.simulated.clock.advance(by: .milliseconds(100))
        #expect(try StoreBench.file(Self.name).contents(on: bench.process()).values == ["size": 14])
    }

    @Test func `reach the disk although the instance is released`() throws {
        let bench = try StoreBench()
        do {
            let store = bench.store()
            Defaults(Self.name, in: store)[.size] = 14
        }
        bench.settle()
        #expect(try StoreBench.file(Self.name).contents(on: bench.process()).values == ["size": 14])
    }

    @Test func `reach the disk at the end of the program, also those set after a synchronization`() throws {
        let bench = try StoreBench()
        let store = bench.store()
        let defaults = Defaults(Self.name, in: store)
        defaults[.size] = 14
        #expect(defaults.synchronize())
        defaults[.size] = 15
        store.shared.flushAll()
        #expect(try StoreBench.file(Self.name).contents(on: bench.process()).values == ["size": 15])
        defaults.removePersistentDomain(forName: Self.name.text)
        store.shared.flushAll()
        #expect(try !StoreBench.file(Self.name).contents(on: bench.process()).exists)
    }

    @Test func `of another process are visible after a tick of the clock`() throws {
        let bench = try StoreBench()
        let (ours, theirs) = (Defaults(Self.name, in: bench.store()), Defaults(Self.name, in: bench.store()))
        #expect(ours[.size] == 12)
        theirs[.size] = 14
        try theirs.flush()
        bench.simulated.clock.advance(by: .milliseconds(10))
        #expect(ours[.size] == 14)
    }

    @Test func `of two processes that set different keys are all kept`() throws {
        let bench = try StoreBench()
        let (ours, theirs) = (Defaults(Self.name, in: bench.store()), Defaults(Self.name, in: bench.store()))
        ours[.size] = 14
        theirs[.theme] = "dark"
        bench.settle()
        for defaults in [ours, theirs, Defaults(Self.name, in: bench.store())] {
            #expect(defaults[.size] == 14 && defaults[.theme] == "dark")
        }
    }

    /// A slow disk must not cost a thread for every 80 ms.
    @Test func `set during a slow write are written by one thread, after it`() throws {
        let bench = try StoreBench()
        var system = bench.process()
        let files = HookedFileSystem(system.fileSystem)
        system.fileSystem = files
        let running = Mutex(0)
        let most = Mutex(0)
        let waiting = Mutex<[@Sendable () -> Void]>([])
        system.background = { work in
            let isBusy = running.withLock { running in
                defer { running += 1 }
                most.withLock { $0 = max($0, running + 1) }
                return running > 0
            }
            if isBusy { return waiting.withLock { $0.append(work) } }
            work()
            running.withLock { $0 = 0 }
        }
        let defaults = Defaults(Self.name, in: Store(.native, on: system))
        defaults[.size] = 12
        bench.settle()
        bench.simulated.clock.advance(by: .seconds(5))
        files.onceRenamed(StoreBench.file(Self.name).path) {
            for size in 100..<120 {
                defaults[.size] = size
                bench.simulated.clock.advance(by: .milliseconds(100))
            }
        }
        defaults[.size] = 13
        bench.settle()
        #expect(most.withLock { $0 } == 1)
        for work in waiting.withLock({ $0 }) { work() }
        bench.settle()
        #expect(try StoreBench.file(Self.name).contents(on: bench.process()).values["size"] == 119)
    }

    @Test func `survive a disk that is full for a while`() async throws {
        let bench = try StoreBench()
        let defaults = Defaults(Self.name, in: bench.store())
        defaults[.size] = 13
        bench.settle()
        var issues = defaults.issues().makeAsyncIterator()
        bench.simulated.disk.isReadOnly = true
        defaults[.size] = 14
        #expect(throws: StoreFailure.self) { try defaults.flush() }
        #expect(!defaults.synchronize())
        #expect(defaults[.size] == 14)
        #expect(await issues.next()?.description.contains("not written yet") == true)
        bench.simulated.disk.isReadOnly = false
        bench.simulated.clock.advance(by: .seconds(60))
        #expect(try StoreBench.file(Self.name).contents(on: bench.process()).values == ["size": 14])
    }

    @Test func `that the file cannot hold are discarded, and the others are written`() async throws {
        let bench = try StoreBench()
        let file = StoreBench.file(Self.name, newFormat: .xml)
        try bench.process().set("old", 1, in: file)
        let defaults = Defaults(Self.name, in: bench.store())
        var issues = defaults.issues().makeAsyncIterator()
        defaults[.theme] = "a\0b"
        defaults[.size] = 14
        try defaults.flush()
        #expect(try file.contents(on: bench.process()).values == ["old": 1, "size": 14])
        #expect(defaults[.theme] == "light")
        #expect(await issues.next()?.description.contains("theme") == true)
    }

    @Test(arguments: [1, 2])
    func `are on the disk only once the name of the file is`(_ failures: Int) throws {
        let bench = try StoreBench()
        let system = bench.process()
        let defaults = Defaults(Self.name, in: Store(.native, on: system))
        defaults[.size] = 13
        try defaults.flush()
        let files = try #require(system.fileSystem as? SimulatedFileSystem)
        files.setFaults(
            FaultPlan((1...failures).map { Fault(.fail(.inputOutput), .once($0), of: .synchronizeFolder) }))
        defaults[.size] = 14
        // The first failure need not be reported, because the write is tried again.
        if failures > 1 { #expect(throws: StoreFailure.self) { try defaults.flush() } }
        try defaults.flush()
        let after = bench.simulated.disk.copy()
        after.crash(.none)
        let reader = StoreBench.process(on: after)
        #expect(try StoreBench.file(Self.name).contents(on: reader).values == ["size": 14])
    }

    @Test func `are changed together by a transaction, and are then on the disk`() throws {
        let bench = try StoreBench()
        let defaults = Defaults(Self.name, in: bench.store())
        try defaults.transaction {
            $0[.size] += 1
            $0[.theme] = "dark"
        }
        #expect(try StoreBench.file(Self.name).contents(on: bench.process()).values == ["size": 13, "theme": "dark"])
        #expect(defaults[.size] == 13)
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try defaults.transaction {
                $0[.size] = 99
                throw Refusal()
            }
        }
        #expect(defaults[.size] == 13)
    }

    @Test func `are computed again if another process writes first`() throws {
        let bench = try StoreBench()
        let (ours, theirs) = (Defaults(Self.name, in: bench.store()), Defaults(Self.name, in: bench.store()))
        var runs = 0
        try ours.transaction { draft in
            runs += 1
            let size = draft[.size]
            if runs == 1 { try theirs.transaction { $0[.size] = 100 } }
            draft[.size] = size + 1
        }
        #expect(runs == 2)
        #expect(ours[.size] == 101)
    }

    @Test func `are changed within a transaction by its draft alone`() throws {
        let store = try StoreBench().store()
        let defaults = Defaults(Self.name, in: store)
        var runs = 0
        for attempt in [
            { try $0.transaction { $0[.size] += 1 } }, { try $0.set(1, for: .size) },
            { _ = try $0.replace(.size, expecting: 12, with: 1) }, { try $0.edit().commit() },
        ] as [(Defaults) throws -> Void] {
            let failure = #expect(throws: StoreFailure.self) {
                try defaults.transaction { draft in
                    runs += 1
                    draft[.size] += 1
                    try attempt(Defaults(Self.name, in: store))
                }
            }
            #expect(failure?.problem == .reentrant)
        }
        #expect(runs == 4 && defaults[.size] == 12)
        let other = Defaults("com.example.other", in: store)
        try defaults.transaction { draft in
            draft[.size] = try other.transaction {
                $0[.size] += 1
                return $0[.size]
            }
        }
        #expect(defaults[.size] == 13 && other[.size] == 13)
    }

    @Test func `are changed by a task that a transaction has started`() async throws {
        let defaults = Defaults(Self.name, in: try StoreBench().store())
        let (later, isChanged) = try defaults.transaction { draft in
            draft[.size] += 1
            let gate = Gate()
            runOnNewThread {
                defaults[.theme] = "dark"
                gate.open()
            }
            return (Task { try defaults.transaction { $0[.size] += 1 } }, gate.wait())
        }
        try await later.value
        #expect(isChanged && defaults[.theme] == "dark" && defaults[.size] == 14)
    }

    @Test func `are not replaced as a domain within its own transaction`() throws {
        let bench = try StoreBench()
        let terminal = SimulatedTerminal()
        let store = Store(.native, on: StoreBench.process(on: bench.simulated.disk, terminal: terminal))
        let defaults = Defaults(Self.name, in: store)
        defaults[.theme] = "dark"
        let other = Defaults("com.example.other", in: store)
        var runs = 0
        try defaults.transaction { draft in
            runs += 1
            draft[.size] += 1
            defaults.setPersistentDomain(["size": 30 + runs], forName: Self.name.text)
            other.removePersistentDomain(forName: Self.name.text)
            defaults.reset(.theme)
            other.setPersistentDomain(["size": 1], forName: "com.example.other")
        }
        #expect(runs == 1 && defaults[.size] == 13 && defaults[.theme] == "dark" && other[.size] == 1)
        let reason = "within a transaction of this domain, only its draft can be changed; nothing was changed"
        #expect(
            terminal.text(of: .errors).split(separator: "\n") == [
                "program: com.example.editor: size: \(reason)", "program: com.example.editor: \(reason)",
                "program: com.example.editor: theme: \(reason)",
            ])
    }

    /// The values of a draft are those of a look-up after the transaction.
    @Test func `are looked up in a draft as after the transaction`() throws {
        let bench = try StoreBench()
        try bench.administrate("/etc/xdg/prefs/com.example.editor.plist", ["size": 30, "nickname": "Ada"])
        let defaults = Defaults(Self.name, in: bench.store())
        let bounded = Setting("size", default: 12).range(1...50)
        let rows: [(stored: PropertyList?, change: PropertyList??, size: Int)] = [
            (nil, nil, 30), (20, nil, 20), (20, .some(nil), 30), (20, .some(40), 40), (99, nil, 30), ("many", nil, 30),
            ("20", nil, 20), (20, .some("many"), 30), (20, .some(99), 30),
        ]
        for (index, (stored, change, size)) in rows.enumerated() {
            if let stored { defaults.set(stored, forKey: "size") } else { defaults.removeObject(forKey: "size") }
            let session = defaults.edit()
            if let change { session["size"] = change }
            #expect(session[bounded] == size, "row \(index)")
            let announced = session.changes.map(\.newValue)
            let found = try defaults.transaction { draft in
                if let change { draft["size"] = change }
                return draft[bounded]
            }
            #expect(found == size && defaults[bounded] == size, "row \(index)")
            #expect(announced == (change == nil ? [] : [defaults.propertyList(forKey: "size")]), "row \(index)")
        }
        defaults.set(20, forKey: "size")
        try bench.administrate("/etc/prefs/forced/com.example.editor.plist", ["size": 40])
        bench.settle()
        let forced = defaults.edit()
        forced["size"] = 45
        #expect(forced[bounded] == 40 && forced["size"] == 40 && forced.origin(forKey: "size")?.layer == .forced)
        #expect(
            try defaults.transaction { draft in
                draft["size"] = 45
                return draft[bounded]
            } == 40)
        #expect(defaults[bounded] == 40)
        let session = defaults.edit()
        session[.nickname] = "Grace"
        #expect(session.origin(forKey: "nickname")?.layer == .session)
        session[.nickname] = nil
        #expect(session[.nickname] == "Ada" && session.origin(forKey: "nickname")?.layer == .site)
    }

    @Test func `are replaced only if they are what is expected`() throws {
        let bench = try StoreBench()
        let (ours, theirs) = (Defaults(Self.name, in: bench.store()), Defaults(Self.name, in: bench.store()))
        #expect(try ours.replace(.size, expecting: 12, with: 14))
        #expect(try !theirs.replace(.size, expecting: 12, with: 15))
        #expect(try theirs.replace(.size, expecting: 14, with: 16))
        bench.settle()
        #expect(ours[.size] == 16)
    }

    @Test func `are changed by an edit session only when it is committed`() throws {
        let bench = try StoreBench()
        let defaults = Defaults(Self.name, in: bench.store())
        let draft = defaults.edit()
        draft[.size] = 20
        #expect(draft[.size] == 20 && defaults[.size] == 12)
        #expect(draft.origin(forKey: "size")?.layer == .session)
        #expect(draft.changes.map(\.key) == ["size"])
        Defaults(Self.name, in: bench.store()).set("dark", forKey: "theme")
        bench.settle()
        #expect(try draft.commit() == [])
        #expect(defaults[.size] == 20 && defaults[.theme] == "dark")
        draft[.size] = 21
        draft.discard()
        #expect(draft[.size] == 20 && draft.changes.isEmpty)
    }

    @Test func `report to an edit session what others have changed too`() throws {
        let bench = try StoreBench()
        let defaults = Defaults(Self.name, in: bench.store())
        let draft = defaults.edit()
        draft[.size] = 20
        draft[.theme] = "dark"
        try Defaults(Self.name, in: bench.store()).transaction {
            $0[.size] = 30
            $0[.theme] = "dark"
        }
        #expect(try draft.commit() == ["size"])
        #expect(defaults[.size] == 20)
    }

    @Test func `are rejected under an invalid key`() async throws {
        let defaults = Defaults(Self.name, in: try StoreBench().store())
        var issues = defaults.issues().makeAsyncIterator()
        defaults.set(1, forKey: "")
        #expect(await issues.next()?.description.contains("empty") == true)
        #expect(throws: StoreFailure.self) { try defaults.set(1, for: Setting("", default: 0)) }
        #expect(defaults.dictionaryRepresentation().isEmpty)
    }

    @Test func `are refused if no property list can hold them`() async throws {
        struct Strange {}
        let defaults = Defaults(Self.name, in: try StoreBench().store())
        var issues = defaults.issues().makeAsyncIterator()
        defaults.set("kept", forKey: "key")
        defaults.set(Strange(), forKey: "key")
        defaults.set([1, Strange()], forKey: "key")
        #expect(await issues.next()?.description.contains("Strange") == true)
        #expect(defaults.string(forKey: "key") == "kept")
    }

    @Test func `without a home are kept in memory, with an issue`() async throws {
        let bench = try StoreBench()
        var system = bench.process()
        system.environment.variables = [:]
        system.environment.user = 4242
        let defaults = Defaults(Self.name, in: Store(.native, on: system))
        var issues = defaults.issues().makeAsyncIterator()
        defaults[.size] = 14
        #expect(defaults[.size] == 14)
        #expect(await issues.next()?.description.contains("HOME") == true)
        #expect(throws: StoreFailure.self) { try defaults.flush() }
        #expect(!defaults.synchronize())
        #expect(try bench.simulated.fileSystem.names(in: .root)?.contains("prefs") == false)
    }

    @Test func `in memory are each a store of its own`() {
        let (a, b) = (Defaults(Self.name, in: .memory()), Defaults(Self.name, in: .memory()))
        a[.size] = 14
        #expect(a[.size] == 14 && b[.size] == 12)
        #expect(a.synchronize())
        let store = Store.memory()
        Defaults(Self.name, in: store)[.size] = 15
        #expect(Defaults(Self.name, in: store)[.size] == 15)
    }

    /// The file is opened, then this process writes it, then the opened file is read.
    @Test func `are what was written last, and not what was read meanwhile`() throws {
        let bench = try StoreBench()
        var system = bench.process()
        let files = HookedFileSystem(system.fileSystem)
        system.fileSystem = files
        let ours = Defaults(Self.name, in: Store(.native, on: system))
        #expect(ours[.size] == 12)
        try Defaults(Self.name, in: bench.store()).transaction { $0[.size] = 14 }
        files.onceOpened(StoreBench.file(Self.name).path) {
            ours[.size] = 15
            #expect(throws: Never.self) { try ours.flush() }
        }
        ours.synchronize()
        #expect(ours[.size] == 15)
    }

    /// A key that no file can have would prevent the whole domain from being written.
    @Test func `of a whole domain are set except under an invalid key`() throws {
        let bench = try StoreBench()
        let terminal = SimulatedTerminal()
        let defaults = Defaults(
            Self.name, in: Store(.native, on: StoreBench.process(on: bench.simulated.disk, terminal: terminal)))
        defaults.setPersistentDomain(["": 1, "size": 14], forName: Self.name.text)
        try defaults.flush()
        #expect(try StoreBench.file(Self.name).contents(on: bench.process()).values == ["size": 14])
        #expect(terminal.text(of: .errors).contains("a key cannot be empty; nothing was changed"))
    }

    /// A domain or a key may come from a file or from the network.
    @Test func `cannot control a terminal through issues`() throws {
        let bench = try StoreBench()
        let terminal = SimulatedTerminal()
        let defaults = Defaults(
            Self.name, in: Store(.native, on: StoreBench.process(on: bench.simulated.disk, terminal: terminal)))
        defaults.set(1, forKey: "\u{1B}[2J\n\u{0}")
        defaults.setPersistentDomain([:], forName: "a\u{7}\u{9B}")
        let text = terminal.text(of: .errors)
        #expect(text.unicodeScalars.filter { $0.properties.generalCategory == .control }.map(\.value) == [10, 10])
        #expect(text.contains("\\u{1B}[2J\\n\\0: a key cannot contain a NUL character"))
    }

    /// No file can have a null, so a layer of the process cannot have one either.
    @Test func `are not null in any layer`() throws {
        let bench = try StoreBench()
        let terminal = SimulatedTerminal()
        let defaults = Defaults(
            Self.name, in: Store(.native, on: StoreBench.process(on: bench.simulated.disk, terminal: terminal)))
        let values: [String: Any] = ["null": PropertyList.null, "list": [1, .null] as PropertyList, "size": 14]
        defaults.register(defaults: values)
        defaults.setVolatileDomain(values, forName: "session")
        defaults.setPersistentDomain(values, forName: "com.example.other")
        defaults.set(values, forKey: "inner")
        #expect(defaults.object(forKey: "null") == nil && defaults.object(forKey: "list") == nil)
        #expect(defaults[.size] == 14 && Array(defaults.volatileDomain(forName: "session").keys) == ["size"])
        #expect(defaults.persistentDomain(forName: "com.example.other")?.keys.sorted() == ["size"])
        let lines = terminal.text(of: .errors).split(separator: "\n")
        #expect(lines.count == 7 && lines.allSatisfy { $0.contains("a setting cannot be null; nothing was changed") })
    }

    @Test func `print an issue to standard error if there is no listener`() throws {
        let bench = try StoreBench()
        let terminal = SimulatedTerminal()
        let defaults = Defaults(
            Self.name, in: Store(.native, on: StoreBench.process(on: bench.simulated.disk, terminal: terminal)))
        defaults.set(1, forKey: "")
        #expect(
            terminal.text(of: .errors) == "program: com.example.editor: a key cannot be empty; nothing was changed\n")
    }

    @Test func `never change the store's own key`() throws {
        let bench = try StoreBench()
        let terminal = SimulatedTerminal()
        let defaults = Defaults(
            Self.name, in: Store(.native, on: StoreBench.process(on: bench.simulated.disk, terminal: terminal)))
        let own = "$schemaVersion"
        let attempts: [@Sendable (inout SettingsDraft) -> Void] = [
            { $0[own] = 7 }, { $0.removeObject(forKey: own) }, { $0[Setting(own, default: 1)] = 7 },
        ]
        for attempt in attempts {
            let failure = #expect(throws: StoreFailure.self) { try defaults.transaction { attempt(&$0) } }
            #expect(failure?.problem == .reservedKey(own))
        }
        let session = defaults.edit()
        session[own] = 7
        session[Setting(own, default: 1)] = 8
        #expect(session.changes.isEmpty)
        try session.commit()
        #expect(terminal.text(of: .errors).split(separator: "\n").count == 2)
        #expect(try !StoreBench.file(Self.name).contents(on: bench.process()).exists)
    }
}
