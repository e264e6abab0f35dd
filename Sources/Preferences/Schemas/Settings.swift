internal import PropertyLists
public import SettingsSchema

/// The settings of a program as its schema declares them and its command line says them.
///
///     let settings = try schema.parse(CommandLine.arguments)
///     settings[.keep]
///
/// Above what is stored stand the command line and the variables, below it the schema's own defaults. A stored value
/// that breaks its rule is passed over.
public struct Settings: Sendable {
    /// The schema by which the arguments were read.
    public let schema: Schema
    /// The domain: for transactions, observation, and whatever else goes beyond a value.
    public let defaults: Defaults
    /// The sub-command that was chosen.
    public let command: String?
    /// The operands that no setting has a place for, or those of the setting that takes the rest.
    public let operands: [String]
    /// What the user should know of the command line, such as that a flag is deprecated.
    public let notes: [String]

    /// The value in force. Setting one stores it as the user's choice.
    public subscript<Value>(setting: Setting<Value>) -> Value {
        get { defaults[setting] }
        nonmutating set { defaults[setting] = newValue }
    }

    /// The value in force; an error where it is not of the setting's type.
    public func value<Value>(of setting: Setting<Value>) throws -> Value { try defaults.value(of: setting) }

    /// Where the value in force comes from; nil where nothing but the setting's own default says it.
    public func origin<Value>(of setting: Setting<Value>) -> Origin? { defaults.origin(of: setting) }
}

extension Schema {
    /// Why a command line leads to no settings: it asks for a text, or has mistakes.
    @nonexhaustive
    public enum Ending: Error, Hashable, Sendable {
        /// Help was asked for, and this is it.
        case help(String)
        /// The version was asked for, and this is it.
        case version(String)
        /// All that is wrong, in the order in which it stands there.
        case mistakes([Arguments.Mistake])
    }
}

extension Schema.Ending: CustomStringConvertible {
    public var description: String {
        switch self {
        case .help(let text), .version(let text): text
        case .mistakes(let mistakes): mistakes.map(\.description).joined(separator: "\n")
        }
    }
}
