package import PropertyLists
package import Queries

/// The types of settings.
public enum ValueType: String, Hashable, Sendable, CaseIterable {
    /// The type of a property list value with this name.
    case string, integer, real, boolean, date, data, array, dictionary
    /// A value of any of the other types.
    case any

    package init?(_ kind: PropertyList.Kind) { self.init(rawValue: kind.rawValue) }

    /// The type with its article, for sentences.
    package var noun: String {
        switch self {
        case .integer, .array: "an \(rawValue)"
        case .any: "a value"
        case .data: "data"
        case .real: "a number"
        default: "a \(rawValue)"
        }
    }
}

/// The requirements for a value: its type and restrictions.
package struct ValueRule: Hashable, Sendable {
    package var type = ValueType.string
    /// The bounds of an integer, a real or a date, as values of that type.
    package var minimum: PropertyList?
    package var maximum: PropertyList?
    /// The bounds of a string's length in characters, or of data's length in bytes.
    package var minimumLength: Int?
    package var maximumLength: Int?
    package var pattern: Pattern?
    package var choices: [PropertyList] = []
    /// The names of the choices for users, in the same order; empty if the values are shown as they are.
    package var choiceTitles: [String] = []
    /// The bounds of the number of elements or entries.
    package var minimumCount: Int?
    package var maximumCount: Int?
    package var isUnique = false
    package var kind: ValueKind?
    package var contents = Contents.anything
    /// The Swift type that decides about values, if the rest of the rule does not describe it completely.
    var swiftType: SwiftType?
    /// The sentence for users about a value that breaks the rule, instead of the one that describes the rule.
    package var message: String?
    /// The text between the elements of an array that is written as one word.
    package var separator: String?
    /// Whether the path must exist, or must not.
    package var exists: Bool?
    /// Whether this is the dictionary of a command's values.
    package var scope: Scope?
    /// The command whose lines are the choices. Only the head of a script can have one.
    package var choicesFrom: String?

    package init(_ type: ValueType = .string) { self.type = type }

    /// Creates the rule for a value that no schema declares: any value of its type.
    package init(typeOf value: PropertyList) {
        self.init(ValueType(value.kind) ?? .any)
    }

    /// Whether values of all types follow the rule, so that it does not determine the type of a text.
    package var isOpen: Bool { type == .any && choices.isEmpty && swiftType == nil }

    /// The rules for the contents of an array or a dictionary.
    package indirect enum Contents: Hashable, Sendable {
        case anything
        /// A rule for each element, or for the value of each entry.
        case each(ValueRule)
        /// The allowed entries of a dictionary.
        case entries([SettingDeclaration])
    }

    /// The rule for the elements of an array, or nil if they can be anything.
    package var element: ValueRule? { if case .each(let rule) = contents { rule } else { nil } }

    /// The rule for the elements of an array, or the rule itself for any other value.
    package var ofElements: ValueRule { type == .array ? element ?? ValueRule() : self }

    /// Returns the name of a choice for users.
    package func title(of choice: PropertyList) -> String {
        guard choiceTitles.count == choices.count, let index = choices.firstIndex(of: choice) else {
            return choice.plainText
        }
        return choiceTitles[index]
    }

    /// Returns the reason as it is reported: the message of the declaration, if there is one.
    package func reported(_ reason: Schema.Problem.Reason) -> Schema.Problem.Reason {
        message.map { .message($0) } ?? reason
    }

    /// Returns the rule for the entry under a path component, or nil if none is declared.
    package func inside(_ component: EntryPath.Component) -> ValueRule? {
        switch contents {
        case .anything: nil
        case .each(let rule): rule
        case .entries(let entries): entries.declaration(of: component.text)?.rule
        }
    }
}

extension ValueRule? {
    /// Returns the rule for a text that replaces a value: this rule, or the type of the value if there is no rule or an
    /// open one.
    package func replacing(_ value: PropertyList?) -> ValueRule? {
        if let self, !self.isOpen { return self }
        return value.map { ValueRule(typeOf: $0) }
    }
}
