package import PropertyLists
package import SettingsSchema

/// The schema in effect for a domain: the one that the program has declared, or the installed one.
///
/// It is a class because a schema is large, and every read and write of a value uses it.
package final class EffectiveSchema: Sendable {
    package let schema: Schema
    /// The file of an installed schema, or nil for one that the program has declared.
    package let file: String?
    /// The values of a declared command line, or nil if the program has not declared one.
    let program: ProgramValues?
    /// The declarations to apply, by key.
    package let declarations: [ExactKey: SettingDeclaration]
    /// The present keys by former keys.
    package let presentKeys: [ExactKey: ExactKey]
    let defaultValues: PropertyList.Dictionary

    /// The values of the command line and the environment of a program.
    package struct ProgramValues: Sendable {
        let command: String?
        let arguments: PropertyList.Dictionary
        /// The values of the environment, or nil for those of the variables in the schema.
        let environment: PropertyList.Dictionary?

        package init(
            command: String? = nil, arguments: PropertyList.Dictionary = [:],
            environment: PropertyList.Dictionary? = nil
        ) {
            (self.command, self.arguments, self.environment) = (command, arguments, environment)
        }
    }

    /// - Parameter program: The values of a program. Until it has chosen a command, the settings of all are declared.
    package init(_ schema: Schema, file: String? = nil, program: ProgramValues? = nil) {
        (self.schema, self.file, self.program) = (schema, file, program)
        let settings = program?.command.map { schema.settings(of: $0) } ?? schema.allSettings
        let defaults = settings.compactMap { row in row.defaultValue.map { (row.key, $0) } }
        defaultValues = PropertyList.Dictionary(defaults.reversed())
        declarations = Dictionary(settings.map { (ExactKey($0.key), $0) }) { first, _ in first }
        let pairs = settings.flatMap { setting in setting.renamedFrom.map { (ExactKey($0), ExactKey(setting.key)) } }
        presentKeys = Dictionary(pairs) { first, _ in first }
    }

    var rules: SchemaRules { SchemaRules(schema) }
}

extension EffectiveSchema {
    /// Returns changes with the removal of values under former keys, which would otherwise become visible again.
    func withFormerKeys(
        _ changes: [(key: String, value: PropertyList?)], in stored: PropertyList.Dictionary
    ) -> [(key: String, value: PropertyList?)] {
        let former = changes.flatMap { declarations[ExactKey($0.key)]?.renamedFrom ?? [] }.filter { stored[$0] != nil }
        return changes + former.map { ($0, nil) }
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
