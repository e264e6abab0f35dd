import Observation
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

private struct Editor {
    @Preference(Setting("size", default: 12), in: Defaults("com.example.editor", in: .memory())) var size
}

@Suite struct `An observer of settings` {
    static let name: DomainName = "com.example.editor"
    static let size = Setting("size", default: 12)

    /// The notifications of an observer, one text per batch.
    final class Notes: Sendable {
        private let batches = Mutex<[String]>([])

        var all: [String] { batches.withLock { $0 } }

        func add(_ batch: SettingsChanges) {
            let text = batch.changes.map { change in
                "\(change.key) \(Self.text(change.oldValue))>\(Self.text(change.newValue))\(change.isOwn ? "" : " theirs")"
            }
            batches.withLock { $0.append(text.joined(separator: ", ")) }
        }

        private static func text(_ value: PropertyList?) -> String { value?.integerValue?.description ?? "-" }
    }

    @Test func `is notified of own changes immediately`() throws {
        let defaults = Defaults(Self.name, in: try StoreBench().store())
        let notes = Notes()
        let observation = defaults.observe { notes.add($0) }
        defaults[Self.size] = 14
        defaults[Self.size] = 14
        defaults.removeObject(forKey: "size")
        observation.cancel()
        defaults[Self.size] = 15
        #expect(notes.all == ["size ->14", "size 14>-"])
    }

    @Test(arguments: [false, true])
    func `is notified of another process's changes in one batch`(inFolder: Bool) throws {
        let bench = try StoreBench()
        if inFolder { try bench.process().makeFolder(StoreBench.file(Self.name), ["c": 0]) }
        let (ours, theirs) = (Defaults(Self.name, in: bench.store()), Defaults(Self.name, in: bench.store()))
        let notes = Notes()
        let observation = ours.observe { notes.add($0) }
        try theirs.transaction { draft in
            draft["a"] = 1
            draft["b"] = 2
        }
        try theirs.transaction { $0["b"] = 3 }
        #expect(notes.all == ["a ->1 theirs, b ->2 theirs", "b 2>3 theirs"])
        observation.cancel()
    }

    @Test func `is not notified twice of this process's writes`() throws {
        let bench = try StoreBench()
        let defaults = Defaults(Self.name, in: bench.store())
        let notes = Notes()
        let observation = defaults.observe { notes.add($0) }
        defaults[Self.size] = 14
        bench.settle()
        try defaults.transaction { $0["a"] = 1 }
        bench.settle()
        #expect(notes.all == ["size ->14", "a ->1"])
        observation.cancel()
    }

    @Test func `is not notified of a change that a higher layer hides`() throws {
        let bench = try StoreBench()
        let ours = Defaults(Self.name, in: bench.store(arguments: ["-size", "9"]))
        let notes = Notes()
        let observation = ours.observe { notes.add($0) }
        Defaults(Self.name, in: bench.store())[Self.size] = 14
        ours[Self.size] = 15
        bench.settle()
        #expect(notes.all == [])
        observation.cancel()
    }

    @Test func `is notified of changes in the layers below`() throws {
        let bench = try StoreBench()
        let defaults = Defaults(Self.name, in: bench.store())
        let notes = Notes()
        let observation = defaults.observe { notes.add($0) }
        try bench.administrate("/etc/xdg/prefs/com.example.editor.plist", ["size": 1])
        try Defaults(.global, in: bench.store()).transaction { $0["size"] = 2 }
        defaults.register(defaults: ["other": 3])
        #expect(notes.all == ["size ->1 theirs", "size 1>2 theirs", "other ->3"])
        observation.cancel()
    }

    @Test func `sees a transaction over two domains as a whole`() throws {
        let bench = try StoreBench()
        let defaults = Defaults(Self.name, in: bench.store())
        let notes = Notes()
        let observation = defaults.observe { notes.add($0) }
        try bench.process().commit([
            DomainEdit(StoreBench.file(Self.name)) { $0.values["a"] = 1 },
            DomainEdit(StoreBench.file(.global)) { $0.values["b"] = 2 },
        ])
        bench.settle()
        #expect(notes.all == ["a ->1 theirs, b ->2 theirs"])
        observation.cancel()
    }

    @Test func `waits for the changes of a setting`() async throws {
        let bench = try StoreBench()
        let (ours, theirs) = (Defaults(Self.name, in: bench.store()), Defaults(Self.name, in: bench.store()))
        var changes = ours.changes(of: Self.size).makeAsyncIterator()
        try theirs.transaction { $0["other"] = 1 }
        try theirs.transaction { $0[Self.size] = 14 }
        let change = await changes.next()
        #expect(change?.oldValue == 12 && change?.newValue == 14 && change?.isOwn == false)
        #expect(change?.origin?.layer == .user)
    }

    @Test func `receives the newest values, although they change while the first ones are read`() async {
        let defaults = Defaults(Self.name, in: .memory())
        let isFirst = Mutex(true)
        let computed = Setting(
            "computed",
            computed: {
                let changes = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if changes { defaults[Self.size] = 14 }
                return 0
            })
        var values = defaults.values(of: Self.size, computed).makeAsyncIterator()
        let newest = await values.next()
        #expect(newest?.0 == 14)
    }

