import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

/// The locks and versions of the administrator's layers.
@Suite struct `A domain of the administrator` {
    static let etc: FilePath = "/etc/xdg/prefs"
    static let state: FilePath = "/var/lib/prefs/etc/xdg/prefs"
    static let domain: DomainName = "com.example.app"

    /// Returns the file of the domain in a layer, for a new process.
    private func file(_ layer: Layer, _ system: SystemServices) throws -> DomainFile {
        let places = try #require(try StorePlaces(.native, on: system))
        return try #require(places.folder(of: layer)).file(of: Self.domain)
    }

    /// Returns a process of the administrator.
    private func root(_ disk: SimulatedDisk, _ plan: FaultPlan = FaultPlan(), dirs: String? = nil) -> SystemServices {
        var system = StoreBench.process(on: disk)
        system.fileSystem = disk.process(user: 0, plan)
        system.environment.user = 0
        system.environment.variables["HOME"] = nil
        system.environment.variables["XDG_CONFIG_DIRS"] = dirs
        return system
    }

    /// The file as an earlier version of this library knew it.
    private var earlier: DomainFile {
        StoreFolder(
            Self.etc, .own, history: Self.etc.appending(".history"), coordination: Self.etc, audience: .everyone
        ).file(of: Self.domain)
    }

    /// Returns the paths of the files below a folder, relative to it, and their permissions.
    private func tree(_ folder: FilePath, _ system: SystemServices, _ prefix: String = "") throws -> [String] {
        try (system.fileSystem.names(in: folder) ?? []).sorted().flatMap { name -> [String] in
            let path = folder.appending(name)
            let status = try #require(try system.fileSystem.status(of: path))
            let shown = prefix + (name.description.hasPrefix("0000") ? "version" : name.description)
            let line = "\(String(status.permissions.rawValue, radix: 8)) \(shown)"
            return try [line] + (status.kind == .folder ? tree(path, system, shown + "/") : [])
        }
    }

    @Test(arguments: [
        (Layer.site, nil, "/etc/xdg/prefs", "/var/lib/prefs/etc/xdg/prefs"),
        (.site, "/etc/other", "/etc/other/prefs", "/var/lib/prefs/etc/other/prefs"),
        (.forced, nil, "/etc/prefs/forced", "/var/lib/prefs/etc/prefs/forced"),
    ])
    func `leaves only its file in /etc`(_ layer: Layer, _ dirs: String?, _ folder: String, _ state: String) throws {
        let bench = try StoreBench()
        let system = root(bench.simulated.disk, dirs: dirs)
        try system.set("key", 1, in: file(layer, system))
        #expect(try tree(#require(FilePath(folder)), system) == ["644 com.example.app.plist"])
        #expect(
            try tree(#require(FilePath(state)), system) == [
                "755 history", "755 history/com.example.app", "644 history/com.example.app/version", "700 locks",
                "600 locks/.store.lock", "600 locks/com.example.app.lock",
            ])
        #expect(try tree("/var/lib", system).first == "755 prefs")
    }

    @Test func `keeps everything in a folder outside /etc`() throws {
        let bench = try StoreBench()
        let system = root(bench.simulated.disk, dirs: "/opt/xdg")
        try system.set("key", 1, in: file(.site, system))
        #expect(try system.fileSystem.names(in: "/var/lib") == nil)
        #expect(try tree("/opt/xdg/prefs", system).contains("644 .history/com.example.app/version"))
    }

    /// Returns a disk with two versions by an earlier version of this library. Others cannot read the first one.
    private func former() throws -> SimulatedDisk {
        let disk = try StoreBench().simulated.disk
        let system = root(disk)
        for number in [1, 2] { try system.set("key", .integer(.init(number)), in: earlier) }
        let history = try #require(History(of: earlier, on: system))
        try system.fileSystem.open(#require(history.path(of: history.versions[0])), .reading)?
            .setPermissions(.privateFile)
        disk.synchronize()
        return disk
    }

    private func versions(_ system: SystemServices) throws -> [PropertyList?] {
        let history = try #require(try History(of: file(.site, system), on: system))
        return history.versions.map { history.values(of: $0)?["key"] }
    }

    @Test func `has the versions in /etc until the first write moves them`() throws {
        let disk = try former()
        #expect(try versions(root(disk)) == [1, 2])
        let system = root(disk)
        try system.set("key", 3, in: file(.site, system))
        #expect(try versions(root(disk)) == [1, 2, 3])
        #expect(try system.fileSystem.names(in: Self.etc.appending(".history")) == nil)
        let folder = Self.state.appending("history").appending("com.example.app")
        #expect(try tree(folder, system) == ["600 version", "644 version", "644 version"])
    }

    @Test func `knows who wrote its contents before the move`() throws {
        let disk = try former()
        let system = root(disk)
        // The version is the last step of a writer, which may have been killed before.
        let history = try #require(History(of: earlier, on: system))
        try system.fileSystem.remove(#require(history.path(of: history.versions[1])))
        try system.set("key", 3, in: file(.site, system))
        let reasons = try #require(try History(of: file(.site, system), on: system)).versions.map(\.author.reason)
        #expect(reasons == [.write, .write, .write])
    }

    @Test func `has later versions by an earlier version of the library after its own`() throws {
        let disk = try former()
        let system = root(disk)
        try system.set("key", 3, in: file(.site, system))
        try root(disk).set("key", 4, in: earlier)
        try system.set("key", 5, in: file(.site, system))
        #expect(try versions(root(disk)).suffix(2) == [4, 5])
        #expect(try versions(root(disk)).prefix(3) == [1, 2, 3])
    }

    @Test func `is locked against programs with an earlier version of the library`() throws {
        let disk = try former()
        let (earlier, later) = (earlier, root(disk))
        let file = try file(.site, later)
        let failures = Mutex(0)
        for (holder, other) in [(earlier, file), (file, earlier)] {
            try root(disk).commit([
                DomainEdit(holder) { draft in
                    draft.values["key"] = 7
                    do { try later.set("key", 8, in: other) } catch { failures.withLock { $0 += 1 } }
                }
            ])
        }
        #expect(failures.withLock { $0 } == 2)
    }

    @Test func `loses no version when a move is interrupted`() throws {
        let disk = try former()
        var (number, wasHit) = (0, true)
        while wasHit {
            number += 1
            let branch = disk.copy()
            let dying = root(branch, FaultPlan(.dieBefore, at: number))
            let simulated = try #require(dying.fileSystem as? SimulatedFileSystem)
            _ = try? dying.set("key", 3, in: file(.site, dying))
            wasHit = simulated.hits > 0
            simulated.kill()
            #expect(try Array(versions(root(branch)).prefix(2)) == [1, 2], "at \(number)")
            let next = root(branch)
            try next.set("key", 4, in: file(.site, next))
            let kept = try versions(next)
            #expect(kept == [1, 2, 4] || kept == [1, 2, 3, 4], "at \(number)")
        }
        #expect(number > 20)
    }
}
