package import PropertyLists

// The places of the values of commands, and of parts of a program. A value that a command shares is stored under its
// key, like one of the whole program; a value of its own is stored in a dictionary of the command:
// `build = { target = release; }`. The values of a part of the program are in a dictionary, too, its scope.

extension Schema.Command {
    /// Whether commands with the same key share its value.
    public enum Store: String, Hashable, Sendable, CaseIterable {
        /// The value is stored under the key of the domain, for all commands that share it.
        case shared
        /// The value is stored in a dictionary of the command.
        case own
    }
}

extension SettingDeclaration {
    /// The key of the domain, or the path in it such as `:build:target`, under which the value is stored.
    package var storedKey: String { storedAt?.storedKey ?? key }

    /// The paths at which the value may be stored, the current one first.
    package var storedPaths: [EntryPath] {
        let outer = storedAt?.components.dropLast() ?? []
        return [storedAt ?? [EntryPath.Component(key)]]
            + renamedFrom.map { EntryPath(outer + [EntryPath.Component($0)]) }
    }

    /// The paths at which a file may have the value, the current one first.
    package var pathsInFiles: [EntryPath] {
        storedAt == nil ? allKeys.map { [EntryPath.Component($0)] } : storedPaths
    }

    /// The setting with its stored key, so that settings of several commands have different keys.
    package var underStoredKey: SettingDeclaration {
        var result = self
        result.key = storedKey
        return result
    }

    /// Whether a value means the same for both settings. Their descriptions may differ.
    fileprivate func isSame(as other: SettingDeclaration) -> Bool {
        rule.withoutTitles == other.rule.withoutTitles && isRequired == other.isRequired
            && defaultValue == other.defaultValue && isDefaultInHome == other.isDefaultInHome
            && defaultFrom == other.defaultFrom && isSensitive == other.isSensitive && isTransient == other.isTransient
            && isByHost == other.isByHost
    }
}

extension ValueRule {
    /// Whether every value that another rule allows is a value of this one, because they are the same.
    package func allowsValues(of other: ValueRule) -> Bool {
        var (own, other) = (withoutTitles, other.withoutTitles)
        (own.exists, other.exists) = (nil, nil)
        return own == other
    }

    /// Whether undeclared entries are allowed in the dictionary of a command's values, in which none is required.
    package enum Scope: Hashable, Sendable { case open, closed }

    /// The rule without what only describes values, and without the command that lists choices, which an installed
    /// schema lacks.
    fileprivate var withoutTitles: ValueRule {
        var result = self
        (result.choiceTitles, result.choicesFrom, result.message) = ([], nil, nil)
        switch contents {
        case .anything: break
        case .each(let rule): result.contents = .each(rule.withoutTitles)
        case .entries(let rows):
            result.contents = .entries(
                rows.map { row in
                    var plain = SettingDeclaration(row.key, row.rule.withoutTitles)
                    (plain.isRequired, plain.defaultValue) = (row.isRequired, row.defaultValue)
                    plain.isSensitive = row.isSensitive
                    return plain
                })
        }
        return result
    }
}

extension EntryPath {
    /// The key of a domain to which the path leads, or else the path itself.
    package var storedKey: String { components.count == 1 ? components[0].text : description }
}

// MARK: Deciding

extension Schema {
    /// Decides where the values of commands are stored. A command without `Store` shares a value unless another command
    /// declares the same key differently.
    mutating func assignScopes() {
        for index in settings.indices { settings[index].storedAt = settings[index].placeInScope }
        let scoped = settings.compactMap { setting in setting.storedAt.map { ($0.components[...], setting) } }
        scopes = Self.scopes(of: scoped, isClosed)
        guard !commands.isEmpty else { return }
        var keys = SharedKeys()
        for command in commands { keys.add(command, within: nil) }
        for index in commands.indices { commands[index].assignScopes(keys, at: EntryPath(), within: nil) }
        scopes += commands.compactMap { $0.scope(isClosed: isClosed, migrations) }
    }

    /// Returns the dictionaries of settings that are stored in scopes.
    private static func scopes(
        of settings: [(path: ArraySlice<EntryPath.Component>, setting: SettingDeclaration)], _ isClosed: Bool
    ) -> [SettingDeclaration] {
        var names: [EntryPath.Component] = []
        for case let name? in settings.map(\.path.first) where !names.contains(name) { names.append(name) }
        return names.map { name in
            let inner = settings.filter { $0.path.first == name }.map { ($0.path.dropFirst(), $0.setting) }
            let rows = inner.filter { $0.0.count == 1 }.map { path, setting in
                var row = setting
                row.key = path.first?.text ?? ""
                return row
            }
            return SettingDeclaration(
                dictionary: name.text, of: rows + scopes(of: inner.filter { $0.0.count > 1 }, isClosed), isClosed)
        }
    }
}

