/// A flag that every program has, whatever its schema declares.
enum CommonFlag: String, Hashable, Sendable, CaseIterable {
    case help
    case helpValues = "help-values"
    case version, save, set

    /// What follows it; nil for nothing.
    var argument: String? { self == .set ? ":KEY=VALUE" : nil }

    /// What it does, in a few words.
    var title: String {
        switch self {
        case .help: "Shows help"
        case .helpValues: "Shows help with the values in force"
        case .version: "Shows the version"
        case .save: "Keeps the given flags as settings"
        case .set: "Sets what has no flag of its own"
        }
    }

    /// The same in a sentence, below the one on `help`.
    var explanation: String {
        switch self {
        case .help: "Shows this text."
        case .helpValues: "Shows it with the values in force, and where they come from."
        case .save: "Keeps the given flags as the user's settings."
        case .version, .set: "\(title)."
        }
    }
}

/// A flag by which a secret is handed over, which itself may not stand on a command line.
struct SecretFlag: Hashable, Sendable {
    enum Source: Hashable, Sendable { case file, descriptor }

    let name: String
    let source: Source

    /// Both ways to hand over what no flag of this name may.
    static func instead(of flag: String) -> [SecretFlag] {
        [SecretFlag(name: "\(flag)-file", source: .file), SecretFlag(name: "\(flag)-fd", source: .descriptor)]
    }
}

extension SettingDeclaration {
    /// The flags by which a secret is handed over; none for what is no secret.
    var secretFlags: [SecretFlag] { hasSecrets ? flags.flatMap(SecretFlag.instead) : [] }
}
