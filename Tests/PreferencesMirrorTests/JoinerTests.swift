import MirrorEngine
import Platform
import Preferences
import PreferencesMirror
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// A new host joins after each operation of another host's compaction that changes the directory.
@Suite struct `A directory during a compaction` {
    @Test func `is complete for a host that joins`() throws {
        let original = try MirrorBench()
        let undertaking = try #require(Undertaking.all.first { $0.compacts })
        try undertaking.prepare(original)
        // The operations on the directory, recorded by a run without faults.
        let dry = MirrorBench(original.disk.copy())
        let model = try MirrorHost("b", on: dry.disk)
        var session = try model.session()
        let before = model.fileSystem.operations.count
        undertaking.carryOut(&session, dry.disk)
        let directory = MirrorBench.directory.description
        let changes = model.fileSystem.operations.enumerated().dropFirst(before).filter { _, operation in
            operation.isWriting && operation.path?.description.hasPrefix(directory) ?? false
        }.map { $0.offset - before + 1 }
        #expect(changes.count > 10)
        let stride = Extent.isFull ? 1 : 23
        var random = SeededGenerator(stream: "compaction")
        let first = Int.random(in: 0..<stride, using: &random)
        for index in Swift.stride(from: first, to: changes.count, by: stride) {
            let number = changes[index]
            let bench = MirrorBench(original.disk.copy())
            let victim = try MirrorHost("b", on: bench.disk)
            var session = try victim.session()
            victim.fileSystem.setFaults(FaultPlan(.dieAfter, at: number))
            undertaking.carryOut(&session, bench.disk)
            #expect(victim.fileSystem.hits > 0)
            let joiner = try bench.stranger("c")
            try joiner.enter(isFirst: false)
            try joiner.select { $0.add("com.*") }
            try joiner.sync()
            let values = try joiner.values()
            #expect(values["key"] == 3 && values["theirs"] == 1, "after operation \(number)")
            let hosts = try [MirrorHost("a", on: bench.disk), MirrorHost("b", on: bench.disk), joiner]
            try bench.comeToRest(hosts)
            for host in hosts {
                for (domain, values) in undertaking.values { #expect(try host.values(domain) == values) }
            }
        }
    }
}
