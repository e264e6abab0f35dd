public import PropertyLists

extension Schema {
    /// An error in a schema, with its entry path and its location in the text.
    public struct Mistake: Error, Hashable, Sendable {
        /// The path of the entry within the schema.
        public let path: EntryPath
        /// The reason for the error.
        public let reason: Reason
        /// The line and column; nil if the schema was not read from text.
        public internal(set) var location: TextLocation?
        /// Whether this is a warning: the schema can be used, but probably does not mean what its author intended.
        package internal(set) var isWarning = false

        package init(_ reason: Reason, at path: EntryPath) {
            self.path = path
            self.reason = reason
        }
    }

    /// All errors of a schema.
    public struct Mistakes: Error, Hashable, Sendable {
        /// The individual errors.
        public let all: [Mistake]

        package init(_ all: [Mistake]) { self.all = all }
    }
}

extension Schema.Mistake {
    /// The kinds of errors. Programs that switch over them must handle future cases.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The data is not a property list.
        case notAPropertyList(DecodingFailure.Problem)
        /// An attribute that schemas do not have. `nearest` is the attribute with the most similar name.
        case unknownAttribute(String, nearest: String?)
        /// The named attribute is required and missing.
        case missingAttribute(String)
        /// An attribute whose value has the wrong type.
        case wrongValue(expected: String)
        /// The name is not among those that the attribute accepts.
        case unknownName(String, nearest: String?)
        /// The attribute does not apply to settings of this type.
        case doesNotApply(type: String)
        /// A minimum that exceeds the named maximum.
        case minimumAboveMaximum(String)
        /// A default or a choice breaks the setting's own rule.
        case refused(Schema.Problem.Reason)
        /// A pattern that cannot be compiled. The string is the reason.
        case pattern(String)
        /// A predicate, path or key of a query that cannot be compiled. The string is the reason.
        case query(String)
        /// A key, flag, variable, position or command that is already declared.
        case duplicate(String)
        /// A key, flag or variable that is reserved.
        case reserved(String)
        /// A name that a setting, flag, variable or command cannot have.
        case invalidName(String)
        /// A reference to an undeclared key.
        case unknownKey(String, nearest: String?)
        /// An attribute that cannot be combined with another.
        case contradicts(String)
        /// The schema extends itself through these domains.
        case cycle([String])
        /// The schema that this one extends cannot be found.
        case missingSchema(String)
        /// Rules are nested more deeply than the limit.
        case nestedTooDeeply(limit: Int)
        /// There are more settings, or extended schemas, than the limit.
        case tooMany(limit: Int)
        /// A migration that would never run.
        case unreachableVersion(Int)
        /// A line that does not have the one-line notation. The string is the reason.
        case syntax(String)
        /// A list without elements.
        case empty
        /// The attribute is allowed only in the head of a script.
        case notInHead
        /// The setting becomes the same shell variable as another key.
        case sameVariable(String, as: String)
        /// The setting becomes a variable that the shell, or `prefs args`, sets.
        case takenVariable(String)
        /// No setting has this position, although one has a later position.
        case missingPosition(Int)
        /// The attribute has no effect beside another.
        case noEffect(beside: String)
        /// A repeated flag replaces the earlier elements of an array.
        case lastWins(String)
        /// A part, such as a type, that a parser in POSIX shell does not have.
        case needsPrefs(String)
    }
}

