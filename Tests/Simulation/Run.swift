import MirrorEngine
import PropertyLists
import TestSupport

/// One run of a scenario from a seed, and what was found wrong at its end.
struct Run {
    let world: World
    private let round: Int
    private(set) var wrongs: [String] = []

    init(_ scenario: Scenario, seed: Seed = .ofThisRun, round: Int) {
        world = World(seed: seed, round: round, scenario: scenario)
        self.round = round
    }

    /// What to type to see it again.
    var replay: String { "\(Seed.ofThisRun) scenario “\(world.scenario.name)” round \(round)" }

    mutating func carryOut() {
        for number in 0..<world.scenario.hosts {
            let host = SimulatedHost(world, "h\(number)")
            host.skew = skew()
            world.hosts.append(host)
        }
        for step in 0..<world.scenario.steps { take(step) }
        comeToRest()
        check()
    }

    private func skew() -> Int64 {
        world.pick([0, 0, 5, -5, 200, -200] + (world.scenario.skews ? [1_000_000, -1_000_000] : []))
    }

    private func take(_ step: Int) {
        let (world, scenario) = (world, world.scenario)
        world.pass(world.pick([0, 1, 2, 5, 20]))
        let host = world.pick(world.hosts)
        switch Double.random(in: 0..<1, using: &world.generator) {
        case ..<0.45: host.editAnything()
        case ..<0.9: host.sync()
        case ..<0.93 where scenario.skews:
            world.count(.skew)
            host.skew = skew()
        case ..<0.95 where scenario.clones && world.hosts.count < 7: clone(host, step)
        case ..<0.965 where scenario.rollbacks: rollBack(host)
        case ..<0.975 where scenario.joiners && world.hosts.count < 6: join(step)
        default: host.sync(compacts: true)
        }
    }

    private func clone(_ host: SimulatedHost, _ step: Int) {
        world.count(.clone)
        let clone = host.clone("c\(step)")
        if world.chance(0.5) { clone.view = host.view }
        world.hosts.append(clone)
        world.deliverAll(to: clone)
    }

    private func rollBack(_ host: SimulatedHost) {
        guard !host.history.isEmpty else { return }
        world.count(.rollback)
        host.restart(from: world.pick(host.history))
        guard !world.scenario.hasOneView, world.chance(0.5) else { return }
        for address in host.view.keys.sorted() where world.chance(0.5) { host.view[address] = nil }
        world.deliverAll(to: host)
    }

    private func join(_ step: Int) {
        world.count(.joiner)
        let host = SimulatedHost(world, "j\(step)")
        world.hosts.append(host)
        world.deliverAll(to: host)
        world.pass(world.pick([0, 200]))
        host.sync(compacts: true)
    }

    /// All faults end, all files arrive, and all hosts sync until nothing is left to say.
    private func comeToRest() {
        world.canCrash = false
        world.isCalm = true
        for round in 0..<6 {
            world.pass(2000)
            for host in world.hosts { host.sync(compacts: round == 1) }
        }
    }

    private mutating func check() {
        var expected = AtomStore()
        for transaction in world.transactions { for atom in transaction.atoms { expected.join(atom) } }
        for host in world.hosts {
            let local = host.engine.local
            for (domain, shadow) in local.shadows {
                if shadow.held != nil { wrongs.append("\(host.label): \(domain) is held: \(shadow.held as Any)") }
                for (key, exception) in shadow.exceptions { wrongs.append("\(host.label): \(key) \(exception.reason)") }
            }
            if local != host.durable { wrongs.append("\(host.label): the records give another state") }
            for domain in world.scenario.domains {
                let view = PropertyList.Dictionary(local.atoms.keys(of: domain).map { ($0.key, $0.value.propertyList) })
                let want = PropertyList.Dictionary(expected.keys(of: domain).map { ($0.key, $0.value.propertyList) })
                if view != want { wrongs.append("\(host.label): \(domain) is \(view), not \(want)") }
                let file = host.files[domain]?.values ?? [:]
                if file != view { wrongs.append("\(host.label): the file of \(domain) is \(file), the view \(view)") }
            }
            if !local.outbox.isEmpty { wrongs.append("\(host.label): unpublished at rest") }
        }
        wrongs += world.complaints
        // A state that was rolled back has forgotten what was in it.
        if !world.scenario.rollbacks, !world.scenario.clones, !world.lost.isEmpty {
            wrongs.append("lost: \(world.lost)")
        }
        if Set(world.hosts.map { $0.engine.local.digest.state }).count > 1 { wrongs.append("digests differ") }
    }
}
