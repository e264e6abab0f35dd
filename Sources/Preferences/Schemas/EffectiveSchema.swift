internal import Platform
package import PropertyLists
package import SettingsSchema

/// The schema in force for a domain: the one that the program has declared, or the installed one.
///
/// It is a class because a schema is large, and every read and write of a value uses it.
package final class EffectiveSchema: Sendable {
    package let schema: Schema
    /// The file of an installed schema, or nil for one that the program has declared.
    package let file: String?
    /// The values of a declared command line, or nil if the program has not declared one.
    let program: ProgramValues?
    /// The declarations to apply, by key.
    package let declarations: [Name: SettingDeclaration]
    /// The setting that names the file of the program's configuration.
    let configuration: SettingDeclaration?
    /// The present keys by former keys.
    package let presentKeys: [Name: Name]
    private let defaultValues: PropertyList.Dictionary
    /// The places of the defaults that are paths in the user's home.
    private let defaultsInHome: [EntryPath]
    /// The settings whose values can be the default of a key, in the order in which they are tried.
    let defaultSources: [Name: [SettingDeclaration]]
    /// Whether a value is a secret.
    let hasSecrets: Bool

    /// The values of the command line and the environment of a program.
    package struct ProgramValues: Sendable {
        let command: String?
        let arguments: PropertyList.Dictionary
        /// The values of the environment, or nil for those of the variables in the schema.
        let environment: PropertyList.Dictionary?
        /// The keys whose values are not used, each with the spelling of the setting that excludes them.
        let displaced: PropertyList.Dictionary
        /// The file that the command line, or another layer, names as configuration.
        var configuration: LayerSource?

        package init(
            command: String? = nil, arguments: PropertyList.Dictionary = [:],
            environment: PropertyList.Dictionary? = nil, displaced: PropertyList.Dictionary = [:]
        ) {
            (self.command, self.arguments, self.environment) = (command, arguments, environment)
            self.displaced = displaced
        }

        /// Creates the values for help, which shows those without the flags beside it, and what gives way to the flags.
        /// Invalid variables are shown with the reason.
        package init(asking request: Schema.Arguments.HelpRequest) {
            self.init(command: request.command, displaced: request.given.displaced)
        }

        /// Creates the values of a parsed command line, with the file of the configuration that was read.
        package init(_ arguments: Schema.Arguments, _ configuration: LayerSource?) {
            self.init(
                command: arguments.command, arguments: arguments.values, environment: arguments.environment,
                displaced: arguments.displaced)
            self.configuration = configuration
        }
    }

    /// The keys whose values depend on that of another key of the domain: a present key on its former ones, and the
    /// settings of a command on its dictionary.
    let dependentKeys: [Name: [Name]]
    /// The dictionaries of commands, for those who see the domain as a whole and not as one of the commands.
    let scopes: [SettingDeclaration]

    /// Without a program, the declarations are those of the domain as it is stored. Until a program has chosen a
    /// command, they are the settings of all commands under their stored keys.
    ///
    /// - Parameter program: The values of a program.
    package init(_ schema: Schema, file: String? = nil, program: ProgramValues? = nil) {
        (self.schema, self.file, self.program) = (schema, file, program)
        hasSecrets = schema.hasSecrets
        let settings =
            program == nil
            ? schema.storedSettings
            : program?.command.map { schema.settings(of: $0) }
                ?? schema.settings + schema.allCommands.flatMap { $0.command.settings.map(\.underStoredKey) }
        let scopes = program == nil ? schema.scopes : []
        self.scopes = scopes
        let defaults = settings.compactMap { row in row.defaultValue.map { (row.key, $0) } }
        var defaultValues = PropertyList.Dictionary(defaults.reversed())
        for setting in scopes.isEmpty ? [] : schema.ownSettings {
            guard let place = setting.storedAt, let value = setting.defaultValue else { continue }
            try? defaultValues.put(value, at: place)
        }
        self.defaultValues = defaultValues
        defaultsInHome =
            settings.filter(\.isDefaultInHome).map { [EntryPath.Component($0.key)] }
            + (scopes.isEmpty ? [] : schema.ownSettings.filter(\.isDefaultInHome).compactMap(\.storedAt))
        configuration = schema.settings(of: program?.command).first(where: \.isConfiguration)
        declarations = Dictionary(settings.map { (Name($0.key), $0) }) { first, _ in first }
        let pairs = settings.filter { $0.storedAt == nil }.flatMap { setting in
            setting.renamedFrom.map { (Name($0), Name(setting.key)) }
        }
        presentKeys = Dictionary(pairs) { first, _ in first }
        let inScopes = settings.compactMap { setting in
            (setting.storedAt?.components.first).map { (Name($0.text), Name(setting.key)) }
        }
        func place(_ setting: SettingDeclaration) -> Name {
            Name(setting.storedAt?.components.first?.text ?? setting.key)
        }
        var sources: [Name: [SettingDeclaration]] = [:]
        let all = scopes.isEmpty ? settings : settings + schema.ownSettings.map(\.underStoredKey)
        for setting in all where setting.defaultFrom != nil {
            var found: [SettingDeclaration] = []
            while let next = Self.defaultSource(of: found.last ?? setting, declarations, schema, program) {
                // The check of the schema refuses cycles, but a program can use a schema without it.
                if found.contains(where: { $0.key.hasSameBytes(as: next.key) }) { break }
                found.append(next)
            }
            sources[Name(setting.key)] = found
        }
        defaultSources = sources
        let withDefaults = all.flatMap { setting in
            (sources[Name(setting.key)] ?? []).map { (place($0), place(setting)) }.filter { $0 != $1 }
        }
        dependentKeys = Dictionary((pairs + inScopes + withDefaults).map { ($0.0, [$0.1]) }, uniquingKeysWith: +)
    }

    /// Returns the defaults, with the paths in the user's home expanded.
    func defaultValues(on system: SystemServices) -> PropertyList.Dictionary {
        guard !defaultsInHome.isEmpty, let home = system.home(of: nil) else { return defaultValues }
        var values = defaultValues
        for place in defaultsInHome {
            guard let text = values.value(at: place)?.stringValue else { continue }
            try? values.put(.string("\(home)\(text.dropFirst())"), at: place)
        }
        return values
    }

    /// Returns the setting whose value another one has if no layer has one; nil for none.
    private static func defaultSource(
        of setting: SettingDeclaration, _ declarations: [Name: SettingDeclaration], _ schema: Schema,
        _ program: ProgramValues?
    ) -> SettingDeclaration? {
        guard let key = setting.defaultFrom else { return nil }
        guard program?.command == nil, let outer = setting.storedAt?.components.dropLast() else {
            return declarations[Name(key)]
        }
        let place = EntryPath(outer + [EntryPath.Component(key)])
        return schema.ownSettings.first { $0.storedAt == place }?.underStoredKey ?? declarations[Name(key)]
    }

    var rules: SchemaRules { SchemaRules(schema) }

    /// Returns the schema of a dictionary in the domain, with the settings of the program that are stored in it.
    func scoped(to path: EntryPath) -> EffectiveSchema {
        let prefix = path.keyPrefix
        let values = program.map { program in
            let displaced = program.displaced.filter { $0.key.hasPrefix(prefix) }
            return ProgramValues(
                displaced: PropertyList.Dictionary(
                    displaced.map { (String($0.key.dropFirst(prefix.count)), $0.value) }))
        }
        return EffectiveSchema(schema.scoped(to: path), file: file, program: values)
    }
}

