internal import Platform
internal import PropertyLists
public import SettingsSchema
internal import Synchronization

extension Schema {
    /// The settings of a program, with the values of its command line.
    ///
    ///     let settings = try schema.parseOrExit()
    ///     settings[.keep]
    ///
    /// The command line and the environment override stored values, which override the defaults of the schema. A stored
    /// value that violates its rule is ignored.
    public struct Settings: Sendable {
        /// The schema of the settings.
        public let schema: Schema
        /// The domain, for transactions, observation, and other uses.
        public let defaults: Defaults
        /// The selected subcommand.
        public let command: String?
        /// The operands that no setting takes, or those of the setting that takes the remaining ones.
        public let operands: [String]
        /// Notes about the command line for the user, such as a deprecated flag.
        public let notes: [String]

        /// The value in force. Setting it stores the user's value.
        public subscript<Value>(setting: Setting<Value>) -> Value {
            get { defaults[setting] }
            nonmutating set { defaults[setting] = newValue }
        }

        /// Returns the value in force. Throws if it is not of the setting's type.
        public func value<Value>(of setting: Setting<Value>) throws -> Value { try defaults.value(of: setting) }

        /// Returns the origin of the value in force, or nil for the setting's own default.
        public func origin<Value>(of setting: Setting<Value>) -> Origin? { defaults.origin(of: setting) }
    }
}

extension Schema {
    /// The reason parsing a command line ends without settings.
    @nonexhaustive
    public enum EarlyExit: Error, Hashable, Sendable {
        /// Help was requested, with this text.
        case help(String)
        /// The version was requested, with this text.
        case version(String)
        /// The command line has only saved or removed settings, which this sentence describes.
        case stored(String)
        /// The command line has errors, in this order.
        case mistakes([Arguments.Mistake])
    }
}

extension Schema.EarlyExit: CustomStringConvertible {
    public var description: String {
        switch self {
        case .help(let text), .version(let text), .stored(let text): text
        case .mistakes(let mistakes): mistakes.map(\.description).joined(separator: "\n")
        }
    }
}

extension Schema {
    /// Parses the command line of the running program, including its name, and opens its settings.
    ///
    /// If help or the version is requested, prints it and exits. If the command line only saves or removes settings,
    /// prints which ones and exits. If it has errors, prints all of them and exits with status 2. Any other error is
    /// printed too, and the status is 1.
    ///
    /// Throws only if standard output or standard error cannot be written.
    public func parseOrExit(
        _ arguments: [String] = CommandLine.arguments, in store: Store = .native
    ) throws -> Settings {
        let terminal = store.shared.system.terminal
        let program = Self.programName(arguments, store.shared.system)
        func lines(_ text: String) -> String {
            text.split(separator: "\n").map { "\(program): \($0)".shown + "\n" }.joined()
        }
        do {
            let settings = try parse(arguments, in: store)
            try terminal.write(settings.notes.map(lines).joined(), to: .errors)
            return settings
        } catch let exit as EarlyExit {
            switch exit {
            case .help(let text), .version(let text):
                try terminal.write(text)
                try terminal.exit(0)
            case .stored(let text):
                try terminal.write(lines(text), to: .errors)
                try terminal.exit(0)
            case .mistakes(let mistakes):
                let help = hint(after: mistakes, program: program).shown + "\n"
                try terminal.write(mistakes.map { lines("\($0)") }.joined() + help, to: .errors)
                try terminal.exit(2)
            }
        } catch {
            try terminal.write(lines("\(error)"), to: .errors)
            try terminal.exit(1)
        }
    }

    /// Parses a command line, including the name of the program, and opens its settings. Throws a `Schema.EarlyExit` if
    /// the command line asks for help or the version, or has errors, and a `StoreFailure` if the settings cannot be
    /// migrated or stored.
    ///
    /// Settings that were stored by an earlier version of the schema are migrated first.
    public func parse(
        _ arguments: [String] = CommandLine.arguments, in store: Store = .native
    ) throws -> Settings {
        let parsing = try CommandLineParsing(self, arguments, store)
        return try parsing.settings()
    }

    fileprivate static func programName(_ arguments: [String], _ system: SystemServices) -> String {
        let name = arguments.first?.split(separator: "/").last.map(String.init) ?? ""
        return name.isEmpty ? system.program : name
    }
}

/// The parsing of a command line.
private struct CommandLineParsing {
    let schema: Schema
    let name: DomainName
    let program: String
    let words: [String]
    let store: Store

    var shared: SharedStore { store.shared }
    var system: SystemServices { store.shared.system }

    init(_ schema: Schema, _ arguments: [String], _ store: Store) throws {
        if Schema.checksDeclarations { try schema.validate() }
        (self.schema, self.store) = (schema, store)
        name = try DomainName(schema.domain)
        program = Schema.programName(arguments, store.shared.system)
        words = Array(arguments.dropFirst())
    }

