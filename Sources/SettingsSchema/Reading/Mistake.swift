public import PropertyLists

extension Schema {
    /// An error in a schema, with its entry path and its location in the text.
    public struct Mistake: Error, Hashable, Sendable {
        /// The path of the entry within the schema.
        public let path: EntryPath
        /// The reason for the error.
        package let reason: Reason
        /// The line and column; nil if the schema was not read from text.
        public package(set) var location: TextLocation?
        /// Whether this is a warning: the schema can be used, but probably does not mean what its author intended.
        package var isWarning = false
        /// The setting or command as a program in Swift declares it, such as `Setting("keep")`.
        package var declaration: String?

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
    package enum Reason: Hashable, Sendable {
        /// The data is not a property list.
        case notAPropertyList(DecodingFailure.Problem)
        /// An attribute that schemas do not have. `nearest` is the attribute with the most similar name.
        case unknownAttribute(String, nearest: String?)
        /// The named attribute is required and missing.
        case missingAttribute(String)
        /// An attribute whose value has the wrong type.
        case wrongValue(expected: String)
        /// The name is not among those that the attribute accepts.
        case unknownName(String, nearest: String?)
        /// The attribute does not apply to settings of this type.
        case doesNotApply(type: String)
        /// A minimum that exceeds the named maximum.
        case minimumAboveMaximum(String)
        /// A default or a choice breaks the setting's own rule.
        case refused(Schema.Problem.Reason)
        /// A pattern that cannot be compiled. The string is the reason.
        case pattern(String)
        /// A predicate, path or key of a query that cannot be compiled. The string is the reason.
        case query(String)
        /// A key, flag, variable, position or command that is already declared.
        case duplicate(String)
        /// A flag of a setting has the name of a built-in flag, which gets another name.
        case replacesFlag(String)
        /// A key, flag or variable that is reserved.
        case reserved(String)
        /// A name that a setting, flag, variable or command cannot have.
        case invalidName(String)
        /// A reference to an undeclared key.
        case unknownKey(String, nearest: String?)
        /// An attribute that cannot be combined with another.
        case contradicts(String)
        /// The schema extends itself through these domains.
        case cycle([String])
        /// The schema that this one extends cannot be found.
        case missingSchema(String)
        /// The schema that this one extends cannot be read. The second string is the reason.
        case unreadableSchema(String, reason: String)
        /// Rules are nested more deeply than the limit.
        case nestedTooDeeply(limit: Int)
        /// There are more settings, or extended schemas, than the limit.
        case tooMany(limit: Int)
        /// A migration that would never run.
        case unreachableVersion(Int)
        /// An invalid line in the notation of one line per option. The string is the reason.
        case syntax(String)
        /// A list without elements.
        case empty
        /// The attribute is allowed only in the head of a script.
        case notInHead
        /// The setting becomes the same shell variable as another key.
        case sameVariable(String, as: String)
        /// The setting becomes a variable that the shell, or `prefs args`, sets.
        case takenVariable(String)
        /// No setting has this position, although one has a later position.
        case missingPosition(Int)
        /// The attribute has no effect beside another.
        case noEffect(beside: String)
        /// A repeated flag replaces the earlier elements of an array.
        case lastWins(String)
        /// A part of the declaration, such as a type, that `prefs args --build` cannot inline.
        case needsPrefs(String)
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
        case .replacesFlag(let name): "replaces --\(name) of prefs, which is now --prefs-\(name)"
        case .reserved(let what): "\(shortened(what, to: 80)) is reserved"
        case .invalidName(let name): "invalid name \(shortened(name))"
        case .unknownKey(let key, let nearest): "unknown key \(shortened(key))\(hint(nearest))"
        case .contradicts(let other): "cannot be combined with \(other)"
        case .cycle(let domains):
            "a schema that extends itself: \(domains.map { shortened($0) }.joined(separator: " → "))"
        case .missingSchema(let domain): "there is no schema for \(shortened(domain))"
        case .unreadableSchema(let domain, let reason): "the schema for \(shortened(domain)) cannot be read: \(reason)"
        case .nestedTooDeeply(let limit): "rules nested more than \(limit) deep"
        case .tooMany(let limit): "more than \(limit)"
        case .unreachableVersion(let version): "the migration from version \(version) can never run"
        case .syntax(let problem): problem
        case .empty: "is empty"
        case .notInHead: "is allowed only in the head of a script"
        case .sameVariable(let name, let key):
            "becomes the shell variable \(shortened(name)), as \(shortened(key)) does"
        case .takenVariable(let name): "becomes the shell variable \(shortened(name)), which is reserved"
        case .missingPosition(let position): "no setting has position \(position)"
        case .noEffect(let other): "has no effect beside \(other)"
        case .needsPrefs(let part):
            "\(part.isEmpty ? "" : "\(part) ")needs prefs, which --build cannot inline"
        case .lastWins(let flag): "a second \(shortened(flag)) replaces the value of the first"
        }
    }
}

extension Schema.Mistake.Reason {
    /// How to fix the error, as the end of a sentence.
    package var fix: String? {
        switch self {
        case .notAPropertyList, .syntax, .pattern, .query, .needsPrefs: nil
        case .unknownAttribute(_, let nearest), .unknownName(_, let nearest), .unknownKey(_, let nearest):
            nearest == nil ? "remove it" : nil
        case .missingAttribute(let name): "add \(name)"
        case .wrongValue, .refused: "change the value"
        case .doesNotApply: "remove it, or change Type"
        case .minimumAboveMaximum(let name): "lower it, or raise \(name)"
        case .duplicate: "remove or rename one of them"
        case .replacesFlag: "rename it to keep that flag"
        case .reserved: "choose another name"
        case .invalidName: "use letters, digits, dashes and underscores"
        case .contradicts: "remove one of them"
        case .cycle: "remove one of the Extends"
        case .missingSchema: "install it, or put it next to this file"
        case .unreadableSchema: "fix that schema, or remove the Extends"
        case .nestedTooDeeply: "declare fewer levels"
        case .tooMany: "declare fewer"
        case .unreachableVersion: "raise Version"
        case .empty: "add an element, or remove it"
        case .notInHead: "remove it, or move the declaration into the script"
        case .sameVariable: "rename one of them"
        case .takenVariable: "rename it, or call prefs args with --prefix"
        case .missingPosition: "number the positions without a gap"
        case .noEffect(let other): "remove it, or \(other)"
        case .lastWins: "add Repeats = YES or a Separator"
        }
    }
}

extension Schema.Mistake: CustomStringConvertible {
    /// The error with its location: `3:15: :Settings:0:Minimum: is above Maximum`, or with the setting that a program
    /// declares: `Setting("keep"): Minimum: is above Maximum`.
    public var description: String {
        if let declaration { return "\(declaration): \(withAttribute)" }
        let place = location.map { "\($0.line):\($0.column): " } ?? ""
        return place + withoutLocation
    }

    /// The error with the attribute, but without the path of the setting or command.
    package var withAttribute: String {
        var rest = path.components[...]
        while rest.count > 1, rest.first == "Settings" || rest.first == "Commands" { rest = rest.dropFirst(2) }
        let attribute = rest.map(\.text).joined(separator: ":")
        return "\(attribute.isEmpty ? "" : "\(shortened(attribute, to: 200)): ")\(reason)"
    }

    /// The error with its path, but without line and column.
    package var withoutLocation: String {
        "\(path.components.isEmpty ? "" : "\(shortened(path.description, to: 200)): ")\(reason)"
    }
}

extension Schema.Mistakes: CustomStringConvertible {
    public var description: String { all.map(\.description).joined(separator: "\n") }
}
