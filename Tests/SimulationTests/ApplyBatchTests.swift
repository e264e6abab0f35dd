import MirrorEngine
import PropertyLists
import Testing

@testable import Simulation

/// Hosts that write one change at a time, except for transactions with several changes.
@Suite struct `A write in batches` {
    /// The values of `a` in the files of `s` and `t`.
    private typealias Found = [PropertyList?]

    /// Returns the contents of a host's files after it applied another host's changes, with a fault at each point in
    /// turn, for the runs that the test compares.
    private func found(
        _ say: (SimulatedHost) -> Void, goingWrong: (SimulatedHost, Int) -> Void,
        counts: (SimulatedHost) -> Bool = { _ in true }
    ) -> Set<Found> {
        var found: Set<Found> = []
        for point in 1..<40 {
            let bench = Bench { $0.valuesAtOnce = 1 }
            let (near, far) = (bench.host("near"), bench.host("far"))
            bench.comeToRest()
            say(near)
            near.publishNow()
            bench.settle()
            goingWrong(far, point)
            far.sync()
            if counts(far) { found.insert(["s", "t"].map { far.files[$0]?.values["a"] }) }
            bench.comeToRest()
            #expect(bench.isSound, "point \(point)")
        }
        return found
    }

    private func dying(_ host: SimulatedHost, _ point: Int) { host.breaksAt = host.stepCount + point }

    @Test func `is in both files or neither if the change was made at once`() {
        let found = found(
            { near in
                near.edit("a", to: 1, in: "s")
                near.edit("a", to: 1, in: "t")
                near.attempt { try near.capture() }
            }, goingWrong: dying)
        #expect(found == [[nil, nil], [1, 1]])
    }

    @Test func `changes one file after the other if the changes were separate`() {
        let found = found(
            { near in
                near.set("a", to: 1, in: "t")
                near.set("a", to: 1, in: "s")
            }, goingWrong: dying)
        #expect(found == [[nil, nil], [1, nil], [1, 1]])
    }

    @Test func `does not wait for a file that cannot be locked`() {
        let found = found(
            { near in
                near.set("a", to: 1, in: "s")
                near.set("a", to: 1, in: "t")
            }, goingWrong: { host, point in host.failing = point..<(point + 1) },
            counts: { host in host.reports.contains { if case .unwritten = $0 { true } else { false } } })
        #expect(found == [[nil, 1], [1, nil]])
    }

    /// - Parameter count: The number of files that cannot be written. If it is too high, the other files wait for the
    ///   next attempt.
    @Test(arguments: [(1, true), (15, true), (16, false), (100, false)])
    func `waits for few files that cannot be written`(_ count: Int, _ isWritten: Bool) {
        let domains = (0..<count).map { "refused\($0)" }
        let bench = Bench { $0.domains = domains + ["z"] }
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        for domain in domains + ["z"] { near.set("a", to: 1, in: domain) }
        near.publishNow()
        bench.settle()
        far.unwritable = Set(domains)
        far.sync()
        let unwritten = far.reports.compactMap { if case .unwritten(let domain) = $0 { domain } else { nil } }
        #expect(unwritten.count == Set(unwritten).count)
        #expect(Set(unwritten) == Set(domains + (isWritten ? [] : ["z"])))
        #expect(far.files["z"]?.values["a"] == (isWritten ? 1 : nil))
        for _ in 0..<count / 16 { far.sync() }
        #expect(far.files["z"]?.values["a"] == 1)
        far.unwritable = []
        bench.comeToRest()
        #expect(bench.isSound && domains.allSatisfy { far.files[$0]?.values["a"] == 1 })
    }
}
