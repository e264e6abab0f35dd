import Foundation
import Glibc
import MirrorEngine
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@testable import PreferencesMirror

@Suite struct `Strays in the shared directory` {
    /// Three strays each. The tests of the engine use 100 000 in every run, for which the simulated disk would take
    /// minutes.
    private static let count = Extent.isFull ? 4000 : 400

    private static let sorts: [@Sendable (Int) -> String] = [
        { "l/000000000001.2e9f0a77d1 (conflicted copy \($0)).log" }, { "l/._\($0).log" }, { ".DS_Store\($0)" },
        { "l/\($0).2e9f0a77d1.log" }, { "b/000000000001.sync-conflict-\($0).base" }, { "x/3f/\($0)" },
        { "x/stray \($0)" },
    ]

    @Test func `cost one listing of the folder, however many there are`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try bench.comeToRest(hosts)
        let files = bench.disk.process(user: 1000)
        let writers = try hosts.map { try $0.sync().writer }
        for part in ["l", "b", "x", "x/3f"] {
            for writer in writers {
                try files.makeFolders(
                    MirrorBench.directory.resolving(try #require(FilePath("w/\(writer)/\(part)"))))
            }
        }
        let before = try cost(hosts)
        for number in 0..<Self.count {
            let name = Self.sorts[number % Self.sorts.count](number)
            let path = ["\(name.replacing("/", with: "-"))", "w/stray \(number)", "w/\(writers[0])/\(name)"]
            for path in path {
                let place = MirrorBench.directory.resolving(try #require(FilePath(path)))
                _ = try files.open(place, .creating(.privateFile))
            }
        }
        let after = try cost(hosts)
        #expect(after == before)
        try hosts[0].write("key", 1)
        try bench.comeToRest(hosts)
        #expect(try hosts[1].values() == ["key": 1])
        for host in hosts {
            let status = try host.status()
            #expect(status.condition == .inSync && status.unread == 0 && status.troubles.isEmpty)
        }
    }

    /// Returns the number of operations that each host needs to find that nothing has changed.
    private func cost(_ hosts: [MirrorHost]) throws -> [Int] {
        try hosts.map { host in
            let again = try host.again()
            let count = again.fileSystem.operations.count
            try again.sync()
            return again.fileSystem.operations.count - count
        }
    }
}

/// Two hosts on the real file system, which has more than files, folders and links.
private final class RealMirror {
    private let folder: TemporaryFolder
    let place: FilePath
    let hosts: [RealMember]

    init() throws {
        folder = try TemporaryFolder()
        let place = try #require(FilePath(folder.url.path(percentEncoded: false)))
        self.place = place
        hosts = try ["a", "b"].map { try RealMember($0, in: place) }
        for (index, host) in hosts.enumerated() {
            let directory = place.appending("shared")
            if index == 0 {
                _ = try host.places.initialise(directory, MirrorPlaces.JoinOptions())
            } else {
                _ = try host.places.join(directory, MirrorPlaces.JoinOptions())
            }
            var session = try host.session()
            try session.begin()
            try session.configure { $0.selection.add("com.*") }
            session.end()
        }
        try comeToRest()
    }

    func comeToRest() throws { for _ in 0..<3 { for host in hosts { try host.sync() } } }

    func path(_ text: String) throws -> FilePath { place.appending("shared").resolving(try #require(FilePath(text))) }
}

private struct RealMember {
    let system: SystemServices
    let places: MirrorPlaces

    init(_ name: String, in folder: FilePath) throws {
        let home = "\(folder)/\(name)"
        let environment = Environment(
            variables: [
                "HOME": home, "XDG_CONFIG_HOME": home + "/config", "XDG_STATE_HOME": home + "/state",
                "XDG_DATA_HOME": home + "/data",
            ], arguments: ["program"], executable: "/usr/bin/program", user: getuid(), hostName: name)
        system = SystemServices(
            fileSystem: SystemFileSystem(), clock: SystemClock(), watcher: SystemFolderWatcher.ofThisProcess,
            environment: environment, terminal: SimulatedTerminal())
        places = try MirrorPlaces(try #require(try StorePlaces(.native, on: system)), on: system)
    }

    func session() throws -> MirrorSession { MirrorSession(try #require(places.joined.first), places) }

    /// Exchanges. The writers leave marks, so there is no wait.
    @discardableResult
    func sync() throws -> MirrorCondition {
        var session = try session()
        try session.sync { _ in }
        return session.condition(after: session.takeReports())
    }

    /// Exchanges, and writes a base.
    func compact() throws {
        var session = try session()
        try session.begin()
        try session.exchange()
        try session.send(.compact)
        session.end()
    }

    var writer: WriterID {
        get throws {
            var session = try session()
            return try session.status().writer
        }
    }

    func file(_ domain: DomainName) -> DomainFile { places.store.user.file(of: domain) }

    func write(_ key: String, _ value: PropertyList) throws {
        let note = WriteAuthor(.write, by: system)
        try DomainWriter(system, note).commit([DomainEdit(file("com.example.a")) { $0.values[key] = value }])
    }

    func values() throws -> PropertyList.Dictionary { try file("com.example.a").contents(on: system).values }
}

@Suite struct `Anything but a file in the shared directory` {
    struct Obstacle: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Creates the obstacle at a path. It may also create a file and a folder next to the directory.
        let make: @Sendable (String, _ aside: String) -> Int32
    }

    static let obstacles = [
        Obstacle(testDescription: "a FIFO") { path, _ in mkfifo(path, 0o600) },
        Obstacle(testDescription: "a socket") { path, _ in mknod(path, S_IFSOCK | 0o600, 0) },
        Obstacle(testDescription: "a folder") { path, _ in mkdir(path, 0o700) },
        Obstacle(testDescription: "a link to itself") { path, _ in symlink(path, path) },
        Obstacle(testDescription: "a dangling link") { path, _ in symlink("nothing", path) },
        Obstacle(testDescription: "a link to an endless device") { path, _ in symlink("/dev/zero", path) },
        Obstacle(testDescription: "a link to a file") { path, aside in symlink(aside + "/file", path) },
        Obstacle(testDescription: "a link to a folder") { path, aside in symlink(aside + "/folder", path) },
    ]

    private func aside(_ mirror: RealMirror) throws -> FilePath {
        let aside = mirror.place.appending("aside")
        try SystemFileSystem().makeFolders(aside.appending("folder"))
        try SystemFileSystem().replace(aside.appending("file"), with: [1, 2, 3])
        return aside
    }

    /// Expects that the file and the folder next to the directory are unchanged.
    private func expectUntouched(_ aside: FilePath) throws {
        let files = SystemFileSystem()
        #expect(try files.names(in: aside) == ["file", "folder"] && files.names(in: aside.appending("folder")) == [])
        #expect(try files.contents(of: aside.appending("file")) == [1, 2, 3])
    }

    /// All obstacles at once, each with each name that a file or a folder of the mirror could have.
    @Test func `does not disturb the hosts, whatever its name`() throws {
        let mirror = try RealMirror()
        let (files, aside) = (SystemFileSystem(), try aside(mirror))
        try mirror.hosts[0].write("old", 1)
        try mirror.comeToRest()
        let writers = try mirror.hosts.map { try $0.writer }
        for (number, obstacle) in zip(0..., Self.obstacles) {
            let packs = PackName.Kind.allCases.map {
                PackName(kind: $0, number: 900 + UInt64(number), hash: ContentHash(of: [1]))
            }
            var names = ["mirror-abcde\(number).id", "w/000000000000\(number)", "junk\(number)"]
            for writer in writers {
                for part in ["l", "b"] { try files.makeFolders(mirror.path("w/\(writer)/\(part)")) }
                names += packs.map { "w/\(writer)/\($0)" } + ["w/\(writer)/~\(number).tmp"]
            }
            for name in names {
                #expect(obstacle.make(try mirror.path(name).description, aside.description) == 0, "\(name)")
            }
        }
        try mirror.hosts[0].write("a", 1)
        try mirror.hosts[1].write("b", 1)
        try mirror.comeToRest()
        for host in mirror.hosts {
            #expect(try host.values() == ["old": 1, "a": 1, "b": 1])
            #expect(try host.sync() == .waiting)
        }
        try expectUntouched(aside)
    }

    /// The obstacles that matter to a host that writes into its own folder.
    static let lasting = obstacles.filter {
        ["a FIFO", "a dangling link", "a link to a folder"].contains($0.testDescription)
    }

    @Test(arguments: lasting, [["l", "b", "x"], [""]])
    func `in place of a host's own folders is replaced by them`(_ obstacle: Obstacle, _ folders: [String]) throws {
        let mirror = try RealMirror()
        let (files, aside) = (SystemFileSystem(), try aside(mirror))
        try mirror.hosts[0].write("old", 1)
        try mirror.comeToRest()
        let writer = try mirror.hosts[0].writer
        let places = try folders.map { try mirror.path("w/\(writer)" + ($0.isEmpty ? "" : "/\($0)")) }
        for (place, former) in zip(places, ["former 0", "former 1", "former 2"] as [FileName]) {
            if try files.status(of: place) != nil { try files.rename(place, to: mirror.place.appending(former)) }
            #expect(obstacle.make(place.description, aside.description) == 0)
        }
        try mirror.hosts[0].write("long", .string(String(repeating: "long ", count: 20_000)))
        try mirror.hosts[0].compact()
        try mirror.comeToRest()
        #expect(try mirror.hosts[1].values() == mirror.hosts[0].values())
        #expect(try mirror.hosts[1].values().count == 2)
        for place in places { #expect(try files.status(of: place, followingLink: false)?.kind == .folder) }
        try expectUntouched(aside)
    }

    @Test func `in place of a folder that is purged is removed, but not its target`() throws {
        let mirror = try RealMirror()
        let (files, aside) = (SystemFileSystem(), try aside(mirror))
        try mirror.hosts[1].write("key", 1)
        try mirror.comeToRest()
        let writer = try mirror.hosts[1].writer
        let place = try mirror.path("w/\(writer)")
        try files.rename(place, to: mirror.place.appending("former"))
        #expect(symlink(aside.description, place.description) == 0)
        var session = try mirror.hosts[0].session()
        try session.carryOut(.purge(writer)) { _ in }
        #expect(try files.status(of: place, followingLink: false) == nil)
        #expect(try mirror.hosts[0].values() == ["key": 1])
        try expectUntouched(aside)
    }

    @Test(arguments: obstacles.filter { ["a FIFO", "a folder", "a link to a file"].contains($0.testDescription) })
    func `in place of a host's own file is replaced by one`(_ obstacle: Obstacle) throws {
        let mirror = try RealMirror()
        let (files, aside) = (SystemFileSystem(), try aside(mirror))
        try mirror.hosts[0].write("key", 1)
        try mirror.hosts[0].sync()
        let logs = try mirror.path("w/\(try mirror.hosts[0].writer)/l")
        let log = try #require(try files.names(in: logs)?.first)
        try files.rename(logs.appending(log), to: mirror.place.appending("former"))
        #expect(obstacle.make(logs.appending(log).description, aside.description) == 0)
        #expect(try mirror.hosts[1].sync() == .waiting)
        #expect(try mirror.hosts[1].values().isEmpty)
        try mirror.comeToRest()
        #expect(try mirror.hosts[1].values() == ["key": 1])
        try expectUntouched(aside)
    }
}
