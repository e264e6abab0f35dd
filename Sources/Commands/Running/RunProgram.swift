package import Platform
internal import Preferences
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
        let process = try spawn(path, ([path.word] + arguments).map { ByteText.bytes($0) }, variables)
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
    /// Runs a command of `sh` from a script's own head without input, and returns its lines.
    func choices(_ command: String) throws(LimitedProgram.Failure) -> [String] {
        let shell = LimitedProgram(
            path: "/bin/sh", words: ["sh", "-c", command], mostMilliseconds: 2000, mostBytes: 64 << 10)
        do throws(LimitedProgram.Failure) {
            return try system.output(shell, []).split(separator: UInt8(ascii: "\n")).map { ByteText.text($0) }
        } catch {
            throw LimitedProgram.Failure(description: "\(command) \(error)")
        }
    }
}

extension LimitedProgram {
    /// - Parameter words: The arguments, beginning with the name of the program. Bytes that are not valid UTF-8 are in
    ///   the notation of `ByteText`.
    package init(path: FilePath, words: [String], mostMilliseconds: Int, mostBytes: Int) {
        self.init(
            path: path, words: words.map { ByteText.bytes($0) }, mostMilliseconds: mostMilliseconds,
            mostBytes: mostBytes)
    }
}
