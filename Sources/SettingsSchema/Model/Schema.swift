package import PropertyLists

/// What a program declares of its settings: keys, types, bounds, flags, and the words for people.
///
/// A schema is read from a property list, or written in Swift:
///
///     let schema = Schema("com.example.backup", title: "Nightly backup") { Setting.keep; Setting.mode }
public struct Schema: Hashable, Sendable {
    /// The domain that it declares.
    public var domain: String
    /// What the domain is, in a few words.
    public var title: String?
    /// What is said of the program below its usage.
    public var summary: String?
    /// The version of the settings, which migrations count up.
    public var version: Int
    package var settings: [SettingDeclaration] = []
    package var commands: [Command] = []
    /// The domains whose schemas this one takes in.
    package var extends: [String] = []
    package var migrations: [Migration] = []

    package init(domain: String, title: String? = nil, version: Int = 1) {
        self.domain = domain
        self.title = title
        self.version = version
    }

    /// A sub-command with flags and operands of its own.
    public struct Command: Hashable, Sendable {
        /// The word by which it is called.
        public internal(set) var name: String
        package var title: String?
        package var summary: String?
        package var settings: [SettingDeclaration] = []

        package init(_ name: String) { self.name = name }
    }

    /// What is to be done with the settings of one version to make them those of the next.
    package struct Migration: Hashable, Sendable {
        package var from: Int
        /// New keys by old ones.
        package var renames: [Rename] = []
        package var removals: [String] = []
        package var conversions: [Conversion] = []

        package struct Rename: Hashable, Sendable { package let old, new: String }
        package struct Conversion: Hashable, Sendable {
            package let key: String
            package let type: ValueType
        }

        package init(from: Int) { self.from = from }
    }
}

extension Schema {
    /// The declaration of a key, among the settings of the whole program and those of a command.
    package func declaration(of key: String, command: String? = nil) -> SettingDeclaration? {
        settings(of: command).first { $0.key.hasSameBytes(as: key) }
    }

    package func command(named name: String) -> Command? { commands.first { $0.name.hasSameBytes(as: name) } }

    /// The settings that hold for a command: those of the whole program, then its own.
    package func settings(of command: String?) -> [SettingDeclaration] {
        settings + (command.flatMap { self.command(named: $0) }?.settings ?? [])
    }

    /// The values that hold where nobody has chosen one.
    package func factoryDefaults(command: String? = nil) -> PropertyList.Dictionary {
        PropertyList.Dictionary(settings(of: command).compactMap { row in row.defaultValue.map { (row.key, $0) } })
    }
}

extension Collection<SettingDeclaration> {
    /// The groups in the order in which they first occur; settings without one stand in front.
    package var grouped: [(title: String?, settings: [SettingDeclaration])] {
        var groups: [(title: String?, settings: [SettingDeclaration])] = []
        for setting in self {
            if let index = groups.firstIndex(where: { $0.title == setting.group }) {
                groups[index].settings.append(setting)
            } else {
                groups.append((setting.group, [setting]))
            }
        }
        return groups.filter { $0.title == nil } + groups.filter { $0.title != nil }
    }
}
