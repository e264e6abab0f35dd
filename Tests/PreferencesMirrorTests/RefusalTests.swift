import MirrorEngine
import Platform
import Preferences
import PreferencesMirror
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// Each operation of a kind fails in turn. The session continues after the failure, as a daemon does.
@Suite struct `A session with a refused operation` {
    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let operation: SystemFailure.Operation
        let effect: SimulatedPlatform.Fault.Effect
    }

    static let refusals = [
        Refusal(testDescription: "a write, for lack of quota", operation: .write, effect: .fail(.overQuota)),
        Refusal(testDescription: "most of a write", operation: .write, effect: .tear(keeping: 5, .overQuota)),
        Refusal(
            testDescription: "all but nothing of a write", operation: .write, effect: .tear(keeping: 600, .noSpace)),
        Refusal(testDescription: "a write, by an error", operation: .write, effect: .fail(.inputOutput)),
        Refusal(testDescription: "that a file lasts", operation: .synchronize, effect: .fail(.inputOutput)),
        Refusal(testDescription: "that a name lasts", operation: .synchronizeFolder, effect: .fail(.inputOutput)),
        Refusal(testDescription: "a name", operation: .rename, effect: .fail(.overQuota)),
        Refusal(testDescription: "a removal", operation: .remove, effect: .fail(.inputOutput)),
        Refusal(testDescription: "to read", operation: .read, effect: .fail(.inputOutput)),
        Refusal(testDescription: "to open", operation: .open, effect: .fail(.inputOutput)),
        Refusal(testDescription: "a status", operation: .status, effect: .fail(.inputOutput)),
        Refusal(testDescription: "to list", operation: .list, effect: .fail(.inputOutput)),
    ]

    @Test(arguments: Undertaking.all, refusals)
    func `continues once it is allowed, and loses nothing`(
        _ undertaking: Undertaking, _ refusal: Refusal
    ) throws {
        let original = try MirrorBench()
        try undertaking.prepare(original)
        // All operations take a quarter of an hour, so each run tries a different sample.
        let stride = Extent.isFull ? 7 : 97
        var random = SeededGenerator(stream: "refused \(undertaking) \(refusal)")
        var number = Int.random(in: 1...stride, using: &random)
        while true {
            let bench = MirrorBench(original.disk.copy())
            let victim = try MirrorHost("b", on: bench.disk)
            var session = try victim.session()
            victim.fileSystem.setFaults(
                FaultPlan([Fault(refusal.effect, .once(number), of: refusal.operation)]))
            undertaking.carryOut(&session, bench.disk)
            guard victim.fileSystem.hits > 0 else { break }
            victim.fileSystem.setFaults(FaultPlan())
            undertaking.carryOut(&session, bench.disk)
            try check(undertaking, bench, "\(refusal) \(number), \(Seed.ofThisRun)")
            // What was reported as durable must survive a crash.
            bench.disk.crash(.none)
            try check(undertaking, bench, "\(refusal) \(number), and power went, \(Seed.ofThisRun)")
            number += stride
        }
    }

    private func check(_ undertaking: Undertaking, _ bench: MirrorBench, _ what: String) throws {
        let hosts = try ["a", "b"].map { try MirrorHost($0, on: bench.disk) }
        try bench.comeToRest(hosts)
        for host in hosts {
            for (domain, values) in undertaking.values {
                #expect(try host.values(domain) == values, "\(host.name) \(domain): \(what)")
            }
        }
        // After the loss of a journal, conflicts may be listed that the user has already seen.
        let conditions = try hosts.map { try $0.condition() }
        #expect(conditions.allSatisfy { $0 <= .conflicts }, "\(conditions): \(what)")
    }

    @Test func `or that is killed selects domains and has them captured, or neither`() throws {
        let original = try MirrorBench()
        let first = try original.hosts("a", "b")
        try original.comeToRest(first)
        for number in 1... {
            let bench = MirrorBench(original.disk.copy())
            let host = try MirrorHost("a", on: bench.disk)
            var session = try host.session()
            host.fileSystem.setFaults(FaultPlan(.dieAfter, at: number))
            if (try? session.begin()) != nil {
                try? session.configure { $0.selection.add("org.*") }
                session.end()
            }
            guard host.fileSystem.hits > 0 else { break }
            let configuration = try host.again().session().configuration
            #expect(configuration.selection.patterns.contains("org.*") != configuration.isSeeded, "\(number)")
        }
    }

    @Test func `reports it in its status until it is allowed`() throws {
        let original = try MirrorBench()
        let first = try original.hosts("a", "b")
        try original.comeToRest(first)
        var named = 0
        for number in 1... {
            let bench = MirrorBench(original.disk.copy())
            let host = try MirrorHost("a", on: bench.disk)
            try host.write("key", 1)
            host.fileSystem.setFaults(FaultPlan([Fault(.fail(.noSpace), .once(number), of: .write)]))
            let session = try? host.sync()
            guard host.fileSystem.hits > 0 else { break }
            host.fileSystem.setFaults(FaultPlan())
            let status = try host.again().status()
            #expect(session?.troubles.contains { $0.contains("/.prefs-") } != true, "a temporary name, write \(number)")
            guard let session, status.condition != .inSync, status.pending > 0 else { continue }
            named += 1
            #expect(!session.troubles.isEmpty && status.troubles == session.troubles, "write \(number)")
            try host.sync()
            #expect(try host.status().troubles.isEmpty, "write \(number)")
        }
        #expect(named > 0)
    }
}
