package import PropertyLists

/// The flags of the whole program and, once it is chosen, of a command.
package struct FlagTable {
    /// The effect of a flag.
    package enum Meaning {
        case value(SettingDeclaration)
        /// Sets a Boolean.
        case on(SettingDeclaration)
        case off(SettingDeclaration)
        case count(SettingDeclaration)
        /// Sets a fixed value.
        case sets(SettingDeclaration, SettingDeclaration.FlagValue)
        /// A secret, which is not allowed on a command line, with the flags to use instead.
        case secret([String])
        case secretSource(SettingDeclaration, SecretFlag.Source)
        case common(CommonFlag)

        /// Whether a value follows the flag.
        package var takesValue: Bool {
            switch self {
            case .value, .secretSource: true
            case .common(let flag): flag.argument != nil && !flag.isValueOptional
            default: false
            }
        }
    }

    package private(set) var long: [Name: Meaning] = [:]
    package private(set) var short: [Name: Meaning] = ["h": .common(.help)]
    /// Whether two settings have the same flag.
    private(set) var hasClash = false

    package init(_ settings: [SettingDeclaration], common: [CommonFlag], versionShort: String? = nil) {
        if let versionShort { short[Name(versionShort)] = .common(.version) }
        for setting in settings { add(setting) }
        for flag in common {
            let name = Name(flag.rawValue)
            long[long[name] == nil ? name : Name(flag.nameIfTaken)] = .common(flag)
        }
    }

    /// All flags as they are written.
    package var written: [(flag: String, meaning: Meaning)] {
        long.map { ("--\($0.key)", $0.value) } + short.map { ("-\($0.key)", $0.value) }
    }

    /// Returns the flag that an unknown one was probably meant to be. For a secret, this is the flag for its file.
    func nearest(toLong name: String) -> String? {
        guard let nearest = long.keys.sorted().map(\.text).nearest(to: name) else { return nil }
        if case .secret(let others)? = long[Name(nearest)] { return others.first }
        return "--\(nearest)"
    }

    /// Returns the flags that begin with a text, one for each effect, sorted.
    package func flags(abbreviated text: String) -> [(name: Name, meaning: Meaning)] {
        var found: [(name: Name, meaning: Meaning)] = []
        for (name, meaning) in long where name.text.utf8.starts(with: text.utf8) {
            let effect = meaning.effect
            if let index = found.firstIndex(where: { $0.meaning.effect == effect }) {
                if name < found[index].name { found[index] = (name, meaning) }
            } else {
                found.append((name, meaning))
            }
        }
        // --help is meant more often.
        if found.count > 1 { found.removeAll { $0.meaning.effect == Meaning.common(.helpValues).effect } }
        return found.sorted { $0.name < $1.name }
    }

    private mutating func add(_ setting: SettingDeclaration) {
        guard !setting.hasSecrets else { return addSecret(setting) }
        let meaning: Meaning = setting.isCounter ? .count(setting) : setting.isSwitch ? .on(setting) : .value(setting)
        for flag in setting.flags { note(long.updateValue(meaning, forKey: Name(flag))) }
        if setting.isNegatable {
            for flag in setting.flags { note(long.updateValue(.off(setting), forKey: Name("no-\(flag)"))) }
        }
        for flag in setting.shorts { note(short.updateValue(meaning, forKey: Name(flag))) }
        for flag in setting.flagValues {
            if let name = flag.long { note(long.updateValue(.sets(setting, flag), forKey: Name(name))) }
            if let letter = flag.short { note(short.updateValue(.sets(setting, flag), forKey: Name(letter))) }
        }
    }

    /// Notes that a flag has replaced another one, unless that is one that every program has.
    private mutating func note(_ former: Meaning?) {
        if case .common? = former ?? .common(.help) { return }
        hasClash = true
    }

    private mutating func addSecret(_ setting: SettingDeclaration) {
        for flag in setting.secretFlags {
            note(long.updateValue(.secretSource(setting, flag.source), forKey: Name(flag.name)))
        }
        for flag in setting.flags where long[Name(flag)] == nil {
            long[Name(flag)] = .secret(SecretFlag.instead(of: flag).map { "--\($0.name)" })
        }
    }
}

