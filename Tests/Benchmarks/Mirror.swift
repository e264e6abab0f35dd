import FoundationEssentials
import Glibc
import Platform
import Preferences
import PreferencesMirror
import PropertyLists

/// Measures the mirror of our command and library, on the disk of the package.
enum MirrorBenchmark {
    static func run(_ options: Options, _ report: Report) throws {
        guard try succeeds("swift build -c release --product prefs") else {
            throw Failure("the command does not build")
        }
        let keys = options.isQuick ? 100_000 : 1_000_000
        let parts: [(title: String, rows: () throws -> [Row])] = [
            // First, because a command's memory includes that of the process that started it.
            ("long values", { try longValues(24) }),
            ("join of \(keys) keys", { try join(keys) }),
            ("100 keys changed of \(keys)", { try fewOfMany(keys) }),
            ("set on one host until another has it", { try latency(options.isQuick ? 30 : 200) }),
        ]
        for part in parts where options.selects(part.title) {
            for row in report.measuring(part.title, part.rows) ?? [] { report.add(row) }
        }
    }

    private static func row(_ title: String, _ figure: Figure, atMost most: Figure) -> Row {
        Row(title: title, cells: [(Row.ours, figure)], floor: .atMost(most))
    }

    // MARK: Many keys

    private static let keysOfDomain = 10_000
    private static let pattern = "com.example.*"

    private static func domain(_ number: Int) throws -> DomainName { try DomainName("com.example.of\(number)") }

    /// Two hosts; the first has published this number of keys, and the second has none.
    private static func large(_ keys: Int) throws -> (MirrorFolder, MirrorHost, MirrorHost) {
        let folder = try MirrorFolder()
        let (first, second) = (try MirrorHost("a", in: folder), try MirrorHost("b", in: folder))
        for number in 0..<keys / keysOfDomain { try first.fill(try domain(number), keys: keysOfDomain) }
        try first.command("mirror", "init", folder.directory.description).succeed()
        try first.command("mirror", "add", pattern).succeed()
        return (folder, first, second)
    }

    private static func join(_ keys: Int) throws -> [Row] {
        let (folder, _, host) = try large(keys)
        let join = try host.command("mirror", "join", folder.directory.description).succeed()
        let add = try host.command("mirror", "add", pattern).succeed()
        guard try host.values(try domain(keys / keysOfDomain - 1)).count == keysOfDomain else {
            throw Failure("the last domain lacks keys")
        }
        return [
            row(
                "join of \(keys) keys", .time(Double(join.nanoseconds + add.nanoseconds)),
                atMost: .time(12e9 * Double(keys) / 1e6)),
            row(
                "memory of a key", .bytes(max(join.mostMemory, add.mostMemory) / keys), atMost: .bytes(550)),
        ]
    }

    /// Two hosts exchange this number of values, each of 6 MB and in a domain of its own.
    private static func longValues(_ count: Int) throws -> [Row] {
        let folder = try MirrorFolder()
        let (first, second) = (try MirrorHost("a", in: folder), try MirrorHost("b", in: folder))
        for number in 0..<count {
            let path = first.file(try domain(number)).path
            guard
                try succeeds(
                    """
                    mkdir -p '\(path.parent)'
                    { echo '<plist version="1.0"><dict><key>value</key><data>'
                    head -c \(longValue) /dev/urandom | base64
                    echo '</data></dict></plist>'; } > '\(path)'
                    """)
            else { throw Failure("\(path) cannot be written") }
        }
        try first.command("mirror", "init", folder.directory.description).succeed()
        let publish = try first.command("mirror", "add", pattern).succeed()
        let join = try second.command("mirror", "join", folder.directory.description).succeed()
        let add = try second.command("mirror", "add", pattern).succeed()
        guard try second.values(try domain(count - 1))["value"]?.dataValue?.count == longValue else {
            throw Failure("the last value did not arrive")
        }
        return [
            row("\(count) values of 6 MB: memory to publish", .bytes(publish.mostMemory), atMost: .bytes(80_000_000)),
            row(
                "the same: memory to join", .bytes(max(join.mostMemory, add.mostMemory)), atMost: .bytes(80_000_000)),
        ]
    }

    private static let longValue = 6_000_000

    private static func fewOfMany(_ keys: Int) throws -> [Row] {
        let (folder, first, second) = try large(keys)
        try second.command("mirror", "join", folder.directory.description).succeed()
        try second.command("mirror", "add", pattern).succeed()
        for number in 0..<10 {
            let values = (0..<10).map { (MirrorHost.key($0 * 997), PropertyList.string("changed \($0)")) }
            try first.set(Swift.Dictionary(uniqueKeysWithValues: values), in: try domain(number))
        }
        try first.sync()
        try second.sync()
        guard try second.values(try domain(9))[MirrorHost.key(9 * 997)] == "changed 9" else {
            throw Failure("the changes did not arrive")
        }
        return [
            row(
                "100 keys changed of \(keys), bytes written", .bytes(first.files.counts(in: folder.directory).written),
                atMost: .bytes(20_000)),
            row(
                "100 keys changed of \(keys), bytes read", .bytes(second.files.counts(in: folder.directory).read),
                atMost: .bytes(20_000)),
        ]
    }

