import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@testable import Simulation

/// A writer creates a base, and removes the replaced files a day later. Meanwhile, a new host joins.
@Suite struct `A host that joins during a compaction` {
    /// The steps of a compaction that change the directory, in order.
    private struct Compaction {
        let bench: Bench
        let values: [PropertyList?]
        let before: Set<PackAddress>
        let base: PackAddress
        let removed: [PackAddress]

        static let keys = ["a", "b", "c", "gone"]

        var steps: Int { removed.count + 1 }

        /// The files in the directory after only some of the steps were taken, or have arrived here.
        func files(_ isTaken: (Int) -> Bool) -> Set<PackAddress> {
            var files = before
            if isTaken(0) { files.insert(base) }
            for (step, address) in zip(1..., removed) where isTaken(step) { files.remove(address) }
            return files
        }
    }

    /// - Parameter isFirst: Whether there is no older base, which would be removed with the logs.
    private func compaction(isFirst: Bool) throws -> Compaction {
        let bench = Bench { ($0.leastLogs, $0.supersededFor) = (100, 86_400_000) }
        let (host, peer) = (bench.host("host"), bench.host("peer"))
        host.set("a", to: "old")
        host.set("gone", to: "for a while")
        bench.comeToRest()
        if !isFirst { host.sync(compacts: true) }
        peer.set("b", to: "of the peer")
        bench.comeToRest()
        for (key, value) in [("a", "new"), ("gone", nil), ("c", "last")] as [(String, PropertyList?)] {
            host.set(key, to: value)
            host.publishNow()
            bench.settle()
        }
        let before = Set(host.view.keys)
        host.attempt { try host.compact() }
        let base = try #require(Set(host.view.keys).subtracting(before).first { $0.name.kind == .base })
        bench.world.pass(86_400)
        host.publishNow()
        let removed = before.subtracting(host.view.keys).sorted()
        return Compaction(
            bench: bench, values: Compaction.keys.map { host.value($0) }, before: before, base: base,
            removed: removed)
    }

    /// Returns a new host that finds these files.
    private func joiner(_ compaction: Compaction, finding files: Set<PackAddress>) -> SimulatedHost {
        let joiner = SimulatedHost(compaction.bench.world, "joiner")
        joiner.view = Dictionary(uniqueKeysWithValues: files.map { ($0, .whole) })
        joiner.pullNow()
        return joiner
    }

    @Test(arguments: [true, false])
    func `reaches the same view at every step`(_ isFirst: Bool) throws {
        let compaction = try compaction(isFirst: isFirst)
        #expect(compaction.removed.count >= 4 && compaction.values == ["new", "of the peer", "last", nil])
        for taken in 0...compaction.steps {
            let joiner = joiner(compaction, finding: compaction.files { $0 < taken })
            #expect(Compaction.keys.map { joiner.value($0) } == compaction.values, "after \(taken) steps")
            #expect(joiner.engine.status.knowledge == compaction.bench.world.hosts[0].engine.status.knowledge)
        }
    }

    /// A sync service applies the steps in any order, deletions first.
    @Test(arguments: [true, false])
    func `reaches the same view at last, in whatever order the steps arrive`(_ isFirst: Bool) throws {
        let compaction = try compaction(isFirst: isFirst)
        for taken in 0..<1 << compaction.steps {
            let files = compaction.files { taken & 1 << $0 != 0 }
            let joiner = joiner(compaction, finding: files)
            let isWhole = files.contains(compaction.base) || files.isSuperset(of: compaction.before)
            if isWhole { #expect(Compaction.keys.map { joiner.value($0) } == compaction.values, "\(taken)") }
            joiner.view = Dictionary(
                uniqueKeysWithValues: compaction.files { _ in true }.map { ($0, SimulatedHost.FileState.whole) })
            joiner.pullNow()
            #expect(Compaction.keys.map { joiner.value($0) } == compaction.values, "after \(taken)")
            #expect(joiner.engine.status.faulty.isEmpty && joiner.listed.isEmpty)
        }
    }

    /// A host that joins, writes and publishes at any step disturbs neither the writer nor the other hosts.
    @Test func `joins at every step at which the writer may die`() {
        var step = 1
        while true {
            let bench = Bench()
            let host = `A host that dies`.scripts[0].prepare(bench)
            host.breaksAt = host.stepCount + step
            host.sync(compacts: true)
            let hasDied = host.stepCount == host.breaksAt
            let joiner = bench.host("joiner")
            joiner.edit("c", to: "of the joiner")
            joiner.sync(compacts: true)
            bench.world.pass(86_400)
            bench.comeToRest()
            bench.comeToRest()
            #expect(bench.isSound && joiner.value("a") == "a2", "step \(step)")
            guard hasDied else { break }
            step += 1
        }
        #expect(step > 8)
    }
}
