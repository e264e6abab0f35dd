package import PropertyLists

/// The text shown in place of a secret.
package let mask = "••••"

extension Schema {
    /// Whether any setting, or any entry within one, is sensitive.
    package var hasSecrets: Bool { allSettings.contains(where: \.hasSecrets) }

    /// Returns whether the entry at a path that starts with a key is declared as sensitive.
    ///
    /// - Parameter value: The entry's value. If its type differs from the declared one, sensitive entries within it
    ///   cannot be identified, so the whole value is sensitive.
    package func isSensitive(_ path: EntryPath, holding value: PropertyList? = nil) -> Bool {
        guard let key = path.components.first else { return false }
        return settings(under: key.text).contains { $0.isSensitive(at: path.components.dropFirst(), holding: value) }
    }

    /// Returns the value of a key with each secret masked.
    package func masked(_ value: PropertyList, under key: String) -> PropertyList {
        settings(under: key).reduce(value) { $1.masked($0) }
    }

    /// Returns whether the value of a key contains a secret.
    package func containsSecret(_ value: PropertyList, under key: String) -> Bool {
        settings(under: key).contains { $0.containsSecret(value) }
    }

    /// Returns whether the entry at a path that starts with a key has a declaration.
    package func declares(_ path: EntryPath) -> Bool {
        guard let key = path.components.first else { return false }
        return settings(named: key.text).contains { setting in
            path.components.dropFirst().reduce(Optional(setting)) { $0?.inside($1) } != nil
        }
    }

    /// Takes the file of another schema of the same program, and the keys that stay on each host.
    package mutating func keepFile(of known: Schema) {
        defer { assignScopes() }
        (programFiles, isClosed) = (known.programFiles, false)
        (title, summary) = (title ?? known.title, summary ?? known.summary)
        if !known.mirrorsUndeclared {
            mirrorsUndeclared = false
            for index in settings.indices { settings[index].isMirrored = false }
            for setting in known.settings where setting.isMirrored {
                for index in settings.indices where settings[index].key.hasSameBytes(as: setting.key) {
                    settings[index].isMirrored = true
                }
            }
        }
        for setting in known.settings {
            guard let index = settings.firstIndex(where: { $0.key.hasSameBytes(as: setting.key) }) else {
                settings.append(setting)
                continue
            }
            guard setting.staysLocal else { continue }
            if setting.isMirrored, !setting.isSensitive {
                settings[index] = setting
            } else {
                settings[index].isMirrored = settings[index].isMirrored && setting.isMirrored
                settings[index].isSensitive = settings[index].isSensitive || setting.isSensitive
            }
        }
    }

    /// Returns whether the value of a key is not mirrored.
    package func staysLocal(_ key: String) -> Bool {
        let settings = settings(under: key)
        return settings.isEmpty ? !mirrorsUndeclared : settings.contains(where: \.staysLocal)
    }

    /// Whether there are keys whose values are not mirrored.
    package var keepsValues: Bool { !mirrorsUndeclared || allSettings.contains(where: \.staysLocal) }

    /// The schema as it applies to the file of a program, which knows nothing of it: it describes and checks values,
    /// and adds none.
    package var ofProgramFile: Schema {
        var result = Schema(domain: domain, title: title)
        (result.summary, result.settings, result.queries) = (summary, settings, queries)
        (result.programFiles, result.mirrorsUndeclared) = (programFiles, mirrorsUndeclared)
        for index in result.settings.indices {
            result.settings[index].defaultValue = nil
            (result.settings[index].environment, result.settings[index].renamedFrom) = ([], [])
            (result.settings[index].isByHost, result.settings[index].isTransient) = (false, false)
        }
        result.assignScopes()
        return result
    }

