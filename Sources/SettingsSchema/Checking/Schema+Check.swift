public import PropertyLists

extension Schema {
    /// Returns the problems of a value for a key. An undeclared key may have any value, unless the schema is closed.
    public func problems(with value: PropertyList, forKey key: String) -> [Problem] {
        guard let setting = anyDeclaration(of: key) else {
            let known = allSettings.flatMap(\.allKeys)
            guard isClosed, key != Self.versionKey, !known.contains(where: { $0.hasSameBytes(as: key) }) else {
                return []
            }
            return [Problem(path: [EntryPath.Component(key)], reason: .unknownKey(nearest: known.nearest(to: key)))]
        }
        return setting.rule.problems(
            with: value, at: [EntryPath.Component(key)], isSecret: setting.isSensitive)
    }

    /// Returns the problems of all values in a domain, including combinations of settings.
    ///
    /// - Parameter refusesUnknownKeys: Whether undeclared keys are problems too.
    public func problems(
        in values: PropertyList.Dictionary, refusesUnknownKeys: Bool = false
    ) -> [Problem] {
        let known = allSettings.flatMap(\.allKeys)
        let names = Set(known.map { EntryPath.Component($0) })
        let own = values.flatMap { entry -> [Problem] in
            if entry.key == Self.versionKey { return [] }
            if refusesUnknownKeys, !names.contains(EntryPath.Component(entry.key)) {
                let reason = Problem.Reason.unknownKey(nearest: known.nearest(to: entry.key))
                return [Problem(path: [EntryPath.Component(entry.key)], reason: reason)]
            }
            return problems(with: entry.value, forKey: entry.key)
        }
        let needs = settings.relationProblems(given: { values[$0] != nil }, present: { values[$0] != nil })
        return own + needs
    }

    /// Returns the rule for the entry at a path that starts with a key, or nil if none is declared.
    package func rule(at path: EntryPath) -> ValueRule? {
        guard let key = path.components.first, let setting = anyDeclaration(of: key.text) else { return nil }
        var rule: ValueRule? = setting.rule
        for component in path.components.dropFirst() { rule = rule?.inside(component) }
        return rule
    }

    /// Returns the declaration of a key, including keys that only a command has.
    package func anyDeclaration(of key: String) -> SettingDeclaration? {
        declaration(of: key)
            ?? (commands.isEmpty
                ? nil : allCommands.lazy.flatMap(\.command.settings).first { $0.key.hasSameBytes(as: key) })
    }
}

extension [SettingDeclaration] {
    /// Returns the broken rules about which settings must or must not have values.
    ///
    /// - Parameters:
    ///   - given: Whether a key is set here. Two conflicting keys must not both be.
    ///   - present: Whether a key has a value other than its default.
    package func relationProblems(
        given: (String) -> Bool, present: (String) -> Bool
    ) -> [Schema.Problem] {
        var problems: [Schema.Problem] = []
        var conflicts: Set<Set<String>> = []
        var groups: Set<Set<String>> = []
        func report(_ key: String, _ reason: Schema.Problem.Reason) {
            problems.append(Schema.Problem(path: [EntryPath.Component(key)], reason: reason))
        }
        for setting in self {
            let key = setting.key
            if setting.isRequired, setting.defaultValue == nil, !present(key) { report(key, .missing) }
            for other in setting.conflicts where given(key) && given(other) {
                if conflicts.insert([key, other]).inserted { report(key, .conflict(with: other)) }
            }
            for other in setting.requires where given(key) && !present(other) { report(key, .requires(other)) }
            let group = setting.exactlyOneOf.contains(key) ? setting.exactlyOneOf : [key] + setting.exactlyOneOf
            guard group.count > 1, groups.insert(Set(group)).inserted else { continue }
            if group.count(where: given) > 1 || !group.contains(where: present) { report(key, .exactlyOne(of: group)) }
        }
        return problems
    }
}
