/// Commands with what they print and how they end, as a text that a person can read and a test can run.
///
///     # A value that is not there.
///     $ prefs read com.example.app missing
///     ! prefs: The domain/default pair of (com.example.app, missing) does not exist
///     ? 1
///
/// `$` begins a command in words of the shell; `<` lines are its standard input, `|` lines its output, `!` lines its
/// errors, and `?` is its status, 0 where it is left out. The last line of a stream that has no newline at its end
/// begins with `|~` or `<~`. Empty lines and those that begin with `#` are for the reader.
package struct Transcript: Sendable {
    /// One command and what is expected of it.
    package struct Step: Sendable {
        package let line: Int
        package let command: String
        package fileprivate(set) var input = ""
        package fileprivate(set) var outcome = Outcome()
    }

    /// What a command did.
    package struct Outcome: Hashable, Sendable {
        package var output = ""
        package var errors = ""
        package var status: Int32 = 0

        package init(output: String = "", errors: String = "", status: Int32 = 0) {
            (self.output, self.errors, self.status) = (output, errors, status)
        }
    }

    package struct Mistake: Error, CustomStringConvertible {
        package let description: String
    }

    package private(set) var steps: [Step] = []

    package init(parsing text: String) throws {
        for (number, line) in zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)) {
            guard let mark = line.unicodeScalars.first, mark != "#" else { continue }
            if mark == "$" {
                steps.append(Step(line: number, command: Self.content(line)))
                continue
            }
            guard !steps.isEmpty else { throw Mistake(description: "\(number): stands before any command") }
            try take(mark, line, number)
        }
    }

    private mutating func take(_ mark: Unicode.Scalar, _ line: Substring, _ number: Int) throws {
        let last = steps.count - 1
        let isUnfinished = line.dropFirst().first == "~"
        let text = Self.content(isUnfinished ? line.dropFirst() : line) + (isUnfinished ? "" : "\n")
        switch mark {
        case "<": steps[last].input += text
        case "|": steps[last].outcome.output += text
        case "!": steps[last].outcome.errors += text
        case "?":
            guard let status = Int32(Self.content(line)) else {
                throw Mistake(description: "\(number): \(line) is no status")
            }
            steps[last].outcome.status = status
        default: throw Mistake(description: "\(number): a line begins with $ < | ! ? or #")
        }
    }

    /// What stands behind the mark and a space.
    private static func content(_ line: Substring) -> String {
        let rest = line.dropFirst()
        return String(rest.first == " " ? rest.dropFirst() : rest)
    }
}

extension Transcript {
    /// Runs the commands one after the other; says of each that went otherwise what was expected and what came.
    ///
    /// - Parameter masking: Takes out of a text what differs from machine to machine.
    package func failures(
        masking: (String) -> String = { $0 }, _ run: (_ words: [String], _ input: String) throws -> Outcome
    ) throws -> [String] {
        try steps.compactMap { step in
            let outcome = try run(try ShellScript.words(step.command), step.input).masked(masking)
            let expected = step.outcome.masked(masking)
            guard outcome != expected else { return nil }
            return """
                line \(step.line): $ \(step.command)
                expected:
                \(expected.notation)came:
                \(outcome.notation)
                """
        }
    }
}

extension Transcript.Outcome {
    fileprivate func masked(_ masking: (String) -> String) -> Transcript.Outcome {
        Transcript.Outcome(output: masking(output), errors: masking(errors), status: status)
    }

    /// The outcome as a transcript says it.
    package var notation: String {
        Self.lines(output, "|") + Self.lines(errors, "!") + (status == 0 ? "" : "? \(status)\n")
    }

    private static func lines(_ text: String, _ mark: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let last = lines.popLast() else { return "" }
        let finished = lines.map { $0.isEmpty ? "\(mark)\n" : "\(mark) \($0)\n" }.joined()
        return finished + (last.isEmpty ? "" : "\(mark)~ \(last)\n")
    }
}
