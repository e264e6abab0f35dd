import FoundationEssentials
import Glibc
import Platform
import Preferences
import PreferencesMirror
import PropertyLists
import Synchronization

/// Measures the mirror of our command and library, on the disk of the package.
enum MirrorBenchmark {
    static func run(_ options: Options, _ report: Report) throws {
        _ = try PackagedCommand.make()
        let keys = options.isQuick ? 100_000 : 1_000_000
        let parts: [(title: String, rows: () throws -> [Row])] = [
            // First, because a command's memory includes that of the process that started it.
            ("long values", { try longValues(24) }),
            ("join of \(keys) keys", { try join(keys) }),
            ("join of a signed mirror", { try signedJoin(keys / 10) }),
            ("20000 changes of 1000 keys", { try manyChanges() }),
            ("49 losers of 50 hosts", { try losers(of: 50) }),
            ("100 keys changed of \(keys), and nothing new", { try fewOfMany(keys) }),
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

    /// A host that has published this number of keys.
    private static func large(_ keys: Int) throws -> (MirrorFolder, MirrorHost) {
        let folder = try MirrorFolder()
        let host = try MirrorHost("a", in: folder)
        for number in 0..<keys / keysOfDomain { try host.fill(try domain(number), keys: keysOfDomain) }
        try host.command("mirror", "init", folder.directory.description).succeed()
        try host.command("mirror", "add", pattern).succeed()
        return (folder, host)
    }

    /// A new host joins ten. Each has a base; eight bases are equal, and two have a write that the others lack.
    private static func join(_ keys: Int) throws -> [Row] {
        let (folder, first) = try large(keys)
        var hosts = [first]
        for number in 1..<10 {
            let host = try MirrorHost("host\(number)", in: folder)
            try host.command("mirror", "join", folder.directory.description).succeed()
            try host.command("mirror", "add", try domain(number).text).succeed()
            try host.set([MirrorHost.key(0): .string("of host \(number)")], in: try domain(number))
            try host.command("mirror", "sync").succeed()
            hosts.append(host)
        }
        // All have all writes before the first of them makes a base.
        for host in hosts { try host.command("mirror", "sync").succeed() }
        for host in hosts.prefix(8) { try host.command("mirror", "compact").succeed() }
        for number in 8..<10 {
            try hosts[number].set([MirrorHost.key(1): .string("of host \(number)")], in: try domain(number))
            try hosts[number].command("mirror", "compact").succeed()
        }
        let host = try MirrorHost("joiner", in: folder)
        let join = try host.command("mirror", "join", folder.directory.description).succeed()
        let add = try host.command("mirror", "add", pattern).succeed()
        let last = try host.values(try domain(keys / keysOfDomain - 1))
        guard last.count == keysOfDomain, try host.values(try domain(9))[MirrorHost.key(1)] == "of host 9" else {
            throw Failure("keys did not arrive")
        }
        return [
            row(
                "join of \(keys) keys of ten hosts with bases", .time(Double(join.nanoseconds + add.nanoseconds)),
                atMost: .time(12e9 * Double(keys) / 1e6)),
            row(
                "memory of a key", .bytes(max(join.mostMemory, add.mostMemory) / keys), atMost: .bytes(550)),
        ]
    }

    /// A new host joins five hosts that sign their files, and five that do not.
    private static func signedJoin(_ keys: Int) throws -> [Row] {
        var times: [Double] = []
        var (files, check) = (0, 0.0)
        for isSigned in [false, true] {
            let folder = try MirrorFolder()
            let first = try MirrorHost("host0", in: folder)
            for number in 0..<keys / keysOfDomain { try first.fill(try domain(number), keys: keysOfDomain) }
            let options = try isSigned ? ["--signed", first.makeKey()] : []
            try first.command(["mirror", "init", folder.directory.description] + options).succeed()
            try first.command("mirror", "add", pattern).succeed()
            func join(_ host: MirrorHost) throws -> Double {
                let trust = try isSigned ? ["--signed", host.makeKey(), "--trust", first.fingerprint] : []
                let join = try host.command(["mirror", "join", folder.directory.description] + trust).run()
                let add = try host.command("mirror", "add", pattern).run()
                // A host that is not admitted yet has the status "waiting".
                guard [join, add].allSatisfy({ [0, 10 << 8].contains($0.status) }) else {
                    throw Failure("\(join.output)\(add.output)")
                }
                guard try host.values(try domain(keys / keysOfDomain - 1)).count == keysOfDomain else {
                    throw Failure("keys did not arrive")
                }
                return Double(join.nanoseconds + add.nanoseconds)
            }
            for number in 1..<5 {
                let host = try MirrorHost("host\(number)", in: folder)
                _ = try join(host)
                if isSigned { try first.command("mirror", "admit", host.fingerprint).succeed() }
                try host.set([MirrorHost.key(0): .string("of host \(number)")], in: try domain(0))
                try host.command("mirror", "sync").succeed()
                try host.command("mirror", "compact").succeed()
            }
            if isSigned {
                files = try folder.files.count { $0.hasPrefix("w/") && $0.contains(".") }
                check = try first.timeOfCheck()
            }
            times.append(try join(try MirrorHost("joiner", in: folder)))
        }
        return [
            row(
                "join of \(keys) keys of a signed mirror, \(files) files", .time(times[1]),
                atMost: .time(times[0] * 1.2 + Double(files) * check))
        ]
    }

    /// A host changes 1,000 keys in turn, within minutes and within ten days.
    private static func manyChanges() throws -> [Row] {
        try [(title: "within minutes", exchanges: 200, days: 0), (title: "within ten days", 2000, 10)].map { pace in
            let folder = try MirrorFolder()
            let clock = AdjustableClock()
            let host = try MirrorHost("a", in: folder, clock)
            try host.fill(try domain(0), keys: 1000)
            try host.command("mirror", "init", folder.directory.description).succeed()
            try host.command("mirror", "add", pattern).succeed()
            let step = 20_000 / pace.exchanges
            for exchange in 0..<pace.exchanges {
                let values = (0..<step).map { change in
                    let number = exchange * step + change
                    return (MirrorHost.key(number % 1000), PropertyList.string("change \(number)"))
                }
                try host.set(Swift.Dictionary(uniqueKeysWithValues: values), in: try domain(0))
                clock.advance(by: .seconds(pace.days * 86_400 / pace.exchanges))
                try host.sync()
            }
            return row(
                "20000 changes of 1000 keys \(pace.title), \(step) an exchange, leave", .bytes(try folder.size),
                atMost: .bytes(3_000_000))
        }
    }

    /// All hosts write one key before they exchange anything.
    private static func losers(of count: Int) throws -> [Row] {
        let folder = try MirrorFolder()
        let hosts = try (0..<count).map { number in
            let host = try MirrorHost("host\(number)", in: folder)
            try host.command("mirror", number == 0 ? "init" : "join", folder.directory.description).succeed()
            try host.command("mirror", "add", pattern).succeed()
            return host
        }
        for (number, host) in hosts.enumerated() {
            try host.set(["key": .string("of host \(number)")], in: try domain(0))
        }
        for host in hosts { try host.command("mirror", "sync", "--push").succeed() }
        for host in hosts { try host.command("mirror", "sync").succeed() }
        let lists = try hosts.map { host in
            try host.command("mirror", "conflicts", "--format", "json").run().output.split(separator: "\n").count
        }
        guard lists.allSatisfy({ $0 == count - 1 }) else { throw Failure("hosts list \(Set(lists).sorted()) losers") }
        let before = try folder.size
        for host in hosts { try host.command("mirror", "compact").succeed() }
        let title = "\(count - 1) losers listed on \(count) hosts"
        return [
            row("\(title), bytes before bases", .bytes(before), atMost: .bytes(40_000)),
            row("the same after one base by each", .bytes(try folder.size), atMost: .bytes(250_000)),
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
        let (folder, first) = try large(keys)
        let second = try MirrorHost("b", in: folder)
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
        let (written, read) = (first.files.counts(in: folder.directory), second.files.counts(in: folder.directory))
        for host in [first, second] { try host.command("mirror", "sync").succeed() }
        let times = try (0..<21).map { _ in Double(try second.command("mirror", "sync").succeed().nanoseconds) }
        return [
            row(
                "100 keys changed of \(keys), bytes written", .bytes(written.written), atMost: .bytes(20_000)),
            row(
                "100 keys changed of \(keys), bytes read", .bytes(read.read), atMost: .bytes(20_000)),
            row("nothing new among \(keys) keys, a sync", .time(times.percentile(50)), atMost: .time(50e6)),
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
            row(
                "set on one host until another has it, p50 (hoped: 50 ms)", .time(times.percentile(50)),
                atMost: .time(100e6)),
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

    /// The paths in the shared directory.
    var files: [String] { get throws { try FileManager.default.subpathsOfDirectory(atPath: directory.description) } }

    /// The bytes of all files in the shared directory.
    var size: Int {
        get throws {
            try files.reduce(0) { sum, name in
                var status = stat()
                guard lstat("\(directory)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                    return sum
                }
                return sum + Int(status.st_size)
            }
        }
    }
}

/// The clock of this machine, with a time of day that can be advanced.
private final class AdjustableClock: Clock {
    private let clock = SystemClock()
    private let distance = Mutex(Duration.zero)

    func advance(by duration: Duration) { distance.withLock { $0 += duration } }

    var wall: Timestamp { clock.wall.advanced(by: distance.withLock(\.self)) }
    var now: Instant { clock.now }
    var tick: Instant { clock.tick }
    func wake(at instant: Instant, _ action: @escaping @Sendable () -> Void) -> any Wakeup {
        clock.wake(at: instant, action)
    }
}

/// A host with a home of its own.
private final class MirrorHost {
    let files = CountingFileSystem(SystemFileSystem())
    private let system: SystemServices
    private let places: MirrorPlaces
    private let environment: [String: String]

    init(_ name: String, in folder: MirrorFolder, _ clock: any Clock = SystemClock()) throws {
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
            fileSystem: files, clock: clock, watcher: SystemFolderWatcher.ofThisProcess,
            environment: surroundings, terminal: SystemTerminal())
        guard let store = try StorePlaces(.native, on: system) else { throw Failure("\(home) has no store") }
        places = try MirrorPlaces(store, on: system)
    }

    func command(_ words: String...) -> Command { command(words) }

    func command(_ words: [String]) -> Command {
        Command(words: [PackagedCommand.path] + words, environment: environment)
    }

    // MARK: Keys

    private var key: String { (environment["HOME"] ?? "") + "/key" }

    /// Makes a key of SSH, and returns its file.
    func makeKey() throws -> String {
        try Command(words: ["/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key]).succeed()
        return key
    }

    var fingerprint: String {
        get throws {
            let line = try Command(words: ["/usr/bin/ssh-keygen", "-l", "-f", key]).succeed().output
            return line.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        }
    }

    /// Returns the least time in which `ssh-keygen` checks a signature.
    func timeOfCheck() throws -> Double {
        let (line, text) = (try String(contentsOfFile: key + ".pub", encoding: .utf8), key + ".text")
        try "ada \(line)".write(toFile: key + ".allowed", atomically: true, encoding: .utf8)
        try "text\n".write(toFile: text, atomically: true, encoding: .utf8)
        try Command(words: ["/usr/bin/ssh-keygen", "-q", "-Y", "sign", "-n", "test", "-f", key, text]).succeed()
        let check = Command(
            words: [
                "/usr/bin/ssh-keygen", "-Y", "verify", "-n", "test", "-f", key + ".allowed", "-I", "ada", "-s",
                text + ".sig",
            ], input: text)
        return try (0..<20).map { _ in Double(try check.succeed().nanoseconds) }.min() ?? 0
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
