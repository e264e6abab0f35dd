/// Where a program reads and writes, and ends.
package protocol Terminal: Sendable {
    /// How many characters fit in a line of a stream; nil where it is no terminal.
    func width(of stream: StandardStream) -> Int?

    func isTerminal(_ stream: StandardStream) -> Bool

    /// Writes all of the bytes before it returns. A reader that has gone away ends the program, or, where it ignores
    /// that signal, is a failure like any other.
    func write(_ bytes: RawSpan, to stream: StandardStream) throws(SystemFailure)

    /// All that can be read from a descriptor which the program was started with, to its end. More than `limit` bytes
    /// fail with `fileTooLarge`, and a number that stands for no open file with `badDescriptor`.
    func input(from descriptor: Int32, limit: Int) throws(SystemFailure) -> [UInt8]

    /// Ends the program. One that tests make up throws instead, and so does not return either.
    func exit(_ status: Int32) throws(ProgramExit) -> Never
}

/// The streams that every program has from the start.
package enum StandardStream: Int32, Hashable, Sendable, CaseIterable {
    case input = 0
    case output = 1
    case errors = 2
}

/// The end of a program that only tests ran.
package struct ProgramExit: Error, Hashable, Sendable {
    package let status: Int32

    package init(status: Int32) { self.status = status }
}

extension Terminal {
    /// All of the standard input.
    package func input(limit: Int) throws(SystemFailure) -> [UInt8] {
        try input(from: StandardStream.input.rawValue, limit: limit)
    }

    package func write(_ text: String, to stream: StandardStream = .output) throws(SystemFailure) {
        try write(Array(text.utf8).span.bytes, to: stream)
    }
}

extension Terminal {
    package func write(_ bytes: [UInt8], to stream: StandardStream) throws(SystemFailure) {
        try write(bytes.span.bytes, to: stream)
    }
}
