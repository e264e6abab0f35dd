package import PropertyLists

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension Schema {
    /// The settings given by a command line and by environment variables.
    public struct Arguments: Hashable, Sendable {
        /// The values of flags and operands.
        package var values = PropertyList.Dictionary()
        /// The values of environment variables, including those that the command line overrides.
        package internal(set) var environment = PropertyList.Dictionary()
        /// The keys whose values are not used, because a value of a higher layer excludes them, each with the spelling
        /// of the other setting.
        package internal(set) var displaced = PropertyList.Dictionary()
        /// The selected sub-command, or nil if there is none.
        package internal(set) var command: String?
        /// The operands that belong to no setting, or those of the setting that takes the rest.
        package internal(set) var operands: [String] = []
        /// Whether `--save` requests that the given flags be stored as the user's settings.
        package internal(set) var saves = false
        /// The settings whose stored values `--reset` removes; nil for none.
        package internal(set) var reset: Reset?
        package internal(set) var secrets: [SecretRequest] = []
        /// The uses of flags that are in a list, in order.
        package internal(set) var uses: [OrderedUse] = []
        package internal(set) var notes: [Note] = []
    }
}

extension Schema.Arguments {
    /// The settings whose stored values are removed.
    package enum Reset: Hashable, Sendable {
        case all
        /// The settings with these stored keys.
        case keys([String])
    }

    /// The result of parsing a command line.
    package enum Outcome: Hashable, Sendable {
        /// The command line is valid.
        case values(Schema.Arguments)
        /// The command line only saves or removes settings.
        case storing(Schema.Arguments)
        /// The command line asks for help.
        case help(HelpRequest)
        /// The command line asks for the version.
        case version
        /// The command line has errors: all of them, in the order of the arguments.
        case mistakes([Mistake])
    }

    /// A request for help.
    package struct HelpRequest: Hashable, Sendable {
        /// The sub-command whose help is requested, or nil for that of the program.
        package let command: String?
        /// Whether to show the values in force and their origins.
        package let showsValues: Bool
        /// The flags that were given beside the request.
        package var given = Schema.Arguments()
    }

    /// A use of a flag that is in a list.
    package struct OrderedUse: Hashable, Sendable {
        package let list: String
        /// The flag under its first name.
        package let flag: String
        package let value: PropertyList
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
        /// A flag whose value `--save` does not store.
        case notSaved(String)
        /// A variable that a flag excludes.
        case displaced(String, by: String)
    }

    /// The environment of the command line.
    package struct Context: Sendable {
        package var variables: [String: String]
        /// The names of variables that are not valid UTF-8.
        package var invalidVariables: Set<String> = []
        /// Returns the stored layers with the valid values of the chosen command's settings, highest priority first.
        package var stored: @Sendable (_ given: Schema.Arguments) -> [Relations.Layer]
        /// The value of the date `now`.
        package var now: Date?

        /// - Parameter stored: The values of a single stored layer, for all commands.
        package init(variables: [String: String] = [:], stored: PropertyList.Dictionary = [:], now: Date? = nil) {
            self.variables = variables
            self.now = now
            self.stored = { _ in [Relations.Layer(.stored, "the stored settings", stored)] }
        }
    }
}

