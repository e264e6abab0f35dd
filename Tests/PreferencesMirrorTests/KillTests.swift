import Foundation
import MirrorEngine
import Platform
import Preferences
import PreferencesMirror
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// An exchange that is killed or fails at each of its operations in turn.
@Suite struct `An exchange that is interrupted` {
    static let effects: [Fault.Effect] = [
        .dieBefore, .dieAfter, .dieWithin(keeping: 9), .fail(.noSpace), .fail(.inputOutput),
        .tear(keeping: 5, .noSpace),
    ]

    /// Two hosts with changes in both directions, over one domain and over several.
    private func prepared(withLongValues: Bool) throws -> (MirrorBench, [MirrorHost]) {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("old", 1, in: ["com.example.a", "com.example.b"])
        try bench.comeToRest(hosts)
        try hosts[0].write("theirs", 1, in: ["com.example.a", "com.example.b"])
        if withLongValues { try hosts[0].write("theirs", Self.long("t"), "com.example.d") }
        try hosts[0].sync()
        try hosts[1].write("ours", 1, in: ["com.example.b", "com.example.c"])
        if withLongValues { try hosts[1].write("ours", Self.long("o"), "com.example.d") }
        return (bench, hosts)
    }

    private static func long(_ text: String) -> PropertyList { .string(String(repeating: text, count: 70_000)) }

    @Test(arguments: effects, [false, true])
    func `loses nothing and writes nothing in part`(_ effect: Fault.Effect, withLongValues: Bool) throws {
        let (original, _) = try prepared(withLongValues: withLongValues)
        // All operations take ten minutes, so each run tries a different sample. Long values take seconds to hash.
        let stride = (Extent.isFull ? 4 : 61) * (withLongValues ? 11 : 1)
        var random = SeededGenerator(stream: "interrupted \(effect)")
        var number = Int.random(in: 1...stride, using: &random)
        while true {
            let bench = MirrorBench(original.disk.copy())
            let victim = try MirrorHost("b", on: bench.disk)
            victim.fileSystem.setFaults(FaultPlan(effect, at: number))
            // It may die before it has recorded that it joined.
            var session = victim.places.joined.first.map { MirrorSession($0, victim.places) }
            try? session?.sync { bench.disk.clock.advance(by: $0) }
            guard victim.fileSystem.hits > 0 else { break }
            bench.disk.crash(number.isMultiple(of: 2) ? .none : .some(UInt64(number)))
            let hosts = try ["a", "b"].map { try MirrorHost($0, on: bench.disk) }
            try bench.comeToRest(hosts)
            for host in hosts {
                for (domain, values) in [
                    ("com.example.a", ["old": 1, "theirs": 1]), ("com.example.b", ["old": 1, "ours": 1, "theirs": 1]),
                    ("com.example.c", ["ours": 1]),
                    ("com.example.d", withLongValues ? ["ours": Self.long("o"), "theirs": Self.long("t")] : [:]),
                ] as [(DomainName, PropertyList.Dictionary)] {
                    let found = try host.values(domain)
                    #expect(found == values, "\(host.name) \(domain) after \(effect) at \(number), \(Seed.ofThisRun)")
                }
            }
            let conditions = try hosts.map { try $0.condition() }
            #expect(conditions == [.inSync, .inSync], "\(effect) at \(number)")
            number += stride
        }
        #expect(number > 40)
    }

    @Test func `repeatedly holds no domain`() throws {
        let bench = try MirrorBench()
        _ = try bench.hosts("a", "b")
        let host = { try MirrorHost("b", on: bench.disk) }
        for number in 1...60 {
            for turn in 1...3 {
                bench.disk.clock.advance(by: .seconds(1))
                let victim = try host()
                try victim.write("key", .integer(PropertyList.Integer(number * 10 + turn)))
                var session = try victim.session()
                victim.fileSystem.setFaults(FaultPlan(.dieBefore, at: number))
                try? session.sync { bench.disk.clock.advance(by: $0) }
                bench.disk.crash(.none)
            }
            bench.disk.clock.advance(by: .seconds(1))
            let hosts = [try MirrorHost("a", on: bench.disk), try host()]
            try bench.comeToRest(hosts)
            #expect(try hosts[1].status().held.isEmpty, "three deaths at \(number)")
            #expect(try hosts[0].values() == ["key": .integer(PropertyList.Integer(number * 10 + 3))])
        }
    }
}
