internal import Platform
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A dialog on this process's standard streams, which may be a terminal or pipes.
///
/// From the first question on, a signal ends the dialog instead of the process, so that the terminal can be restored
/// first.
final class TerminalDialogue: Dialogue {
    private let terminal = EscapingTerminal(SystemTerminal())
    private let state = Mutex(State())

    fileprivate struct State: Sendable {
        var lines = LineBuffer()
        /// The read end of a pipe that receives the number of a signal; nil before the first question.
        var signals: Int32?
        var interruption: Int32?
    }

    func answer(to prompt: String, isSecret: Bool, completesLine: Bool) throws -> DialogueAnswer {
        // Before the terminal is changed, and before the user sees a prompt that an interrupt could answer.
        _ = try state.withLock { state in try state.listen() }
        let isTyped = terminal.isTerminal(.input)
        let echo = isSecret && isTyped ? try EchoSuppression() : nil
        defer { echo?.end() }
        try terminal.write(prompt, to: .output)
        let answer = try state.withLock { state in try state.next() }
        if completesLine, !isTyped, answer != .endOfInput { try terminal.write("\n", to: .output) }
        return answer
    }

    func endIfInterrupted() {
        guard let number = state.withLock(\.interruption) else { return }
        _ = signal(number, SIG_DFL)
        var signals = sigset_t(of: [number])
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
    }
}

extension TerminalDialogue.State {
    fileprivate mutating func next() throws(SystemFailure) -> DialogueAnswer {
        let signals = try listen()
        while true {
            if interruption != nil { return .interrupted }
            if let line = lines.next() { return line }
            guard lines.count <= maximumAnswerSize else { throw SystemFailure(.fileTooLarge, .read, nil) }
            if try Self.firstReady(signals, STDIN_FILENO) == signals {
                interruption = Int32(try Self.bytes(from: signals, limit: 1).first ?? 0)
            } else {
                lines.take(try Self.bytes(from: STDIN_FILENO, limit: 4096))
            }
        }
    }

    /// Waits until one of two descriptors is readable, and returns it.
    private static func firstReady(_ one: Int32, _ other: Int32) throws(SystemFailure) -> Int32 {
        var polled = [one, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            let count = poll(&polled, 2, -1)
            if count < 0, errno != EINTR { throw SystemFailure(ErrorCode(rawValue: errno), .read, nil) }
            if count > 0 { return polled[0].revents != 0 ? one : other }
        }
    }

    /// Returns the available bytes; empty at the end of the input.
    private static func bytes(from descriptor: Int32, limit: Int) throws(SystemFailure) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = read(descriptor, &buffer, limit)
        if count >= 0 { return Array(buffer[..<count]) }
        guard errno == EINTR || errno == EAGAIN else { throw SystemFailure(ErrorCode(rawValue: errno), .read, nil) }
        return try bytes(from: descriptor, limit: limit)
    }

    /// Starts writing signals to a pipe, which can be polled together with the input.
    fileprivate mutating func listen() throws(SystemFailure) -> Int32 {
        if let signals { return signals }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SystemFailure(ErrorCode(rawValue: errno), .open, nil) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let end = ends[1]
        awaitSignal(endingSignals + [SIGQUIT]) { number in
            var byte = UInt8(truncatingIfNeeded: number)
            // This cannot fail: the pipe is empty, and open as long as the process lives.
            _ = write(end, &byte, 1)
        }
        signals = ends[0]
        return ends[0]
    }
}

/// A terminal without echo, while a secret is entered.
private struct EchoSuppression {
    private let former: termios

    init() throws(SystemFailure) {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { throw Self.failure }
        former = settings
        settings.c_lflag &= ~tcflag_t(ECHO)
        // Echoes the line break, so that the next question starts on a new line.
        settings.c_lflag |= tcflag_t(ECHONL)
        guard tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0 else { throw Self.failure }
        Self.setStopping(blocked: true)
    }

    func end() {
        var settings = former
        _ = tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
        Self.setStopping(blocked: false)
    }

    /// Blocks stopping from the terminal (SIGTSTP), which would leave the shell without echo.
    private static func setStopping(blocked: Bool) {
        var signals = sigset_t(of: [SIGTSTP])
        pthread_sigmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &signals, nil)
    }

    private static var failure: SystemFailure { SystemFailure(ErrorCode(rawValue: errno), .read, nil) }
}
