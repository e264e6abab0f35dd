import Foundation
import MirrorEngine
import TestSupport
import Testing

@Suite struct `A mirror of many hosts` {
    /// How many runs of each scenario there are: `PREFS_SIMULATION_ROUNDS`, or few enough for every test run.
    private static let rounds =
        ProcessInfo.processInfo.environment["PREFS_SIMULATION_ROUNDS"].flatMap { Int($0) } ?? 20

    @Test(arguments: Scenario.all.map(\.name))
    func `comes to one state everywhere, whatever happens on the way`(_ name: String) throws {
        let scenario = try #require(Scenario.all.first { $0.name == name })
        var faults: [World.Fault: Int] = [:]
        // Long values take long.
        for round in 0..<(scenario.hasLongValues ? max(2, Self.rounds / 10) : Self.rounds) {
            var run = Run(scenario, round: round)
            run.carryOut()
            faults.merge(run.world.faults) { $0 + $1 }
            if !run.wrongs.isEmpty {
                Issue.record("\(run.replay): \(run.wrongs.prefix(3))")
                break
            }
        }
        for fault in scenario.expectedFaults { #expect(faults[fault, default: 0] > 0, "\(fault) never happened") }
    }
}

extension Scenario {
    /// The faults without which a suite of runs would prove too little.
    fileprivate var expectedFaults: [World.Fault] {
        var faults: [World.Fault] = [.foreignSave, .duplicate]
        if !hasOneView { faults += [.late, .partial] }
        if crashes { faults.append(.crash) }
        if skews { faults.append(.skew) }
        if hasLongValues { return [.late, .crash] }
        if clones { faults += [.clone, .reincarnation] }
        if rollbacks { faults.append(.rollback) }
        if joiners { faults.append(.joiner) }
        return faults
    }
}
