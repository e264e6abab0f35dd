import MirrorEngine
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@testable import PreferencesMirror

/// Files that stay damaged, on a host that reads them with a series of short-lived programs, as cron does.
@Suite struct `A file that stays damaged` {
    /// Puts damaged logs of a given size into the second host's folder.
    private func lay(_ count: Int, bytes: Int, in bench: MirrorBench, _ host: MirrorHost) throws {
        let writer = try host.sync().writer
        let files = bench.disk.process(user: 1000)
        for number in 1...count {
            let name = PackName(kind: .log, number: 900 + UInt64(number), hash: ContentHash(of: [1]))
            let place = MirrorBench.directory.resolving(try #require(FilePath("w/\(writer)/\(name)")))
            try files.makeFolders(place.parent)
            try files.replace(place, with: [UInt8](repeating: 7, count: bytes))
        }
    }

    /// The damaged files that were set aside.
    private func kept(by host: MirrorHost) throws -> [FileName] {
        try host.fileSystem.names(in: host.session().folder.appending("quarantine")) ?? []
    }

    /// - Parameter before: The length of a file that was set aside earlier.
    @Test(arguments: [(40, 0, 32), (2, (64 << 20) - 15, 2)])
    func `is copied, up to a limit`(_ count: Int, _ before: Int, _ copies: Int) throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try lay(count, bytes: 10, in: bench, hosts[1])
        var session = try hosts[0].session()
        let folder = try hosts[0].session().folder.appending("quarantine")
        try hosts[0].fileSystem.makeFolders(folder)
        try hosts[0].fileSystem.open(folder.appending("earlier"), .creatingNew(.privateFile))?.truncate(to: before)
        var told = 0
        for _ in 0..<3 {
            try session.sync { bench.disk.clock.advance(by: $0) }
            told += session.takeReports().count { if case .quarantined = $0 { true } else { false } }
            bench.disk.clock.advance(by: .seconds(601))
        }
        #expect(try kept(by: hosts[0]).count == copies)
        #expect(told == count, "reported whether it was copied or not")
    }

    @Test func `is reported once and copied once by short-lived programs`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try lay(1, bytes: 10, in: bench, hosts[1])
        var told = 0
        for _ in 0..<40 {
            var session = try hosts[0].sync()
            told += session.takeReports().count { if case .quarantined = $0 { true } else { false } }
            #expect(session.condition(after: []) == .waiting)
            bench.disk.clock.advance(by: .seconds(60))
        }
        #expect(told == 1)
        #expect(try kept(by: hosts[0]).count == 1)
        let folder = try hosts[0].session().folder.appending("quarantine")
        let copies = hosts[0].fileSystem.operations.count { $0.operation == .rename && $0.path?.parent == folder }
        #expect(copies == 1)
    }

    @Test func `is forgotten when it is gone`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try lay(1, bytes: 10, in: bench, hosts[1])
        for _ in 0..<3 {
            #expect(try hosts[0].condition() == .waiting)
            bench.disk.clock.advance(by: .seconds(301))
        }
        let writer = try hosts[1].sync().writer
        let logs = MirrorBench.directory.resolving(try #require(FilePath("w/\(writer)/l")))
        for name in try hosts[1].fileSystem.names(in: logs) ?? [] where name.description.hasPrefix("000000000901") {
            try hosts[1].fileSystem.remove(logs.appending(name))
        }
        #expect(try hosts[0].condition() == .inSync)
    }
}

@Suite struct `A host that runs only short-lived programs` {
    @Test func `skips a lost log after ten minutes`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try bench.comeToRest(hosts)
        for key in ["a", "b"] {
            try hosts[1].write(key, .string(key))
            try hosts[1].sync(.push)
        }
        let writer = try hosts[1].sync(.push).writer
        let logs = MirrorBench.directory.resolving(try #require(FilePath("w/\(writer)/l")))
        let first = try #require(try hosts[1].fileSystem.names(in: logs)?.first)
        try hosts[1].fileSystem.remove(logs.appending(first))
        for minute in 0...11 {
            try hosts[0].sync()
            #expect(try hosts[0].values()["b"] == (minute < 10 ? nil : "b"), "\(minute)")
            bench.disk.clock.advance(by: .seconds(60))
        }
    }

    @Test func `finds damage in a file of its own`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", 1)
        try bench.comeToRest(hosts)
        let writer = try hosts[0].sync().writer
        let logs = MirrorBench.directory.resolving(try #require(FilePath("w/\(writer)/l")))
        let log = logs.appending(try #require(try hosts[0].fileSystem.names(in: logs)?.first))
        var bytes = try #require(try hosts[0].fileSystem.contents(of: log))
        bytes[bytes.count / 2] ^= 1
        try hosts[0].fileSystem.replace(log, with: bytes)
        var hasFound = false
        for _ in 0..<30 where !hasFound {
            bench.disk.clock.advance(by: .seconds(600))
            if try hosts[0].session().isAtRest { continue }
            var session = try hosts[0].sync()
            hasFound = session.takeReports().contains(.lostFiles)
        }
        #expect(hasFound)
        let again = try hosts[0].again()
        #expect(try again.session().isAtRest)
    }
}
