package import PropertyLists

/// All that a schema says of one setting.
package struct SettingDeclaration: Hashable, Sendable {
    package var key: String
    package var rule: ValueRule
    package var defaultValue: PropertyList?
    package var isRequired = false
    /// Keys that may not be given together with this one, that must be, and of which, with it, exactly one must be.
    package var conflicts: [String] = []
    package var requires: [String] = []
    package var exactlyOneOf: [String] = []

    // What people see.
    package var title: String?
    package var summary: String?
    package var group: String?
    package var placeholder: String?
    package var unit: String?
    /// Why the setting is not to be used any more; an empty text gives no reason.
    package var deprecated: String?

    // Where it comes from, and where it goes.
    package var flags: [String] = []
    package var short: String?
    package var isNegatable = false
    package var repeats = false
    package var positional: Int?
    package var takesRest = false
    package var environment: [String] = []
    package var isSensitive = false
    package var isMirrored = true
    package var merges = false
    package var isTransient = false
    package var isByHost = false
    package var renamedFrom: [String] = []

    package init(_ key: String, _ rule: ValueRule = ValueRule()) {
        self.key = key
        self.rule = rule
    }
}

extension SettingDeclaration {
    /// The title, or where there is none the key.
    package var name: String { title ?? key }

    /// Whether a flag alone says the value, so that none follows.
    package var isSwitch: Bool { rule.type == .boolean || isCounter }

    /// Whether each time that the flag is given adds one.
    package var isCounter: Bool { rule.type == .integer && repeats }

    /// Whether words without a flag are for this setting.
    package var takesOperands: Bool { positional != nil || takesRest }

    /// What stands for the value in help and in usage: `N`, `FILE`, `full|incremental`.
    package var valueName: String {
        if let placeholder { return placeholder }
        let rule = rule.type == .array ? rule.element ?? ValueRule() : rule
        if !rule.choices.isEmpty, rule.choices.count <= 4 {
            let text = rule.choices.map(\.plainText).joined(separator: "|")
            if text.count <= 32 { return text }
        }
        if let kind = rule.kind { return kind.rawValue.uppercased() }
        return switch rule.type {
        case .integer, .real: "N"
        case .string: "TEXT"
        case .boolean: "BOOL"
        default: rule.type.rawValue.uppercased()
        }
    }
}

extension [SettingDeclaration] {
    /// Those that have a place on the command line, in the order of their places.
    var inPlaces: [SettingDeclaration] {
        filter { $0.positional != nil }.sorted { $0.positional ?? 0 < $1.positional ?? 0 }
    }

    /// Those that take words without a flag, in the order in which they do.
    var takingOperands: [SettingDeclaration] { inPlaces + filter(\.takesRest) }
}