extension EffectiveSchema {
    /// Returns the edits of a domain for changes of settings. Those of commands and scopes are entries of dictionaries.
    ///
    /// Values under former keys are removed. They would become visible again otherwise.
    func edits(
        for changes: [(key: String, value: PropertyList?)], in stored: PropertyList.Dictionary
    ) -> [ValueEdit] {
        changes.flatMap { key, value in
            guard let declaration = declarations[Name(key)] else { return [ValueEdit(key, value)] }
            let paths = declaration.storedPaths
            let former = paths.dropFirst().filter { stored.value(at: $0) != nil }
            return [ValueEdit(paths[0], value)] + former.map { ValueEdit($0, nil) }
        }
    }
}

extension EffectiveSchema? {
    /// Returns the stored value of a key, which a setting of a command has in the dictionary of the command.
    func value(of key: String, in stored: PropertyList.Dictionary) -> PropertyList? {
        guard let place = self?.declarations[Name(key)]?.storedAt else { return stored[key] }
        return stored.value(at: place)
    }

    /// Sets or removes the stored value of a key. Throws if it cannot be stored in the dictionary of its command.
    func put(
        _ value: PropertyList?, _ key: String, in stored: inout PropertyList.Dictionary
    ) throws(EntryPath.Failure) {
        guard let declaration = self?.declarations[Name(key)], let place = declaration.storedAt else {
            stored[key] = value
            return
        }
        if let value { try stored.put(value, at: place) } else { stored.remove(at: place) }
        for path in declaration.storedPaths.dropFirst() { stored.remove(at: path) }
    }
}

