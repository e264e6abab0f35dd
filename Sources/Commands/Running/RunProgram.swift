package import Platform
internal import PropertyLists

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A program that runs with this process's streams and environment.
package struct ForegroundProgram: Sendable {
    package let path: FilePath
    package let arguments: [String]
    /// The variables that it gets in place of those of this process, or does not get if they have no value.
    package var variables: [(name: String, value: [UInt8]?)] = []
    /// Whether only the program handles interrupts from the terminal, and not this process too.
    package var takesInterrupts = true

    init(_ path: FilePath, _ arguments: [String]) { (self.path, self.arguments) = (path, arguments) }

    /// Runs the program, and returns its exit status, or 128 plus the signal number.
    ///
    /// If a program that takes interrupts stops, this process stops too, so that the shell takes over the terminal.
    func run() throws(SystemFailure) -> Int32 {
        let ignored = takesInterrupts ? [SIGINT, SIGQUIT, SIGTSTP] : []
        let former = ignored.map { (number: $0, action: signal($0, SIG_IGN)) }
        defer { for (number, action) in former { _ = signal(number, action) } }
        let process = try spawn(path, [path.word] + arguments, variables)
        var status: Int32 = 0
        while true {
            guard waitpid(process, &status, takesInterrupts ? WUNTRACED : 0) != -1 else {
                guard errno == EINTR else { throw SystemFailure(ErrorCode(rawValue: errno), .run, path) }
                continue
            }
            guard status & 0xFF == 0x7F else { break }
            RawTerminal.stopProcess()
            kill(process, SIGCONT)
        }
        let ending = status & 0x7F
        return ending == 0 ? status >> 8 & 0xFF : 128 + ending
    }
}

extension CommandContext {
    /// Returns the path of a program in the folders of `PATH`, or nil if there is none.
    func program(named name: FileName) -> FilePath? {
        let folders = environment.variables.bytes(of: Variable.programFolders.rawValue) ?? Array("/usr/bin:/bin".utf8)
        return folders.split(separator: UInt8(ascii: ":")).lazy.compactMap { FilePath($0) }.filter(\.isAbsolute)
            .map { $0.appending(name) }
            .first { path in
                guard let status = try? fileSystem.status(of: path) else { return false }
                return status.kind == .file && status.permissions.rawValue & 0o111 != 0
            }
    }
}

/// Starts a program with this process's environment. Bytes that are not valid UTF-8 are in the notation of `ByteText`.
///
/// - Parameters:
///   - variables: The variables that replace those of this process, or remove them if they have no value.
///   - input: The descriptor for its input; nil for that of this process.
///   - output: The descriptor for its output. It then leads a process group. If nil, it has that of this process.
func spawn(
    _ program: FilePath, _ words: [String], _ variables: [(name: String, value: [UInt8]?)] = [],
    input: Int32? = nil, output: Int32? = nil
) throws(SystemFailure) -> pid_t {
    #if canImport(Darwin)
        var attributes: posix_spawnattr_t?
        var actions: posix_spawn_file_actions_t?
    #else
        var attributes = posix_spawnattr_t()
        var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawnattr_init(&attributes)
    posix_spawn_file_actions_init(&actions)
    defer {
        posix_spawnattr_destroy(&attributes)
        posix_spawn_file_actions_destroy(&actions)
    }
    var flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
    if let input { posix_spawn_file_actions_adddup2(&actions, input, 0) }
    if let output {
        flags |= POSIX_SPAWN_SETPGROUP
        posix_spawn_file_actions_adddup2(&actions, output, 1)
    }
    // Restores the default action of signals that this process ignores.
    var presets = sigset_t(of: [SIGINT, SIGQUIT, SIGTSTP, SIGPIPE, SIGXFSZ])
    posix_spawnattr_setsigdefault(&attributes, &presets)
    // Signals that this process awaits are blocked in it, but must reach the program.
    var blocked = sigset_t(of: [])
    posix_spawnattr_setsigmask(&attributes, &blocked)
    posix_spawnattr_setflags(&attributes, Int16(flags))
    let pointers = words.map { copy(ByteText.bytes($0)) }
    let added = variables.compactMap { name, value in value.map { copy(Array(name.utf8) + "=".utf8 + $0) } }
    defer { for pointer in pointers + added { free(pointer) } }
    let replaced = variables.map { Array($0.name.utf8) + "=".utf8 }
    var inherited: [UnsafeMutablePointer<CChar>?] = []
    for index in 0... {
        guard let variable = environ[index] else { break }
        let isReplaced = replaced.contains { strncmp(variable, $0.map { CChar(bitPattern: $0) }, $0.count) == 0 }
        if !isReplaced { inherited.append(variable) }
    }
    var process = pid_t()
    let path = program.bytes.map { CChar(bitPattern: $0) } + [0]
    let code = posix_spawn(&process, path, &actions, &attributes, pointers + [nil], inherited + added + [nil])
    guard code == 0 else { throw SystemFailure(ErrorCode(rawValue: code), .run, program) }
    return process
}

