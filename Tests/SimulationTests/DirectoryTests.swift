import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@testable import Simulation

@Suite struct `The directory` {
    private static let other = MirrorID(high: 9, low: 9)

    @Test(arguments: [
        (Directory.unavailable, DirectoryStatus.unavailable), (.marked([]), .unavailable),
        (.marked([SimulatedHost.mirror, other]), .split), (.marked([other]), .swapped),
    ])
    func `that is invalid is not changed, while local work continues`(
        _ directory: Directory, _ status: DirectoryStatus
    ) throws {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        far.set("a", to: "from afar")
        far.publishNow()
        bench.settle()
        let files = bench.world.files.count
        try near.send(.directory(directory))
        #expect(near.engine.status.directory == status)
        near.edit("b", to: "written meanwhile")
        try near.capture()
        for event in [Event.listed(Listing(folders: [:])), .publish, .compact] { try near.send(event) }
        #expect(near.value("b") == "written meanwhile" && near.engine.status.outbox.count == 1)
        #expect(bench.world.files.count == files && near.files["s"]?.values["a"] == nil)
        bench.comeToRest()
        #expect(bench.isSound && near.files["s"]?.values["a"] == "from afar")
    }

    @Test func `is not changed by a host that has nothing new`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        near.set("a", to: 1)
        far.set("b", to: 2)
        bench.comeToRest()
        for host in [near, far] {
            host.actionCount = 0
            #expect(host.mayRest)
            host.sync()
            #expect(host.actionCount == 0)
        }
        far.edit("b", to: 3)
        #expect(!far.mayRest)
        far.sync()
        bench.settle()
        #expect(!near.mayRest)
    }

    @Test func `that lost our files gets a new base, at most once an hour`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        near.set("a", to: 1)
        bench.comeToRest()
        let lose = {
            for host in [near, far] { host.view = host.view.filter { $0.key.writer != near.durable.writer } }
            near.sync()
        }
        lose()
        #expect(near.files(of: near.durable.writer).map(\.name.kind) == [.base, .note])
        for _ in 0..<3 { lose() }
        #expect(near.reports.count { $0 == .lostFiles } == 1)
        bench.world.pass(3700)
        near.sync()
        bench.comeToRest()
        #expect(near.reports.count { $0 == .lostFiles } == 2)
        #expect(bench.isSound && !near.reports.contains { if case .tookNewNumber = $0 { true } else { false } })
    }

    @Test func `without a folder for a day has its changes kept by others`() {
        let bench = Bench()
        let (gone, stays) = (bench.host("gone"), bench.host("stays"))
        gone.set("a", to: "of one who is gone")
        bench.comeToRest()
        let writer = gone.durable.writer
        bench.world.hosts.removeAll { $0 === gone }
        bench.world.forget(writer)
        for days in 0..<3 {
            stays.view = stays.view.filter { $0.key.writer != writer }
            stays.set("b", to: .integer(.init(days)))
            stays.sync(compacts: true)
            bench.world.pass(86_401)
        }
        let late = bench.host("late")
        bench.comeToRest()
        #expect(stays.reports.contains(.vanished(writer)) && late.value("a") == "of one who is gone")
    }

    @Test func `loses only the folder of a purged host`() {
        let bench = Bench()
        let (gone, stays) = (bench.host("gone"), bench.host("stays"))
        gone.set("a", to: "of one who is gone")
        bench.comeToRest()
        let writer = gone.durable.writer
        bench.world.hosts.removeAll { $0 === gone }
        stays.command(.purge(writer))
        bench.comeToRest()
        // An idle host need not load its state because of it.
        #expect(stays.files(of: writer).isEmpty && stays.mayRest)
        let late = bench.host("late")
        bench.comeToRest()
        #expect(late.value("a") == "of one who is gone" && bench.isSound)
    }

    @Test(arguments: [false, true]) func `loses the folder of a retired host after a day, unless it returns`(
        _ returns: Bool
    ) {
        let bench = Bench()
        let (gone, stays) = (bench.host("gone"), bench.host("stays"))
        gone.set("a", to: "of one who is gone")
        bench.comeToRest()
        let writer = gone.durable.writer
        stays.command(.retire(writer))
        bench.world.hosts.removeAll { $0 === gone }
        bench.world.pass(80_000)
        bench.comeToRest()
        #expect(!stays.files(of: writer).isEmpty && stays.mayRest)
        if returns {
            gone.set("b", to: "of one who returned")
            gone.publishNow()
        }
        bench.world.pass(10_000)
        #expect(!stays.mayRest)
        bench.comeToRest()
        #expect(stays.files(of: writer).isEmpty != returns && stays.mayRest)
        let late = bench.host("late")
        bench.comeToRest()
        #expect(late.value("a") == "of one who is gone" && (late.value("b") != nil) == returns && bench.isSound)
    }

    @Test func `loses the folder of a number a day after a host has published many logs under it`() {
        let bench = Bench { $0.logsOfNumber = 3 }
        let (near, far) = (bench.host("near"), bench.host("far"))
        let former = near.durable.writer
        for number in 0..<4 {
            near.set("a\(number)", to: 1)
            bench.comeToRest()
        }
        let writer = near.durable.writer
        #expect(writer != former && far.value("a3") == 1 && near.mayRest)
        bench.world.pass(86_401)
        bench.comeToRest()
        #expect(near.durable.writer == writer && far.files(of: former).isEmpty && !far.files(of: writer).isEmpty)
        // No user has to decide anything.
        #expect(!far.engine.status.lacksWriters && !far.reports.contains(.vanished(former)) && near.mayRest)
        let late = bench.host("late")
        bench.comeToRest()
        #expect(late.value("a0") == 1 && bench.isSound)
    }

    /// A base that was prepared before a host was purged does not contain that host's writes.
    @Test func `keeps the folder of a purged host until a base contains its values`() {
        let bench = Bench()
        let (gone, stays) = (bench.host("gone"), bench.host("stays"))
        gone.set("a", to: "of one who is gone")
        stays.set("b", to: "of one who stays")
        bench.comeToRest()
        let writer = gone.durable.writer
        bench.world.hosts.removeAll { $0 === gone }
        // The record of the intent is written, but the creation of the base fails.
        stays.fail(2..<3, as: .space)
        stays.attempt { try stays.send(.compact) }
        #expect(stays.durable.intent?.pack.name.kind == .base)
        stays.command(.purge(writer))
        stays.publishNow()
        #expect(stays.files(of: writer).isEmpty)
        let late = bench.host("late")
        bench.comeToRest()
        #expect(late.value("a") == "of one who is gone" && bench.isSound)
    }

    @Test func `keeps the values of a host that leaves`() {
        let bench = Bench()
        let (leaves, stays) = (bench.host("leaves"), bench.host("stays"))
        leaves.set("a", to: "the last word")
        leaves.command(.leave)
        bench.comeToRest()
        let note = stays.durable.peers[leaves.durable.writer]?.note
        #expect(note?.hasLeft == true && note?.label == "host")
        #expect(leaves.engine.status.directory == .left && stays.value("a") == "the last word")
    }

    @Test func `is joined by a host that takes another number, with its unpublished changes`() {
        let bench = Bench()
        let (origin, peer) = (bench.host("origin"), bench.host("peer"))
        bench.comeToRest()
        let clone = bench.clone(origin, "clone")
        clone.set("a", to: "of the clone")
        clone.publishNow()
        bench.settle()
        origin.set("b", to: "not said yet")
        let former = origin.durable.writer
        bench.comeToRest()
        #expect(origin.durable.writer != former && origin.durable.formerWriters == [former])
        #expect(bench.isSound && peer.value("a") == "of the clone" && peer.value("b") == "not said yet")
    }

    @Test func `is sufficient to rebuild the state`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        for round in 0..<4 {
            near.set("a\(round)", to: .integer(.init(round)))
            far.set("a\(round)", to: nil)
            far.set("b", to: .integer(.init(round)))
            bench.comeToRest()
        }
        let before = near.durable
        near.command(.rebuild(near.view.keys.sorted().compactMap { bench.world.files[$0] }))
        #expect(near.engine.status.shared == before.shared)
        #expect(bench.isSound)
    }
}

