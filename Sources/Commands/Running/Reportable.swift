/// An error with its messages and the exit status of the command.
package protocol Reportable: Error {
    var status: ExitStatus { get }
    /// The lines for standard error. The program's name precedes the first.
    var lines: [String] { get }
}

/// An error that is only a message.
package struct CommandFailure: Reportable, Hashable {
    package let status: ExitStatus
    package let lines: [String]

    package init(_ status: ExitStatus, _ lines: String...) {
        self.status = status
        self.lines = lines
    }

    /// Creates an error with the messages and status of another, and one more line.
    init(_ error: any Error, and line: String) {
        let (status, lines) = Prefs.explanation(of: error)
        self.status = status
        self.lines = lines + [line]
    }
}