extension Schema.Arguments.Note: CustomStringConvertible {
    package var description: String {
        switch self {
        case .deprecated(let flag, let reason):
            "\(flag) is deprecated\(reason.isEmpty ? "" : ": \(reason)")"
        case .notSaved(let flag): "\(flag): not saved"
        case .displaced(let variable, let flag):
            "\(variable): ignored, because it cannot be given together with \(flag)"
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
        _ text: String, for request: Arguments.SecretRequest, of command: String? = nil
    ) throws(Arguments.Mistake) -> PropertyList {
        guard let setting = declaration(of: request.key, command: command) ?? anyDeclaration(of: request.key) else {
            return .string(text)
        }
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

/// The flags and operands by which settings were given, by key.
///
/// Not a Swift dictionary: creating the first one of a type takes longer than parsing a whole command line.
struct GivenSettings: Sendable {
    /// The flag or operand, and the text as written.
    typealias Place = (place: String, text: String?)

    private var positions = PropertyList.Dictionary()
    private var places: [Place] = []

    /// The last place where the key was given.
    subscript(key: String) -> Place? {
        get { position(of: key).map { places[$0] } }
        set {
            guard let newValue else { return }
            if let position = position(of: key) {
                places[position] = newValue
            } else {
                positions[key] = .integer(PropertyList.Integer(places.count))
                places.append(newValue)
            }
        }
    }

    private func position(of key: String) -> Int? {
        guard case .integer(let number)? = positions[key] else { return nil }
        return Int(exactly: number)
    }
}

extension Schema {
    /// Returns the values that `--save` stores, by stored key: those of settings that are not transient and that have a
    /// flag.
    package func valuesToSave(_ given: PropertyList.Dictionary, of command: String?) -> PropertyList.Dictionary {
        let settings = settings(of: command).filter { setting in
            let isOperandOnly = setting.takesRest || (setting.positional != nil && setting.flags.isEmpty)
            return !setting.isTransient && !isOperandOnly
        }
        return PropertyList.Dictionary(settings.compactMap { row in given[row.key].map { (row.storedKey, $0) } })
    }

    /// Returns values with relative paths made absolute, since a stored relative path would depend on the current
    /// folder.
    ///
    /// - Parameter folder: The current folder without symbolic links; nil if unknown.
    package func anchored(_ values: PropertyList.Dictionary, in folder: String?) -> PropertyList.Dictionary {
        guard let folder, folder.hasPrefix("/") else { return values }
        return PropertyList.Dictionary(
            values.map { ($0.key, declaration(storedAs: $0.key)?.rule.anchored($0.value, in: folder) ?? $0.value) })
    }
}

extension Schema {
    /// Returns the sentence about what a command line that only stores settings has saved and removed.
    ///
    /// - Parameters:
    ///   - saved: The values by stored key.
    ///   - removed: The stored keys of values that were removed.
    ///   - reset: The settings that were to be removed.
    package func report(saved: PropertyList.Dictionary, removed: [String], of reset: Arguments.Reset?) -> String {
        let values = saved.map { entry in
            "\(entry.key) = \(declaration(storedAs: entry.key)?.shown(entry.value) ?? entry.value.plainText)"
        }
        let removed = removed.filter { saved[$0] == nil }
        let parts = [("saved", values), ("removed", removed)].filter { !$0.1.isEmpty }
        let text = parts.map { "\($0.0) \(listed($0.1))" }.joined(separator: "; ")
        guard text.isEmpty else { return text }
        guard case .keys(let keys)? = reset else { return "nothing is saved, so nothing was removed" }
        let distinct = keys.indices.filter { !keys[..<$0].contains(exactly: keys[$0]) }.map { keys[$0] }
        return "\(listed(distinct)) \(distinct.count == 1 ? "is" : "are") not saved, so nothing was removed"
    }

    /// Returns the stored keys of the settings that are removed.
    package func storedKeys(of reset: Arguments.Reset) -> [String] {
        switch reset {
        case .all: allSettings.filter { !$0.isTransient }.map(\.storedKey)
        case .keys(let keys): keys
        }
    }
}

extension ValueRule {
    fileprivate func anchored(_ value: PropertyList, in folder: String) -> PropertyList {
        switch (contents, value) {
        case (_, .string(let text)) where kind?.isPath ?? false: .string(text.anchored(in: folder))
        case (.each(let rule), .array(let elements)): .array(elements.map { rule.anchored($0, in: folder) })
        case (.each, .dictionary(let entries)), (.entries, .dictionary(let entries)):
            .dictionary(
                PropertyList.Dictionary(
                    entries.map { entry in
                        let rule = inside(EntryPath.Component(entry.key))
                        return (entry.key, rule?.anchored(entry.value, in: folder) ?? entry.value)
                    }))
        default: value
        }
    }
}

extension String {
    /// Returns the absolute path. `-`, paths that begin with `~` and empty text are unchanged.
    fileprivate func anchored(in folder: String) -> String {
        guard !isEmpty, self != "-", !hasPrefix("/"), !hasPrefix("~") else { return self }
        var folders = folder.split(separator: "/")
        var rest = split(separator: "/", omittingEmptySubsequences: false)[...]
        while let first = rest.first, first.isEmpty || first == "." || first == ".." {
            if first == ".." { _ = folders.popLast() }
            rest.removeFirst()
        }
        return "/" + (folders + rest).joined(separator: "/")
    }
}

extension Schema.Arguments {
    /// An error on the command line or in an environment variable.
    public struct Mistake: Error, Hashable, Sendable {
        /// The flag as written, the name of the operand, or the variable.
        public let place: String
        /// The reason for the error.
        package let reason: Reason
        /// The sub-command that the command line names; nil if there is none or it is not known.
        package var command: String?

        package init(_ reason: Reason, at place: String) {
            self.place = place
            self.reason = reason
        }
    }
}

extension Schema {
    /// Returns the line after the errors of a command line, which names the flag for help.
    package func hint(after mistakes: [Arguments.Mistake], program: String, command: String? = nil) -> String {
        let command = command ?? mistakes.lazy.compactMap(\.command).first
        let words = [program] + (command.map { [$0] } ?? []) + ["--\(name(of: .help, in: command))"]
        return "Try \(words.joined(separator: " "))."
    }
}

extension Schema.Arguments.Mistake {
    /// The kinds of errors. Programs that switch over them must handle future cases.
    package enum Reason: Hashable, Sendable {
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
        /// A setting that cannot be given together with the named one, whose value the administrator forces. `saves` is
        /// whether the value was to be saved.
        case excludedByForced(String, saves: Bool)
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
        /// A secret that is not stored because other programs would not recognize it as one.
        case unprotectedSecret(String)
        /// A file that cannot be read, or an invalid value in one. The string is the reason.
        case unusable(String)
        /// `--save` without a flag whose value can be saved.
        case nothingToSave
        /// `--set` or `--reset` names a key that is not declared.
        case unknownKey(nearest: String?)
        /// The argument of `--set` does not have the form `:KEY=VALUE`.
        case malformedAssignment
        /// The argument of `--set` names an entry that cannot exist.
        case path(EntryPath.Failure)
    }
}

extension Schema.Arguments.Mistake {
    /// Whether it concerns several settings, or one that is missing.
    package var isRelation: Bool { if case .relation = reason { true } else { false } }
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
        case .relation(.group(let number, let keys)): "\(Schema.Problem.Reason.group(number, of: keys))"
        case .relation(.message(let text)): "\(place): \(text)"
        case .relation(let reason): "\(place) \(reason)"
        case .excludedByForced(let other, _):
            "\(place) cannot be given together with \(other), which the administrator forces"
        case .unexpectedOperand: "unexpected operand \(place)"
        case .missingOperands(let count): "at least \(count) operand\(count == 1 ? " is" : "s are") required"
        case .ambiguousFlag(let flags): "\(place) is ambiguous: \(listed(flags, "or"))"
        case .repeatedFlag: "\(place) must be given once only"
        case .unlistedChoices(let reason): "\(place): the choices could not be listed: \(shortened(reason, to: 200))"
        case .notText: "\(place): must be valid UTF-8"
        case .secret(let flags):
            "\(place) would expose a secret to other users of this machine; use \(listed(flags, "or"))"
        case .unprotectedSecret(let key):
            "\(place): \(shortened(key)) is a secret, and would be shown and mirrored until its schema is installed (prefs schema install FILE)"
        case .unusable(let reason): "\(place): \(shortened(reason, to: 400))"
        case .nothingToSave: "\(place): there is no flag to save"
        case .unknownKey(let nearest): "\(place): unknown key\(hint(nearest))"
        case .malformedAssignment: "--set \(place): must be :KEY=VALUE"
        case .path(let failure): "--set \(failure)"
        }
    }
}
