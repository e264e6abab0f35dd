import Foundation
import MirrorEngine
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@testable import PreferencesMirror

/// Values that are too long for a pack are stored in separate files.
@Suite struct `Long values` {
    private static let long = PropertyList.string(String(repeating: "long ", count: 50_000))
    private static let other = PropertyList.data(Data(repeating: 7, count: 100_000))

    private func blobs(_ bench: MirrorBench) throws -> [String: [UInt8]] {
        try bench.directoryContents().filter { $0.key.hasSuffix(".blob") }
    }

    @Test func `reach another host, each in one file`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", Self.long, in: ["com.example.a", "com.example.b"])
        try bench.comeToRest(hosts)
        #expect(try hosts[1].values() == ["key": Self.long])
        #expect(try hosts[1].values("com.example.b") == ["key": Self.long])
        #expect(try blobs(bench).count == 1)
        #expect(try hosts.map { try $0.condition() } == [.inSync, .inSync])
        let before = try bench.directoryContents()
        try bench.comeToRest(hosts)
        #expect(try bench.directoryContents() == before)
    }

    private func kept(_ host: MirrorHost) throws -> [FilePath] {
        let folder = try host.session().folder.appending("values")
        return try (host.fileSystem.names(in: folder) ?? []).map(folder.appending)
    }

    @Test func `are kept beside the journal, which refers to them until it is started again`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", Self.long)
        try bench.comeToRest(hosts)
        try hosts[0].write("key", Self.other)
        try bench.comeToRest(hosts)
        // The values that the last write into a file replaced are remembered until the next.
        try hosts[0].write("number", 1)
        try bench.comeToRest(hosts)
        for host in hosts {
            let journal = try host.session().folder.appending("journal")
            #expect(try #require(try host.fileSystem.status(of: journal)).size < Blob.longestInPack)
            #expect(try kept(host).count == 2)
            var session = try host.sync()
            try session.begin()
            try session.journal.begin(session.engine.checkpoint())
            session.end()
            #expect(try kept(host).count == 1, "\(host.name)")
            #expect(try host.condition() == .inSync)
            #expect(try host.values() == ["key": Self.other, "number": 1])
        }
    }

    @Test(arguments: [true, false])
    func `that the state has lost make it join again, which loses nothing`(isMissing: Bool) throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", Self.long)
        try bench.comeToRest(hosts)
        try hosts[0].write("unsaid", 1)
        try hosts[1].write("theirs", 1)
        try hosts[1].sync()
        let place = try #require(try kept(hosts[0]).first)
        if isMissing {
            try hosts[0].fileSystem.remove(place)
        } else {
            let size = try #require(try hosts[0].fileSystem.status(of: place)).size
            try hosts[0].fileSystem.replace(place, with: [UInt8](repeating: 7, count: size))
            #expect(try hosts[0].condition() == .inSync, "no exchange reads a value that does not change")
            // A base refers to the value, which is in the folder of this host already.
            try hosts[0].compact()
        }
        try bench.comeToRest(hosts)
        for host in hosts {
            #expect(try host.values() == ["key": Self.long, "unsaid": 1, "theirs": 1])
            #expect(try host.condition() == .inSync)
        }
    }

    @Test func `are waited for`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let files = bench.disk.process(user: 1000)
        try hosts[0].write("key", Self.long)
        try hosts[0].sync()
        let path = try #require(try blobs(bench).keys.first)
        let place = try #require(FilePath(path))
        try files.rename(place, to: "/home/ada/late")
        #expect(try hosts[1].condition() == .waiting)
        #expect(try hosts[1].values().isEmpty)
        try files.rename("/home/ada/late", to: place)
        #expect(try hosts[1].condition() == .inSync)
        #expect(try hosts[1].values() == ["key": Self.long])
    }

    @Test func `that are damaged are not used, and are published again by their author`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", Self.long)
        try hosts[0].sync()
        let (path, bytes) = try #require(try blobs(bench).first)
        let place = try #require(FilePath(path))
        try bench.disk.process(user: 1000).replace(place, with: Array(bytes.dropLast()))
        #expect(try hosts[1].condition() == .waiting)
        #expect(try hosts[1].values().isEmpty)
        try bench.comeToRest(hosts)
        #expect(try hosts[1].values() == ["key": Self.long])
        #expect(try blobs(bench).values.contains(bytes))
    }

    @Test func `are removed a week after they are no longer needed`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", Self.long)
        try hosts[0].sync()
        try hosts[0].write("key", Self.other)
        var session = try hosts[0].sync()
        try session.begin()
        try session.send(.compact)
        session.end()
        try bench.comeToRest(hosts)
        #expect(try blobs(bench).count == 2)
        for _ in 0..<9 {
            bench.disk.clock.advance(by: .seconds(86_400))
            try bench.comeToRest(hosts)
        }
        #expect(try blobs(bench).count == 1)
        #expect(try hosts[1].values() == ["key": Self.other])
        #expect(try hosts.map { try $0.condition() } == [.inSync, .inSync])
    }
}

/// Values that a user wants to remove from the shared directory.
@Suite struct `A published value` {
    private static let secret = "a secret that slipped out"

    private func isPublished(_ bench: MirrorBench) throws -> Bool {
        try bench.directoryContents().values.contains { bytes in
            String(decoding: bytes, as: UTF8.self).contains(Self.secret)
        }
    }

    @Test(arguments: [1, 5000])
    func `that was deleted is removed from the directory by compacting`(count: Int) throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", .string(String(repeating: Self.secret, count: count)))
        try hosts[0].write("other", 1)
        try bench.comeToRest(hosts)
        try hosts[0].write("key", nil)
        try bench.comeToRest(hosts)
        #expect(try isPublished(bench))
        #expect(try hosts[0].carryOut(.compact) == .inSync)
        #expect(try !isPublished(bench))
        #expect(try !hosts[0].sync().publishesFormerValues)
        try bench.comeToRest(hosts)
        #expect(try hosts.map { try $0.values() } == [["other": 1], ["other": 1]])
        #expect(try hosts.map { try $0.condition() } == [.inSync, .inSync])
    }

    @Test func `of a removed domain is withdrawn, and every host keeps its file`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", .string(Self.secret))
        try hosts[0].write("key", 1, "com.example.b")
        try bench.comeToRest(hosts)
        try hosts[0].select { $0.remove("com.example.a") }
        try bench.comeToRest(hosts)
        #expect(try isPublished(bench))
        #expect(try hosts[0].carryOut(.withdraw(domain: "com.example.a")) == .inSync)
        #expect(try !isPublished(bench))
        try bench.comeToRest(hosts)
        for host in hosts {
            #expect(try host.values() == ["key": .string(Self.secret)])
            #expect(try host.values("com.example.b") == ["key": 1])
            #expect(try host.condition() == .inSync)
        }
    }
}
