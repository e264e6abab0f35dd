internal import Platform
internal import Preferences
internal import PropertyLists
internal import SchemaTools
internal import SettingsSchema

extension Verb {
    package static let args = Verb(
        "args", .new, "read a script's arguments by its schema, for eval",
        details: [
            "In a script: eval \"$(prefs args \"$0\" -- \"$@\" || echo exit $?)\". Every setting is then a variable, set from a flag, an environment variable, the store, or the schema's default.",
            "The script declares its settings in comments: one line for each, such as `# @option -k --keep=INT <7>  How many copies [1..365] {env: KEEP}`, `# @flag -v --verbose  Print each file` or `# @arg source!  What to copy`, or a property list between #prefs{ and #}; or # prefs-schema: FILE names a schema in its folder. See prefs-args(1).",
        ],
        options: [.shell, .schema, .prefix, .completions, .man, .build, .withCompletions, .shellcheck],
        forms: [[Operand("SCRIPT", .file), Operand("ARGUMENT", .word, .afterDashes)]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout], scope: .allHosts
    ) { invocation, context in
        let script = try ScriptFile(invocation[operand: "SCRIPT"] ?? "", context)
        let requests = [Option.completions, .man, .build, .shellcheck].filter(invocation.has)
        guard requests.count <= 1 else {
            throw CommandFailure(.usage, "only one of --completions, --man, --build and --shellcheck can be given")
        }
        guard invocation.has(.build) || !invocation.has(.withCompletions) else {
            throw CommandFailure(.usage, "--with-completions requires --build")
        }
        let output = invocation[.shell].flatMap { ScriptOutput(rawValue: $0) } ?? script.shell ?? .sh
        guard requests.isEmpty else {
            try context.terminal.write(Verb.description(of: script, output, invocation, context), to: .output)
            return .done
        }
        do {
            return try ScriptCall(script, output, invocation, context).run()
        } catch {
            // A failure to write is ignored, so that the original error is reported.
            try? context.terminal.write(
                output.exit(Prefs.explanation(of: error).0.rawValue), to: .output)
            throw error
        }
    }

    /// Returns the completions or the manual page of a script, the script with its parser, or the lines for ShellCheck.
    private static func description(
        of script: ScriptFile, _ output: ScriptOutput, _ invocation: Invocation, _ context: CommandContext
    ) throws -> [UInt8] {
        let file = try script.schema(invocation)
        let schema = try file.schema()
        if invocation.has(.build) {
            return try script.built(
                by: file, prefix: invocation[.prefix], hasCompletions: invocation.has(.withCompletions),
                ownSchema: !invocation.has(.schema))
        }
        if invocation.has(.shellcheck) {
            return Array(schema.linesForShellCheck(output, prefix: invocation[.prefix] ?? "").utf8)
        }
        if let shell = invocation[.completions].flatMap({ ScriptOutput(rawValue: $0) }) {
            return Array(schema.completions(for: shell, program: script.program).utf8)
        }
        let day = (file.modified ?? context.clock.wall).dayOfManual
        return Array(schema.manualPage(program: script.program, date: day).utf8)
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
    static let build = Option("--build", "print the script with its parser in POSIX shell, for hosts without prefs")
    static let withCompletions = Option(
        "--with-completions", "with --build: the script prints its completions for --completions SHELL")
    static let shellcheck = Option("--shellcheck", "print the lines that tell ShellCheck about the variables")
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
