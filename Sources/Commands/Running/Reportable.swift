/// An error with its messages and the exit status of the command.
package protocol Reportable: Error {
    var status: ExitStatus { get }
    /// The lines for standard error. The program's name precedes the first.
    var lines: [String] { get }
    /// The lines of `defaults`, which are those of macOS.
    var classicLines: [String] { get }
}

extension Reportable {
    package var classicLines: [String] { lines }
}

/// An error that is only a message.
package struct CommandFailure: Reportable, Hashable {
    package let status: ExitStatus
    package let lines: [String]
    package let classicLines: [String]

    package init(_ status: ExitStatus, _ lines: String...) {
        self.init(status, lines, classic: lines)
    }

    /// Creates an error for which macOS has its own message.
    package init(_ status: ExitStatus, _ line: String, classic: String, _ more: String...) {
        self.init(status, [line], classic: [classic] + more)
    }

    init(_ status: ExitStatus, _ lines: [String], classic: [String]) {
        self.status = status
        self.lines = lines
        classicLines = classic
    }

    /// Creates an error with the messages and status of another, and one more line.
    init(_ error: any Error, and line: String) {
        let (status, lines) = Prefs.explanation(of: error)
        self.init(
            status, lines + [line], classic: Prefs.explanation(of: error, in: .classic).1 + [line])
    }
}
