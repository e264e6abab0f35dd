import Platform
import Preferences
import PropertyLists
import Queries
import Synchronization
import TestSupport
import Testing

/// A clock whose ticks all differ, and which calls an action with the number of each of the first ones.
private final class TickingClock: Clock {
    private let inner: any Clock
    private let count: Int64
    private let action: @Sendable (Int64) -> Void
    private let ticks = Mutex<Int64>(0)

    init(_ inner: any Clock, count: Int64, _ action: @escaping @Sendable (Int64) -> Void) {
        (self.inner, self.count, self.action) = (inner, count, action)
    }

    var wall: Timestamp { inner.wall }
    var now: Instant { inner.now }

    var tick: Instant {
        let number = ticks.withLock { ticks in
            ticks += 1
            return ticks
        }
        if number <= count { action(number) }
        return inner.now.advanced(by: .milliseconds(4 * number))
    }

    func wake(at instant: Instant, _ action: @escaping @Sendable () -> Void) -> any Wakeup {
        inner.wake(at: instant, action)
    }
}

@Suite struct `Queries of settings` {
    static let name: DomainName = "com.example.mail"

    @Test func `select records of the values in force`() throws {
        let defaults = Defaults(Self.name, in: try StoreBench().store())
        try defaults.transaction { draft in
            draft["messages"] = [["id": 1, "read": false], ["id": 2, "read": true], ["id": 3, "read": false]]
            draft["theme"] = "dark"
        }
        let unread = try Query(where: "read == NO", over: ["messages"], sort: "-id")
        #expect(try defaults.records(matching: unread).map { $0.value["id"] } == [3, 1])
        let keys = try defaults.records(matching: Query(where: "SELF == 'dark'")).map(\.key)
        #expect(keys == ["theme"])
    }

    @Test func `are repeated when their result changes`() async throws {
        let defaults = Defaults(Self.name, in: try StoreBench().store())
        let query = try Query(where: "SELF > 1 AND @key BEGINSWITH 'n'")
        var results = defaults.changes(of: query).makeAsyncIterator()
        #expect(try await results.next()?.count == 0)
        try defaults.transaction { $0["n1"] = 5 }
        try defaults.transaction { $0["n2"] = 1 }
        try defaults.transaction { $0["other"] = 7 }
        #expect(try await results.next()?.map(\.key) == ["n1"])
        try defaults.transaction { $0["n3"] = 2 }
        #expect(try await results.next()?.map(\.key) == ["n1", "n3"])
    }

    @Test func `include the changes that are noticed while the first result is read`() async throws {
        let bench = try StoreBench()
        let file = StoreBench.file(Self.name)
        var system = bench.process()
        // Without notifications, every tick checks the file, and finds a change by another process.
        system.watcher = PollingWatcher(system.fileSystem, system.clock, reason: .remoteFileSystem)
        system.clock = TickingClock(system.clock, count: 40) { [process = bench.process()] number in
            try? process.scribble(file.serialized(["n": .integer(.init(number))], as: .xml), to: file.path)
        }
        let defaults = Defaults(Self.name, in: Store(.native, on: system))
        let results = defaults.changes(of: try Query(where: "@key == 'n'"))
        while defaults.integer(forKey: "n") < 40 {}
        var last: PropertyList?
        for try await records in results {
            last = records.first?.value
            if last == 40 { break }
        }
        #expect(last == 40)
    }

    @Test func `that cannot be evaluated end with an error`() async throws {
        let defaults = Defaults(Self.name, in: try StoreBench().store())
        try defaults.transaction { $0["n"] = 5 }
        var query = try Query(where: "SELF > 'x'")
        query.predicate.isStrict = true
        var results = defaults.changes(of: query).makeAsyncIterator()
        await #expect(throws: Query.Predicate.Failure.self) { try await results.next() }
    }
}
