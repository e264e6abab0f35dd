public import PropertyLists

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension Schema {
    /// What a command line and the variables around it say of the settings.
    public struct Arguments: Hashable, Sendable {
        /// What flags and operands say: the layer above all that the user may change.
        public internal(set) var values = PropertyList.Dictionary()
        /// What variables say, of keys that the command line says nothing of too.
        public internal(set) var environment = PropertyList.Dictionary()
        /// The sub-command that was chosen.
        public internal(set) var command: String?
        /// The operands that no setting has a place for, or those of the setting that takes the rest.
        public internal(set) var operands: [String] = []
        /// Whether `--save` asks to keep the given flags as the user's settings.
        public internal(set) var saves = false
        package internal(set) var secrets: [SecretRequest] = []
        package internal(set) var notes: [Note] = []
    }
}

extension Schema.Arguments {
    /// How a command line was understood.
    public enum Outcome: Hashable, Sendable {
        case values(Schema.Arguments)
        case help(HelpRequest)
        case version
        /// All that is wrong, in the order in which it stands there.
        case mistakes([Mistake])
    }

    /// What help is asked for.
    public struct HelpRequest: Hashable, Sendable {
        /// The command that was called, where the schema has some.
        public let command: String?
        /// Whether the values in force are to be shown, and where they come from.
        public let showsValues: Bool
    }

    /// A secret that is to be read from a file or from a descriptor that is open already.
    package struct SecretRequest: Hashable, Sendable {
        package enum Source: Hashable, Sendable {
            case file(String)
            case descriptor(Int32)
        }

        package let key: String
        package let flag: String
        package let source: Source
    }

    /// What a user should know of arguments that were taken all the same.
    package enum Note: Hashable, Sendable {
        case deprecated(String, reason: String)
    }

    /// What the parser knows of the world around the command line.
    package struct Context: Sendable {
        package var variables: [String: String]
        /// The values of the layers below variables and above the factory.
        package var stored: PropertyList.Dictionary
        /// What the date `now` stands for.
        package var now: Date?

        package init(variables: [String: String] = [:], stored: PropertyList.Dictionary = [:], now: Date? = nil) {
            self.variables = variables
            self.stored = stored
            self.now = now
        }
    }
}

extension Schema.Arguments.Note: CustomStringConvertible {
    package var description: String {
        switch self {
        case .deprecated(let flag, let reason):
            "\(flag) is not to be used any more\(reason.isEmpty ? "" : ": \(reason)")"
        }
    }
}

extension Schema {
    /// Understands the arguments of a program, without its name.
    package func arguments(_ arguments: [String], in context: Arguments.Context = .init()) -> Arguments.Outcome {
        var parser = ArgumentParser(schema: self, arguments: arguments, context: context)
        return parser.parse()
    }

    /// The value of a secret, as it was read from where the command line says.
    ///
    /// A line's end behind it is not part of it.
    package func secret(
        _ text: String, for request: Arguments.SecretRequest
    ) throws(Arguments.Mistake) -> PropertyList {
        guard let setting = anyDeclaration(of: request.key) else { return .string(text) }
        let line = text.hasSuffix("\n") || text.hasSuffix("\r\n") ? String(text.dropLast()) : text
        do throws(Problem.Reason) {
            let value = try setting.rule.value(ofText: line)
            if let problem = setting.rule.problems(with: value, isSecret: true).first { throw problem.reason }
            return value
        } catch {
            throw Arguments.Mistake(.value(mask, error), at: request.flag)
        }
    }
}
