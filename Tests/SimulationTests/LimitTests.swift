import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@testable import Simulation

@Suite struct `A limit` {
    private static func text(_ count: Int) -> PropertyList { .string(String(repeating: "x", count: count)) }

    @Test func `of one file delays a base that no host could read`() {
        let bench = Bench { $0.bytesOfFile = 3000 }
        let (near, far) = (bench.host("near"), bench.host("far"))
        for key in ["a", "b", "e", "f"] {
            near.set(key, to: Self.text(1000))
            near.publishNow()
        }
        bench.comeToRest()
        near.sync(compacts: true)
        #expect(near.reports.contains(.waiting(.quota)))
        #expect(!near.files(of: near.durable.writer).contains { $0.name.kind == .base })
        #expect(far.value("f") == Self.text(1000) && bench.isSound)
    }

    private static let day: Int64 = 86_400_000

    /// - Parameter seconds: The time between two changes.
    @Test(arguments: [(601, 17), (61, 17), (1, 87)])
    func `of superseded files removes the oldest before a day has passed`(_ seconds: Int64, _ most: Int) {
        let bench = Bench { ($0.supersededFor, $0.mostSuperseded, $0.leastLogs) = (Self.day, 8, 10) }
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        var counts: [Int] = []
        for number in 0..<80 {
            near.set("a", to: .integer(.init(number)))
            near.publishNow()
            counts.append(near.durable.folder.created.values.count { $0.supersededAt != nil })
            let old = near.durable.folder.created.values.count { near.now - ($0.supersededAt ?? near.now) >= 600_000 }
            #expect(old <= 8)
            bench.world.pass(seconds)
        }
        #expect(counts.max() == most, "\(counts)")
        bench.comeToRest()
        #expect(far.value("a") == 79 && bench.isSound)
    }

    @Test func `of a day applies to files that a clock that was ahead superseded in the future`() {
        let bench = Bench { $0.supersededFor = Self.day }
        let near = bench.host("near")
        near.set("a", to: 1)
        near.skew = 3 * Self.day / 1000
        near.sync(compacts: true)
        let superseded = { near.durable.folder.created.values.count { $0.supersededAt != nil } }
        #expect(superseded() > 0)
        near.skew = 0
        #expect(!near.mayRest)
        bench.comeToRest()
        #expect(superseded() == 0 && near.mayRest)
    }

    private struct Stream: CustomTestStringConvertible {
        let testDescription: String
        /// The number of keys that are set in turn, and the length of each value in characters.
        let keys: Int
        let characters: Int
        let bytesOfWriter: Int
    }

    @Test(arguments: [
        Stream(testDescription: "short values", keys: 1, characters: 30_000, bytesOfWriter: 1 << 20),
        Stream(testDescription: "long values", keys: 1, characters: 100_000, bytesOfWriter: 1 << 20),
        Stream(testDescription: "nearly all", keys: 20, characters: 20_000, bytesOfWriter: 500_000),
    ])
    private func `of bytes is not reached by values that replace one another`(_ stream: Stream) {
        func value(_ number: Int) -> PropertyList { Self.text(stream.characters - number) }
        let bench = Bench {
            ($0.supersededFor, $0.unneededFor, $0.leastLogs) = (Self.day, 7 * Self.day, 32)
            $0.bytesOfWriter = stream.bytesOfWriter
        }
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        for number in 0..<100 {
            near.set("a\(number % stream.keys)", to: value(number))
            near.publishNow()
            #expect(near.durable.folder.size <= stream.bytesOfWriter * 2)
            bench.world.pass(601)
        }
        #expect(!near.reports.contains(.waiting(.quota)))
        bench.comeToRest()
        let hasArrived = (100 - stream.keys..<100).allSatisfy { far.value("a\($0 % stream.keys)") == value($0) }
        #expect(hasArrived && bench.isSound, "\(bench.world.complaints)")
    }

    private struct Backlog: CustomTestStringConvertible {
        let testDescription: String
        /// The lengths of successive values in characters.
        let characters: [Int]
        var bytesOfWriter = 1 << 20
    }

    @Test(arguments: [
        Backlog(testDescription: "long values", characters: Array(repeating: 100_000, count: 24)),
        Backlog(
            testDescription: "a value that is too long, and then another", characters: [3000, 10], bytesOfWriter: 2000),
    ])
    private func `of bytes is not reached by values that were replaced before they were published`(_ backlog: Backlog) {
        let bench = Bench { ($0.bytesOfWriter, $0.supersededFor, $0.leastLogs) = (backlog.bytesOfWriter, Self.day, 32) }
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        let writer = near.durable.writer
        for (number, count) in backlog.characters.enumerated() { near.set("a", to: Self.text(count - number)) }
        bench.comeToRest()
        #expect(near.durable.outbox.isEmpty && near.durable.folder.size <= backlog.bytesOfWriter * 2)
        far.set("b", to: "after that")
        bench.comeToRest()
        near.set("c", to: "at last")
        for _ in 0..<2 {
            bench.comeToRest()
            bench.world.pass(601)
        }
        // The other host knows only the writes that we published.
        #expect(near.durable.writer == writer && far.value("c") == "at last" && bench.isSound)
    }

