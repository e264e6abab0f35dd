import MirrorEngine
import Testing

@Suite struct `A rule of the mirror` {
    @Test(arguments: BrokenRule.allCases)
    func `is kept, and its breach would be seen`(_ rule: BrokenRule) {
        #expect(rule.endsWell(.sound))
        #expect(!rule.endsWell(rule.rules))
    }
}