    @Test func `through a property is notified of changes by another process`() throws {
        let bench = try StoreBench()
        let defaults = Defaults(Self.name, in: bench.store())
        let property = Preference(Self.size, in: defaults)
        let count = Mutex(0)
        func track() -> Int {
            withObservationTracking {
                property.wrappedValue
            } onChange: {
                count.withLock { $0 += 1 }
            }
        }
        #expect(track() == 12)
        try Defaults(Self.name, in: bench.store()).transaction { $0["other"] = 1 }
        #expect(count.withLock { $0 } == 0)
        try Defaults(Self.name, in: bench.store()).transaction { $0[Self.size] = 14 }
        #expect(count.withLock { $0 } == 1)
        #expect(track() == 14)
        property.projectedValue.value += 1
        #expect(count.withLock { $0 } == 2)
        #expect(defaults[Self.size] == 15)
        let editor = Editor()
        editor.size = 3
        #expect(editor.size == 3)
    }

    @Test func `misses nothing if events are lost in an overflow`() throws {
        let bench = try StoreBench()
        let watcher = SimulatedFolderWatcher(bench.simulated.disk)
        watcher.manner.delivery = .onRequest
        watcher.manner.queueLength = 2
        var system = bench.process()
        system.watcher = watcher
        let defaults = Defaults(Self.name, in: Store(.native, on: system))
        let notes = Notes()
        let observation = defaults.observe { notes.add($0) }
        for number in 1...5 {
            try Defaults(Self.name, in: bench.store()).transaction { $0["key\(number)"] = 1 }
        }
        watcher.deliver()
        #expect(notes.all.joined(separator: ", ") == (1...5).map { "key\($0) ->1 theirs" }.joined(separator: ", "))
        observation.cancel()
    }

    @Test func `is notified as long as it retains the observation, without the settings`() throws {
        let bench = try StoreBench()
        let notes = Notes()
        let observation = Defaults(Self.name, in: bench.store()).observe { notes.add($0) }
        try Defaults(Self.name, in: bench.store()).transaction { $0[Self.size] = 14 }
        #expect(notes.all == ["size ->14 theirs"])
        observation.cancel()
    }

    @Test func `is notified of changes in the target of a link that was made later`() throws {
        let bench = try StoreBench()
        let file = StoreBench.file(Self.name)
        let target: FilePath = "/home/ada/dotfiles/editor.plist"
        let defaults = Defaults(Self.name, in: bench.store())
        let notes = Notes()
        let observation = defaults.observe { notes.add($0) }
        try bench.process().scribble(file.serialized(["size": 1], as: .xml), to: target)
        try bench.simulated.fileSystem.makeFolders(StoreBench.folder)
        try bench.simulated.fileSystem.makeSymbolicLink(file.path, to: target)
        bench.settle()
        try bench.process().scribble(file.serialized(["size": 2], as: .xml), to: target)
        bench.settle()
        #expect(notes.all == ["size ->1 theirs", "size 1>2 theirs"])
        #expect(defaults[Self.size] == 2)
        observation.cancel()
    }

    /// The first property creates the settings of all of them, and an observer may be notified at that time.
    @Test func `may create a property when it is notified of a change`() throws {
        let bench = try StoreBench()
        let watcher = SimulatedFolderWatcher(bench.simulated.disk)
        watcher.manner.delivery = .onRequest
        var system = bench.process()
        system.watcher = watcher
        let file = StoreBench.file(Self.name)
        try bench.process().scribble(file.serialized(["size": 1], as: .xml), to: "/home/ada/dotfiles/editor.plist")
        try system.fileSystem.makeFolders(StoreBench.folder)
        try bench.simulated.fileSystem.makeSymbolicLink(file.path, to: "/home/ada/dotfiles/editor.plist")
        let defaults = Defaults(Self.name, in: Store(.native, on: system))
        let seen = Mutex<[Int]>([])
        let observation = defaults.observe { _ in
            let size = Preference(Self.size, in: defaults).wrappedValue
            seen.withLock { $0.append(size) }
        }
        try bench.process().set("size", 2, in: file)
        bench.settle()
        #expect(Preference(Self.size, in: defaults).wrappedValue == 2)
        #expect(seen.withLock { $0 } == [2])
        observation.cancel()
    }

    @Test func `may make changes when a transaction notices a change by another process`() throws {
        let bench = try StoreBench()
        let terminal = SimulatedTerminal()
        var system = StoreBench.process(on: bench.simulated.disk, terminal: terminal)
        // Without notifications, every tick checks the file.
        system.watcher = PollingWatcher(system.fileSystem, system.clock, reason: .remoteFileSystem)
        let file = StoreBench.file(Self.name)
        let defaults = Defaults(Self.name, in: Store(.native, on: system))
        let observation = defaults.observe { changes in
            if changes.changes.contains(where: { $0.key == "size" }) { defaults.set(1, forKey: "seen") }
        }
        try defaults.transaction { [other = bench.process()] draft in
            if draft["size"] == nil {
                try other.set("size", 14, in: file)
                bench.simulated.clock.advance(by: .milliseconds(4))
            }
            draft["other"] = draft["other"] ?? 1
        }
        try defaults.flush()
        #expect(try file.contents(on: bench.process()).values == ["size": 14, "other": 1, "seen": 1])
        #expect(terminal.text(of: .errors) == "")
        observation.cancel()
    }

    @Test func `is notified of a change that another thread reads at the same time`() throws {
        let defaults = Defaults(Self.name, in: try StoreBench().store())
        let isOver = Mutex(false)
        let hasEnded = Gate()
        runOnNewThread {
            while !isOver.withLock(\.self) { _ = defaults[Self.size] }
            hasEnded.open()
        }
        let isTold = (1...50).allSatisfy { number in
            let gate = Gate()
            let observation = defaults.observe { _ in gate.open() }
            defaults[Self.size] = number
            defer { observation.cancel() }
            return gate.wait(until: SystemClock().now.advanced(by: .seconds(10)))
        }
        #expect(isTold)
        isOver.withLock { $0 = true }
        #expect(hasEnded.wait())
    }
}
