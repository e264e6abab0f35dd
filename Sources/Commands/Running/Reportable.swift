package import PropertyLists

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

    /// Creates an error that occurred after a change was made.
    init(_ error: any Error, after change: String) {
        let (status, lines) = Prefs.explanation(of: error)
        let text = ["\(change), but \(lines.first ?? "")"] + lines.dropFirst()
        self.init(status, text, classic: text)
    }

    /// Creates an error with the messages and status of another, and one more line.
    init(_ error: any Error, and line: String) {
        let (status, lines) = Prefs.explanation(of: error)
        self.init(
            status, lines + [line], classic: Prefs.explanation(of: error, in: .classic).1 + [line])
    }
}

/// The exit statuses of all verbs.
package enum ExitStatus: Int32, Hashable, Sendable, CaseIterable {
    case done = 0
    case notFound = 1
    case usage = 2
    case invalidValue = 3
    case forced = 4
    case damaged = 5
    case systemFailed = 6
    case lockTimeout = 7
    case different = 8
    case conflicts = 9
    case waiting = 10
    case halted = 11
    case overQuota = 12
    case unavailable = 13
}

extension ExitStatus {
    /// The description in help and the manual.
    package var meaning: String {
        switch self {
        case .done: "done, or equal"
        case .notFound: "not found"
        case .usage: "usage: verb, option, number of arguments, or domain name"
        case .invalidValue: "a value that is malformed or not allowed"
        case .forced: "forced by the administrator"
        case .damaged: "damaged or unreadable data"
        case .systemFailed: "system error: disk full, permissions, input or output"
        case .lockTimeout: "timeout while waiting for a lock"
        case .different: "different, or a condition is not met"
        case .conflicts: "a mirror has open conflicts"
        case .waiting: "a mirror waits for a value, a file or a host"
        case .halted: "a mirror is halted and needs a decision"
        case .overQuota: "a mirror is over its quota"
        case .unavailable: "the directory of a mirror is unavailable"
        }
    }
}

extension ExitStatus: Comparable {
    /// Ordered by number; a command with several results returns the highest.
    package static func < (left: ExitStatus, right: ExitStatus) -> Bool { left.rawValue < right.rawValue }
}

/// Invalid input in a file or on the standard input.
///
///     settings.plist:41:7: unknown element <strnig>; did you mean <string>?
package struct InvalidInput: Reportable {
    package let name: String
    /// The location in a text; nil for a binary file.
    package let location: TextLocation?
    private let problem: DecodingFailure.Problem
    private let offset: Int
    private let path: EntryPath
    /// Whether the input was read in the format of another program.
    private var isOfOtherProgram = false

    init(name: String, bytes: [UInt8], failure: DecodingFailure) {
        self.name = name == "-" ? "standard input" : name
        (problem, offset, path) = (failure.problem, failure.offset, failure.path)
        location = failure.location(in: bytes)
    }

    /// Creates the error of a text that another program wrote.
    init(name: String, bytes: [UInt8], failure: ImportedText.Failure) {
        self.name = name
        (problem, offset, path) = (failure.problem, failure.offset, [])
        location = TextLocation.locations(of: [failure.offset], inText: bytes)[failure.offset]
        isOfOtherProgram = true
    }

    package var status: ExitStatus { .damaged }

    /// Returns the message for a file whose extension states a language that prefs does not read, or nil.
    static func lineOfUnsupportedLanguage(_ name: String) -> String? {
        FileExtension.unsupportedLanguage(ofFile: name).map {
            "\(name.onOneLine): prefs does not read \($0.name)\(hint($0, name))"
        }
    }

    /// Returns the end of a message about a file in a language that `import` can read, or nothing.
    private static func hint(_ language: OtherLanguage, _ name: String) -> String {
        let format: FormatName
        switch language {
        case .env: format = .env
        case .ini: format = .ini
        case .toml, .yaml: return ""
        }
        let file = name == "standard input" ? "-" : ShellWord.quoted(name.onOneLine)
        return "; to import it: prefs import --from \(format.rawValue) DOMAIN \(file)"
    }

    package var lines: [String] {
        if !isOfOtherProgram, let line = Self.lineOfUnsupportedLanguage(name) { return [line] }
        let place = location.map { ":\($0.line):\($0.column)" } ?? ": byte \(offset)"
        let entry = path.components.isEmpty ? "" : " (at \(path.description.onOneLine))"
        let hint = if case .otherLanguage(let language) = problem { Self.hint(language, name) } else { "" }
        return ["\(name.onOneLine)\(place): \(problem)\(hint)\(entry)"]
    }
}

/// Returns a count with its noun: `1 change`, `2 changes`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// Joins the first names of a list: `a, b and 3 more`.
func abridged(_ names: [String], most: Int = 5) -> String {
    let shown = names.prefix(most).map(\.onOneLine).joined(separator: ", ")
    return names.count > most ? "\(shown) and \(names.count - most) more" : shown
}

extension String {
    /// The text for a message, on one line of limited length.
    package var onOneLine: String { shortened(self, to: 200) }
}