extension SettingDeclaration {
    /// Returns the usable form of a layer's value, or the reason for which it is ignored.
    ///
    /// - Parameter isExposed: Whether others can read the file that contains it.
    package func verdict(on stored: PropertyList, isExposed: Bool = false) -> Verdict {
        if isExposed, containsSecret(stored) { return .skipped("is sensitive, but other users can read the file") }
        let value = rule.adapted(stored)
        let problems = rule.problems(with: value, at: [EntryPath.Component(key)], isSecret: isSensitive)
        guard let first = problems.first else { return .usable(value) }
        let place = first.path.components.count > 1 ? "\(first.path) " : ""
        return .skipped("\(place)\(first.reason)")
    }
}

/// Whether a stored value is used.
package enum Verdict: Hashable, Sendable {
    case usable(PropertyList)
    /// The value of the next layer, or else the default, is used, because the value violates this rule.
    case skipped(String)
}

/// The rules of a domain's schema for writers.
///
/// Only changed values are checked. A value that was invalid before does not prevent other changes.
package struct SchemaRules: Sendable {
    package let schema: Schema

    package init(_ schema: Schema) { self.schema = schema }

    /// Applies a change to a draft of one of the user's files. Throws all violations.
    ///
    /// - Parameters:
    ///   - domain: The name of the domain in messages.
    ///   - hasVersion: Whether the file records the version of its settings. The administrator's files do not.
    ///   - isForced: Whether to permit violations.
    package func change<Result>(
        _ draft: inout DomainDraft, of domain: String, hasVersion: Bool = true, isForced: Bool = false,
        _ body: (inout DomainDraft) throws -> Result
    ) throws -> Result {
        let stored = draft.values
        if hasVersion, !isForced { try checkVersion(of: stored, domain) }
        if hasVersion { moveRenamed(&draft.values) }
        let former = draft.values
        let result = try body(&draft)
        draft.values[Schema.versionKey] = former[Schema.versionKey]
        guard draft.values != former else {
            // Moving renamed keys alone does not justify a write.
            draft.values = stored
            return result
        }
        if !isForced {
            try check(from: former, to: draft.values, domain)
            if draft.isExposed { try checkPrivacy(of: draft.values, domain) }
        }
        if hasVersion, !draft.removesFile { recordVersion(in: &draft.values, isNew: stored.isEmpty) }
        return result
    }

    /// Moves values from former to present keys.
    func moveRenamed(_ values: inout PropertyList.Dictionary) { values = underPresentKeys(values) }

    /// Returns the values of a file under their present keys.
    func underPresentKeys(_ values: PropertyList.Dictionary) -> PropertyList.Dictionary {
        guard schema.storedVersion(of: values) == schema.version else { return values }
        return (try? schema.migrated(values).values) ?? values
    }

    /// Records the version of the settings in a new domain.
    func recordVersion(in values: inout PropertyList.Dictionary, isNew: Bool) {
        guard isNew, schema.version > 1, !values.isEmpty, values[Schema.versionKey] == nil else { return }
        values[Schema.versionKey] = .integer(PropertyList.Integer(schema.version))
    }
}

