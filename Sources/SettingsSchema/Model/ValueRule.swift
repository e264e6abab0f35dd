package import PropertyLists

/// The types that a setting can have.
public enum ValueType: String, Hashable, Sendable, CaseIterable {
    case string, integer, real, boolean, date, data, array, dictionary

    init?(_ kind: PropertyList.Kind) { self.init(rawValue: kind.rawValue) }

    /// The type with its article, as a sentence has it.
    package var noun: String {
        switch self {
        case .integer, .array: "an \(rawValue)"
        case .data: "data"
        case .real: "a number"
        default: "a \(rawValue)"
        }
    }
}

/// What a value stands for beyond its type.
public enum ValueKind: String, Hashable, Sendable, CaseIterable {
    case file, folder, path, url, host, duration, size

    /// The type of the values that can be of this kind.
    var type: ValueType { self == .duration || self == .size ? .integer : .string }

    package var noun: String { self == .url ? "a URL" : "a \(rawValue)" }
}

/// What a value must be: its type, and the bounds that it keeps.
package struct ValueRule: Hashable, Sendable {
    package var type = ValueType.string
    /// The bounds of an integer, a real or a date, which are of its type.
    package var minimum: PropertyList?
    package var maximum: PropertyList?
    /// The bounds of a text's length in characters, or of data's in bytes.
    package var minimumLength: Int?
    package var maximumLength: Int?
    package var pattern: Pattern?
    package var choices: [PropertyList] = []
    /// The bounds of the number of elements or entries.
    package var minimumCount: Int?
    package var maximumCount: Int?
    package var isUnique = false
    package var kind: ValueKind?
    package var contents = Contents.anything

    package init(_ type: ValueType = .string) { self.type = type }

    /// What stands inside an array or a dictionary.
    package indirect enum Contents: Hashable, Sendable {
        case anything
        /// Each element, or the value of each entry.
        case each(ValueRule)
        /// The entries by their keys, and no others.
        case entries([SettingDeclaration])
    }

    /// What each element of an array must be; anything, where nothing is said.
    package var element: ValueRule? { if case .each(let rule) = contents { rule } else { nil } }

    /// The rule for what stands under a component of an entry path; nil where none is declared.
    package func inside(_ component: EntryPath.Component) -> ValueRule? {
        switch contents {
        case .anything: nil
        case .each(let rule): rule
        case .entries(let entries): entries.first { $0.key.hasSameBytes(as: component.text) }?.rule
        }
    }
}