extension SettingDeclaration {
    /// The dictionary of a command or a part of the program.
    fileprivate init(dictionary key: String, of rows: [SettingDeclaration], _ isClosed: Bool) {
        var rule = ValueRule(.dictionary)
        rule.contents = .entries(rows)
        rule.scope = isClosed ? .closed : .open
        self.init(key, rule)
        merge = .entries
    }

    /// The path of the scope; nil for a key of the domain, and for an invalid path.
    package var scopePath: EntryPath? {
        guard let scope, !scope.isEmpty else { return nil }
        return scope.hasPrefix(":") ? try? EntryPath(parsing: scope) : [EntryPath.Component(scope)]
    }

    /// The path of the value in the scope; nil for a key of the domain, and for a key that does not begin with the
    /// names of the scope.
    var placeInScope: EntryPath? {
        guard let path = scopePath, key.hasPrefix(path.keyPrefix), key != path.keyPrefix else { return nil }
        return path.appending(EntryPath.Component(String(key.dropFirst(path.keyPrefix.count))))
    }
}

extension String {
    /// Returns the variable of a key in a scope: `SERVICE_HTTP_TIMEOUT` for `http-timeout` in `com.example.service`. It
    /// is nil for a domain whose name has no letters.
    package func variable(in domain: String) -> String? {
        let program = String(domain.split(separator: ".").last ?? "").nameOfVariable
        return program.isVariableName ? "\(program)_\(nameOfVariable)" : nil
    }

    /// The name in small letters, with a dash between words: `max-retries` for `maxRetries`.
    var nameOfFlag: String { nameOfVariable.lowercased().split(separator: "_").joined(separator: "-") }

    /// The name in capital letters, with an underscore between words: `MAX_RETRIES` for `max-retries` and `maxRetries`.
    package var nameOfVariable: String {
        var (name, followsSmall) = ("", false)
        for scalar in unicodeScalars {
            let isCapital = "A"..."Z" ~= scalar
            let isPlain = isCapital || "a"..."z" ~= scalar || "0"..."9" ~= scalar
            if isCapital, followsSmall { name += "_" }
            name += isPlain ? String(scalar).uppercased() : "_"
            followsSmall = isPlain && !isCapital
        }
        return name
    }
}

extension EntryPath {
    /// The beginning of the keys that command lines and variables have for the settings in a scope: `http-`.
    package var keyPrefix: String { components.map { $0.text + "-" }.joined() }
}

extension [Schema.Migration] {
    /// Returns the keys that the migrations rename to a key.
    fileprivate func keys(before key: String) -> [String] {
        var keys: [String] = [key]
        for migration in sorted(by: { $0.from > $1.from }) {
            for rename in migration.renames where keys.contains(exactly: rename.new) { keys.append(rename.old) }
        }
        keys.removeFirst()
        return keys
    }
}

/// The settings of all commands without dictionaries of their own, by key.
private struct SharedKeys {
    private var positions = PropertyList.Dictionary()
    private var rows: [(setting: SettingDeclaration, differ: Bool)] = []

    mutating func add(_ command: Schema.Command, within outer: Schema.Command.Store?) {
        let store = command.store ?? outer
        for setting in command.settings where store != .own {
            if let position = position(of: setting.key) {
                if !rows[position].setting.isSame(as: setting) { rows[position].differ = true }
            } else {
                positions[setting.key] = .integer(PropertyList.Integer(rows.count))
                rows.append((setting, false))
            }
        }
        for command in command.commands { add(command, within: store) }
    }

    private func position(of key: String) -> Int? { positions[key]?.integerValue.flatMap { Int(exactly: $0) } }

    /// Whether commands declare the key differently.
    func differ(_ key: String) -> Bool { position(of: key).map { rows[$0].differ } ?? false }
}

extension Schema.Command {
    fileprivate mutating func assignScopes(_ keys: SharedKeys, at outer: EntryPath, within outerStore: Store?) {
        let path = outer.appending(EntryPath.Component(name))
        let store = store ?? outerStore
        for index in settings.indices {
            let key = settings[index].key
            let isOwn = store == .own || store == nil && keys.differ(key)
            settings[index].storedAt = isOwn ? path.appending(EntryPath.Component(key)) : nil
        }
        for index in commands.indices { commands[index].assignScopes(keys, at: path, within: store) }
    }

