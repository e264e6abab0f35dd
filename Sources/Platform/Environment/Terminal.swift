// Unsafe: the bytes of a span are marked unsafe because of padding, which an array of bytes does not have.

/// The standard streams of a program, and its exit.
package protocol Terminal: Sendable {
    /// Returns the number of columns, or nil if the stream is not a terminal.
    func width(of stream: StandardStream) -> Int?

    func isTerminal(_ stream: StandardStream) -> Bool

    /// Writes all bytes. If the other end of a pipe is closed, SIGPIPE ends the program. If that signal is ignored,
    /// this throws.
    func write(_ bytes: RawSpan, to stream: StandardStream) throws(SystemFailure)

    /// Reads a descriptor that the program inherited, to its end. Throws `fileTooLarge` after more than `limit` bytes,
    /// and `badDescriptor` if the descriptor is not open.
    func input(from descriptor: Int32, limit: Int) throws(SystemFailure) -> [UInt8]

    /// Ends the program. A simulated terminal throws instead, so it does not return either.
    func exit(_ status: Int32) throws(ProgramExit) -> Never
}

/// The standard streams.
package enum StandardStream: Int32, Hashable, Sendable, CaseIterable {
    case input = 0
    case output = 1
    case errors = 2
}

/// The exit of a program that ran in a simulation.
package struct ProgramExit: Error, Hashable, Sendable {
    package let status: Int32

    package init(status: Int32) { self.status = status }
}

extension Terminal {
    /// Reads all of the standard input.
    package func input(limit: Int) throws(SystemFailure) -> [UInt8] {
        try input(from: StandardStream.input.rawValue, limit: limit)
    }

    package func write(_ text: String, to stream: StandardStream = .output) throws(SystemFailure) {
        try write(Array(text.utf8), to: stream)
    }
}

extension Terminal {
    package func write(_ bytes: [UInt8], to stream: StandardStream) throws(SystemFailure) {
        try unsafe write(bytes.span.bytes, to: stream)
    }
}

/// A terminal whose whole screen a program draws, and whose keys it reads one by one.
package protocol ScreenTerminal: Sendable {
    var size: (columns: Int, rows: Int) { get }

    /// Switches to the alternate screen, which is empty. `leave()` restores the previous contents, as does a crash of
    /// the program.
    func enter() throws(SystemFailure)

    /// Restores the terminal. Does nothing if it was not entered.
    func leave()

    func write(_ bytes: [UInt8]) throws(SystemFailure)

    /// Waits for an event, at most as long as the limit.
    func next(milliseconds limit: Int32?) throws(SystemFailure) -> TerminalEvent

    /// Makes `next` return `woken`, once for all calls before it. Can be called on any thread.
    func wake()

    /// Restores the terminal, stops the process as Control-Z does, and enters the screen again when it continues.
    func suspend() throws(SystemFailure)

    /// Ends the process with a signal, after `leave()`.
    func end(with signal: Int32)
}

extension ScreenTerminal {
    package func write(_ text: String) throws(SystemFailure) { try write(Array(text.utf8)) }
}

/// An event that a program with a screen waits for.
package enum TerminalEvent: Hashable, Sendable {
    case bytes([UInt8])
    case resized
    case woken
    case timeout
    case endOfInput
    /// The process continues after it was stopped; the screen may show anything.
    case continued
    /// The user asks the process to stop.
    case suspended
    /// A signal asks the process to end.
    case ended(signal: Int32)
}
