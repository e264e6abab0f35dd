import Foundation
import Glibc
import Platform
import Preferences
import PropertyLists
import TestSupport
import Testing

/// A mirror between processes of this machine: several homes, and one directory.
final class MirrorOfProcesses {
    private let folder: TemporaryFolder
    let directory: String
    let hosts: [RealHost]

    /// - Parameter directory: The directory of the mirror, by default next to the homes.
    init(_ names: String..., directory: String? = nil) throws {
        folder = try TemporaryFolder()
        let place = folder.url.path(percentEncoded: false)
        let shared = directory ?? place + "/shared"
        self.directory = shared
        hosts = try names.map { try RealHost($0, in: place) }
        for (index, host) in hosts.enumerated() {
            try host.succeed("mirror", index == 0 ? "init" : "join", shared, "--label", host.name)
            try host.succeed("mirror", "add", "com.example.*")
        }
    }

    /// Lets all hosts exchange until there is nothing left to publish.
    func comeToRest(_ rounds: Int = 3) throws {
        for _ in 0..<rounds { for host in hosts { _ = try host.run("mirror", "sync") } }
    }

    /// Each file in the directory with its inode number, size and modification time.
    func traces() throws -> [String: String] {
        var traces: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: directory) {
            var status = stat()
            guard lstat(directory + "/" + path, &status) == 0 else { continue }
            traces[path] = "\(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
        }
        return traces
    }
}

/// A home with a store, and the command that runs in it.
final class RealHost: Sendable {
    let name: String
    let home: String
    let system: SystemServices
    let places: StorePlaces

    init(_ name: String, in folder: String) throws {
        self.name = name
        home = folder + "/" + name
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        system = Self.system(home, with: SystemClock())
        places = try #require(try StorePlaces(.native, on: system))
    }

    /// Returns the machine of this host with another clock.
    func system(with clock: any Clock) -> SystemServices { Self.system(home, with: clock) }

    private static func system(_ home: String, with clock: any Clock) -> SystemServices {
        var environment = Environment.ofThisProcess()
        environment.variables = EnvironmentVariables()
        for (name, value) in variables(home) { environment.variables[name] = value }
        return SystemServices(
            fileSystem: SystemFileSystem(), clock: clock, watcher: SystemFolderWatcher.ofThisProcess,
            environment: environment, terminal: SystemTerminal())
    }

    private static func variables(_ home: String) -> [String: String] {
        [
            "HOME": home, "XDG_CONFIG_HOME": home + "/config", "XDG_STATE_HOME": home + "/state",
            "XDG_DATA_HOME": home + "/data", "XDG_CONFIG_DIRS": home + "/etc", "XDG_DATA_DIRS": home + "/share",
        ]
    }

    var variables: [String: String] { Self.variables(home) }

    /// The path of the built command, next to the tests.
    static let command = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "prefs").path(percentEncoded: false)

    func run(_ words: String...) throws -> Subprocess { try run(words) }

    func run(_ words: [String]) throws -> Subprocess {
        try Subprocess.run(Self.command, words, environment: variables)
    }

    @discardableResult
    func succeed(_ words: String...) throws -> String {
        let run = try run(words)
        try #require(run.status == 0, "\(name): \(words): \(run.status) \(run.text)\(run.errorText)")
        return run.text
    }

    // MARK: Conflicts

    /// The short names of the conflicts that this host lists.
    func conflictNames() throws -> [String] {
        try listed().compactMap { line in line.hasPrefix(" ") ? nil : line.split(separator: " ").first.map(String.init)
        }
    }

    /// The values that this host lists as lost, as `conflicts` prints them.
    func lost() throws -> [String] {
        try listed().filter { $0.hasPrefix("    lost ") }.compactMap { line in
            // The host and the time of the write precede the value.
            line.split(separator: "Z  ", maxSplits: 1).last.map { String($0.split(separator: "time  ").last ?? $0) }
        }
    }

    private func listed() throws -> [String] {
        let list = try run("mirror", "conflicts")
        try #require([0, 9].contains(list.status), "\(name): \(list.text)\(list.errorText)")
        return list.text.split(separator: "\n").map(String.init)
    }

    // MARK: Settings

    func file(_ domain: DomainName) -> DomainFile { places.user.file(of: domain) }

    func values(_ domain: DomainName) throws -> PropertyList.Dictionary {
        try file(domain).contents(on: system).values
    }

    func write(
        _ key: String, _ value: PropertyList, in domains: [DomainName], on system: SystemServices? = nil
    ) throws {
        let system = system ?? self.system
        try DomainWriter(system, WriteAuthor(.write, by: system)).commit(
            domains.map { DomainEdit(file($0)) { $0.values[key] = value } })
    }
}

/// A process of `prefs mirror watch`, which ends when this is released.
final class WatchProcess {
    let id: pid_t
    private var isOver = false

    struct NotStarted: Error { let code: Int32 }

    /// - Parameter words: The command, whose output is appended to a file of this name in the home.
    init(_ host: RealHost, _ words: [String] = ["mirror", "watch"]) throws {
        let variables = ProcessInfo.processInfo.environment.merging(host.variables) { $1 }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        let log = "\(host.home)/\(words.joined(separator: " ")).log"
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // The threads of tests block most signals, and their child processes would inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        let texts: [String] = [RealHost.command] + words
        var words: [UnsafeMutablePointer<CChar>?] = texts.map { (text: String) in strdup(text) }
        var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") }
        words.append(nil)
        environment.append(nil)
        defer { for pointer in words + environment { free(pointer) } }
        var process = pid_t()
        let code = posix_spawn(&process, RealHost.command, &actions, &attributes, &words, &environment)
        guard code == 0 else { throw NotStarted(code: code) }
        id = process
    }

    deinit { end(by: SIGKILL) }

    /// Ends the process, waits for it, and returns its exit status, or 128 plus the signal.
    @discardableResult
    func end(by signal: Int32) -> Int32 {
        guard !isOver else { return 0 }
        isOver = true
        kill(id, signal)
        var status: Int32 = 0
        while waitpid(id, &status, 0) == -1, errno == EINTR {}
        let number = status & 0x7F
        return number == 0 ? status >> 8 & 0xFF : 128 + number
    }

    /// The number of write calls so far.
    var writeCalls: Int {
        let text = (try? String(contentsOfFile: "/proc/\(id)/io", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("syscw:") }
        return line.flatMap { Int($0.dropFirst("syscw: ".count)) } ?? -1
    }
}

/// Waits until a condition holds, which is checked every millisecond. Returns false after `patience`.
func holds(within patience: Duration = .seconds(120), _ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = ContinuousClock.now + patience
    while try !condition() {
        guard ContinuousClock.now < deadline else { return false }
        pause(.milliseconds(1))
    }
    return true
}

/// Waits for a time, for use where there is no event to wait for.
func pause(_ duration: Duration) {
    let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
    poll(nil, 0, Int32(clamping: milliseconds))
}