/// A program that runs without a terminal, in a process group of its own, within limits of its time and output.
package struct LimitedProgram: Sendable {
    package let path: FilePath
    /// The arguments, beginning with the name of the program.
    package let words: [String]
    let mostMilliseconds: Int
    let mostBytes: Int

    package init(path: FilePath, words: [String], mostMilliseconds: Int, mostBytes: Int) {
        (self.path, self.words) = (path, words)
        (self.mostMilliseconds, self.mostBytes) = (mostMilliseconds, mostBytes)
    }

    /// The reason a program has no output: a predicate without its subject.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Runs the program with an input, and returns its output. At a limit, it is killed with its child processes.
    package func output(for input: [UInt8]) throws(Failure) -> [UInt8] {
        guard let (source, target) = Self.pipe() else { throw Failure(description: "has no pipe for its input") }
        guard let (output, end) = Self.pipe() else {
            for descriptor in [source, target] { close(descriptor) }
            throw Failure(description: "has no pipe for its output")
        }
        let process = try? spawn(path, words, input: source, output: end)
        for descriptor in [source, end] { close(descriptor) }
        defer { close(output) }
        guard let process else {
            close(target)
            throw Failure(description: "cannot be run")
        }
        let clock = ContinuousClock()
        let limit = clock.now + .milliseconds(mostMilliseconds)
        let bytes = read(from: output, writing: input, to: target, until: limit)
        var status: Int32 = 0
        var hasEnded = false
        // A program can close its output long before it ends.
        while bytes != nil, !hasEnded, clock.now < limit {
            hasEnded = waitpid(process, &status, WNOHANG) != 0
            if !hasEnded { poll(nil, 0, 10) }
        }
        guard let bytes, hasEnded else {
            kill(-process, SIGKILL)
            while waitpid(process, &status, 0) == -1, errno == EINTR {}
            throw Failure(
                description: "took more than \(mostMilliseconds / 1000) s or printed more than \(mostBytes >> 10) KiB")
        }
        let signal = status & 0x7F
        guard signal == 0 else { throw Failure(description: "was ended by signal \(signal)") }
        guard status == 0 else { throw Failure(description: "failed with status \(status >> 8 & 0xFF)") }
        return bytes
    }

    /// Returns both ends of a pipe. They are not inherited, so that no background process keeps the pipe open.
    private static func pipe() -> (reading: Int32, writing: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard makePipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Reads to the end of a pipe, and meanwhile writes the input to another one and closes it; nil beyond the limits.
    private func read(
        from output: Int32, writing input: [UInt8], to target: Int32, until limit: ContinuousClock.Instant
    ) -> [UInt8]? {
        var (rest, bytes, isWriting) = (input[...], [UInt8](), true)
        defer { if isWriting { close(target) } }
        _ = fcntl(target, F_SETFL, O_NONBLOCK)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= mostBytes {
            if isWriting, rest.isEmpty {
                close(target)
                isWriting = false
            }
            let left = (limit - ContinuousClock().now).components
            let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
            guard milliseconds > 0 else { return nil }
            // A negative descriptor is ignored.
            var waits = [
                pollfd(fd: output, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isWriting ? target : -1, events: Int16(POLLOUT), revents: 0),
            ]
            let ready = poll(&waits, 2, Int32(clamping: milliseconds))
            if ready == -1, errno == EINTR { continue }
            guard ready > 0 else { return nil }
            if waits[1].revents != 0 {
                let count = rest.withUnsafeBytes { writeBytes(target, $0.baseAddress, min($0.count, 4096)) }
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EAGAIN, errno != EINTR {
                    // The program does not read its input.
                    rest = []
                }
            }
            guard waits[0].revents != 0 else { continue }
            let size = buffer.count
            let count = buffer.withUnsafeMutableBytes { readBytes(output, $0.baseAddress, size) }
            if count == 0 { return bytes }
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
        return nil
    }
}

extension CommandContext {
    /// Runs a command of `sh` from a script's own head without input, and returns its lines.
    func choices(_ command: String) throws(LimitedProgram.Failure) -> [String] {
        let shell = LimitedProgram(
            path: "/bin/sh", words: ["sh", "-c", command], mostMilliseconds: 2000, mostBytes: 64 << 10)
        do throws(LimitedProgram.Failure) {
            return try output(shell, []).split(separator: UInt8(ascii: "\n")).map { ByteText.text($0) }
        } catch {
            throw LimitedProgram.Failure(description: "\(command) \(error)")
        }
    }
}

private func copy(_ bytes: [UInt8]) -> UnsafeMutablePointer<CChar>? {
    strdup(bytes.map { CChar(bitPattern: $0) } + [0])
}

private func makePipe(_ ends: UnsafeMutablePointer<Int32>) -> Int32 { pipe(ends) }

private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, start, count)
}

private func readBytes(_ descriptor: Int32, _ start: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, start, count)
}
