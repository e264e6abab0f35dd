package import PropertyLists

/// The declaration of a program's settings: keys, types, rules, flags and descriptions.
///
/// A schema is read from a property list or built in Swift:
///
///     let schema = Schema("com.example.backup", title: "Nightly backup") { Setting.keep; Setting.mode }
public struct Schema: Hashable, Sendable {
    /// The domain of the settings.
    public var domain: String
    /// A short description of the program.
    public var title: String?
    /// A longer description, shown below the usage.
    public var summary: String?
    /// The version of the settings, which migrations increase.
    public var version: Int
    package var settings: [SettingDeclaration] = []
    package var commands: [Command] = []
    /// The domains whose schemas this one extends.
    package var extends: [String] = []
    /// Whether writers refuse keys that the schema does not declare.
    package var isClosed = false
    package var migrations: [Migration] = []
    package var queries: [QueryDeclaration] = []

    package init(domain: String, title: String? = nil, version: Int = 1) {
        self.domain = domain
        self.title = title
        self.version = version
    }

    /// A sub-command with its own flags and operands.
    public struct Command: Hashable, Sendable {
        /// The command's name.
        public internal(set) var name: String
        package var title: String?
        package var summary: String?
        package var settings: [SettingDeclaration] = []

        package init(_ name: String) { self.name = name }
    }

    /// The changes that convert the settings of one version to the next.
    package struct Migration: Hashable, Sendable {
        package var from: Int
        /// The renamed keys.
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
    /// Returns the declaration of a key among the settings of the program and of a command.
    package func declaration(of key: String, command: String? = nil) -> SettingDeclaration? {
        settings(of: command).first { $0.key.hasSameBytes(as: key) }
    }

    package func command(named name: String) -> Command? { commands.first { $0.name.hasSameBytes(as: name) } }

    /// Returns the settings that apply to a command: those of the program, then its own.
    package func settings(of command: String?) -> [SettingDeclaration] {
        settings + (command.flatMap { self.command(named: $0) }?.settings ?? [])
    }

    /// Returns the default values.
    package func factoryDefaults(command: String? = nil) -> PropertyList.Dictionary {
        PropertyList.Dictionary(settings(of: command).compactMap { row in row.defaultValue.map { (row.key, $0) } })
    }
}

extension Collection<SettingDeclaration> {
    /// The settings by group, in the order of first occurrence; those without a group come first.
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