    // MARK: Latency

    /// The time from a set on one host until the domain file of another host has the value, with a daemon on each host.
    private static func latency(_ rounds: Int) throws -> [Row] {
        let domain: DomainName = "com.example.watched"
        let folder = try MirrorFolder()
        let hosts = try ["a", "b"].enumerated().map { index, name in
            let host = try MirrorHost(name, in: folder)
            try host.command("mirror", index == 0 ? "init" : "join", folder.directory.description).succeed()
            try host.command("mirror", "add", pattern).succeed()
            return host
        }
        try hosts[0].fill(domain, keys: 100)
        for host in hosts + hosts { try host.sync() }
        let daemons = try hosts.map { try Child($0.command("mirror", "watch")) }
        defer { for daemon in daemons { daemon.kill() } }
        // The daemons are ready after the first round.
        _ = try delay(of: 0, in: domain, from: hosts[0], to: hosts[1])
        var random = SmallRandom(state: 7)
        let times = try (1...rounds).map { round in
            // Half of the sets follow at once, half after up to two seconds.
            if round.isMultiple(of: 2) { pause(microseconds: 1000 * random.next(below: 2000)) }
            return try delay(of: round, in: domain, from: hosts[0], to: hosts[1])
        }
        return [
            row("set on one host until another has it, p50", .time(times.percentile(50)), atMost: .time(100e6)),
            Row(title: "the same, p99", cells: [(Row.ours, .time(times.percentile(99)))]),
        ]
    }

    private static func delay(of round: Int, in domain: DomainName, from: MirrorHost, to: MirrorHost) throws -> Double {
        let value = PropertyList.integer(PropertyList.Integer(round))
        let path = to.file(domain).path.description
        func generation() -> [Int] {
            var status = stat()
            guard stat(path, &status) == 0 else { return [] }
            return [Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        }
        let (before, start) = (generation(), now())
        try from.set(["round": value], in: domain)
        while generation() == before {
            guard now() - start < 30_000_000_000 else { throw Failure("a set did not arrive within 30 s") }
            pause(microseconds: 200)
        }
        let took = Double(now() - start)
        guard try to.values(domain)["round"] == value else { throw Failure("another set arrived") }
        return took
    }
}

/// A new folder with the homes of some hosts and the directory that they share. Removed on release.
private final class MirrorFolder {
    let path: String
    let directory: FilePath

    init() throws {
        path = try newFolder("mirror")
        guard let directory = FilePath(path + "/shared") else { throw Failure("\(path) is not a path") }
        self.directory = directory
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A host with a home of its own.
private final class MirrorHost {
    let files = CountingFileSystem(SystemFileSystem())
    private let system: SystemServices
    private let places: MirrorPlaces
    private let environment: [String: String]

    init(_ name: String, in folder: MirrorFolder) throws {
        let home = folder.path + "/" + name
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        environment = [
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "XDG_CONFIG_HOME": home + "/config",
            "XDG_STATE_HOME": home + "/state", "XDG_DATA_HOME": home + "/data",
        ]
        var surroundings = Environment.ofThisProcess()
        surroundings.variables = EnvironmentVariables()
        for (name, value) in environment { surroundings.variables[name] = value }
        system = SystemServices(
            fileSystem: files, clock: SystemClock(), watcher: SystemFolderWatcher.ofThisProcess,
            environment: surroundings, terminal: SystemTerminal())
        guard let store = try StorePlaces(.native, on: system) else { throw Failure("\(home) has no store") }
        places = try MirrorPlaces(store, on: system)
    }

    func command(_ words: String...) -> Command {
        Command(words: [".build/release/prefs"] + words, environment: environment)
    }

    /// Exchanges once in this process, so that the bytes are counted.
    func sync() throws {
        guard let joined = places.joined.first else { throw Failure("no mirror") }
        var session = MirrorSession(joined, places)
        try session.sync { pause(microseconds: Int($0.nanoseconds / 1000)) }
    }

    func file(_ domain: DomainName) -> DomainFile { places.store.user.file(of: domain) }

    func values(_ domain: DomainName) throws -> PropertyList.Dictionary {
        try file(domain).contents(on: system).values
    }

    /// Sets values as a program does, durably.
    func set(_ values: [String: PropertyList], in domain: DomainName) throws {
        try DomainWriter(system, WriteAuthor(.write, by: system)).commit([
            DomainEdit(file(domain)) { draft in for (key, value) in values { draft.values[key] = value } }
        ])
    }

    /// Writes the file of a domain with this number of keys.
    func fill(_ domain: DomainName, keys count: Int) throws {
        let values = (0..<count).map { number in
            (Self.key(number), PropertyList.string("value \(number &* 7919 % 1_000_003)"))
        }
        let path = file(domain).path
        try system.fileSystem.makeFolders(path.parent)
        let bytes = try file(domain).serialized(PropertyList.Dictionary(values), as: .binary)
        try system.fileSystem.replace(path, with: bytes)
    }

    static func key(_ number: Int) -> String { "group\(number / 1000).key\(number % 1000)" }
}
