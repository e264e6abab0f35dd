internal import Platform
internal import Screens
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A dialog of questions and answers, one line each.
package protocol Dialogue: Sendable {
    /// Writes a prompt and returns the answer. The input of a secret is not echoed.
    ///
    /// - Parameter completesLine: Whether a line break is written after an answer that was not typed.
    func answer(to prompt: String, isSecret: Bool, completesLine: Bool) throws -> DialogueAnswer

    /// Ends the process with the signal that interrupted the dialog, after cleanup.
    func endIfInterrupted()
}

extension Dialogue {
    func answer(to prompt: String, isSecret: Bool) throws -> DialogueAnswer {
        try answer(to: prompt, isSecret: isSecret, completesLine: true)
    }
}

/// The result of a question.
package enum DialogueAnswer: Hashable, Sendable {
    /// A line without its line break.
    case line([UInt8])
    case endOfInput
    case interrupted
}

let maximumAnswerSize = 1 << 20

/// Splits incoming bytes into lines.
struct LineBuffer: Sendable {
    private var bytes: [UInt8] = []
    private var isAtEnd = false

    /// The number of bytes of the incomplete line.
    var count: Int { bytes.count }

    mutating func take(_ more: some Collection<UInt8>) {
        if more.isEmpty { isAtEnd = true } else { bytes += more }
    }

    /// Returns the next line, or nil if more input is needed. The last line may lack a line break.
    mutating func next() -> DialogueAnswer? {
        if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            defer { bytes.removeFirst(end + 1) }
            return .line(Array(bytes[..<end]))
        }
        guard isAtEnd else { return nil }
        guard !bytes.isEmpty else { return .endOfInput }
        defer { bytes = [] }
        return .line(bytes)
    }
}

/// A dialog whose answers are all read at once, for tests and pipes.
final class BatchDialogue: Dialogue {
    private let terminal: any Terminal
    private let lines = Mutex<LineBuffer?>(nil)

    init(_ terminal: any Terminal) { self.terminal = terminal }

    func answer(to prompt: String, isSecret: Bool, completesLine: Bool) throws -> DialogueAnswer {
        try terminal.write(prompt, to: .output)
        let answer = try lines.withLock { lines in
            if lines == nil {
                var read = LineBuffer()
                read.take(try terminal.input(limit: maximumAnswerSize))
                read.take([])
                lines = read
            }
            return lines?.next() ?? .endOfInput
        }
        // Not typed, so the terminal has not echoed the line break.
        if completesLine, answer != .endOfInput { try terminal.write("\n", to: .output) }
        return answer
    }

    func endIfInterrupted() {}
}

/// A dialog on this process's standard streams, which may be a terminal or pipes.
///
/// From the first question on, a signal ends the dialog instead of the process, so that the terminal can be restored
/// first.
final class TerminalDialogue: Dialogue {
    private let terminal = EscapingTerminal(SystemTerminal())
    private let state = Mutex(State())

    fileprivate struct State: Sendable {
        var lines = LineBuffer()
        /// Keys that were pressed before the question that they answer.
        var keys: [KeyPress] = []
        var parser = KeyParser()
        var history: [String] = []
        /// The read end of a pipe that receives the number of a signal; nil before the first question.
        var signals: Int32?
        var interruption: Int32?
    }

    func answer(to prompt: String, isSecret: Bool, completesLine: Bool) throws -> DialogueAnswer {
        // Before the terminal is changed, and before the user sees a prompt that an interrupt could answer.
        _ = try state.withLock { state in try state.listen() }
        let isTyped = terminal.isTerminal(.input)
        if isTyped, canMoveCursor { return try editedAnswer(to: prompt, isSecret: isSecret) }
        let echo = isSecret && isTyped ? try EchoSuppression() : nil
        defer { echo?.end() }
        try terminal.write(prompt, to: .output)
        let answer = try state.withLock { state in try state.next() }
        if completesLine, !isTyped, answer != .endOfInput { try terminal.write("\n", to: .output) }
        return answer
    }

