import MirrorEngine
import TestSupport
import Testing

@testable import Simulation

/// `Tests/run simulate --exhaustive DEPTH` searches deeper, in an optimised build.
@Suite struct `Every small execution` {
    @Test(arguments: Extent.sample(2, of: ExhaustiveSearch.Profile.all.map(\.name)))
    func `reports every lost write`(_ name: String) throws {
        let profile = try #require(ExhaustiveSearch.Profile.all.first { $0.name == name })
        var search = ExhaustiveSearch(profile, depth: 3)
        search.search()
        #expect(search.counterexample == nil)
        #expect(search.executions > 100)
        if profile.isOrdinary { #expect(search.needless == 0) }
    }

    /// An edit over the winner of two concurrent writes, and a write of a clone. Both replace values that their users
    /// never saw.
    @Test(arguments: zip(["writes", "clones"], [5, 4]))
    func `finds the losses of the first version's rule`(_ name: String, _ depth: Int) throws {
        var profile = try #require(ExhaustiveSearch.Profile.all.first { $0.name == name })
        profile.writesInside = false
        var search = ExhaustiveSearch(profile, depth: depth, listsOnlyUnfetched: true)
        search.search()
        let counterexample = try #require(search.counterexample)
        #expect(counterexample.contains("is lost"))
    }
}
