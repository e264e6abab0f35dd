// The command: from arguments to an exit status.
//
// `Parser` turns the arguments into an `Invocation` of a `Verb`. The verb runs, and reads and changes settings through
// a `StoreAccess`.
//
// Verbs: a file for each verb or a few related ones; `Verb+All` lists them. Apple: `plutil` and `PlistBuddy`, whose
// names the executable can have. Grammar: parsing of arguments, and help. Addressing: the domains, keys and layers that
// arguments name. Values and Rendering: parsing and printing of values. Running: the command's access to the system,
// and its exit. Differences: what `diff`, `watch`, `history` and `apply` compare, and what they hide. Schemas, Scripts,
// Querying, Doctor, Mirroring: the larger parts of `schema`, `args`, `query`, `doctor` and `mirror`. Screens: the
// screens of `form` and `browse` in a terminal. Shell: completions.

internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists
internal import SettingsSchema

/// The command `prefs`.
public enum Prefs: Sendable {
    /// The name of the command, unless it is called by a link with another name.
    package static let name = "prefs"

    /// Runs the command with the arguments of this process, and returns its exit status.
    public static func run() -> Int32 {
        SystemTerminal.occupyClosedStreams()
        return run(in: CommandContext.ofThisProcess).rawValue
    }

    /// Runs the command with the environment's arguments.
    package static func run(in context: CommandContext) -> ExitStatus {
        do {
            return try perform(in: context)
        } catch {
            let status = report(error, in: context)
            if let failure = error as? UsageFailure, failure.path.first == Verb.args.name {
                let words = context.environment.arguments
                try? context.terminal.write(ScriptExit.text(after: words, status), to: .output)
            }
            return status
        }
    }

    private static func perform(in context: CommandContext) throws -> ExitStatus {
        switch context.program {
        case Plutil.name: return try Plutil.run(in: context)
        case PlistBuddy.name: return try PlistBuddy.run(in: context)
        default: break
        }
        let words = Array(context.environment.arguments.dropFirst())
        guard !words.isEmpty else {
            try? context.terminal.write(HelpText.summary(program: context.program), to: .errors)
            return .usage
        }
        switch try Parser.request(words, program: context.program, application: context.domain(ofApplication:)) {
        case .version:
            try context.say("\(name) \(version)")
            return .done
        case .help(let path):
            try context.terminal.write(HelpText.text(of: path, program: context.program), to: .output)
            return .done
        case .run(let invocation):
            if let word = invocation.wordWithoutText { throw UsageFailure(.notText(word), path: invocation.path) }
            do {
                return try invocation.verb.run(invocation, context)
            } catch {
                throw StoreAccess.explaining(error, invocation, context)
            }
        }
    }

    /// Prints an error and returns the exit status. A closed output pipe is not an error.
    private static func report(_ error: any Error, in context: CommandContext) -> ExitStatus {
        if let failure = error as? SystemFailure, failure.isBrokenPipe { return .done }
        let (status, lines) = explanation(of: error, in: context.dialect)
        // Paths and names may come from other users, so control characters in them are escaped.
        let text = "\(context.program): ".shown + lines.map { $0.shown + "\n" }.joined()
        // If standard error cannot be written, there is no way to report it.
        try? context.terminal.write(text, to: .errors)
        return [Plutil.name, PlistBuddy.name].contains(context.program) ? .appleFailure : status
    }

    /// Returns the exit status for an error, and its message.
    static func explanation(of error: any Error, in dialect: Dialect = .modern) -> (ExitStatus, [String]) {
        switch error {
        case let error as any Reportable:
            (error.status, dialect == .classic ? error.classicLines : error.lines)
        case let error as SystemFailure: (.systemFailed, [error.description])
        case let error as Environment.MissingHomeFolder: (.systemFailed, [error.description])
        case let error as DecodingFailure: (.damaged, [error.description])
        case let error as EncodingFailure: (.invalidValue, [error.description])
        case let error as EntryPath.Failure: (.invalidValue, [error.description])
        default: (.systemFailed, ["\(error)"])
        }
    }

    package static let version = "0.1"
}
