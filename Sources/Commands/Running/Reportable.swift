/// An error that knows what the command says of it and how it ends.
package protocol Reportable: Error {
    var status: ExitStatus { get }
    /// What standard error gets; the first line behind the program's name.
    var lines: [String] { get }
}

/// A failure for which there is nothing to know but what to say.
package struct CommandFailure: Reportable, Hashable {
    package let status: ExitStatus
    package let lines: [String]

    package init(_ status: ExitStatus, _ lines: String...) {
        self.status = status
        self.lines = lines
    }

    /// What `error` says and how it ends the command, with a line more.
    init(_ error: any Error, and line: String) {
        let (status, lines) = Prefs.explanation(of: error)
        self.status = status
        self.lines = lines + [line]
    }
}