extension FlagTable.Meaning {
    /// A text that is the same for two flags with the same effect.
    fileprivate var effect: String {
        switch self {
        case .value(let setting), .on(let setting), .count(let setting): "+\(setting.key)"
        case .off(let setting): "-\(setting.key)"
        case .sets(let setting, let flag): "=\(flag.value.plainText) \(setting.key)"
        case .secret(let flags): flags.first ?? ""
        case .secretSource(let setting, let source): "\(source) \(setting.key)"
        case .common(let flag): flag.rawValue
        }
    }
}

extension Schema {
    /// Returns the first command that has a flag, and whether that flag takes a value.
    func owner(ofFlag flag: String) -> (command: String, takesValue: Bool)? {
        let name = Name(String(flag.unicodeScalars.drop { $0 == "-" }))
        // A word after a single dash is a long flag, too.
        let isLong = flag.hasPrefix("--") || name.text.unicodeScalars.count > 1
        for (command, declaration) in allCommands {
            let table = FlagTable(declaration.settings, common: [])
            guard let meaning = isLong ? table.long[name] : table.short[name] else { continue }
            if case .common = meaning { continue }
            return (command, meaning.takesValue)
        }
        return nil
    }
}

/// A flag that every program has, regardless of its schema.
package enum CommonFlag: String, Hashable, Sendable, CaseIterable {
    case help
    case helpValues = "help-values"
    case version, save, reset, set

    /// The placeholder of its value; nil if it takes none.
    package var argument: String? {
        switch self {
        case .reset: "KEY"
        case .set: ":KEY=VALUE"
        default: nil
        }
    }

    /// Whether it can be used without its value.
    package var isValueOptional: Bool { self == .reset }

    /// Its name if a setting has a flag of the usual name.
    package var nameIfTaken: String { "prefs-\(rawValue)" }

    /// A short description.
    package var title: String {
        switch self {
        case .help: "Shows help"
        case .helpValues: "Shows help with the values in force"
        case .version: "Shows the version"
        case .save: "Saves the given flags as settings"
        case .reset: "Removes the saved settings"
        case .set: "Sets a setting that has no flag"
        }
    }

    /// A description as a sentence.
    package var explanation: String {
        switch self {
        case .help: "Shows this text."
        case .helpValues: "Shows this text with the values in force and where they come from."
        case .save: "Saves the given flags as the user's settings."
        case .reset: "Removes the user's settings, or the one of a key."
        case .version, .set: "\(title)."
        }
    }
}

extension Schema {
    /// The flags that every program with this schema has. Without a domain, nothing is stored.
    package var commonFlags: [CommonFlag] {
        isStored ? CommonFlag.allCases : programVersion == nil ? [.help] : [.help, .version]
    }

    /// Returns the letter that does the same as a common flag, or nil if there is none.
    package func letter(of flag: CommonFlag, in command: String?) -> String? {
        switch flag {
        case .help: settings(of: command).contains { $0.allShorts.contains("h") } ? nil : "h"
        case .version: versionShort
        case .helpValues, .save, .reset, .set: nil
        }
    }

    /// Returns the name of a common flag, which a flag of the program can replace.
    package func name(of flag: CommonFlag, in command: String?) -> String {
        settings(of: command).contains { $0.hasLongFlag(flag.rawValue) } ? flag.nameIfTaken : flag.rawValue
    }
}

extension SettingDeclaration {
    fileprivate func hasLongFlag(_ name: String) -> Bool {
        allFlags.contains(exactly: name) || flagValues.contains { $0.long?.hasSameBytes(as: name) ?? false }
    }
}

/// A flag that names the source of a secret, since the secret itself must not be on a command line.
package struct SecretFlag: Hashable, Sendable {
    package enum Source: Hashable, Sendable { case file, descriptor }

    package let name: String
    package let source: Source

    /// Returns the two flags that replace a flag for a secret.
    static func instead(of flag: String) -> [SecretFlag] {
        [SecretFlag(name: "\(flag)-file", source: .file), SecretFlag(name: "\(flag)-fd", source: .descriptor)]
    }
}

extension SettingDeclaration {
    /// The flags that name the source of a secret; empty for other settings.
    package var secretFlags: [SecretFlag] { hasSecrets ? flags.flatMap(SecretFlag.instead) : [] }
}
