internal import Platform
internal import Synchronization

/// Where questions are asked and answered, a line each.
package protocol Dialogue: Sendable {
    /// Writes a prompt, and returns what is answered to it. Of a secret nothing is shown.
    func answer(to prompt: String, isSecret: Bool) throws -> DialogueAnswer

    /// Ends the process as the signal wanted that has interrupted it, now that all is in order.
    func endIfInterrupted()
}

/// What becomes of a question.
package enum DialogueAnswer: Hashable, Sendable {
    /// A line without its end.
    case line([UInt8])
    case endOfInput
    case interrupted
}

/// The most bytes of an answer.
let mostBytesOfAnswer = 1 << 20

/// Bytes that are cut into lines as they come.
struct LineBuffer: Sendable {
    private var bytes: [UInt8] = []
    private var isAtEnd = false

    /// How many bytes wait for the end of their line.
    var count: Int { bytes.count }

    mutating func take(_ more: some Collection<UInt8>) {
        if more.isEmpty { isAtEnd = true } else { bytes += more }
    }

    /// The next line; the last one need not have an end. Nil as long as more must come first.
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

/// Answers that were all written beforehand, as tests and pipes have them.
final class WrittenDialogue: Dialogue {
    private let terminal: any Terminal
    private let lines = Mutex<LineBuffer?>(nil)

    init(_ terminal: any Terminal) { self.terminal = terminal }

    func answer(to prompt: String, isSecret: Bool) throws -> DialogueAnswer {
        try terminal.write(prompt, to: .output)
        let answer = try lines.withLock { lines in
            if lines == nil {
                var read = LineBuffer()
                read.take(try terminal.input(limit: mostBytesOfAnswer))
                read.take([])
                lines = read
            }
            return lines?.next() ?? .endOfInput
        }
        // Nobody has typed the end of the line.
        if answer != .endOfInput { try terminal.write("\n", to: .output) }
        return answer
    }

    func endIfInterrupted() {}
}
