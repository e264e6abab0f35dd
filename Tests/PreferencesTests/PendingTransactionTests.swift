import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// Once a change of several files is committed, its new values are read, whether or not the reader can complete it.
@Suite struct `A committed change whose writer was killed` {
    typealias Scenario = `A write that is interrupted`.Scenario

    static let scenarios = `A write that is interrupted`.scenarios.filter { scenario in
        let isOfOneFile = scenario.testDescription == "a change of one file in a folder"
        return !isOfOneFile && ["transaction", "folder"].contains { scenario.testDescription.contains($0) }
    }
    static let records = StoreBench.folder.appending(".transactions")

    /// The disk after the writer was killed at each of its operations after the commit.
    private static func pending(
        _ scenario: Scenario
    ) throws -> (new: [PropertyList.Dictionary?], disks: [SimulatedDisk]) {
        let bench = try StoreBench()
        try scenario.prepare(bench.process())
        bench.simulated.disk.synchronize()
        let flawless = bench.simulated.disk.copy()
        try scenario.run(StoreBench.process(on: flawless))
        var (disks, number, wasHit) = ([SimulatedDisk](), 0, true)
        while wasHit {
            number += 1
            let disk = bench.simulated.disk.copy()
            let writer = StoreBench.process(on: disk, FaultPlan(.dieBefore, at: number))
            _ = try? scenario.run(writer)
            let files = try #require(writer.fileSystem as? SimulatedFileSystem)
            wasHit = files.hits > 0
            files.kill()
            if try record(on: disk) != nil { disks.append(disk) }
        }
        return (try `A write that is interrupted`.state(scenario.files, on: flawless), disks)
    }

    private static func record(on disk: SimulatedDisk) throws -> FilePath? {
        try disk.process().names(in: records)?.first { !$0.isTemporary }.map(records.appending)
    }

    private static func values(_ files: [DomainFile], _ reader: SystemServices) throws -> [PropertyList.Dictionary?] {
        try files.map { file in
            let contents = try file.contents(on: reader)
            #expect(try (file.status(on: reader) != nil) == contents.exists)
            for entry in contents.values {
                #expect(try file.value(at: EntryPath([.init(entry.key)]), on: reader).value == entry.value)
            }
            return contents.exists ? contents.values : nil
        }
    }

    /// What prevents a reader from completing the change.
    static let hindrances: [(String, FaultPlan)] = [
        (
            "a file system that became read-only",
            FaultPlan(
                [.rename, .remove, .makeFolder, .write, .lock, .exchange].map {
                    Fault(.fail(.readOnly), .from(1), of: $0)
                })
        ),
        ("renames that fail", FaultPlan([Fault(.fail(.inputOutput), .from(1), of: .rename)])),
        ("the second rename fails", FaultPlan([Fault(.fail(.inputOutput), .from(2), of: .rename)])),
        ("removals that fail", FaultPlan([Fault(.fail(.notPermitted), .from(1), of: .remove)])),
        ("locks that fail", FaultPlan([Fault(.fail(.notImplemented), .from(1), of: .lock)])),
    ]

    @Test(arguments: scenarios, hindrances.indices)
    func `is read as a whole if it cannot be completed`(_ scenario: Scenario, _ hindrance: Int) throws {
        let (name, plan) = Self.hindrances[hindrance]
        let (new, disks) = try Self.pending(scenario)
        #expect(disks.count > 2)
        for (number, disk) in disks.enumerated() {
            let reader = StoreBench.process(on: disk.copy(), plan)
            #expect(try Self.values(scenario.files, reader) == new, "\(name), \(number)")
        }
    }

    @Test(arguments: scenarios)
    func `is read while another process holds the locks`(_ scenario: Scenario) throws {
        let (new, disks) = try Self.pending(scenario)
        for disk in disks {
            let holder = disk.process()
            let locks = try scenario.files.compactMap { file -> (any OpenFile)? in
                guard case .file(let path) = file.lock, let lock = try holder.open(path, .writing) else { return nil }
                return try lock.lock(.exclusive, patience: .zero) ? lock : nil
            }
            let start = disk.clock.now
            #expect(try Self.values(scenario.files, StoreBench.process(on: disk)) == new)
            #expect(disk.clock.now == start, "the reader waited")
            for lock in locks { lock.unlock() }
            #expect(try Self.values(scenario.files, StoreBench.process(on: disk)) == new)
            #expect(try Self.record(on: disk) == nil)
        }
    }