    /// Returns the settings whose values may be stored under a key. Several commands may have a setting with the same
    /// key, and a migration that has not run yet may move the value of an undeclared key to a setting.
    private func settings(under key: String) -> [SettingDeclaration] {
        let declared = settings(named: key)
        guard declared.isEmpty, !migrations.isEmpty else { return declared }
        var keys = [key]
        for rename in migrations.sorted(by: { $0.from < $1.from }).flatMap(\.renames)
        where keys.contains(where: { $0.hasSameBytes(as: rename.old) }) {
            keys.append(rename.new)
        }
        return keys.dropFirst().flatMap { settings(named: $0) }
    }

    /// The settings that are stored under a key, also under a former one, or by an earlier version for all commands.
    package func settings(named key: String) -> [SettingDeclaration] {
        allSettings.filter { $0.isStored(under: key) } + scopes.filter { $0.isStored(under: key) }
    }

    /// The settings of the program and of all its commands.
    package var allSettings: [SettingDeclaration] {
        commands.isEmpty ? settings : settings + allCommands.flatMap(\.command.settings)
    }
}

extension Schema {
    /// The sensitive settings alone, with nothing but what identifies them. A key that a migration renames to one of
    /// them is a former key.
    package var secretsOnly: Schema {
        var result = Schema(domain: domain)
        let renamed = migrations.flatMap(\.renames).map(\.old)
        for setting in allSettings + scopes where setting.hasSecrets {
            var reduced = setting.secretsOnly
            reduced.renamedFrom += renamed.filter { old in
                !setting.allKeys.contains { $0.hasSameBytes(as: old) }
                    && settings(under: old).contains { $0.key.hasSameBytes(as: setting.key) }
            }
            result.settings.append(reduced)
        }
        return result
    }
}

extension [Schema.Mistake] {
    /// The first error that may hide a sensitive setting from the readable part of a schema, or nil.
    package var concealing: Schema.Mistake? {
        // Further errors are not reported.
        first(where: \.mayConcealSecret) ?? (count >= Schema.maximumDiagnostics ? last : nil)
    }
}

extension Schema.Mistake {
    /// Whether, because of this error, the readable part of the schema may lack a sensitive setting: the setting, its
    /// key or the attribute that makes it sensitive was not read.
    fileprivate var mayConcealSecret: Bool {
        let declaring: Set<EntryPath.Component> = ["Settings", "Commands", "Extends", "Migrations"]
        let identifying: Set<EntryPath.Component> = ["Key", "Sensitive", "RenamedFrom", "Entries", "Elements"]
        let isOutside = path.components.first.map { !declaring.contains($0) } ?? false
        switch reason {
        case .notAPropertyList, .nestedTooDeeply, .tooMany, .cycle, .missingSchema, .unreadableSchema: return true
        case .unknownAttribute(_, let nearest):
            // A misspelled title conceals nothing, but an attribute of a later version can.
            guard isOutside else { return true }
            return nearest.map { declaring.contains(EntryPath.Component($0)) } ?? true
        case .missingAttribute, .wrongValue:
            guard !isOutside, let last = path.components.last else { return !isOutside }
            return last.index != nil || declaring.contains(last) || identifying.contains(last)
                || path.components.first == "Migrations"
        default: return false
        }
    }
}

extension SettingDeclaration {
    /// The setting with nothing but what identifies it and its sensitive entries.
    fileprivate var secretsOnly: SettingDeclaration {
        var result = SettingDeclaration(key, isSensitive ? ValueRule(.any) : rule.secretsOnly)
        (result.isSensitive, result.renamedFrom) = (isSensitive, renamedFrom)
        return result
    }

    /// The keys under which the value may be stored, the current one first.
    package var allKeys: [String] { [key] + renamedFrom }

    fileprivate func isStored(under key: String) -> Bool {
        self.key.hasSameBytes(as: key) || renamedFrom.contains(exactly: key)
    }

    /// Whether the value is a secret or contains one.
    package var hasSecrets: Bool { isSensitive || rule.hasEntry(where: \.hasSecrets) }

