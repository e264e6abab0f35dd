internal import PropertyLists

/// A key with the type of its value and the value that holds where nobody has chosen one.
///
/// What else a schema can say of a setting is said by what follows it:
///
///     Setting("keep", default: 7).range(1...365).flag("keep", "k").environment("BACKUP_KEEP").title("Copies to keep")
///
/// A type with cases (`CaseIterable`) has these for choices; of an optional type, nil stands for no value.
public struct Setting<Value: Codable & Sendable>: Sendable {
    public let key: String
    public let defaultValue: Value
    /// What is to be done to the plain declaration. Kept as steps, since most who hold a setting never ask.
    private var steps: [@Sendable (inout SettingDeclaration) -> Void] = []

    public init(_ key: String, default defaultValue: Value) {
        self.key = key
        self.defaultValue = defaultValue
    }

    /// The setting with one thing more declared.
    func declaring(_ step: @escaping @Sendable (inout SettingDeclaration) -> Void) -> Setting {
        var result = self
        result.steps.append(step)
        return result
    }

    /// All that is declared of the setting.
    package var declaration: SettingDeclaration {
        var declaration = SettingDeclaration(key, ValueRule(of: Value.self, example: defaultValue))
        if let value = try? PropertyList(encoding: defaultValue), !defaultValue.isNothing {
            declaration.defaultValue = declaration.rule.adapted(value)
        }
        for step in steps { step(&declaration) }
        return declaration
    }
}

extension Encodable {
    /// Whether this is an optional without a value.
    fileprivate var isNothing: Bool { (self as? any OptionalValue)?.isNothing ?? false }
}
