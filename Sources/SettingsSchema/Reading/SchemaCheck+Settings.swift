internal import PropertyLists
internal import Queries

extension SchemaCheck {
    /// Checks that a rule's attributes apply to its type and agree with each other.
    mutating func checkRule(_ rule: ValueRule, at path: EntryPath) {
        for (name, isPresent, types) in rule.applications
        where isPresent && !types.contains(rule.type) && rule.type != .any {
            report(.doesNotApply(type: rule.type.noun), at: path.appending(EntryPath.Component(name)))
        }
        if let kind = rule.kind, !kind.types.contains(rule.type), rule.type != .any {
            report(.doesNotApply(type: rule.type.noun), at: path.appending("Kind"))
        }
        if rule.exists != nil, !(rule.kind?.isPath ?? false) {
            report(.doesNotApply(type: rule.kind?.noun ?? rule.type.noun), at: path.appending("Exists"))
        }
        if rule.separator == "" { report(.empty, at: path.appending("Separator")) }
        if rule.choicesFrom != nil, !rule.choices.isEmpty {
            report(.contradicts("Choices"), at: path.appending("ChoicesFrom"))
        }
        if let failure = rule.pattern?.failure { report(.pattern("\(failure)"), at: path.appending("Pattern")) }
        if let minimum = rule.minimum, let maximum = rule.maximum, rule.isReversed(minimum, maximum) {
            report(.minimumAboveMaximum("Maximum"), at: path.appending("Minimum"))
        }
        for (name, least, most) in [
            ("Length", rule.minimumLength, rule.maximumLength), ("Count", rule.minimumCount, rule.maximumCount),
        ] {
            guard let least, let most, least > most else { continue }
            report(.minimumAboveMaximum("Maximum\(name)"), at: path.appending(EntryPath.Component("Minimum\(name)")))
        }
        checkChoices(rule, at: path.appending("Choices"))
        checkContents(rule, at: path)
    }

    private mutating func checkChoices(_ rule: ValueRule, at path: EntryPath) {
        if !rule.choiceTitles.isEmpty, rule.choiceTitles.count != rule.choices.count {
            let titles = EntryPath(path.components.dropLast() + ["ChoiceTitles"])
            report(.wrongValue(expected: "one title for each of the Choices"), at: titles)
        }
        var plain = rule
        plain.choices = []
        var seen: Set<PropertyList> = []
        for (index, choice) in rule.choices.enumerated() {
            let place = path.appending(EntryPath.Component(index))
            if !seen.insert(choice).inserted { report(.duplicate("choice \(choice.shownText)"), at: place) }
            if let problem = plain.problems(with: choice).first { report(.refused(problem.reason), at: place) }
        }
    }

    private mutating func checkContents(_ rule: ValueRule, at path: EntryPath) {
        switch rule.contents {
        case .anything: break
        case .each(let inner): checkRule(inner, at: path.appending(rule.type == .array ? "Elements" : "Entries"))
        case .entries(let entries):
            let place = path.appending("Entries")
            for (index, entry) in entries.enumerated() {
                checkRule(entry.rule, at: place.appending(EntryPath.Component(index)))
                checkDefault(entry, at: place.appending(EntryPath.Component(index)))
            }
            checkUnique(entries.map(\.key), "key", at: place, "Key")
        }
    }

    private mutating func checkDefault(_ setting: SettingDeclaration, at path: EntryPath) {
        guard let value = setting.defaultValue else { return }
        for problem in setting.rule.problems(with: value).prefix(1) {
            report(.refused(problem.reason), at: path.appending("Default"))
        }
    }

    /// Checks the attributes of a setting other than its rule.
    mutating func checkSetting(_ setting: SettingDeclaration, at path: EntryPath) {
        if !setting.key.isKey { report(.invalidName(setting.key), at: path.appending("Key")) }
        checkDefault(setting, at: path)
        for flag in setting.flags {
            if !flag.isFlagName { report(.invalidName(flag), at: path.appending("Flag")) }
        }
        let common = whole.commonFlags.map(\.rawValue)
        for flag in setting.allFlags where common.contains(flag) {
            report(.reserved("--\(flag)"), at: path.appending("Flag"))
        }
        if let version = whole.versionShort, setting.allShorts.contains(version) {
            report(.reserved("-\(version)"), at: path.appending("Short"))
        }
        if let short = setting.short, !short.isShortFlag { report(.invalidName(short), at: path.appending("Short")) }
        for variable in setting.environment where !variable.isVariableName {
            report(.invalidName(variable), at: path.appending("Environment"))
        }
        checkBehaviour(setting, at: path)
        checkFlagValues(setting, at: path)
        if setting.isRequired, setting.defaultValue != nil {
            warn(.noEffect(beside: "Default"), at: path.appending("Required"))
        }
        if let flag = setting.flags.first, setting.rule.type == .array, !setting.repeats, !whole.isStrict,
            setting.rule.separator == nil
        {
            warn(.lastWins("--\(flag)"), at: path.appending("Flag"))
        }
    }

