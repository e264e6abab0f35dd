internal import PropertyLists
internal import Queries

extension SchemaCheck {
    /// Checks that a rule's attributes apply to its type and agree with each other.
    mutating func checkRule(_ rule: ValueRule, at path: EntryPath) {
        if rule.type != .any { checkApplications(rule.applications, to: rule.type, at: path) }
        if let kind = rule.kind, !kind.facts.types.contains(rule.type), rule.type != .any {
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
        for name in rule.reversedBounds {
            report(.minimumAboveMaximum("Maximum\(name)"), at: path.appending(EntryPath.Component("Minimum\(name)")))
        }
        checkChoices(rule, at: path.appending("Choices"))
        checkContents(rule, at: path)
    }

    /// Reports the attributes that are present although they do not apply to the type.
    private mutating func checkApplications(_ rows: [ValueRule.Application], to type: ValueType, at path: EntryPath) {
        for (name, isPresent, types) in rows where isPresent && !types.contains(type) {
            report(.doesNotApply(type: type.noun), at: path.appending(EntryPath.Component(name)))
        }
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
                for (name, isPresent) in [
                    ("DefaultFrom", entry.defaultFrom != nil), ("DefaultPath", entry.isDefaultInHome),
                ] where isPresent {
                    let part = place.appending(EntryPath.Component(index)).appending(EntryPath.Component(name))
                    report(.doesNotApply(type: "an entry"), at: part)
                }
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
            warn(.replacesFlag(flag), at: path.appending("Flag"))
        }
        let namesIfTaken = whole.commonFlags.map(\.nameIfTaken)
        for flag in setting.allFlags where namesIfTaken.contains(flag) {
            report(.reserved("--\(flag)"), at: path.appending("Flag"))
        }
        if let version = whole.versionShort, setting.allShorts.contains(version) {
            report(.reserved("-\(version)"), at: path.appending("Short"))
        }
        for short in setting.shorts where !short.isShortFlag {
            report(.invalidName(short), at: path.appending("Short"))
        }
        for variable in setting.environment where !variable.isVariableName {
            report(.invalidName(variable), at: path.appending("Environment"))
        }
        checkBehaviour(setting, at: path)
        checkFlagValues(setting, at: path)
        if setting.isRequired, setting.hasDefault {
            let other = setting.defaultFrom != nil ? "DefaultFrom" : setting.isDefaultInHome ? "DefaultPath" : "Default"
            warn(.noEffect(beside: other), at: path.appending("Required"))
        }
        if setting.isDefaultInHome, !(setting.rule.kind?.isPath ?? false) {
            report(
                .doesNotApply(type: setting.rule.kind?.noun ?? setting.rule.type.noun),
                at: path.appending("DefaultPath"))
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
            } else if let name = flag.long, whole.commonFlags.contains(where: { $0.rawValue == name }) {
                warn(.replacesFlag(name), at: place)
            }
            if let name = flag.long, whole.commonFlags.contains(where: { $0.nameIfTaken == name }) {
                report(.reserved(flag.flag), at: place)
            }
            for variable in flag.environment where !variable.isVariableName {
                report(.invalidName(variable), at: place.appending("Environment"))
            }
            if !flag.environment.isEmpty, [.array, .dictionary].contains(setting.rule.type) {
                report(.doesNotApply(type: setting.rule.type.noun), at: place.appending("Environment"))
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
        if !setting.words.isEmpty {
            let others = [
                ("Repeats", setting.repeats), ("ValueOptional", setting.isValueOptional), ("Map", setting.isMap),
                ("Positional", setting.positional != nil), ("Rest", setting.takesRest),
                ("Ordered", setting.ordered != nil),
            ]
            for (name, isDeclared) in others where isDeclared {
                report(.contradicts(name), at: path.appending("Words"))
            }
            if setting.flags.isEmpty, setting.shorts.isEmpty {
                report(.missingAttribute("Flag"), at: path.appending("Words"))
            }
        }
        if setting.isOnce, setting.takesElements || setting.takesEntries || setting.isCounter {
            report(.contradicts("Repeats"), at: path.appending("Once"))
        }
        if setting.passesUnknown, !setting.takesRest {
            report(.missingAttribute("Rest"), at: path.appending("PassUnknown"))
        }
    }

    private mutating func checkBehaviour(_ setting: SettingDeclaration, at path: EntryPath) {
        let applications: [ValueRule.Application] = [
            ("Negatable", setting.isNegatable, [.boolean]),
            ("Repeats", setting.repeats, [.array, .integer, .dictionary]),
            ("Rest", setting.takesRest, [.array]),
            ("Merge", setting.merge != nil, setting.merge?.types ?? []),
            ("Sensitive", setting.isSensitive, [.string, .data, .any]),
        ]
        checkApplications(applications, to: setting.rule.type, at: path)
        if setting.merge == .list, setting.identity == nil {
            report(.missingAttribute("Identity"), at: path.appending("Merge"))
        }
        if setting.identity != nil, setting.merge != .list {
            report(.missingAttribute("Merge"), at: path.appending("Identity"))
        }
        if setting.scope != nil, let merge = setting.merge, merge != .entries, merge != .value {
            report(.contradicts("Scope"), at: path.appending("Merge"))
        }
        if setting.hasSecrets {
            // On a command line, other users could read the secret.
            let others: [(EntryPath.Component, Bool)] = [
                ("Short", !setting.shorts.isEmpty), ("Positional", setting.positional != nil),
                ("Rest", setting.takesRest),
                ("Values", !setting.flagValues.isEmpty),
            ]
            for (name, isPresent) in others where isPresent {
                report(.contradicts("Sensitive"), at: path.appending(name))
            }
        }
        if warns, setting.isSensitive, let value = setting.defaultValue, !value.plainText.isEmpty {
            // Every reader of the schema could read the secret.
            report(.contradicts("Sensitive"), at: path.appending("Default"))
        }
        if setting.ordered != nil {
            if setting.allFlags.isEmpty, setting.allShorts.isEmpty, setting.flagValues.isEmpty {
                report(.missingAttribute("Flag"), at: path.appending("Ordered"))
            }
            for (name, isPresent) in [
                ("Separator", setting.rule.separator != nil), ("Repeats", setting.isCounter),
                ("Sensitive", setting.hasSecrets),
            ] where isPresent {
                report(.contradicts(name), at: path.appending("Ordered"))
            }
        }
        if setting.isMap {
            checkApplications([("Map", true, [.dictionary])], to: setting.rule.type, at: path)
            if setting.rule.type == .dictionary, !(setting.rule.element?.isScalar ?? false) {
                report(.wrongValue(expected: "one rule for plain values"), at: path.appending("Entries"))
            }
        }
        if setting.isConfiguration {
            if setting.rule.type != .string || ![.file, .path].contains(setting.rule.kind) {
                let type = setting.rule.kind?.noun ?? setting.rule.type.noun
                report(.doesNotApply(type: type), at: path.appending("Configuration"))
            }
            if setting.rule.exists == false {
                report(.contradicts("Configuration"), at: path.appending("Exists"))
            }
            if setting.isSensitive { report(.contradicts("Configuration"), at: path.appending("Sensitive")) }
        }
        if setting.takesRest, setting.positional != nil {
            report(.contradicts("Positional"), at: path.appending("Rest"))
        }
        if setting.positional == 0 { report(.wrongValue(expected: "1 or more"), at: path.appending("Positional")) }
        checkScope(setting, at: path)
    }

    private mutating func checkScope(_ setting: SettingDeclaration, at path: EntryPath) {
        guard let scope = setting.scope else { return }
        let place = path.appending("Scope")
        let names = setting.scopePath?.components ?? []
        if names.isEmpty || names.contains(where: { !$0.text.isKey }) {
            report(.invalidName(scope), at: place)
        } else if setting.placeInScope == nil {
            report(.wrongValue(expected: "the beginning of the key, as http is of http-timeout"), at: place)
        } else if path.components.first == "Commands" {
            report(.doesNotApply(type: "a setting of a command"), at: place)
        }
    }
}

extension ValueRule {
    /// Whether values are neither arrays nor dictionaries.
    fileprivate var isScalar: Bool { ![.array, .dictionary, .any].contains(type) }

    /// An attribute, whether it is present, and the types that it applies to.
    fileprivate typealias Application = (name: String, isPresent: Bool, types: [ValueType])

    fileprivate var applications: [Application] {
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

    /// The bounds whose minimum is above their maximum: `Length`, `Count`, or an empty name for those of the value.
    var reversedBounds: [String] {
        var names: [String] = []
        if let minimum, let maximum {
            var rule = ValueRule(type)
            rule.minimum = minimum
            if !rule.problems(with: maximum).isEmpty { names.append("") }
        }
        if let least = minimumLength, let most = maximumLength, least > most { names.append("Length") }
        if let least = minimumCount, let most = maximumCount, least > most { names.append("Count") }
        return names
    }
}
