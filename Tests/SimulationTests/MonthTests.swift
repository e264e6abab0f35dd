import Testing

@testable import Simulation

@Suite struct `A month of one person` {
    /// The person works on one of three hosts at a time, with programs that toggle switches or write their whole file.
    @Test(arguments: 0..<5) func `has no conflicts`(_ round: Int) {
        var run = Run(.month, round: round)
        run.carryOut()
        #expect(run.wrongs == [], "\(run.replay)")
        run.world.end()
    }
}
