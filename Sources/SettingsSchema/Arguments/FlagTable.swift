internal import PropertyLists

/// What each flag means, for the whole program and, once it is chosen, a command.
struct FlagTable {
    /// What is to be done at a flag.
    enum Meaning {
        case value(SettingDeclaration)
        /// Sets a boolean.
        case on(SettingDeclaration)
        case off(SettingDeclaration)
        case count(SettingDeclaration)
        /// A secret, which may not stand on a command line; the flags to use instead.
        case secret([String])
        case secretSource(SettingDeclaration, SecretFlag.Source)
        case common(CommonFlag)

        /// Whether a value follows.
        var takesValue: Bool {
            switch self {
            case .value, .secretSource: true
            case .common(let flag): flag.argument != nil
            default: false
            }
        }
    }

    private(set) var long: [String: Meaning] = [:]
    private(set) var short: [String: Meaning] = ["h": .common(.help)]

    init(_ settings: [SettingDeclaration]) {
        for flag in CommonFlag.allCases { long[flag.rawValue] = .common(flag) }
        for setting in settings { add(setting) }
    }

    /// The flag as it is written that was probably meant by an unknown one. Of a secret it is one that may be given.
    func nearest(toLong name: String) -> String? {
        guard let nearest = long.keys.sorted().nearest(to: name) else { return nil }
        if case .secret(let others)? = long[nearest] { return others.first }
        return "--\(nearest)"
    }

    private mutating func add(_ setting: SettingDeclaration) {
        guard !setting.hasSecrets else { return addSecret(setting) }
        let meaning: Meaning = setting.isCounter ? .count(setting) : setting.isSwitch ? .on(setting) : .value(setting)
        for flag in setting.flags { long[flag] = meaning }
        if setting.isNegatable { for flag in setting.flags { long["no-\(flag)"] = .off(setting) } }
        if let flag = setting.short { short[flag] = meaning }
    }

    private mutating func addSecret(_ setting: SettingDeclaration) {
        for flag in setting.secretFlags { long[flag.name] = .secretSource(setting, flag.source) }
        for flag in setting.flags where long[flag] == nil {
            long[flag] = .secret(SecretFlag.instead(of: flag).map { "--\($0.name)" })
        }
    }
}

extension Schema {
    /// The first command that has a flag, given as it is written, and whether a value follows the flag there.
    func owner(ofFlag flag: String) -> (command: String, takesValue: Bool)? {
        let name = String(flag.unicodeScalars.drop { $0 == "-" })
        for command in commands {
            let table = FlagTable(command.settings)
            let meaning = name.unicodeScalars.count > 1 ? table.long[name] : table.short[name] ?? table.long[name]
            if let meaning { return (command.name, meaning.takesValue) }
        }
        return nil
    }
}
