import MirrorEngine
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@testable import PreferencesMirror

extension MirrorBench {
    /// Sets the permissions of a folder, which apply to everyone but root.
    func setPermissions(_ bits: UInt16, of folder: FilePath) throws {
        try disk.process().open(folder, .reading)?.setPermissions(FilePermissions(rawValue: bits))
    }
}

extension Report {
    fileprivate var isUnwritten: Bool { if case .unwritten = self { true } else { false } }
}

/// Files and folders that cannot be read or written.
@Suite struct `An operation that the system refuses` {
    @Test func `on a domain's file is reported, and done once it is allowed`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", 1)
        try bench.comeToRest(hosts)
        let store = hosts[1].file("com.example.a").path.parent
        try bench.setPermissions(0o555, of: store)
        try hosts[0].write("key", 2)
        try hosts[0].sync()
        for _ in 0..<3 {
            var session = try hosts[1].sync()
            let reports = session.takeReports()
            #expect(session.condition(after: reports) == .waiting)
            #expect(
                reports.filter(\.isUnwritten) == [.unwritten(domain: "com.example.a")], "reported once per exchange")
        }
        let status = try hosts[1].status()
        #expect(status.condition == .waiting && status.unwritten == ["com.example.a"])
        #expect(try hosts[1].values() == ["key": 1])
        try bench.setPermissions(0o755, of: store)
        #expect(try hosts[1].condition() == .inSync)
        #expect(try hosts[1].values() == ["key": 2])
    }

    /// Domains whose files are links into a folder without write permission, and the changes that came with them.
    @Test(arguments: [1, 3, 15])
    func `on some files does not delay others`(_ count: Int) throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let linked = try (0..<count).map { try DomainName("com.linked\($0)") }
        let files = bench.disk.process(user: 1000)
        let folder: FilePath = "/home/ada/elsewhere"
        try files.makeFolders(folder)
        for domain in linked {
            let (file, target) = (hosts[1].file(domain), folder.resolving(try #require(FilePath(domain.text))))
            try files.replace(target, with: try file.serialized([:], as: .xml))
            try files.makeFolders(file.path.parent)
            try files.makeSymbolicLink(file.path, to: target)
        }
        try bench.comeToRest(hosts)
        try bench.setPermissions(0o555, of: folder)
        // Changes that are found together form one transaction.
        for domain in linked + ["com.alone"] {
            try hosts[0].write("key", 1, domain)
            try hosts[0].sync()
        }
        try hosts[0].write("other", 2, in: [linked[0], "com.together"])
        try hosts[0].sync()
        var session = try hosts[1].sync()
        let unwritten = session.takeReports().filter(\.isUnwritten)
        #expect(
            Set(unwritten) == Set((linked + ["com.together"]).map { .unwritten(domain: $0.text) }), "\(unwritten)")
        #expect(unwritten.count == count + 1, "each is reported once")
        #expect(try hosts[1].values("com.alone") == ["key": 1])
        #expect(try hosts[1].values("com.together") == [:], "a transaction is applied as a whole")
        try bench.setPermissions(0o755, of: folder)
        #expect(try hosts[1].condition() == .inSync)
        for domain in linked.dropFirst() { #expect(try hosts[1].values(domain) == ["key": 1]) }
        #expect(try hosts[1].values(linked[0]) == ["key": 1, "other": 2])
        #expect(try hosts[1].values("com.together") == ["other": 2])
    }

    @Test func `on a domain's file is retried less and less often by a watching host`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", 1)
        try bench.comeToRest(hosts)
        let store = hosts[1].file("com.example.a").path.parent
        let watching = try `A watched mirror`.Watching([hosts[1]])
        watching.pass(.seconds(90))
        try bench.setPermissions(0o555, of: store)
        try hosts[0].write("key", 2)
        try hosts[0].sync()
        let turns = watching.turns
        watching.pass(.seconds(600))
        #expect((5...60).contains(watching.turns - turns), "\(watching.turns - turns)")
        #expect(watching.reports.filter(\.isUnwritten).count == 1)
        #expect(watching.troubles.count == 1, "\(watching.troubles)")
        try bench.setPermissions(0o755, of: store)
        watching.pass(.seconds(75))
        #expect(try hosts[1].values() == ["key": 2])
    }

    @Test func `on the size of a damaged file of another host delays only that host`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b", "c")
        try hosts[1].write("key", 1)
        try hosts[1].sync()
        let writer = try hosts[1].sync().writer
        let folder = MirrorBench.directory.resolving(try #require(FilePath("w/\(writer)/l")))
        let files = bench.disk.process(user: 1000)
        let name = try #require(try files.names(in: folder)?.first)
        try files.replace(folder.appending(name), with: [1, 2, 3])
        var session = try hosts[0].session()
        try session.sync { bench.disk.clock.advance(by: $0) }
        #expect(!session.engine.status.faulty.isEmpty)
        // Its files can be listed, and nothing else.
        try bench.setPermissions(0o600, of: folder)
        try hosts[2].write("other", 2)
        try hosts[2].sync()
        try session.sync { bench.disk.clock.advance(by: $0) }
        #expect(session.condition(after: session.takeReports()) == .waiting, "\(session.troubles)")
        #expect(try hosts[0].values() == ["other": 2])
    }

    @Test(arguments: ["mark", "serving host"])
    func `on a file beside the preference files ends the exchange`(_ which: String) throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", 1)
        try bench.comeToRest(hosts)
        let id = try hosts[0].session().id
        let mark = try #require(hosts[0].places.mark(of: id))
        let path = which == "mark" ? mark : mark.parent.appending("mirror")
        try bench.setPermissions(0, of: path)
        try hosts[0].write("key", 2)
        #expect(throws: MirrorFailure(SystemFailure(.accessDenied, .open, path))) { try hosts[0].sync() }
        try bench.setPermissions(0o600, of: path)
        try bench.comeToRest(hosts)
        #expect(try hosts[1].values() == ["key": 2])
    }

    @Test(arguments: ["", "/l", "/b"])
    func `on the folder of another host delays only that host`(_ part: String) throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b", "c")
        try hosts[1].write("key", 1)
        try hosts[1].sync()
        var session = try hosts[1].session()
        try session.begin()
        try session.exchange()
        try session.send(.compact)
        session.end()
        try bench.comeToRest(hosts)
        let writer = try hosts[1].sync().writer
        let folder = MirrorBench.directory.resolving(try #require(FilePath("w/\(writer)\(part)")))
        try bench.setPermissions(0, of: folder)
        try hosts[2].write("other", 2)
        try hosts[2].sync()
        var exchanged = try hosts[0].sync()
        let reports = exchanged.takeReports()
        #expect(exchanged.condition(after: reports) == .waiting && !reports.contains(.vanished(writer)))
        #expect(exchanged.troubles.contains { $0.contains("\(writer)") }, "\(exchanged.troubles)")
        #expect(try hosts[0].values() == ["key": 1, "other": 2])
        #expect(try hosts[0].status().condition == .waiting)
        #expect(try !hosts[0].session().isAtRest)
        var checked = try hosts[0].session()
        #expect(try checked.examine { _, _ in }.contains(.closed(writer)))
        var rebuilt = try hosts[0].session()
        try rebuilt.rebuild { _, _ in
        } wait: {
            bench.disk.clock.advance(by: $0)
        }
        #expect(try hosts[0].values() == ["key": 1, "other": 2], "its writes remain")
        try bench.setPermissions(0o700, of: folder)
        let host = try hosts[0].again()
        #expect(try host.condition() == .inSync)
        let reads = host.fileSystem.operations.filter {
            $0.operation == .open && $0.path?.description.contains("\(writer)/") ?? false
        }
        #expect(reads.isEmpty, "joined files are not read again: \(reads)")
    }
}
