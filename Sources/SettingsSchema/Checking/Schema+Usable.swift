package import PropertyLists

extension Schema {
    /// What of a layer's values a program can use, and what is wrong with the rest.
    ///
    /// A value that was stored before its schema was, or under another, never breaks a program: it is left out here, so
    /// that a lower layer shows, and in the end the factory. Text stands for values of other types where it says one, as
    /// files do that have only text; values under old keys are found under the new ones.
    package func usable(
        _ values: PropertyList.Dictionary, command: String? = nil
    ) -> (values: PropertyList.Dictionary, problems: [Problem]) {
        var result = values
        var problems: [Problem] = []
        for setting in settings(of: command) {
            for old in setting.renamedFrom {
                guard let value = result.removeValue(forKey: old), result[setting.key] == nil else { continue }
                result[setting.key] = value
            }
            guard let stored = result[setting.key] else { continue }
            let value = setting.rule.adapted(stored)
            let found = setting.rule.problems(
                with: value, at: [EntryPath.Component(setting.key)], isSecret: setting.isSensitive)
            result[setting.key] = found.isEmpty ? value : nil
            problems += found
        }
        return (result, problems)
    }
}
