import MirrorEngine
import Testing

@testable import Simulation

@Suite struct `A rule of the mirror` {
    @Test(arguments: BrokenRule.allCases)
    func `is kept, and its breach would be seen`(_ rule: BrokenRule) {
        #expect(rule.endsWell(.sound))
        #expect(!rule.endsWell(rule.rules))
    }
}
