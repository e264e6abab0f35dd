import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// Files that other users and programs write too.
@Suite struct `A shared file` {
    static let file = StoreBench.file("com.example.editor")
    static let other = StoreBench.file("com.example.other")

    /// A process of another user, who may be in the file's group.
    private func process(_ bench: StoreBench, user: UInt32, groups: Set<UInt32> = []) -> SystemServices {
        var system = bench.process()
        system.fileSystem = bench.simulated.disk.process(user: user, groups: groups)
        system.environment.user = user
        return system
    }

    @Test(arguments: [(Set([50 as UInt32]), 50 as UInt32, 0o660 as UInt16), (Set(), 1001, 0o600)])
    func `stays open to its group, if the writer is in it`(
        _ groups: Set<UInt32>, _ group: UInt32, _ permissions: UInt16
    ) throws {
        let bench = try StoreBench()
        let place: FilePath = "/tmp/shared.plist"
        let shared = StoreBench.store.file(at: place, name: "shared.plist", newFormat: .xml)
        let root = bench.simulated.disk.process()
        try root.replace(place, with: shared.serialized(["a": 1], as: .xml))
        let opening = try #require(try root.open(place, .reading))
        // A user outside the group has access through the permissions for others.
        try opening.setPermissions(FilePermissions(rawValue: groups.isEmpty ? 0o666 : 0o660))
        try opening.setOwner(1000, group: 50)
        let bob = process(bench, user: 1001, groups: groups)
        try bob.fileSystem.replace(
            place, with: shared.serialized(["a": 2], as: .xml), like: bob.fileSystem.status(of: place))
        let status = try #require(try root.status(of: place))
        #expect(status.owner == 1001 && status.group == group)
        #expect(status.permissions.rawValue & 0o770 == permissions)
        if !groups.isEmpty { #expect(try process(bench, user: 1000, groups: [50]).fileSystem.text(place) != nil) }
    }

    /// Even root does not complete another user's recorded transaction. It reads the new values, and writes nothing.
    @Test func `whose owner died in a transaction waits for that user`() throws {
        let bench = try StoreBench()
        var wasHit = true
        var (number, refusals) = (0, 0)
        for file in [Self.file, Self.other] { try bench.process().set("key", 1, in: file) }
        bench.simulated.disk.synchronize()
        while wasHit {
            number += 1
            let branch = bench.simulated.disk.copy()
            let dying = StoreBench.process(on: branch, FaultPlan([Fault(.dieBefore, .once(number), of: .rename)]))
            let simulated = try #require(dying.fileSystem as? SimulatedFileSystem)
            _ = try? dying.commit([Self.file, Self.other].map { DomainEdit($0) { $0.values["key"] = 2 } })
            wasHit = simulated.hits > 0
            simulated.kill()
            var administrator = StoreBench.process(on: branch)
            administrator.fileSystem = branch.process(user: 0)
            administrator.environment.user = 0
            let isPending = StoreBench.store.recordOfAnotherUser(on: administrator) != nil
            for file in [Self.file, Self.other] where isPending {
                #expect(try file.contents(on: administrator).values == ["key": 2], "at \(number)")
                #expect(try file.value(at: ["key"], on: administrator).value == 2, "at \(number)")
            }
            if isPending {
                refusals += 1
                let failure = #expect(throws: StoreFailure.self) { try administrator.set("key", 3, in: Self.file) }
                #expect(failure?.description.contains("another user") == true, "at \(number)")
            }
            let user = StoreBench.process(on: branch)
            for file in [Self.file, Self.other] { try user.set("later", 1, in: file) }
            let values = try [Self.file, Self.other].map { try $0.contents(on: user).values["key"] }
            #expect(values[0] == values[1], "at \(number)")
            #expect(StoreBench.store.recordOfAnotherUser(on: administrator) == nil, "at \(number)")
            let left = try user.fileSystem.names(in: StoreBench.folder)?.filter(\.isTemporary)
            #expect(left == [], "at \(number)")
        }
        #expect(number > 3 && refusals > 1)
    }

    @Test func `that replaced ours right after the rename is not taken as ours`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        var system = bench.process()
        let hooked = HookedFileSystem(system.fileSystem)
        system.fileSystem = hooked
        let theirs = try Self.file.serialized(["theirs": 1], as: .binary)
        hooked.onceRenamed(Self.file.path) { try? bench.process().scribble(theirs, to: Self.file.path) }
        let outcome = try #require(try system.set("a", 2, in: Self.file))
        #expect(outcome.after.generation != (try Self.file.contents(on: bench.process()).generation))
        try system.commit([DomainEdit(Self.file, known: outcome.after) { $0.values["b"] = 3 }])
        #expect(try Self.file.contents(on: bench.process()).values == ["theirs": 1, "b": 3])
    }

    @Test(arguments: [false, true])
    func `is on the disk once a repeated write succeeds`(_ isLarge: Bool) throws {
        let bench = try StoreBench()
        var policy = HistoryPolicy()
        if isLarge { policy.mostCopiedBytes = 10 }
        for number in 1...2 {
            try bench.process().commit(
                [DomainEdit(Self.file) { $0.values["a"] = .integer(.init(number)) }], policy: policy)
        }
        bench.simulated.disk.synchronize()
        let edit = DomainEdit(Self.file) { $0.values["a"] = 3 }
        let failing = FaultPlan([Fault(.fail(.inputOutput), .from(1), of: .synchronizeFolder)])
        #expect(throws: StoreFailure.self) { try bench.process(failing).commit([edit], policy: policy) }
        #expect(try Self.file.contents(on: bench.process()).values == ["a": 3])
        let again = bench.process()
        try again.commit([edit], policy: policy)
        guard !isLarge else {
            // A large domain has no version that confirms the write, so the domain is not rewritten each time.
            let operations = try #require(again.fileSystem as? SimulatedFileSystem).operations.map(\.operation)
            #expect(operations.suffix(2) == [.synchronize, .synchronizeFolder])
            return
        }
        let crashed = bench.simulated.disk.copy()
        crashed.crash(.none)
        #expect(try Self.file.contents(on: StoreBench.process(on: crashed)).values == ["a": 3])
    }
}

extension FileSystem {
    fileprivate func text(_ path: FilePath) throws -> String? {
        try contents(of: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
