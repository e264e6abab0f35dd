internal import PropertyLists

/// A key with the type of its value and a default.
///
/// Modifiers add the rest of the declaration:
///
///     Setting("keep", default: 7).range(1...365).flag("keep", "k").environment("BACKUP_KEEP").title("Copies to keep")
///
/// The choices of a `CaseIterable` type are its cases. For an optional type, nil means no value.
public struct Setting<Value: Codable & Sendable>: Sendable {
    /// The key of the setting.
    public let key: String
    private let defaults: Default
    /// The declaration, if it has more than key and default. Stored only then, because most uses of a setting never
    /// need it.
    private var declared: Declared?

    /// Declares a setting, whose type is that of its default.
    public init(_ key: String, default defaultValue: Value) {
        self.key = key
        defaults = .value(defaultValue)
    }

    /// Declares a setting whose default is computed each time it is needed.
    ///
    /// Other programs do not know this default, because the schema does not contain it.
    public init(_ key: String, computed default: @escaping @Sendable () -> Value) {
        self.key = key
        defaults = .computed(`default`)
    }

    /// Declares a setting that has no value unless a layer provides one.
    public init(_ key: String) where Value: ExpressibleByNilLiteral { self.init(key, default: nil) }

    private enum Default: Sendable {
        case value(Value)
        case computed(@Sendable () -> Value)
    }

    /// The value that is used if no layer provides one.
    public var defaultValue: Value {
        switch defaults {
        case .value(let value): value
        case .computed(let compute): compute()
        }
    }

    /// Returns the setting with a change to its declaration.
    func declaring(_ step: @escaping @Sendable (inout SettingDeclaration) -> Void) -> Setting {
        var (result, declaration) = (self, declaration)
        step(&declaration)
        result.declared = Declared(declaration)
        return result
    }

    /// The complete declaration.
    package var declaration: SettingDeclaration { declared?.declaration ?? plainDeclaration }

    /// The declaration, if it has more than type and default.
    package var ownDeclaration: SettingDeclaration? { declared?.declaration }

    private var plainDeclaration: SettingDeclaration {
        var declaration = SettingDeclaration(key, ValueRule(of: Value.self))
        // A computed default is that of the program, and not of its schema.
        guard case .value(let defaultValue) = defaults else { return declaration }
        if let value = try? PropertyList(encoding: defaultValue), !defaultValue.isNothing {
            declaration.defaultValue = declaration.rule.adapted(value)
        }
        return declaration
    }
}

extension Setting: Hashable {
    public static func == (left: Setting, right: Setting) -> Bool {
        left.key.hasSameBytes(as: right.key) && left.declaration == right.declaration
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// Stores a declaration by reference, so that a setting stays small.
private final class Declared: Sendable {
    let declaration: SettingDeclaration

    init(_ declaration: SettingDeclaration) { self.declaration = declaration }
}

extension Encodable {
    /// Whether this is an optional without a value.
    fileprivate var isNothing: Bool { (self as? any AnyOptional)?.isNothing ?? false }
}