    @Test func `of bytes makes a retired host visible again for the contents of its base`() {
        let bench = Bench { $0.bytesOfWriter = 2000 }
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        near.command(.retire(far.durable.writer))
        for count in [3000, 10] { far.set("a", to: Self.text(count)) }
        bench.comeToRest()
        #expect(near.durable.retired.isEmpty && near.value("a") == Self.text(10))
    }

    @Test func `of reported keys hides no change that is first published in a long base`() {
        let bench = Bench { $0.bytesOfWriter = 500_000 }
        let (near, far) = (bench.host("near"), bench.host("far"))
        near.save("s") { values in
            for number in 10_000..<20_001 { values["a\(number)"] = .integer(.init(number)) }
        }
        bench.comeToRest()
        for count in [600_000, 10] { near.set("a20001", to: Self.text(count)) }
        bench.comeToRest()
        #expect(far.reports.contains(.changed(domain: "s", keys: ["a20001"], by: near.durable.writer)) && bench.isSound)
    }

    /// A full folder gets room within ten minutes. Writing a base for each change until then would only fill it
    /// further.
    @Test func `of bytes makes a host wait if room will become free`() {
        let bench = Bench { ($0.bytesOfWriter, $0.supersededFor, $0.leastLogs) = (100_000, Self.day, .max) }
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        func bases() -> Int { near.files(of: near.durable.writer).count { $0.name.kind == .base } }
        for number in 0..<30 { near.set("a\(number)", to: Self.text(1000)) }
        near.publishNow()
        near.sync(compacts: true)
        for number in 0..<30 {
            near.set("a\(number)", to: Self.text(900))
            near.publishNow()
        }
        near.sync(compacts: true)
        let before = bases()
        for number in 0..<5 {
            near.set("a\(number)", to: Self.text(800))
            near.publishNow()
        }
        #expect(near.reports.contains(.waiting(.quota)) && bases() == before)
        bench.world.pass(601)
        bench.comeToRest()
        #expect(near.durable.outbox.isEmpty && far.value("a4") == Self.text(800) && bench.isSound)
    }

    /// The limit of values, or of bytes. Each value takes about 145 bytes.
    @Test(arguments: [(3, Int.max), (.max, 500)])
    func `of the whole mirror makes the host wait whose value would exceed it`(_ keys: Int, _ bytes: Int) {
        let bench = Bench { ($0.keys, $0.bytesOfMirror) = (keys, bytes) }
        let (near, far) = (bench.host("near"), bench.host("far"))
        for key in ["k", "l"] { far.set(key, to: Self.text(100)) }
        bench.comeToRest()
        near.set("a", to: Self.text(100))
        bench.comeToRest()
        #expect(!near.reports.contains(.waiting(.quota)) && far.value("a") != nil && bench.isSound)
        near.set("b", to: Self.text(100))
        bench.comeToRest()
        #expect(near.reports.last == .waiting(.quota) && far.value("b") == nil)
        #expect(near.files["s"]?.values["b"] != nil)
        // The other hosts do not wait.
        far.set("k", to: Self.text(99))
        bench.comeToRest()
        #expect(far.durable.outbox.isEmpty && near.value("k") == Self.text(99))
        near.set("b", to: nil)
        bench.comeToRest()
        #expect(near.durable.outbox.isEmpty && bench.isSound)
    }

    @Test func `of the whole mirror does not stop deletions`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        for (key, host) in [("k", near), ("l", far), ("a", near), ("b", far)] { host.set(key, to: 1) }
        bench.comeToRest()
        for host in [near, far] {
            host.engine.limits.keys = 2
            host.set(host === near ? "a" : "b", to: nil)
        }
        bench.comeToRest()
        #expect(near.durable.outbox.isEmpty && far.durable.outbox.isEmpty && far.value("a") == nil && bench.isSound)
    }

    @Test func `of hosts makes the others ignore those beyond it, and report that`() {
        let bench = Bench { $0.writers = 2 }
        let hosts = (0..<4).map { bench.host("host \($0)") }
        for (number, host) in hosts.enumerated() {
            host.set("a\(number)", to: 1)
            bench.comeToRest()
        }
        #expect(hosts[0].durable.peers.count == 2 && hosts[0].reports.contains(.waiting(.writers)))
        #expect((0..<4).filter { hosts[0].value("a\($0)") == nil }.count == 1)
    }

    @Test func `of waiting files makes a host read again those that it had no room for`() {
        let bench = Bench { $0.bytesWaiting = 0 }
        let (near, _, logs) = bench.hostsWithTwoLogs()
        near.view[logs[0]] = nil
        for _ in 0..<3 { near.sync() }
        #expect(near.value("b") == nil)
        near.view[logs[0]] = .whole
        near.sync()
        #expect(near.value("a") == "a" && near.value("b") == "b" && bench.isSound)
    }

    @Test func `of a merged dictionary leaves out the same entries everywhere, and no key`() throws {
        let half = try CanonicalValue(.string(String(repeating: "x", count: CanonicalValue.longest * 2 / 3)))
        let paths = ["x", "y"].map { Path(["s", "c", $0]) }
        let atoms = zip(UInt64(1)..., paths).map { number, path in
            let dot = TransactionID(writer: WriterID(number: number), sequence: 1)
            return Atom(
                AtomName(WriteID(number: number), dot), at: path, .value(half), stamp: Stamp(number: number))
        }
        let views = [atoms, atoms.reversed()].map { order in
            var store = MergeState()
            for atom in order { store.insert(atom) }
            return store.value(at: Path(domain: "s", key: "c"))?.propertyList.dictionaryValue
        }
        #expect(views[0]?.keys.map { $0 } == ["x"] && views[0] == views[1])
    }
}

