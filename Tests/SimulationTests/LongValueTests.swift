import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@testable import Simulation

@Suite struct `A long value` {
    private static func long(_ text: String) -> PropertyList {
        .string(text + String(repeating: "-", count: Blob.longestInPack))
    }

    private func blobs(_ host: SimulatedHost, of other: SimulatedHost? = nil) -> Int {
        host.blobView[(other ?? host).durable.writer]?.count ?? 0
    }

    @Test func `arrives together with its change`() throws {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        near.save("s") { $0 = ["a": Self.long("a"), "b": "short"] }
        near.sync()
        bench.settle()
        let names = far.blobView.removeValue(forKey: near.durable.writer)
        far.sync()
        bench.world.pass(700)
        far.sync()
        #expect(far.files["s"]?.values.isEmpty ?? true)
        #expect(far.reports.contains { if case .missingBlobs = $0 { true } else { false } })
        #expect(!far.mayRest)
        far.blobView[near.durable.writer] = names
        // A file whose long values never arrive is not read at each check.
        bench.world.pass(60)
        bench.comeToRest()
        #expect(far.files["s"]?.values.count == 2 && bench.isSound)
    }

    @Test func `is stored once, while it is in force and for some time after`() {
        let bench = Bench { $0.unneededFor = 7 * 86_400_000 }
        let (near, far) = (bench.host("near"), bench.host("far"))
        near.set("a", to: Self.long("a"))
        near.set("b", to: Self.long("a"))
        near.set("c", to: Self.long("c"))
        bench.comeToRest()
        #expect(blobs(near) == 2)
        near.set("c", to: "short")
        near.set("a", to: "short, too")
        near.sync(compacts: true)
        bench.comeToRest()
        bench.world.pass(6 * 86_400)
        near.sync()
        #expect(blobs(near) == 2)
        bench.world.pass(86_400)
        #expect(!near.mayRest)
        bench.comeToRest()
        #expect(blobs(near) == 1 && blobs(far, of: near) == 1 && bench.isSound)
        near.set("d", to: Self.long("c"))
        bench.comeToRest()
        #expect(blobs(near) == 2 && far.value("d") == Self.long("c") && bench.isSound)
    }

    /// Long values that replace one another are removed early, together with the files that refer to them.
    @Test func `is not required after it was removed early`() {
        let day: Int64 = 86_400_000
        let bench = Bench { ($0.supersededFor, $0.unneededFor, $0.bytesOfWriter) = (day, 7 * day, 1 << 20) }
        let near = bench.host("near")
        for number in 0..<20 {
            near.set("a", to: Self.long("\(number)"))
            near.publishNow()
            bench.world.pass(601)
        }
        #expect(blobs(near) < 12)
        let late = bench.host("late")
        for _ in 0..<2 {
            bench.comeToRest()
            bench.world.pass(700)
        }
        #expect(!late.reports.contains { if case .missingBlobs = $0 { true } else { false } })
        #expect(late.value("a") == Self.long("19") && late.mayRest && bench.isSound)
    }

    @Test func `is created again if it is needed at the moment of its removal`() {
        let bench = Bench { $0.unneededFor = 1000 }
        let (near, far) = (bench.host("near"), bench.host("far"))
        near.set("a", to: Self.long("a"))
        bench.comeToRest()
        near.set("a", to: "short")
        near.sync(compacts: true)
        bench.comeToRest()
        bench.world.pass(5)
        near.set("b", to: Self.long("a"))
        bench.comeToRest()
        #expect(blobs(near) == 1 && far.value("b") == Self.long("a") && bench.isSound && near.mayRest)
    }

    @Test func `that is lost from our folder is created again`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        near.set("a", to: Self.long("a"))
        bench.comeToRest()
        for host in [near, far] { host.blobView[near.durable.writer] = nil }
        bench.comeToRest()
        #expect(blobs(near) == 1 && near.mayRest)
        let late = bench.host("late")
        bench.comeToRest()
        #expect(late.value("a") == Self.long("a") && bench.isSound)
    }

    @Test func `of a host that is gone is kept by the host that removes its folder`() {
        let bench = Bench()
        let (gone, stays) = (bench.host("gone"), bench.host("stays"))
        gone.set("a", to: Self.long("a"))
        bench.comeToRest()
        let writer = gone.durable.writer
        bench.world.hosts.removeAll { $0 === gone }
        stays.command(.purge(writer))
        bench.comeToRest()
        #expect(stays.blobView[writer]?.isEmpty ?? true)
        let late = bench.host("late")
        bench.comeToRest()
        #expect(late.value("a") == Self.long("a") && bench.isSound)
    }
}