    @Test(arguments: scenarios)
    func `is read by root, who does not complete it`(_ scenario: Scenario) throws {
        let (new, disks) = try Self.pending(scenario)
        for disk in disks {
            var root = StoreBench.process(on: disk)
            root.fileSystem = disk.process(user: 0)
            root.environment.user = 0
            #expect(try Self.values(scenario.files, root) == new)
            #expect(try Self.record(on: disk) != nil)
        }
    }

    /// Each operation of the reader fails in turn.
    @Test(
        arguments: scenarios, [.fail(.inputOutput), .fail(.accessDenied), .fail(.tooManyOpenFiles)] as [Fault.Effect])
    func `is never read with an old value`(_ scenario: Scenario, _ effect: Fault.Effect) throws {
        let (new, disks) = try Self.pending(scenario)
        var random = SeededGenerator(stream: "\(scenario.testDescription) \(effect)")
        let disk = try #require(disks.randomElement(using: &random))
        for file in scenario.files.indices {
            var (number, wasHit) = (0, true)
            while wasHit {
                number += 1
                let branch = disk.copy()
                let reader = StoreBench.process(on: branch, FaultPlan(effect, at: number))
                let found = try? scenario.files[file].contents(on: reader)
                wasHit = (reader.fileSystem as? SimulatedFileSystem)?.hits ?? 0 > 0
                if let found {
                    let place = "\(effect) at \(number), \(Seed.ofThisRun)"
                    #expect((found.exists ? found.values : nil) == new[file], "\(place)")
                }
                #expect(try Self.values(scenario.files, StoreBench.process(on: branch)) == new)
            }
        }
    }

