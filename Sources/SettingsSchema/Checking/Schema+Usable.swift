package import PropertyLists

extension Schema {
    /// What of a layer's values a program can use, and what is wrong with the rest.
    ///
    /// A value that was stored before its schema was, or under another, never breaks a program: it is left out here, so
    /// that a lower layer shows, and in the end the factory. Text stands for values of other types where it says one,
    /// as files do that have only text; values under old keys are found under the new ones.
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

extension Schema {
    /// One of the places that values come from, under the name that people know it by.
    package struct Layer: Hashable, Sendable {
        package let name: String
        package let values: PropertyList.Dictionary

        package init(_ name: String, _ values: PropertyList.Dictionary) {
            self.name = name
            self.values = values
        }
    }

    /// The value in force of each setting that has one, with its layer; and what is wrong in which layer above that.
    ///
    /// - Parameter layers: The highest first; below them all are the schema's own defaults, the layer `factory`.
    package func valuesInForce(
        _ layers: [Layer], command: String? = nil
    ) -> (values: [String: ValueInForce], problems: [(layer: String, problem: Problem)]) {
        var values: [String: ValueInForce] = [:]
        var problems: [(layer: String, problem: Problem)] = []
        for layer in layers + [Layer("factory", factoryDefaults(command: command))] {
            let (usable, found) = usable(layer.values, command: command)
            problems += found.filter { values[$0.path.components.first?.text ?? ""] == nil }.map { (layer.name, $0) }
            for setting in settings(of: command) where values[setting.key] == nil {
                values[setting.key] = usable[setting.key].map { ValueInForce($0, layer: layer.name) }
            }
        }
        return (values, problems)
    }
}