    /// Whether the value is not mirrored: it is a secret, its schema excludes it, or it contains such an entry.
    package var staysLocal: Bool { isSensitive || !isMirrored || rule.hasEntry(where: \.staysLocal) }

    /// Returns the value with each secret masked.
    package func masked(_ value: PropertyList) -> PropertyList {
        isSensitive ? .string(mask) : hasSecrets ? rule.masked(value) : value
    }

    /// Returns whether a value contains a secret.
    package func containsSecret(_ value: PropertyList) -> Bool { hasSecrets && masked(value) != value }

    /// Returns whether the entry at the rest of a path is a secret, contains one, or is within one.
    func hasSecrets(at components: some Collection<EntryPath.Component>) -> Bool {
        guard !isSensitive, let next = components.first else { return hasSecrets }
        return inside(next)?.hasSecrets(at: components.dropFirst()) ?? false
    }

    /// Returns whether the entry at the rest of a path is declared as sensitive.
    fileprivate func isSensitive(
        at components: some Collection<EntryPath.Component>, holding value: PropertyList?
    ) -> Bool {
        guard let next = components.first else { return isSensitive || value.map { rule.isOpaque($0) } ?? false }
        return inside(next)?.isSensitive(at: components.dropFirst(), holding: value) ?? false
    }

    /// Returns the declaration of the entry under a path component, or nil if there is none.
    fileprivate func inside(_ component: EntryPath.Component) -> SettingDeclaration? {
        if case .entries(let rows) = rule.contents { return rows.declaration(storing: component.text) }
        return rule.inside(component).map { SettingDeclaration(component.text, $0) }
    }
}

extension [SettingDeclaration] {
    /// Returns the declaration of the setting whose value may be stored under a key, also under a former one.
    fileprivate func declaration(storing key: String) -> SettingDeclaration? {
        declaration(of: key) ?? first { $0.renamedFrom.contains(exactly: key) }
    }
}

extension ValueRule {
    /// Returns whether any declared entry within the value has a trait. `hasTrait` is responsible for deeper levels.
    fileprivate func hasEntry(where hasTrait: (SettingDeclaration) -> Bool) -> Bool {
        switch contents {
        case .anything: false
        case .each(let rule): rule.hasEntry(where: hasTrait)
        case .entries(let rows): rows.contains(where: hasTrait)
        }
    }

    /// The type with the sensitive entries alone.
    fileprivate var secretsOnly: ValueRule {
        var result = ValueRule(type)
        switch contents {
        case .anything: break
        case .each(let rule): result.contents = .each(rule.secretsOnly)
        case .entries(let rows): result.contents = .entries(rows.filter(\.hasSecrets).map(\.secretsOnly))
        }
        return result
    }

    /// Returns whether the value's type differs from the declared one, so that its sensitive entries cannot be
    /// identified.
    fileprivate func isOpaque(_ value: PropertyList) -> Bool {
        switch (contents, value) {
        case (.anything, _), (.each, .array), (.each, .dictionary), (.entries, .dictionary): false
        default: hasEntry(where: \.hasSecrets)
        }
    }

    fileprivate func masked(_ value: PropertyList) -> PropertyList {
        if isOpaque(value) { return .string(mask) }
        switch (contents, value) {
        case (.each(let rule), .array(let elements)): return .array(elements.map(rule.masked))
        case (.each(let rule), .dictionary(let entries)):
            return .dictionary(PropertyList.Dictionary(entries.map { ($0.key, rule.masked($0.value)) }))
        case (.entries(let rows), .dictionary(let entries)):
            let shown = entries.map { entry in
                (entry.key, rows.declaration(storing: entry.key)?.masked(entry.value) ?? entry.value)
            }
            return .dictionary(PropertyList.Dictionary(shown))
        default: return value
        }
    }

    /// Returns the value for a message, with its secrets masked.
    func shownText(of value: PropertyList) -> String { masked(value).shownText }
}

