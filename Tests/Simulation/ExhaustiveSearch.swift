import MirrorEngine
import PropertyLists

/// Every execution of a few hosts that write, exchange, are cloned or restored, up to so many events.
///
/// The mirror's rule is checked at the end of each, after a full exchange. Of executions that differ only in the order
/// of events which do not touch each other, or in the names of hosts, one is carried out.
package struct ExhaustiveSearch {
    /// What may happen.
    package struct Profile: Sendable {
        package let name: String
        var hosts = 3
        /// Whether users write inside the key, too.
        var writesInside = true
        var deletes = false
        var clones = false
        var losesState = false

        package static let all = [
            Profile(name: "writes"), Profile(name: "deletes", hosts: 2, deletes: true),
            Profile(name: "clones", hosts: 2, clones: true), Profile(name: "lost state", hosts: 2, losesState: true),
        ]

        /// Whether no conflict may be needless.
        package var isOrdinary: Bool { !clones && !losesState }
    }

    private let profile: Profile
    private let depth: Int
    private var trace: [Step] = []
    package private(set) var events = 0
    package private(set) var executions = 0
    /// What the shortest execution says that breaks the rule.
    package private(set) var counterexample: String?
    /// How many conflicts were listed although the user whose write is in force had seen what lost.
    package private(set) var needless = 0
    /// The first execution that led to one.
    package private(set) var firstNeedless: String?

    package init(_ profile: Profile, depth: Int) {
        self.profile = profile
        self.depth = depth
    }

    /// Tries all executions of one event, then of two, and so on.
    package mutating func search() {
        for length in 1...depth where counterexample == nil {
            (events, executions, needless) = (0, 0, 0)
            go(SmallWorld(hosts: profile.hosts), touched: [], left: length)
        }
    }

    enum Step: Hashable {
        case write(host: Int, inside: Bool, deletes: Bool, position: Int)
        /// The other host publishes, and this one takes in all that it has said.
        case fetch(host: Int, from: Int)
        case clone(host: Int)
        case loseState(host: Int)

        var host: Int {
            switch self {
            case .write(let host, _, _, _), .fetch(let host, _), .clone(let host), .loseState(let host): host
            }
        }

        /// Whether the order of two steps matters. That of two writes is a choice of its own.
        func touches(_ other: Step) -> Bool {
            if host == other.host { return true }
            return switch (self, other) {
            case (.fetch(_, let from), .fetch(_, let otherFrom)):
                from == other.host || otherFrom == host || from == otherFrom
            case (.fetch(_, let from), .write): from == other.host
            case (.write, .fetch(_, let from)): from == host
            default: true
            }
        }
    }

    private mutating func go(_ world: SmallWorld, touched: Set<Int>, left: Int) {
        let first = (0..<world.hosts.count).first { !touched.contains($0) } ?? world.hosts.count
        for step in steps(world, isLast: left == 1) where counterexample == nil {
            // Hosts that nothing has happened to differ only by name.
            if step.host > first, !touched.contains(step.host) { continue }
            if let last = trace.last, step.host < last.host, !step.touches(last) { continue }
            var next = world
            next.carryOut(step)
            events += 1
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
                    guard !deletes || world.hosts[host].has(inside: inside) else { continue }
                    for position in world.positions(on: host) {
                        steps.append(.write(host: host, inside: inside, deletes: deletes, position: position))
                    }
                }
            }
            for other in world.hosts.indices where other != host && world.hasNews(from: other, for: host) {
                steps.append(.fetch(host: host, from: other))
            }
            if profile.clones, !isLast, world.hosts.count < 3 { steps.append(.clone(host: host)) }
            if profile.losesState, world.hosts[host].mark != nil, !world.hosts[host].hasLostState {
                steps.append(.loseState(host: host))
            }
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
