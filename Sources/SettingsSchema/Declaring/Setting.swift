internal import PropertyLists

/// A key with the type of its value and the value that holds where nobody has chosen one.
///
/// What else a schema can say of a setting is said by what follows it:
///
///     Setting("keep", default: 7).range(1...365).flag("keep", "k").environment("BACKUP_KEEP").title("Copies to keep")
///
/// A type with cases (`CaseIterable`) has these for choices; of an optional type, nil stands for no value.
public struct Setting<Value: Codable & Sendable>: Sendable {
    /// The key under which it is kept.
    public let key: String
    /// The value where no layer has one.
    public let defaultValue: Value
    /// What is declared beyond key and default, where anything is: most who hold a setting never ask.
    private var declared: Declared?

    /// Declares a setting; its type is that of the default.
    public init(_ key: String, default defaultValue: Value) {
        self.key = key
        self.defaultValue = defaultValue
    }

    /// The setting with one thing more declared.
    func declaring(_ step: @escaping @Sendable (inout SettingDeclaration) -> Void) -> Setting {
        var (result, declaration) = (self, declaration)
        step(&declaration)
        result.declared = Declared(declaration)
        return result
    }

    /// All that is declared of the setting.
    package var declaration: SettingDeclaration { declared?.declaration ?? plainDeclaration }

    /// What is declared of the setting, where that is more than its type and its default.
    package var ownDeclaration: SettingDeclaration? { declared?.declaration }

    private var plainDeclaration: SettingDeclaration {
        var declaration = SettingDeclaration(key, ValueRule(of: Value.self, example: defaultValue))
        if let value = try? PropertyList(encoding: defaultValue), !defaultValue.isNothing {
            declaration.defaultValue = declaration.rule.adapted(value)
        }
        return declaration
    }
}

/// A declaration apart from who holds it, so that a setting stays small.
private final class Declared: Sendable {
    let declaration: SettingDeclaration

    init(_ declaration: SettingDeclaration) { self.declaration = declaration }
}

extension Encodable {
    /// Whether this is an optional without a value.
    fileprivate var isNothing: Bool { (self as? any OptionalValue)?.isNothing ?? false }
}
