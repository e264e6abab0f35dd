#if MUTANTS
    package import MirrorEngine
    package import TestSupport

    extension Rule {
        /// Returns the number of the first run that fails without this rule, counted from 1, and the failure. The runs
        /// use the scenarios in turn.
        ///
        /// A needless conflict is a failure too, unless the intact mirror also has it in that run.
        package func firstFinding(in runs: Int, seed: Seed = .ofThisRun) -> (run: Int, wrong: String)? {
            for number in 0..<runs {
                let findings = Rule.$broken.withValue(self) { Self.findings(in: number, seed) }
                if let wrong = findings.wrongs.first { return (number + 1, wrong) }
                if let needless = findings.needless.first, Self.findings(in: number, seed).needless.isEmpty {
                    return (number + 1, needless)
                }
            }
            return nil
        }

        private static func findings(in number: Int, _ seed: Seed) -> (wrongs: [String], needless: [String]) {
            var run = Run(Scenario.turns[number % Scenario.turns.count], seed: seed, round: number)
            run.carryOut()
            defer { run.world.end() }
            return (run.wrongs, run.world.needless)
        }

        /// The scripts that require this rule but succeed without it.
        package var blindScripts: [Script] {
            Script.allCases.filter { script in
                script.rule == self && Rule.$broken.withValue(self) { script.endsWell }
            }
        }
    }
#endif