    /// The dictionary with the command's own values, and with those of the commands in it; nil without any.
    ///
    /// A setting in it has the keys that migrations rename as former keys, so that a secret is known before they run.
    fileprivate func scope(isClosed: Bool, _ migrations: [Schema.Migration]) -> SettingDeclaration? {
        var rows = settings.filter { $0.storedAt != nil }
        for index in rows.indices { rows[index].renamedFrom += migrations.keys(before: rows[index].key) }
        rows += commands.compactMap { $0.scope(isClosed: isClosed, migrations) }
        guard !rows.isEmpty else { return nil }
        return SettingDeclaration(dictionary: name, of: rows, isClosed)
    }

    /// The keys of the command's own settings that are also commands with values of their own in it.
    var clashes: [String] {
        let names = commands.filter { $0.scope(isClosed: false, []) != nil }.map(\.name)
        return settings.filter { $0.storedAt != nil && names.contains(exactly: $0.key) }.map(\.key)
    }
}

// MARK: Uses

extension Schema {
    /// The settings that are stored in the dictionaries of commands and scopes.
    package var ownSettings: [SettingDeclaration] {
        scopes.isEmpty ? [] : allSettings.filter { $0.storedAt != nil }
    }

    /// Returns the schema of a dictionary in the domain, with the settings that are stored in it.
    package func scoped(to path: EntryPath) -> Schema {
        var result = Schema(domain: domain)
        result.isClosed = isClosed
        let length = path.components.count
        for var setting in ownSettings {
            guard let rest = setting.storedAt?.components, rest.starts(with: path.components), rest.count > length
            else {
                continue
            }
            let inner = EntryPath(Array(rest[length..<rest.endIndex - 1]))
            setting.key = inner.keyPrefix + rest[rest.endIndex - 1].text
            let prefix = path.keyPrefix
            setting.defaultFrom = setting.defaultFrom.map {
                $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : $0
            }
            setting.scope = inner.components.isEmpty ? nil : inner.description
            result.settings.append(setting)
        }
        var rule = storedSettings.declaration(of: path.components.first?.text ?? "").map(\.rule)
        for component in path.components.dropFirst() { rule = rule?.inside(component) }
        if let rule, rule.scope == nil, case .entries(let rows) = rule.contents { result.settings += rows }
        result.assignScopes()
        return result
    }

    /// The settings as they are stored: each key of the domain, among them the dictionaries of commands.
    package var storedSettings: [SettingDeclaration] {
        scopes.isEmpty ? allSettings : allSettings.filter { $0.storedAt == nil } + scopes
    }

    /// Returns the setting that is stored under a key of the domain or at a path, as of `storedKey`.
    package func declaration(storedAs key: String) -> SettingDeclaration? {
        scopes.isEmpty ? anyDeclaration(of: key) : allSettings.first { $0.storedKey.hasSameBytes(as: key) }
    }

    /// Returns the paths at which the value of a stored key may be stored, the current one first.
    package func storedPaths(of key: String) -> [EntryPath] {
        declaration(storedAs: key)?.storedPaths ?? [[EntryPath.Component(key)]]
    }

    /// Returns the key of a command's setting under which its value is stored.
    package func storedKey(of key: String, command: String?) -> String {
        declaration(of: key, command: command)?.storedKey ?? key
    }

    /// The paths of the dictionaries of commands.
    var scopePaths: [EntryPath] {
        var paths: [EntryPath] = []
        for setting in ownSettings {
            let path = EntryPath(Array(setting.storedPaths[0].components.dropLast()))
            if !paths.contains(path) { paths.append(path) }
        }
        return paths
    }

    /// Whether a path leads to the dictionary of a command, or to a container of it.
    package func isScope(_ path: EntryPath) -> Bool {
        ownSettings.contains { setting in
            guard let place = setting.storedAt else { return false }
            return place.components.count > path.components.count && place.components.starts(with: path.components)
        }
    }

    /// Returns the command's own setting in whose value a path ends.
    package func ownSetting(at path: EntryPath) -> SettingDeclaration? {
        ownSettings.first { setting in
            setting.storedPaths.contains { path.components.starts(with: $0.components) }
        }
    }

    /// The keys that are both settings and commands or scopes with values of their own, which would be stored in one
    /// place.
    var scopeClashes: [String] {
        guard !scopes.isEmpty else { return [] }
        let names = scopes.map(\.key)
        return allSettings.filter { $0.storedAt == nil && names.contains(exactly: $0.key) }.map(\.key)
            + settings.filter { setting in setting.storedAt.map { isScope($0) || isCommand($0) } ?? false }.map(\.key)
            + allCommands.flatMap(\.command.clashes)
    }

    /// Whether the dictionary of a scope is that of a command with values of its own, too.
    private func isCommand(_ place: EntryPath) -> Bool {
        scopes.count { $0.key.hasSameBytes(as: place.components[0].text) } > 1
    }