@Suite struct `A host` {
    @Test func `over its quota waits`() {
        let bench = Bench { $0.bytesOfWriter = 2000 }
        let (near, far) = (bench.host("near"), bench.host("far"))
        near.set("a", to: .string(String(repeating: "x", count: 3000)))
        bench.comeToRest()
        #expect(near.reports.contains(.waiting(.quota)) && near.engine.status.outbox.count == 1)
        #expect(near.files["s"]?.values["a"] != nil && far.value("a") == nil)
    }

    @Test func `keeps a faulty file's copy after ten minutes, and reports it once`() throws {
        let bench = Bench()
        let near = bench.host("near")
        bench.comeToRest()
        let address = Bench.addressOfStranger
        near.view[address] = .partial
        for _ in 0..<4 {
            near.sync()
            bench.world.pass(301)
        }
        #expect(near.reports.count { $0 == .quarantined(address, .wrongHash) } == 1)
        #expect(near.engine.status.faulty[address] != nil)
    }

    /// A sync service may damage a file and repair it hours later, with the same name and size.
    @Test(arguments: [301, 3600]) func `joins a file that becomes complete after it was copied`(_ seconds: Int64) throws
    {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        far.set("a", to: "late")
        far.publishNow()
        bench.settle()
        let log = try #require(near.files(of: far.durable.writer).first { $0.name.kind == .log })
        for _ in 0..<4 {
            near.view[log] = .damaged
            near.sync()
            bench.world.pass(seconds)
        }
        #expect(near.reports.contains(.quarantined(log, .wrongHash)) && near.value("a") == nil)
        near.view[log] = .whole
        bench.world.pass(600)
        near.sync()
        #expect(near.value("a") == "late" && bench.isSound)
    }

