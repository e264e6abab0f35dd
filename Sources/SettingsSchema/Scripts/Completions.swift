internal import PropertyLists

/// The completions of a program, independent of the shell.
struct Completions {
    /// The completions for one sub-command.
    struct Context {
        /// The sub-command; nil before one is chosen, or if there are none.
        let command: String?
        let flags: [Flag]
        /// The completions for operands.
        let operands: Values
    }

    struct Flag {
        let names: [String]
        let title: String
        /// The completions for the flag's value; nil if it takes none.
        let values: Values?
    }

    enum Values: Equatable {
        case words([String])
        case files, folders
        case nothing
    }

    let contexts: [Context]

    init(_ schema: Schema) {
        let before = Context(
            command: nil, flags: Self.flags(of: schema.settings, schema, nil),
            operands: schema.commands.isEmpty ? Self.operands(of: schema.settings) : .words(schema.commands.map(\.name))
        )
        contexts =
            [before]
            + schema.commands.map { command in
                let settings = schema.settings(of: command.name)
                return Context(
                    command: command.name, flags: Self.flags(of: settings, schema, command),
                    operands: Self.operands(of: settings))
            }
    }

    private static func flags(of settings: [SettingDeclaration], _ schema: Schema, _ command: Schema.Command?) -> [Flag]
    {
        let own = settings.flatMap { setting -> [Flag] in
            let title = setting.title ?? setting.summary ?? ""
            if setting.hasSecrets {
                return setting.secretFlags.map {
                    Flag(names: ["--\($0.name)"], title: title, values: $0.source == .file ? .files : .nothing)
                }
            }
            let names = setting.allFlags.map { "--\($0)" } + (setting.short.map { ["-\($0)"] } ?? [])
            return names.isEmpty
                ? [] : [Flag(names: names, title: title, values: setting.isSwitch ? nil : Self.values(of: setting))]
        }
        return own
            + CommonFlag.allCases.map { flag in
                let short = flag == .help && schema.hasShortHelp(command) ? ["-h"] : []
                let values = flag.argument == nil ? nil : Values.words(assignments(settings))
                return Flag(names: ["--\(flag.rawValue)"] + short, title: flag.title, values: values)
            }
    }

    private static func assignments(_ settings: [SettingDeclaration]) -> [String] {
        settings.filter { !$0.hasSecrets }.map { EntryPath([.init($0.key)]).description + "=" }
    }

    private static func operands(of settings: [SettingDeclaration]) -> Values {
        let places = settings.filter(\.takesOperands)
        // All operands are offered at every position.
        guard !places.isEmpty else { return .files }
        let words = places.flatMap { values(of: $0).words }
        return words.isEmpty ? places.map { values(of: $0) }.first { $0 != .nothing } ?? .nothing : .words(words)
    }

    private static func values(of setting: SettingDeclaration) -> Values {
        let rule = setting.rule.type == .array ? setting.rule.element ?? ValueRule() : setting.rule
        if !rule.choices.isEmpty { return .words(rule.choices.map(\.plainText)) }
        if rule.type == .boolean { return .words(["true", "false"]) }
        switch rule.kind {
        case .file, .path: return .files
        case .folder: return .folders
        case nil where rule.type == .string: return .files
        default: return .nothing
        }
    }
}

extension Completions.Values {
    fileprivate var words: [String] { if case .words(let words) = self { words } else { [] } }
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
