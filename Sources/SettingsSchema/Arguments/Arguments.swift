public import PropertyLists

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension Schema {
    /// The settings given by a command line and by environment variables.
    public struct Arguments: Hashable, Sendable {
        /// The values of flags and operands.
        public internal(set) var values = PropertyList.Dictionary()
        /// The values of environment variables, including those that the command line overrides.
        public internal(set) var environment = PropertyList.Dictionary()
        /// The selected sub-command, or nil if there is none.
        public internal(set) var command: String?
        /// The operands that belong to no setting, or those of the setting that takes the rest.
        public internal(set) var operands: [String] = []
        /// Whether `--save` requests that the given flags be stored as the user's settings.
        public internal(set) var saves = false
        package internal(set) var secrets: [SecretRequest] = []
        package internal(set) var notes: [Note] = []
    }
}

extension Schema.Arguments {
    /// The result of parsing a command line.
    public enum Outcome: Hashable, Sendable {
        /// The command line is valid.
        case values(Schema.Arguments)
        /// The command line asks for help.
        case help(HelpRequest)
        /// The command line asks for the version.
        case version
        /// The command line has errors: all of them, in the order of the arguments.
        case mistakes([Mistake])
    }

    /// A request for help.
    public struct HelpRequest: Hashable, Sendable {
        /// The sub-command whose help is requested, or nil for that of the program.
        public let command: String?
        /// Whether to show the values in effect and their origins.
        public let showsValues: Bool
    }

    /// A secret to be read from a file or an open descriptor.
    package struct SecretRequest: Hashable, Sendable {
        package enum Source: Hashable, Sendable {
            case file(String)
            case descriptor(Int32)
        }

        package let key: String
        package let flag: String
        package let source: Source
    }

    /// A notice about arguments that were accepted.
    package enum Note: Hashable, Sendable {
        case deprecated(String, reason: String)
    }

    /// The environment of the command line.
    package struct Context: Sendable {
        package var variables: [String: String]
        /// The names of variables that are not valid UTF-8.
        package var invalidVariables: Set<String> = []
        /// The values of the layers between variables and defaults.
        package var stored: PropertyList.Dictionary
        /// The value of the date `now`.
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
            "\(flag) is deprecated\(reason.isEmpty ? "" : ": \(reason)")"
        }
    }
}

extension Schema {
    /// Parses the arguments of a program, without its name.
    package func arguments(_ arguments: [String], in context: Arguments.Context = .init()) -> Arguments.Outcome {
        var parser = ArgumentParser(schema: self, arguments: arguments, context: context)
        return parser.parse()
    }

    /// Parses a secret that was read from its source.
    ///
    /// A line break at the end is not part of it.
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
