import Platform
import Preferences
import SimulatedPlatform
import Testing

/// What a failure, a change of mind or a stranger must not take out of the history, or bring into it.
@Suite struct `What is kept of a domain` {
    static let file = StoreBench.file("com.example.editor")

    private func history(_ bench: StoreBench) throws -> History {
        try #require(History(of: Self.file, on: bench.process()))
    }

    private static let large: HistoryPolicy = {
        var policy = HistoryPolicy()
        policy.mostCopiedBytes = 10
        return policy
    }()

    private static let failing = FaultPlan([Fault(.fail(.inputOutput), .from(1), of: .rename)])

    static let policies: [(HistoryPolicy, Set<Limitation>)] = [
        (HistoryPolicy(), []), (large, []), (large, [.noHardLinks]),
    ]

    @Test func `goes once no versions are to be kept any more`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        var none = HistoryPolicy()
        none.versions = 0
        try bench.process().commit([DomainEdit(Self.file) { $0.values["a"] = 2 }], policy: none)
        #expect(try history(bench).versions.isEmpty)
        try bench.process().scribble([1, 2, 3], to: Self.file.path)
        #expect { try Self.file.contents(on: bench.process()) } throws: { ($0 as? StoreFailure)?.isDamage == true }
    }
}
