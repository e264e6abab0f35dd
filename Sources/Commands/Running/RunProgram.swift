internal import Platform

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
    let process = try spawn(program, [program.description] + arguments)
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

/// Starts a program with this process's environment.
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
    var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    pointers.append(nil)
    var process = pid_t()
    let path = program.bytes.map { CChar(bitPattern: $0) } + [0]
    let code = posix_spawn(&process, path, &actions, &attributes, pointers, environ)
    guard code == 0 else { throw SystemFailure(ErrorCode(rawValue: code), .run, program) }
    return process
}
