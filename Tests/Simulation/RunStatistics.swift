package import TestSupport

/// The combined results of many runs.
package struct RunStatistics: Sendable {
    package private(set) var runs = 0
    package private(set) var faults: [Fault: Int] = [:]
    /// The number of runs on each medium.
    package private(set) var media: [Medium: Int] = [:]
    /// The runs that failed, with their failures.
    package private(set) var findings: [(replay: String, wrongs: [String])] = []

    /// The number of needless conflicts in scenarios that should have none.
    package private(set) var needless = 0

    package init() {}

    /// Returns the run with a number. Runs use the scenarios in turn.
    package static func run(number: Int, of seed: Seed) -> Run {
        let scenarios = Scenario.turns
        return Run(scenarios[number % scenarios.count], seed: seed, round: number)
    }

    package mutating func note(_ run: Run) {
        runs += 1
        needless += run.world.needless.count
        faults.merge(run.world.faults) { $0 + $1 }
        media[run.world.medium, default: 0] += 1
        if !run.wrongs.isEmpty { findings.append((run.replay, run.wrongs)) }
    }

    package mutating func add(_ other: RunStatistics) {
        runs += other.runs
        needless += other.needless
        faults.merge(other.faults) { $0 + $1 }
        media.merge(other.media) { $0 + $1 }
        findings += other.findings
    }

    /// The faults and media that occurred in no run. While there are any, the runs prove too little.
    package var missing: [String] {
        Fault.allCases.filter { faults[$0, default: 0] == 0 }.map { "\($0)" }
            + Medium.allCases.filter { media[$0, default: 0] == 0 }.map { "\($0)" }
    }
}