    @Test func `ignores a file that requires a newer version`() throws {
        let bench = Bench()
        let near = bench.host("near")
        bench.comeToRest()
        let address = Bench.addressOfStranger
        for _ in 0..<3 { try near.send(.fetched([address: .faulty(.newerVersion(2))])) }
        #expect(near.reports.filter { $0 == .tooNew(address) }.count == 1)
    }

    @Test func `joins a log after ten minutes without the previous one, and knows it when that has arrived`() {
        let bench = Bench()
        let (near, far, logs) = bench.hostsWithTwoLogs()
        near.view[logs[0]] = nil
        near.pullNow()
        #expect(near.value("b") == nil)
        bench.world.pass(601)
        near.pullNow()
        #expect(near.value("b") == "b" && near.engine.status.knowledge[far.durable.writer] == 0)
        near.view[logs[0]] = .whole
        near.pullNow()
        #expect(near.value("a") == "a" && near.engine.status.knowledge[far.durable.writer] == 2)
    }

    @Test func `lists each lost value separately, until it is accepted`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        near.save("s") { $0 = ["a": "lost", "b": "lost too"] }
        near.attempt { try near.capture() }
        bench.world.pass(5)
        far.save("s") { $0 = ["a": "won", "b": "won too"] }
        bench.comeToRest()
        let conflicts = near.engine.status.mergeState.conflicts
        #expect(conflicts.map(\.place.key) == ["a", "b"])
        #expect(near.reports.contains { if case .conflict = $0 { true } else { false } })
        near.command(.accept([conflicts[0]]))
        #expect(near.engine.status.mergeState.conflicts.map(\.place.key) == ["b"])
        #expect(near.engine.status.resolved.map(\.value) == [conflicts[0].value])
    }
}
