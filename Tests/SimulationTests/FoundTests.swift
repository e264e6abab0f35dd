import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@testable import Simulation

/// Bugs that long searches found, each as the shortest script that reproduces it.
@Suite struct `A case that the search found` {
    /// A change that is renamed must not lose to a write that it replaced. Their stamps may be equal.
    @Test(arguments: 0..<12) func `a new number does not change the order of equal stamps`(_ round: Int) {
        let bench = Bench(round: round)
        let (origin, peer) = (bench.host("origin"), bench.host("peer"))
        bench.comeToRest()
        let clone = bench.clone(origin, "clone")
        origin.set("a", to: "of the origin")
        peer.set("a", to: "of the peer")
        peer.publishNow()
        bench.settle()
        origin.pullNow()
        clone.set("b", to: "of the clone")
        clone.publishNow()
        bench.comeToRest()
        #expect(bench.isSound)
        #expect(origin.reports.contains { if case .tookNewNumber = $0 { true } else { false } })
    }

    /// The outcome of one application must not be used for another.
    @Test func `locks are not requested twice`() throws {
        let bench = Bench()
        let (near, _, logs) = bench.hostsWithTwoLogs()
        let packs = logs.compactMap { bench.world.files[$0] }
        var engine = near.engine
        let locks = packs.flatMap { pack in
            engine.handle(.fetched([pack.address: .pack(pack)]), at: Moment(now: near.now, random: 1))
        }.filter { if case .lock = $0 { true } else { false } }
        #expect(packs.count == 2 && locks == [.lock(["s"])])
        bench.comeToRest()
        #expect(bench.isSound)
    }

    /// A log that waits for its predecessor is joined after a time limit, whether the predecessor is visible or not.
    @Test func `a host with a waiting log is not idle`() {
        let bench = Bench()
        let (near, _, logs) = bench.hostsWithTwoLogs()
        near.view[logs[0]] = nil
        near.pullNow()
        near.view[logs[1]] = nil
        #expect(!near.mayRest)
        bench.world.pass(601)
        near.sync()
        #expect(near.value("b") == "b")
    }

    /// Two copies of a store publish different values under one transaction number.
    @Test(arguments: 0..<4) func `a value that lost within a fork is listed by all hosts`(_ round: Int) throws {
        let bench = Bench(round: round)
        let (origin, peer) = (bench.host("origin"), bench.host("peer"))
        bench.comeToRest()
        let clone = bench.clone(origin, "clone")
        let values = [(origin, PropertyList.string("of the origin \(round)")), (clone, "clone")]
        for (host, value) in values {
            host.set("a", to: value)
            host.publishNow()
        }
        bench.comeToRest()
        for (_, value) in values where peer.value("a") != value { #expect(bench.allList(value)) }
        peer.set("a", to: "of the peer")
        bench.comeToRest()
        #expect(bench.isSound)
        for (host, _) in values {
            host.restart()
            #expect(bench.world.complaints.isEmpty)
        }
    }

    /// A write into a file that shows neither of two other writers' values replaces both, even if its author knows that
    /// one of them was replaced by the other.
    @Test(arguments: [["first", "second"], ["second", "first"]])
    func `a value that no file showed is listed, whichever write displaced it first`(_ order: [String]) {
        let bench = Bench()
        let (first, second, third) = (bench.host("first"), bench.host("second"), bench.host("third"))
        bench.comeToRest()
        for host in [first, second] {
            host.set("a", to: .string("of the \(host.label)"))
            bench.settle()
        }
        for label in order {
            for host in [first, second] where host.label == label { host.publishNow() }
            bench.settle()
            if label == order[0] { third.interference = { third.edit("b", to: "meanwhile") } }
            third.attempt { try third.send(.directory(.marked([SimulatedHost.mirror]))) }
        }
        third.interference = { third.edit("a", to: "without a look") }
        third.pullNow()
        third.publishNow()
        third.attempt { try third.compact() }
        third.publishNow()
        bench.comeToRest()
        #expect(bench.isSound && first.value("a") == "without a look")
        #expect(bench.allList("of the first") && bench.allList("of the second"))
    }

    /// A base has the writes of a host that is gone. That host knew less than the base does.
    @Test func `a value that a missing host displaced is listed`() {
        let bench = Bench()
        let (gone, keeper, author) = (bench.host("gone"), bench.host("keeper"), bench.host("author"))
        bench.comeToRest()
        author.set("a", to: "beaten")
        author.publishNow()
        bench.settle()
        gone.set("a", to: "winner")
        gone.publishNow()
        bench.settle()
        keeper.sync()
        let writer = gone.durable.writer
        bench.world.hosts.removeAll { $0 === gone }
        keeper.command(.purge(writer))
        bench.settle()
        #expect(author.files(of: writer).isEmpty && author.value("a") == "beaten")
        bench.comeToRest()
        #expect(bench.isSound && author.value("a") == "winner" && bench.allList("beaten"))
    }

    /// Two users wrote the same value. One of them added an entry, and a third user replaced everything without seeing
    /// it.
    @Test func `a value that another user's write contains is listed where it was written too`() {
        let bench = Bench()
        let (left, right, third) = (bench.host("left"), bench.host("right"), bench.host("third"))
        bench.comeToRest()
        for host in [right, left] {
            host.set("a", to: ["x": "both"])
            host.publishNow()
            bench.settle()
        }
        right.pullNow()
        left.pullNow()
        left.set("a", to: ["x": "both", "y": "of the left"])
        left.publishNow()
        bench.settle()
        right.pullNow()
        third.set("a", to: "without a look")
        bench.comeToRest()
        #expect(bench.isSound && right.value("a") == "without a look")
        #expect(bench.allList(["x": "both", "y": "of the left"]))
    }

    /// A user replaced two writes of another user, one after the other, whose host reads only a base.
    @Test func `no write is listed that was replaced together with an older one of its writer`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        for value: PropertyList in ["text", ["y": "one"], ["y": "two"]] {
            near.set("d", to: value)
            bench.comeToRest()
        }
        for value in ["three", "four"] {
            far.set("d", to: ["y": .string(value)])
            far.publishNow()
        }
        bench.readBase(of: far, on: near)
        #expect(near.value("d") == ["y": "four"] && near.listed.isEmpty)
    }

