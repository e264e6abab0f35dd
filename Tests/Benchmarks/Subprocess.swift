import Glibc

/// A child process that answers lines with lines.
final class Subprocess {
    private let process: pid_t
    private let input: Int32
    private let output: Int32
    private var received: [UInt8] = []

    /// Starts a command of the shell.
    init(_ command: String) throws {
        let (toChild, fromChild) = (try Self.pipe(), try Self.pipe())
        process = try Self.spawn(command, input: toChild.reading, output: fromChild.writing)
        (input, output) = (toChild.writing, fromChild.reading)
        close(toChild.reading)
        close(fromChild.writing)
    }

    deinit {
        close(input)
        close(output)
        _ = Self.status(of: process)
    }

    /// Runs a command of the shell to its end, what it prints going to standard error; whether it succeeded.
    static func run(_ command: String) throws -> Bool {
        status(of: try spawn(command, input: STDIN_FILENO, output: STDERR_FILENO)) == 0
    }

    func send(_ line: String) throws {
        let bytes = Array((line + "\n").utf8)
        guard write(input, bytes, bytes.count) == bytes.count else { throw Failure.system("a peer") }
    }

    /// The next line that the process prints; nil when it has ended.
    func receive() -> String? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = read(output, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            received += chunk[..<count]
        }
    }
}

extension Subprocess {
    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw Failure.system("pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func spawn(_ command: String, input: Int32, output: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        var arguments = ["sh", "-c", command].map { (word: String) in strdup(word) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let problem = posix_spawn(&process, "/bin/sh", &actions, nil, &arguments, environ)
        guard problem == 0 else { throw Failure("/bin/sh: \(String(cString: strerror(problem)))") }
        return process
    }

    private static func status(of process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
