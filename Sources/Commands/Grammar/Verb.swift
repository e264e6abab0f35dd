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
    /// The implementation. Never called for a verb with sub-verbs.
    package private(set) var run: Action

    package init(
        _ name: String, aliases: [String] = [], _ kind: Kind, _ summary: String, details: [String] = [],
        classicDetails: [String]? = nil, table: Table? = nil, options: [Option] = [], forms: [[Operand]] = [[]],
        parts: [Verb] = [],
        statuses: [ExitStatus] = [],
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
        self.run = run
    }
}

extension Verb {
    /// A table of words and their meanings.
    package struct Table: Sendable {
        package let title: String
        package let rows: [(word: String, meaning: String)]
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
        ([.done, .usage] + statuses + parts.flatMap(\.statuses)).reduce(into: [ExitStatus]()) { known, status in
            if !known.contains(status) { known.append(status) }
        }.sorted { $0.rawValue < $1.rawValue }
    }
}
