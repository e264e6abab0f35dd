import MirrorEngine
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@testable import PreferencesMirror

/// Two hosts and one directory.
@Suite struct `A write of one host` {
    @Test func `of files that do not fit into memory together takes one after the other`() throws {
        let bench = try MirrorBench()
        let first = try bench.hosts("a")[0]
        let joiner = try bench.stranger("b")
        for domain in ["com.example.a", "com.example.b"] as [DomainName] { try first.write("key", 1, domain) }
        for domain in ["com.example.a", "com.example.b", "com.example.c"] as [DomainName] {
            try joiner.write("key", 2, domain)
        }
        try first.sync()
        try joiner.enter(isFirst: false)
        try joiner.select { $0.add("com.*") }
        var session = try joiner.session()
        session.bytesOfFilesAtOnce = 1
        try session.sync(.push) { bench.disk.clock.advance(by: $0) }
        #expect(session.troubles == [])
        #expect(!session.takeReports().contains { if case .unwritten = $0 { true } else { false } })
        #expect(
            try ["com.example.a", "com.example.b", "com.example.c"].map { try joiner.values($0)["key"] } == [1, 1, 2])
        try bench.comeToRest([first, joiner])
        #expect(try first.values("com.example.c") == ["key": 2])
    }

    @Test func `reaches another host`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", 1)
        try hosts[0].sync()
        try hosts[1].sync()
        #expect(try hosts[1].values() == ["key": 1])
        try hosts[1].write("key", nil)
        try bench.comeToRest(hosts)
        #expect(try hosts[0].values() == [:])
    }

    @Test func `to several domains at once arrives completely`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let domains: [DomainName] = ["com.example.a", "com.example.b", "com.example.c"]
        try hosts[0].write("key", 1, in: domains)
        let session = try hosts[0].sync()
        #expect(session.unpublishedCount == 0 && session.engine.status.lastPublished == 1, "one transaction")
        try hosts[1].sync()
        for domain in domains { #expect(try hosts[1].values(domain) == ["key": 1]) }
        let versions = try domains.map { domain in
            try #require(History(of: hosts[1].file(domain), on: hosts[1].system)?.versions.last)
        }
        #expect(Set(versions.map(\.transaction)).count == 1)
        #expect(versions.allSatisfy { $0.author.reason.word == "mirror" })
    }

    @Test func `to a domain that is not mirrored is not published`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        for domain: DomainName in ["org.other", .global, "prefs"] { try hosts[0].write("key", "secret", domain) }
        try bench.comeToRest(hosts)
        for domain: DomainName in ["org.other", .global, "prefs"] { #expect(try hosts[1].values(domain) == [:]) }
        try hosts[0].select { $0.add("NSGlobalDomain") }
        try hosts[1].select { $0.add("NSGlobalDomain") }
        try bench.comeToRest(hosts)
        #expect(try hosts[1].values(.global) == ["key": "secret"])
    }

    @Test func `stays there if a schema declares it`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        for host in hosts { try host.install(home: ["token"], secrets: ["account"], ofCommand: ["pin"]) }
        try hosts[0].write("token", "secret")
        try hosts[0].write("account", ["password": "secret"])
        try hosts[0].write("pin", "secret")
        try hosts[0].write("former-pin", "secret")
        try hosts[0].write("other", 1)
        try bench.comeToRest(hosts)
        #expect(try hosts[1].values() == ["other": 1])
        #expect(try hosts[0].values().count == 5)
        for bytes in try bench.directoryContents().values {
            #expect(!String(decoding: bytes, as: UTF8.self).contains("secret"))
        }
    }

    @Test func `while both were offline has one winner, and the lost value is kept`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", "first")
        bench.disk.clock.advance(by: .seconds(1))
        try hosts[1].write("key", "second")
        try bench.comeToRest(hosts)
        for host in hosts { #expect(try host.values() == ["key": "second"]) }
        for host in hosts {
            #expect(try host.condition() == .conflicts)
            #expect(try host.lost() == ["first"], "\(host.name)")
        }
    }

    @Test func `to two entries of one dictionary keeps both`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        for host in hosts { try host.install(merging: ["window"]) }
        try hosts[0].write("window", ["width": 1, "height": 1])
        try bench.comeToRest(hosts)
        try hosts[0].write("window", ["width": 2, "height": 1])
        try hosts[1].write("window", ["width": 1, "height": 3])
        try bench.comeToRest(hosts)
        for host in hosts { #expect(try host.values()["window"] == ["width": 2, "height": 3]) }
        for host in hosts { #expect(try host.condition() == .inSync) }
    }

    @Test func `before it is mirrored only fills gaps`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a")
        try hosts[0].write("key", "theirs")
        try hosts[0].sync()
        let newcomer = try bench.stranger("b")
        try newcomer.write("key", "ours")
        try newcomer.write("gap", "ours")
        try newcomer.enter(isFirst: false)
        try newcomer.select { $0.add("com.*") }
        try bench.comeToRest([hosts[0], newcomer])
        for host in [hosts[0], newcomer] { #expect(try host.values() == ["key": "theirs", "gap": "ours"]) }
        // The replaced values are in the history.
        let history = try #require(History(of: newcomer.file("com.example.a"), on: newcomer.system))
        #expect(history.versions.contains { history.values(of: $0)?["key"] == "ours" })
    }

    @Test func `without a lock is captured once the file is quiet`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].scribble(["key": 1])
        var session = try hosts[0].session()
        try session.begin()
        try session.exchange()
        session.end()
        #expect(session.hasUnfinished)
        #expect(session.engine.status.lastPublished == 0 && session.unpublishedCount == 0)
        try bench.comeToRest(hosts)
        #expect(try hosts[1].values() == ["key": 1])
    }

    @Test func `returns when the domain is removed and added again`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", 1)
        try hosts[0].write("gone", 1)
        try bench.comeToRest(hosts)
        try hosts[1].select { $0.remove("com.example.a") }
        try bench.comeToRest(hosts)
        try hosts[0].write("key", 2)
        try hosts[0].write("gone", nil)
        try bench.comeToRest(hosts)
        #expect(try hosts[1].values() == ["key": 1, "gone": 1])
        try hosts[1].select { $0.add("com.example.a") }
        try bench.comeToRest(hosts)
        for host in hosts { #expect(try host.values() == ["key": 2]) }
    }

    /// A domain in XML becomes binary. Otherwise, the mirror would publish the lost fraction as a change.
    @Test func `with a fraction of a second arrives exactly in a domain that was XML`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].scribble(["kept": 1])
        try bench.comeToRest(hosts)
        let fraction = PropertyList.date(Date(timeIntervalSinceReferenceDate: 0.5))
        try hosts[1].write("when", fraction)
        try hosts[1].sync()
        let notes = try hosts[0].sync().troubles
        #expect(notes.count == 1 && notes[0].contains("com.example.a.plist: converted from xml to binary"), "\(notes)")
        try bench.comeToRest(hosts)
        for host in hosts { #expect(try host.values()["when"] == fraction) }
    }
}
