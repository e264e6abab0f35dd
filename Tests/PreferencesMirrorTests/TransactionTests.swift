import MirrorEngine
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@testable import PreferencesMirror

@Suite struct `A transaction` {
    /// `Tests/run mirror` uses as many keys as a mirror must support.
    private static let manyKeys = Extent.isFull ? 100_000 : 2_000
    private static let manyDomains = 50

    private static let values = PropertyList.Dictionary(
        (0..<manyKeys).map { ("key \($0)", .integer(PropertyList.Integer($0))) })

    private static let domains: [DomainName] = (0..<manyDomains).compactMap {
        try? DomainName("com.example.domain\($0)")
    }

    /// Returns the values that the victim has of another host's transaction after it died in one of its operations.
    private func interrupted(
        _ original: MirrorBench, times: Int, check: (MirrorBench, MirrorHost, Int) throws -> Void
    ) throws {
        let dry = try MirrorHost("b", on: original.disk.copy())
        let count = dry.fileSystem.operations.count
        try dry.sync()
        let operations = dry.fileSystem.operations.count - count
        var random = SeededGenerator(stream: "interrupted transaction \(operations)")
        for time in 0..<times {
            // A random operation from each part of the exchange.
            let part = operations * time / times..<max(operations * time / times + 1, operations * (time + 1) / times)
            let number = Int.random(in: part, using: &random) + 1
            let bench = MirrorBench(original.disk.copy())
            let victim = try MirrorHost("b", on: bench.disk)
            var session = try victim.session()
            victim.fileSystem.setFaults(FaultPlan(time.isMultiple(of: 2) ? .dieAfter : .dieBefore, at: number))
            try? session.sync { bench.disk.clock.advance(by: $0) }
            try check(bench, MirrorHost("b", on: bench.disk), number)
        }
    }

    @Test func `of many keys is in a file completely or not at all, and arrives`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("before", 1)
        try bench.comeToRest(hosts)
        try DomainWriter(hosts[0].system, WriteAuthor(.write, by: hosts[0].system)).commit([
            DomainEdit(hosts[0].file("com.example.a")) { $0.values = Self.values }
        ])
        let session = try hosts[0].sync()
        #expect(session.unpublishedCount == 0 && session.engine.status.lastPublished == 2, "one transaction")
        try interrupted(bench, times: Extent.isFull ? 1 : 5) { bench, victim, number in
            let found = try victim.values()
            #expect(found == ["before": 1] || found == Self.values, "died at \(number)")
            try victim.sync()
            #expect(try victim.values() == Self.values, "died at \(number)")
        }
        try bench.comeToRest(hosts)
        #expect(try hosts[1].values() == Self.values)
        #expect(try hosts.map { try $0.condition() } == [.inSync, .inSync])
    }

    @Test func `over many domains is in all of their files or in none, and arrives`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("before", 1, in: Self.domains)
        try bench.comeToRest(hosts)
        try hosts[0].write("after", 1, in: Self.domains)
        let session = try hosts[0].sync()
        #expect(session.unpublishedCount == 0 && session.engine.status.lastPublished == 2, "one transaction")
        let whole: PropertyList.Dictionary = ["before": 1, "after": 1]
        try interrupted(bench, times: 6) { bench, victim, number in
            // The next process completes the transaction of a writer that died.
            victim.places.store.user.file(of: .global).finishTransactions(on: victim.system)
            let found = Set(try Self.domains.map { try victim.values($0) })
            #expect(found == [["before": 1]] || found == [whole], "died at \(number)")
            try victim.sync()
            for domain in Self.domains { #expect(try victim.values(domain) == whole, "died at \(number)") }
        }
        try bench.comeToRest(hosts)
        for domain in Self.domains { #expect(try hosts[1].values(domain) == whole) }
        let versions = try Self.domains.map { domain in
            try #require(History(of: hosts[1].file(domain), on: hosts[1].system)?.versions.last)
        }
        #expect(Set(versions.map(\.transaction)).count == 1)
    }
}
