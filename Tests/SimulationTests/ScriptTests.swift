import Testing

@testable import Simulation

/// `Tests/run simulate --mutants RUNS` runs each script without the rule that it tests.
@Suite struct `A script of a few hosts` {
    @Test(arguments: Script.allCases) func `ends well`(_ script: Script) { #expect(script.endsWell) }
}
