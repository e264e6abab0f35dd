internal import Platform
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
