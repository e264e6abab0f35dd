import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A program that runs with the signal mask that an interactive shell gives it. The threads of tests block most
/// signals, and other ways to start a program inherit that.
final class SpawnedProcess {
    let number: pid_t

    struct Failure: Error { let code: Int32 }

    /// The end of a process.
    struct End: Hashable {
        /// The exit status, or 128 plus the number of the signal that ended the process.
        let status: Int32
        let isKilled: Bool
    }

    /// - Parameter terminal: The path of its controlling terminal, which is also used for all its streams.
    init(
        _ path: String, _ arguments: [String], _ environment: [String: String],
        output: FileHandle? = nil, errors: FileHandle? = nil, terminal: String? = nil
    ) throws {
        #if canImport(Darwin)
            var (attributes, actions): (posix_spawnattr_t?, posix_spawn_file_actions_t?) = (nil, nil)
        #else
            var (attributes, actions) = (posix_spawnattr_t(), posix_spawn_file_actions_t())
        #endif
        posix_spawnattr_init(&attributes)
        posix_spawn_file_actions_init(&actions)
        defer {
            posix_spawnattr_destroy(&attributes)
            posix_spawn_file_actions_destroy(&actions)
        }
        var (none, presets) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&presets)
        for signal in [SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGHUP] { sigaddset(&presets, signal) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &presets)
        // The first terminal that a session leader opens becomes its controlling terminal.
        // The value of `POSIX_SPAWN_SETSID`, which Swift's module of the C library lacks.
        let session: Int16 = terminal == nil ? 0 : 0x80
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF) | session)
        posix_spawn_file_actions_addopen(&actions, 0, terminal ?? "/dev/null", terminal == nil ? O_RDONLY : O_RDWR, 0)
        if terminal != nil { for stream in 1...2 { posix_spawn_file_actions_adddup2(&actions, 0, Int32(stream)) } }
        if let output { posix_spawn_file_actions_adddup2(&actions, output.fileDescriptor, 1) }
        if let errors { posix_spawn_file_actions_adddup2(&actions, errors.fileDescriptor, 2) }
        let all = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var process = pid_t()
        let code = Self.withPointers([path] + arguments) { words in
            Self.withPointers(all.map { "\($0.key)=\($0.value)" }) { variables in
                posix_spawn(&process, path, &actions, &attributes, words, variables)
            }
        }
        guard code == 0 else { throw Failure(code: code) }
        number = process
    }

    private static func withPointers<Result>(
        _ words: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = words.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }

    func send(_ signal: Int32) { kill(number, signal) }

    /// Waits for the end of the process.
    func end() throws -> End {
        var status: Int32 = 0
        while waitpid(number, &status, 0) == -1 {
            guard errno == EINTR else { throw Failure(code: errno) }
        }
        let signal = status & 0x7F
        return End(status: signal == 0 ? status >> 8 & 0xFF : 128 + signal, isKilled: signal != 0)
    }
}
