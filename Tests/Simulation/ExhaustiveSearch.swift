import MirrorEngine
import PropertyLists
import TestSupport

/// A search of all executions, up to a number of events, in which a few hosts write, exchange, are cloned or are
/// restored. The mirror's rule is checked at the end of each, after a full exchange. Of executions that differ only in
/// the order of independent events, or in the names of hosts, only one is carried out.
package struct ExhaustiveSearch {
    /// The events that may occur.
    package struct Profile: Sendable {
        package let name: String
        var hosts = 3
        /// Whether users also write an entry inside the key.
        var writesInside = true
        var deletes = false
        var clones = false
        var losesState = false
        /// Whether preference files are restored from a backup without the state, or the state without the files.
        var restoresFiles = false
        var restoresState = false
        /// Whether files of the mirror arrive one at a time, and hosts compact at any time.
        var fetchesSingly = false
        /// The rule by which the key is merged, or nil.
        var kind: MergeKind?

        package static let all = [
            Profile(name: "writes"), Profile(name: "deletes", hosts: 2, deletes: true),
            Profile(name: "single files", hosts: 2, fetchesSingly: true),
            Profile(name: "clones", hosts: 2, clones: true), Profile(name: "lost state", hosts: 2, losesState: true),
            Profile(name: "restored files", hosts: 2, restoresFiles: true),
            Profile(name: "restored state", hosts: 2, restoresState: true),
            Profile(name: "a set", deletes: true, kind: .set),
            Profile(name: "a counter", deletes: true, kind: .counter),
            Profile(name: "a maximum", deletes: true, kind: .maximum),
            Profile(name: "a minimum", deletes: true, kind: .minimum),
            Profile(
                name: "all events", hosts: 2, deletes: true, clones: true, losesState: true, restoresFiles: true,
                restoresState: true, fetchesSingly: true),
        ]

        /// Whether needless conflicts are errors.
        package var isOrdinary: Bool { !clones && !losesState && !restoresFiles && !restoresState }
    }

    private let profile: Profile
    private let depth: Int
    /// Of the executions of the greatest length, about one in this many is carried out, chosen at random.
    private let sample: Int
    private var generator: SeededGenerator
    private var trace: [Step] = []
    package private(set) var executions = 0
    /// A description of the shortest execution that breaks the rule.
    package private(set) var counterexample: String?
    /// The number of conflicts that were listed although the user whose write is in force had seen the displaced value.
    package private(set) var needless = 0
    /// The first execution with such a conflict.
    package private(set) var firstNeedless: String?

    package init(_ profile: Profile, depth: Int, sample: Int = 1) {
        self.profile = profile
        self.depth = depth
        self.sample = sample
        generator = SeededGenerator(stream: "the executions of \(profile.name)")
    }

    /// Searches all executions of one event, then of two, and so on.
    package mutating func search() {
        for length in 1...depth where counterexample == nil {
            (executions, needless) = (0, 0)
            let world = SmallWorld(hosts: profile.hosts, kind: profile.kind)
            go(world, touched: [], left: length)
        }
    }

    /// Counts all sequences of events, including those that the search leaves out.
    package func countSequences() -> Int {
        count(SmallWorld(hosts: profile.hosts, kind: profile.kind), left: depth)
    }

    private func count(_ world: SmallWorld, left: Int) -> Int {
        let steps = steps(world, isLast: left == 1)
        if left == 1 { return steps.count }
        return steps.reduce(0) { count, step in
            var next = world
            next.carryOut(step)
            return count + self.count(next, left: left - 1)
        }
    }

    enum Step: Hashable {
        case write(host: Int, inside: Bool, deletes: Bool, position: Int)
        /// The other host publishes, and this one joins all of its files.
        case fetch(host: Int, from: Int)
        case clone(host: Int)
        case loseState(host: Int)
        /// The preference file or the state is restored to its version before the host's last write.
        case restore(host: Int, state: Bool)
        /// The host publishes, and writes a base if `compacts`.
        case publish(host: Int, compacts: Bool)
        /// The host joins the oldest file of the other that it has not seen.
        case fetchOne(host: Int, from: Int)

        var host: Int {
            switch self {
            case .write(let host, _, _, _), .fetch(let host, _), .clone(let host), .loseState(let host),
                .restore(let host, _), .publish(let host, _), .fetchOne(let host, _):
                host
            }
        }

        /// The other host that the step involves.
        private var other: Int? {
            switch self {
            case .fetch(_, let from), .fetchOne(_, let from): from
            default: nil
            }
        }

        /// Whether the order of two steps matters. The order of two writes is chosen separately.
        func touches(_ other: Step) -> Bool {
            if host == other.host { return true }
            guard Self.isOrdinary(self), Self.isOrdinary(other) else { return true }
            return self.other == other.host || other.other == host || self.other != nil && self.other == other.other
        }

        /// Whether the step changes only its host and the published files of the other host.
        private static func isOrdinary(_ step: Step) -> Bool {
            switch step {
            case .write, .fetch: true
            default: false
            }
        }
    }

    private mutating func go(_ world: SmallWorld, touched: Set<Int>, left: Int) {
        // Chosen before the last two events, because these cost the most.
        if sample > 1, left == 2, trace.count == depth - 2, Int.random(in: 0..<sample, using: &generator) > 0 { return }
        let first = (0..<world.hosts.count).first { !touched.contains($0) } ?? world.hosts.count
        for step in steps(world, isLast: left == 1) where counterexample == nil {
            // Hosts without events differ only by name.
            if step.host > first, !touched.contains(step.host) { continue }
            if let last = trace.last, step.host < last.host, !step.touches(last) { continue }
            var next = world
            next.carryOut(step)
            trace.append(step)
            if left == 1 {
                check(next)
            } else {
                var touched = touched
                touched.insert(step.host)
                if case .fetch(_, let from) = step { touched.insert(from) }
                if case .clone = step { touched.insert(next.hosts.count - 1) }
                go(next, touched: touched, left: left - 1)
            }
            trace.removeLast()
        }
    }

    private func steps(_ world: SmallWorld, isLast: Bool) -> [Step] {
        var steps: [Step] = []
        for host in world.hosts.indices {
            for inside in profile.writesInside ? [false, true] : [false] where world.writes.count < 4 {
                for deletes in profile.deletes ? [false, true] : [false] {
                    guard world.canWrite(host, inside: inside, deletes: deletes) else { continue }
                    for position in world.positions(on: host) {
                        steps.append(.write(host: host, inside: inside, deletes: deletes, position: position))
                    }
                }
            }
            for other in world.hosts.indices where other != host && world.hasNews(from: other, for: host) {
                steps.append(.fetch(host: host, from: other))
                if profile.fetchesSingly, world.unseen(from: other, by: host).count > 1 {
                    steps.append(.fetchOne(host: host, from: other))
                }
            }
            if profile.fetchesSingly, !isLast {
                if world.canPublish(host) { steps.append(.publish(host: host, compacts: false)) }
                if world.hasPublished(host) { steps.append(.publish(host: host, compacts: true)) }
            }
            if profile.clones, !isLast, world.hosts.count < 3 { steps.append(.clone(host: host)) }
            let isIntact = world.hosts[host].mark != nil && !world.hosts[host].wasRestored
            if profile.losesState, isIntact { steps.append(.loseState(host: host)) }
            guard isIntact, world.hosts[host].hasBackup else { continue }
            if profile.restoresFiles { steps.append(.restore(host: host, state: false)) }
            if profile.restoresState { steps.append(.restore(host: host, state: true)) }
        }
        return steps
    }

    private var script: String { trace.map { "\($0)" }.joined(separator: "; ") }

    private mutating func check(_ world: SmallWorld) {
        for usesBases in [false, true] {
            executions += 1
            var end = world
            end.exchangeAll(usesBases: usesBases)
            if end.needless > 0, needless == 0 { firstNeedless = script }
            needless += end.needless
            guard let wrong = end.wrong else { continue }
            counterexample = "\(script) [\(usesBases ? "bases" : "logs")]: \(wrong)"
            return
        }
    }
}
