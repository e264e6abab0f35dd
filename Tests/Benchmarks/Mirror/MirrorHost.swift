import FoundationEssentials
import Platform
import Preferences
import PreferencesMirror
import PropertyLists

/// A host with a home of its own, and its part in a mirror.
final class MirrorHost {
    let name: String
    let files: CountingFileSystem
    let machine: Machine
    let places: MirrorPlaces
    private let environment: [String: String]

    /// The command as the release is built.
    private static let program = ".build/release/prefs"
    /// The patterns of the domains that take part.
    static let pattern = "com.example.*"

    init(_ name: String, in folder: MirrorFolder) throws {
        self.name = name
        let home = folder.path + "/" + name
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        environment = [
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "XDG_CONFIG_HOME": home + "/config",
            "XDG_STATE_HOME": home + "/state", "XDG_DATA_HOME": home + "/data",
        ]
        files = CountingFileSystem(SystemFileSystem())
        var surroundings = Environment.ofThisProcess()
        surroundings.variables = EnvironmentVariables()
        for (name, value) in environment { surroundings.variables[name] = value }
        machine = Machine(
            fileSystem: files, clock: SystemClock(), watcher: SystemFolderWatcher.ofThisProcess,
            environment: surroundings, terminal: SystemTerminal())
        guard let store = try StorePlaces(.native, on: machine) else { throw Failure("\(home) has no store") }
        places = try MirrorPlaces(store, on: machine)
    }

    // MARK: The mirror

    func enter(_ directory: FilePath, isFirst: Bool) throws {
        let admission = MirrorPlaces.Admission()
        _ = isFirst ? try places.initialise(directory, admission) : try places.join(directory, admission)
        var session = try session()
        try session.begin()
        defer { session.end() }
        try session.configure { $0.selection.add(Self.pattern) }
    }

    func session() throws -> MirrorSession {
        guard let joined = places.joined.first else { throw Failure("\(name) takes part in no mirror") }
        return MirrorSession(joined, places)
    }

    /// One whole exchange.
    func sync() throws {
        var session = try session()
        try session.sync { pause(microseconds: Int($0.nanoseconds / 1000)) }
    }

    func command(_ words: String...) -> Command {
        Command(words: [Self.program] + words, environment: environment)
    }

    /// Runs the command, which must succeed.
    @discardableResult
    func run(_ command: Command) throws -> Command.Outcome {
        let outcome = try command.run()
        guard outcome.status == 0 else { throw Failure("\(command.words.joined(separator: " ")) fails") }
        return outcome
    }

    // MARK: Settings

    func file(_ domain: DomainName) -> DomainFile { places.store.user.file(of: domain) }

    /// Sets values as a program does, durably.
    func set(_ values: [String: PropertyList], in domain: DomainName) throws {
        try DomainWriter(machine, WriteNote(.write, by: machine)).commit([
            DomainEdit(file(domain)) { draft in for (key, value) in values { draft.values[key] = value } }
        ])
    }

    /// Lays down a domain of so many keys.
    func fill(_ domain: DomainName, keys count: Int) throws {
        let values = (0..<count).map { number in
            (Self.key(number), PropertyList.string("value \(number &* 7919 % 1_000_003)"))
        }
        let path = file(domain).path
        try machine.fileSystem.makeFolders(path.parent)
        let bytes = try file(domain).serialized(PropertyList.Dictionary(values), as: .binary)
        try machine.fileSystem.replace(path, with: bytes)
    }

    static func key(_ number: Int) -> String { "group\(number / 1000).key\(number % 1000)" }
}