    /// Checks the flags that set a value, and the value of a flag without one.
    private mutating func checkFlagValues(_ setting: SettingDeclaration, at path: EntryPath) {
        var rule = setting.flagRule
        rule.choicesFrom = nil
        for flag in setting.flagValues {
            let place = path.appending("Values").appending(EntryPath.Component(flag.flag))
            if !(flag.long?.isFlagName ?? flag.short?.isShortFlag ?? false) {
                report(.invalidName(flag.flag), at: place)
            } else if flag.long.map({ CommonFlag(rawValue: $0) != nil }) ?? false {
                report(.reserved(flag.flag), at: place)
            }
            if let problem = rule.problems(with: flag.value).first { report(.refused(problem.reason), at: place) }
        }
        if setting.implied != nil, setting.isSwitch {
            report(.doesNotApply(type: setting.rule.type.noun), at: path.appending("Implied"))
        } else if let implied = setting.implied, let problem = rule.problems(with: implied).first {
            report(.refused(problem.reason), at: path.appending("Implied"))
        }
        if setting.isValueOptional, setting.implied == nil {
            report(.missingAttribute("Implied"), at: path.appending("ValueOptional"))
        }
        if setting.implied != nil, !setting.isValueOptional, !setting.isSwitch {
            report(.missingAttribute("ValueOptional"), at: path.appending("Implied"))
        }
        if setting.isSwitch, setting.isValueOptional {
            report(.doesNotApply(type: setting.rule.type.noun), at: path.appending("ValueOptional"))
        }
        if setting.passesUnknown, !setting.takesRest {
            report(.missingAttribute("Rest"), at: path.appending("PassUnknown"))
        }
    }

    private mutating func checkBehaviour(_ setting: SettingDeclaration, at path: EntryPath) {
        let type = setting.rule.type
        if setting.isNegatable, type != .boolean {
            report(.doesNotApply(type: type.noun), at: path.appending("Negatable"))
        }
        if setting.repeats, type != .array, type != .integer {
            report(.doesNotApply(type: type.noun), at: path.appending("Repeats"))
        }
        if setting.takesRest, type != .array { report(.doesNotApply(type: type.noun), at: path.appending("Rest")) }
        if setting.merges, type != .dictionary, type != .any {
            report(.doesNotApply(type: type.noun), at: path.appending("Merge"))
        }
        if setting.isSensitive, ![.string, .data, .any].contains(type) {
            report(.doesNotApply(type: type.noun), at: path.appending("Sensitive"))
        }
        if setting.hasSecrets {
            // On a command line, other users could read the secret.
            let others: [(EntryPath.Component, Bool)] = [
                ("Short", setting.short != nil), ("Positional", setting.positional != nil), ("Rest", setting.takesRest),
            ]
            for (name, isThere) in others where isThere { report(.contradicts("Sensitive"), at: path.appending(name)) }
            if !setting.flagValues.isEmpty { report(.contradicts("Sensitive"), at: path.appending("Values")) }
        }
        if warns, setting.isSensitive, let value = setting.defaultValue, !value.plainText.isEmpty {
            // Every reader of the schema could read the secret.
            report(.contradicts("Sensitive"), at: path.appending("Default"))
        }
        if setting.takesRest, setting.positional != nil {
            report(.contradicts("Positional"), at: path.appending("Rest"))
        }
        if setting.positional == 0 { report(.wrongValue(expected: "1 or more"), at: path.appending("Positional")) }
    }

    /// Checks that the keys a setting refers to are declared.
    mutating func checkReferences(_ setting: SettingDeclaration, to keys: [String], at path: EntryPath) {
        let lists: [(EntryPath.Component, [String])] = [
            ("Conflicts", setting.conflicts), ("Requires", setting.requires), ("ExactlyOneOf", setting.exactlyOneOf),
        ]
        for (name, named) in lists {
            for key in named where !keys.contains(where: { $0.hasSameBytes(as: key) }) {
                report(.unknownKey(key, nearest: keys.nearest(to: key)), at: path.appending(name))
            }
            if name != "ExactlyOneOf", named.contains(where: { $0.hasSameBytes(as: setting.key) }) {
                report(.contradicts("itself"), at: path.appending(name))
            }
        }
        for old in setting.renamedFrom where keys.contains(where: { $0.hasSameBytes(as: old) }) {
            report(.duplicate("key \(old)"), at: path.appending("RenamedFrom"))
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
        !commands.isEmpty || settings.contains { !$0.flags.isEmpty || $0.short != nil || $0.takesOperands }
    }

    /// Whether the declarations make parsing ambiguous: a doubled flag, a position taken twice, bounds that exclude
    /// every value, or an invalid pattern. Every start of a script asks this.
    package var isContradictory: Bool {
        if settings.areContradictory(common: commonFlags) { return true }
        return allCommands.contains { settings(of: $0.name).areContradictory(common: commonFlags) }
    }
}

extension [SettingDeclaration] {
    fileprivate func areContradictory(common: [CommonFlag]) -> Bool {
        if FlagTable(self, common: common).hasClash { return true }
        var last: Int?
        for setting in inPlaces {
            if setting.positional == last { return true }
            last = setting.positional
        }
        return contains { $0.rule.isContradictory }
    }
}

extension Schema {
    /// Removes the commands that list choices, and returns the keys of their settings.
    package mutating func removeChoiceCommands() -> [String] {
        var keys: [String] = []
        settings.removeChoiceCommands(&keys)
        Self.removeChoiceCommands(in: &commands, &keys)
        return keys
    }