@Suite struct `A hostile or faulty file` {
    @Test func `with the greatest stamp wins, displaced values are listed, and it can be replaced`() throws {
        let bench = Bench()
        let near = bench.host("near")
        bench.comeToRest()
        let stranger = WriterID(number: .max)
        near.set("a", to: "of today")
        let change = Change(
            WriteID(number: 1), at: Path(domain: "s", key: "a"), .value(try CanonicalValue("of the end of time")),
            stamp: Stamp(number: 10_413_792_000_000 << 16 - 1))
        let pack = LogPack(
            mirror: SimulatedHost.mirror, writer: stranger, first: 1, previous: nil, knowledge: VersionVector(),
            transactions: [Transaction([change])]
        ).encoded()
        bench.world.create(PackAddress(writer: stranger, name: pack.name), pack, by: near)
        bench.comeToRest()
        #expect(near.value("a") == "of the end of time" && near.lists("of today"))
        near.set("a", to: "seen and replaced")
        #expect(near.value("a") == "seen and replaced" && near.lists("of today") && !near.lists("of the end of time"))
    }

    @Test func `that is gone is not waited for`() {
        let bench = Bench()
        let near = bench.host("near")
        bench.comeToRest()
        near.view[Bench.addressOfStranger] = .partial
        near.sync()
        #expect(near.engine.status.faulty[Bench.addressOfStranger] != nil)
        near.view[Bench.addressOfStranger] = nil
        near.sync()
        #expect(near.engine.status.faulty.isEmpty)
    }

    @Test func `prevents the purge of its folder, which would lose its contents`() {
        let bench = Bench()
        let (gone, stays) = (bench.host("gone"), bench.host("stays"))
        bench.comeToRest()
        gone.set("a", to: .string(String(repeating: "-", count: Blob.longestInPack + 1)))
        gone.publishNow()
        bench.settle()
        let writer = gone.durable.writer
        bench.world.hosts.removeAll { $0 === gone }
        let blobs = stays.blobView.removeValue(forKey: writer)
        stays.sync()
        stays.command(.purge(writer))
        stays.sync()
        #expect(!stays.files(of: writer).isEmpty)
        #expect(stays.reports.contains { if case .unread = $0 { true } else { false } })
        stays.blobView[writer] = blobs
        bench.world.pass(60)
        stays.sync()
        stays.command(.purge(writer))
        bench.comeToRest()
        #expect(stays.files(of: writer).isEmpty && stays.value("a") != nil)
    }

    @Test func `prevents the purge of its folder while it must be read again`() {
        let bench = Bench { $0.bytesWaiting = 0 }
        let (near, far, logs) = bench.hostsWithTwoLogs()
        let writer = far.durable.writer
        bench.world.hosts.removeAll { $0 === far }
        near.view[logs[0]] = nil
        near.sync()
        near.command(.purge(writer))
        #expect(near.reports.contains(.unread(logs[1])) && !near.files(of: writer).isEmpty)
        bench.world.pass(601)
        near.sync()
        near.command(.purge(writer))
        bench.comeToRest()
        #expect(near.files(of: writer).isEmpty && near.value("b") == "b")
    }

    @Test func `prevents the purge of its folder if that cannot be listed`() throws {
        let bench = Bench()
        let (near, far, _) = bench.hostsWithTwoLogs()
        let writer = far.durable.writer
        var listing = near.listing
        listing.folders[writer] = [:]
        listing.closed = [writer]
        try near.send(.listed(listing))
        near.command(.purge(writer))
        #expect(near.reports.contains(.closed(writer)) && !near.files(of: writer).isEmpty)
        near.sync()
        near.command(.purge(writer))
        #expect(near.files(of: writer).isEmpty && near.value("b") == "b")
    }
}
