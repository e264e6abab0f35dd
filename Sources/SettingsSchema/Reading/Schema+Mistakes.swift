internal import PropertyLists

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
        var formerKeys = Set(outer.flatMap(\.renamedFrom).map { EntryPath.Component($0) })
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
            for key in setting.renamedFrom where !formerKeys.insert(EntryPath.Component(key)).inserted {
                report(.duplicate("former key \(key)"), at: place.appending("RenamedFrom"))
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
