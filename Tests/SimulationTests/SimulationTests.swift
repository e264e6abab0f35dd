import MirrorEngine
import TestSupport
import Testing

@testable import Simulation

@Suite struct `A mirror of many hosts` {
    /// The number of runs of each scenario. `Tests/run simulate` runs thousands, in an optimised build.
    private static let rounds = 10

    @Test(arguments: Extent.sample(4, of: Scenario.all.map(\.name)))
    func `reaches the same state everywhere, whatever happens`(_ name: String) throws {
        let scenario = try #require(Scenario.all.first { $0.name == name })
        var tally = RunStatistics()
        var missing: [Fault] { scenario.expectedFaults.filter { tally.faults[$0, default: 0] == 0 } }
        let least = scenario.isSlow ? 2 : Self.rounds
        // A fault may need more runs to occur.
        for round in 0..<4 * least where round < least || !missing.isEmpty {
            var run = Run(scenario, round: round)
            run.carryOut()
            tally.note(run)
            if !run.wrongs.isEmpty {
                Issue.record("\(run.shrunk().replay): \(run.wrongs.prefix(3))")
                break
            }
        }
        #expect(missing.isEmpty, "never happened; \(Seed.ofThisRun)")
    }

    @Test func `is the same for the same seed`() {
        for scenario in Scenario.all where !scenario.isSlow {
            let runs = (0..<2).map { _ in
                var run = Run(scenario, round: 1)
                run.carryOut()
                return run.world
            }
            #expect(runs[0].faults == runs[1].faults && runs[0].files == runs[1].files, "\(Seed.ofThisRun)")
        }
    }

    /// The report lists the faults that never occurred.
    @Test func `covers all faults only in many runs`() {
        var tally = RunStatistics()
        #expect(tally.missing.count == Fault.allCases.count + Medium.allCases.count)
        var run = Run(Scenario.all[0], round: 0)
        run.carryOut()
        tally.note(run)
        #expect(!tally.missing.isEmpty && tally.missing.count < Fault.allCases.count + Medium.allCases.count)
    }
}

extension Scenario {
    /// The faults that must occur even in a few runs.
    fileprivate var expectedFaults: [Fault] {
        var faults: [Fault] = [.duplicate]
        if isOfOnePerson { return faults }
        if crashes { faults.append(.crash) }
        if hasLongValues { return faults }
        if clones { faults += [.clone, .newNumber] }
        if rollbacks { faults.append(.rollback) }
        if bytesOfWriter < EngineLimits().bytesOfWriter { faults.append(.fullFolder) }
        if mixesVersions { faults.append(.newVersion) }
        for actor in actors {
            switch actor {
            case .oldCache: faults.append(.oldCache)
            case .resolver: faults.append(.restored)
            case .vanishingAuthor: faults.append(.vanished)
            case .keeper: faults.append(.kept)
            case .rebuilder: break
            }
        }
        return faults
    }
}
