import Platform
import Preferences
import PropertyLists
import SettingsSchema
import SimulatedPlatform
import Synchronization
import Testing

/// How the values of a domain are stored.
enum DomainKind: CaseIterable { case file, folder }

/// A machine on which the schema of a domain is installed.
struct SchemaBench {
    let bench: StoreBench
    /// How the user's domain is stored, until it is removed.
    let kind: DomainKind
    let terminal = SimulatedTerminal()

    static let domain: DomainName = "com.example.backup"
    static let own: FilePath = "/home/ada/.local/share/prefs/schemas/com.example.backup.plist"
    static let site: FilePath = "/usr/share/prefs/schemas/com.example.backup.plist"

    static let text = """
        {
            Domain = "com.example.backup";
            Settings = (
                { Key = keep; Type = integer; Default = 7; Minimum = 1; Maximum = 365; Environment = BACKUP_KEEP; },
                { Key = mode; Type = string; Choices = (full, incremental); Default = full; },
                { Key = token; Type = string; Sensitive = YES; },
                { Key = retries; Type = integer; Default = 3; RenamedFrom = (tries); },
                { Key = a; Type = boolean; Conflicts = b; }, { Key = b; Type = boolean; }
            );
        }
        """

    init(_ text: String? = Self.text, at path: FilePath = Self.site, as kind: DomainKind = .file) throws {
        bench = try StoreBench()
        self.kind = kind
        // A domain without values is what its folder makes it.
        if kind == .folder { try makeFolder(of: StoreBench.file(Self.domain)) }
        if let text { try install(text, at: path) }
    }

    func makeFolder(of file: DomainFile) throws {
        try bench.process().fileSystem.makeFolders(try #require(file.folder))
    }

    func install(_ text: String, at path: FilePath = Self.site) throws {
        let root = bench.simulated.disk.process()
        try root.makeFolders(path.parent)
        var folder = path.parent
        while folder != .root {
            try root.open(folder, .reading)?.setPermissions(FilePermissions(rawValue: 0o755))
            folder = folder.parent
        }
        try root.replace(path, with: Array(text.utf8).span.bytes)
        try root.open(path, .reading)?.setPermissions(FilePermissions(rawValue: 0o644))
    }

    /// Returns the store of a new process.
    func store(_ arguments: [String] = [], variables: EnvironmentVariables = [:]) -> Store {
        Store(
            .native,
            on: StoreBench.process(
                on: bench.simulated.disk, arguments: arguments, variables: variables, terminal: terminal))
    }

    func defaults(variables: EnvironmentVariables = [:]) -> Defaults {
        Defaults(Self.domain, in: store(variables: variables))
    }

    /// Writes the user's file without any check.
    func stored(_ values: PropertyList.Dictionary) throws {
        try bench.process().commit([DomainEdit(StoreBench.file(Self.domain)) { $0.values = values }])
    }

    /// Returns the contents of the user's file.
    func file() throws -> PropertyList.Dictionary {
        try StoreBench.file(Self.domain).contents(on: bench.process()).values
    }

    /// The path of the user's file or folder.
    var place: String {
        let file = StoreBench.file(Self.domain)
        return (kind == .folder ? file.folder ?? file.path : file.path).description
    }

    var errors: String { terminal.text(of: .errors) }
}
