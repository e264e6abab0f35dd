import MirrorEngine
package import TestSupport

/// A mirror without one of its rules, which the simulation must find wrong.
package struct Mutant: Sendable {
    package let name: String
    private let rules: Rules

    private init(_ name: String, _ change: (inout Rules) -> Void) {
        var rules = Rules.sound
        change(&rules)
        (self.name, self.rules) = (name, rules)
    }

    package static let all = [
        Mutant("bumpsStamps") { $0.bumpsStamps = false }, Mutant("comparesValues") { $0.comparesValues = false },
        Mutant("reincarnates") { $0.reincarnates = false },
        Mutant("clearsOutboxAfterCreation") { $0.clearsOutboxAfterCreation = false },
        Mutant("recordsIntent") { $0.recordsIntent = false },
        Mutant("capturesBeforeApplying") { $0.capturesBeforeApplying = false },
        Mutant("followsFile") { $0.followsFile = false }, Mutant("inheritsSeen") { $0.inheritsSeen = false },
        Mutant("keepsIdentifiers") { $0.keepsIdentifiers = false }, Mutant("listsLost") { $0.listsLost = false },
        Mutant("claimsFormerNumbers") { $0.claimsFormerNumbers = false },
        Mutant("adoptsEqual") { $0.adoptsEqual = false }, Mutant("noticesRestores") { $0.noticesRestores = false },
        Mutant("chainsByFirst") { $0.chainsByFirst = false }, Mutant("patchesViews") { $0.patchesViews = false },
        Mutant("keepsEveryDomain") { $0.keepsEveryDomain = false },
    ]

    /// The first of so many runs that goes wrong, counted from 1, with what is wrong. The scenarios take turns.
    ///
    /// A needless conflict is wrong too, if the whole mirror does not make one in that run.
    package func firstFinding(in runs: Int, seed: Seed = .ofThisRun) -> (run: Int, wrong: String)? {
        for number in 0..<runs {
            let findings = findings(in: number, seed, rules)
            if let wrong = findings.wrongs.first { return (number + 1, wrong) }
            if let needless = findings.needless.first, self.findings(in: number, seed, .sound).needless.isEmpty {
                return (number + 1, needless)
            }
        }
        return nil
    }

    private func findings(in number: Int, _ seed: Seed, _ rules: Rules) -> (wrongs: [String], needless: [String]) {
        var scenario = Scenario.turns[number % Scenario.turns.count]
        scenario.rules = rules
        var run = Run(scenario, seed: seed, round: number)
        run.carryOut()
        defer { run.world.end() }
        return (run.wrongs, run.world.needless.map { "\($0)" })
    }
}
