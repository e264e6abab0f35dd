import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@testable import Simulation

extension Bench {
    /// Whether every host lists a value as a conflict.
    func allList(_ value: PropertyList?) -> Bool { world.hosts.allSatisfy { $0.lists(value) } }

    /// Accepts all conflicts that a host lists. Its user has seen them.
    func accept(on host: SimulatedHost) {
        world.record.note(counted: Set(host.engine.status.mergeState.conflicts.flatMap(\.value.texts)))
        host.acceptAll()
    }

    var noneLists: Bool { world.hosts.allSatisfy(\.listed.isEmpty) }

    /// Returns three hosts that know a value of `a`, which two of them replaced without seeing each other's.
    fileprivate func conflict(
        _ lost: PropertyList? = "lost", _ won: PropertyList? = "won"
    ) -> (author: SimulatedHost, winner: SimulatedHost, third: SimulatedHost) {
        let (author, winner, third) = (host("author"), host("winner"), host("third"))
        author.set("a", to: "of all")
        comeToRest()
        author.set("a", to: lost)
        world.pass(5)
        winner.set("a", to: won)
        comeToRest()
        return (author, winner, third)
    }
}

@Suite struct `A value that lost` {
    @Test(arguments: [("lost", "won"), ("lost", nil), (nil, "won")] as [(String?, String?)])
    func `is listed under one name on all hosts, until one of them accepts it`(_ lost: String?, _ won: String?) {
        let bench = Bench()
        let (author, _, third) = bench.conflict(lost.map(PropertyList.string), won.map(PropertyList.string))
        #expect(bench.allList(lost.map(PropertyList.string)) && bench.isSound && author.listed.count == 1)
        bench.accept(on: third)
        #expect(third.listed.isEmpty && third.engine.status.resolved.count == 1)
        bench.comeToRest()
        #expect(bench.noneLists && bench.isSound && author.value("a") == won.map(PropertyList.string))
    }

    @Test func `is in force again after a user of any host writes it`() {
        let bench = Bench()
        let (author, _, third) = bench.conflict()
        third.set("a", to: "lost")
        bench.comeToRest()
        #expect(bench.noneLists && bench.isSound && author.value("a") == "lost")
    }

    @Test func `remains listed when a user who has not read the list writes another value`() {
        let bench = Bench()
        let (_, _, third) = bench.conflict()
        third.set("a", to: "other")
        bench.comeToRest()
        #expect(bench.allList("lost") && bench.isSound && !third.lists("won"))
    }

    /// What arrives after the list was printed is not accepted.
    @Test func `remains listed if it arrives after the list that a user accepts`() {
        let bench = Bench()
        let (author, winner, third) = bench.conflict()
        let read = third.engine.status.mergeState.conflicts
        for (host, value) in [(author, "later, and lost"), (winner, "in force")] { host.set("a", to: .string(value)) }
        bench.comeToRest()
        let open = third.engine.status.mergeState.conflicts.compactMap(\.value.value?.propertyList)
        bench.world.record.note(counted: Set(read.flatMap(\.value.texts)))
        third.command(.accept(read))
        bench.comeToRest()
        #expect(open.count == 2 && open.contains("lost"))
        #expect(bench.world.hosts.allSatisfy { $0.listed.count == 1 } && !third.lists("lost") && bench.isSound)
    }

    @Test func `keeps its name when hosts compact or rebuild their states`() {
        let bench = Bench { $0.supersededFor = 0 }
        let (author, _, third) = bench.conflict()
        let names = author.listed
        for host in bench.world.hosts {
            host.sync(compacts: true)
            bench.comeToRest()
        }
        third.command(.rebuild(third.view.keys.sorted().compactMap { bench.world.files[$0] }))
        bench.comeToRest()
        let joiner = bench.host("joiner")
        bench.comeToRest()
        #expect(names.count == 1 && bench.world.hosts.allSatisfy { $0.listed == names } && joiner.lists("lost"))
    }

    enum End: CaseIterable { case vanishes, leaves, isRetired, isPurged }

