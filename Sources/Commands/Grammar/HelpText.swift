internal import Preferences
internal import SettingsSchema

/// The help texts, generated from the table of verbs.
package enum HelpText {
    /// The width of help texts. It does not depend on the terminal, since help is also saved in files.
    static let width = 79

    /// Returns what the command prints without a verb. It fits on a terminal of 24 lines.
    package static func summary(program: String) -> String {
        guard Dialect(program: program) == .modern else { return overview(program: program) }
        let width = (Verb.tasks.map(\.title.count).max() ?? 0) + 2
        let tasks = Verb.tasks.map { title, verbs in
            title.padded(to: width) + verbs.map(\.name).joined(separator: ", ") + "\n"
        }
        return """
            usage: \(program) [options] verb [arguments]

            Reads, writes and watches settings.

              prefs write com.example.app theme dark       set a value
              prefs read com.example.app theme             print it
              prefs write ./package.json version 2.0.0     change one line of a file

            \(tasks.joined())
            Options: \(Option.global.map { $0.aliases.first { $0.hasPrefix("--") } ?? $0.name }.joined(separator: ", "))
            `\(program) help` describes the verbs, and `\(program) help VERB` one of them.

            """
    }

    /// Returns the general help.
    package static func overview(program: String = Prefs.name) -> String {
        let dialect = Dialect(program: program)
        func table(_ verbs: [Verb]) -> String {
            Self.table(verbs.map { (([$0.name] + $0.aliases).joined(separator: ", "), $0.summary) })
        }
        let verbs =
            dialect == .classic
            ? [
                ("Verbs of macOS", Verb.all.filter { $0.kind == .classic }),
                ("More verbs", Verb.all.filter { $0.kind == .new }),
            ]
            : Verb.tasks
        return """
            usage: \(program) [options] verb [arguments]

            Reads, writes and watches settings.

            \(verbs.map { "\($0.0):\n\(table($0.1))\n" }.joined())\(dialect == .classic ? "Options, before the verb" : "Options, anywhere"):
            \(Self.table(Option.global.map { ($0.usage(in: dialect), $0.summary) }))
            Domains:
            \(Self.table(domains))
            `\(program) help VERB` describes a verb and its exit statuses.
            Topics of `\(program) help`: \(HelpTopic.all.map(\.name).joined(separator: ", ")).

            """
    }

    /// Returns the help on a verb or a sub-verb.
    package static func text(of path: [Verb], program: String = Prefs.name) -> String {
        guard let verb = path.last else { return overview(program: program) }
        let dialect = Dialect(program: program)
        let usage = usageLines(of: verb, [program] + path.map(\.name), dialect)
        var text = "usage: " + usage.joined(separator: "\n       ") + "\n\n"
        text += verb.summary.prefix(1).uppercased() + verb.summary.dropFirst() + ".\n"
        let words = ([Prefs.name] + path.map(\.name)).joined(separator: " ")
        if dialect == .modern, let example = Verb.examples.first(where: { $0 == words || $0.hasPrefix(words + " ") }) {
            text += "\n    \(example)\n"
        }
        if !verb.aliases.isEmpty { text += "Also called \(verb.aliases.joined(separator: ", ")).\n" }
        for paragraph in dialect == .classic ? verb.classicDetails ?? verb.details : verb.details {
            text += "\n" + paragraph.wrapped(to: width).joined(separator: "\n") + "\n"
        }
        if !verb.parts.isEmpty { text += "\nVerbs:\n" + table(verb.parts.map { ($0.name, $0.summary) }) }
        if let list = verb.table {
            let isModernType = dialect == .modern && verb.takesValue
            let rows = (list.rows + (dialect == .modern ? list.modernRows : [])).map {
                ((isModernType ? "-" : "") + $0.word, $0.meaning)
            }
            text += "\n\(list.title):\n" + table(rows)
        }
        if !verb.options.isEmpty {
            text += "\nOptions:\n" + table(verb.options.map { ($0.usage(in: dialect), summary(of: $0)) })
        }
        text += "\nExit status:\n" + table(verb.allStatuses.map { ($0.rawValue.description, $0.meaning) })
        return text
    }

    /// Returns a usage line for each form of the verb.
    static func usageLines(of verb: Verb, _ words: [String], _ dialect: Dialect = .modern) -> [String] {
        let start = words.joined(separator: " ")
        if !verb.parts.isEmpty { return [start + " VERB …"] }
        let options = verb.options.isEmpty ? "" : " [options]"
        return verb.forms(in: dialect).map { form in ([start + options] + form.map(\.usage)).joined(separator: " ") }
    }

    private static let domains = [
        ("com.example.app", "the user's settings of that name"),
        (
            (DomainArgument.globalFlags + [DomainName.global.text]).joined(separator: ", "),
            "the settings for all programs"
        ),
        ("-app NAME", "the settings of the application with that name"),
        ("/a/path.plist, ./b.plist, ~/c.plist", "a property list in any format"),
    ]

    private static func summary(of option: Option) -> String {
        guard let choices = option.argument?.choices else { return option.summary }
        return option.summary + ": " + choices.joined(separator: ", ")
    }

    /// Formats rows in two columns, with the second one wrapped.
    private static func table(_ rows: [(String, String)]) -> String {
        let column = min(28, (rows.map { $0.0.columns }.max() ?? 0) + 4)
        return rows.flatMap { $0.explained(by: $1, at: column, width: width) }.map { $0 + "\n" }.joined()
    }
}