extension Schema.Mistake.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAPropertyList(let problem): "\(problem)"
        case .unknownAttribute(let name, let nearest): "unknown attribute \(shortened(name))\(hint(nearest))"
        case .missingAttribute(let name): "\(name) is missing"
        case .wrongValue(let expected): "must be \(expected)"
        case .unknownName(let name, let nearest): "unknown name \(shortened(name))\(hint(nearest))"
        case .doesNotApply(let type): "does not apply to \(type)"
        case .minimumAboveMaximum(let name): "is above \(name)"
        case .refused(let reason): "\(reason)"
        case .pattern(let failure), .query(let failure): failure
        case .duplicate(let what): "duplicate \(shortened(what, to: 80))"
        case .reserved(let what): "\(shortened(what, to: 80)) is reserved"
        case .invalidName(let name): "invalid name \(shortened(name))"
        case .unknownKey(let key, let nearest): "unknown key \(shortened(key))\(hint(nearest))"
        case .contradicts(let other): "cannot be combined with \(other)"
        case .cycle(let domains):
            "a schema that extends itself: \(domains.map { shortened($0) }.joined(separator: " → "))"
        case .missingSchema(let domain): "there is no schema for \(shortened(domain))"
        case .nestedTooDeeply(let limit): "rules nested more than \(limit) deep"
        case .tooMany(let limit): "more than \(limit)"
        case .unreachableVersion(let version): "the migration from version \(version) can never run"
        case .syntax(let problem): problem
        case .empty: "is empty"
        case .notInHead: "is allowed only in the head of a script"
        case .sameVariable(let name, let key):
            "becomes the shell variable \(shortened(name)), as \(shortened(key)) does"
        case .takenVariable(let name): "becomes the shell variable \(shortened(name)), which is reserved"
        case .missingPosition(let position): "no setting has position \(position)"
        case .noEffect(let other): "has no effect beside \(other)"
        case .needsPrefs(let part):
            "\(part.isEmpty ? "" : "\(part) ")needs prefs, which --build cannot inline"
        case .lastWins(let flag): "a second \(shortened(flag)) replaces the value of the first"
        }
    }
}

extension Schema.Mistake.Reason {
    /// How to fix the error, as the end of a sentence.
    package var fix: String? {
        switch self {
        case .notAPropertyList, .syntax, .pattern, .query, .needsPrefs: nil
        case .unknownAttribute(_, let nearest), .unknownName(_, let nearest), .unknownKey(_, let nearest):
            nearest == nil ? "remove it" : nil
        case .missingAttribute(let name): "add \(name)"
        case .wrongValue, .refused: "change the value"
        case .doesNotApply: "remove it, or change Type"
        case .minimumAboveMaximum(let name): "lower it, or raise \(name)"
        case .duplicate: "remove or rename one of them"
        case .reserved: "choose another name"
        case .invalidName: "use letters, digits, dashes and underscores"
        case .contradicts: "remove one of them"
        case .cycle: "remove one of the Extends"
        case .missingSchema: "install it, or put it next to this file"
        case .nestedTooDeeply: "declare fewer levels"
        case .tooMany: "declare fewer"
        case .unreachableVersion: "raise Version"
        case .empty: "add an element, or remove it"
        case .notInHead: "remove it, or move the declaration into the script"
        case .sameVariable: "rename one of them"
        case .takenVariable: "rename it, or call prefs args with --prefix"
        case .missingPosition: "number the positions without a gap"
        case .noEffect(let other): "remove it, or \(other)"
        case .lastWins: "add Repeats = YES or a Separator"
        }
    }
}

extension Schema.Mistake: CustomStringConvertible {
    /// The error with its location: `3:15: :Settings:0:Minimum: is above Maximum`.
    public var description: String {
        let place = location.map { "\($0.line):\($0.column): " } ?? ""
        return place + withoutPlace
    }

    /// The error with the attribute, but without the path of the setting or command.
    package var withAttribute: String {
        var rest = path.components[...]
        while rest.count > 1, rest.first == "Settings" || rest.first == "Commands" { rest = rest.dropFirst(2) }
        let attribute = rest.map(\.text).joined(separator: ":")
        return "\(attribute.isEmpty ? "" : "\(shortened(attribute, to: 200)): ")\(reason)"
    }

    /// How to fix the error.
    ///
    /// - Parameter hasLines: Whether the declaration has one line per option, which are not attributes.
    package func fix(inLines hasLines: Bool) -> String? {
        guard hasLines, case .missingAttribute(let name) = reason else { return reason.fix }
        return DeclarationLines.notation(of: name).map { "write \($0)" } ?? reason.fix
    }

    /// The error with its path, but without line and column.
    package var withoutPlace: String {
        "\(path.components.isEmpty ? "" : "\(shortened(path.description, to: 200)): ")\(reason)"
    }
}

extension Schema.Mistakes: CustomStringConvertible {
    public var description: String { all.map(\.description).joined(separator: "\n") }
}

