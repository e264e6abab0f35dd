internal import PropertyLists

/// The flags of the whole program and, once it is chosen, of a command.
struct FlagTable {
    /// The effect of a flag.
    enum Meaning {
        case value(SettingDeclaration)
        /// Sets a Boolean.
        case on(SettingDeclaration)
        case off(SettingDeclaration)
        case count(SettingDeclaration)
        /// A secret, which is not allowed on a command line, with the flags to use instead.
        case secret([String])
        case secretSource(SettingDeclaration, SecretFlag.Source)
        case common(CommonFlag)

        /// Whether a value follows the flag.
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

    /// Returns the flag that an unknown one was probably meant to be. For a secret, this is the flag for its file.
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
    /// Returns the first command that has a flag, and whether that flag takes a value.
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
