public import PropertyLists

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Schema {
    /// Returns the problems of a value for a key. An undeclared key may have any value, unless the schema is closed.
    public func problems(with value: PropertyList, forKey key: String) -> [Problem] {
        guard let setting = anyDeclaration(of: key) else {
            guard isClosed, key != Self.versionKey else { return [] }
            let known = storedSettings.flatMap(\.allKeys)
            if known.contains(where: { $0.hasSameBytes(as: key) }) { return [] }
            return [Problem(path: [EntryPath.Component(key)], reason: .unknownKey(nearest: known.nearest(to: key)))]
        }
        return setting.rule.problems(
            with: value, at: [EntryPath.Component(key)], isSecret: setting.isSensitive)
    }

    /// Returns the problems of all values in a domain, including combinations of settings.
    public func problems(in values: PropertyList.Dictionary) -> [Problem] {
        let own = values.flatMap { problems(with: $0.value, forKey: $0.key) }
        return own + relationProblems(in: [.init(.stored, "", values)])
    }

    /// Returns the rule for the entry at a path that starts with a key, or nil if none is declared.
    package func rule(at path: EntryPath) -> ValueRule? {
        guard let key = path.components.first, let setting = anyDeclaration(of: key.text) else { return nil }
        var rule: ValueRule? = setting.rule
        for component in path.components.dropFirst() { rule = rule?.inside(component) }
        return rule
    }

    /// Returns the declaration of a key of the domain, including keys that only commands have, and the dictionaries of
    /// commands and scopes.
    package func anyDeclaration(of key: String) -> SettingDeclaration? {
        func isDeclared(_ setting: SettingDeclaration) -> Bool {
            setting.storedAt == nil && setting.key.hasSameBytes(as: key)
        }
        if let setting = settings.first(where: isDeclared) { return setting }
        let ofCommand = commands.isEmpty ? nil : allCommands.lazy.flatMap(\.command.settings).first(where: isDeclared)
        return ofCommand ?? scopes.declaration(of: key)
    }
}

extension Schema {
    /// A value, or a domain, that does not conform to its schema.
    public struct Problem: Error, Hashable, Sendable {
        /// The path of the invalid entry, starting with its key.
        public let path: EntryPath
        /// The rule that the value breaks.
        package let reason: Reason
        /// The value to show in a message; nil if there is none. Secrets are masked.
        public let value: String?

        package init(path: EntryPath, reason: Reason, value: String? = nil) {
            self.path = path
            self.reason = reason
            self.value = value
        }
    }
}

extension Schema.Problem {
    /// The rules that a value can break. Programs that switch over them must handle future cases.
    package enum Reason: Error, Hashable, Sendable {
        /// The value has a different type from the one named.
        case wrongType(expected: String)
        /// The text cannot be parsed as the type or kind named.
        case unreadable(expected: String)
        /// The value is outside bounds; nil for an open end.
        case outsideRange(minimum: String?, maximum: String?)
        /// A string has too few or too many characters, or data bytes; nil for an open end.
        case wrongLength(minimum: Int?, maximum: Int?)
        /// An array or a dictionary has too few or too many elements; nil for an open end.
        case wrongCount(minimum: Int?, maximum: Int?)
        /// A string does not match the pattern.
        case mismatch(pattern: String)
        /// The value cannot be decoded as a Swift type, for a reason that the type gives.
        case undecodable(type: String, reason: String)
        /// The value is not one of the choices. `nearest` is the most similar choice.
        case notAChoice([String], nearest: String?)
        /// An array has duplicate elements, which its rule disallows.
        case repeatedElement
        /// The value is not of the kind named, such as a file or a URL.
        case notOfKind(String)
        /// The value breaks the rule, which has a sentence of its own.
        case message(String)
        /// A required value is missing.
        case missing
        /// The key is not declared. `nearest` is the declared key with the most similar name.
        case unknownKey(nearest: String?)
        /// This key and the named one both have a value, which is disallowed.
        case conflict(with: String)
        /// The named key, which this one requires, has no value.
        case requires(String)
        /// Too few or too many of the keys have a value.
        case group(SettingDeclaration.Group.Number, of: [String])
    }
}

extension Schema.Problem.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .wrongType(let expected), .unreadable(let expected): "must be \(expected)"
        case .outsideRange(let minimum, let maximum): "must be \(Self.range(minimum, maximum))"
        case .wrongLength(let minimum, let maximum):
            "must be \(Self.range(minimum, maximum)) long"
        case .wrongCount(let minimum, let maximum):
            "must have \(Self.range(minimum, maximum)) elements"
        case .mismatch(let pattern): "must match \(shortened(pattern, to: 100))"
        case .undecodable(let type, let reason):
            "must be a valid \(type)\(reason.isEmpty ? "" : ": \(shortened(reason.withoutStop, to: 200))")"
        case .notAChoice(let choices, let nearest):
            "must be \(Self.choices(choices))\(hint(nearest.map { shortened($0) }))"
        case .repeatedElement: "must not have duplicate elements"
        case .notOfKind(let kind): "must be \(kind)"
        case .message(let text): text
        case .missing: "is required"
        case .unknownKey(let nearest): "is not declared\(hint(nearest))"
        case .conflict(let other): "cannot be given together with \(other)"
        case .requires(let other): "requires \(other)"
        case .group(.exactlyOne, let keys): "exactly one of \(listed(keys)) must be given"
        case .group(.atMostOne, let keys): "at most one of \(listed(keys)) can be given"
        case .group(.atLeastOne, let keys): "at least one of \(listed(keys)) must be given"
        }
    }

    /// Returns the list of choices, shortened if it is long.
    private static func choices(_ choices: [String]) -> String {
        let most = 20
        let names = choices.prefix(most).map { shortened($0) }
        guard choices.count > most else { return listed(names, "or") }
        return "\(names.joined(separator: ", ")) or one of \(choices.count - most) others"
    }

    /// Returns bounds in words: `at least 1`, `at most 365`, `from 1 to 365`, `exactly 3`.
    static func range(_ minimum: String?, _ maximum: String?) -> String {
        switch (minimum, maximum) {
        case (let minimum?, let maximum?): minimum == maximum ? "exactly \(minimum)" : "from \(minimum) to \(maximum)"
        case (let minimum?, nil): "at least \(minimum)"
        case (nil, let maximum?): "at most \(maximum)"
        case (nil, nil): "of another size"
        }
    }

    static func range(_ minimum: Int?, _ maximum: Int?) -> String {
        range(minimum.map(String.init), maximum.map(String.init))
    }
}

extension String {
    /// The text without a full stop at its end.
    fileprivate var withoutStop: String { hasSuffix(".") ? String(dropLast()) : self }
}

extension Schema.Problem: CustomStringConvertible {
    /// The key, or the path of an entry within its value.
    package var place: String { path.storedKey }

    public var description: String {
        "\(shortened(place, to: 200))\(value.map { " = \($0)" } ?? ""): \(reason)"
    }
}

// `localizedDescription` is the same sentence as `description`.

extension Schema.Problem: LocalizedError { public var errorDescription: String? { description } }
extension Schema.Mistake: LocalizedError { public var errorDescription: String? { description } }
extension Schema.Mistakes: LocalizedError { public var errorDescription: String? { description } }
extension Schema.Arguments.Mistake: LocalizedError { public var errorDescription: String? { description } }
