internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists
internal import SettingsSchema

/// The command `prefs`: from its arguments to its exit status.
public enum Prefs: Sendable {
    /// What it is called where nobody has given it another name by a link.
    package static let name = "prefs"

    /// Runs the command and returns its exit status.
    public static func run(_ arguments: [String]) -> Int32 {
        var surroundings = Surroundings.ofThisProcess
        surroundings.machine.environment.arguments = arguments
        return run(in: surroundings).rawValue
    }

    /// Runs what the environment's arguments ask for.
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
            // Only the name of a file may be any bytes.
            for word in surroundings.environment.changedArguments.keys.sorted()
            where words.contains(word) && !invocation.namesFile(word) {
                throw UsageFailure(.notText(word), path: invocation.path)
            }
            return try invocation.verb.run(invocation, surroundings)
        }
    }

    /// Says what went wrong. A reader that has gone away wanted no more, and is told nothing.
    private static func report(_ error: any Error, in surroundings: Surroundings) -> ExitStatus {
        if let failure = error as? SystemFailure, failure.isBrokenPipe { return .done }
        let (status, lines) = explanation(of: error)
        // A path or a name may be a stranger's.
        let text = "\(surroundings.program): ".shown + lines.map { $0.shown + "\n" }.joined()
        // Nobody is left to hear that not even this could be said.
        try? surroundings.terminal.write(text, to: .errors)
        return status
    }

    /// How the command ends with an error, and what it says of it.
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
