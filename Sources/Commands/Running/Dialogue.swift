internal import Platform
internal import Screens
internal import Synchronization

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
    private let raw: RawTerminal
    /// Whether the terminal can show a line that is edited.
    private let canMoveCursor: Bool
    private let state = Mutex(State())

    private struct State: Sendable {
        var lines = LineBuffer()
        /// Keys that were pressed before the question that they answer.
        var keys: [KeyPress] = []
        var parser = KeyParser()
        var history: [String] = []
        var interruption: Int32?
    }

    init(on raw: RawTerminal, canMoveCursor: Bool) { (self.raw, self.canMoveCursor) = (raw, canMoveCursor) }

    func answer(to prompt: String, isSecret: Bool, completesLine: Bool) throws -> DialogueAnswer {
        // Before the terminal is changed, and before the user sees a prompt that an interrupt could answer.
        try raw.listen()
        let isTyped = terminal.isTerminal(.input)
        if isTyped, canMoveCursor { return try editedAnswer(to: prompt, isSecret: isSecret) }
        let mode: RawTerminal.Mode? = isSecret && isTyped ? .hiddenLine : nil
        if let mode { try raw.enter(mode) }
        defer { raw.leave() }
        try terminal.write(prompt, to: .output)
        let answer = try line(mode)
        if completesLine, !isTyped, answer != .endOfInput { try terminal.write("\n", to: .output) }
        return answer
    }

    /// Asks with a line editor: a cursor, word moves, kill and yank, and the earlier answers.
    private func editedAnswer(to prompt: String, isSecret: Bool) throws -> DialogueAnswer {
        try raw.enter(.keys)
        defer { raw.leave() }
        let width = max(20, terminal.width(of: .output) ?? 80)
        var label = prompt.visible
        if label.shownColumns > width - 16 {
            try terminal.write(label + "\n", to: .output)
            label = "> "
        }
        var line = LineEditor(history: state.withLock(\.history), isSecret: isSecret)
        while true {
            let (text, cursor) = line.shown(in: width - label.shownColumns - 1)
            // The terminal knows best how wide the text before the cursor is.
            let before = text.beginning(toColumns: cursor)
            let back = before.utf8.count < text.utf8.count ? "\r\(label)\(before)" : ""
            try terminal.inner.write("\r\(label)\(text)\u{1B}[K\(back)", to: .output)
            guard let press = state.withLock({ state in state.keys.isEmpty ? nil : state.keys.removeFirst() }) else {
                if state.withLock(\.interruption) != nil { return .interrupted }
                let isWaiting = state.withLock(\.parser.isWaiting)
                switch try next(.keys, milliseconds: isWaiting ? KeyParser.escapeMilliseconds : nil) {
                case .bytes(let bytes): state.withLock { $0.keys += $0.parser.take(bytes) }
                case .timeout: state.withLock { $0.keys += $0.parser.flush() }
                case .endOfInput: return .endOfInput
                default: break
                }
                continue
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

    /// Returns the next line.
    private func line(_ mode: RawTerminal.Mode?) throws -> DialogueAnswer {
        while true {
            if state.withLock(\.interruption) != nil { return .interrupted }
            if let line = state.withLock({ $0.lines.next() }) { return line }
            guard state.withLock(\.lines.count) <= maximumAnswerSize else {
                throw SystemFailure(.fileTooLarge, .read, nil)
            }
            switch try next(mode) {
            case .bytes(let bytes): state.withLock { $0.lines.take(bytes) }
            case .endOfInput: state.withLock { $0.lines.take([]) }
            default: break
            }
        }
    }

    /// Waits for an event. Records an interruption, and suspends the process.
    private func next(_ mode: RawTerminal.Mode?, milliseconds limit: Int32? = nil) throws -> TerminalEvent {
        let event = try raw.next(milliseconds: limit)
        switch event {
        case .ended(let signal): state.withLock { $0.interruption = signal }
        case .suspended: try raw.suspend()
        case .continued: if let mode { try raw.enter(mode) }
        case .bytes, .resized, .woken, .timeout, .endOfInput: break
        }
        return event
    }

    func endIfInterrupted() {
        if let number = state.withLock(\.interruption) { raw.end(with: number) }
    }
}
