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
        table: Table? = nil, options: [Option] = [], forms: [[Operand]] = [[]], parts: [Verb] = [],
        statuses: [ExitStatus] = [],
        run: @escaping Action = { _, _ in .usage }
    ) {
        self.name = name
        self.aliases = aliases
        self.kind = kind
        self.summary = summary
        self.details = details
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
