// Unsafe: the C library takes pointers to the words and variables of a program, which are copied for the call, and to
// buffers, which it does not keep.
#if canImport(Glibc)
    package import Glibc
#elseif canImport(Musl)
    package import Musl
#elseif canImport(Darwin)
    package import Darwin
#endif

#if canImport(Darwin)
    private let newSession = Int32(POSIX_SPAWN_SETSID)
#else
    /// POSIX_SPAWN_SETSID, which the headers declare only for GNU programs.
    private let newSession: Int32 = 0x80
#endif

/// Starts a program with this process's environment.
///
/// - Parameters:
///   - words: The arguments, beginning with the name of the program.
///   - variables: The variables that replace those of this process, or remove them if they have no value.
///   - input: The descriptor for its input; nil for that of this process.
///   - output: The descriptor for its output. It then has no terminal, and leads a process group. If nil, it has that
///     of this process.
///   - joinsErrors: Whether its errors go to `output` too.
package func spawn(
    _ program: FilePath, _ words: [[UInt8]], _ variables: [(name: String, value: [UInt8]?)] = [],
    input: Int32? = nil, output: Int32? = nil, joinsErrors: Bool = false
) throws(SystemFailure) -> pid_t {
    #if canImport(Darwin)
        var attributes: posix_spawnattr_t?
        var actions: posix_spawn_file_actions_t?
    #else
        var attributes = posix_spawnattr_t()
        var actions = unsafe posix_spawn_file_actions_t()
    #endif
    unsafe posix_spawnattr_init(&attributes)
    unsafe posix_spawn_file_actions_init(&actions)
    defer {
        unsafe posix_spawnattr_destroy(&attributes)
        unsafe posix_spawn_file_actions_destroy(&actions)
    }
    var flags = Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)
    if let input { unsafe posix_spawn_file_actions_adddup2(&actions, input, 0) }
    if let output {
        flags |= newSession
        unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        if joinsErrors { unsafe posix_spawn_file_actions_adddup2(&actions, output, 2) }
    }
    // Restores the default action of signals that this process ignores.
    var presets = sigset_t(of: [SIGINT, SIGQUIT, SIGTSTP, SIGPIPE, SIGXFSZ])
    unsafe posix_spawnattr_setsigdefault(&attributes, &presets)
    // Signals that this process awaits are blocked in it, but must reach the program.
    var blocked = sigset_t(of: [])
    unsafe posix_spawnattr_setsigmask(&attributes, &blocked)
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    let pointers = unsafe words.map { unsafe copy($0) }
    let added = unsafe variables.compactMap { name, value in
        unsafe value.map { unsafe copy(Array(name.utf8) + "=".utf8 + $0) }
    }
    let copies = unsafe pointers + added
    defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
    let replaced = variables.map { Array($0.name.utf8) + "=".utf8 }
    var inherited: [UnsafeMutablePointer<CChar>?] = unsafe []
    for index in 0... {
        guard let variable = unsafe environ[index] else { break }
        let isReplaced = replaced.contains {
            unsafe strncmp(variable, $0.map { CChar(bitPattern: $0) }, $0.count) == 0
        }
        if !isReplaced { unsafe inherited.append(variable) }
    }
    var process = pid_t()
    let path = program.bytes.map { CChar(bitPattern: $0) } + [0]
    let code = unsafe posix_spawn(
        &process, path, &actions, &attributes, pointers + [nil], inherited + added + [nil])
    guard code == 0 else { throw SystemFailure(ErrorCode(rawValue: code), .run, program) }
    return process
}

/// A program that runs without a terminal, in a process group of its own, within limits of its time and output.
package struct LimitedProgram: Sendable {
    package let path: FilePath
    /// The arguments, beginning with the name of the program.
    package let words: [[UInt8]]
    private let variables: [(name: String, value: [UInt8]?)]
    private let mostMilliseconds: Int
    private let mostBytes: Int
    /// Whether its errors are part of its output, and the last line of both of the description of a failure.
    private let joinsErrors: Bool

    package init(
        path: FilePath, words: [[UInt8]], variables: [(name: String, value: [UInt8]?)] = [], mostMilliseconds: Int,
        mostBytes: Int, joinsErrors: Bool = false
    ) {
        (self.path, self.words, self.variables) = (path, words, variables)
        (self.mostMilliseconds, self.mostBytes, self.joinsErrors) = (mostMilliseconds, mostBytes, joinsErrors)
    }

    /// The reason a program has no output: a predicate without its subject.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        /// The exit status of the program; nil if it was not run, or did not end by itself.
        package let status: Int32?

        package init(description: String, status: Int32? = nil) {
            (self.description, self.status) = (description, status)
        }
    }

    /// Runs the program with an input, and returns its output. At a limit, it is killed with its child processes.
    package func output(for input: [UInt8]) throws(Failure) -> [UInt8] {
        guard let (source, target) = Self.pipe() else { throw Failure(description: "has no pipe for its input") }
        guard let (output, end) = Self.pipe() else {
            for descriptor in [source, target] { close(descriptor) }
            throw Failure(description: "has no pipe for its output")
        }
        let process = try? spawn(
            path, words, variables, input: source, output: end, joinsErrors: joinsErrors)
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
            hasEnded = unsafe waitpid(process, &status, WNOHANG) != 0
            if !hasEnded { _ = poll(nil, 0, 1) }
        }
        guard let bytes, hasEnded else {
            kill(-process, SIGKILL)
            while unsafe waitpid(process, &status, 0) == -1, errno == EINTR {}
            throw Failure(
                description: "took more than \(mostMilliseconds / 1000) s or printed more than \(mostBytes >> 10) KiB")
        }
        let signal = status & 0x7F
        guard signal == 0 else { throw Failure(description: "was ended by signal \(signal)") }
        guard status == 0 else {
            let lines = bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            let line = joinsErrors ? lines.last : nil
            let reason = line.map { ": " + String(decoding: $0, as: UTF8.self) } ?? ""
            let code = status >> 8 & 0xFF
            throw Failure(description: "failed with status \(code)\(reason)", status: code)
        }
        return bytes
    }

    /// Returns both ends of a pipe. They are not inherited, so that no background process keeps the pipe open.
    private static func pipe() -> (reading: Int32, writing: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard unsafe makePipe(&ends) == 0 else { return nil }
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
            let ready = unsafe poll(&waits, 2, Int32(clamping: milliseconds))
            if ready == -1, errno == EINTR { continue }
            guard ready > 0 else { return nil }
            if waits[1].revents != 0 {
                let count = unsafe rest.withUnsafeBytes {
                    unsafe writeBytes(target, $0.baseAddress, min($0.count, 4096))
                }
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EAGAIN, errno != EINTR {
                    // The program does not read its input.
                    rest = []
                }
            }
            guard waits[0].revents != 0 else { continue }
            let size = buffer.count
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe readBytes(output, $0.baseAddress, size) }
            if count == 0 { return bytes }
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
        return nil
    }
}

private func copy(_ bytes: [UInt8]) -> UnsafeMutablePointer<CChar>? {
    unsafe strdup(bytes.map { CChar(bitPattern: $0) } + [0])
}

private func makePipe(_ ends: UnsafeMutablePointer<Int32>) -> Int32 { unsafe pipe(ends) }

private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(descriptor, start, count)
}

private func readBytes(_ descriptor: Int32, _ start: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(descriptor, start, count)
}
