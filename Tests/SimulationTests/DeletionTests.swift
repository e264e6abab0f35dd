import MirrorEngine
import PropertyLists
import Testing

@testable import Simulation

@Suite struct `A deletion` {
    private static let day: Int64 = 86_400

    /// Deletes a key on the first of three hosts, lets a day pass, and makes that host write a base.
    private func delete(_ change: (_ bench: Bench, _ hosts: [SimulatedHost]) -> Void = { _, _ in }) -> Bench {
        let bench = Bench { $0.supersededFor = 0 }
        let hosts = ["near", "far", "third"].map { bench.host($0) }
        hosts[0].set("a", to: 1)
        bench.comeToRest()
        change(bench, hosts)
        hosts[0].set("a", to: nil)
        bench.comeToRest()
        bench.world.pass(Self.day + 1)
        bench.comeToRest()
        hosts[0].sync(compacts: true)
        bench.comeToRest()
        return bench
    }

    @Test func `is forgotten on all hosts once all of them have applied it`() {
        let bench = delete()
        #expect(bench.world.hosts.allSatisfy { $0.engine.status.mergeState.count == 0 && $0.mayRest } && bench.isSound)
        let late = bench.host("late")
        bench.comeToRest()
        #expect(late.value("a") == nil && bench.isSound)
    }

    enum Absence: CaseIterable { case left, retired, purged }

    @Test(arguments: Absence.allCases) func `is forgotten without a host that is gone`(_ absence: Absence) {
        let bench = delete { bench, hosts in
            let writer = hosts[2].durable.writer
            if absence == .left {
                hosts[2].command(.leave)
                bench.comeToRest()
            }
            bench.world.hosts.removeLast()
            if absence == .retired { hosts[0].command(.retire(writer)) }
            if absence == .purged { hosts[0].command(.purge(writer)) }
            bench.comeToRest()
        }
        #expect(bench.world.hosts[0].engine.status.mergeState.count == 0 && bench.isSound)
    }

    /// A reason to keep a deletion: without it, a value that it removed could come back.
    private enum Reason: CaseIterable { case isAway, cannotWrite, isHeld, lacksFile, hasConflict }

    @Test(arguments: Reason.allCases) private func `is kept while a host needs it`(_ reason: Reason) {
        let bench = delete { bench, hosts in
            switch reason {
            case .isAway: hosts[2].isAway = true
            case .cannotWrite: hosts[2].unwritable = ["s"]
            case .isHeld:
                hosts[2].save("s") { _ in }
                hosts[2].files["s"]?.content = .unreadable
            case .lacksFile: hosts[0].view[Bench.addressOfStranger] = .partial
            case .hasConflict: hosts[2].set("a", to: "unseen")
            }
        }
        #expect(bench.world.hosts[0].engine.status.mergeState.count > 0)
    }
}
