package import PropertyLists
package import Queries

/// The declaration of a program's settings: keys, types, rules, flags and descriptions.
///
/// A schema is read from a property list or built in Swift:
///
///     let schema = Schema("com.example.backup", title: "Nightly backup") { Setting.keep; Setting.mode }
public struct Schema: Hashable, Sendable {
    /// The domain of the settings; empty for a script that stores nothing.
    public var domain: String
    /// A short description of the program.
    public var title: String?
    /// A longer description, shown below the usage.
    public var summary: String?
    /// The version of the settings, which migrations increase.
    public var version: Int
    package var settings: [SettingDeclaration] = []
    package var commands: [Command] = []
    /// The dictionaries of commands with values of their own.
    package internal(set) var scopes: [SettingDeclaration] = []
    /// The domains whose schemas this one extends.
    package var extends: [String] = []
    /// Whether writers refuse keys that the schema does not declare.
    package var isClosed = false
    /// The file of a program that the schema is about, as paths that can begin with `~` and contain variables, the most
    /// likely first. Empty for a domain of the store.
    package var programFiles: [String] = []
    /// The format of a new file of the domain; nil for that of other domains.
    package var newFormat: PropertyList.Format?
    /// Whether a mirror carries keys that the schema does not declare.
    package var mirrorsUndeclared = true
    package var migrations: [Migration] = []
    package var queries: [QueryDeclaration] = []

    /// The name in help and messages, instead of that of the program's file.
    package var program: String?
    /// The version that `--version` prints.
    package var programVersion: String?
    /// The letter of a flag that does the same as `--version`.
    package var versionShort: String?
    /// The allowed number of operands; nil if nothing is declared about it.
    package var operands: ClosedRange<Int>?
    /// The command that is used if the first operand is not a command.
    package var defaultCommand: String?
    package var examples: [String] = []
    /// The text at the end of the help.
    package var epilogue: String?
    /// Whether long flags must be written in full.
    package var isExact = false
    /// Whether flags are recognized after the first operand.
    package var isInterleaved = true
    /// Whether undeclared operands and repeated flags of arrays are errors.
    package var isStrict = false
    /// Whether undeclared operands are errors where no number of them is declared.
    package var refusesOperands = false

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
        package var commands: [Command] = []
        package var aliases: [String] = []
        /// The heading under which the help lists the command.
        package var group: String?
        package var isHidden = false
        /// Whether the command shares its values with others, for it and the commands in it; nil if the declarations
        /// decide.
        package var store: Store?
        package var operands: ClosedRange<Int>?
        package var defaultCommand: String?
        package var examples: [String] = []
        package var epilogue: String?

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
        settings(of: command).declaration(of: key)
    }

    /// Returns the command with a name. The name of a nested command follows that of its parent: `remote add`.
    package func command(named name: String) -> Command? { commandPath(name).last }

    /// Returns a command after the commands that contain it; empty if there is none with this name.
    package func commandPath(_ name: String) -> [Command] {
        if let command = commands.first(where: { $0.name.hasSameBytes(as: name) }) { return [command] }
        var (path, inner): ([Command], [Command]) = ([], commands)
        for word in name.split(separator: " ") {
            guard let next = inner.first(where: { $0.name.hasSameBytes(as: String(word)) }) else { return [] }
            path.append(next)
            inner = next.commands
        }
        return path
    }

    /// All commands with their full names, each before the commands in it.
    package var allCommands: [(name: String, command: Command)] { Self.flattened(commands, "") }

    private static func flattened(_ commands: [Command], _ prefix: String) -> [(name: String, command: Command)] {
        commands.flatMap { [(prefix + $0.name, $0)] + flattened($0.commands, "\(prefix)\($0.name) ") }
    }

    /// Returns the settings that apply to a command: those of the program, those of the commands that contain it, and
    /// its own.
    package func settings(of command: String?) -> [SettingDeclaration] {
        guard let command else { return settings }
        return settings + commandPath(command).flatMap(\.settings)
    }

    /// Whether settings are stored.
    package var isStored: Bool { !domain.isEmpty }

    /// Returns the allowed number of undeclared and declared operands of a command; nil for any.
    package func operandCount(of command: String?) -> ClosedRange<Int>? {
        let declared = (command.map { commandPath($0) } ?? []).reversed().compactMap(\.operands).first ?? operands
        guard declared == nil, isStrict || refusesOperands, !settings(of: command).contains(where: \.takesOperands)
        else {
            return declared
        }
        return 0...0
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

/// A query that a schema declares under a name.
package struct QueryDeclaration: Hashable, Sendable {
    package var name = ""
    package var title: String?
    /// The path of the records, `:messages`, or that in another domain, `com.example.people:contacts`.
    package var over: String?
    /// The predicate; nil to select all records.
    package var condition: String?
    package var sort: String?
}

extension QueryDeclaration {
    /// The other domain that has the records, if any.
    package var domain: String? { over.flatMap { $0.unicodeScalars.first == ":" ? nil : places($0).domain } }

    private func places(_ over: String) -> (domain: String, path: String) {
        let scalars = over.unicodeScalars
        let colon = scalars.firstIndex(of: ":") ?? scalars.endIndex
        return (String(scalars[..<colon]), String(scalars[colon...]))
    }

    /// Returns the path of the records; empty for the entries of the whole domain.
    private func path() throws(EntryPath.Failure) -> EntryPath {
        let path = over.map { places($0).path } ?? ""
        return path.isEmpty || path == ":" ? [] : try EntryPath(parsing: path)
    }

    /// Returns the compiled query.
    package func query() throws -> Query {
        try Query(where: condition ?? "TRUEPREDICATE", over: path(), sort: sort ?? "")
    }

    /// The attributes that are invalid, and the reasons.
    var faults: [(attribute: String, reason: String)] {
        var faults: [(String, String)] = []
        do throws(EntryPath.Failure) { _ = try path() } catch { faults.append(("Over", error.description)) }
        do throws(Query.Predicate.Failure) { _ = try Query(where: condition ?? "TRUEPREDICATE") } catch {
            faults.append(("Where", error.description))
        }
        do throws(Query.Predicate.Failure) { _ = try Query(sort: sort ?? "") } catch {
            faults.append(("Sort", error.description))
        }
        return faults
    }

    static let attributes: [Attribute<QueryDeclaration>] = [
        .requiredText("Name", { $1(&$0.name) }), .text("Title", { $1(&$0.title) }), .text("Over", { $1(&$0.over) }),
        .text("Where", { $1(&$0.condition) }),
        .text("Sort", { $1(&$0.sort) }),
    ]
}

/// Returns the end of a message that suggests the nearest name.
package func hint(_ nearest: String?) -> String { nearest.map { "; did you mean \($0)?" } ?? "" }

/// Joins names into a list: `a`, `a and b`, `a, b and c`.
package func listed(_ names: [String], _ conjunction: String = "and") -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " \(conjunction) \(last)"
}