    /// A user replaced the only entry of a dictionary and then the dictionary. The dictionary's author reads only a
    /// base.
    @Test func `no dictionary is listed whose every entry was replaced before`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        for value: PropertyList in ["text", ["x": "one"]] {
            near.set("d", to: value)
            bench.comeToRest()
        }
        for value: PropertyList in [["x": "two"], "all"] {
            far.set("d", to: value)
            far.publishNow()
        }
        bench.readBase(of: far, on: near)
        #expect(near.value("d") == "all" && near.listed.isEmpty)
    }

    /// A user removed a value, or a part of it, that another host had deleted unseen. The file did not show the
    /// deletion yet, so the user's own removal replaced the value.
    @Test(arguments: [nil, ["y": "other"]] as [PropertyList?])
    func `a removal of what another host deleted has seen what its own file showed`(_ change: PropertyList?) {
        let bench = Bench()
        let (author, blind, third) = (bench.host("author"), bench.host("blind"), bench.host("third"))
        author.set("d", to: "text")
        bench.comeToRest()
        author.set("d", to: ["x": "replaced"])
        author.publishNow()
        bench.settle()
        third.pullNow()
        blind.set("d", to: nil)
        blind.publishNow()
        bench.settle()
        third.interference = { third.edit("d", to: change) }
        third.pullNow()
        third.set("d", to: "all")
        third.publishNow()
        author.view = author.view.filter { $0.key.writer != blind.durable.writer }
        bench.readBase(of: third, on: author)
        #expect(author.value("d") == "all" && author.listed.isEmpty)
        bench.comeToRest()
        #expect(bench.isSound)
    }

    /// A crash occurred between the intent to write a file and the write, so the user saw the previous values.
    @Test func `a user who saves after a crash has seen the values in the file`() {
        var crashes = 0
        for step in 1...12 {
            let bench = Bench()
            let (near, far, third) = (bench.host("near"), bench.host("far"), bench.host("third"))
            third.set("a", to: "first")
            bench.comeToRest()
            far.set("a", to: "second")
            far.publishNow()
            bench.settle()
            near.breaksAt = near.stepCount + step
            near.pullNow()
            guard near.durable.application != nil, near.files["s"]?.values["a"] == "first" else { continue }
            crashes += 1
            near.edit("b", to: "meanwhile")
            near.attempt { try near.capture() }
            near.set("a", to: "third")
            near.publishNow()
            third.view = third.view.filter { $0.key.writer != far.durable.writer }
            bench.readBase(of: near, on: third)
            #expect(third.value("a") == "third" && third.listed.count == 1 && third.lists("second"))
        }
        #expect(crashes > 0)
    }

    /// A crash occurred after the mirror wrote a file, and the file could not be captured then. Meanwhile the previous
    /// value came into force again.
    @Test(arguments: ["excluded", "unreadable"])
    func `a value that a crash left in a file is nobody's edit`(_ reason: String) {
        var crashes = 0
        for step in 1...20 {
            let bench = Bench()
            let (near, far) = (bench.host("near"), bench.host("far"))
            near.set("a", to: "first")
            bench.comeToRest()
            far.set("a", to: "second")
            far.publishNow()
            bench.settle()
            near.breaksAt = near.stepCount + step
            near.pullNow()
            guard near.durable.application != nil, near.files["s"]?.values["a"] == "second" else { continue }
            crashes += 1
            if reason == "excluded" {
                near.command(.remove(domain: "s"))
            } else {
                near.files["s"]?.content = .unreadable
            }
            near.attempt { try near.capture() }
            #expect(near.durable.application == nil)
            far.set("a", to: "first")
            far.publishNow()
            bench.settle()
            near.pullNow()
            near.command(.add(domain: "s"))
            near.files["s"]?.content = nil
            bench.comeToRest()
            #expect(bench.isSound && near.value("a") == "first" && far.value("a") == "first", "step \(step)")
            #expect(near.durable.sequence == 1, "step \(step)")
        }
        #expect(crashes > 0)
    }

    /// A user removed an entry that another host's text had replaced. The rest of the dictionary hides the text.
    @Test func `a hidden write of another host is not listed as one's own`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        near.set("d", to: ["y": "one"])
        bench.comeToRest()
        far.set("d", to: "text")
        bench.settle()
        near.set("d", to: ["y": "one", "x": "two"])
        far.publishNow()
        bench.settle()
        near.interference = { near.edit("d", to: ["x": "two"]) }
        near.pullNow()
        #expect(near.value("d") == ["x": "two"])
        for value: PropertyList in ["three", "four"] {
            far.set("d", to: value)
            far.publishNow()
        }
        bench.readBase(of: far, on: near)
        #expect(near.value("d") == "four" && near.lists("two") && !near.lists("text"))
        bench.comeToRest()
        #expect(bench.isSound)
    }

    /// Files lost from our folder are published again, also under a new name.
    @Test func `a new number publishes the pending changes of the old one`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        near.set("b", to: "said once, and lost")
        near.publishNow()
        let former = near.durable.writer
        bench.settle()
        bench.world.lose(bench.world.files.keys.filter { $0.writer == former })
        // A copy of this state publishes a change, so a new name is required.
        let clone = bench.clone(near, "clone")
        bench.world.hosts.removeAll { $0 === clone }
        clone.set("c", to: "of the clone")
        clone.publishNow()
        bench.settle()
        // The clone's log waits for its predecessor, which is lost.
        for _ in 0..<2 {
            bench.world.pass(4000)
            bench.comeToRest()
        }
        #expect(near.durable.writer != former && far.value("b") == "said once, and lost" && bench.isSound)
    }

    /// A host that exists twice must not publish under a number if others know more of its writes. A base with these
    /// writes would contain more of that number than its last change, and no host could read it.
    @Test func `a copy that only other hosts know causes a new number`() {
        let doubled = Doubled(changes: 2, peerSets: "c")
        doubled.origin.sync(compacts: true)
        #expect(doubled.hasNewName)
        doubled.comeToRest()
        #expect(doubled.peer.value("a") == "of the origin" && doubled.bench.isSound)
    }

    /// An unpublished change differs from a copy's published change with the same name and number. A writer that
    /// replaces the published one has not seen ours.
    @Test(arguments: 1...3) func `a change is not taken for one of a copy that others have seen`(_ count: Int) {
        let doubled = Doubled(changes: count, peerSets: "a")
        doubled.origin.pullNow()
        #expect(doubled.hasNewName)
        doubled.comeToRest()
        #expect(doubled.origin.value("a") == "of the peer" && doubled.bench.allList("of the origin"))
        #expect(doubled.bench.isSound)
    }

    /// A state from the middle of an exchange does not know which files the rest of the exchange changed. Taken for
    /// edits, their new values would count as replacing what the files showed before, and nobody would list that.
    @Test func `a state from the middle of an exchange does not take the rest for edits`() {
        let steps = 1...30
        let states = steps.map { Interrupted(at: $0).near.durable }
        #expect(states.contains { $0.application != nil && !$0.restoreMarkers.isOpen })
        for death in stride(from: 2, through: steps.upperBound, by: 4) {
            for backup in 1..<death {
                let interrupted = Interrupted(at: death)
                let near = interrupted.near
                near.restart(from: states[backup - 1])
                interrupted.bench.comeToRest()
                #expect(interrupted.bench.isSound, "a state of step \(backup), and a crash at step \(death)")
            }
        }
    }

    /// A host that dies while it changes two files one by one, with values whose authors have not seen what they
    /// replaced.
    private struct Interrupted {
        let bench = Bench { $0.valuesAtOnce = 1 }
        let near: SimulatedHost

        init(at step: Int) {
            near = bench.host("near")
            let (second, third) = (bench.host("second"), bench.host("third"))
            bench.comeToRest()
            second.set("a", to: "of the second", in: "t")
            second.publishNow()
            bench.settle()
            near.sync()
            third.set("a", to: "of the third", in: "t")
            third.publishNow()
            third.set("b", to: "of the third", in: "s")
            third.publishNow()
            bench.settle()
            near.breaksAt = near.stepCount + step
            near.sync()
        }
    }

    /// The writes that a host published under its former name are its own. If the host replaces them, it has seen them,
    /// although its file still waits for the changes of others.
    @Test func `a new number has seen the writes of the former one`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        far.set("b", to: "waits for the file")
        far.publishNow()
        bench.settle()
        near.unwritable = ["s"]
        near.pullNow()
        near.set("a", to: "first")
        near.publishNow()
        let former = near.durable.writer
        let clone = bench.clone(near, "clone")
        clone.set("d", to: "of the clone")
        clone.publishNow()
        bench.settle()
        near.pullNow()
        near.set("a", to: "second")
        let covered = near.durable.outbox.last?.changes.first?.covers.compactMap(\.name.dot)
        near.unwritable = []
        bench.comeToRest()
        #expect(near.durable.writer != former && covered == [TransactionID(writer: former, sequence: 1)])
        #expect(far.value("a") == "second" && bench.isSound)
    }

    /// The knowledge of a writer at one of its logs is what that log states, even if later logs state more.
    @Test func `a log that arrives after a later one does not extend its knowledge`() throws {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        near.set("a", to: "beaten")
        near.publishNow()
        for (key, value) in [("b", "first"), ("a", "winner")] as [(String, PropertyList)] {
            far.set(key, to: value)
            far.publishNow()
        }
        bench.settle()
        far.pullNow()
        far.set("b", to: "knowing")
        far.publishNow()
        bench.settle()
        let logs = near.files(of: far.durable.writer).filter { $0.name.kind == .log }
        let overtaken = try #require(logs.count == 3 ? logs[1] : nil)
        for seconds: Int64 in [0, 601] {
            bench.world.pass(seconds)
            for late in near.files(of: far.durable.writer) where late.name.kind == .base { near.view[late] = nil }
            near.view[overtaken] = nil
            near.pullNow()
        }
        #expect(near.value("b") == "knowing" && near.value("a") == "beaten")
        bench.world.deliver(overtaken, to: near)
        bench.settle()
        near.pullNow()
        #expect(near.value("a") == "winner" && near.lists("beaten"))
        bench.world.deliverAll(to: near)
        bench.comeToRest()
        #expect(bench.isSound)
    }

    /// Two values hide an entry at the same time, and its author receives only one of them.
    @Test func `an entry that two values hide is listed`() {
        let bench = Bench()
        let (author, other, own) = (bench.host("author"), bench.host("other"), bench.host("own"))
        author.set("d", to: ["x": "common"])
        bench.comeToRest()
        author.set("d", to: ["x": "common", "y": "beaten"])
        bench.settle()
        other.set("d", to: "over all of it")
        bench.settle()
        own.set("d", to: ["x": "common", "y": "winner"])
        for host in [other, author] {
            host.publishNow()
            bench.settle()
            own.pullNow()
        }
        own.publishNow()
        own.attempt { try own.compact() }
        own.publishNow()
        bench.comeToRest()
        #expect(bench.isSound && author.value("d") == ["y": "winner"])
        #expect(bench.allList("beaten"))
    }
}

/// A host with an unpublished change, whose copy has published changes under the same name. A peer has seen and
/// mentions them, but the host itself does not see them.
private struct Doubled {
    let bench = Bench()
    let origin: SimulatedHost
    let peer: SimulatedHost
    private let former: WriterID
    private let logs: [PackAddress]

    init(changes: Int, peerSets key: String) {
        (origin, peer) = (bench.host("origin"), bench.host("peer"))
        bench.comeToRest()
        former = origin.durable.writer
        let clone = bench.clone(origin, "clone")
        for number in 0..<changes {
            clone.set("b", to: .integer(.init(number)))
            clone.publishNow()
        }
        origin.set("a", to: "of the origin")
        bench.settle()
        peer.pullNow()
        peer.set(key, to: "of the peer")
        peer.publishNow()
        bench.settle()
        logs = origin.files(of: former).filter { $0.name.kind == .log }
        for log in logs { origin.view[log] = nil }
    }

    var hasNewName: Bool { !logs.isEmpty && origin.durable.writer != former }

    func comeToRest() {
        for log in logs { origin.view[log] = .whole }
        bench.comeToRest()
    }
}
