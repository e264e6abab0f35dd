internal import Platform
internal import Preferences

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension Surroundings {
    /// Those of the running process. From now on a write to a closed pipe fails instead of ending the process.
    static var ofThisProcess: Surroundings {
        _ = signal(SIGPIPE, SIG_IGN)
        let (interruption, delay) = (Interruption(), InterruptDelay())
        return Surroundings(
            .ofThisProcess(), wait: { gate in interruption.wait(for: gate) },
            run: { program, arguments throws(SystemFailure) in try runProgram(program, arguments) },
            delayInterrupts: { delay.set($0) }, dialogue: { _ in TerminalDialogue() })
    }
}

extension SystemFailure {
    /// Whether the other end of a pipe has gone away.
    var isBrokenPipe: Bool { path == nil && operation == .write && code.rawValue == EPIPE }
}
