internal import PropertyLists

/// The completions of a program, independent of the shell.
struct Completions {
    /// The completions for one sub-command.
    struct Context {
        /// The sub-command; nil before one is chosen, or if there are none.
        let command: String?
        /// The words that choose it: the names and aliases of the command, after those of the commands that contain it.
        var path: [[String]] = []
        /// The names and aliases of the commands in it.
        var inner: [String] = []
        let flags: [Flag]
        /// The completions for operands.
        let operands: Values
    }

    struct Flag {
        let names: [String]
        let title: String
        /// The completions for the flag's value; nil if it takes none.
        let values: Values?
        /// Whether the value follows only after an equals sign.
        var isValueOptional = false
    }

    struct Word: Equatable {
        let text: String
        var title = ""
    }

    enum Values: Equatable {
        case words([Word])
        case files, folders
        /// The lines that a command of the script's own head prints.
        case lines(String)
        case nothing
    }

    let contexts: [Context]

    init(_ schema: Schema) {
        let commands = schema.allCommands.filter { name, _ in !schema.commandPath(name).contains(where: \.isHidden) }
        contexts = ([nil] + commands.map { $0.name }).map { name in
            let settings = schema.settings(of: name).filter { !$0.isHidden }
            let inner = name.map { schema.command(named: $0)?.commands ?? [] } ?? schema.commands
            return Context(
                command: name, path: name.map { schema.commandPath($0).map { [$0.name] + $0.aliases } } ?? [],
                inner: inner.flatMap { [$0.name] + $0.aliases }, flags: Self.flags(of: settings, schema, name),
                operands: inner.isEmpty
                    ? Self.operands(of: settings, isAllowed: schema.operandCount(of: name) != 0...0)
                    : .words(
                        inner.filter { !$0.isHidden }.map { Word(text: $0.name, title: $0.title ?? $0.summary ?? "") }))
        }
    }

    private static func flags(of settings: [SettingDeclaration], _ schema: Schema, _ command: String?) -> [Flag] {
        let own = settings.flatMap { setting -> [Flag] in
            let title = setting.title ?? setting.summary ?? ""
            if setting.hasSecrets {
                return setting.secretFlags.map {
                    Flag(names: ["--\($0.name)"], title: title, values: $0.source == .file ? .files : .nothing)
                }
            }
            let names = setting.allFlags.map { "--\($0)" } + (setting.short.map { ["-\($0)"] } ?? [])
            let setters = setting.flagValues.map { Flag(names: [$0.flag], title: title, values: nil) }
            return names.isEmpty
                ? setters
                : [
                    Flag(
                        names: names, title: title, values: setting.isSwitch ? nil : Self.values(of: setting),
                        isValueOptional: setting.isValueOptional)
                ] + setters
        }
        return own
            + schema.commonFlags.map { flag in
                let letter = flag == .version ? schema.versionShort.map { "-\($0)" } : nil
                let short = flag == .help && schema.hasShortHelp(command) ? ["-h"] : letter.map { [$0] } ?? []
                let values = flag.argument == nil ? nil : Values.words(assignments(settings).map { Word(text: $0) })
                return Flag(names: ["--\(flag.rawValue)"] + short, title: flag.title, values: values)
            }
    }

    private static func assignments(_ settings: [SettingDeclaration]) -> [String] {
        settings.filter { !$0.hasSecrets }.map { EntryPath([.init($0.key)]).description + "=" }
    }

    private static func operands(of settings: [SettingDeclaration], isAllowed: Bool) -> Values {
        let places = settings.filter(\.takesOperands)
        // All operands are offered at every position.
        guard !places.isEmpty else { return isAllowed ? .files : .nothing }
        let words = places.flatMap { values(of: $0).words }
        let lines = places.lazy.map { values(of: $0) }.first { if case .lines = $0 { true } else { false } }
        if let lines { return lines }
        return words.isEmpty ? places.map { values(of: $0) }.first { $0 != .nothing } ?? .nothing : .words(words)
    }

    private static func values(of setting: SettingDeclaration) -> Values {
        let rule = setting.rule.type == .array ? setting.rule.element ?? ValueRule() : setting.rule
        if let command = rule.choicesFrom { return .lines(command) }
        if !rule.choices.isEmpty { return .words(rule.choices.map { Word(text: $0.plainText) }) }
        if rule.type == .boolean { return .words([Word(text: "true"), Word(text: "false")]) }
        switch rule.kind {
        case .file, .path: return .files
        case .folder: return .folders
        case nil where rule.type == .string: return .files
        default: return .nothing
        }
    }
}

extension Completions.Values {
    fileprivate var words: [Completions.Word] { if case .words(let words) = self { words } else { [] } }
}

extension Schema {
    /// Returns the completion script for a shell; empty for other outputs.
    package func completions(for output: ScriptOutput, program: String) -> String {
        let completions = Completions(self)
        switch output {
        case .bash: return completions.bash(program)
        case .zsh: return completions.zsh(program)
        case .fish: return completions.fish(program)
        case .sh, .json, .nul: return ""
        }
    }
}
