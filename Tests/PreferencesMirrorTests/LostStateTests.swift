import MirrorEngine
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@testable import PreferencesMirror

/// A host whose journal is lost while its preference files remain.
@Suite struct `A state that is lost` {
    struct Loss: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let happen: @Sendable (SimulatedFileSystem, _ journal: FilePath) throws -> Void
    }

    static let losses = [
        Loss(testDescription: "removed") { files, journal in try files.remove(journal) },
        Loss(testDescription: "unreadable") { files, journal in try files.replace(journal, with: [1, 2, 3]) },
        Loss(testDescription: "empty") { files, journal in try files.replace(journal, with: [UInt8]()) },
        Loss(testDescription: "set aside by a writer that was then interrupted") { files, journal in
            try files.rename(journal, to: journal.parent.appending("journal.damaged-1"))
        },
    ]

    @Test(arguments: losses, [Seeding.merge, .local])
    func `brings back neither what others replaced nor what they deleted`(_ loss: Loss, _ seed: Seeding) throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try configure(hosts[0]) { $0.seed = seed }
        try hosts[0].write("replaced", "old")
        try hosts[0].write("deleted", 1)
        try bench.comeToRest(hosts)
        try hosts[1].write("replaced", "new")
        try hosts[1].write("deleted", nil)
        try hosts[1].sync()
        bench.disk.clock.advance(by: .seconds(10))
        try hosts[0].write("other", 1)
        try loss.happen(hosts[0].fileSystem, hosts[0].session().folder.appending("journal"))
        try bench.comeToRest(hosts)
        for host in hosts { #expect(try host.values() == ["replaced": "new", "other": 1], "\(host.name)") }
    }

    private func configure(_ host: MirrorHost, _ change: (inout MirrorConfiguration) -> Void) throws {
        var session = try host.session()
        try session.begin()
        try session.configure(change)
        session.end()
    }

    @Test func `in part keeps the conflicts before the damage, even if the disk is full meanwhile`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", "first")
        bench.disk.clock.advance(by: .seconds(1))
        try hosts[1].write("key", "second")
        try bench.comeToRest(hosts)
        let folder = try hosts[0].session().folder
        var bytes = try #require(try hosts[0].fileSystem.contents(of: folder.appending("journal")))
        let damaged = bytes.count + 10
        for number in 1...3 {
            try hosts[0].write("other", .integer(PropertyList.Integer(number)))
            try hosts[0].sync()
        }
        bytes = try #require(try hosts[0].fileSystem.contents(of: folder.appending("journal")))
        bytes[damaged] ^= 0xFF
        try hosts[0].fileSystem.replace(folder.appending("journal"), with: bytes)
        let full = FaultPlan([Fault(.fail(.noSpace), .from(1), of: .write)])
        #expect(throws: MirrorFailure.self) { try hosts[0].again(full).sync() }
        #expect(try hosts[0].sync().openConflicts.contains { $0.value.value?.propertyList == "first" })
        let copies = try (hosts[0].fileSystem.names(in: folder) ?? []).filter {
            $0.description.hasPrefix("journal.damaged-")
        }
        #expect(try copies.map { try hosts[0].fileSystem.contents(of: folder.appending($0)) } == [bytes])
    }

    @Test func `is kept for inspection, but no more than the last two`() throws {
        let bench = try MirrorBench()
        let host = try #require(try bench.hosts("a").first)
        let folder = try host.session().folder
        for number in 1...5 as ClosedRange<UInt8> {
            try host.fileSystem.replace(folder.appending("journal"), with: [1, 2, 3, number])
            bench.disk.clock.advance(by: .seconds(1))
            try host.sync()
        }
        let kept = try (host.fileSystem.names(in: folder) ?? []).filter {
            $0.description.hasPrefix("journal.damaged-")
        }
        let contents = try kept.compactMap { try host.fileSystem.contents(of: folder.appending($0)) }
        #expect(Set(contents) == [[1, 2, 3, 4], [1, 2, 3, 5]])
    }
}

/// Keys that are not mirrored because a pack cannot hold them.
@Suite struct `A key beyond the limits of a pack` {
    @Test(arguments: [1025, 5000, 600_000]) func `does not keep other changes from the other hosts`(length: Int) throws
    {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let key = String(repeating: "k", count: length)
        for number in 1...3 {
            try hosts[0].write(key, .integer(PropertyList.Integer(number)))
            try hosts[0].write("other", .integer(PropertyList.Integer(number)))
            try bench.comeToRest(hosts)
            #expect(try hosts[1].values() == ["other": .integer(PropertyList.Integer(number))])
        }
        #expect(try hosts[0].sync().engine.status.numbers.count == 1, "the journal was readable each time")
    }
}
