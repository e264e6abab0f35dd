import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

/// Every kind of write, with a fault at each of its operations in turn.
@Suite struct `A write that is interrupted` {
    struct Scenario: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let files: [DomainFile]
        var prepare: @Sendable (SystemServices) throws -> Void = { _ in }
        let run: @Sendable (SystemServices) throws -> Void
    }

    static let a = StoreBench.file("com.example.a")
    static let b = StoreBench.file("com.example.b")
    static let byHost = StoreBench.store.file(of: "com.example.a", on: "host")
    static let xml = StoreBench.file("com.example.xml", newFormat: .xml)
    static let byPath = StoreBench.store.file(at: "/home/ada/some.plist", name: "/home/ada/some.plist", newFormat: .xml)
    static let linked = StoreBench.file("com.example.linked")

    static let scenarios: [Scenario] = [
        Scenario(testDescription: "the first of a domain", files: [a]) { try $0.set("key", 1, in: a) },
        Scenario(
            testDescription: "a change", files: [a], prepare: { try $0.set("key", 1, in: a) },
            run: { try $0.set("key", 2, in: a) }),
        Scenario(
            testDescription: "a change of XML", files: [xml], prepare: { try $0.set("key", 1, in: xml) },
            run: { try $0.set("key", 2, in: xml) }),
        Scenario(
            testDescription: "a removal of the domain", files: [a], prepare: { try $0.set("key", 1, in: a) },
            run: { try $0.commit([DomainEdit(a) { $0.removesFile = true }], reason: .delete) }),
        Scenario(testDescription: "the first of a file by path", files: [byPath]) { try $0.set("key", 1, in: byPath) },
        Scenario(
            testDescription: "a change of a file by path", files: [byPath],
            prepare: { try $0.set("key", 1, in: byPath) }, run: { try $0.set("key", 2, in: byPath) }),
        Scenario(
            testDescription: "a change through a link", files: [linked],
            prepare: { system in
                try system.fileSystem.makeFolders(linked.path.parent)
                try #require(system.fileSystem as? SimulatedFileSystem)
                    .makeSymbolicLink(linked.path, to: "/home/ada/dotfiles.plist")
                try system.set("key", 1, in: linked)
            }, run: { try $0.set("key", 2, in: linked) }),
        Scenario(
            testDescription: "a change of a damaged domain", files: [a],
            prepare: { system in
                try system.set("key", 1, in: a)
                try system.scribble([1, 2, 3], to: a.path)
            }, run: { try $0.set("key", 2, in: a) }),
        Scenario(
            testDescription: "a transaction over three domains", files: [a, b, xml],
            prepare: { system in
                for file in [a, b] { try system.set("key", 1, in: file) }
            }, run: { try $0.commit([a, b, xml].map { DomainEdit($0) { $0.values["key"] = 2 } }) }),
        Scenario(
            testDescription: "a transaction over two folders", files: [a, byHost],
            prepare: { system in
                for file in [a, byHost] { try system.set("key", 1, in: file) }
            }, run: { try $0.commit([a, byHost].map { DomainEdit($0) { $0.values["key"] = 2 } }) }),
        Scenario(
            testDescription: "a transaction that removes a domain", files: [a, b],
            prepare: { system in
                for file in [a, b] { try system.set("key", 1, in: file) }
            },
            run: {
                try $0.commit([
                    DomainEdit(a) { $0.removesFile = true }, DomainEdit(b) { $0.values["key"] = 2 },
                ])
            }),
        Scenario(testDescription: "the first of a folder", files: [a]) { try $0.makeFolder(a, .numbered(1)) },
        Scenario(
            testDescription: "a change of one file in a folder", files: [a],
            prepare: { try $0.makeFolder(a, .numbered(1)) }, run: { try $0.set("key1", "text", in: a) }),
        Scenario(
            testDescription: "a change of all files in a folder", files: [a],
            prepare: { try $0.makeFolder(a, .numbered(1)) },
            run: { try $0.commit([DomainEdit(a) { $0.values = .numbered(2, count: 4) }]) }),
        Scenario(
            testDescription: "a removal of a folder", files: [a], prepare: { try $0.makeFolder(a, .numbered(1)) },
            run: { try $0.commit([DomainEdit(a) { $0.removesFile = true }], reason: .delete) }),
        Scenario(
            testDescription: "a conversion to a folder", files: [a], prepare: { try $0.set("key", 1, in: a) },
            run: { try $0.makeFolder(a, .numbered(2)) }),
        Scenario(
            testDescription: "a conversion from a folder", files: [a],
            prepare: { try $0.makeFolder(a, .numbered(1)) },
            run: {
                try $0.commit([
                    DomainEdit(a) { draft in
                        draft.form = .file(.binary)
                        draft.values["key"] = 2
                    }
                ])
            }),
        Scenario(
            testDescription: "a change of a damaged folder", files: [a],
            prepare: { system in
                try system.makeFolder(a, .numbered(1))
                try system.scribble([1, 2, 3], to: #require(a.folder).appending("key1.plist"))
            }, run: { try $0.set("key2", 2, in: a) }),
        Scenario(
            testDescription: "a transaction over a folder and a file", files: [a, b],
            prepare: { system in
                try system.makeFolder(a, .numbered(1))
                try system.set("key", 1, in: b)
            }, run: { try $0.commit([a, b].map { DomainEdit($0) { $0.values["key1"] = 2 } }) }),
    ]

    static let effects: [Fault.Effect] = [
        .fail(.inputOutput), .fail(.noSpace), .tear(keeping: 5, .noSpace), .dieBefore, .dieAfter,
        .dieWithin(keeping: 9),
    ]

    /// The contents of the files, or nil for a missing file. For a damaged file, they are those of the kept version
    /// that replaces it.
    static func state(_ files: [DomainFile], on disk: SimulatedDisk) throws -> [PropertyList.Dictionary?] {
        let reader = StoreBench.process(on: disk)
        return try files.map { file in
            let contents = try file.contents(on: reader)
            return contents.exists ? contents.values : nil
        }
    }

    @Test(arguments: scenarios)
    func `leaves the old values or the new ones, in all files alike`(_ scenario: Scenario) throws {
        let bench = try StoreBench()
        try scenario.prepare(bench.process())
        bench.simulated.disk.synchronize()
        let old = try Self.state(scenario.files, on: bench.simulated.disk.copy())
        let flawless = bench.simulated.disk.copy()
        try scenario.run(StoreBench.process(on: flawless))
        let new = try Self.state(scenario.files, on: flawless)
        #expect(old != new)
        for effect in Self.effects {
            let last = try Extent.operations(every: 13, stream: "\(scenario.testDescription) \(effect)").first {
                number in
                try !Self.interrupt(scenario, effect, at: number, bench.simulated.disk.copy(), old, new)
            }
            #expect(try #require(last) > 10, "the fault met hardly any operation")
        }
    }

    /// What may happen to the disk afterwards: nothing, or a power loss.
    private static func ways(_ number: Int) -> [SimulatedDisk.Survivors?] {
        [nil, SimulatedDisk.Survivors.none, .all, .some(Seed.ofThisRun.number &+ UInt64(number))]
    }

    /// Returns whether the operation was reached.
    private static func interrupt(
        _ scenario: Scenario, _ effect: Fault.Effect, at number: Int, _ disk: SimulatedDisk,
        _ old: [PropertyList.Dictionary?], _ new: [PropertyList.Dictionary?]
    ) throws -> Bool {
        let system = StoreBench.process(on: disk, FaultPlan(effect, at: number))
        let files = try #require(system.fileSystem as? SimulatedFileSystem)
        let isDone = (try? scenario.run(system)) != nil
        let wasHit = files.hits > 0
        files.kill()
        let place = "\(scenario.testDescription): \(effect) at \(number), \(Seed.ofThisRun)"
        for survivors in ways(number) {
            let after = disk.copy()
            if let survivors { after.crash(survivors) }
            let found = try state(scenario.files, on: after)
            #expect(isDone ? found == new : found == old || found == new, "\(place), \(String(describing: survivors))")
            // In every case, the next writer continues from that state.
            let next = StoreBench.process(on: after)
            for file in scenario.files { try next.set("later", true, in: file) }
            for (file, value) in zip(scenario.files, found) {
                var expected = value ?? [:]
                expected["later"] = true
                let contents = try file.contents(on: next)
                #expect(contents.values == expected && contents.recovery == nil, "\(place), later")
            }
        }
        return wasHit
    }

    @Test(arguments: scenarios)
    func `leaves nothing half written beside the file when it fails`(_ scenario: Scenario) throws {
        let bench = try StoreBench()
        try scenario.prepare(bench.process())
        var number = 0
        var wasHit = true
        while wasHit {
            number += 1
            let disk = bench.simulated.disk.copy()
            let system = StoreBench.process(on: disk, FaultPlan(.fail(.noSpace), at: number))
            _ = try? scenario.run(system)
            wasHit = (system.fileSystem as? SimulatedFileSystem)?.hits ?? 0 > 0
            // Files that a committed transaction still needs are removed when it is complete.
            let reader = StoreBench.process(on: disk)
            for file in scenario.files { file.finishTransactions(on: reader) }
            for folder in Set(scenario.files.flatMap { [$0.path.parent, $0.folder ?? $0.path.parent] }) + ["/home/ada"]
            {
                let left = try (disk.process().names(in: folder) ?? []).filter(\.isTemporary)
                #expect(left.isEmpty, "at \(number) in \(folder)")
            }
        }
    }

    @Test func `is completed by a program that only opens one of its domains`() throws {
        let bench = try StoreBench()
        let scenario = try #require(Self.scenarios.first { $0.testDescription == "a transaction over three domains" })
        var number = 0
        var wasHit = true
        while wasHit {
            number += 1
            let disk = bench.simulated.disk.copy()
            let system = StoreBench.process(on: disk, FaultPlan(.dieBefore, at: number))
            _ = try? scenario.run(system)
            let files = try #require(system.fileSystem as? SimulatedFileSystem)
            wasHit = files.hits > 0
            files.kill()
            let store = Store(.native, on: StoreBench.process(on: disk))
            let names: [DomainName] = ["com.example.xml", "com.example.b", "com.example.a"]
            let values = names.map { Defaults($0, in: store).integer(forKey: "key") }
            #expect(Set(values).count == 1, "at \(number): \(values)")
        }
    }

    /// The values in all files, as another process sees them, show whether the write was made.
    @Test(arguments: scenarios) func `states whether it was made`(_ scenario: Scenario) throws {
        let bench = try StoreBench()
        try scenario.prepare(bench.process())
        let old = try Self.state(scenario.files, on: bench.simulated.disk.copy())
        var (number, wasHit) = (0, true)
        while wasHit {
            number += 1
            let disk = bench.simulated.disk.copy()
            let system = StoreBench.process(on: disk, FaultPlan(.fail(.inputOutput), at: number))
            var failure: (any Error)?
            do { try scenario.run(system) } catch { failure = error }
            wasHit = try #require(system.fileSystem as? SimulatedFileSystem).hits > 0
            guard let failure else { continue }
            let text = "\(failure)"
            let isStated = ["wrote /", "removed /", "is committed"].contains { text.contains($0) }
            #expect(try isStated == (Self.state(scenario.files, on: disk) != old), "at \(number): \(text)")
        }
        #expect(number > 10)
    }

    @Test func `states that it was made if only its folder cannot be synced`() throws {
        let bench = try StoreBench()
        // Creates the folders, which are synced too.
        try bench.process().set("key", 0, in: Self.byPath)
        let system = bench.process(FaultPlan([Fault(.fail(.inputOutput), .from(1), of: .synchronizeFolder)]))
        let path = Self.byPath.path
        for attempt: @Sendable () throws -> Void in [
            { try system.set("key", 1, in: Self.byPath) },
            {
                try DomainWriter(system, WriteAuthor(.write, by: system)).replace(
                    Self.byPath, with: [], isSensitive: false)
            },
        ] {
            let failure = #expect(throws: StoreFailure.self) { try attempt() }
            #expect(failure?.description.hasPrefix("wrote \(path), but could not write to disk the folder ") == true)
        }
        #expect(try bench.process().fileSystem.contents(of: path) == [])
    }

    /// A file that cannot be replaced, such as a mount point.
    @Test func `reports that it takes effect once it is committed`() throws {
        let bench = try StoreBench()
        for file in [Self.a, Self.b] { try bench.process().set("key", 1, in: file) }
        var system = bench.process()
        let files = HookedFileSystem(system.fileSystem)
        system.fileSystem = files
        files.fix(Self.b.path)
        let hindered = system
        let attempts: [@Sendable () throws -> Void] = [
            { try hindered.commit([Self.a, Self.b].map { DomainEdit($0) { $0.values["key"] = 2 } }) },
            { try hindered.set("key", 3, in: Self.a) }, { try hindered.set("key", 3, in: Self.b) },
        ]
        for attempt in attempts {
            let failure = #expect(throws: StoreFailure.self) { try attempt() }
            let text = failure?.description ?? ""
            #expect(text.contains("cannot rename \(Self.b.path)") && text.contains("is committed"), "\(text)")
        }
        files.fix(nil)
        try system.set("later", 3, in: Self.a)
        #expect(try Self.a.contents(on: system).values == ["key": 2, "later": 3])
        #expect(try Self.b.contents(on: system).values == ["key": 2])
    }

    @Test(arguments: [SystemFailure.Operation.rename, .synchronize, .write])
    func `names the file that was to be written`(
        _ operation: SystemFailure.Operation
    ) throws {
        let bench = try StoreBench()
        try bench.process().set("key", 1, in: Self.linked)
        let system = bench.process(FaultPlan([Fault(.fail(.inputOutput), .from(1), of: operation)]))
        let failure = #expect(throws: StoreFailure.self) { try system.set("key", 2, in: Self.linked) }
        let text = failure?.description ?? ""
        #expect(text.contains("\(Self.linked.path): ") && !text.contains(".prefs-"), "\(text)")
        #expect(failure?.file == Self.linked.path.description)
    }

    /// A user who can read a file can lock it, but must not prevent its owner from writing it.
    @Test(arguments: ["/home/ada/some.plist", "/home/ada"] as [FilePath])
    func `is not blocked by a reader that has locked the file or its folder`(_ locked: FilePath) throws {
        let bench = try StoreBench()
        try bench.process().set("key", 1, in: Self.byPath)
        let reader = try #require(try bench.simulated.disk.process(user: 0).open(locked, .reading))
        #expect(try reader.lock(.exclusive, patience: .zero))
        try bench.process().set("key", 2, in: Self.byPath)
        #expect(try Self.byPath.contents(on: bench.process()).values == ["key": 2])
        reader.unlock()
    }

    /// Other programs may take no lock. Their writes since the file was read are read again.
    @Test func `of a file by its path loses no concurrent change`() throws {
        let bench = try StoreBench()
        try bench.process().set("key", 1, in: Self.byPath)
        var system = bench.process()
        let hooked = HookedFileSystem(system.fileSystem)
        system.fileSystem = hooked
        let theirs = try Self.byPath.serialized(["theirs": 1], as: .xml)
        hooked.onceOpened(Self.byPath.path) { try? bench.process().scribble(theirs, to: Self.byPath.path) }
        try system.set("key", 2, in: Self.byPath)
        #expect(try Self.byPath.contents(on: bench.process()).values == ["theirs": 1, "key": 2])
    }
}
