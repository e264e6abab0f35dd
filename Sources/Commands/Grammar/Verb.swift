/// A verb of the command, as used by the parser, help, completions and the check of the manual.
package struct Verb: Sendable {
    /// The implementation of a verb.
    package typealias Action = @Sendable (Invocation, CommandContext) throws -> ExitStatus

    /// The rules for the position of options.
    package enum Kind: Hashable, Sendable {
        /// A verb of macOS. Our options precede the domain; the words after it are taken literally.
        case classic
        /// A verb of our own. Options can be anywhere before `--`.
        case new
        /// A verb for completion scripts, which is not documented.
        case hidden
    }

    /// What of a store a verb reads or changes, which determines the options that it takes.
    package enum Scope: Int, Sendable {
        case nothing, allHosts, oneHost
    }

    package let name: String
    package let aliases: [String]
    package let kind: Kind
    /// A description on one line without a full stop.
    package let summary: String
    /// The paragraphs of the help text.
    package let details: [String]
    /// The paragraphs of the help text of `defaults`, where it behaves otherwise.
    package let classicDetails: [String]?
    /// A table for the help text.
    package let table: Table?
    package let options: [Option]
    /// The possible operands, as forms that differ in their number of words.
    package let forms: [[Operand]]
    /// The sub-verbs, such as `mirror sync`.
    package let parts: [Verb]
    /// The possible exit statuses other than `done` and `usage`.
    package let statuses: [ExitStatus]
    package let scope: Scope
    /// The implementation. Never called for a verb with sub-verbs.
    package private(set) var run: Action

    package init(
        _ name: String, aliases: [String] = [], _ kind: Kind, _ summary: String, details: [String] = [],
        classicDetails: [String]? = nil, table: Table? = nil, options: [Option] = [], forms: [[Operand]] = [[]],
        parts: [Verb] = [],
        statuses: [ExitStatus] = [], scope: Scope = .oneHost,
        run: @escaping Action = { _, _ in .usage }
    ) {
        self.name = name
        self.aliases = aliases
        self.kind = kind
        self.summary = summary
        self.details = details
        self.classicDetails = classicDetails
        self.table = table
        self.options = options
        self.forms = parts.isEmpty ? forms : []
        self.parts = parts
        self.statuses = statuses
        self.scope = scope
        self.run = run
    }
}

extension Verb {
    /// A table of words and their meanings.
    package struct Table: Sendable {
        package let title: String
        package let rows: [(word: String, meaning: String)]
        /// The rows that only `prefs` has.
        package var modernRows: [(word: String, meaning: String)] = []
    }

    /// Returns whether an option that any verb can have has an effect on this one.
    func uses(_ option: Option) -> Bool {
        switch option {
        case .store: scope != .nothing
        case .host, .currentHost, .newHost: scope == .oneHost
        default: true
        }
    }

    /// Whether the last operand is the words of a value.
    var takesValue: Bool { forms.contains { $0.last?.kind == .value } }

    /// Returns whether the verb or one of its sub-verbs has an option.
    func hasOption(named word: String) -> Bool {
        options.contains { $0.isNamed(word) } || parts.contains { $0.hasOption(named: word) }
    }

    /// Returns the possible operands. In `prefs`, a value is a single literal word or follows a type flag.
    package func forms(in dialect: Dialect) -> [[Operand]] {
        guard dialect == .modern, takesValue else { return forms }
        return forms.reversed().flatMap { form -> [[Operand]] in
            let start = form.dropLast()
            guard let value = form.last, value.kind == .value else { return [form] }
            // A replacement for all values is always typed.
            guard value.bounds.most == nil else { return [start + [Operand("--plist \(value.name)", .typedValue)]] }
            return [
                start + [Operand(value.name, .value)],
                start + [Operand("--TYPE \(value.name)", .typedValue, .oneOrMore)],
            ]
        }
    }

    /// Returns the verb that a word names, ignoring case.
    package static func named(_ word: String, among verbs: [Verb]) -> Verb? {
        let word = word.lowercased()
        return verbs.first { $0.name == word || $0.aliases.contains(word) }
    }

    /// Returns the verb that a word names after those of the path, or throws with a suggestion.
    static func named(_ word: String, among verbs: [Verb], after path: [Verb]) throws(UsageFailure) -> Verb {
        if let verb = named(word, among: verbs) { return verb }
        let known = verbs.filter { $0.kind != .hidden }.flatMap { [$0.name] + $0.aliases }
        throw UsageFailure(.unknownVerb(word, known: known), path: path.map(\.name))
    }