extension Schema {
    /// The errors of a schema declared in Swift. Schemas read from data are checked when they are read.
    public var mistakes: [Mistake] { mistakes(inheriting: self) }

    /// Checks a schema declared in Swift as `prefs schema check` checks a file. Throws all its errors.
    ///
    /// In a debug build, parsing a command line calls this.
    public func validate() throws(Mistakes) {
        let mistakes = mistakes
        guard mistakes.isEmpty else { throw Mistakes(mistakes) }
    }

    /// Whether declarations in Swift are checked when they are used: in a debug build of this package.
    package static let checksDeclarations: Bool = {
        var checks = false
        assert(
            {
                checks = true
                return true
            }())
        return checks
    }()

    /// Returns the errors in this schema's own declarations, given the schema with all extensions resolved.
    func mistakes(
        inheriting whole: Schema, from source: Source = .file, for shell: ScriptOutput = .sh, warns: Bool = false
    ) -> [Mistake] {
        var check = SchemaCheck(whole: whole, source: source, shell: shell, warns: warns)
        check.checkDomain(domain)
        if let versionShort, !versionShort.isShortFlag {
            check.report(.invalidName(versionShort), at: ["VersionShort"])
        }
        check.checkSettings(settings, at: ["Settings"], outer: whole.inherited(beside: self))
        check.checkOperandCount(operands, of: whole.settings, at: ["Operands"])
        check.checkCommands(commands, defaultCommand, at: EntryPath(), outer: whole.settings)
        check.checkMigrations(migrations, version: version)
        check.checkQueries(queries, at: ["Queries"])
        return check.mistakes
    }

    /// Returns the settings from extended schemas.
    private func inherited(beside own: Schema) -> [SettingDeclaration] {
        let keys = Set(own.settings.map { EntryPath.Component($0.key) })
        return settings.filter { !keys.contains(EntryPath.Component($0.key)) }
    }
}

/// Collects the errors of a schema.
struct SchemaCheck {
    let whole: Schema
    let source: Schema.Source
    let shell: ScriptOutput
    /// Whether to report errors that earlier versions accepted, too.
    let warns: Bool
    private(set) var mistakes: [Schema.Mistake] = []

    init(whole: Schema, source: Schema.Source, shell: ScriptOutput, warns: Bool) {
        (self.whole, self.source, self.shell, self.warns) = (whole, source, shell, warns)
    }

    mutating func warn(_ reason: Schema.Mistake.Reason, at path: EntryPath) {
        guard warns else { return }
        var warning = Schema.Mistake(reason, at: path)
        warning.isWarning = true
        mistakes.append(warning)
    }

    mutating func report(_ reason: Schema.Mistake.Reason, at path: EntryPath) {
        guard mistakes.count < Schema.maximumDiagnostics else { return }
        mistakes.append(Schema.Mistake(reason, at: path))
    }

    mutating func checkDomain(_ domain: String) {
        guard !domain.isEmpty else { return }
        let isPlain = domain.unicodeScalars.allSatisfy { $0 != "/" && $0.value >= 0x20 && !(0x7F..<0xA0 ~= $0.value) }
        if !isPlain || domain.utf8.count > 180 || domain.hasPrefix(".") {
            report(.invalidName(domain), at: ["Domain"])
        }
    }

    /// Checks commands, the commands in them, and the default one.
    mutating func checkCommands(
        _ commands: [Schema.Command], _ preset: String?, at path: EntryPath, outer: [SettingDeclaration]
    ) {
        let list = path.appending("Commands")
        var names: Set<String> = []
        for (index, command) in commands.enumerated() {
            let place = list.appending(EntryPath.Component(index))
            for (attribute, name) in [("Name", command.name)] + command.aliases.map({ ("Aliases", $0) }) {
                let part = place.appending(EntryPath.Component(attribute))
                if !name.isFlagName { report(.invalidName(name), at: part) }
                if !names.insert(name).inserted { report(.duplicate("command \(name)"), at: part) }
            }
            checkSettings(command.settings, at: place.appending("Settings"), outer: outer)
            checkOperandCount(command.operands, of: outer + command.settings, at: place.appending("Operands"))
            checkCommands(command.commands, command.defaultCommand, at: place, outer: outer + command.settings)
        }
        guard let preset, !commands.contains(where: { $0.name.hasSameBytes(as: preset) }) else { return }
        let nearest = commands.map(\.name).nearest(to: preset)
        report(.unknownName(preset, nearest: nearest), at: path.appending("DefaultCommand"))
    }

