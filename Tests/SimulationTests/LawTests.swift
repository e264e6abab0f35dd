import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@testable import Simulation

/// Properties of the files in a mirror that hold for every reader and every order of reading.
@Suite struct `The files of a mirror` {
    private static let rounds = 3

    /// Returns runs that have come to rest.
    private func worlds(_ names: [String]) -> [(world: World, replay: String)] {
        Scenario.all.filter { names.contains($0.name) }.flatMap { scenario in
            (0..<Self.rounds).map { round in
                var run = Run(scenario, round: round)
                run.carryOut()
                return (run.world, run.replay)
            }
        }
    }

    /// The state of a host that reads these files in this order.
    private func state(_ packs: some Sequence<Pack>) -> MergeState {
        var state = LocalState(mirror: SimulatedHost.mirror, writer: WriterID(number: 1))
        for pack in packs { state.apply(.joined(pack, at: SimulatedHost.epoch)) }
        return state.shared.live
    }

    @Test func `give the same state in any order, however often they are read`() {
        for (world, replay) in worlds(["crashes", "seldom exchanges"]) {
            let packs = world.files.sorted { $0.key < $1.key }.map(\.value)
            let expected = state(packs)
            for _ in 0..<3 {
                let order = packs.shuffled(using: &world.generator)
                let again = order.filter { _ in world.chance(0.5) }
                #expect(state(order + again) == expected, "\(replay)")
            }
            for host in world.hosts {
                #expect(host.engine.status.mergeState == expected, "\(replay): \(host.label)")
            }
        }
    }

    /// A base replaces all logs before it. Reading the base, the logs, or both gives the same state, except deletions
    /// that no host needed any longer: the host that forgets them publishes that in the base alone.
    @Test func `give the same state with and without superseded files`() {
        for (world, replay) in worlds(["crashes", "clocks that are off"]) {
            let packs = world.files.values
            let logs = packs.filter { $0.address.name.kind == .log }
            let expected = state(logs).atoms
            for _ in 0..<4 {
                let bases = packs.filter { $0.address.name.kind == .base && world.chance(0.5) }
                let reach = Dictionary(bases.map { ($0.address.writer, $0.address.name.number) }) { max($0, $1) }
                let rest = logs.filter { pack in
                    guard case .log(let log) = pack.content else { return false }
                    return log.last > reach[log.writer] ?? 0 || world.chance(0.2)
                }
                let found = state((bases + rest).shuffled(using: &world.generator)).atoms
                let missing = Set(expected).subtracting(found)
                #expect(Set(found).isSubset(of: expected) && missing.allSatisfy { $0.value == .deleted }, "\(replay)")
            }
        }
    }

    @Test func `give the state that hosts reached step by step`() {
        for (world, replay) in worlds(Extent.sample(4, of: Scenario.all.filter { !$0.hasLongValues }.map(\.name))) {
            // The files of two copies are read again once both are known, which this reader does not do.
            for host in world.hosts where host.engine.status.shared.forks.isEmpty {
                let view = host.view.keys.sorted().compactMap { world.files[$0] }
                var rebuilt = host.durable
                rebuilt.apply(.rebuilt(view))
                #expect(rebuilt.shared.live == host.engine.status.mergeState, "\(replay): \(host.label)")
            }
        }
    }

    @Test func `are not changed if nothing is new`() {
        for (world, replay) in worlds(["late, duplicate and partial files", "joiners"]) {
            world.pass(2000)
            for host in world.hosts {
                host.sync()
                host.actionCount = 0
                host.sync()
                #expect(host.actionCount == 0, "\(replay): \(host.label)")
            }
        }
    }

    @Test func `take a limited number of bytes per change, with all logs and bases`() {
        let bench = Bench { $0.hasForeignSaves = false }
        let host = bench.host("host")
        for number in 0..<300 {
            host.set("key \(number % 40)", to: .string("value \(number)"))
            host.sync()
            bench.settle()
        }
        let written = bench.world.files.values.reduce(0) { $0 + $1.size }
        // A log of one change has some 250 bytes around it; each base here, after three logs, has 40 small values.
        #expect(written < 300 * 250 + 100 * 40 * 60)
        bench.world.pass(90_000)
        host.sync()
        let bytes = host.view.keys.compactMap { bench.world.files[$0]?.size }.reduce(0, +)
        #expect(bytes < 5 * 250 + 2 * 40 * 60)
    }
}

@Suite struct `A host's own write` {
    /// A writer sees its own write, whatever the clocks show.
    @Test func `is in force where it was made`() {
        for round in 0..<20 {
            var generator = SeededGenerator(stream: "own writes", round: round)
            let bench = Bench(round: round)
            let hosts = [bench.host("near"), bench.host("far")]
            for number in 0..<30 {
                let host = hosts[Int.random(in: 0..<hosts.count, using: &generator)]
                // A clock that jumps by centuries.
                host.skew = .random(in: -1 << 34...1 << 34, using: &generator)
                let values: [PropertyList?] = [nil, .string("\(number)"), ["x": .string("\(number)")]]
                let key = ["c", "d"][number % 2]
                host.set(key, to: values[Int.random(in: 0..<values.count, using: &generator)])
                #expect(host.value(key) == host.files["s"]?.values[key], "\(Seed.ofThisRun) round \(round), \(number)")
                if Bool.random(using: &generator) { host.publishNow() }
                if Bool.random(using: &generator) {
                    bench.settle()
                    for host in hosts { host.pullNow() }
                }
            }
            for host in hosts { host.skew = 0 }
            bench.comeToRest()
            #expect(bench.isSound, "\(Seed.ofThisRun) round \(round)")
        }
    }
}
