internal import Platform
internal import PropertyLists

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Runs a program with this process's streams and environment, and returns its exit status, or 128 plus the signal
/// number.
///
/// Interrupts from the terminal are ignored in the meantime, so that only the program handles them. If the program
/// stops, this process stops too, so that the shell takes over the terminal.
func runProgram(_ program: FilePath, _ arguments: [String]) throws(SystemFailure) -> Int32 {
    let former = [SIGINT, SIGQUIT, SIGTSTP].map { (number: $0, action: signal($0, SIG_IGN)) }
    defer { for (number, action) in former { _ = signal(number, action) } }
    let process = try spawn(program, [program.word] + arguments)
    var status: Int32 = 0
    while true {
        guard waitpid(process, &status, WUNTRACED) != -1 else {
            guard errno == EINTR else { throw SystemFailure(ErrorCode(rawValue: errno), .run, program) }
            continue
        }
        guard status & 0xFF == 0x7F else { break }
        RawTerminal.stopProcess()
        kill(process, SIGCONT)
    }
    let ending = status & 0x7F
    return ending == 0 ? status >> 8 & 0xFF : 128 + ending
}

/// Starts a program with this process's environment. Bytes that are not valid UTF-8 are in the notation of `ByteText`.
///
/// - Parameter output: The descriptor for its output. It then has no input, and leads a process group. If nil, it has
///   the streams of this process.
func spawn(_ program: FilePath, _ words: [String], output: Int32? = nil) throws(SystemFailure) -> pid_t {
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
    if let output {
        flags |= POSIX_SPAWN_SETPGROUP
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
    }
    // Restores the default action of signals that this process ignores.
    var presets = sigset_t(of: [SIGINT, SIGQUIT, SIGTSTP, SIGPIPE, SIGXFSZ])
    posix_spawnattr_setsigdefault(&attributes, &presets)
    // Signals that this process awaits are blocked in it, but must reach the program.
    var blocked = sigset_t(of: [])
    posix_spawnattr_setsigmask(&attributes, &blocked)
    posix_spawnattr_setflags(&attributes, Int16(flags))
    var pointers: [UnsafeMutablePointer<CChar>?] = words.map { word in
        strdup(ByteText.bytes(word).map { CChar(bitPattern: $0) } + [0])
    }
    defer { for pointer in pointers { free(pointer) } }
    pointers.append(nil)
    var process = pid_t()
    let path = program.bytes.map { CChar(bitPattern: $0) } + [0]
    let code = posix_spawn(&process, path, &actions, &attributes, pointers, environ)
    guard code == 0 else { throw SystemFailure(ErrorCode(rawValue: code), .run, program) }
    return process
}

/// The choices that a command of a script's own head lists, one in each line.
enum ChoiceList {
    static let mostMilliseconds = 2000
    static let mostBytes = 64 << 10

    /// The reason there are no choices.
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// Runs a command of `sh` without input and returns its lines.
    static func lines(of command: String) throws(Failure) -> [String] {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(description: "cannot create a pipe") }
        // A background process of the command must not keep the pipe open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let process = try? spawn("/bin/sh", ["sh", "-c", command], output: ends[1])
        close(ends[1])
        defer { close(ends[0]) }
        guard let process else { throw Failure(description: "/bin/sh cannot be run") }
        let output = read(ends[0])
        // The process leads a group, so that its child processes end with it.
        if output == nil { kill(-process, SIGKILL) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) == -1, errno == EINTR {}
        guard let output else {
            throw Failure(description: "\(command) took more than 2 s or printed more than 64 KiB")
        }
        let signal = status & 0x7F
        guard signal == 0 else { throw Failure(description: "\(command) was ended by signal \(signal)") }
        guard status == 0 else {
            throw Failure(description: "\(command) failed with status \(status >> 8 & 0xFF)")
        }
        return output.split(separator: UInt8(ascii: "\n")).map { ByteText.text($0) }
    }

    /// Reads to the end of the pipe; nil beyond the limits.
    private static func read(_ descriptor: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        let clock = ContinuousClock()
        let end = clock.now + .milliseconds(mostMilliseconds)
        while bytes.count <= mostBytes {
            let left = (end - clock.now).components
            let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
            guard milliseconds > 0 else { return nil }
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&wait, 1, Int32(milliseconds))
            if ready == -1, errno == EINTR { continue }
            guard ready == 1 else { return nil }
            let size = buffer.count
            let count = buffer.withUnsafeMutableBytes { readBytes(descriptor, $0.baseAddress, size) }
            if count == 0 { return bytes }
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
        return nil
    }
}

private func readBytes(_ descriptor: Int32, _ start: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, start, count)
}