    func settings() throws -> Schema.Settings {
        let (outcome, configuration) = layers(.init()).arguments(words, of: schema, on: system, reading: read)
        switch outcome {
        case .help(let request): throw Schema.EarlyExit.help(help(request))
        case .version: throw Schema.EarlyExit.version(schema.versionText(program: program))
        case .mistakes(let mistakes): throw Schema.EarlyExit.mistakes(mistakes)
        case .storing(let arguments):
            try DomainMigration(schema, name).run(in: store)
            throw Schema.EarlyExit.stored(try stored(arguments))
        case .values(let arguments):
            try DomainMigration(schema, name).run(in: store)
            return try settings(arguments, configuration)
        }
    }

    /// The values become visible to the whole process in the last step, because all others can fail.
    private func settings(_ arguments: Schema.Arguments, _ configuration: LayerSource?) throws -> Schema.Settings {
        let values = EffectiveSchema.ProgramValues(arguments, configuration)
        let layers = layers(values)
        let declared = schema.settings(of: arguments.command)
        let found = PropertyList.Dictionary(
            declared.compactMap { setting in layers[setting.key].winner?.value.map { (setting.key, $0) } })
        var mistakes = schema.pathMistakes(in: found, of: arguments.command, on: system.fileSystem)
        let saved = arguments.saves ? schema.valuesToSave(arguments.values, of: arguments.command) : [:]
        mistakes += mistakesInSecrets(of: saved)
        guard mistakes.isEmpty else { throw Schema.EarlyExit.mistakes(mistakes) }
        let overridden = declared.filter { setting in
            arguments.values[setting.key] != nil && layers[setting.key].winner?.origin.layer == .forced
        }
        let defaults = Defaults(name, in: store)
        try save(saved, of: arguments.command, in: defaults, layers)
        shared.schemas.declare(EffectiveSchema(schema, program: values), for: name)
        shared.context.publishChange()
        let newer = schema.newerVersion(in: layers.layers)
        return Schema.Settings(
            schema: schema, defaults: defaults, command: arguments.command, operands: arguments.operands,
            notes: (newer.map { ["\($0)"] } ?? []) + arguments.notes.map(\.description)
                + overridden.map(\.noteOfForcedValue) + layers.notesOnHidden(saved, of: arguments.command))
    }

    /// Saves the values of flags and removes stored ones, and returns a sentence about that.
    private func stored(_ arguments: Schema.Arguments) throws -> String {
        let layers = layers(.init(arguments, nil))
        let saved = arguments.saves ? schema.valuesToSave(arguments.values, of: arguments.command) : [:]
        let mistakes =
            schema.pathMistakes(in: arguments.values, of: arguments.command, on: system.fileSystem)
            + mistakesInSecrets(of: saved)
        guard mistakes.isEmpty else { throw Schema.EarlyExit.mistakes(mistakes) }
        let keys = arguments.reset.map { schema.storedKeys(of: $0) } ?? []
        let others = keys + schema.keysExcluded(by: saved, of: arguments.command)
        let removed = layers.layers.keysOfUser(others, of: schema)
        let stored = try save(saved, of: arguments.command, removing: removed, in: Defaults(name, in: store), layers)
        return schema.report(saved: stored, removed: removed, of: arguments.reset)
    }

    private func mistakesInSecrets(of saved: PropertyList.Dictionary) -> [Schema.Arguments.Mistake] {
        let key = shared.keyOfUnprotectedSecret(in: saved, of: schema, name)
        return key.map { [.init(.unprotectedSecret($0), at: "--save")] } ?? []
    }

    /// Saves values by stored key, removes others, and returns the values as they are stored. Throws if a value is
    /// forced.
    @discardableResult
    private func save(
        _ values: PropertyList.Dictionary, of command: String?, removing others: [String] = [], in defaults: Defaults,
        _ layers: LayerStack
    ) throws -> PropertyList.Dictionary {
        let forced = schema.settings(of: command).first { setting in
            values[setting.storedKey] != nil && layers[setting.key].winner?.origin.layer == .forced
        }
        if let forced { throw StoreFailure(.forced, "\(name) \(forced.key.shown)") }
        let stored = schema.anchored(values, in: system.workingFolder?.description)
        let removed = others + schema.keysExcluded(by: values, of: command)
        if !stored.isEmpty || !removed.isEmpty { try defaults.save(stored, removing: removed, by: schema) }
        return stored
    }

    /// Returns the layers of the domain with the values of a command line, and with migrated stored values.
    private func layers(_ values: EffectiveSchema.ProgramValues) -> LayerStack {
        shared.layers(of: name, EffectiveSchema(schema, program: values)).migrated()
    }

    /// Reads the file of the configuration.
    @Sendable private func read(_ file: DomainFile) throws(StoreFailure) -> LayerSource {
        LayerSource(.file, try shared.configuration(file))
    }

    private func help(_ request: Schema.Arguments.HelpRequest) -> String {
        var layers = request.showsValues ? layers(.init(asking: request)) : nil
        layers = (try? layers?.withConfiguration(of: request.given, on: system, by: read)) ?? layers
        let secrecy = layers.map { _ in shared.schemas.secrecy(of: name) } ?? .none
        let width = system.environment.columns ?? system.terminal.width(of: .output) ?? 80
        return schema.helpText(
            program: program, command: request.command, width: width, values: layers?.shownValues(secrecy),
            displaced: layers?.displacedValues(secrecy) ?? [:], given: secrecy.masked(request.given.values))
    }
}
