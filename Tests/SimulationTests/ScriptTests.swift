import Testing

@testable import Simulation

@Suite struct `A script of a few hosts` {
    @Test(arguments: Script.allCases) func `ends well`(_ script: Script) { #expect(script.endsWell) }
}
