import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import Testing

/// The history is as durable as the data: every listed version exists.
@Suite struct `A history after a crash` {
    static let file = StoreBench.file("com.example.editor")

    private func history(_ bench: StoreBench) throws -> History {
        try #require(History(of: Self.file, on: bench.process()))
    }

    private func present(_ system: SystemServices) throws -> DomainState {
        DomainState(try Self.file.contents(on: system))
    }

    /// Returns a store with the versions of three writes.
    private func bench() throws -> StoreBench {
        let bench = try StoreBench()
        for number in 1...3 { try bench.process().set("key", .integer(PropertyList.Integer(number)), in: Self.file) }
        return bench
    }

    /// The damage that a crash can do to a version.
    enum Damage: CaseIterable, Sendable { case empty, cut, otherBytes, otherBytesOfFormerVersion }

    private func damage(_ version: KeptVersion, _ damage: Damage, _ bench: StoreBench) throws {
        let (history, files) = (try history(bench), bench.process().fileSystem)
        let path = try #require(history.path(of: version))
        var bytes = try #require(try files.contents(of: path))
        switch damage {
        case .empty: bytes = []
        case .cut: bytes.removeLast(3)
        case .otherBytes: bytes[bytes.count / 2] ^= 1
        case .otherBytesOfFormerVersion:
            // Its name has no checksum, so only its size is checked.
            var former = version
            former.checksum = nil
            try files.remove(path)
            bytes.removeLast()
            let name = try #require(former.fileName)
            try files.replace(history.folder.appending(name), with: bytes)
            return
        }
        try files.replace(path, with: bytes)
    }

    @Test(arguments: Damage.allCases)
    func `ignores a truncated version, and keeps it again`(_ damage: Damage) throws {
        let bench = try bench()
        let newest = try #require(try history(bench).versions.last)
        try self.damage(newest, damage, bench)
        #expect(try history(bench).versions.last.map { try history(bench).isTruncated($0) } == true)
        try bench.process().set("key", 4, in: Self.file)
        let system = bench.process()
        let back = try #require(try history(bench).back(1, from: present(system)))
        #expect(back.state.values == ["key": 3])
    }

    @Test func `skips a version that a crash has truncated`() throws {
        let bench = try bench()
        try damage(try history(bench).versions[1], .empty, bench)
        let back = try #require(try history(bench).back(1, from: present(bench.process())))
        #expect(back.state.values == ["key": 1])
    }

