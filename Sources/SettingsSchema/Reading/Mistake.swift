public import PropertyLists

extension Schema {
    /// An error in a schema, with its entry path and its location in the text.
    public struct Mistake: Error, Hashable, Sendable {
        /// The path of the entry within the schema.
        public let path: EntryPath
        /// The reason for the error.
        public let reason: Reason
        /// The line and column; nil if the schema was not read from text.
        public internal(set) var location: TextLocation?

        package init(_ reason: Reason, at path: EntryPath) {
            self.path = path
            self.reason = reason
        }
    }

    /// All errors of a schema.
    public struct Mistakes: Error, Hashable, Sendable {
        /// The individual errors.
        public let all: [Mistake]

        package init(_ all: [Mistake]) { self.all = all }
    }
}

extension Schema.Mistake {
    /// The kinds of errors. Programs that switch over them must handle future cases.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The data is not a property list.
        case notAPropertyList(DecodingFailure.Problem)
        case unknownAttribute(String, nearest: String?)
        case missingAttribute(String)
        /// An attribute has the wrong type.
        case wrongValue(expected: String)
        /// The name is not among those that the attribute accepts.
        case unknownName(String, nearest: String?)
        /// The attribute does not apply to settings of this type.
        case doesNotApply(type: String)
        case minimumAboveMaximum(String)
        /// A default or a choice breaks the setting's own rule.
        case refused(Schema.Problem.Reason)
        case pattern(String)
        /// A predicate, path or key of a query that cannot be compiled.
        case query(String)
        /// A key, flag, variable, position or command that is already declared.
        case duplicate(String)
        case reserved(String)
        case invalidName(String)
        /// A reference to an undeclared key.
        case unknownKey(String, nearest: String?)
        /// An attribute that cannot be combined with another.
        case contradicts(String)
        case cycle([String])
        case missingSchema(String)
        case nestedTooDeeply(limit: Int)
        case tooMany(limit: Int)
        /// A migration that would never run.
        case unreachableVersion(Int)
    }
}

extension Schema.Mistake.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAPropertyList(let problem): "\(problem)"
        case .unknownAttribute(let name, let nearest): "unknown attribute \(shortened(name))\(hint(nearest))"
        case .missingAttribute(let name): "\(name) is missing"
        case .wrongValue(let expected): "must be \(expected)"
        case .unknownName(let name, let nearest): "unknown name \(shortened(name))\(hint(nearest))"
        case .doesNotApply(let type): "does not apply to \(type)"
        case .minimumAboveMaximum(let name): "is above \(name)"
        case .refused(let reason): "\(reason)"
        case .pattern(let failure), .query(let failure): failure
        case .duplicate(let what): "duplicate \(shortened(what, to: 80))"
        case .reserved(let what): "\(shortened(what, to: 80)) is reserved"
        case .invalidName(let name): "invalid name \(shortened(name))"
        case .unknownKey(let key, let nearest): "unknown key \(shortened(key))\(hint(nearest))"
        case .contradicts(let other): "cannot be combined with \(other)"
        case .cycle(let domains):
            "a schema that extends itself: \(domains.map { shortened($0) }.joined(separator: " → "))"
        case .missingSchema(let domain): "there is no schema for \(shortened(domain))"
        case .nestedTooDeeply(let limit): "rules nested more than \(limit) deep"
        case .tooMany(let limit): "more than \(limit)"
        case .unreachableVersion(let version): "the migration from version \(version) can never run"
        }
    }
}

extension Schema.Mistake: CustomStringConvertible {
    /// The error with its location: `3:15: :Settings:0:Minimum: is above Maximum`.
    public var description: String {
        let place = location.map { "\($0.line):\($0.column): " } ?? ""
        return "\(place)\(path.components.isEmpty ? "" : "\(shortened(path.description, to: 200)): ")\(reason)"
    }
}

extension Schema.Mistakes: CustomStringConvertible {
    public var description: String { all.map(\.description).joined(separator: "\n") }
}
