import MirrorEngine
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@testable import PreferencesMirror

/// The mark that a host writes next to its preference files.
@Suite struct `A store's mark` {
    /// Returns the mark and the path of its file.
    private func mark(of host: MirrorHost) throws -> (path: FilePath, mark: RestoreMarker) {
        let id = try host.session().id
        return (try #require(host.places.mark(of: id)), try #require(try RestoreMarker(of: id, in: host.places)))
    }

    @Test func `is written by each exchange that reads or writes a file`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", 1)
        try bench.comeToRest(hosts)
        let marks = try hosts.map { try mark(of: $0).mark }
        for (host, mark) in zip(hosts, marks) {
            let state = try #require(host.sync().journal.peek())
            #expect([state.writer] + state.formerWriters.sorted() == mark.writers)
            #expect(state.restoreMarkers.marks.first == mark.mark)
            #expect(try self.mark(of: host).mark.mark == mark.mark, "nothing changed")
        }
        bench.disk.clock.advance(by: .seconds(1))
        try hosts[0].write("key", 2)
        try bench.comeToRest(hosts)
        for (host, former) in zip(hosts, marks) { #expect(try mark(of: host).mark.mark != former.mark) }
    }

    @Test func `holds the domains that changed if it is an older one`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", "old", in: ["com.example.a", "com.example.same"])
        try bench.comeToRest(hosts)
        let files = hosts[0].fileSystem
        let paths = try [mark(of: hosts[0]).path, hosts[0].file("com.example.a").path]
        let backups = try paths.map { try #require(try files.contents(of: $0)) }
        bench.disk.clock.advance(by: .seconds(1))
        try hosts[1].write("key", "new")
        try bench.comeToRest(hosts)
        #expect(try hosts[0].values() == ["key": "new"])
        for (path, bytes) in zip(paths, backups) { try files.replace(path, with: bytes) }
        bench.disk.clock.advance(by: .seconds(1))
        try bench.comeToRest(hosts)
        #expect(try hosts[0].status().held.map(\.domain) == ["com.example.a"])
        #expect(try hosts[0].status().held.map(\.reason) == [.rolledBack])
        #expect(try hosts[1].values() == ["key": "new"])
    }

    @Test func `that is unknown makes the next exchange list what it replaces`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", "old")
        try bench.comeToRest(hosts)
        let (path, former) = try mark(of: hosts[0])
        let line = "\(String(former.mark ^ 1, radix: 16)) \(former.writers[0])\n"
        try hosts[0].fileSystem.replace(path, with: Array(line.utf8))
        bench.disk.clock.advance(by: .seconds(1))
        try hosts[0].write("key", "in the file")
        bench.disk.clock.advance(by: .seconds(1))
        try hosts[1].write("key", "new")
        try hosts[1].sync()
        bench.disk.clock.advance(by: .seconds(1))
        try bench.comeToRest(hosts)
        for host in hosts { #expect(try host.values() == ["key": "new"], "\(host.name)") }
        #expect(try hosts[0].lost() == ["in the file"])
    }

    @Test func `lets a host whose state is lost claim its former number`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", 1)
        try bench.comeToRest(hosts)
        let former = try mark(of: hosts[0]).mark.writers[0]
        try hosts[0].fileSystem.remove(try hosts[0].session().folder.appending("journal"))
        let writer = try hosts[0].sync().writer
        #expect(writer != former)
        // If the state is lost again before the first number was published, the mark lists both writers.
        #expect(try mark(of: hosts[0]).mark.writers == [writer, former])
    }
}

extension MirrorHost {
    /// Returns the values that this host lists as lost.
    func lost() throws -> [PropertyList] {
        var session = try session()
        try session.read()
        return session.openConflicts.compactMap { $0.value.value?.propertyList }
    }
}
