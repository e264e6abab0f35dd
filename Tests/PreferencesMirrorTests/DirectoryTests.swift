import MirrorEngine
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@testable import PreferencesMirror

/// Changes and failures of the directory, and how hosts react to them.
@Suite struct `The shared directory` {
    struct Misfortune: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let condition: MirrorCondition
        let happen: @Sendable (SimulatedFileSystem) throws -> Void
    }

    static let misfortunes: [Misfortune] = [
        Misfortune(testDescription: "deleted", condition: .unavailable) { try $0.removeAll(MirrorBench.directory) },
        Misfortune(testDescription: "emptied", condition: .unavailable) { files in
            for name in try files.names(in: MirrorBench.directory) ?? [] {
                try files.removeAll(MirrorBench.directory.appending(name))
            }
        },
        Misfortune(testDescription: "without its folder", condition: .unavailable) { files in
            try files.removeAll(MirrorBench.directory.appending("w"))
        },
        Misfortune(testDescription: "without its marker", condition: .unavailable) { try $0.remove(marker($0)) },
        Misfortune(testDescription: "with a damaged marker", condition: .unavailable) { files in
            try files.replace(marker(files), with: [1, 2, 3])
        },
        Misfortune(testDescription: "swapped", condition: .halted) { files in
            try files.removeAll(MirrorBench.directory)
            try SharedDirectory(MirrorBench.directory, in: files).begin(MirrorID(high: 1, low: 2))
        },
        Misfortune(testDescription: "made two", condition: .halted) { files in
            try SharedDirectory(MirrorBench.directory, in: files).begin(MirrorID(high: 1, low: 2))
        },
        Misfortune(testDescription: "out of reach", condition: .unavailable) { files in
            try files.open(MirrorBench.directory, .reading)?.setPermissions(FilePermissions(rawValue: 0))
        },
        Misfortune(testDescription: "with a link in place of its folder", condition: .unavailable) { files in
            try files.rename(MirrorBench.directory.appending("w"), to: "/home/ada/victim")
            try files.makeSymbolicLink(MirrorBench.directory.appending("w"), to: "/home/ada/victim")
        },
        Misfortune(testDescription: "a file", condition: .unavailable) { files in
            try files.removeAll(MirrorBench.directory)
            try files.replace(MirrorBench.directory, with: [1])
        },
    ]

    private static func marker(_ files: SimulatedFileSystem) throws -> FilePath {
        let name = try (files.names(in: MirrorBench.directory) ?? []).first { $0.description.hasPrefix("mirror-") }
        return MirrorBench.directory.appending(try #require(name))
    }

    @Test(arguments: misfortunes)
    func `can be in any state, and settings stay unchanged`(_ misfortune: Misfortune) throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", 1)
        try bench.comeToRest(hosts)
        try misfortune.happen(bench.disk.process(user: 1000))
        let before = try bench.directoryContents()
        try hosts[0].write("other", 2)
        for host in hosts { #expect(try host.condition() == misfortune.condition) }
        #expect(try hosts[0].values() == ["key": 1, "other": 2])
        #expect(try hosts[1].values() == ["key": 1])
        #expect(try bench.directoryContents() == before, "nothing is created")
    }

    private static let losses = Extent.sample(1, of: Array(misfortunes.prefix(5)))

    /// Twice, because a host may republish everything only once an hour.
    @Test(arguments: losses, [0, 1])
    func `is created again, and every host publishes its values`(_ misfortune: Misfortune, _ first: Int) throws {
        let bench = try MirrorBench()
        var hosts = try bench.hosts("a", "b")
        let long = PropertyList.string(String(repeating: "x", count: 80_000))
        try hosts[0].write("deleted", 1)
        for host in hosts { try host.write(host.name, long) }
        try bench.comeToRest(hosts)
        try hosts[1].write("deleted", nil)
        try bench.comeToRest(hosts)
        let (id, values) = (try hosts[0].session().id, try hosts[0].values())
        for round in 1...2 {
            try misfortune.happen(bench.disk.process(user: 1000))
            try hosts[1 - first].write("round", .integer(PropertyList.Integer(round)))
            for host in hosts { #expect(try host.condition() == .unavailable) }
            // Missing files of other hosts are still missing.
            #expect(try [.inSync, .waiting].contains(hosts[first].initialiseAgain()))
            try bench.comeToRest(hosts)
            bench.disk.clock.advance(by: .seconds(61))
            try bench.comeToRest(hosts)
            let joiner = try bench.stranger("joiner \(round)")
            try joiner.enter(isFirst: false)
            try joiner.select { $0.add("com.*") }
            try joiner.sync()
            var expected = values
            expected["round"] = .integer(PropertyList.Integer(round))
            hosts.append(joiner)
            for host in hosts.prefix(2) + [joiner] { #expect(try host.values() == expected, "\(host.name)") }
            try bench.comeToRest(hosts)
            for host in hosts {
                #expect(try host.status().condition == .inSync && host.status().conflicts.isEmpty, "\(host.name)")
                var session = try host.session()
                #expect(try session.id == id && session.examine { _, _ in }.isEmpty, "\(host.name)")
            }
        }
    }

    @Test func `is not empty if its folder disappears after its marker was found`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let session = try hosts[0].sync()
        let writers = session.directory.writers
        try bench.disk.process(user: 1000).removeAll(writers)
        #expect(throws: SystemFailure(.noSuchFile, .list, writers)) {
            try session.directory.listing(own: session.writer, chosen: nil)
        }
    }

    @Test func `has a file that is created again on the disk when that is done`() throws {
        let bench = try MirrorBench()
        let session = try #require(try bench.hosts("a").first).sync()
        let directory = SharedDirectory(MirrorBench.directory, in: bench.disk.process(user: 1000))
        let note = WriterNote(
            mirror: session.id, writer: session.writer, number: 9, label: "a", platform: "", software: "",
            hasLeft: false
        ).encoded()
        let address = PackAddress(writer: session.writer, name: note.name)
        for time in 1...2 {
            let files = bench.disk.process(user: 1000)
            try SharedDirectory(MirrorBench.directory, in: files).create(address, note)
            let synced = files.operations.count { $0.operation == .synchronizeFolder }
            #expect(synced > 0, "\(time)")
        }
        #expect(directory.fetch(address, of: session.id) != .unreadable)
    }

    @Test func `that has no mirror of the wanted ID is not reported as not mounted`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let failure = MirrorFailure(
            .unknown("/home/ada/shared: no mirror here has the ID \(MirrorID(high: 1, low: 2))"))
        #expect(throws: failure) { try bench.stranger("c").enter(isFirst: false, id: MirrorID(high: 1, low: 2)) }
        try bench.disk.process(user: 1000).remove(Self.marker(hosts[0].fileSystem))
        #expect(throws: MirrorFailure(.noMirror(directory: "/home/ada/shared"))) {
            try bench.stranger("c").enter(isFirst: false, id: MirrorID(high: 1, low: 2))
        }
    }

    @Test(arguments: [Store.Kind.foundation, .gnustep])
    func `is not joined by a store of other programs`(_ kind: Store.Kind) throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let store = Store(kind, on: hosts[0].system)
        let failure = MirrorFailure(.refused("stores of other programs cannot be mirrored"))
        #expect(throws: failure) { try SettingsMirror(at: "/home/ada/shared", of: store, domains: []) }
        #expect(throws: failure) { try SettingsMirror.create(at: "/home/ada/other", of: store) }
    }

    @Test func `is forgotten only with the lock of the state`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        var (holder, session) = (try hosts[0].again().session(), try hosts[0].session())
        try holder.begin()
        #expect(throws: MirrorFailure(.busy)) { try session.forget() }
        holder.end()
        #expect(hosts[0].places.joined.count == 1)
        try session.forget()
        #expect(hosts[0].places.joined.isEmpty)
        #expect(try hosts[0].fileSystem.status(of: session.folder) == nil)
    }

    @Test func `with two mirrors is at rest for hosts that chose one`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", 1)
        try bench.comeToRest(hosts)
        let id = try hosts[0].session().id
        let stranger = try bench.stranger("c")
        let other: FilePath = "/home/ada/other"
        try stranger.enter(isFirst: true, at: other)
        try stranger.select { $0.add("com.*") }
        try stranger.write("key", 2)
        try stranger.sync()
        // A program that synchronizes folders merges two directories of one name.
        let files = bench.disk.process(user: 1000)
        for name in try files.names(in: other) ?? [] where name.description != "w" {
            try files.rename(other.appending(name), to: MirrorBench.directory.appending(name))
        }
        for name in try files.names(in: other.appending("w")) ?? [] {
            try files.rename(
                other.appending("w").appending(name), to: MirrorBench.directory.appending("w").appending(name))
        }
        for host in hosts {
            #expect(try host.condition() == .halted)
            try host.enter(isFirst: false, id: id)
        }
        try hosts[0].write("key", 3)
        try bench.comeToRest(hosts)
        for host in hosts {
            let status = try host.status()
            #expect(status.condition == .inSync && status.unread == 0 && status.hosts.count == 1, "\(host.name)")
            #expect(try host.values() == ["key": 3] && host.session().isAtRest, "\(host.name)")
        }
    }

    @Test func `is not created again if nothing is missing or the mirror is another store's`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let files = bench.disk.process(user: 1000)
        #expect(throws: MirrorFailure.self, "nothing is missing") { try hosts[0].initialiseAgain() }
        try files.remove(Self.marker(files))
        #expect(throws: MirrorFailure.self) { try bench.stranger("c").initialiseAgain() }
        #expect(throws: MirrorFailure(.noMarker(directory: "/home/ada/shared")), "a second mirror among the files") {
            try bench.stranger("c").enter(isFirst: true)
        }
        try SharedDirectory(MirrorBench.directory, in: files).begin(MirrorID(high: 1, low: 2))
        #expect(throws: MirrorFailure.self) { try hosts[0].initialiseAgain() }
        #expect(try hosts[0].condition() == .halted)
    }

    /// A host keeps what it knows, even if no visible file contains it.
    @Test(arguments: ["w/own", "w/own/l", "w/other", "w/other/l"], [false, true])
    func `loses no value when a host rebuilds its state`(_ lost: String, _ hasBases: Bool) throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        for round in 1...3 as ClosedRange<Int64> {
            for host in hosts { try host.write("\(host.name) \(round)", .integer(.init(round))) }
            if hasBases, round == 1 { for host in hosts { try host.compact() } }
            try bench.comeToRest(hosts)
        }
        let values = try hosts[0].values()
        #expect(values.count == 6)
        let writers = try hosts.map { try $0.sync().writer.description }
        let path = lost.replacing("own", with: writers[0]).replacing("other", with: writers[1])
        let files = bench.disk.process(user: 1000)
        try files.removeAll(MirrorBench.directory.resolving(try #require(FilePath(path))))
        let packs = try hosts[0].session().packsInView { _, _ in }
        try hosts[0].carryOut(.rebuild(packs))
        for _ in 0..<2 {
            for host in hosts { #expect(try host.values() == values, "\(host.name)") }
            try bench.comeToRest(hosts)
        }
    }

    @Test func `returns, and the changes made meanwhile are published`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let files = bench.disk.process(user: 1000)
        let away: FilePath = "/home/ada/away"
        try files.rename(MirrorBench.directory, to: away)
        try hosts[0].write("key", 1)
        #expect(try hosts[0].condition() == .unavailable)
        try files.rename(away, to: MirrorBench.directory)
        try bench.comeToRest(hosts)
        #expect(try hosts[1].values() == ["key": 1])
    }

    @Test func `is left when it returns, unless a user cancels that`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let files = bench.disk.process(user: 1000)
        let away: FilePath = "/home/ada/away"
        let rows: [(takesBack: Bool, condition: MirrorCondition)] = [(true, .inSync), (false, .left)]
        for row in rows {
            try files.rename(MirrorBench.directory, to: away)
            #expect(try hosts[0].carryOut(.leave) == .unavailable)
            #expect(try hosts[0].status().isLeaving)
            if row.takesBack { try hosts[0].carryOut(.resume) }
            try files.rename(away, to: MirrorBench.directory)
            #expect(try hosts[0].condition() == row.condition)
            #expect(try !hosts[0].status().isLeaving)
        }
        #expect(try !hosts[0].session().isAtRest, "it is reported each time")
        #expect(try hosts[0].status().condition == .left)
        #expect(try hosts[0].carryOut(.resume) == .inSync)
    }

    @Test func `is neither read nor written in a pause, which is reported each time`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try bench.comeToRest(hosts)
        #expect(try hosts[0].carryOut(.pause) == .paused)
        #expect(try !hosts[0].session().isAtRest)
        for _ in 0..<2 { #expect(try hosts[0].condition() == .paused) }
    }

    @Test func `does not report a folder as missing that a user has removed`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[1].write("key", 1)
        try bench.comeToRest(hosts)
        let writer = try hosts[1].sync().writer
        var session = try hosts[0].session()
        try session.carryOut(.purge(writer)) { bench.disk.clock.advance(by: $0) }
        #expect(!session.engine.status.writersInView.contains(writer))
        #expect(!session.takeReports().contains(.vanished(writer)))
        #expect(try hosts[0].values() == ["key": 1])
    }

    @Test func `has no folder of a purged host, whether or not that had published values`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b", "c", "d")
        try hosts[0].write("key", 1)
        try hosts[2].write("other", 1)
        try bench.comeToRest(hosts)
        for host in hosts.dropFirst() {
            let writer = try host.sync().writer
            var session = try hosts[0].session()
            try session.carryOut(.purge(writer)) { bench.disk.clock.advance(by: $0) }
            #expect(session.hasNoFolder(of: writer), "\(host.name)")
            #expect(try hosts[0].status().hosts.first { $0.writer == writer }?.isRetired == true, "no host is asked")
        }
        try hosts[1].write("back", 1)
        try bench.comeToRest([hosts[1], hosts[0]])
        let retired = try hosts[0].status().hosts.filter(\.isRetired).map(\.label)
        #expect(retired.sorted() == ["c", "d"], "a host that returns is shown again")
        #expect(try hosts[0].values()["back"] == 1)
    }

    @Test func `keeps a purged folder until it can be removed`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[1].write("key", 1)
        try bench.comeToRest(hosts)
        let writer = try hosts[1].sync().writer
        for isRefused in [true, false] {
            let host = try hosts[0].again(
                isRefused ? FaultPlan([Fault(.fail(.accessDenied), .from(1), of: .remove)]) : FaultPlan())
            var session = try host.session()
            try session.carryOut(.purge(writer)) { bench.disk.clock.advance(by: $0) }
            #expect(session.engine.status.writersInView.contains(writer) == isRefused)
        }
        #expect(try hosts[0].values() == ["key": 1])
    }

    @Test func `keeps a purged folder in which a file has arrived that is not joined`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[1].write("key", 1)
        try bench.comeToRest(hosts)
        let writer = try hosts[1].sync().writer
        let directory = SharedDirectory(MirrorBench.directory, in: bench.disk.process())
        func files() throws -> [PackName] {
            try directory.listing(own: writer, chosen: nil).packs.filter { $0.writer == writer }.map(\.name)
        }
        let joined = Set(try files().map(\.hash))
        try hosts[1].write("key", 2)
        try hosts[1].sync()
        #expect(try !directory.removeFolder(of: writer, joined: joined))
        #expect(try files().count > joined.count)
        #expect(try directory.removeFolder(of: writer, joined: Set(files().map(\.hash))))
        #expect(try files().isEmpty)
    }

    @Test func `is read and not written if it is read-only`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", 1)
        try hosts[0].sync()
        let root = bench.disk.process()
        let own = SharedDirectory(MirrorBench.directory, in: root)
        let writer = try hosts[1].sync(.pull).writer
        for folder in ["w/\(writer)", "w/\(writer)/l"] {
            let path = MirrorBench.directory.resolving(try #require(FilePath(folder)))
            try root.open(path, .reading)?.setPermissions(FilePermissions(rawValue: 0o555))
        }
        #expect(own.lastChange(of: writer) != nil)
        #expect(try !hosts[0].status().isReadOnly)
        try hosts[1].write("other", 1)
        let status = try hosts[1].status()
        #expect(status.isReadOnly && status.condition == .readOnly, "reported before an exchange, too")
        #expect(try hosts[1].condition() == .readOnly)
        #expect(try hosts[1].values() == ["key": 1, "other": 1])
    }

    @Test func `is not changed by a second exchange, nor is anything else`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", 1)
        try bench.comeToRest(hosts)
        let before = try bench.directoryContents()
        for host in hosts {
            let again = try host.again()
            let count = again.fileSystem.operations.count
            let session = try again.session()
            #expect(session.isAtRest)
            try again.sync()
            let written = again.fileSystem.operations.dropFirst(count).filter(\.isWriting)
            #expect(written.isEmpty, "\(written)")
        }
        #expect(try bench.directoryContents() == before)
    }

    @Test func `is read again if something is new`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try bench.comeToRest(hosts)
        #expect(try hosts[1].session().isAtRest)
        try hosts[0].write("key", 1, "com.example.new")
        #expect(try !hosts[0].session().isAtRest, "a new domain")
        try hosts[0].sync()
        #expect(try !hosts[1].session().isAtRest, "a new file")
        try bench.comeToRest(hosts)
        try hosts[1].scribble(["other": 1])
        #expect(try !hosts[1].session().isAtRest, "a changed file")
    }

    /// NFS and FUSE keep a file that is deleted while it is open. If the client crashes, the file remains.
    @Test func `is cleared of our own temporary files after an hour`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let files = bench.disk.process(user: 1000)
        let (own, other) = (try hosts[0].sync().writer, try hosts[1].sync().writer)
        let rows: [(name: String, writer: WriterID, isYoung: Bool, stays: Bool)] = [
            ("~a1.tmp", own, false, false), ("~a2.tmp", own, true, true), ("~a3.tmp", other, false, true),
            (".nfs00000000000a1", own, false, false), (".nfs00000000000a2", own, true, true),
            (".fuse_hidden0000000100000001", own, false, false), (".fuse_hidden0000000200000001", own, true, true),
            ("._who-0001.0000000000", own, false, true),
        ]
        func path(_ row: (name: String, writer: WriterID, isYoung: Bool, stays: Bool)) throws -> FilePath {
            MirrorBench.directory.resolving(try #require(FilePath("w/\(row.writer)/\(row.name)")))
        }
        for row in rows where !row.isYoung { try files.replace(path(row), with: [1]) }
        bench.disk.clock.advance(by: .seconds(1800))
        for row in rows where row.isYoung { try files.replace(path(row), with: [1]) }
        bench.disk.clock.advance(by: .seconds(1801))
        try hosts[0].write("key", 1)
        try hosts[0].sync()
        for row in rows { #expect(try (files.status(of: path(row)) != nil) == row.stays, "\(row.name)") }
    }

    @Test func `may contain unrelated files`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let files = bench.disk.process(user: 1000)
        let writer = try hosts[0].sync().writer
        for junk in [
            "w/.DS_Store", "w/desktop.ini", "w/\(writer)/._who-0001.0000000000",
            "w/\(writer)/who-0001.0000000000 (conflicted copy)", "w/x",
        ] {
            try files.replace(MirrorBench.directory.resolving(try #require(FilePath(junk))), with: [1, 2, 3])
        }
        try files.makeSymbolicLink(
            MirrorBench.directory.resolving("w/0000000000000"), to: "/etc")
        try hosts[0].write("key", 1)
        try bench.comeToRest(hosts)
        #expect(try hosts[1].values() == ["key": 1])
        #expect(try hosts[1].condition() == .inSync)
    }
}

extension SimulatedFileSystem.Operation {
    /// Whether the operation changes the disk.
    var isWriting: Bool {
        switch operation {
        case .write, .truncate, .setMode, .setOwner, .rename, .exchange, .link, .remove, .makeFolder,
            .synchronize, .synchronizeFolder:
            true
        default: false
        }
    }
}
