import MirrorEngine
import Platform
import Preferences
import PreferencesMirror
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// A simulated disk with the files of several hosts and their shared directory.
struct MirrorBench: Sendable {
    let disk: SimulatedDisk

    static let directory: FilePath = "/home/ada/shared"

    init(seed: UInt64 = Seed.ofThisRun.number) throws { disk = try SimulatedMachine(seed: seed).disk }

    init(_ disk: SimulatedDisk) { self.disk = disk }

    /// Returns a host that has not joined a mirror yet.
    func stranger(_ name: String, _ plan: FaultPlan = FaultPlan()) throws -> MirrorHost {
        try MirrorHost(name, on: disk, plan)
    }

    /// Returns a host that created the mirror and hosts that joined it. All mirror the domains that start with `com.`.
    func hosts(_ names: String...) throws -> [MirrorHost] {
        try names.enumerated().map { index, name in
            let host = try stranger(name)
            try host.enter(isFirst: index == 0)
            try host.select { $0.add("com.*") }
            try host.sync()
            return host
        }
    }

    /// Lets all hosts exchange until there is nothing left to publish.
    func comeToRest(_ hosts: [MirrorHost]) throws {
        for _ in 0..<3 { for host in hosts { try host.sync() } }
    }

    /// The contents of all files in the directory.
    func directoryContents() throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        try collect(Self.directory, disk.process(), &contents)
        return contents
    }

    private func collect(_ folder: FilePath, _ files: SimulatedFileSystem, _ contents: inout [String: [UInt8]]) throws {
        for name in (try? files.names(in: folder)) ?? [] {
            let path = folder.appending(name)
            if try files.status(of: path)?.kind == .folder {
                try collect(path, files, &contents)
            } else {
                contents[path.description] = try files.contents(of: path)
            }
        }
    }
}

/// A host: its store and its state of the mirror.
struct MirrorHost: Sendable {
    let name: String
    let disk: SimulatedDisk
    let fileSystem: SimulatedFileSystem
    let system: SystemServices
    let places: MirrorPlaces

