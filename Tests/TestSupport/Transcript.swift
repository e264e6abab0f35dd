/// Commands with their output and exit status, as a text that a person can read and a test can run.
///
///     # A value that is not there.
///     $ prefs read com.example.app missing
///     ! prefs: The domain/default pair of (com.example.app, missing) does not exist
///     ? 1
///
/// `$` starts a command in shell words. `<` lines are its standard input, `|` lines its output, `!` lines its errors,
/// and `?` is its status, which is 0 by default. The last line of a stream without a final newline starts with `|~` or
/// `<~`. Empty lines and lines that start with `#` are ignored.
package struct Transcript: Sendable {
    /// A command and its expected result.
    package struct Step: Sendable {
        package let line: Int
        package let command: String
        package fileprivate(set) var input = ""
        package fileprivate(set) var outcome = Outcome()
    }

    /// The result of a command.
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
            guard !steps.isEmpty else { throw Mistake(description: "\(number): precedes every command") }
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
                throw Mistake(description: "\(number): \(line) is not a status")
            }
            steps[last].outcome.status = status
        default: throw Mistake(description: "\(number): a line begins with $ < | ! ? or #")
        }
    }

    /// Returns the text after the mark and a space.
    private static func content(_ line: Substring) -> String {
        let rest = line.dropFirst()
        return String(rest.first == " " ? rest.dropFirst() : rest)
    }
}

extension Transcript {
    /// Runs the commands in order, and returns for each failure the expected and the actual result.
    ///
    /// - Parameter masking: Removes text that differs between machines.
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

    /// The result in the notation of a transcript.
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
