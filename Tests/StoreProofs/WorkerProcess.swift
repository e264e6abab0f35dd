import Foundation
import Glibc
import TestSupport

/// A worker that runs beside the test, and is gone with it.
final class WorkerProcess {
    let id: pid_t
    private let input: Int32
    private let output: Int32
    private var received: [UInt8] = []
    private var ending: Int32?

    /// - Parameters:
    ///   - place: The folder of its store, or `native`.
    ///   - prefix: A program, with arguments, that starts the worker.
    ///   - environment: All of its variables; the test's own without.
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

    /// Where the worker is: where the build has put it beside the tests, or as the environment says.
    static let program =
        ProcessInfo.processInfo.environment["PREFS_STORE_WORKER"]
        ?? URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "StoreWorker").path(percentEncoded: false)

    /// Runs a worker to its end and returns what it said.
    @discardableResult
    static func run(
        _ place: String, _ words: [String], by prefix: [String] = [], environment: [String]? = nil
    ) throws -> (status: Int32, lines: [String]) {
        try WorkerProcess(place, words, by: prefix, environment: environment).finish()
    }
}

// MARK: What it says

extension WorkerProcess {
    func send(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(input, bytes, bytes.count)
    }

    /// The next line, or nil at the end of all lines, or when there is none in time.
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

    /// All lines up to the end of the process.
    func receiveAll() -> [String] {
        var lines: [String] = []
        while let line = receive() { lines.append(line) }
        return lines
    }

    private func receiveMore(by deadline: ContinuousClock.Instant) -> Bool {
        var polled = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        var left: Duration { deadline - ContinuousClock.now }
        // Less than a millisecond is waited for by asking again.
        while poll(&polled, 1, left.wholeMilliseconds) <= 0 {
            guard left > .zero else { return false }
        }
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = read(output, &chunk, chunk.count)
        guard count > 0 else { return false }
        received += chunk[..<count]
        return true
    }

    // MARK: Its end

    /// Ends the process where it is, as `kill -9` does. Once this has returned, it is no more.
    func kill() {
        guard ending == nil else { return }
        _ = Glibc.kill(id, SIGKILL)
        _ = status
    }

    /// What the process says until it ends, and the status of that.
    func finish() throws -> (status: Int32, lines: [String]) {
        let lines = receiveAll()
        return (status, lines)
    }

    /// The exit status, or 128 and the signal that ended the process, for which it waits.
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
        // No other process that a test starts at the same time may inherit them: an end would never be seen.
        guard makePipe(&ends, O_CLOEXEC) == 0 else { throw Failure("pipe: \(String(cString: strerror(errno)))") }
        return (ends[0], ends[1])
    }
}

extension Duration {
    /// As `poll` wants it: rounded down, and never endless.
    fileprivate var wholeMilliseconds: Int32 {
        Int32(clamping: max(0, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000))
    }
}

/// `pipe2`, which Swift's module of the C library leaves out.
@_silgen_name("pipe2")
private func makePipe(_ ends: UnsafeMutablePointer<Int32>, _ flags: Int32) -> Int32