    /// - Parameter watcher: The watcher, by default one that reports every change.
    init(
        _ name: String, on disk: SimulatedDisk, _ plan: FaultPlan = FaultPlan(),
        watcher: (any FolderWatcher)? = nil
    ) throws {
        self.name = name
        self.disk = disk
        fileSystem = disk.process(user: 1000, plan)
        let home = "/home/ada/\(name)"
        let environment = Environment(
            variables: [
                "HOME": "/home/ada", "XDG_CONFIG_HOME": home + "/config", "XDG_STATE_HOME": home + "/state",
                "XDG_DATA_HOME": home + "/data",
            ], arguments: ["program"], executable: "/usr/bin/program", user: 1000, hostName: name)
        system = SystemServices(
            fileSystem: fileSystem, clock: disk.clock, watcher: watcher ?? SimulatedFolderWatcher(disk),
            environment: environment, terminal: SimulatedTerminal(), output: SimulatedKeygen(disk).run)
        places = try MirrorPlaces(try #require(try StorePlaces(.native, on: system)), on: system)
    }

    /// Returns the same host after a reboot, or as another process.
    func again(on disk: SimulatedDisk? = nil, _ plan: FaultPlan = FaultPlan()) throws -> MirrorHost {
        try MirrorHost(name, on: disk ?? self.disk, plan)
    }

    /// - Parameter signing: The key with which the host signs its files.
    func enter(
        isFirst: Bool, at directory: FilePath = MirrorBench.directory, id: MirrorID? = nil, signing: SigningKey? = nil
    ) throws {
        var options = MirrorPlaces.JoinOptions()
        options.signing = signing
        options.id = id?.description
        if isFirst {
            _ = try places.initialise(directory, options)
        } else {
            _ = try places.join(directory, options)
        }
    }

    /// Creates the mirror again as `init --again` does, and returns the condition after the exchange.
    @discardableResult
    func initialiseAgain() throws -> MirrorCondition {
        var session = MirrorSession(try places.initialiseAgain(MirrorBench.directory, id: nil), places)
        try session.carryOut(.heal) { disk.clock.advance(by: $0) }
        return session.condition(after: session.takeReports())
    }

    /// Exchanges once, and then writes a base.
    func compact() throws {
        var session = try session()
        try session.begin()
        defer { session.end() }
        try session.exchange()
        try session.send(.compact)
    }

    func session() throws -> MirrorSession { MirrorSession(try #require(places.joined.first), places) }

    func select(_ change: (inout DomainSelection) -> Void) throws {
        var session = try session()
        try session.begin()
        try session.configure { change(&$0.selection) }
        session.end()
    }

    /// Exchanges once, in a new process.
    @discardableResult
    func sync(_ direction: MirrorSession.Direction = .both) throws -> MirrorSession {
        var session = try session()
        try session.sync(direction) { disk.clock.advance(by: $0) }
        return session
    }

    /// Returns the condition after an exchange.
    func condition() throws -> MirrorCondition {
        var session = try sync()
        return session.condition(after: session.takeReports())
    }

    /// Carries out a request of the user, and returns the condition after the exchange.
    @discardableResult
    func carryOut(_ command: MirrorEngine.Command) throws -> MirrorCondition {
        var session = try session()
        try session.carryOut(command) { disk.clock.advance(by: $0) }
        return session.condition(after: session.takeReports())
    }

    func status() throws -> MirrorStatus {
        var session = try session()
        return try session.status()
    }

    // MARK: Settings

    func file(_ domain: DomainName) -> DomainFile { places.store.user.file(of: domain) }

    func write(_ key: String, _ value: PropertyList?, _ domain: DomainName = "com.example.a") throws {
        try write(key, value, in: [domain])
    }

    /// Writes into several domains in one transaction.
    func write(_ key: String, _ value: PropertyList?, in domains: [DomainName]) throws {
        try DomainWriter(system, WriteAuthor(.write, by: system)).commit(
            domains.map { DomainEdit(file($0)) { $0.values[key] = value } })
    }

    func values(_ domain: DomainName = "com.example.a") throws -> PropertyList.Dictionary {
        try file(domain).contents(on: system).values
    }

    /// Writes a file as a program that does not use locks.
    func scribble(_ values: PropertyList.Dictionary, _ domain: DomainName = "com.example.a") throws {
        try fileSystem.makeFolders(file(domain).path.parent)
        try fileSystem.replace(file(domain).path, with: try file(domain).serialized(values, as: .xml))
    }

    /// Installs a schema with keys that are merged dictionaries, are not mirrored, or contain a secret, and with secret
    /// keys of a command that had other names before.
    func install(
        merging keys: [String] = [], home: [String] = [], secrets: [String] = [], ofCommand: [String] = [],
        for domain: DomainName = "com.example.a"
    ) throws {
        let password: PropertyList = ["Key": "password", "Type": "string", "Sensitive": true]
        let settings =
            keys.map { PropertyList.dictionary(["Key": .string($0), "Type": "dictionary", "Merge": true]) }
            + home.map { PropertyList.dictionary(["Key": .string($0), "Type": "string", "Mirrored": false]) }
            + secrets.map {
                PropertyList.dictionary(["Key": .string($0), "Type": "dictionary", "Entries": [password]])
            }
        let own = ofCommand.map {
            PropertyList.dictionary([
                "Key": .string($0), "Type": "string", "Sensitive": true, "RenamedFrom": [.string("former-" + $0)],
            ])
        }
        // Another command's key with the same name does not make the secret public.
        let others = ofCommand.map { PropertyList.dictionary(["Key": .string($0), "Type": "string"]) }
        let schema: PropertyList = [
            "Domain": .string(domain.text), "Settings": .array(settings),
            "Commands": [
                ["Name": "show", "Settings": .array(others)], ["Name": "login", "Settings": .array(own)],
            ],
        ]
        let folder = try #require(FilePath("/home/ada/\(name)/data/prefs/schemas"))
        try fileSystem.makeFolders(folder)
        let file = folder.resolving(try #require(FilePath(domain.text + ".plist")))
        try fileSystem.replace(file, with: Array(try schema.serialized(as: .xml)))
    }
}
