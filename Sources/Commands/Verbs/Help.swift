internal import Platform
internal import SettingsSchema

extension Verb {
    package static let help = Verb(
        "help", .classic, "print help about the command, one verb or a topic",
        details: ["The topics are \(HelpTopic.all.map(\.name).joined(separator: ", "))."],
        forms: [[Operand("VERB", .verb, .zeroOrMore)]], scope: .nothing
    ) { invocation, context in
        let words = invocation.words("VERB")
        if let topic = words.first.flatMap(HelpTopic.named) {
            guard words.count == 1 else {
                throw UsageFailure(.unexpectedOperand(words[1]), path: [invocation.verb.name])
            }
            try context.terminal.write(topic.text, to: .output)
            return .done
        }
        var path: [Verb] = []
        if let word = words.first, Verb.named(word, among: Verb.all) == nil {
            let topics = HelpTopic.all.map(\.name)
            let verbs = Verb.all.filter { $0.kind != .hidden }.map(\.name)
            let hint = Suggestion.hint(verb: word, among: topics + verbs)
            let end = hint.isEmpty ? "; the topics are \(topics.joined(separator: ", "))" : hint
            throw CommandFailure(.usage, "help: no verb or topic \(ShellWord.quoted(word.onOneLine))\(end)")
        }
        for word in words {
            path.append(try Verb.named(word, among: path.last?.parts ?? Verb.all, after: path))
        }
        try context.terminal.write(HelpText.text(of: path, program: context.program), to: .output)
        return .done
    }
}

/// What several verbs have in common.
package struct HelpTopic: Sendable {
    package let name: String
    /// Other words for it.
    private var aliases: [String] = []
    private let paragraphs: [String]
    /// Commands that show it.
    private let examples: [String]
    private let pages: String

    package var text: String {
        let text = paragraphs.map { $0.wrapped(to: HelpText.width).joined(separator: "\n") }
        let commands = examples.map { "    \($0)" }.joined(separator: "\n")
        return (text + [commands, "See also: \(pages)."]).joined(separator: "\n\n") + "\n"
    }
}

extension HelpTopic {
    /// Returns the topic that a word names.
    static func named(_ word: String) -> HelpTopic? {
        let word = word.lowercased()
        return all.first { $0.name == word || $0.aliases.contains(word) }
    }

    package static let all = [
        HelpTopic(
            name: "files", aliases: ["environment", "stores"],
            paragraphs: [
                "The user's domains are in ~/.config/prefs, those for one host in its folder ByHost; XDG_CONFIG_HOME replaces ~/.config. The layer site is in /etc/xdg/prefs and the other folders of XDG_CONFIG_DIRS, and the layer forced in /etc/prefs/forced.",
                "The history and what apply has set are in ~/.local/state/prefs (XDG_STATE_HOME), schemas in ~/.local/share/prefs/schemas (XDG_DATA_HOME). A file that was adopted stays where it is.",
                "--store DIR uses a folder such as a copy of ~/.config/prefs, which has no layers of the administrator. To remove one program's settings: delete-all, with --host NAME for each host that it names, then schema uninstall and history --forget; what stays are empty locks. To remove everything, remove these folders, and as the administrator /var/lib/prefs.",
            ],
            examples: [
                "prefs explain com.example.app theme", "prefs read --store /mnt/old/.config/prefs com.example.app",
                "prefs delete-all com.example.app", "prefs history --forget com.example.app",
            ], pages: "man 5 prefs"),
        HelpTopic(
            name: "layers",
            paragraphs: [
                "A key can have a value in several layers. The first layer that has one is in force: forced (the administrator's, for everyone), user-host (the user's on one host), user, the user's values for all programs, site (what the administrator suggests), and the defaults of the schema. A program's arguments, its variables and the file of its --config come after forced, in this order.",
                "read shows the value in force, and explain all of them. write changes user, unless --layer, --current-host or --host NAME names another layer. The administrator writes forced and site, which belong to root.",
            ],
            examples: [
                "prefs explain com.example.app theme", "prefs read --layer user com.example.app",
                "prefs write --current-host com.example.app theme dark",
                "prefs write --layer site com.example.app theme dark",
            ], pages: "man 5 prefs"),
        HelpTopic(
            name: "paths",
            paragraphs: [
                "A key is used as it is, with its dots. One that begins with a colon is the path of an entry within a value: names of dictionaries and indices of arrays, separated by colons. The index -1 is the last element, and a path that ends in a colon appends one.",
                "A backslash precedes a colon or backslash that is part of a name. With --where, a * stands for every entry at its place.",
            ],
            examples: [
                "prefs read com.example.app :windows:0:width", "prefs write com.example.app :windows:-1:width 800",
                "prefs write com.example.app :recent: report.txt",
                "prefs delete com.example.app ':hosts:*:port' --where 'name == \"old\"'",
            ], pages: "man prefs, section Keys; man prefs-query"),
        HelpTopic(
            name: "schemas",
            paragraphs: [
                "A schema declares the keys of a domain: types, defaults, allowed values, titles, secrets. Every write is checked against it, and prefs form and completions use it. It is a property list, or comment lines in a script.",
                "schema check finds its errors with their places, schema install puts it in force, and schema show prints what is declared.",
            ],
            examples: [
                "{\"Domain\": \"com.example.app\", \"Settings\": [",
                "  {\"Key\": \"theme\", \"Choices\": [\"light\", \"dark\"], \"Default\": \"light\"},",
                "  {\"Key\": \"token\", \"Sensitive\": true, \"Environment\": \"APP_TOKEN\"}]}",
                "prefs schema check app.schema.plist", "prefs schema install app.schema.plist",
                "prefs schema show com.example.app", "prefs form com.example.app",
            ], pages: "man prefs-schema; man prefs-args for scripts"),
        HelpTopic(
            name: "values",
            paragraphs: [
                "A value is literal text, and a flag before it gives its type. Without one it has the type that the schema declares, or that of the stored value if the text represents one, or else it is a string.",
                "The flags are --string, --int, --float, --bool, --date, --data, --array, --dict and --json; `prefs help write` lists them with their arguments.",
            ],
            examples: [
                "prefs write com.example.app size --int 12", "prefs write com.example.app since --date 2001-02-03",
                "prefs write com.example.app tags --array red blue",
                "prefs write com.example.app colors --json '{\"sky\": \"blue\"}'",
            ], pages: "man prefs, section Values"),
    ]
}
