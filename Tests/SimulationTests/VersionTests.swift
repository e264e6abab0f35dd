import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@testable import Simulation

/// A host with an old version, and one that also writes files of a newer version.
@Suite struct `An old version beside a new one` {
    /// The new host has published `a` and `c`, which both versions understand, and `b`, which only the new one does.
    private func pair() throws -> (bench: Bench, old: SimulatedHost, new: SimulatedHost, held: PackAddress) {
        let bench = Bench { $0.leastLogs = 100 }
        let (old, new) = (bench.host("old"), bench.host("new"))
        old.downgrade()
        bench.comeToRest()
        var held: PackAddress?
        for key in ["a", "b", "c"] {
            let before = Set(new.view.keys)
            new.set(key, to: .string(key))
            new.publishNow()
            guard key == "b" else { continue }
            held = Set(new.view.keys).subtracting(before).first
            if let held { bench.world.makeNew(held) }
        }
        bench.settle()
        return (bench, old, new, try #require(held))
    }

    @Test func `continues with the files that it understands, and reports the others once`() throws {
        let (bench, old, new, held) = try pair()
        bench.comeToRest()
        #expect(old.value("a") == "a" && old.value("b") == nil)
        // Changes that follow the unreadable one wait for it.
        bench.world.pass(601)
        old.set("d", to: "of the old")
        bench.comeToRest()
        #expect(old.value("c") == "c" && old.value("b") == nil && new.value("d") == "of the old")
        #expect(old.reports.count { $0 == .tooNew(held) } == 1)
        #expect(old.engine.status.knowledge[new.durable.writer] == held.name.number - 1)
        for _ in 0..<3 { bench.comeToRest() }
        old.actionCount = 0
        old.sync()
        #expect(old.actionCount == 0, "it is not read again and again")
    }

    @Test func `catches up once it is new`() throws {
        let (bench, old, new, _) = try pair()
        bench.world.pass(601)
        bench.comeToRest()
        old.upgrade()
        bench.comeToRest()
        #expect(old.value("b") == "b" && bench.isSound)
        #expect(old.engine.status.shared == new.engine.status.shared)
    }

    @Test func `catches up by a base, where the logs are gone by then`() throws {
        let (bench, old, new, held) = try pair()
        new.sync(compacts: true)
        for address in new.view.keys where address.writer == new.durable.writer && address.name.kind == .base {
            bench.world.makeNew(address)
        }
        bench.comeToRest()
        bench.world.pass(90_000)
        bench.comeToRest()
        #expect(!new.view.keys.contains(held) && old.value("a") == "a" && old.value("b") == nil)
        old.upgrade()
        bench.comeToRest()
        #expect(old.value("b") == "b" && old.value("c") == "c" && bench.isSound)
    }

    @Test func `compacts, and a joiner lacks nothing of either`() throws {
        let (bench, old, _, _) = try pair()
        bench.world.pass(601)
        bench.comeToRest()
        old.set("d", to: "of the old")
        for _ in 0..<2 {
            old.sync(compacts: true)
            bench.world.pass(90_000)
            bench.comeToRest()
        }
        let joiner = bench.host("joiner")
        bench.comeToRest()
        #expect(["a", "b", "c", "d"].map { joiner.value($0) } == ["a", "b", "c", "of the old"])
        old.upgrade()
        bench.comeToRest()
        #expect(bench.isSound)
    }

    /// An old version cannot publish writes that it does not understand, so it keeps the folder.
    @Test func `purges no folder with fields that it does not know`() throws {
        let (bench, old, new, held) = try pair()
        let writer = new.durable.writer
        bench.comeToRest()
        bench.world.hosts.removeAll { $0 === new }
        old.command(.purge(writer))
        bench.comeToRest()
        #expect(old.files(of: writer).contains(held) && old.reports.last == .tooNew(held))
        old.upgrade()
        bench.comeToRest()
        old.command(.purge(writer))
        bench.comeToRest()
        #expect(old.files(of: writer).isEmpty)
        let joiner = bench.host("joiner")
        bench.comeToRest()
        #expect(["a", "b", "c"].map { joiner.value($0) } == ["a", "b", "c"] && bench.isSound)
    }

    /// A purge also joins logs that wait for their predecessor.
    @Test func `purges a folder whose files only wait`() {
        let bench = Bench()
        let (near, far, logs) = bench.hostsWithTwoLogs()
        near.view[logs[0]] = nil
        near.pullNow()
        #expect(near.value("b") == nil)
        bench.world.hosts.removeAll { $0 === far }
        near.command(.purge(far.durable.writer))
        bench.comeToRest()
        let joiner = bench.host("joiner")
        bench.comeToRest()
        #expect(near.files(of: far.durable.writer).isEmpty && joiner.value("b") == "b" && near.value("b") == "b")
    }

    /// A copy of this state that was upgraded first has published a change in our folder.
    @Test func `takes another number if its new copy has published unknown fields`() throws {
        let bench = Bench()
        let (old, peer) = (bench.host("old"), bench.host("peer"))
        old.downgrade()
        bench.comeToRest()
        let clone = bench.clone(old, "clone")
        let (former, before) = (old.durable.writer, Set(clone.view.keys))
        clone.set("a", to: "of the copy")
        clone.publishNow()
        let said = try #require(Set(clone.view.keys).subtracting(before).first)
        bench.world.makeNew(said)
        bench.settle()
        old.set("b", to: "of the old")
        bench.comeToRest()
        #expect(old.durable.writer != former && clone.durable.writer == former)
        #expect(peer.value("a") == "of the copy" && peer.value("b") == "of the old" && old.value("a") == nil)
        old.upgrade()
        bench.comeToRest()
        #expect(old.value("a") == "of the copy" && bench.isSound)
    }
}
