internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema

extension Verb {
    package static let args = Verb(
        "args", .new, "read a script's arguments by its schema, for eval",
        details: [
            "In a script: eval \"$(prefs args \"$0\" -- \"$@\" || echo exit $?)\". Every setting is then a variable, set from a flag, an environment variable, the store, or the schema's default.",
            "The script names its schema in a comment, # prefs-schema: FILE, relative to its own folder, or has it in comments between #prefs{ and #}. See prefs-args(1).",
        ],
        options: [.shell, .schema, .prefix, .completions, .man],
        forms: [[Operand("SCRIPT", .file), Operand("ARGUMENT", .word, .behindDashes)]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout]
    ) { invocation, context in
        let script = try ScriptFile(invocation[operand: "SCRIPT"] ?? "", context)
        if invocation[.completions] != nil || invocation.has(.man) {
            return try Verb.describe(script, invocation, context)
        }
        let output = invocation[.shell].flatMap { ScriptOutput(rawValue: $0) } ?? script.shell ?? .sh
        do {
            return try ScriptCall(script, output, invocation, context).run()
        } catch {
            // A failure to write is ignored, so that the original error is reported.
            try? context.terminal.write(
                output.exit(Prefs.explanation(of: error).0.rawValue), to: .output)
            throw error
        }
    }

    /// Prints the completions or the manual page of a script.
    private static func describe(
        _ script: ScriptFile, _ invocation: Invocation, _ context: CommandContext
    ) throws -> ExitStatus {
        if invocation[.completions] != nil, invocation.has(.man) {
            throw CommandFailure(.usage, "args prints completions or the manual page, not both")
        }
        let file = try script.schema(invocation)
        let schema = try file.schema()
        guard let shell = invocation[.completions].flatMap({ ScriptOutput(rawValue: $0) }) else {
            let day = (file.modified ?? context.clock.wall).dayOfManual
            try context.terminal.write(schema.manualPage(program: script.program, date: day), to: .output)
            return .done
        }
        try context.terminal.write(schema.completions(for: shell, program: script.program), to: .output)
        return .done
    }
}

extension Option {
    static let shell = Option(
        "--shell", Argument("SHELL", .choice(.words(ScriptOutput.allCases.map(\.rawValue)))),
        "the output format; by default, for the shell in the script's first line")
    static let schema = Option("--schema", Argument("FILE", .file), "the schema, instead of the script's own")
    static let prefix = Option("--prefix", Argument("WORD", .word), "a prefix for the names of variables")
    static let completions = Option(
        "--completions", Argument("SHELL", .choice(.words(ScriptOutput.completing.map(\.rawValue)))),
        "print the completion script")
    static let man = Option("--man", "print the manual page, in mdoc")
}

extension Timestamp {
    /// The date for a manual page: `January 31, 2026`.
    var dayOfManual: String {
        let parts = description.prefix { $0 != "T" }.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 3, (1...12).contains(parts[1]) else { return "January 1, 1970" }
        return "\(Self.months[parts[1] - 1]) \(parts[2]), \(parts[0])"
    }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
}
