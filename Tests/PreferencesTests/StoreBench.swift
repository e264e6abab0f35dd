import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport

/// A simulated machine with a store on it, and the processes that use it.
struct StoreBench: Sendable {
    let simulated: SimulatedMachine

    static let folder: FilePath = "/home/ada/.config/prefs"
    static let history: FilePath = "/home/ada/.local/state/prefs/history"

    static let store = StoreFolder(folder, .own, history: history, coordination: folder)

    init(seed: UInt64 = Seed.ofThisRun.number) throws { simulated = try SimulatedMachine(seed: seed) }

    /// Returns the machine of a new process of the user.
    func process(_ plan: FaultPlan = FaultPlan(), program: String = "program") -> SystemServices {
        Self.process(on: simulated.disk, plan, program: program)
    }

    static func process(
        on disk: SimulatedDisk, _ plan: FaultPlan = FaultPlan(), program: String = "program",
        arguments: [String] = [], variables: EnvironmentVariables = [:],
        terminal: SimulatedTerminal = SimulatedTerminal()
    ) -> SystemServices {
        var environment = Environment(
            variables: (["HOME": "/home/ada"] as EnvironmentVariables).merging(variables),
            arguments: [program] + arguments,
            executable: FilePath("/usr/bin/\(program)"), user: 1000)
        environment.process = 4711
        return SystemServices(
            fileSystem: disk.process(user: 1000, plan), clock: disk.clock,
            watcher: SimulatedFolderWatcher(disk), environment: environment, terminal: terminal)
    }

    /// Returns the user's store in a new process.
    func store(_ kind: Store.Kind = .native, arguments: [String] = [], variables: EnvironmentVariables = [:]) -> Store {
        Store(kind, on: Self.process(on: simulated.disk, arguments: arguments, variables: variables))
    }

    /// Writes a file as the administrator.
    func administrate(
        _ path: FilePath, _ values: PropertyList.Dictionary,
        permissions: FilePermissions = FilePermissions(rawValue: 0o644)
    ) throws {
        let root = simulated.disk.process()
        try root.makeFolders(path.parent)
        var folder = path.parent
        while folder != .root {
            try root.open(folder, .reading)?.setPermissions(FilePermissions(rawValue: 0o755))
            folder = folder.parent
        }
        try root.replace(path, with: Self.file("any").serialized(values, as: .xml))
        try root.open(path, .reading)?.setPermissions(permissions)
    }

    /// Advances the clock until pending values are written and reported.
    func settle() { simulated.clock.advance(by: .milliseconds(200)) }

    static func file(_ name: DomainName, newFormat: PropertyList.Format = .binary) -> DomainFile {
        store.file(of: name).made(in: newFormat)
    }
}

extension SystemServices {
    /// Writes like a command: immediately and durably.
    @discardableResult
    func commit(
        _ edits: [DomainEdit], reason: WriteReason = .write, policy: HistoryPolicy = HistoryPolicy()
    ) throws -> [CommittedDomain] {
        try DomainWriter(self, WriteAuthor(reason, by: self), patience: .milliseconds(200), policy: policy)
            .commit(edits)
    }

    @discardableResult
    func set(_ key: String, _ value: PropertyList?, in file: DomainFile) throws -> CommittedDomain? {
        try commit([DomainEdit(file) { $0.values[key] = value }]).first
    }

    /// Writes bytes as a program that does not use this library.
    func scribble(_ bytes: [UInt8], to path: FilePath) throws {
        try fileSystem.makeFolders(path.parent)
        try fileSystem.replace(path, with: bytes)
    }
}

extension PropertyList.Dictionary {
    /// Returns the values of a domain in which every key has the number.
    static func numbered(_ number: Int, count: Int = 3) -> PropertyList.Dictionary {
        PropertyList.Dictionary((0..<count).map { ("key\($0)", .integer(PropertyList.Integer(number))) })
    }
}
