import FoundationEssentials
import Glibc

/// A program to run.
struct Command {
    let words: [String]
    /// Its complete environment, or nil for the environment of this process.
    var environment: [String: String]?
    /// The file that it reads as standard input, or nil for a pipe from this process.
    var input: String? = "/dev/null"

    static func shell(_ line: String) -> Command { Command(words: ["/bin/sh", "-c", line], input: nil) }

    /// Runs it until it ends.
    func run() throws -> Outcome {
        let start = now()
        let child = try Child(self)
        var output = ""
        while let line = child.line() { output += line + "\n" }
        let status = child.wait()
        return Outcome(
            status: status, output: output, nanoseconds: now() - start, mostMemory: child.usage.ru_maxrss * 1024,
            processor: child.usage.ru_utime.nanoseconds + child.usage.ru_stime.nanoseconds)
    }

    /// Runs it and throws if it fails.
    @discardableResult
    func succeed() throws -> Outcome {
        let outcome = try run()
        guard outcome.status == 0 else { throw Failure("\(words.joined(separator: " ")) fails") }
        return outcome
    }

    struct Outcome {
        /// As from `waitpid`: 0 for success.
        let status: Int32
        let output: String
        /// Wall time from before its start to after its end.
        let nanoseconds: Int64
        /// In bytes.
        let mostMemory: Int
        /// The nanoseconds that it and its children used of all cores.
        let processor: Double
    }
}

extension timeval {
    fileprivate var nanoseconds: Double { Double(tv_sec) * 1e9 + Double(tv_usec) * 1e3 }
}

/// A running program that writes lines and can receive lines. On release it is killed, unless its input is a pipe from
/// this process, which is closed instead.
final class Child {
    let process: pid_t
    private let input: Int32
    private let endsByInput: Bool
    private let output: Int32
    private var received: ArraySlice<UInt8> = []
    private var status: Int32?
    /// The resources that it used. Valid after `wait`.
    private(set) var usage = rusage()

    init(_ command: Command) throws {
        let (toChild, fromChild) = (try Self.pipe(), try Self.pipe())
        (input, output, endsByInput) = (toChild.writing, fromChild.reading, command.input == nil)
        defer {
            close(toChild.reading)
            close(fromChild.writing)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let file = command.input {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, file, O_RDONLY, 0)
        } else {
            posix_spawn_file_actions_adddup2(&actions, toChild.reading, STDIN_FILENO)
        }
        posix_spawn_file_actions_adddup2(&actions, fromChild.writing, STDOUT_FILENO)
        if command.environment != nil {
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        }
        var words = command.words.map { (word: String) in strdup(word) } + [nil]
        var variables = (command.environment ?? [:]).map { (entry) in strdup("\(entry.key)=\(entry.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var process = pid_t()
        let problem =
            command.environment == nil
            ? posix_spawnp(&process, command.words[0], &actions, nil, &words, environ)
            : posix_spawnp(&process, command.words[0], &actions, nil, &words, &variables)
        guard problem == 0 else {
            close(input)
            close(output)
            throw Failure("\(command.words[0]): \(String(cString: strerror(problem)))")
        }
        self.process = process
    }

    deinit {
        close(input)
        if status == nil {
            if !endsByInput { kill() }
            wait()
        }
        close(output)
    }

    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw Failure.system("pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    func send(_ line: String) throws {
        let bytes = Array((line + "\n").utf8)
        guard write(input, bytes, bytes.count) == bytes.count else { throw Failure.system("a driver") }
    }

    /// The next line that it writes; nil at the end.
    func line() -> String? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received = received[(end + 1)...] }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = read(output, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            received = ArraySlice(Array(received) + chunk[..<count])
        }
    }

    func kill() { _ = Glibc.kill(process, SIGKILL) }

    @discardableResult
    func wait() -> Int32 {
        if let status { return status }
        var word: Int32 = 0
        while wait4(process, &word, 0, &usage) < 0, errno == EINTR {}
        status = word
        return word
    }
}

/// Runs a shell command with its output on standard error, and returns whether it succeeded.
func succeeds(_ line: String) throws -> Bool { try Command.shell("exec 1>&2; " + line).run().status == 0 }

/// The command as people install it, which starts faster than the one that `swift build` makes: its functions are in an
/// order of their own.
enum PackagedCommand {
    static let path =
        ProcessInfo.processInfo.environment["PREFS_COMMAND"]
        ?? FileManager.default.currentDirectoryPath + "/.build/packaged/bin/prefs"

    /// Makes a package and unpacks it, unless PREFS_COMMAND is set. A copy, like those that installers make, is in
    /// large pages; what tar writes in small pieces takes a fifth longer to map.
    static let preparation = """
        [ -n "${PREFS_COMMAND:-}" ] || {
            rm -rf .build/packaged && Sources/prefs/package .build/packaged &&
            tar -xzf .build/packaged/*.tar.gz -C .build/packaged --strip-components=1 &&
            cp .build/packaged/bin/prefs .build/packaged/copy && mv .build/packaged/copy .build/packaged/bin/prefs
        }
        """

    /// Returns the path once the command is there.
    static func make() throws -> String {
        guard try succeeds(preparation) else { throw Failure("the command cannot be packaged") }
        return path
    }
}

/// The bytes of a file.
func contents(of path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

/// A new folder: below `.build/benchmarks`, on the disk of the package, or in memory where the system has such a place.
func newFolder(_ name: String, inMemory: Bool = false) throws -> String {
    let (disk, memory) = (FileManager.default.currentDirectoryPath + "/.build/benchmarks", "/dev/shm")
    let place = inMemory && access(memory, W_OK) == 0 ? memory : disk
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    var template = Array("\(place)/\(name)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure.system(place) }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// The nanoseconds of a clock that nobody sets.
func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

func pause(microseconds: Int) {
    var (time, rest) = (
        timespec(tv_sec: microseconds / 1_000_000, tv_nsec: microseconds % 1_000_000 * 1000), timespec()
    )
    while nanosleep(&time, &rest) < 0, errno == EINTR { time = rest }
}

/// Random numbers, the same in each run.
struct SmallRandom {
    var state: UInt64

    mutating func next(below limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % max(limit, 1)
    }
}
