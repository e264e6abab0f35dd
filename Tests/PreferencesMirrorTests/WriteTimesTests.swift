import MirrorEngine
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@testable import PreferencesMirror

/// The time of a key's write is its own, neither that of its file nor that of another host.
@Suite struct `The time of a key` {
    @Test func `is that of the oldest version since which it has its value`() throws {
        let bench = try MirrorBench()
        let host = try #require(try bench.hosts("a").first)
        let domain: DomainName = "com.example.a"
        let start = bench.disk.clock.wall.milliseconds
        func step(_ key: String, _ value: PropertyList?) throws {
            bench.disk.clock.advance(by: .seconds(10))
            try host.write(key, value, domain)
        }
        try step("deleted early", 1)
        try step("deleted late", 1)
        let status = try #require(try host.fileSystem.status(of: host.file(domain).path))
        try step("deleted early", nil)
        try step("early", 1)
        try step("twice", 1)
        try step("deleted late", nil)
        try step("twice", 2)
        try step("late", 1)
        let history = try #require(History(of: host.file(domain), on: host.system))
        let times = history.writeTimes(of: try host.values(domain), since: MirrorEngine.FileIdentity(status))
        let seconds = times.ofKeys.mapValues { ($0 - start) / 1000 }
        #expect(
            seconds == ["deleted early": 30, "early": 40, "deleted late": 60, "twice": 70, "late": 80])
        #expect(times.ofRemoval == nil)
    }

    @Test func `is in no version that another program wrote, and in no single one`() throws {
        let bench = try MirrorBench()
        let host = try #require(try bench.hosts("a").first)
        let domain: DomainName = "com.example.a"
        try host.write("first", 1, domain)
        let status = try #require(try host.fileSystem.status(of: host.file(domain).path))
        let history = try #require(History(of: host.file(domain), on: host.system))
        bench.disk.clock.advance(by: .seconds(1))
        try host.write("second", 1, domain)
        let identity = MirrorEngine.FileIdentity(status)
        #expect(history.writeTimes(of: ["first": 1, "second": 1], since: identity) == WriteTimes())
        bench.disk.clock.advance(by: .seconds(1))
        try host.write("third", 1, domain)
        let times = history.writeTimes(of: ["second": 1, "third": 3, "stranger": 1], since: identity)
        #expect(times.ofKeys.keys.sorted() == ["second"])
    }

    @Test func `is not that of a key that looks alike`() throws {
        let bench = try MirrorBench()
        let host = try #require(try bench.hosts("a").first)
        let domain: DomainName = "com.example.a"
        let start = bench.disk.clock.wall.milliseconds
        for key in ["caf\u{E9}", "cafe\u{301}"] {
            bench.disk.clock.advance(by: .seconds(10))
            try host.write(key, 1, domain)
        }
        let history = try #require(History(of: host.file(domain), on: host.system))
        let times = history.writeTimes(of: try host.values(domain), since: nil)
        #expect(times.ofKeys.mapValues { ($0 - start) / 1000 } == ["caf\u{E9}": 10, "cafe\u{301}": 20])
    }

    @Test func `of a deleted domain is that of its deletion`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", 1)
        try bench.comeToRest(hosts)
        bench.disk.clock.advance(by: .seconds(10))
        try DomainWriter(hosts[0].system, WriteAuthor(.delete, by: hosts[0].system)).commit([
            DomainEdit(hosts[0].file("com.example.a")) { $0.removesFile = true }
        ])
        bench.disk.clock.advance(by: .seconds(10))
        try hosts[1].write("key", "later")
        bench.disk.clock.advance(by: .seconds(10))
        try bench.comeToRest(hosts)
        for host in hosts { #expect(try host.values() == ["key": "later"], "\(host.name)") }
    }

    @Test func `is not that of another key which its host wrote later`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        for (host, key, value) in [(0, "key", "of a"), (1, "key", "of b"), (0, "other", "of a")] {
            bench.disk.clock.advance(by: .seconds(2))
            try hosts[host].write(key, .string(value))
        }
        bench.disk.clock.advance(by: .seconds(2))
        try bench.comeToRest(hosts)
        for host in hosts { #expect(try host.values() == ["key": "of b", "other": "of a"], "\(host.name)") }
        for host in hosts { #expect(try host.lost() == ["of a"], "\(host.name)") }
    }

    /// The clock of one peer is a year ahead. All other clocks are right.
    @Test(arguments: [true, false])
    func `is correct after a host with a wrong clock wrote another key`(_ isOursLater: Bool) throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("ours", "honest", "wrong")
        let clock = bench.disk.clock
        let right = clock.wall
        clock.setWall(Timestamp(nanoseconds: right.nanoseconds + 365 * 86_400 * 1_000_000_000))
        try hosts[2].write("unrelated", "ahead")
        try hosts[2].sync()
        clock.setWall(right)
        clock.advance(by: .seconds(10))
        try bench.comeToRest([hosts[0], hosts[1]])
        #expect(try hosts[0].values() == ["unrelated": "ahead"])
        for index in isOursLater ? [1, 0] : [0, 1] {
            clock.advance(by: .seconds(10))
            try hosts[index].write("key", .string(hosts[index].name))
        }
        clock.advance(by: .seconds(10))
        try bench.comeToRest(Array(hosts.prefix(2)))
        let (winner, loser) = isOursLater ? (hosts[0], hosts[1]) : (hosts[1], hosts[0])
        for host in hosts.prefix(2) {
            #expect(try host.values() == ["unrelated": "ahead", "key": .string(winner.name)], "\(host.name)")
        }
        for host in [winner, loser] { #expect(try host.lost() == [.string(loser.name)], "\(host.name)") }
    }
}