    @Test(arguments: End.allCases, [false, true])
    func `is listed by all others after its author is gone`(_ end: End, _ knowsTheWinner: Bool) {
        let bench = Bench()
        let (author, winner, third) = (bench.host("author"), bench.host("winner"), bench.host("third"))
        bench.comeToRest()
        author.set("a", to: "lost")
        author.publishNow()
        bench.settle()
        third.sync()
        winner.set("a", to: "won")
        if knowsTheWinner { bench.comeToRest() }
        let writer = author.durable.writer
        if end == .leaves {
            author.command(.leave)
            author.sync()
        }
        bench.world.hosts.removeAll { $0 === author }
        if end == .isRetired { third.command(.retire(writer)) }
        if end == .isPurged { third.command(.purge(writer)) }
        bench.comeToRest()
        bench.world.pass(90_000)
        bench.comeToRest()
        #expect(bench.allList("lost") && winner.value("a") == "won" && bench.isSound)
        #expect(third.files(of: writer).isEmpty == [.isRetired, .isPurged].contains(end))
        let joiner = bench.host("joiner")
        bench.comeToRest()
        #expect(joiner.lists("lost") && joiner.engine.status.label(of: writer) != nil)
        bench.accept(on: winner)
        bench.comeToRest()
        #expect(bench.noneLists && bench.isSound)
    }

    @Test func `is listed by a host that leaves or forgets the mirror, and by the others`() {
        for command in [Command.leave, .detach] {
            let bench = Bench()
            let (author, winner, third) = bench.conflict()
            author.command(command)
            bench.comeToRest()
            author.restart()
            bench.comeToRest()
            #expect(bench.allList("lost"))
            bench.world.hosts.removeAll { $0 === author }
            bench.accept(on: winner)
            bench.comeToRest()
            #expect(third.listed.isEmpty && bench.isSound)
        }
    }

    @Test func `is kept by a rebuild from files that arrived in any order`() {
        for round in 0..<6 {
            let bench = Bench(round: round)
            let (author, winner, third) = bench.conflict()
            for number in 0..<2 {
                for host in [author, winner] { host.set("b", to: .string("\(host.label) \(number)")) }
                bench.world.pass(3)
                for host in [author, winner] { host.publishNow() }
                bench.settle()
            }
            bench.comeToRest()
            let before = third.engine.status.shared
            third.set("waiting", to: "of the third")
            let packs = third.view.keys.sorted().compactMap { bench.world.files[$0] }
            third.command(.rebuild(packs.shuffled(using: &bench.world.generator)))
            #expect(third.lists("lost") && third.value("waiting") == "of the third")
            #expect(third.listed == before.live.conflicts.map { $0.name(in: SimulatedHost.mirror) })
            bench.comeToRest()
            #expect(bench.allList("lost") && author.value("waiting") == "of the third" && bench.isSound)
        }
    }

    @Test func `is joined, kept and accepted by a host that does not mirror its domain`() {
        let bench = Bench()
        let (author, winner, third) = (bench.host("author"), bench.host("winner"), bench.host("third"))
        third.command(.remove(domain: "s"))
        bench.comeToRest()
        author.set("a", to: "lost")
        bench.world.pass(5)
        winner.set("a", to: "won")
        bench.comeToRest()
        #expect(bench.allList("lost") && third.files["s"]?.values["a"] == nil)
        #expect(!third.reports.contains { if case .conflict = $0 { true } else { false } })
        bench.accept(on: third)
        bench.comeToRest()
        #expect(bench.noneLists && third.files["s"]?.values["a"] == nil)
    }

    /// Every host reports it once, also the one that wrote it.
    @Test func `is reported once by every host`() {
        let bench = Bench()
        _ = bench.conflict()
        bench.comeToRest()
        for host in bench.world.hosts {
            #expect(host.reports.count { if case .conflict = $0 { true } else { false } } == 1, "\(host.label)")
        }
    }

    @Test func `is only counted beyond the limit of a place, until the count is accepted`() {
        let bench = Bench { $0.losers = 4 }
        let hosts = (0..<6).map { bench.host("host \($0)") }
        bench.comeToRest()
        for host in hosts {
            host.set("a", to: .string(host.label))
            bench.world.pass(5)
        }
        bench.comeToRest()
        // Only a host whose own write exceeds the limit counts.
        #expect(bench.world.hosts.allSatisfy { $0.listed.count == 5 })
        hosts[0].set("a", to: "next")
        bench.comeToRest()
        for host in hosts {
            let conflicts = host.engine.status.mergeState.conflicts
            #expect(conflicts.count { !$0.isOfOlder } <= 4 && conflicts.count(where: \.isOfOlder) == 1)
        }
        bench.accept(on: hosts[3])
        bench.comeToRest()
        #expect(bench.noneLists && hosts[5].value("a") == "next")
    }
}