    private static func removeChoiceCommands(in commands: inout [Command], _ keys: inout [String]) {
        for index in commands.indices {
            commands[index].settings.removeChoiceCommands(&keys)
            removeChoiceCommands(in: &commands[index].commands, &keys)
        }
    }
}

extension [SettingDeclaration] {
    fileprivate mutating func removeChoiceCommands(_ keys: inout [String]) {
        for index in indices where self[index].rule.removeChoiceCommand() { keys.append(self[index].key) }
    }
}

extension ValueRule {
    /// Returns whether there was one.
    fileprivate mutating func removeChoiceCommand() -> Bool {
        var isRemoved = choicesFrom != nil
        choicesFrom = nil
        switch contents {
        case .anything: break
        case .each(var rule):
            isRemoved = rule.removeChoiceCommand() || isRemoved
            contents = .each(rule)
        case .entries(var entries):
            for index in entries.indices { isRemoved = entries[index].rule.removeChoiceCommand() || isRemoved }
            contents = .entries(entries)
        }
        return isRemoved
    }
}

extension ValueRule {
    fileprivate var isContradictory: Bool {
        if let least = minimumLength, let most = maximumLength, least > most { return true }
        if let least = minimumCount, let most = maximumCount, least > most { return true }
        if let minimum, let maximum, isReversed(minimum, maximum) { return true }
        return pattern?.failure != nil || (element?.isContradictory ?? false)
    }
}

extension SettingDeclaration {
    /// Whether this setting takes any number of operands.
    package var takesManyOperands: Bool { takesRest || (positional != nil && rule.type == .array) }
}

extension ValueRule {
    /// Each attribute with whether it is present, and the types that it applies to.
    fileprivate var applications: [(name: String, isPresent: Bool, types: [ValueType])] {
        [
            ("Minimum", minimum != nil, [.integer, .real, .date]),
            ("Maximum", maximum != nil, [.integer, .real, .date]),
            ("MinimumLength", minimumLength != nil, [.string, .data]),
            ("MaximumLength", maximumLength != nil, [.string, .data]),
            ("MinimumCount", minimumCount != nil, [.array, .dictionary]),
            ("MaximumCount", maximumCount != nil, [.array, .dictionary]),
            ("Pattern", pattern != nil, [.string]), ("Unique", isUnique, [.array]),
            ("Choices", !choices.isEmpty, [.string, .integer, .real, .date, .data]),
            (type == .array ? "Entries" : "Elements", contents != .anything, [.array, .dictionary]),
            ("Separator", separator != nil, [.array]), ("ChoicesFrom", choicesFrom != nil, [.string, .integer]),
        ]
    }

    /// Returns whether the minimum is above the maximum.
    func isReversed(_ minimum: PropertyList, _ maximum: PropertyList) -> Bool {
        var rule = ValueRule(type)
        rule.minimum = minimum
        return !rule.problems(with: maximum).isEmpty
    }
}

extension String {
    /// Whether this is valid after `--`: letters, digits, dashes, dots and underscores, beginning with a letter or
    /// digit.
    var isFlagName: Bool {
        guard let first = unicodeScalars.first, first.isPlain, first != "_", utf8.count <= 64 else { return false }
        return unicodeScalars.allSatisfy { $0.isPlain || $0 == "-" || $0 == "." }
    }

    var isShortFlag: Bool { unicodeScalars.count == 1 && unicodeScalars.allSatisfy { $0.isPlain && $0 != "_" } }

    /// Whether this is a valid name of a shell and environment variable.
    package var isVariableName: Bool {
        guard let first = unicodeScalars.first, utf8.count <= 200 else { return false }
        return !("0"..."9" ~= first) && unicodeScalars.allSatisfy(\.isPlain)
    }

    /// Whether this is a valid key: not empty, without NUL, and not the reserved version key.
    fileprivate var isKey: Bool { !isEmpty && !unicodeScalars.contains("\0") && self != Schema.versionKey }
}

extension Unicode.Scalar {
    /// Whether this is an ASCII letter, a digit or an underscore.
    fileprivate var isPlain: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }
}
