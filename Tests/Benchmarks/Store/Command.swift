import Glibc

/// A program that is to run: its words, and the variables that are all its environment.
struct Command {
    let words: [String]
    let environment: [String: String]
    /// The file that it reads as standard input; nothing without one.
    var input = "/dev/null"

    /// Runs it to its end.
    func run() throws -> Outcome {
        let start = now()
        let child = try Child(self)
        var output = ""
        while let line = child.line() { output += line + "\n" }
        let status = child.wait()
        return Outcome(status: status, output: output, nanoseconds: now() - start, usage: child.usage)
    }

    /// What came of a program.
    struct Outcome {
        /// As `waitpid` says it: 0 for a program that succeeded.
        let status: Int32
        let output: String
        /// From before its start to after its end, by the clock on the wall.
        let nanoseconds: Int64
        fileprivate let usage: rusage

        /// Nanoseconds for which it had a core.
        var processorTime: Int64 {
            let times = [usage.ru_utime, usage.ru_stime]
            return times.reduce(0) { $0 + Int64($1.tv_sec) * 1_000_000_000 + Int64($1.tv_usec) * 1000 }
        }

        /// Bytes of memory that it had at most.
        var mostMemory: Int { usage.ru_maxrss * 1024 }
    }
}

/// A program that runs, and writes lines that nobody else reads.
final class Child {
    let process: pid_t
    private let output: Int32
    private var received: ArraySlice<UInt8> = []
    private var status: Int32?
    /// What it has used; nothing before it was waited for.
    private(set) var usage = rusage()

    init(_ command: Command) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failure.system("pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        output = ends[0]
        do {
            process = try Self.spawn(command, output: ends[1])
        } catch {
            close(ends[0])
            throw error
        }
    }

    deinit {
        if status == nil {
            kill()
            _ = wait()
        }
        close(output)
    }

    /// The next line that it writes; nil when there are no more.
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

    func wait() -> Int32 {
        if let status { return status }
        var word: Int32 = 0
        while wait4(process, &word, 0, &usage) < 0, errno == EINTR {}
        status = word
        return word
    }

    private static func spawn(_ command: Command, output: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, command.input, O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var words = command.words.map { (word: String) in strdup(word) } + [nil]
        var variables = command.environment.map { (entry) in strdup("\(entry.key)=\(entry.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var process = pid_t()
        let problem = posix_spawnp(&process, command.words[0], &actions, nil, &words, &variables)
        guard problem == 0 else { throw Failure("\(command.words[0]): \(String(cString: strerror(problem)))") }
        return process
    }
}

/// Nanoseconds since 1970, which other processes count as well.
func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// Does nothing for a while.
func pause(microseconds: Int) {
    var (time, rest) = (
        timespec(tv_sec: microseconds / 1_000_000, tv_nsec: microseconds % 1_000_000 * 1000), timespec()
    )
    while nanosleep(&time, &rest) < 0, errno == EINTR { time = rest }
}