    /// The place of each key, for the author of a schema in which several commands declare one key or a command has
    /// values of its own; otherwise empty.
    package var placesOfKeys: [String] {
        let keys = allCommands.flatMap(\.command.settings).map { Name($0.key) }
        guard isStored, !scopes.isEmpty || Set(keys).count < keys.count else { return [] }
        var lines = settings.filter { !$0.isTransient }.map {
            "\($0.key) is stored in \($0.storedAt ?? [EntryPath.Component($0.key)])"
        }
        var seen: [String] = []
        for (_, command) in allCommands {
            for setting in command.settings where !setting.isTransient && !seen.contains(exactly: setting.storedKey) {
                seen.append(setting.storedKey)
                let users = allCommands.filter { other in
                    other.command.settings.contains { $0.storedKey.hasSameBytes(as: setting.storedKey) }
                }
                let place = setting.storedAt ?? [EntryPath.Component(setting.key)]
                lines.append("\(setting.key) of \(listed(users.map(\.name))) is stored in \(place)")
            }
        }
        return lines
    }
}

// MARK: Values of an earlier version

extension Schema {
    /// Returns the keys with a value that no command uses. An earlier version of the schema stored it for all of them,
    /// so the command for which it was meant is unknown.
    package func unclaimedKeys(in values: PropertyList.Dictionary) -> [String] {
        var keys: [String] = []
        for key in allCommands.flatMap({ $0.command.settings.filter { $0.storedAt != nil }.flatMap(\.allKeys) })
        where values[key] != nil {
            let isKnown = storedSettings.contains { $0.allKeys.contains { $0.hasSameBytes(as: key) } }
            if !isKnown, !keys.contains(exactly: key) { keys.append(key) }
        }
        return keys
    }

    /// Returns the names of the commands that have a value of their own for a key.
    package func commands(owning key: String) -> [String] {
        allCommands.filter { $0.command.settings.contains { $0.storedAt != nil && $0.allKeys.contains(exactly: key) } }
            .map(\.name)
    }

    /// Returns the values with the unclaimed ones moved to a command. A value of its own stays. Throws if another value
    /// is in the place of the command's dictionary.
    package func claimed(
        _ values: PropertyList.Dictionary, by command: String
    ) throws(EntryPath.Failure) -> Migrated {
        var result = Migrated(values: values)
        let unclaimed = unclaimedKeys(in: values)
        for setting in settings(of: command) {
            guard let place = setting.storedAt,
                let old = setting.allKeys.first(where: { unclaimed.contains(exactly: $0) }),
                let value = values[old]
            else { continue }
            // As for a rename: a value that is masked now must not be shown at its new path.
            guard setting.hasSecrets || !settings(named: old).contains(where: \.hasSecrets) else {
                result.steps.append(.notClaimedSecret(old, place))
                continue
            }
            guard result.values.value(at: place) == nil else {
                result.steps.append(.notClaimed(old, place))
                continue
            }
            result.values[old] = nil
            try result.values.put(value, at: place)
            result.steps.append(.renamed(old: old, new: place.description))
        }
        return result
    }
}

extension PropertyList.Dictionary {
    /// Returns the value at a path; nil if there is none.
    package func value(at path: EntryPath) -> PropertyList? {
        guard let first = path.components.first else { return nil }
        return self[first.text]?[EntryPath(Array(path.components.dropFirst()))]
    }

    /// Sets the value at a path of keys, and creates the dictionaries that contain it. Throws, and changes nothing, if
    /// the path leads into a value that is not a dictionary.
    package mutating func put(_ value: PropertyList, at path: EntryPath) throws(EntryPath.Failure) {
        guard let first = path.components.first else { return }
        guard path.components.count > 1 else {
            self[first.text] = value
            return
        }
        var inner = PropertyList.Dictionary()
        switch self[first.text] {
        case nil: break
        case .dictionary(let former)?: inner = former
        case let other?: throw EntryPath.Failure(problem: .notAContainer(other.kind), place: path.description)
        }
        do throws(EntryPath.Failure) {
            try inner.put(value, at: EntryPath(Array(path.components.dropFirst())))
        } catch {
            throw EntryPath.Failure(problem: error.problem, place: path.description)
        }
        self[first.text] = .dictionary(inner)
    }

    /// Removes the value at a path of keys, and the dictionaries that become empty.
    package mutating func remove(at path: EntryPath) {
        guard let first = path.components.first else { return }
        guard path.components.count > 1 else {
            self[first.text] = nil
            return
        }
        guard var inner = self[first.text]?.dictionaryValue else { return }
        inner.remove(at: EntryPath(Array(path.components.dropFirst())))
        self[first.text] = inner.isEmpty ? nil : .dictionary(inner)
    }
}