    /// Whether the terminal can show a line that is edited.
    private var canMoveCursor: Bool {
        let kind = getenv(Variable.terminalKind.rawValue).map { String(cString: $0) } ?? ""
        return !kind.isEmpty && kind != "dumb" && terminal.isTerminal(.output)
    }

    /// Asks with a line editor: a cursor, word moves, kill and yank, and the earlier answers.
    private func editedAnswer(to prompt: String, isSecret: Bool) throws -> DialogueAnswer {
        let mode = try EchoSuppression(isLineByLine: false)
        defer { mode.end() }
        let width = max(20, terminal.width(of: .output) ?? 80)
        var label = prompt.visible
        if label.shownColumns > width - 16 {
            try terminal.write(label + "\n", to: .output)
            label = "> "
        }
        var line = LineEditor(history: state.withLock(\.history), isSecret: isSecret)
        while true {
            let (text, cursor) = line.shown(in: width - label.shownColumns - 1)
            try terminal.inner.write(
                "\r\(label)\(text.visible)\u{1B}[K\r\u{1B}[\(label.shownColumns + cursor)C", to: .output)
            guard let press = try state.withLock({ state in try state.nextKey() }) else {
                if state.withLock(\.interruption) != nil { return .interrupted }
                return .endOfInput
            }
            if press.isControl("d"), line.text.isEmpty { return .endOfInput }
            guard line.handle(press) == .accepted else { continue }
            try terminal.write("\n", to: .output)
            if !isSecret, !line.text.isEmpty {
                state.withLock { state in if state.history.last != line.text { state.history.append(line.text) } }
            }
            return .line(Array(line.text.utf8))
        }
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

    /// Returns the next key; nil at the end of the input or after an interruption.
    fileprivate mutating func nextKey() throws(SystemFailure) -> KeyPress? {
        let signals = try listen()
        while keys.isEmpty {
            if interruption != nil { return nil }
            if try Self.firstReady(signals, STDIN_FILENO) == signals {
                interruption = Int32(try Self.bytes(from: signals, limit: 1).first ?? 0)
            } else {
                let bytes = try Self.bytes(from: STDIN_FILENO, limit: 4096)
                if bytes.isEmpty { return nil }
                keys += parser.take(bytes)
            }
        }
        return keys.removeFirst()
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

/// A terminal without echo, while a secret is entered or the process shows what is typed.
private struct EchoSuppression {
    private let former: termios

    /// - Parameter isLineByLine: Whether the terminal collects a line before the process can read it.
    init(isLineByLine: Bool = true) throws(SystemFailure) {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { throw Self.failure }
        former = settings
        settings.c_lflag &= ~tcflag_t(ECHO)
        // Echoes the line break, so that the next question starts on a new line.
        if isLineByLine {
            settings.c_lflag |= tcflag_t(ECHONL)
        } else {
            settings.c_lflag &= ~tcflag_t(ICANON | IEXTEN)
        }
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

/// A progress display on a terminal. Prints nothing if standard error is not a terminal.
final class Progress {
    private let what: String
    private let context: CommandContext
    private var last = Instant(nanoseconds: .min)
    private var hasPrinted = false

    private init(_ what: String, _ context: CommandContext) {
        self.what = what
        self.context = context
    }

    /// Runs `body` with a progress line, which is removed at the end.
    static func of<Result>(
        _ what: String, _ context: CommandContext, _ body: (Progress) throws -> Result
    ) rethrows -> Result {
        let progress = Progress(what, context)
        defer { progress.end() }
        return try body(progress)
    }

    func note(_ count: Int, of all: Int) {
        guard context.terminal.isTerminal(.errors) else { return }
        let now = context.clock.now
        // Prints nothing until there is progress, and at most ten times per second.
        guard hasPrinted || count > 0, last.advanced(by: .milliseconds(100)) <= now else { return }
        last = now
        hasPrinted = true
        try? context.cursor.write("\r\(count) of \(all) \(what)", to: .errors)
    }

    private func end() {
        guard hasPrinted else { return }
        try? context.cursor.write("\r\u{1B}[K", to: .errors)
    }
}
