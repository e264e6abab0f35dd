internal import PropertyLists
internal import Queries

extension SchemaCheck {
    /// Checks that a rule's attributes apply to its type and agree with each other.
    mutating func checkRule(_ rule: ValueRule, at path: EntryPath) {
        for (name, isSaid, types) in rule.applications where isSaid && !types.contains(rule.type) && rule.type != .any {
            report(.doesNotApply(type: rule.type.noun), at: path.appending(EntryPath.Component(name)))
        }
        if let kind = rule.kind, kind.type != rule.type, rule.type != .any {
            report(.doesNotApply(type: rule.type.noun), at: path.appending("Kind"))
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
        var plain = rule
        plain.choices = []
        for (index, choice) in rule.choices.enumerated() {
            let place = path.appending(EntryPath.Component(index))
            if rule.choices.firstIndex(of: choice) != index {
                report(.duplicate("choice \(choice.shownText)"), at: place)
            }
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
        for flag in setting.allFlags where CommonFlag(rawValue: flag) != nil {
            report(.reserved("--\(flag)"), at: path.appending("Flag"))
        }
        if let short = setting.short, !short.isShortFlag { report(.invalidName(short), at: path.appending("Short")) }
        for variable in setting.environment where !variable.isVariableName {
            report(.invalidName(variable), at: path.appending("Environment"))
        }
        checkBehaviour(setting, at: path)
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
        var positions = Set(outer.compactMap(\.positional))
        var isTaken = outer.contains { $0.takesManyOperands }
        for (index, setting) in settings.enumerated() {
            let place = path.appending(EntryPath.Component(index))
            if let position = setting.positional, !positions.insert(position).inserted {
                report(.duplicate("position \(position)"), at: place.appending("Positional"))
            }
            guard setting.takesManyOperands else { continue }
            if isTaken {
                let attribute: EntryPath.Component = setting.takesRest ? "Rest" : "Positional"
                report(
                    .contradicts("another setting that takes any number of operands"), at: place.appending(attribute))
            }
            isTaken = true
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

extension SettingDeclaration {
    /// Whether this setting takes any number of operands.
    package var takesManyOperands: Bool { takesRest || (positional != nil && rule.type == .array) }
}

extension ValueRule {
    /// Each attribute with whether it is present, and the types that it applies to.
    fileprivate var applications: [(name: String, isSaid: Bool, types: [ValueType])] {
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
        ]
    }

    /// Returns whether the minimum is above the maximum.
    fileprivate func isReversed(_ minimum: PropertyList, _ maximum: PropertyList) -> Bool {
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
