internal import PropertyLists
public import SettingsSchema

extension Schema {
    /// The settings of a program, with the values of its command line.
    ///
    ///     let settings = try schema.parseOrExit()
    ///     settings[.keep]
    ///
    /// The command line and the environment override stored values, which override the defaults of the schema. A stored
    /// value that violates its rule is ignored.
    public struct Settings: Sendable {
        /// The schema of the settings.
        public let schema: Schema
        /// The domain, for transactions, observation, and other uses.
        public let defaults: Defaults
        /// The selected subcommand.
        public let command: String?
        /// The operands that no setting takes, or those of the setting that takes the remaining ones.
        public let operands: [String]
        /// Notes about the command line for the user, such as a deprecated flag.
        public let notes: [String]

        /// The value in effect. Setting it stores the user's value.
        public subscript<Value>(setting: Setting<Value>) -> Value {
            get { defaults[setting] }
            nonmutating set { defaults[setting] = newValue }
        }

        /// Returns the value in effect. Throws if it is not of the setting's type.
        public func value<Value>(of setting: Setting<Value>) throws -> Value { try defaults.value(of: setting) }

        /// Returns the origin of the value in effect, or nil for the setting's own default.
        public func origin<Value>(of setting: Setting<Value>) -> Origin? { defaults.origin(of: setting) }
    }
}

extension Schema {
    /// The reason parsing a command line ends without settings.
    @nonexhaustive
    public enum Ending: Error, Hashable, Sendable {
        /// Help was requested, with this text.
        case help(String)
        /// The version was requested, with this text.
        case version(String)
        /// The command line has errors, in this order.
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
