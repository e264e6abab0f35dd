import Testing

@testable import Simulation

/// `Tests/run simulate --mutants RUNS` runs each without the rule that it needs.
@Suite struct `A script of a few hosts` {
    @Test(arguments: Script.allCases) func `ends well`(_ script: Script) { #expect(script.endsWell) }
}