    /// What makes a record unbelievable. Files that it names are an error with its path.
    static let forgeries: [(String, @Sendable (SimulatedDisk, FilePath, FilePath) throws -> Void)] = [
        (
            "a record of another user",
            { disk, record, _ in
                try disk.process().open(record, .reading)?.setOwner(1001, group: 1001)
            }
        ),
        (
            "a new file of another user",
            { disk, _, temporary in
                try disk.process().open(temporary, .reading)?.setOwner(1001, group: 1001)
            }
        ),
        ("a missing new file", { disk, _, temporary in try disk.process().remove(temporary) }),
        (
            "a missing new file in a store from a backup, where the old file has its inode number",
            { disk, _, temporary in
                let (files, path) = (disk.process(), `A write that is interrupted`.a.path)
                let bytes = try files.contents(of: path, limit: 4096)
                let former = try #require(try files.status(of: path))
                let number = try files.status(of: temporary, followingLink: false)?.inode
                try files.remove(temporary)
                disk.limitations = [.reusesInodes, .coarseTimes]
                disk.clock.setWall(former.modified)
                try files.replace(path, with: #require(bytes))
                try files.open(path, .reading)?.setOwner(former.owner, group: former.group)
                let restored = try files.status(of: path)
                #expect(restored?.inode == number && restored?.modified == former.modified)
            }
        ),
        (
            "a new file that is a link",
            { disk, _, temporary in
                try disk.process().remove(temporary)
                try disk.process().makeSymbolicLink(temporary, to: "/home/ada/other")
            }
        ),
        (
            "a record with two names",
            { disk, record, _ in
                try disk.process().link(record, to: "/home/ada/record")
            }
        ),
        ("a damaged record", { disk, record, _ in try disk.process().open(record, .writing)?.truncate(to: 20) }),
        ("an empty record", { disk, record, _ in try disk.process().open(record, .writing)?.truncate(to: 0) }),
        (
            "a folder that others can write",
            { disk, record, _ in
                try disk.process().open(record.parent, .reading)?.setPermissions(FilePermissions(rawValue: 0o777))
            }
        ),
    ]

    @Test(arguments: forgeries.indices)
    func `is an error if its record cannot be believed`(_ forgery: Int) throws {
        let (name, forge) = Self.forgeries[forgery]
        let scenario = try #require(Self.scenarios.first { $0.testDescription == "a transaction over three domains" })
        let disk = try #require(try Self.pending(scenario).disks.first)
        let record = try #require(try Self.record(on: disk))
        let file = `A write that is interrupted`.a
        let temporaries = try disk.process().names(in: StoreBench.folder)?.filter(\.isTemporary) ?? []
        let temporary = try #require(
            temporaries.first { name in file.path.lastComponent.map(name.isTemporary) ?? false })
        try forge(disk, record, StoreBench.folder.appending(temporary))
        for user: UInt32 in [1000, 0] {
            var reader = StoreBench.process(on: disk)
            reader.fileSystem = disk.process(user: user)
            reader.environment.user = user
            for read: (SystemServices) throws -> Void in [
                { _ = try file.contents(on: $0) }, { _ = try file.value(at: ["key"], on: $0) },
                { _ = try $0.set("key", 3, in: file) },
            ] {
                let failure = #expect(throws: StoreFailure.self, "\(name), user \(user)") { try read(reader) }
                #expect(
                    failure?.description.contains(user == 0 ? ".transactions" : "\(record)") == true,
                    "\(name), user \(user): \(String(describing: failure))")
            }
        }
    }

    /// The store is the same folder, and its record has the path that the writer used.
    @Test func `is read in a store that was moved`() throws {
        let scenario = try #require(Self.scenarios.first { $0.testDescription == "a transaction over three domains" })
        let (new, disks) = try Self.pending(scenario)
        for disk in disks {
            try disk.process().rename(StoreBench.folder, to: "/home/ada/moved")
            let moved = StoreFolder(
                "/home/ada/moved", .own, history: StoreBench.history, coordination: "/home/ada/moved")
            let files = ["com.example.a", "com.example.b", "com.example.xml"].map { moved.file(of: $0) }
            #expect(try Self.values(files, StoreBench.process(on: disk)) == new)
        }
    }

    /// A file of another program, and the files of other domains, are not a part of the change.
    @Test func `leaves other files and later ones as they are`() throws {
        let scenario = try #require(Self.scenarios.first { $0.testDescription == "a transaction over three domains" })
        let disk = try #require(try Self.pending(scenario).disks.first)
        let reader = StoreBench.process(on: disk, FaultPlan([Fault(.fail(.readOnly), .from(1), of: .rename)]))
        let file = `A write that is interrupted`.b
        disk.clock.advance(by: .seconds(1))
        try StoreBench.process(on: disk).scribble(try file.serialized(["theirs": 1], as: .xml), to: file.path)
        #expect(try file.contents(on: reader).values == ["theirs": 1])
        #expect(try `A write that is interrupted`.a.contents(on: reader).values == ["key": 2])
        #expect(try file.contents(on: StoreBench.process(on: disk)).values == ["theirs": 1])
        #expect(try disk.process().names(in: StoreBench.folder)?.contains(where: \.isTemporary) == false)
    }

    /// Killed writers of any domains leave temporary files, which the next write of one domain removes.
    @Test func `leaves no temporary file after a write of another domain`() throws {
        let bench = try StoreBench()
        for scenario in `A write that is interrupted`.scenarios where scenario.files.allSatisfy(\.isOfDomain) {
            for number in stride(from: 1, through: 40, by: 3) {
                let system = bench.process(FaultPlan(.dieBefore, at: number))
                _ = try? scenario.run(system)
                try #require(system.fileSystem as? SimulatedFileSystem).kill()
            }
        }
        let folders = [StoreBench.folder, StoreBench.folder.appending("ByHost"), Self.records]
        func left() throws -> [FileName] {
            try folders.flatMap { try bench.process().fileSystem.names(in: $0) ?? [] }.filter(\.isTemporary)
        }
        try bench.process().set("key", 1, in: StoreBench.file("com.example.unrelated"))
        #expect(try left() == [])
    }
}