    @Test func `of a former version of the library is read as before`() throws {
        let bench = try bench()
        let (history, files) = (try history(bench), bench.process().fileSystem)
        for version in history.versions {
            var former = version
            former.checksum = nil
            let (path, name) = (try #require(history.path(of: version)), try #require(former.fileName))
            try files.rename(path, to: history.folder.appending(name))
        }
        #expect(history.versions.map { history.values(of: $0) } == [["key": 1], ["key": 2], ["key": 3]])
        try bench.process().set("key", 4, in: Self.file)
        #expect(history.versions.map(\.sequence) == [1, 2, 3, 4])
    }

    @Test(arguments: [true, false])
    func `has a version that could not be kept at first, which is reported once`(_ isFlushed: Bool) throws {
        let bench = try bench()
        let history = try history(bench)
        let terminal = SimulatedTerminal()
        let system = StoreBench.process(on: bench.simulated.disk, terminal: terminal)
        let defaults = Defaults("com.example.editor", in: Store(.native, on: system))
        let folder = try #require(try bench.process().fileSystem.open(history.folder, .reading))
        if isFlushed {
            defaults.set(4, forKey: "key")
            try defaults.flush()
            try folder.setPermissions(FilePermissions(rawValue: 0o300))
        } else {
            try folder.setPermissions(FilePermissions(rawValue: 0o300))
            try defaults.transaction { $0["key"] = 4 }
        }
        bench.simulated.clock.advance(by: .seconds(2))
        try folder.setPermissions(.privateFolder)
        try defaults.transaction { $0["key"] = 5 }
        #expect(history.versions.suffix(3).map { history.values(of: $0) } == [["key": 3], ["key": 4], ["key": 5]])
        let report = "com.example.editor: written, but a version could not be kept in \(history.folder)\n"
        #expect(terminal.text(of: .errors).components(separatedBy: report).count == 2, "\(terminal.text(of: .errors))")
    }

    @Test func `that cannot be listed is not empty`() throws {
        let bench = try bench()
        let history = try history(bench)
        let folder = try #require(try bench.process().fileSystem.open(history.folder, .reading))
        try folder.setPermissions(FilePermissions(rawValue: 0o300))
        let outcome = try #require(try bench.process().set("key", 4, in: Self.file))
        #expect(outcome.unwritableHistory == history.folder && outcome.losesFormer)
        #expect(throws: SystemFailure.self) { try history.listed() }
        var edit = DomainEdit(Self.file) { $0.values["key"] = 5 }
        edit.requiresFormer = true
        let failure = #expect(throws: StoreFailure.self) { try bench.process().commit([edit]) }
        #expect(failure?.problem == .notKept(folder: history.folder.description))
        try folder.setPermissions(.privateFolder)
        // The version numbers continue, and the values written meanwhile are kept.
        try bench.process().set("key", 6, in: Self.file)
        #expect(history.versions.map(\.sequence) == [1, 2, 3, 4, 5])
        #expect(history.versions.suffix(2).map { history.values(of: $0) } == [["key": 4], ["key": 6]])
    }

    /// A deletion is killed or fails at each of its operations, and then the domain is created again.
    @Test(arguments: [Fault.Effect.dieBefore, .dieAfter, .fail(.inputOutput)])
    func `records a deletion that was interrupted`(_ effect: Fault.Effect) throws {
        let bench = try bench()
        bench.simulated.disk.synchronize()
        var (number, wasHit) = (0, true)
        while wasHit {
            number += 1
            let disk = bench.simulated.disk.copy()
            let system = StoreBench.process(on: disk, FaultPlan(effect, at: number))
            let files = try #require(system.fileSystem as? SimulatedFileSystem)
            _ = try? system.commit([DomainEdit(Self.file) { $0.removesFile = true }], reason: .delete)
            wasHit = files.hits > 0
            files.kill()
            let next = StoreBench.process(on: disk)
            let isGone = try !Self.file.contents(on: next).exists
            try next.set("new", 1, in: Self.file)
            let history = try #require(History(of: Self.file, on: next))
            let back = try #require(try history.back(1, from: present(next)), "at \(number)")
            #expect(
                back.state == (isGone ? .absent : DomainState(values: ["key": 3], form: .file(.binary))), "at \(number)"
            )
        }
        #expect(number > 10)
    }

    /// A power loss right after a change removes nothing that exists only in the history.
    @Test(arguments: [true, false])
    func `has the replaced contents after a power failure`(_ removes: Bool) throws {
        let bench = try bench()
        // Somebody has edited the file by hand.
        try bench.process().scribble(Self.file.serialized(["by hand": 1], as: .binary), to: Self.file.path)
        var edit = DomainEdit(Self.file) { draft in
            draft.removesFile = removes
            draft.values = removes ? [:] : ["key": 1]
        }
        edit.requiresFormer = true
        try bench.process().commit([edit], reason: removes ? .delete : .undo(to: 1))
        bench.simulated.disk.crash(.none)
        let history = try #require(History(of: Self.file, on: bench.process()))
        #expect(history.versions.contains { history.values(of: $0) == ["by hand": 1] })
    }

    @Test func `has no temporary file of a dead writer after the next write`() throws {
        let bench = try bench()
        bench.simulated.disk.synchronize()
        var (number, wasHit, found) = (0, true, 0)
        while wasHit {
            number += 1
            let disk = bench.simulated.disk.copy()
            let system = StoreBench.process(on: disk, FaultPlan(.dieAfter, at: number))
            let files = try #require(system.fileSystem as? SimulatedFileSystem)
            _ = try? system.set("key", 4, in: Self.file)
            wasHit = files.hits > 0
            files.kill()
            let next = StoreBench.process(on: disk)
            func left() throws -> Int {
                let folders = [StoreBench.folder, StoreBench.history.resolving("com.example.editor")]
                return try folders.reduce(0) { count, folder in
                    try count + (next.fileSystem.names(in: folder) ?? []).count(where: \.isTemporary)
                }
            }
            if try left() > 0 { found += 1 }
            try next.set("later", 1, in: Self.file)
            #expect(try left() == 0, "at \(number)")
        }
        #expect(found > 2)
    }
}
