internal import PropertyLists

/// Builds a schema from a list of settings and commands.
@resultBuilder public enum SchemaBuilder: Sendable {
    /// Adds a setting.
    public static func buildExpression(_ setting: Setting<some Codable & Sendable>) -> Schema.Part {
        Schema.Part(settings: [setting.declaration])
    }

    /// Adds a command.
    public static func buildExpression(_ command: Schema.Command) -> Schema.Part { Schema.Part(commands: [command]) }

    /// Adds the settings of a list.
    public static func buildExpression<Keys: SettingKeys>(_ keys: Keys.Type) -> Schema.Part {
        let declared = Mirror(reflecting: keys.init()).children.compactMap { $0.value as? any DeclaredSetting }
        return Schema.Part(settings: declared.map(\.declaration))
    }

    /// Adds a part that is declared elsewhere, such as one in a scope.
    public static func buildExpression(_ part: Schema.Part) -> Schema.Part { part }

    /// Joins the parts of a block.
    public static func buildBlock(_ parts: Schema.Part...) -> Schema.Part { Schema.Part(parts) }
    /// Joins the parts of a loop.
    public static func buildArray(_ parts: [Schema.Part]) -> Schema.Part { Schema.Part(parts) }
    /// Adds the part of a condition without an alternative.
    public static func buildOptional(_ part: Schema.Part?) -> Schema.Part { part ?? Schema.Part() }
    /// Adds the first part of a condition.
    public static func buildEither(first part: Schema.Part) -> Schema.Part { part }
    /// Adds the alternative part of a condition.
    public static func buildEither(second part: Schema.Part) -> Schema.Part { part }
}

/// The settings of a program, a command or a library. Each is a stored property, so that none can be left out:
///
///     struct ServeKeys: SettingKeys {
///         let port = Setting("port", default: 80).range(1...65_535).flag("port", "p")
///         let root = Setting("root", default: ".").kind(.folder).positional()
///     }
///
/// A schema has the settings of `ServeKeys.self`, and `Settings<ServeKeys>` their values.
public protocol SettingKeys: Sendable {
    /// Creates the list.
    init()
}

/// A setting with any type of value.
private protocol DeclaredSetting { var declaration: SettingDeclaration { get } }

extension Setting: DeclaredSetting {}

extension Schema {
    /// A part of a schema, built by `SchemaBuilder`.
    public struct Part: Sendable {
        var settings: [SettingDeclaration] = []
        var commands: [Command] = []

        package init(settings: [SettingDeclaration] = [], commands: [Command] = []) {
            self.settings = settings
            self.commands = commands
        }

        init(_ parts: [Part]) {
            settings = parts.flatMap(\.settings)
            commands = parts.flatMap(\.commands)
        }
    }

    /// Declares the settings and commands of a domain.
    ///
    /// - Parameters:
    ///   - domain: The domain in which the settings are stored.
    ///   - title: A short description of the program.
    ///   - summary: A longer description, shown below the usage.
    ///   - version: The version of the settings. Increase it with each migration.
    ///   - parts: The settings and commands.
    public init(
        _ domain: String, title: String? = nil, summary: String? = nil, version: Int = 1,
        @SchemaBuilder _ parts: () -> Part = { SchemaBuilder.buildBlock() }
    ) {
        self.init(domain: domain, title: title, version: version)
        self.summary = summary
        refusesOperands = true
        let parts = parts()
        settings = parts.settings.map { $0.withVariableOfScope(in: domain) }
        commands = parts.commands
        assignScopes()
    }

    /// Returns settings as those of a part of the program, such as a library, which are stored in a dictionary.
    ///
    ///     Schema("com.example.service") {
    ///         Setting.port
    ///         Schema.scope("http") { Setting.timeout }
    ///     }
    ///
    /// The setting `timeout` is that of `:http:timeout`, of the flag `--http-timeout` and of the variable
    /// `SERVICE_HTTP_TIMEOUT`, which begins with the last part of the domain's name. `defaults.scoped("http")` returns
    /// the settings of this part alone. Flags of one letter are left out.
    ///
    /// - Parameters:
    ///   - name: The key of the dictionary.
    ///   - title: The heading under which help and forms show the settings; nil for the name.
    ///   - parts: The settings, and other scopes in this one.
    public static func scope(_ name: String, title: String? = nil, @SchemaBuilder _ parts: () -> Part) -> Part {
        var part = parts()
        for index in part.settings.indices { part.settings[index].enter(scope: name, title: title ?? name) }
        return part
    }

    /// Returns the schema with a migration from an earlier version of the settings.
    ///
    /// - Parameters:
    ///   - version: The version of the settings that are migrated.
    ///   - rename: The new keys by their old ones.
    ///   - remove: The keys to remove.
    ///   - convert: The new types of values by their keys.
    public func migrating(
        from version: Int, rename: [String: String] = [:], remove: [String] = [], convert: [String: ValueType] = [:]
    ) -> Schema {
        var migration = Migration(from: version)
        migration.renames = rename.sorted { $0.key < $1.key }.map { .init(old: $0.key, new: $0.value) }
        migration.removals = remove
        migration.conversions = convert.sorted { $0.key < $1.key }.map { .init(key: $0.key, type: $0.value) }
        return changed {
            $0.migrations.append(migration)
            $0.assignScopes()
        }
    }

    /// Returns the schema with more settings and commands.
    package func adding(_ part: Part) -> Schema {
        changed {
            $0.settings += part.settings.map { $0.withVariableOfScope(in: domain) }
            $0.commands += part.commands
            $0.assignScopes()
        }
    }

    /// Returns the schema with the settings of another one added. Its own settings override those of the other.
    public func extending(_ base: Schema) -> Schema {
        changed { $0.extends = [base.domain] }.resolvingExtensions { $0 == base.domain ? base : nil }.schema
    }
}