    /// Compiles each query.
    mutating func checkQueries(_ queries: [QueryDeclaration], at path: EntryPath) {
        for (index, query) in queries.enumerated() {
            let place = path.appending(EntryPath.Component(index))
            if !query.name.isFlagName { report(.invalidName(query.name), at: place.appending("Name")) }
            for fault in query.faults {
                report(.query(fault.reason), at: place.appending(EntryPath.Component(fault.attribute)))
            }
        }
        checkUnique(queries.map(\.name), "query", at: path, "Name")
    }

    /// Checks each setting, and its conflicts with the others and with those of the whole program.
    mutating func checkSettings(_ settings: [SettingDeclaration], at path: EntryPath, outer: [SettingDeclaration]) {
        let keys = (outer + settings).map(\.key)
        for (index, setting) in settings.enumerated() {
            let place = path.appending(EntryPath.Component(index))
            checkRule(setting.rule, at: place)
            checkSetting(setting, at: place)
            checkReferences(setting, to: keys, at: place)
        }
        checkClashes(settings, with: outer, at: path)
        checkOperands(settings, at: path, outer: outer)
        checkVariables(settings, at: path, outer: outer)
    }

    /// Reports duplicate names.
    mutating func checkUnique(
        _ names: [String], _ what: String, at path: EntryPath, _ attribute: EntryPath.Component
    ) {
        var seen: Set<EntryPath.Component> = []
        for (index, name) in names.enumerated() where !seen.insert(EntryPath.Component(name)).inserted {
            report(.duplicate("\(what) \(name)"), at: path.appending(EntryPath.Component(index)).appending(attribute))
        }
    }

    private mutating func checkClashes(
        _ settings: [SettingDeclaration], with outer: [SettingDeclaration], at path: EntryPath
    ) {
        // Keys that compare as equal characters are rejected too, although a property list distinguishes their bytes.
        var keys = Set(outer.map(\.key))
        var flags = Set(outer.flatMap { $0.allFlags + $0.flagValues.compactMap(\.long) })
        var shorts = Set(outer.flatMap(\.allShorts))
        var variables = Set(outer.flatMap(\.environment))
        var formerKeys = outer.flatMap(\.renamedFrom).map { EntryPath.Component($0) }
        for (index, setting) in settings.enumerated() {
            let place = path.appending(EntryPath.Component(index))
            if !keys.insert(setting.key).inserted {
                report(.duplicate("key \(setting.key)"), at: place.appending("Key"))
            }
            for flag in setting.allFlags where !flags.insert(flag).inserted {
                report(.duplicate("flag --\(flag)"), at: place.appending("Flag"))
            }
            if let short = setting.short, !shorts.insert(short).inserted {
                report(.duplicate("flag -\(short)"), at: place.appending("Short"))
            }
            for value in setting.flagValues {
                let isNew = value.long.map { flags.insert($0) }?.inserted ?? shorts.insert(value.short ?? "").inserted
                let part = place.appending("Values").appending(EntryPath.Component(value.flag))
                if !isNew { report(.duplicate("flag \(value.flag)"), at: part) }
            }
            for key in setting.renamedFrom {
                let isDuplicate = formerKeys.contains(EntryPath.Component(key))
                if isDuplicate { report(.duplicate("former key \(key)"), at: place.appending("RenamedFrom")) }
                formerKeys.append(EntryPath.Component(key))
            }
            for variable in setting.environment where !variables.insert(variable).inserted {
                report(.duplicate("variable \(variable)"), at: place.appending("Environment"))
            }
        }
    }
}

extension SettingDeclaration {
    /// All long flags of this setting, without dashes.
    package var allFlags: [String] {
        if hasSecrets { return secretFlags.map(\.name) }
        return flags + (isNegatable ? flags.map { "no-\($0)" } : [])
    }
}