/// Section 3 of the design: who had seen what.
@Suite struct `A file that a program writes` {
    private static let keys = ["k1", "k2", "k3", "k4", "k5"]

    /// Returns two hosts, and what the file of the first contained before the other changed five keys in turn.
    private func pair() -> (Bench, near: SimulatedHost, far: SimulatedHost, cache: PropertyList.Dictionary) {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        for key in Self.keys { near.set(key, to: .string("old \(key)")) }
        bench.comeToRest()
        let cache = near.files["s"]?.values ?? [:]
        for key in Self.keys {
            far.set(key, to: .string("new \(key)"))
            bench.comeToRest()
        }
        return (bench, near, far, cache)
    }

    @Test(arguments: [false, true]) func `from an old cache replaces nothing that it has not read`(
        _ writesBetween: Bool
    ) {
        let (bench, near, _, cache) = pair()
        if writesBetween {
            near.set("own", to: "by the store")
            bench.comeToRest()
        }
        near.edit("other", to: "in between")
        bench.comeToRest()
        near.save("s", mark: nil) { values in
            for key in Self.keys { values[key] = cache[key] }
        }
        bench.comeToRest()
        for key in Self.keys {
            #expect(bench.allList(.string("new \(key)")) && near.value(key) == cache[key], "\(key)")
        }
        bench.accept(on: near)
        bench.comeToRest()
        #expect(bench.noneLists)
    }

    @Test func `that keeps what the last application brought has seen all of them`() {
        let (bench, near, far, _) = pair()
        near.edit("k2", to: "old k2", mark: nil)
        bench.comeToRest()
        #expect(bench.noneLists && far.value("k2") == "old k2" && bench.isSound)
    }

    @Test func `that toggles a switch back and forth makes no conflicts`() {
        let (bench, near, _, _) = pair()
        for number in 0..<10 {
            near.edit("switch", to: .boolean(number % 2 == 0), mark: nil)
            bench.comeToRest()
            #expect(bench.noneLists, "\(number)")
        }
    }

    @Test func `that is begun to be mirrored makes no conflicts`() {
        for seeding in [Seeding.merge, .remote, .local] {
            let bench = Bench { $0.seeding = seeding }
            let far = bench.host("far")
            far.save("s") { $0 = ["both": "far", "far": 1] }
            far.sync()
            let near = bench.host("near")
            near.pullNow()
            near.save("s") { $0 = ["both": "near", "near": 1] }
            bench.comeToRest()
            #expect(bench.noneLists, "\(seeding)")
            let replaced = near.engine.status.resolved.compactMap(\.value.value?.propertyList)
            #expect(replaced.contains("near") == (seeding != .local), "\(seeding)")
        }
    }

    @Test func `is kept in open conflicts after the state is lost`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        for key in ["a", "b"] { near.set(key, to: "common") }
        bench.comeToRest()
        near.edit("a", to: "not captured")
        near.loseState()
        far.set("b", to: "newer")
        far.publishNow()
        bench.settle()
        bench.comeToRest()
        #expect(bench.allList("not captured") && near.value("a") == "common" && near.value("b") == "newer")
        #expect(near.files["s"]?.values == far.files["s"]?.values)
        bench.accept(on: near)
        bench.comeToRest()
        #expect(bench.noneLists)
    }

    @Test(arguments: [true, false]) func `is held, and its release decides everything`(_ takesFile: Bool) {
        let (bench, near, far, _) = pair()
        near.damage("s") { ($0.content, $0.values) = (.empty, [:]) }
        far.set("k1", to: "while it is held")
        bench.comeToRest()
        #expect(near.engine.status.trackedFile(of: Path(domain: "s"))?.held == .empty)
        #expect(near.value("k1") == "while it is held")
        near.command(.release(domain: "s", takesFile: takesFile))
        bench.comeToRest()
        #expect(bench.noneLists && far.value("k1") == (takesFile ? nil : "while it is held"))
        #expect(near.files["s"]?.values == far.files["s"]?.values)
    }
}

