import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@testable import Simulation

@Suite struct `The participation of a host` {
    @Test func `ends after it is published, and resumes where it left off`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        near.set("a", to: "the last word")
        near.command(.leave)
        bench.comeToRest()
        near.restart()
        near.edit("b", to: "after that")
        bench.comeToRest()
        #expect(near.engine.status.directory == .left && far.value("a") == "the last word" && far.value("b") == nil)
        #expect(far.durable.peers[near.durable.writer]?.note?.hasLeft == true)
        far.set("c", to: "meanwhile")
        near.command(.resume)
        bench.comeToRest()
        #expect(far.durable.peers[near.durable.writer]?.note?.hasLeft == false)
        #expect(bench.isSound && far.value("b") == "after that" && near.value("c") == "meanwhile")
    }

    @Test func `pauses until a user resumes it, even if hosts die meanwhile`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        near.command(.pause)
        near.restart()
        near.edit("a", to: 1)
        bench.comeToRest()
        #expect(near.engine.status.directory == .paused && far.value("a") == nil)
        near.command(.resume)
        bench.comeToRest()
        #expect(far.value("a") == 1 && bench.isSound)
    }

    @Test func `is over when it is forgotten, for a restarted host too`() throws {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        near.command(.detach)
        near.restart()
        near.actionCount = 0
        near.edit("a", to: 1)
        far.set("b", to: 2)
        bench.comeToRest()
        #expect(near.actionCount == 0 && near.files["s"]?.values == ["a": 1] && far.value("a") == nil)
        #expect(near.durable.participation == .detached)
    }

    @Test func `is visible again when a retired host publishes something`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        near.command(.retire(far.durable.writer))
        bench.comeToRest()
        #expect(near.durable.retired.keys.elementsEqual([far.durable.writer]))
        far.set("a", to: 1)
        bench.comeToRest()
        #expect(near.durable.retired.isEmpty)
        let peer = near.durable.peers[far.durable.writer]
        #expect(peer.map { $0.lastStamp > .zero } == true)
    }
}

@Suite struct `The clock of another host` {
    /// A write that replaces a value of the future is stamped after it, although its own clock is right.
    @Test func `is judged by what it gave in the latest log`() throws {
        let bench = Bench()
        let (ahead, right, third) = (bench.host("ahead"), bench.host("right"), bench.host("third"))
        right.set("b", to: 1)
        bench.comeToRest()
        func clock(_ host: SimulatedHost) throws -> UInt64 {
            try #require(third.durable.peers[host.durable.writer]).lastStamp.milliseconds
        }
        let limit = try clock(right) + 500_000_000
        ahead.skew = 1_000_000_000
        ahead.set("a", to: 1)
        bench.comeToRest()
        #expect(try clock(ahead) > limit)
        right.set("a", to: 2)
        bench.comeToRest()
        #expect(try third.value("a") == 2 && clock(right) < limit)
        ahead.skew = 0
        ahead.set("b", to: 3)
        bench.comeToRest()
        #expect(try clock(ahead) < limit)
    }
}

@Suite struct `A file of our own` {
    @Test func `lacks a value that was replaced before it was published`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        near.set("a", to: "first")
        near.set("a", to: "second")
        bench.comeToRest()
        #expect(far.value("a") == "second" && bench.isSound)
        #expect(bench.world.publishedTexts.contains("second") && !bench.world.publishedTexts.contains("first"))
    }

    /// Two hosts at rest. `near` has published everything in a base.
    private func pair(checksEvery: Int64 = .max) -> (Bench, near: SimulatedHost, far: SimulatedHost) {
        let bench = Bench { $0.checksEvery = checksEvery }
        let (near, far) = (bench.host("near"), bench.host("far"))
        near.set("a", to: "of the base")
        bench.comeToRest()
        near.sync(compacts: true)
        bench.comeToRest()
        return (bench, near, far)
    }

    private func rests(_ host: SimulatedHost) -> Bool {
        host.actionCount = 0
        let mayRest = host.mayRest
        host.sync()
        return mayRest && host.actionCount == 0
    }

    @Test(arguments: [PackName.Kind.base, .note]) func `that is lost is written again, alone or with others`(
        _ kind: PackName.Kind
    ) {
        let (bench, near, far) = pair()
        let names = near.files(of: near.durable.writer)
        for host in [near, far] {
            for name in names where name.name.kind == kind { host.view[name] = nil }
        }
        bench.comeToRest()
        #expect(near.files(of: near.durable.writer).map(\.name.kind) == [.base, .note])
        #expect(rests(near) && bench.isSound)
        #expect(bench.host("late").value("a") == nil)
        bench.comeToRest()
        #expect(bench.isSound)
    }

    @Test func `that has another size is written again`() throws {
        let (bench, near, far) = pair()
        let base = try #require(near.files(of: near.durable.writer).first { $0.name.kind == .base })
        near.view[base] = .partial
        bench.comeToRest()
        #expect(near.view[base] == .whole && near.reports.contains(.lostFiles))
        #expect(rests(near) && bench.isSound && far.value("a") == "of the base")
    }

    @Test func `that is damaged in place is found within hours, and written again`() throws {
        let (bench, near, far) = pair(checksEvery: 3_600_000)
        let base = try #require(near.files(of: near.durable.writer).first { $0.name.kind == .base })
        near.view[base] = .damaged
        bench.comeToRest()
        #expect(near.view[base] == .damaged)
        for _ in 0..<3 {
            bench.world.pass(3700)
            // Only an active host checks its folder.
            far.set("b", to: .integer(.init(Int64(bench.world.time))))
            bench.comeToRest()
        }
        #expect(near.view[base] == .whole && near.reports.count { $0 == .lostFiles } == 1)
    }
}
