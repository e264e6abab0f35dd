import MirrorEngine
import TestSupport
import Testing

@testable import Simulation

/// `Tests/run simulate --exhaustive DEPTH` searches deeper, in an optimised build.
@Suite struct `Every small execution` {
    @Test(arguments: Extent.sample(2, of: ExhaustiveSearch.Profile.all.map(\.name)))
    func `reports every lost write`(_ name: String) throws {
        let profile = try #require(ExhaustiveSearch.Profile.all.first { $0.name == name })
        // Less can happen to a value that is merged by a rule of its own.
        var search = ExhaustiveSearch(profile, depth: profile.kind == nil ? 3 : 4)
        search.search()
        #expect(search.counterexample == nil)
        #expect(search.executions > 100)
        if profile.isOrdinary { #expect(search.needless == 0) }
    }
}
