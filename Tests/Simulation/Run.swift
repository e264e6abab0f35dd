import Foundation
import MirrorEngine
import PropertyLists
package import TestSupport

/// A run of a scenario from a seed, with the failures at its end.
package struct Run {
    package let world: World
    private let seed: Seed
    private let round: Int
    /// The steps to leave out, which is how a failing run is shrunk.
    private let omitted: Set<Int>
    package private(set) var wrongs: [String] = []

    package init(_ scenario: Scenario, seed: Seed = .ofThisRun, round: Int, without omitted: Set<Int> = []) {
        world = World(seed: seed, round: round, scenario: scenario)
        self.seed = seed
        self.round = round
        self.omitted = omitted
    }

    /// The command that repeats the run.
    package var replay: String {
        let steps = omitted.isEmpty ? "" : " --without " + omitted.sorted().map(String.init).joined(separator: ",")
        return "\(seed) Tests/run simulate --scenario '\(world.scenario.name)' --round \(round)" + steps
    }

    package mutating func carryOut() {
        for number in 0..<world.scenario.hosts {
            let host = SimulatedHost(world, "h\(number)")
            host.skew = skew()
            world.hosts.append(host)
        }
        // A file that begins to be mirrored is taken as a whole.
        if world.scenario.mergesByKind { for host in world.hosts { host.sync() } }
        for step in 0..<world.scenario.steps where !omitted.contains(step) {
            world.begin(step)
            world.log("step \(step)")
            take(step)
            if world.scenario.onlyClones, world.chance(0.5) { world.readFirst() }
        }
        world.begin(world.scenario.steps)
        comeToRest()
        check()
    }

    /// Returns this run without the steps that are not needed for it to fail.
    package func shrunk() -> Run {
        var shortest = self
        let isWrong = !wrongs.isEmpty
        var length = max(1, world.scenario.steps / 2)
        while true {
            for start in stride(from: 0, to: world.scenario.steps, by: length) {
                let omitted = shortest.omitted.union(start..<min(world.scenario.steps, start + length))
                guard omitted.count > shortest.omitted.count else { continue }
                var run = Run(world.scenario, seed: seed, round: round, without: omitted)
                run.carryOut()
                if isWrong ? !run.wrongs.isEmpty : !run.world.needless.isEmpty { shortest = run }
                run.world.end()
            }
            guard length > 1 else { return shortest }
            length /= 2
        }
    }

    private func skew() -> Int64 {
        world.pick([0, 0, 5, -5, 200, -200] + (world.scenario.skews ? [1_000_000, -1_000_000] : []))
    }

    private func take(_ step: Int) {
        let (world, scenario) = (world, world.scenario)
        if scenario.isOfOnePerson { return world.spendPartOfDay() }
        world.pass(world.pick([0, 1, 2, 5, 20]))
        if world.chance(0.15) { world.passMedium() }
        if world.misfortune(0.04) { befall(step) }
        let host = world.pick(world.hosts.filter { !$0.isAway })
        if !scenario.actors.isEmpty, world.chance(0.15) { return world.act(world.pick(scenario.actors), on: host) }
        switch Double.random(in: 0..<1, using: &world.generator) {
        case ..<(scenario.syncsSeldom ? 0.8 : 0.45): host.editAnything()
        case ..<0.9: host.sync()
        case ..<0.93 where scenario.skews: disturbClock(host)
        case ..<0.95 where scenario.clones && world.hosts.count < 7: clone(host, step)
        case ..<0.965 where scenario.rollbacks: rollBack(host)
        case ..<0.975 where scenario.joiners && world.hosts.count < 6: join(step)
        default: host.sync(compacts: true)
        }
    }

    /// Lets a rare event occur.
    private func befall(_ step: Int) {
        let host = world.pick(world.hosts.filter { !$0.isAway })
        let domain = world.pick(world.scenario.domains)
        switch Int.random(in: 0..<7, using: &world.generator) {
        case 0, 1: world.changeDirectory(host)
        case 2: world.addStrayFile(host)
        case 3 where world.scenario.losesFiles: world.loseFiles()
        case 4 where world.scenario.restoresFiles: host.restoreFile()
        case 4 where world.scenario.restoresConfiguration: world.restoreConfiguration(of: host)
        case 4 where world.scenario.restoresMachines: world.restoreMachine(host)
        case 4 where world.scenario.losesState: world.loseState(of: host)
        case 5:
            world.count(.domainRemoved)
            host.command(.remove(domain: domain))
        case 6 where world.hosts.allSatisfy { !$0.isAway } && world.hosts.count > 2 && world.chance(0.2):
            world.count(.yearAway)
            host.isAway = true
        default: host.command(.add(domain: domain))
        }
    }

    private func disturbClock(_ host: SimulatedHost) {
        if world.misfortune(0.5) {
            let fault = world.pick(HostClock.faults)
            world.count(fault)
            host.clock.setFault(at: world.time, fault)
        } else {
            world.count(.skew)
            host.clock.mend(at: world.time)
            host.skew = skew()
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
        guard world.medium == .cloud, world.chance(0.5) else { return }
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

    /// Ends all faults, lets all files arrive, makes all pending decisions, and syncs all hosts until nothing remains
    /// to be exchanged.
    private func comeToRest() {
        world.canCrash = false
        world.isCalm = true
        for host in world.hosts {
            host.clock.mend(at: world.time)
            if host.isOld { host.upgrade() }
            host.keep([])
        }
        returnFromAbsence()
        for host in world.hosts {
            for domain in world.scenario.domains { host.command(.add(domain: domain)) }
        }
        for round in 0..<6 {
            world.pass(2000)
            for host in world.hosts {
                host.sync(compacts: round == 1)
                decide(host)
            }
        }
    }

    /// Lets the other hosts continue for a year, and then brings back those that were away.
    private func returnFromAbsence() {
        guard world.hosts.contains(where: \.isAway) else { return }
        for _ in 0..<4 {
            for host in world.hosts { host.sync(compacts: true) }
            world.pass(7_884_000)
        }
        for host in world.hosts { host.isAway = false }
    }

    /// Decides for each held domain whether to accept its file or the mirror.
    private func decide(_ host: SimulatedHost) {
        for (domain, trackedFile) in host.durable.trackedFiles.sorted(by: { $0.key < $1.key })
        where trackedFile.held != nil {
            host.command(.release(domain: domain.domain, takesFile: world.chance(0.5)))
        }
    }

    private mutating func check() {
        let haveRoom = !world.hosts.contains(where: world.lacksRoom)
        for host in world.hosts {
            let local = host.durable
            for (domain, trackedFile) in local.trackedFiles {
                if trackedFile.held != nil {
                    wrongs.append("\(host.label): \(domain) is held: \(trackedFile.held as Any)")
                }
                for (key, exception) in trackedFile.exceptions where !host.isLeft(key) {
                    wrongs.append("\(host.label): \(key) \(exception.reason)")
                }
            }
            if !host.engine.status.matches(local) { wrongs.append("\(host.label): the records give another state") }
            for domain in world.scenario.domains {
                let view = PropertyList.Dictionary(host.values(domain))
                let want = PropertyList.Dictionary(world.hosts[0].values(domain))
                if haveRoom, view != want { wrongs.append("\(host.label): \(domain) is \(view), not \(want)") }
                let file = PropertyList.Dictionary(host.mirroredValues(domain)).inOrder
                if file != view.inOrder {
                    wrongs.append("\(host.label): the file of \(domain) is \(file), the view \(view)")
                }
            }
            if !local.outbox.isEmpty, !world.lacksRoom(host) { wrongs.append("\(host.label): unpublished at rest") }
        }
        guard haveRoom else { return }
        if world.scenario.isOfOnePerson { world.hosts.forEach(world.checkConflictsOfPerson) }
        wrongs += world.complaints
        let unreported = world.unreported
        if !unreported.isEmpty { wrongs.append("unreported: \(unreported)") }
        let lists = world.hosts.map(\.listed)
        if let other = lists.first(where: { $0 != lists[0] }) {
            wrongs.append("hosts list different conflicts: \(lists[0].count) and \(other.count)")
        }
        if world.scenario.isOrdinary { wrongs += world.needless.map { "needless: \($0)" } }
        if world.scenario.mergesByKind, world.scenario.isOrdinary { checkMerged() }
        accept()
    }

    /// Values that are merged by kind are never conflicts, and no addition is lost or counted twice.
    private mutating func checkMerged() {
        guard let host = world.hosts.first else { return }
        for conflict in host.engine.status.mergeState.conflicts
        where ["words", "count", "newest"].contains(conflict.place.key) {
            wrongs.append("a conflict of \(conflict.place): \(conflict.value)")
        }
        for domain in world.scenario.domains {
            let count = PropertyList.Dictionary(host.values(domain))["count"]
            let sum = world.record.added[domain].map { PropertyList.integer(PropertyList.Integer($0)) }
            if count != sum { wrongs.append("the counter of \(domain) is \(count as Any), not \(sum as Any)") }
        }
    }

    /// After all conflicts are accepted on one host and exchanged, none is open.
    private mutating func accept() {
        guard wrongs.isEmpty, let host = world.hosts.first else { return }
        world.log("ACCEPT \(host.engine.status.mergeState.conflicts) of \(host.engine.status.mergeState.atoms)")
        host.acceptAll()
        world.log("AFTER \(host.engine.status.mergeState.conflicts)")
        for _ in 0..<3 {
            world.pass(2000)
            for host in world.hosts { host.sync() }
        }
        // A host without room for its files cannot publish that it has accepted, and reports that.
        let hasRoom = world.scenario.bytesOfWriter == EngineLimits().bytesOfWriter
        let exceedsQuota = host.engine.status.exceedsQuota(at: Moment(now: host.now, random: 0))
        guard hasRoom || host.durable.outbox.isEmpty && !exceedsQuota else { return }
        for host in world.hosts where !host.listed.isEmpty {
            wrongs.append("\(host.label): open after they were accepted: \(host.engine.status.mergeState.conflicts)")
        }
    }
}

extension PropertyList.Dictionary {
    /// The values with arrays in the order in which the mirror has them.
    var inOrder: PropertyList.Dictionary {
        PropertyList.Dictionary(map { ($0.key, $0.value.asSet ?? $0.value) })
    }
}
