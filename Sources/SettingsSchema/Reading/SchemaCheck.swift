internal import PropertyLists
internal import Queries

extension Schema {
    /// The errors of a schema declared in Swift. Schemas read from data are checked when they are read.
    public var mistakes: [Mistake] {
        mistakes(inheriting: self).map { mistake in
            var named = mistake
            named.declaration = declaration(at: mistake.path)
            return named
        }
    }

    /// The settings and commands in which a path of an error is, as a program declares them; nil if there are none.
    private func declaration(at path: EntryPath) -> String? {
        var (names, rest, level) = ([String](), path.components[...], (settings, commands))
        while rest.count > 1, let index = rest.dropFirst().first?.index {
            if rest.first == "Settings", level.0.indices.contains(index) {
                names.append("Setting(\(level.0[index].key.debugDescription))")
                break
            }
            guard rest.first == "Commands", level.1.indices.contains(index) else { break }
            names.append("Schema.Command(\(level.1[index].name.debugDescription))")
            level = (level.1[index].settings, level.1[index].commands)
            rest = rest.dropFirst(2)
        }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

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
    package func mistakes(
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
        check.checkScopes(of: self)
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

    /// Whether the maximum number of errors has been reached.
    private var isFull: Bool { mistakes.count >= Schema.maximumDiagnostics }

    mutating func report(_ reason: Schema.Mistake.Reason, at path: EntryPath) {
        guard !isFull else { return }
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
        _ commands: [Schema.Command], _ defaultCommand: String?, at path: EntryPath, outer: [SettingDeclaration]
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
        guard let defaultCommand, !commands.contains(where: { $0.name.hasSameBytes(as: defaultCommand) }) else {
            return
        }
        let nearest = commands.map(\.name).nearest(to: defaultCommand)
        report(.unknownName(defaultCommand, nearest: nearest), at: path.appending("DefaultCommand"))
    }

    /// Checks that no key is also the dictionary of a command's values.
    mutating func checkScopes(of own: Schema) {
        let clashes = whole.scopeClashes
        guard !clashes.isEmpty else { return }
        var lists: [(path: EntryPath, settings: [SettingDeclaration])] = [(EntryPath(), own.settings)]
        func add(_ commands: [Schema.Command], at path: EntryPath) {
            for (index, command) in commands.enumerated() {
                let place = path.appending("Commands").appending(EntryPath.Component(index))
                lists.append((place, command.settings))
                add(command.commands, at: place)
            }
        }
        add(own.commands, at: EntryPath())
        for (path, settings) in lists {
            for (index, setting) in settings.enumerated() where clashes.contains(exactly: setting.key) {
                let place = path.appending("Settings").appending(EntryPath.Component(index)).appending("Key")
                report(.duplicate("key \(setting.key), which holds values of a command or scope"), at: place)
            }
        }
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
        let known = Set(keys.map { EntryPath.Component($0) })
        for (index, setting) in settings.enumerated() {
            let place = path.appending(EntryPath.Component(index))
            checkRule(setting.rule, at: place)
            checkSetting(setting, at: place)
            checkReferences(setting, to: keys, known, at: place)
            if setting.defaultFrom != nil { checkDefaultSource(of: setting, in: outer + settings, at: place) }
        }
        checkConfiguration(settings, at: path, outer: outer)
        checkClashes(settings, with: outer, at: path)
        checkOperands(settings, at: path, outer: outer)
        checkVariables(settings, at: path, outer: outer)
    }

    /// Checks that at most one setting names the file of the configuration.
    private mutating func checkConfiguration(
        _ settings: [SettingDeclaration], at path: EntryPath, outer: [SettingDeclaration]
    ) {
        var other = outer.first(where: \.isConfiguration)
        for (index, setting) in settings.enumerated() where setting.isConfiguration {
            if let other {
                report(
                    .contradicts("that of \(other.key)"),
                    at: path.appending(EntryPath.Component(index)).appending("Configuration"))
            }
            other = setting
        }
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
        var keys = Set(outer.map { Name($0.key) })
        var flags = Set(outer.flatMap { $0.allFlags + $0.flagValues.compactMap(\.long) })
        var shorts = Set(outer.flatMap(\.allShorts))
        var variables = Set(outer.flatMap(\.allVariables))
        var formerKeys = Set(outer.flatMap { $0.storedPaths.dropFirst() })
        for (index, setting) in settings.enumerated() {
            let place = path.appending(EntryPath.Component(index))
            if !keys.insert(Name(setting.key)).inserted {
                report(.duplicate("key \(setting.key)"), at: place.appending("Key"))
            }
            for flag in setting.allFlags where !flags.insert(flag).inserted {
                report(.duplicate("flag --\(flag)"), at: place.appending("Flag"))
            }
            for short in setting.shorts where !shorts.insert(short).inserted {
                report(.duplicate("flag -\(short)"), at: place.appending("Short"))
            }
            for value in setting.flagValues {
                let isNew = value.long.map { flags.insert($0) }?.inserted ?? shorts.insert(value.short ?? "").inserted
                let part = place.appending("Values").appending(EntryPath.Component(value.flag))
                if !isNew { report(.duplicate("flag \(value.flag)"), at: part) }
            }
            for former in setting.storedPaths.dropFirst() where !formerKeys.insert(former).inserted {
                let key = former.components.last?.text ?? ""
                report(.duplicate("former key \(key)"), at: place.appending("RenamedFrom"))
            }
            for variable in setting.environment where !variables.insert(variable).inserted {
                report(.duplicate("variable \(variable)"), at: place.appending("Environment"))
            }
            for value in setting.flagValues {
                let part = place.appending("Values").appending(EntryPath.Component(value.flag)).appending("Environment")
                for variable in value.environment where !variables.insert(variable).inserted {
                    report(.duplicate("variable \(variable)"), at: part)
                }
            }
        }
    }
}

extension SchemaCheck {
    /// Checks that the keys to which a setting refers are declared.
    ///
    /// - Parameter known: The keys as a set.
    private mutating func checkReferences(
        _ setting: SettingDeclaration, to keys: [String], _ known: Set<EntryPath.Component>, at path: EntryPath
    ) {
        let lists: [(EntryPath.Component, [String])] = [
            ("Conflicts", setting.conflicts), ("Requires", setting.requires),
        ]
        let groups = setting.groups.map { (EntryPath.Component($0.number.rawValue), $0.keys) }
        let sources = setting.defaultFrom.map { [(EntryPath.Component("DefaultFrom"), [$0])] } ?? []
        for (name, named) in lists + groups + sources {
            for key in named where !known.contains(EntryPath.Component(key)) {
                let nearest = mistakes.count < Schema.maximumSuggestions ? keys.nearest(to: key) : nil
                report(.unknownKey(key, nearest: nearest), at: path.appending(name))
            }
            let isAlone = named.allSatisfy { $0.hasSameBytes(as: setting.key) }
            if !groups.contains(where: { $0.0 == name }) || isAlone,
                named.contains(where: { $0.hasSameBytes(as: setting.key) })
            {
                report(.contradicts("itself"), at: path.appending(name))
            }
        }
        for old in setting.renamedFrom where setting.scope == nil && known.contains(EntryPath.Component(old)) {
            report(.duplicate("key \(old)"), at: path.appending("RenamedFrom"))
        }
    }

    /// Checks that the value of another setting can be the default of this one.
    private mutating func checkDefaultSource(
        of setting: SettingDeclaration, in settings: [SettingDeclaration], at path: EntryPath
    ) {
        let place = path.appending("DefaultFrom")
        let facts: [(name: String, isPresent: Bool)] = [
            ("Default", setting.defaultValue != nil), ("Sensitive", setting.hasSecrets), ("Rest", setting.takesRest),
            ("Configuration", setting.isConfiguration),
        ]
        for (name, isPresent) in facts where isPresent { report(.contradicts(name), at: place) }
        if setting.rule.type == .dictionary { report(.doesNotApply(type: setting.rule.type.noun), at: place) }
        var keys = [setting.key]
        var next = setting.defaultFrom.flatMap(settings.declaration)
        if let source = next, !setting.rule.allowsValues(of: source.rule) || source.hasSecrets {
            report(.wrongValue(expected: "a key with the same type and rules, and not a secret"), at: place)
        }
        while let source = next, !keys.contains(exactly: source.key) {
            keys.append(source.key)
            next = source.defaultFrom.flatMap(settings.declaration)
        }
        // A cycle is reported once, and a setting of itself as a reference.
        let isFirst = settings.first { keys.contains(exactly: $0.key) }?.key.hasSameBytes(as: setting.key) ?? false
        if keys.count > 1, isFirst, next?.key.hasSameBytes(as: setting.key) ?? false {
            report(.contradicts("that of \(keys[1])"), at: place)
        }
    }

    /// Checks that operands are unambiguous: positions are distinct, and at most one setting takes any number of
    /// operands.
    mutating func checkOperands(_ settings: [SettingDeclaration], at path: EntryPath, outer: [SettingDeclaration]) {
        // A set of a further type would take a twentieth of the time of a script's call.
        var positions = outer.compactMap(\.positional)
        var isTaken = outer.contains { $0.takesManyOperands }
        for (index, setting) in settings.enumerated() {
            let place = path.appending(EntryPath.Component(index))
            if let position = setting.positional {
                if positions.contains(position) {
                    report(.duplicate("position \(position)"), at: place.appending("Positional"))
                } else {
                    positions.append(position)
                }
            }
            guard setting.takesManyOperands else { continue }
            if isTaken {
                let attribute: EntryPath.Component = setting.takesRest ? "Rest" : "Positional"
                report(
                    .contradicts("another setting that takes any number of operands"), at: place.appending(attribute))
            }
            isTaken = true
        }
        var former = 0
        for position in positions.sorted() where position > 0 {
            if position - 1 > former, let index = settings.firstIndex(where: { $0.positional == position }) {
                let place = path.appending(EntryPath.Component(index)).appending("Positional")
                warn(.missingPosition(former + 1), at: place)
            }
            former = position
        }
    }

    /// Checks that a number of operands has an effect: where settings take operands, their positions are the limit.
    mutating func checkOperandCount(_ range: ClosedRange<Int>?, of settings: [SettingDeclaration], at path: EntryPath) {
        guard let range, range.upperBound < .max, settings.contains(where: \.takesOperands) else { return }
        warn(.noEffect(beside: "the declared operands"), at: path)
    }

    /// Checks that no two keys become one shell variable, and that none becomes a reserved one.
    ///
    /// Programs in Swift have no such variables, so that this is an error in scripts only.
    mutating func checkVariables(_ settings: [SettingDeclaration], at path: EntryPath, outer: [SettingDeclaration]) {
        let isScript = source != .file
        guard warns, isScript || whole.hasCommandLine else { return }
        var keys = PropertyList.Dictionary(
            outer.map { (ShellName.variable(for: $0.key, prefix: ""), .string($0.key)) })
        for (index, setting) in settings.enumerated() where !setting.key.isEmpty {
            let name = ShellName.variable(for: setting.key, prefix: "")
            var reason: Schema.Mistake.Reason?
            if let other = keys[name]?.stringValue {
                if !other.hasSameBytes(as: setting.key) { reason = .sameVariable(name, as: other) }
            } else if ShellName.isReserved(name, in: shell) || (name == "command" && !whole.commands.isEmpty) {
                reason = .takenVariable(name)
            }
            keys[name] = keys[name] ?? .string(setting.key)
            guard let reason else { continue }
            let place = path.appending(EntryPath.Component(index)).appending("Key")
            if isScript { report(reason, at: place) } else { warn(reason, at: place) }
        }
        let lists = outer.orderedLists.map { ShellName.variable(for: $0, prefix: "") }
        for (index, setting) in settings.enumerated() {
            let variable = ShellName.variable(for: setting.key, prefix: "")
            if lists.contains(exactly: variable) {
                let place = path.appending(EntryPath.Component(index)).appending("Key")
                report(.duplicate("variable \(variable)"), at: place)
            }
            guard let list = setting.ordered else { continue }
            let name = ShellName.variable(for: list, prefix: "")
            let place = path.appending(EntryPath.Component(index)).appending("Ordered")
            if let other = keys[name]?.stringValue {
                report(.sameVariable(name, as: other), at: place)
            } else if ShellName.isReserved(name, in: shell) || name == "command" && !whole.commands.isEmpty {
                report(.takenVariable(name), at: place)
            }
        }
    }

    mutating func checkMigrations(_ migrations: [Schema.Migration], version: Int) {
        for (index, migration) in migrations.enumerated() {
            let path: EntryPath = ["Migrations", EntryPath.Component(index), "From"]
            if migration.from >= version { report(.unreachableVersion(migration.from), at: path) }
            if migrations[..<index].contains(where: { $0.from == migration.from }) {
                report(.duplicate("version \(migration.from)"), at: path)
            }
        }
    }
}

extension Schema {
    /// Whether the settings have flags, operands or commands, as those of a script.
    fileprivate var hasCommandLine: Bool {
        !commands.isEmpty || settings.contains { !$0.flags.isEmpty || !$0.shorts.isEmpty || $0.takesOperands }
    }

    /// Whether the declarations make parsing ambiguous: a doubled flag, a position taken twice, bounds that exclude
    /// every value, or an invalid pattern. Every start of a script asks this.
    package var isContradictory: Bool {
        if settings.areContradictory(common: commonFlags) || !scopeClashes.isEmpty { return true }
        return allCommands.contains { settings(of: $0.name).areContradictory(common: commonFlags) }
    }
}

extension [SettingDeclaration] {
    fileprivate func areContradictory(common: [CommonFlag]) -> Bool {
        if FlagTable(self, common: common).hasClash { return true }
        var last: Int?
        for setting in positionals {
            if setting.positional == last { return true }
            last = setting.positional
        }
        return contains { $0.rule.isContradictory }
    }
}

extension ValueRule {
    fileprivate var isContradictory: Bool {
        !reversedBounds.isEmpty || pattern?.failure != nil || element?.isContradictory ?? false
    }
}
