public import PropertyLists

extension Schema.Arguments {
    /// An error on the command line or in an environment variable.
    public struct Mistake: Error, Hashable, Sendable {
        /// The flag as written, the name of the operand, or the variable.
        public let place: String
        /// The reason for the error.
        public let reason: Reason

        package init(_ reason: Reason, at place: String) {
            self.place = place
            self.reason = reason
        }
    }
}

extension Schema.Arguments.Mistake {
    /// The kinds of errors. Programs that switch over them must handle future cases.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// A flag that is not declared. `nearest` is the declared flag with the most similar name.
        case unknownFlag(nearest: String?)
        /// A flag of a sub-command that precedes the name of the sub-command.
        case misplacedFlag(command: String)
        /// A sub-command that is not declared.
        case unknownCommand(nearest: String?)
        /// No sub-command, where one of these is required.
        case missingCommand([String])
        /// A flag without its value.
        case missingValue(expected: String)
        /// A value after a flag that takes none.
        case needlessValue
        /// A value that breaks a rule. The string is the value as given.
        case value(String, Schema.Problem.Reason)
        /// A combination of settings that breaks a rule.
        case relation(Schema.Problem.Reason)
        /// An operand that no setting takes.
        case unexpectedOperand
        /// Fewer operands than required.
        case missingOperands(Int)
        /// An abbreviation of several flags.
        case ambiguousFlag([String])
        /// A second use of a flag that must not be repeated.
        case repeatedFlag
        /// The command that lists the choices failed. The string is the reason.
        case unlistedChoices(String)
        /// A variable that is not valid UTF-8.
        case notText
        /// A secret on the command line, which other users can read.
        case secret(instead: [String])
        /// A secret that cannot be read from the given source. The string is the reason.
        case unreadableSecret(String)
        /// A secret that is not stored because other programs would not recognize it as one.
        case unprotectedSecret(String)
        /// An invalid value that the administrator forces. The string is the reason.
        case invalidForced(String)
        /// `--set` names a key that is not declared.
        case unknownKey(nearest: String?)
        /// The argument of `--set` does not have the form `:KEY=VALUE`.
        case malformedAssignment
        /// The argument of `--set` names an entry that cannot exist.
        case path(EntryPath.Failure)
    }
}

extension Schema.Arguments.Mistake: CustomStringConvertible {
    public var description: String {
        let place = shortened(place, to: 200)
        return switch reason {
        case .unknownFlag(let nearest): "unknown flag \(place)\(hint(nearest))"
        case .misplacedFlag(let command): "\(place) must follow \(command)"
        case .unknownCommand(let nearest): "unknown command \(place)\(hint(nearest))"
        case .missingCommand(let names): "missing command: \(listed(names, "or"))"
        case .missingValue(let expected): "\(place) requires a value: \(expected)"
        case .needlessValue: "\(place) takes no value"
        case .value(let text, let reason):
            "\(place) \(shortened(text, to: 60).isEmpty ? "\"\"" : shortened(text, to: 60)): \(reason)"
        case .relation(let reason): "\(place) \(reason)"
        case .unexpectedOperand: "unexpected operand \(place)"
        case .missingOperands(let count): "at least \(count) operand\(count == 1 ? " is" : "s are") required"
        case .ambiguousFlag(let flags): "\(place) is ambiguous: \(listed(flags, "or"))"
        case .repeatedFlag: "\(place) must be given once only"
        case .unlistedChoices(let reason): "\(place): the choices could not be listed: \(shortened(reason, to: 200))"
        case .notText: "\(place): must be valid UTF-8"
        case .secret(let flags):
            "\(place) would expose a secret to other users of this machine; use \(listed(flags, "or"))"
        case .unreadableSecret(let reason): "\(place): \(shortened(reason, to: 200))"
        case .unprotectedSecret(let key):
            "\(place): \(shortened(key)) is a secret, and would be shown and mirrored until its schema is installed (prefs schema install FILE)"
        case .invalidForced(let reason): "\(place): \(reason)"
        case .unknownKey(let nearest): "--set \(place): unknown key\(hint(nearest))"
        case .malformedAssignment: "--set \(place): must be :KEY=VALUE"
        case .path(let failure): "--set \(failure)"
        }
    }
}
