import Foundation
import Glibc
import Platform
import Preferences
import PropertyLists
import Synchronization
import TestSupport
import Testing

extension `The mirror of this machine` {
    /// Two daemons are killed repeatedly, and a third host exchanges by hand, while eight writers write. Half of the
    /// writers take no locks.
    @Test func `loses nothing if its daemons are killed`() throws {
        let mirror = try MirrorOfProcesses("a", "b", "c")
        let writers = (0..<8).map { number in
            SoakWriter(number, mirror.hosts[number % 3], ignoresLocks: number.isMultiple(of: 2))
        }
        var kills = 0
        run(writers) { kills = killDaemons(of: mirror, until: ContinuousClock.now + Extent.soak) }
        for writer in writers { #expect(writer.failure == nil, "\(writer.number): \(writer.failure ?? "")") }
        pause(.milliseconds(300))
        try mirror.comeToRest(5)
        try check(mirror, writers)
        let count = writers.map(\.acknowledged).reduce(0, +)
        print("soak: \(count) writes, \(kills) kills")
        #expect(kills > 0 && count > 0)
    }

    private func killDaemons(of mirror: MirrorOfProcesses, until deadline: ContinuousClock.Instant) -> Int {
        var random = SeededGenerator(stream: "soak")
        var kills = 0
        let manual = mirror.hosts.count - 1
        var watches = mirror.hosts.dropLast().map { try? WatchProcess($0) }
        while ContinuousClock.now < deadline {
            pause(.milliseconds(Int.random(in: 1...300, using: &random)))
            let victim = Int.random(in: mirror.hosts.indices, using: &random)
            if victim == manual {
                // A file that a writer without locks keeps writing is left for the next exchange, which is status 10.
                let exchange = try? mirror.hosts[manual].run("mirror", "sync")
                #expect([0, 10].contains(exchange?.status), "an exchange by hand: \(exchange?.text ?? "")")
                continue
            }
            watches[victim]?.end(by: SIGKILL)
            kills += 1
            watches[victim] = try? WatchProcess(mirror.hosts[victim])
        }
        for watch in watches { watch?.end(by: SIGTERM) }
        return kills
    }

    /// All hosts have the same values, and each writer's last value is in force or listed as a conflict.
    private func check(_ mirror: MirrorOfProcesses, _ writers: [SoakWriter]) throws {
        let conflicts = try mirror.hosts.map { host in
            try host.run("mirror", "conflicts", "--format", "json").text
        }
        for list in conflicts { #expect(list == conflicts[0], "\(Seed.ofThisRun)") }
        let lost = conflicts[0].split(separator: "\n").compactMap { line in
            try? PropertyList(parsing: Array(line.utf8), as: .json)
        }
        for domain in Set(writers.map(\.domain)) {
            let all = try mirror.hosts.map { try $0.values(domain) }
            for values in all { #expect(values == all[0], "\(domain), \(Seed.ofThisRun)") }
            for writer in writers where writer.domain == domain && writer.acknowledged > 0 {
                let number = all[0][writer.key]?.integerValue.flatMap { Int(exactly: $0) } ?? 0
                let isKept = lost.contains { conflict in
                    conflict["key"] == .string(writer.key)
                        && conflict["lost"]?["value"]?.integerValue.flatMap { Int(exactly: $0) } == writer.acknowledged
                }
                #expect(
                    number == writer.acknowledged || isKept,
                    "\(writer.key) of \(domain): \(number), not \(writer.acknowledged), \(Seed.ofThisRun)")
            }
        }
        for host in mirror.hosts {
            let status = try host.run("mirror", "status")
            #expect([0, 9].contains(status.status), "\(host.name), \(status.status): \(status.text)")
        }
    }

    /// Runs the writers while `body` runs.
    private func run(_ writers: [SoakWriter], while body: () -> Void) {
        let ending = Ending()
        let group = DispatchGroup()
        for writer in writers {
            group.enter()
            Thread.detachNewThread {
                while !ending.hasCome { writer.writeOnce() }
                group.leave()
            }
        }
        body()
        ending.come()
        group.wait()
    }
}

/// Whether the writers must stop.
private final class Ending: Sendable {
    private let state = Atomic(false)

    var hasCome: Bool { state.load(ordering: .acquiring) }

    func come() { state.store(true, ordering: .releasing) }
}

/// A program that increments its own key.
final class SoakWriter: Sendable {
    let number: Int
    let domain: DomainName
    let key: String
    private let host: RealHost
    private let ignoresLocks: Bool
    private let state = Mutex((acknowledged: 0, failure: String?.none))

    init(_ number: Int, _ host: RealHost, ignoresLocks: Bool) {
        self.number = number
        self.host = host
        self.ignoresLocks = ignoresLocks
        key = "writer\(number)"
        // A writer without locks has its own domain on its host, because it would overwrite the changes of others
        // there.
        domain = ignoresLocks ? DomainName(encoding: "com.example.foreign\(number)") : "com.example.common"
    }

    var acknowledged: Int { state.withLock(\.acknowledged) }
    var failure: String? { state.withLock(\.failure) }

    func writeOnce() {
        let next = acknowledged + 1
        do {
            let value = PropertyList.integer(PropertyList.Integer(next))
            if ignoresLocks {
                try host.scribble(key, value, domain)
            } else {
                try host.write(key, value, in: [domain])
            }
            state.withLock { $0.acknowledged = next }
        } catch let failure as StoreFailure where failure.isTimeout {
            // On a busy machine, a lock may not be free in time. The write is not acknowledged, and is repeated.
        } catch {
            state.withLock { $0.failure = "\(SystemClock().wall): \(error)" }
        }
        // An occasional pause of half a second, as in real programs.
        pause(.milliseconds(next.isMultiple(of: 8) ? 500 : 20))
    }
}

extension StoreFailure {
    fileprivate var isTimeout: Bool { if case .locked = problem { true } else { false } }
}
