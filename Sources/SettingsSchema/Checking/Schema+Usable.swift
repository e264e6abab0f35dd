package import PropertyLists

extension Schema {
    /// Returns the valid values of a layer, and the problems of the others.
    ///
    /// Invalid stored values, for example from before the schema existed, must not break a program. They are left out,
    /// so that a lower layer or the default takes effect. Text is converted to the declared type where possible, for
    /// files that can store only text. Values under former keys are moved to their current key.
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
    /// A source of values, with its displayed name.
    package struct Layer: Hashable, Sendable {
        package let name: String
        package let values: PropertyList.Dictionary

        package init(_ name: String, _ values: PropertyList.Dictionary) {
            self.name = name
            self.values = values
        }
    }

    /// Returns the value in force of each setting, with its layer, and the problems in layers above it.
    ///
    /// - Parameter layers: The layers, highest priority first. The schema's defaults are added as the layer `factory`.
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
