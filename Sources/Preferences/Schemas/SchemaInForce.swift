package import Platform
package import PropertyLists
package import SettingsSchema

/// The schema that look-ups in a domain go by: one that the program has declared, or the one that is installed.
///
/// A class, because each set and each get has it in hand, and a schema is large.
package final class SchemaInForce: Sendable {
    package let schema: Schema
    /// The file that it was installed as; nil for one that the program declares.
    package let file: String?
    /// What a declared command line says; nil where the program has not declared any.
    let program: ProgramValues?
    /// The declarations that look-ups heed, by key.
    package let declarations: [ExactKey: SettingDeclaration]
    /// The keys of today by the former ones.
    package let presentKeys: [ExactKey: ExactKey]

    /// What the command line and the variables of a program say, as it has declared them.
    struct ProgramValues: Sendable {
        let command: String?
        let arguments: PropertyList.Dictionary
        /// Nil for what the variables hold that the schema names.
        let environment: PropertyList.Dictionary?
    }

    package convenience init(_ schema: Schema, file: String? = nil) { self.init(schema, file: file, program: nil) }

    init(_ schema: Schema, file: String? = nil, program: ProgramValues?) {
        (self.schema, self.file, self.program) = (schema, file, program)
        let settings = schema.settings(of: program?.command)
        declarations = Dictionary(settings.map { (ExactKey($0.key), $0) }) { first, _ in first }
        let pairs = settings.flatMap { setting in setting.renamedFrom.map { (ExactKey($0), ExactKey(setting.key)) } }
        presentKeys = Dictionary(pairs) { first, _ in first }
    }

    var rules: SchemaRules { SchemaRules(schema) }

    package var factoryDefaults: PropertyList.Dictionary { schema.factoryDefaults(command: program?.command) }

    /// The variables that hold values, each with its key. Of several for one key the first that is set counts.
    package func variables(in environment: EnvironmentVariables) -> [(key: String, text: String)] {
        declarations.values.compactMap { setting in
            let texts = setting.environment.lazy.compactMap { environment[$0] }
            // An empty one says something of text alone.
            return texts.first { !$0.isEmpty || setting.rule.type == .string }.map { (setting.key, $0) }
        }
    }
}

extension SchemaInForce {
    /// Changes of settings, and what stands under their former keys with them: it would show again behind a removal.
    func withFormerKeys(
        _ changes: [(key: String, value: PropertyList?)], in stored: PropertyList.Dictionary
    ) -> [(key: String, value: PropertyList?)] {
        let former = changes.flatMap { declarations[ExactKey($0.key)]?.renamedFrom ?? [] }.filter { stored[$0] != nil }
        return changes + former.map { ($0, nil) }
    }
}

extension SettingDeclaration {
    /// What a program makes of a value that a layer has: the value as it can be used, or why it is passed over.
    ///
    /// - Parameter isExposed: Whether others can read the file that has it.
    package func verdict(on stored: PropertyList, isExposed: Bool = false) -> Verdict {
        if isExposed, tellsSecret(stored) { return .passedOver("is sensitive, and others can read the file") }
        let value = rule.adapted(stored)
        let problems = rule.problems(with: value, at: [EntryPath.Component(key)], isSecret: isSensitive)
        guard let first = problems.first else { return .usable(value) }
        let place = first.path.components.count > 1 ? "\(first.path) " : ""
        return .passedOver("\(place)\(first.reason)")
    }
}

/// Whether a stored value counts.
package enum Verdict: Hashable, Sendable {
    case usable(PropertyList)
    /// The next layer shows instead, and in the end the factory; with the rule that the value breaks.
    case passedOver(String)
}