/// Section 6 of the design: hosts that come and go.
@Suite struct `A host that comes back` {
    @Test func `from a backup makes a fork, in which nothing is lost`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        let (writer, backup) = (near.durable.writer, near.durable)
        near.set("a", to: "after the backup")
        bench.comeToRest()
        near.restart(from: backup)
        near.set("b", to: "of the old state")
        near.publishNow()
        bench.comeToRest()
        #expect(near.durable.writer != writer && near.engine.status.numbers.contains(writer))
        #expect(bench.isSound && far.value("a") == "after the backup" && far.value("b") == "of the old state")
    }

    @Test func `as two makes a fork that all hosts know`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        let writer = near.durable.writer
        let clone = bench.clone(near, "clone")
        for (host, value) in [(near, "of near"), (clone, "of the clone")] {
            host.set("a", to: .string(value))
            host.publishNow()
        }
        bench.comeToRest()
        #expect(bench.world.hosts.allSatisfy { $0.engine.status.shared.forks[writer] == 1 })
        let lost: PropertyList = far.value("a") == "of near" ? "of the clone" : "of near"
        #expect(bench.allList(lost) && bench.isSound)
        bench.accept(on: far)
        bench.comeToRest()
        #expect(bench.noneLists && bench.isSound)
    }

    /// In a fork, only bases prove what was replaced. They are large, so a change of anything else causes none.
    @Test(arguments: [("a", true), ("b", false)])
    func `as two makes hosts publish bases, but only when its values change`(_ key: String, _ isForked: Bool) {
        let bench = Bench { $0.leastLogs = .max }
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        let clone = bench.clone(near, "clone")
        for (host, value) in [(near, "of near"), (clone, "of the clone")] {
            host.set("a", to: .string(value))
            host.publishNow()
        }
        bench.comeToRest()
        bench.comeToRest()
        let bases = { Set(bench.world.files.keys.filter { $0.name.kind == .base }) }
        let before = bases()
        far.set(key, to: "of far")
        bench.comeToRest()
        #expect((bases() != before) == isForked && near.value(key) == "of far" && bench.isSound)
    }

    @Test func `as two makes a fork that a reader of the base of one notices`() throws {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        let (writer, known) = (near.durable.writer, Set(near.view.keys))
        let clone = bench.clone(near, "clone")
        clone.set("a", to: "of the clone")
        clone.publishNow()
        bench.settle()
        far.pullNow()
        let hidden = near.view.keys.filter { !known.contains($0) }
        for address in hidden { near.view[address] = nil }
        for key in ["b", "c"] {
            near.set(key, to: "of near")
            near.publishNow()
        }
        try #require(near.durable.writer == writer)
        bench.readBase(of: near, on: far)
        #expect(far.engine.status.shared.forks[writer] != nil)
        for address in hidden { near.view[address] = .whole }
        bench.comeToRest()
        #expect(bench.isSound && near.value("a") == "of the clone" && far.value("c") == "of near")
    }

    @Test func `with a write that its copy has published does not publish it again`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        bench.comeToRest()
        near.set("a", to: "waits")
        let clone = bench.clone(near, "clone")
        clone.publishNow()
        bench.settle()
        far.sync()
        far.set("a", to: "of far")
        far.publishNow()
        bench.comeToRest()
        #expect(bench.noneLists && bench.isSound && near.value("a") == "of far")
    }

    @Test func `after its folder was purged takes another number and publishes everything`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        near.set("a", to: "of near")
        bench.comeToRest()
        let writer = near.durable.writer
        far.command(.purge(writer))
        near.set("b", to: "written meanwhile")
        for _ in 0..<2 {
            bench.comeToRest()
            bench.world.pass(4000)
        }
        let joiner = bench.host("joiner")
        bench.comeToRest()
        #expect(joiner.value("a") == "of near" && joiner.value("b") == "written meanwhile" && bench.isSound)
    }

    @Test func `knows whether another host has read everything before it leaves`() {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        near.set("a", to: "of near")
        #expect(!near.engine.status.isAcknowledged)
        near.publishNow()
        bench.settle()
        #expect(!near.engine.status.isAcknowledged)
        far.sync()
        // A host that publishes nothing else acknowledges within a day.
        bench.world.pass(86_401)
        far.sync()
        bench.comeToRest()
        #expect(near.engine.status.isAcknowledged)
    }

    @Test func `withdraws its values of a domain, and nobody lists them`() {
        let bench = Bench()
        let (author, _, third) = bench.conflict()
        author.command(.remove(domain: "s"))
        author.command(.withdraw(domain: "s"))
        bench.comeToRest()
        #expect(bench.noneLists && third.files["s"]?.values["a"] == "won" && author.files["s"]?.values["a"] == "won")
    }
}
