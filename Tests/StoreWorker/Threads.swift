import Platform
import Preferences
import PropertyLists
import Synchronization

// Many threads on one domain. Each checks an invariant.

extension Worker {
    /// `threads DOMAIN ROUNDS`: prints `agreed` if all invariants held.
    func runThreads() throws {
        let crowd = Crowd(try DomainName(argument(0)), in: try store(), rounds: try number(1))
        try crowd.run()
        try crowd.compare(with: try file(0).contents(on: try system).values)
        say("agreed")
    }
}

/// Threads that use instances of one domain concurrently.
private final class Crowd: Sendable {
    /// The violated invariants.
    struct Disagreement: Error { let text: String }

    private let name: DomainName
    private let store: Store
    private let rounds: Int
    /// The instance that most threads share.
    private let shared: Defaults
    private let adders = 3
    private let counter = Setting("counter", default: 0)
    private let mistakes = Mutex<[String]>([])

    init(_ name: DomainName, in store: Store, rounds: Int) {
        self.name = name
        self.store = store
        self.rounds = rounds
        shared = Defaults(name, in: store)
    }

    func run() throws {
        let works: [@Sendable () throws -> Void] =
            (0..<adders).map { number in { try self.add(number) } }
            + [{ self.set("a") }, { self.set("b") }, { self.read() }, { try self.flush() }, { self.observe() }]
            + [{ self.rearrange() }, { try self.edit() }]
        let gates = works.map { work in
            let gate = Gate()
            runOnNewThread {
                do { try work() } catch { self.note("\(error)") }
                gate.open()
            }
            return gate
        }
        for gate in gates { _ = gate.wait() }
        try shared.flush()
        if let mistake = mistakes.withLock({ $0.first }) { throw Disagreement(text: mistake) }
    }

    private func note(_ mistake: String) { mistakes.withLock { $0.append(mistake) } }

    private func expect(_ holds: Bool, _ text: @autoclosure () -> String) {
        if !holds { note(text()) }
    }

    // MARK: Tasks of the threads

    private func add(_ number: Int) throws {
        let defaults = number == 0 ? Defaults(name, in: store) : shared
        for _ in 0..<rounds { try defaults.transaction { $0[counter] += 1 } }
    }

    /// A thread that sets a value reads the same value, and no values of other threads are lost.
    private func set(_ key: String) {
        let other = Defaults(name, in: store)
        for number in 1...rounds * 20 {
            shared.set(number, forKey: key)
            expect(shared.integer(forKey: key) == number, "\(key) is not \(number) where it was set")
            expect(other.integer(forKey: key) == number, "\(key) is not \(number) at another instance")
        }
    }

    private func read() {
        var last = 0
        for _ in 0..<rounds * 50 {
            let value = shared.integer(forKey: counter.key)
            expect(value >= last, "the counter went from \(last) back to \(value)")
            last = value
            _ = shared.explain(counter.key)
        }
    }

    private func flush() throws {
        for _ in 0..<rounds {
            try shared.flush()
            shared.synchronize()
        }
    }

    /// Observers are added and removed. The values of one key that each receives increase.
    private func observe() {
        for _ in 0..<rounds {
            let last = Mutex(0)
            let observation = shared.observe { [self] changes in
                for change in changes.changes where change.key == "a" {
                    let value = change.newValue.flatMap { Int($0.integerValue?.description ?? "") } ?? -1
                    last.withLock { last in
                        expect(value > last, "an observer heard of \(last), then of \(value)")
                        last = value
                    }
                }
            }
            shared.set(1, forKey: "heard")
            _ = shared.integer(forKey: "heard")
            observation.cancel()
        }
    }

    private func rearrange() {
        for round in 0..<rounds {
            shared.addSuite(named: "org.example.suite")
            shared.register(defaults: ["registered": round])
            expect(shared.integer(forKey: "registered") == round, "the registered value is missing")
            shared.removeSuite(named: "org.example.suite")
        }
    }

    private func edit() throws {
        for round in 1...rounds {
            let session = shared.edit()
            session["edited"] = .integer(PropertyList.Integer(round))
            try session.commit()
            expect(shared.integer(forKey: "edited") == round, "the committed value is missing")
        }
    }

    /// In the end, the file has the changes of all threads.
    func compare(with values: PropertyList.Dictionary) throws {
        let expected: PropertyList.Dictionary = [
            "counter": .integer(PropertyList.Integer(adders * rounds)), "heard": 1,
            "a": .integer(PropertyList.Integer(rounds * 20)), "b": .integer(PropertyList.Integer(rounds * 20)),
            "edited": .integer(PropertyList.Integer(rounds)),
        ]
        for entry in expected where values[entry.key] != entry.value {
            throw Disagreement(text: "the file has \(entry.key) = \(values[entry.key].map { "\($0)" } ?? "none")")
        }
    }
}

extension Worker {
    /// `race DOMAIN`: a race that ThreadSanitizer must report, which shows that it works.
    func race() throws {
        let box = RacyBox()
        let gates = (0..<2).map { _ in
            let gate = Gate()
            runOnNewThread {
                for _ in 0..<1000 { box.number += 1 }
                gate.open()
            }
            return gate
        }
        for gate in gates { _ = gate.wait() }
        say("\(box.number > 0)")
    }
}

/// It is declared Sendable, incorrectly, because the race is deliberate.
private final class RacyBox: @unchecked Sendable {
    var number = 0
}