extension Schema.Command {
    /// Declares a command with its own settings and commands, if it has any.
    public init(
        _ name: String, title: String? = nil, summary: String? = nil,
        @SchemaBuilder _ parts: () -> Schema.Part = { SchemaBuilder.buildBlock() }
    ) {
        self.init(name)
        self.title = title
        self.summary = summary
        let parts = parts()
        settings = parts.settings
        commands = parts.commands
    }
}

extension SettingDeclaration {
    /// Makes this a setting of a scope, or of a scope in it.
    fileprivate mutating func enter(scope name: String, title: String) {
        let name = EntryPath.Component(name)
        let path = EntryPath([name] + (scopePath?.components ?? []))
        let prefix = name.text + "-"
        if scope == nil, flags.isEmpty, flagValues.isEmpty, !takesOperands { flags = [key.nameOfFlag] }
        scope = path.components.count == 1 ? name.text : path.description
        key = prefix + key
        flags = flags.map { prefix + $0 }
        flagValues = flagValues.compactMap { $0.inScope(prefix) }
        shorts = []
        (conflicts, requires) = (conflicts.map { prefix + $0 }, requires.map { prefix + $0 })
        defaultFrom = defaultFrom.map { prefix + $0 }
        for group in groups { self[group.number] = group.keys.map { prefix + $0 } }
        if group == nil { group = title }
    }

    /// Adds the variable of a setting in a scope.
    fileprivate func withVariableOfScope(in domain: String) -> SettingDeclaration {
        guard scope != nil, let variable = key.variable(in: domain), !environment.contains(variable) else {
            return self
        }
        var setting = self
        setting.environment.append(variable)
        return setting
    }
}

extension SettingDeclaration.FlagValue {
    /// Returns the flag of a scope; nil for a letter.
    fileprivate func inScope(_ prefix: String) -> Self? {
        guard let long else { return nil }
        var flag = Self(flag: "--" + prefix + long, value: value)
        (flag.title, flag.summary, flag.group) = (title, summary, group)
        (flag.isHidden, flag.deprecated) = (isHidden, deprecated)
        return flag
    }
}

// MARK: The whole program

extension Schema {
    /// Sets the version of the program that `--version` prints, and the letter of another flag for it.
    public func programVersion(_ version: String, flag: String? = nil) -> Schema {
        changed { ($0.programVersion, $0.versionShort) = (version, flag) }
    }

    /// Sets the allowed number of operands, such as `0...0` or `1...`. By default, only those are allowed that settings
    /// take.
    public func operands(_ count: some SettingBounds<Int>) -> Schema {
        changed { ($0.operands, $0.refusesOperands) = (count.ofOperands, false) }
    }

    /// Refuses undeclared operands, and repeated flags of arrays that do not repeat.
    public func strict() -> Schema { changed { $0.isStrict = true } }
    /// Refuses abbreviations of long flags.
    public func exact() -> Schema { changed { $0.isExact = true } }
    /// Sets whether flags are recognized after operands.
    public func interleaved(_ isInterleaved: Bool) -> Schema { changed { $0.isInterleaved = isInterleaved } }
    /// Refuses to store keys that are not declared.
    public func closed() -> Schema {
        changed {
            $0.isClosed = true
            $0.assignScopes()
        }
    }

    /// Sets the command that is used if the first operand is not one.
    public func defaultCommand(_ name: String) -> Schema { changed { $0.defaultCommand = name } }
    /// Adds lines of examples to the help.
    public func examples(_ lines: String...) -> Schema { changed { $0.examples += lines } }
    /// Sets the text at the end of the help.
    public func epilogue(_ text: String) -> Schema { changed { $0.epilogue = text } }

    private func changed(_ change: (inout Schema) -> Void) -> Schema {
        var result = self
        change(&result)
        return result
    }
}

// MARK: Commands

extension Schema.Command {
    /// Returns the command with more settings and commands.
    package func adding(_ part: Schema.Part) -> Schema.Command {
        changed {
            $0.settings += part.settings
            $0.commands += part.commands
        }
    }

    /// Adds other names of the command.
    public func aliases(_ names: String...) -> Schema.Command { changed { $0.aliases += names } }
    /// Sets the heading under which the help lists the command.
    public func group(_ group: String) -> Schema.Command { changed { $0.group = group } }
    /// Sets whether the command, and those in it, share their values with other commands that have the same keys. By
    /// default, values are shared unless the declarations differ.
    public func store(_ store: Store) -> Schema.Command { changed { $0.store = store } }
    /// Excludes the command from help and completions.
    public func hidden() -> Schema.Command { changed { $0.isHidden = true } }
    /// Sets the allowed number of operands, such as `0...0` or `1...`.
    public func operands(_ count: some SettingBounds<Int>) -> Schema.Command {
        changed { $0.operands = count.ofOperands }
    }

    /// Sets the command within this one that is used if the next operand is not one.
    public func defaultCommand(_ name: String) -> Schema.Command { changed { $0.defaultCommand = name } }
    /// Adds lines of examples to the help of the command.
    public func examples(_ lines: String...) -> Schema.Command { changed { $0.examples += lines } }
    /// Sets the text at the end of the help of the command.
    public func epilogue(_ text: String) -> Schema.Command { changed { $0.epilogue = text } }

    private func changed(_ change: (inout Schema.Command) -> Void) -> Schema.Command {
        var result = self
        change(&result)
        return result
    }
}

extension SettingBounds<Int> {
    /// The range without negative numbers.
    fileprivate var ofOperands: ClosedRange<Int> {
        let least = Swift.max(0, lowerEnd ?? 0)
        return least...Swift.max(least, upperEnd ?? .max)
    }
}