// MARK: Checks

extension SchemaRules {
    /// Throws if the version of the settings differs from that of the schema.
    package func checkVersion(of values: PropertyList.Dictionary, _ domain: String) throws(StoreFailure) {
        let stored = schema.storedVersion(of: values)
        guard stored != schema.version else { return }
        let isNewer = stored > schema.version
        throw StoreFailure(.otherVersion(stored: stored, known: schema.version, isNewer: isNewer), domain)
    }

    /// The values that a new domain begins with: the version of its settings, unless that is 1.
    var beginning: [(key: String, value: PropertyList?)] {
        schema.version > 1 ? [(Schema.versionKey, .integer(PropertyList.Integer(schema.version)))] : []
    }

    /// Throws if the changes violate a rule.
    func check(
        _ changes: [(key: String, value: PropertyList?)], over stored: PropertyList.Dictionary, isExposed: Bool,
        _ domain: String
    ) throws(StoreFailure) {
        try checkVersion(of: stored, domain)
        let new = Dictionary(changes.map { (Name($0.key), $0.value) }) { _, last in last }
        try check(from: { stored[$0] }, to: { new[Name($0)] ?? stored[$0] }, new.keys.map(\.text), domain)
        guard isExposed else { return }
        try checkPrivacy(
            of: PropertyList.Dictionary(new.compactMap { entry in entry.value.map { (entry.key.text, $0) } }), domain)
    }

    /// Throws if the change from one state of a domain to another violates a rule.
    package func check(
        from former: PropertyList.Dictionary, to new: PropertyList.Dictionary, _ domain: String
    ) throws(StoreFailure) {
        try check(from: { former[$0] }, to: { new[$0] }, new.keys.map(\.self), domain)
    }

    /// Throws all values that violate their rules.
    func check(
        from former: (String) -> PropertyList?, to new: (String) -> PropertyList?, _ keys: [String], _ domain: String
    ) throws(StoreFailure) {
        var problems: [Schema.Problem] = []
        for key in keys.sorted(by: { $0.isBefore($1) }) {
            guard let value = new(key), former(key) != value else { continue }
            var found = schema.problems(with: value, forKey: key)
            if let old = former(key), schema.scopes.contains(where: { $0.key.hasSameBytes(as: key) }) {
                // Only changed entries of a command's dictionary are checked.
                found.removeAll { problem in
                    let entry = EntryPath(Array(problem.path.components.dropFirst()))
                    return value[entry] == old[entry] && value[entry] != nil
                }
            }
            problems += found
        }
        problems += relations(new).subtracting(relations(former)).sorted { $0.description < $1.description }
        guard problems.isEmpty else { throw StoreFailure(.refused(problems), domain) }
    }

    /// Returns the settings that exclude each other. Missing settings are not an error, because they may still be set.
    private func relations(_ value: (String) -> PropertyList?) -> Set<Schema.Problem> {
        guard schema.hasExclusions else { return [] }
        let values = schema.storedSettings.compactMap { row in value(row.key).map { (row.key, $0) } }
        return Set(
            schema.relationProblems(in: [.init(.stored, "", PropertyList.Dictionary(values))], isComplete: false))
    }

    /// Throws if a file that others can read would contain a secret.
    private func checkPrivacy(of values: PropertyList.Dictionary, _ domain: String) throws(StoreFailure) {
        let secret = values.first { schema.containsSecret($0.value, under: $0.key) }
        if let secret { throw StoreFailure(.exposed(key: secret.key), domain) }
    }
}
