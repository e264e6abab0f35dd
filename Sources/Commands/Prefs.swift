internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists
internal import SettingsSchema

/// The command `prefs`.
public enum Prefs: Sendable {
    /// The name of the command, unless it is called by a link with another name.
    package static let name = "prefs"

    /// Runs the command and returns its exit status.
    public static func run(_ arguments: [String]) -> Int32 {
        var surroundings = Surroundings.ofThisProcess
        surroundings.machine.environment.arguments = arguments
        return run(in: surroundings).rawValue
    }

    /// Runs the command with the environment's arguments.
    package static func run(in surroundings: Surroundings) -> ExitStatus {
        do {
            return try perform(in: surroundings)
        } catch {
            let status = report(error, in: surroundings)
            if let failure = error as? UsageFailure, failure.path.first == Verb.args.name {
                let words = surroundings.environment.arguments
                try? surroundings.terminal.write(ScriptEnd.text(after: words, status), to: .output)
            }
            return status
        }
    }

    private static func perform(in surroundings: Surroundings) throws -> ExitStatus {
        let words = Array(surroundings.environment.arguments.dropFirst())
        guard !words.isEmpty else {
            try surroundings.terminal.write(HelpText.overview(program: surroundings.program), to: .errors)
            return .usage
        }
        switch try Parser.request(words, program: surroundings.program) {
        case .version:
            try surroundings.say("\(name) \(version)")
            return .done
        case .help(let path):
            try surroundings.terminal.write(HelpText.text(of: path, program: surroundings.program), to: .output)
            return .done
        case .run(let invocation):
            // Only file names may be invalid UTF-8.
            for word in surroundings.environment.changedArguments.keys.sorted()
            where words.contains(word) && !invocation.namesFile(word) {
                throw UsageFailure(.notText(word), path: invocation.path)
            }
            return try invocation.verb.run(invocation, surroundings)
        }
    }

    /// Prints an error and returns the exit status. A closed output pipe is not an error.
    private static func report(_ error: any Error, in surroundings: Surroundings) -> ExitStatus {
        if let failure = error as? SystemFailure, failure.isBrokenPipe { return .done }
        let (status, lines) = explanation(of: error)
        // Paths and names may come from other users, so control characters in them are escaped.
        let text = "\(surroundings.program): ".shown + lines.map { $0.shown + "\n" }.joined()
        // If standard error cannot be written, there is no way to report it.
        try? surroundings.terminal.write(text, to: .errors)
        return status
    }

    /// Returns the exit status for an error, and its message.
    static func explanation(of error: any Error) -> (ExitStatus, [String]) {
        switch error {
        case let error as any Reportable: (error.status, error.lines)
        case let error as SystemFailure: (.systemFailed, [error.description])
        case let error as Environment.Homeless: (.systemFailed, [error.description])
        case let error as DecodingFailure: (.damaged, [error.description])
        case let error as EncodingFailure: (.invalidValue, [error.description])
        case let error as EntryPath.Failure: (.invalidValue, [error.description])
        default: (.systemFailed, ["\(error)"])
        }
    }

    package static let version = "0.1"
}