    /// Returns the verb with its errors replaced by the result of `mapError`.
    func mappingErrors(_ mapError: @escaping @Sendable (any Error, Invocation) -> any Error) -> Verb {
        var verb = self
        verb.run = { invocation, context in
            do {
                return try run(invocation, context)
            } catch {
                throw mapError(error, invocation)
            }
        }
        return verb
    }

    /// All possible exit statuses.
    package var allStatuses: [ExitStatus] {
        Set([.done, .usage] + statuses + parts.flatMap(\.statuses)).sorted()
    }
}

/// A positional argument of a verb.
package struct Operand: Hashable, Sendable {
    /// The kind of argument, which determines its completions.
    package enum Kind: Hashable, Sendable {
        case domain, key, file, folder
        /// A key that exists in the domain or is declared by its schema.
        case declaredKey
        case domainOrFile
        /// A domain with a schema, or a file with one.
        case declaredDomain
        /// A domain, DOMAIN@LAYER or a file.
        case compared
        /// The number of a kept version of the domain.
        case version
        /// A predicate, or the name of a query that the domain's schema declares.
        case query
        case verb
        case word
        case choice(Choice)
        /// The words of a value.
        case value
        /// A type flag with the words of its value.
        case typedValue
    }

    package enum Occurrence: Hashable, Sendable {
        case once, optional, oneOrMore, zeroOrMore
        /// Any number of words, after `--` if they look like options.
        case afterDashes
        /// No word: an option that the form requires, for the usage line.
        case option
    }

    package let name: String
    package let kind: Kind
    package let occurrence: Occurrence

    package init(_ name: String, _ kind: Kind, _ occurrence: Occurrence = .once) {
        self.name = name
        self.kind = kind
        self.occurrence = occurrence
    }
}

extension Operand {
    /// An option that a form of the verb requires.
    static func option(_ option: Option) -> Operand {
        Operand([option.name, option.argument?.name].compactMap(\.self).joined(separator: " "), .word, .option)
    }

    package static let domain = Operand("DOMAIN", .domain)
    package static let anyDomain = Operand("DOMAIN", .domain, .optional)
    package static let key = Operand("KEY", .key)
    package static let anyKey = Operand("KEY", .key, .optional)
    package static let declaredKey = Operand("KEY", .declaredKey)
    package static let anyDeclaredKey = Operand("KEY", .declaredKey, .optional)
    package static let file = Operand("FILE", .file)
    package static let files = Operand("FILE", .file, .oneOrMore)

    /// The minimum and maximum number of words; nil for no maximum.
    var bounds: (least: Int, most: Int?) {
        switch occurrence {
        case .once: (1, 1)
        case .optional: (0, 1)
        case .oneOrMore: (1, nil)
        case .zeroOrMore, .afterDashes: (0, nil)
        case .option: (0, 0)
        }
    }

    /// The operand in a usage line.
    var usage: String {
        switch occurrence {
        case .once, .option: name
        case .optional: "[\(name)]"
        case .oneOrMore: name + "…"
        case .zeroOrMore: "[\(name)…]"
        case .afterDashes: "[-- \(name)…]"
        }
    }
}

extension Operand.Kind {
    /// Whether the operand can be a domain.
    var isOfDomain: Bool { [.domain, .domainOrFile, .declaredDomain, .compared].contains(self) }
}

extension [Operand] {
    /// Returns the kind of the operand at a position.
    func kind(at position: Int) -> Operand.Kind? {
        guard allSatisfy({ $0.occurrence != .option }) else {
            return filter { $0.occurrence != .option }.kind(at: position)
        }
        if indices.contains(position) { return self[position].kind }
        return last.flatMap { $0.bounds.most == nil ? $0.kind : nil }
    }
}

/// The two commands in one executable. The name of the call selects one.
///
/// They share all verbs and differ in the grammar of words, in how words make a value, and in how a value is printed.
package enum Dialect: Hashable, Sendable {
    /// `prefs`: options anywhere, literal values, UTF-8 and JSON.
    case modern
    /// `defaults`: the grammar, the values and the output of macOS.
    case classic

    package init(program: String) { self = program == "defaults" ? .classic : .modern }
}

extension Dialect {
    /// The format in which values are printed unless another is requested; nil for a scalar as itself and everything
    /// else as JSON.
    var valueFormat: FormatName? { self == .classic ? .classic : nil }

    /// Returns a flag for the type of a value, as this command documents it.
    func spelling(_ flag: TypeFlag) -> String { self == .classic ? flag.rawValue : "-" + flag.rawValue }
}
