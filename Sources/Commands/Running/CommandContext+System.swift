internal import Platform
internal import Preferences

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension CommandContext {
    /// The context of the running process. From now on, a write to a closed pipe or beyond the file size limit fails
    /// instead of ending the process.
    static var ofThisProcess: CommandContext {
        for ending in [SIGPIPE, SIGXFSZ] { _ = signal(ending, SIG_IGN) }
        let (interruption, delay) = (Interruption(), InterruptDelay())
        return CommandContext(
            .ofThisProcess(), wait: { gate in interruption.wait(for: gate) },
            run: { program, arguments throws(SystemFailure) in try runProgram(program, arguments) },
            stream: { path, limit throws(SystemFailure) in try readStream(path, limit: limit) },
            delayInterrupts: { delay.set($0) }, choices: { try ChoiceList.lines(of: $0) },
            dialogue: { _ in TerminalDialogue() }, screen: SystemScreen())
    }
}

/// Reads a pipe or a device, and waits for its data.
private func readStream(_ path: FilePath, limit: Int) throws(SystemFailure) -> [UInt8] {
    let descriptor = open(path.bytes.map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw SystemFailure(ErrorCode(rawValue: errno), .open, path) }
    defer { close(descriptor) }
    do {
        return try SystemTerminal().input(from: descriptor, limit: limit)
    } catch {
        throw SystemFailure(error.code, .read, path)
    }
}

extension SystemFailure {
    /// Whether the reader of a pipe has closed it.
    var isBrokenPipe: Bool { path == nil && operation == .write && code.rawValue == EPIPE }
}
