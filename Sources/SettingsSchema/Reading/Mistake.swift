public import PropertyLists

extension Schema {
    /// Something wrong in a schema itself: what, at which entry, and where in the text.
    public struct Mistake: Error, Hashable, Sendable {
        /// Where in the schema's text it stands.
        public let path: EntryPath
        /// What is wrong.
        public let reason: Reason
        /// Line and column in the text that was read; nil where it was no text.
        public internal(set) var location: TextLocation?

        package init(_ reason: Reason, at path: EntryPath) {
            self.path = path
            self.reason = reason
        }
    }

    /// All that is wrong with a schema.
    public struct Mistakes: Error, Hashable, Sendable {
        /// Each mistake that was found.
        public let all: [Mistake]

        package init(_ all: [Mistake]) { self.all = all }
    }
}

extension Schema.Mistake {
    /// The kinds of mistake. A program that switches over them must be ready for new ones.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The bytes are no property list.
        case notAPropertyList(DecodingFailure.Problem)
        case unknownAttribute(String, nearest: String?)
        case missingAttribute(String)
        /// An attribute is of the wrong type; what it must be is named.
        case wrongValue(expected: String)
        /// Not one of the names that the attribute knows.
        case unknownName(String, nearest: String?)
        /// The attribute says nothing about settings of this type.
        case doesNotApply(type: String)
        case minimumAboveMaximum(String)
        /// A default or a choice that breaks the setting's own rule.
        case refused(Schema.Problem.Reason)
        case pattern(String)
        /// A key, flag, variable, position or command that another one has already.
        case duplicate(String)
        case reserved(String)
        case invalidName(String)
        /// A key that no setting has.
        case unknownKey(String, nearest: String?)
        /// An attribute that cannot stand beside another.
        case contradicts(String)
        case cycle([String])
        case missingSchema(String)
        case nestedTooDeeply(limit: Int)
        case tooMany(limit: Int)
        /// A migration that can never run.
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
        case .doesNotApply(let type): "says nothing about \(type)"
        case .minimumAboveMaximum(let name): "is above \(name)"
        case .refused(let reason): "\(reason)"
        case .pattern(let failure): failure
        case .duplicate(let what): "\(shortened(what, to: 80)) stands twice"
        case .reserved(let what): "\(shortened(what, to: 80)) is taken by every program"
        case .invalidName(let name): "\(shortened(name)) cannot be used as a name here"
        case .unknownKey(let key, let nearest): "no setting has the key \(shortened(key))\(hint(nearest))"
        case .contradicts(let other): "cannot stand beside \(other)"
        case .cycle(let domains):
            "a schema that extends itself: \(domains.map { shortened($0) }.joined(separator: " → "))"
        case .missingSchema(let domain): "there is no schema for \(shortened(domain))"
        case .nestedTooDeeply(let limit): "rules more than \(limit) deep"
        case .tooMany(let limit): "more than \(limit)"
        case .unreachableVersion(let version): "there is no way from version \(version) to a later one"
        }
    }
}

extension Schema.Mistake: CustomStringConvertible {
    /// The mistake with its place: `3:15: :Settings:0:Minimum: is above Maximum`.
    public var description: String {
        let place = location.map { "\($0.line):\($0.column): " } ?? ""
        return "\(place)\(path.components.isEmpty ? "" : "\(shortened(path.description, to: 200)): ")\(reason)"
    }
}

extension Schema.Mistakes: CustomStringConvertible {
    public var description: String { all.map(\.description).joined(separator: "\n") }
}
