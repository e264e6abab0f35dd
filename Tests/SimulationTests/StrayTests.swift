import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@testable import Simulation

@Suite struct `A hundred thousand strays` {
    /// The number of strays in each of two folders.
    private static let count = 50_000

    /// Names that no host writes, the same number of each kind.
    private static let names: [String: Int] = {
        let sorts: [(Int) -> String] = [
            { "l/000000000001.2e9f0a77d1 (conflicted copy \($0)).log" }, { "l/._\($0).log" }, { ".DS_Store\($0)" },
            { "l/\($0).2e9f0a77d1.log" }, { "b/000000000001.sync-conflict-\($0).base" }, { "~\($0).tmp" },
            { "x/3f/\($0)" }, { "desktop \($0).ini" },
        ]
        return Dictionary(uniqueKeysWithValues: (0..<count).map { (sorts[$0 % sorts.count]($0), $0 % 3) })
    }()

    @Test func `in each folder cause no action`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        for host in [near, far] { near.strays[host.durable.writer] = Self.names }
        near.actionCount = 0
        let reports = near.reports.count
        near.sync()
        #expect(near.actionCount == 0 && near.reports.count == reports)
        near.edit("a", to: "of near")
        far.edit("b", to: "of far")
        for host in [far, near, far, near] {
            bench.settle()
            host.sync()
        }
        #expect(bench.isSound && near.engine.status.faulty.isEmpty)
        #expect(Journal.beginning(with: near.durable).count < 10_000, "strays are not recorded")
    }
}
