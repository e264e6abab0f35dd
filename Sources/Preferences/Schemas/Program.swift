internal import PropertyLists
public import SettingsSchema

/// The values of a list of settings. A setting is read and set as a property:
///
///     let settings = Settings<ServeKeys>(defaults)
///     settings.port = 8080
///
/// A setting must not have the name of a member below, which would hide it.
@dynamicMemberLookup
public struct Settings<Keys: SettingKeys>: Sendable {
    /// The settings of the domain, for transactions, observation and other uses.
    public let defaults: Defaults
    /// The operands of the command line that no setting takes.
    public let operands: [String]
    private let keys = Keys()

    /// Creates a view of a domain, or of a scope.
    public init(_ defaults: Defaults = .standard) { (self.defaults, operands) = (defaults, []) }

    /// Creates a view of a parsed command line.
    public init(_ settings: Schema.Settings) { (defaults, operands) = (settings.defaults, settings.operands) }

    /// The value in force. Setting it stores the user's own value.
    public subscript<Value>(dynamicMember key: KeyPath<Keys, Setting<Value>>) -> Value {
        get { defaults[keys[keyPath: key]] }
        nonmutating set { defaults[keys[keyPath: key]] = newValue }
    }

    /// Returns the setting of a key, as other functions take it: `settings.defaults.reset(settings.setting(\.port))`.
    public func setting<Value>(_ key: KeyPath<Keys, Setting<Value>>) -> Setting<Value> { keys[keyPath: key] }

    /// Returns the values of a list of settings that a scope has.
    public func scoped<Inner>(_ name: String, _ keys: Inner.Type) -> Settings<Inner> {
        Settings<Inner>(defaults.scoped(name))
    }
}

/// A list without settings.
public struct NoKeys: SettingKeys {
    public init() {}
}

/// A program whose commands are the cases of an enumeration, so that the compiler checks that each is handled:
///
///     enum Command { case serve(Settings<ServeKeys>), status }
///
///     let program = Program(Schema("com.example.server", title: "Serves files")) {
///         CommandCase("serve", title: "Starts the server", ServeKeys.self, Command.serve)
///         CommandCase("status", title: "Shows what it does", Command.status)
///     }
///
///     switch try program.parseOrExit().command {
///     case .serve(let settings): serve(settings.root, port: settings.port)
///     case .status: report()
///     }
///
/// A setting of another command does not compile.
public struct Program<Keys: SettingKeys, Command: Sendable>: Sendable {
    /// The declaration of the program with its commands.
    public let schema: Schema
    private let cases: [CommandCase<Command>]
    /// The file and line of the declaration.
    private let place: String

    /// Declares a program.
    ///
    /// - Parameters:
    ///   - schema: The program, and the settings of all commands that are not in a list.
    ///   - keys: The list of the settings of all commands.
    ///   - file: The file of the declaration, for errors.
    ///   - line: The line of the declaration, for errors.
    ///   - cases: The commands.
    public init(
        _ schema: Schema, _ keys: Keys.Type = NoKeys.self, file: String = #fileID, line: Int = #line,
        @CommandCaseBuilder<Command> _ cases: () -> [CommandCase<Command>]
    ) {
        self.cases = cases()
        place = "\(file):\(line)"
        var part = SchemaBuilder.buildExpression(keys)
        part = SchemaBuilder.buildBlock(part, Schema.Part(commands: self.cases.map(\.declaration)))
        self.schema = schema.adding(part)
    }

    /// Parses a command line, including the name of the program, and opens its settings. Throws as `Schema.parse` does.
    public func parse(
        _ arguments: [String] = CommandLine.arguments, in store: Store = .native
    ) throws -> (settings: Settings<Keys>, command: Command) {
        try outcome(schema.parse(arguments, in: store))
    }

    /// Parses the command line of the running program as `Schema.parseOrExit` does: it prints help and errors.
    public func parseOrExit(
        _ arguments: [String] = CommandLine.arguments, in store: Store = .native
    ) throws -> (settings: Settings<Keys>, command: Command) {
        try outcome(schema.parseOrExit(arguments, in: store))
    }

    private func outcome(_ settings: Schema.Settings) throws -> (settings: Settings<Keys>, command: Command) {
        let words = settings.command?.split(separator: " ").map(String.init) ?? []
        guard let command = cases.command(words[...], settings) else { throw Schema.Mistakes(missingCases) }
        return (Settings(settings), command)
    }

    /// Checks the declaration as `Schema.validate` does, and that each command of the schema has a case. Throws all
    /// errors.
    public func validate() throws(Schema.Mistakes) {
        let mistakes = schema.mistakes + missingCases
        if !mistakes.isEmpty { throw Schema.Mistakes(mistakes) }
    }

    /// The commands of the schema that were not given as cases.
    private var missingCases: [Schema.Mistake] {
        let names = cases.map(\.declaration.name)
        return schema.commands.enumerated().filter { !names.contains($1.name) }.map { index, command in
            var mistake = Schema.Mistake(
                .syntax("there is no case for this command"), at: ["Commands", EntryPath.Component(index)])
            mistake.declaration = "\(place): Schema.Command(\(command.name.debugDescription))"
            return mistake
        }
    }
}

/// A command of a program, and the case of an enumeration that represents it.
public struct CommandCase<Command: Sendable>: Sendable {
    let declaration: Schema.Command
    /// Returns the command, given the words after its name; nil if there is no case for it.
    fileprivate let make: @Sendable (ArraySlice<String>, Schema.Settings) -> Command?

    /// Adds a command with a list of settings.
    public init<Keys: SettingKeys>(
        _ declaration: Schema.Command, _ keys: Keys.Type, _ make: @escaping @Sendable (Settings<Keys>) -> Command
    ) {
        self.declaration = declaration.adding(SchemaBuilder.buildExpression(keys))
        self.make = { _, settings in make(Settings(settings)) }
    }

    /// Adds a command with a list of settings.
    public init<Keys: SettingKeys>(
        _ name: String, title: String? = nil, _ keys: Keys.Type,
        _ make: @escaping @Sendable (Settings<Keys>) -> Command
    ) {
        self.init(Schema.Command(name, title: title), keys, make)
    }

    /// Adds a command without settings of its own.
    public init(_ declaration: Schema.Command, _ command: Command) {
        (self.declaration, make) = (declaration, { _, _ in command })
    }

    /// Adds a command without settings of its own.
    public init(_ name: String, title: String? = nil, _ command: Command) {
        self.init(Schema.Command(name, title: title), command)
    }

    /// Adds a command with commands of its own, which are the cases of another enumeration.
    public init<Inner>(
        _ name: String, title: String? = nil, _ make: @escaping @Sendable (Inner) -> Command,
        @CommandCaseBuilder<Inner> _ cases: () -> [CommandCase<Inner>]
    ) {
        let cases = cases()
        declaration = Schema.Command(name, title: title).adding(Schema.Part(commands: cases.map(\.declaration)))
        self.make = { words, settings in cases.command(words, settings).map(make) }
    }
}

extension Array {
    /// Returns the command for the words of its name.
    fileprivate func command<Command>(
        _ words: ArraySlice<String>, _ settings: Schema.Settings
    ) -> Command? where Element == CommandCase<Command> {
        guard let name = words.first else { return nil }
        return first { $0.declaration.name == name }?.make(words.dropFirst(), settings)
    }
}

/// Builds the list of a program's commands.
@resultBuilder public enum CommandCaseBuilder<Command: Sendable>: Sendable {
    /// Joins the commands.
    public static func buildBlock(_ cases: CommandCase<Command>...) -> [CommandCase<Command>] { cases }
}