// MARK: Names

extension String {
    /// Whether the text is named like a secret, as in `apiToken`, `SECRET_KEY` and `http.password`.
    package var namesSecret: Bool {
        let name = WordsOfName(self)
        return name.hasWord(among: Self.wordsOfSecrets) || name.contains(anyOf: Self.partsOfSecrets)
    }

    /// Whether the text is named like a program or a server, as in `python.defaultInterpreterPath`.
    package var namesProgram: Bool {
        let name = WordsOfName(self)
        if name.hasWord(among: Self.wordsOfPrograms) || name.contains(anyOf: Self.partsOfPrograms) { return true }
        // The first words of a key can name a part of the program, as in `editor.fontSize`.
        guard let last = split(separator: ".").last else { return false }
        return WordsOfName(String(last)).hasWord(among: Self.lastWordsOfPrograms)
    }

    private static let wordsOfSecrets: Set = ["key", "keys", "auth", "auths", "pwd", "pat", "bearer"]
    private static let partsOfSecrets = [
        "token", "secret", "password", "passwd", "passphrase", "credential", "authorization", "cookie",
        "privatekey", "apikey",
    ]

    private static let wordsOfPrograms: Set = [
        "path", "paths", "command", "commands", "cmd", "exec", "execute", "executable", "executables", "program",
        "programs", "binary", "binaries", "bin", "shell", "shells", "interpreter", "interpreters", "runtime",
        "runtimes", "launch", "launcher", "script", "scripts", "hook", "hooks", "plugin", "plugins", "extension",
        "extensions", "server", "servers", "url", "urls", "uri", "uris", "endpoint", "endpoints", "host", "hosts",
        "proxy", "proxies", "arg", "args", "argv", "arguments", "env", "environment",
    ]
    private static let partsOfPrograms = ["command", "execut", "path", "url", "hook", "proxy", "preload"]
    private static let lastWordsOfPrograms: Set = [
        "editor", "formatter", "run", "task", "tasks", "browser", "pager", "registry", "click", "cmdline", "install",
        "postinstall", "preinstall", "opener", "handler", "terminal",
    ]
}

/// A name in lower case, and its words. A word ends before a capital letter, and before any other character except a
/// letter.
private struct WordsOfName {
    private let small: [UInt8]
    private let words: [String]

    init(_ name: String) {
        // The sign for Kelvin is the only other character whose lower case is a letter of ASCII.
        let bytes = Array((name.utf8.contains(0xE2) ? name.replacing("\u{212A}", with: "k") : name).utf8)
        func isSmall(_ index: Int) -> Bool {
            index < bytes.count && UInt8(ascii: "a")...UInt8(ascii: "z") ~= bytes[index]
        }
        func isCapital(_ index: Int) -> Bool {
            index < bytes.count && UInt8(ascii: "A")...UInt8(ascii: "Z") ~= bytes[index]
        }
        small = bytes.indices.map { isCapital($0) ? bytes[$0] | 0x20 : bytes[$0] }
        var (words, word) = ([String](), [UInt8]())
        for index in bytes.indices {
            // The last of several capital letters belongs to the small letters after it, as in `URLPath`.
            let begins = isCapital(index) && index > 0 && (isSmall(index - 1) || isSmall(index + 1))
            let isLetter = isSmall(index) || isCapital(index)
            if begins || !isLetter, !word.isEmpty {
                words.append(String(decoding: word, as: UTF8.self))
                word = []
            }
            if isLetter { word.append(small[index]) }
        }
        self.words = word.isEmpty ? words : words + [String(decoding: word, as: UTF8.self)]
    }

    func hasWord(among others: Set<String>) -> Bool { words.contains { others.contains($0) } }

    func contains(anyOf parts: [String]) -> Bool {
        parts.contains { part in
            small.indices.dropLast(part.utf8.count - 1).contains { small[$0...].starts(with: part.utf8) }
        }
    }
}
