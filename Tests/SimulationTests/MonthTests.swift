import Testing

@testable import Simulation

@Suite struct `A month of one person` {
    /// The person works on one of three hosts at a time, with programs that toggle switches or write their whole file.
    @Test(arguments: 0..<3) func `has no conflicts`(_ round: Int) { check(Run(.month, round: round)) }

    @Test func `has conflicts only where a program without the store may have an old cache`() {
        check(Run(.monthWithoutStore, round: 0))
    }

    private func check(_ run: Run) {
        var run = run
        run.carryOut()
        #expect(run.wrongs == [], "\(run.replay)")
        run.world.end()
    }
}
