import MirrorEngine
import TestSupport
import Testing

@testable import Simulation

/// `Tests/run simulate --exhaustive DEPTH` searches deeper, optimised.
@Suite struct `Every small execution` {
    @Test(arguments: Extent.sample(2, of: Exhaustive.Profile.all.map(\.name)))
    func `leaves no write unreported`(_ name: String) throws {
        let profile = try #require(Exhaustive.Profile.all.first { $0.name == name })
        var search = Exhaustive(profile, depth: 3)
        search.search()
        #expect(search.counterexample == nil)
        #expect(search.executions > 100)
        if profile.isOrdinary { #expect(search.needless == 0) }
    }

    /// A search that finds nothing where a part of the mechanism is missing would prove nothing.
    @Test func `finds the write that nobody lists`() {
        var rules = Rules.sound
        rules.listsLost = false
        var search = Exhaustive(Exhaustive.Profile.all[0], depth: 3, rules: rules)
        search.search()
        #expect(search.counterexample?.contains("is lost") == true)
    }
}
