/// One row of the command's table: all that the parser, help, completions and the manual's check know of a verb.
package struct Verb: Sendable {
    /// What a verb does with an invocation that the parser let through.
    package typealias Action = @Sendable (Invocation, Surroundings) throws -> ExitStatus

    /// Whose rules hold for the options.
    package enum Kind: Hashable, Sendable {
        /// A verb of macOS: options of ours stand between the verb and the domain, and what follows is taken as it is.
        case classic
        /// A verb of ours: options stand anywhere before `--`.
        case new
        /// Called by our own completion scripts, and shown nowhere.
        case hidden
    }

    package let name: String
    package let aliases: [String]
    package let kind: Kind
    /// What the verb does, in one line without a full stop.
    package let summary: String
    /// The paragraphs of its help, each one line here.
    package let details: [String]
    /// What its operands are made of, row by row, under a title.
    package let table: Table?
    package let options: [Option]
    /// What may follow, in one or several ways that differ in their number of words.
    package let forms: [[Operand]]
    /// The verbs under this one: `mirror sync`.
    package let parts: [Verb]
    /// How it may end, beyond `done` and `usage`.
    package let statuses: [ExitStatus]
    /// Never called for a verb that has others under it: the parser goes on to one of those.
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
    /// Words and what they mean.
    package struct Table: Sendable {
        package let title: String
        package let rows: [(word: String, meaning: String)]
    }

    /// The verb that a word names, in whatever case.
    package static func named(_ word: String, among verbs: [Verb]) -> Verb? {
        let word = word.lowercased()
        return verbs.first { $0.name == word || $0.aliases.contains(word) }
    }

    /// The same verb, whose failures are told as `retell` has them for an invocation.
    func retelling(_ retell: @escaping @Sendable (any Error, Invocation) -> any Error) -> Verb {
        var verb = self
        verb.run = { invocation, surroundings in
            do {
                return try run(invocation, surroundings)
            } catch {
                throw retell(error, invocation)
            }
        }
        return verb
    }

    /// All ways in which it may end.
    package var allStatuses: [ExitStatus] {
        ([.done, .usage] + statuses + parts.flatMap(\.statuses)).reduce(into: [ExitStatus]()) { known, status in
            if !known.contains(status) { known.append(status) }
        }.sorted { $0.rawValue < $1.rawValue }
    }
}
