/// A flag that every program has, regardless of its schema.
enum CommonFlag: String, Hashable, Sendable, CaseIterable {
    case help
    case helpValues = "help-values"
    case version, save, set

    /// The placeholder of its value; nil if it takes none.
    var argument: String? { self == .set ? ":KEY=VALUE" : nil }

    /// A short description.
    var title: String {
        switch self {
        case .help: "Shows help"
        case .helpValues: "Shows help with the values in force"
        case .version: "Shows the version"
        case .save: "Saves the given flags as settings"
        case .set: "Sets a setting that has no flag"
        }
    }

    /// A description as a sentence.
    var explanation: String {
        switch self {
        case .help: "Shows this text."
        case .helpValues: "Shows this text with the values in force and where they come from."
        case .save: "Saves the given flags as the user's settings."
        case .version, .set: "\(title)."
        }
    }
}

extension Schema {
    /// The flags that every program with this schema has. Without a domain, nothing is stored.
    var commonFlags: [CommonFlag] {
        isStored ? CommonFlag.allCases : programVersion == nil ? [.help] : [.help, .version]
    }
}

/// A flag that names the source of a secret, since the secret itself must not be on a command line.
struct SecretFlag: Hashable, Sendable {
    enum Source: Hashable, Sendable { case file, descriptor }

    let name: String
    let source: Source

    /// Returns the two flags that replace a flag for a secret.
    static func instead(of flag: String) -> [SecretFlag] {
        [SecretFlag(name: "\(flag)-file", source: .file), SecretFlag(name: "\(flag)-fd", source: .descriptor)]
    }
}

extension SettingDeclaration {
    /// The flags that name the source of a secret; empty for other settings.
    var secretFlags: [SecretFlag] { hasSecrets ? flags.flatMap(SecretFlag.instead) : [] }
}
