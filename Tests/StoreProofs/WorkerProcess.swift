import Foundation
import Glibc
import TestSupport

/// A worker process, which ends with the test.
final class WorkerProcess {
    let id: pid_t
    private let input: Int32
    private let output: Int32
    private var received: [UInt8] = []
    private var ending: Int32?

    /// - Parameters:
    ///   - place: The folder of its store, or `native`.
    ///   - prefix: A program, with arguments, that starts the worker.
    ///   - environment: Its complete environment, by default that of the test.
    init(_ place: String, _ words: [String], by prefix: [String] = [], environment: [String]? = nil) throws {
        let (toChild, fromChild) = (try Self.pipe(), try Self.pipe())
        (input, output) = (toChild.writing, fromChild.reading)
        defer { for end in [toChild.reading, fromChild.writing] { close(end) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild.reading, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, fromChild.writing, STDOUT_FILENO)
        let command = prefix + [Self.program, place] + words
        let variables = environment ?? ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        var (arguments, pointers) = (command.map { strdup($0) } + [nil], variables.map { strdup($0) } + [nil])
        defer { for word in arguments + pointers { free(word) } }
        var id = pid_t()
        let problem = posix_spawnp(&id, command[0], &actions, nil, &arguments, &pointers)
        guard problem == 0 else { throw Failure("\(Self.program): \(String(cString: strerror(problem)))") }
        self.id = id
    }

    deinit {
        kill()
        close(input)
        close(output)
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    /// The path of the worker: next to the tests, or from the environment.
    static let program =
        ProcessInfo.processInfo.environment["PREFS_STORE_WORKER"]
        ?? URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "StoreWorker").path(percentEncoded: false)

    /// Runs a worker until it ends, and returns its exit status and the lines that it printed.
    @discardableResult
    static func run(
        _ place: String, _ words: [String], by prefix: [String] = [], environment: [String]? = nil
    ) throws -> (status: Int32, lines: [String]) {
        try WorkerProcess(place, words, by: prefix, environment: environment).finish()
    }
}

// MARK: Output

extension WorkerProcess {
    func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(input, bytes, bytes.count)
    }

    /// Returns the next line, or nil at the end of the output or after the time limit.
    func receive(within patience: Duration = .seconds(60)) -> String? {
        let deadline = ContinuousClock.now + patience
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeSubrange(...end) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            guard receiveMore(by: deadline) else { return nil }
        }
    }

    /// Returns all remaining lines, up to the end of the process.
    func receiveAll() -> [String] {
        var lines: [String] = []
        while let line = receive() { lines.append(line) }
        return lines
    }

    private func receiveMore(by deadline: ContinuousClock.Instant) -> Bool {
        var polled = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        var left: Duration { deadline - ContinuousClock.now }
        // `poll` cannot wait for less than a millisecond, so it is then called repeatedly without a wait.
        while poll(&polled, 1, left.wholeMilliseconds) <= 0 {
            guard left > .zero else { return false }
        }
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = read(output, &chunk, chunk.count)
        guard count > 0 else { return false }
        received += chunk[..<count]
        return true
    }

    // MARK: End

    /// Kills the process as `kill -9` does, and waits until it is gone.
    func kill() {
        guard ending == nil else { return }
        _ = Glibc.kill(id, SIGKILL)
        _ = status
    }

    /// Returns the remaining lines of the process and its exit status.
    func finish() throws -> (status: Int32, lines: [String]) {
        let lines = receiveAll()
        return (status, lines)
    }

    /// Waits for the end of the process, and returns the exit status, or 128 plus the signal that ended it.
    private var status: Int32 {
        if let ending { return ending }
        var word: Int32 = 0
        while waitpid(id, &word, 0) < 0, errno == EINTR {}
        let status = word & 0x7F == 0 ? word >> 8 & 0xFF : 128 + word & 0x7F
        ending = status
        return status
    }

    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        // If another process that a test starts inherited the descriptors, the end of the output would never be seen.
        guard makePipe(&ends, O_CLOEXEC) == 0 else { throw Failure("pipe: \(String(cString: strerror(errno)))") }
        return (ends[0], ends[1])
    }
}

extension Duration {
    /// The timeout for `poll`: rounded down, and never infinite.
    fileprivate var wholeMilliseconds: Int32 {
        Int32(clamping: max(0, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000))
    }
}

/// `pipe2`, which Swift's module of the C library lacks.
@_silgen_name("pipe2")
private func makePipe(_ ends: UnsafeMutablePointer<Int32>, _ flags: Int32) -> Int32
