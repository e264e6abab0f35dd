import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@testable import Simulation

/// Each request of a host to the system fails in a separate run: to write its journal, to read, lock or write a
/// preference file, and to read, create or remove a file of the mirror.
@Suite struct `A host to which something is refused` {
    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let failure: Report.Waiting
        /// Whether all later requests fail too, as on a full disk.
        let lasts: Bool
    }

    static let refusals = [
        Refusal(testDescription: "by an error, once", failure: .later, lasts: false),
        Refusal(testDescription: "for lack of space, from then on", failure: .space, lasts: true),
    ]

    @Test(arguments: `A host that dies`.scripts.indices, refusals)
    func `continues normally once it is allowed`(_ index: Int, _ refusal: Refusal) {
        let script = `A host that dies`.scripts[index]
        let last = Extent.operations(every: 4, stream: "\(script.name) \(refusal)").first { number in
            let bench = Bench()
            let host = script.prepare(bench)
            host.fail(refusal.lasts ? number..<Int.max : number..<number + 1, as: refusal.failure)
            host.sync(compacts: script.compacts)
            let hasFailed = host.hasFailed
            if refusal.lasts { host.sync(compacts: script.compacts) }
            host.fail(0..<0, as: refusal.failure)
            #expect(host.engine.status.matches(host.durable), "\(script.name), request \(number)")
            bench.comeToRest()
            bench.comeToRest()
            #expect(bench.isSound, "\(script.name), request \(number)")
            return !hasFailed
        }
        #expect(last ?? 0 > 5, "\(script.name)")
    }

    @Test(arguments: [Report.Waiting.space, .later, .permission])
    func `reports why it waits`(_ failure: Report.Waiting) {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        near.set("a", to: "kept")
        // The intent is recorded, and then the creation of the file fails.
        near.fail(2..<3, as: failure)
        near.publishNow()
        #expect(near.reports.last == .waiting(failure) && near.engine.status.outbox.count == 1)
        near.fail(0..<0, as: failure)
        bench.comeToRest()
        #expect(far.value("a") == "kept" && bench.isSound)
    }
}
