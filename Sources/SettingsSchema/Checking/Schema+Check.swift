public import PropertyLists

extension Schema {
    /// What is wrong with a value for a key. A key that is not declared may have any value.
    public func problems(with value: PropertyList, forKey key: String) -> [Problem] {
        guard let setting = anyDeclaration(of: key) else { return [] }
        return setting.rule.problems(
            with: value, at: [EntryPath.Component(key)], isSecret: setting.isSensitive)
    }

    /// What is wrong with the values of a whole domain, taken together.
    ///
    /// - Parameter refusesUnknownKeys: Whether a key that is not declared is a problem too.
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

    /// The rule for what stands at a path, whose first component is the key; nil where nothing is declared.
    package func rule(at path: EntryPath) -> ValueRule? {
        guard let key = path.components.first, let setting = anyDeclaration(of: key.text) else { return nil }
        var rule: ValueRule? = setting.rule
        for component in path.components.dropFirst() { rule = rule?.inside(component) }
        return rule
    }

    /// The declaration of a key, also of one that only a command has.
    package func anyDeclaration(of key: String) -> SettingDeclaration? {
        declaration(of: key)
            ?? commands.lazy.compactMap { command in
                command.settings.first { $0.key.hasSameBytes(as: key) }
            }.first
    }
}

extension [SettingDeclaration] {
    /// What is wrong with which settings have a value and which have none.
    ///
    /// - Parameters:
    ///   - given: Whether a key was chosen here: two such may conflict.
    ///   - present: Whether a key has a value from anywhere but the factory.
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
