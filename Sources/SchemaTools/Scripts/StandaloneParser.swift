internal import PropertyLists
internal import Queries
package import SettingsSchema

/// The parser of a script in POSIX shell, for hosts without `prefs`.
///
/// It has the part of the rules that needs no more than a shell: flags, options, choices, bounds of integers, operands,
/// defaults, environment variables, sub-commands and help. Its functions and variables begin with `_p_`:
///
/// - `command`, `lost`: the chosen sub-command; whether an unknown one was given
/// - `errors`, `help`, `version`: the errors so far; whether help or the version is requested
/// - `left`, `only`: the number of arguments that are not parsed yet, which precede the operands in `$@`; whether these
///   are all operands
/// - `word`, `name`, `whole`: the argument; its flag, or nothing for an operand; the flag with its value, to be passed
///   on
/// - `text`, `other`: the beginning of a long flag; the effect of a flag with exactly this name
/// - `first`, `names`, `last`, `effect`, `effects`, `number`: the first flag with this beginning, all but the last one,
///   and the last one; the effect of one, those of all, and their number
/// - `rest`: the letters after the current one in an argument such as `-nv`
/// - `long`: the effect of a long flag that was written with one dash
/// - `has`, `attached`, `take`: whether a value is attached; the value; whether it is set
/// - `kind`, `key`, `fixed`, `shown`: the result of `_p_flag`: the effect, the setting, a value or text of the
///   flag, and its name in messages
/// - `at_KEY`, `text_KEY`, `new_KEY`, `raw_KEY`: for each setting, the flag or operand that gave the value; the text,
///   or quoted words for an array; whether it is unchecked; the text of an array
/// - `uses_LIST`: the flags and values of a list, as quoted words
/// - `parts`, `part`: words that are found so far; the present one
/// - `added`, `found`: a pair of a map that is added; whether its key is in the map
/// - `by_KEY`: for each setting in a rule about several, `flag` or `env` if its value counts; `new` for a variable at
///   first
/// - `notes`, `old`: the notes so far; the end of the note on the flag if it is deprecated, or what else the flag of a
///   default command is
/// - `wrong`: whether a value breaks a rule that has its own message
/// - `env_NAME`: an environment variable at the start
package struct StandaloneParser {
    let schema: Schema
    private let program: String
    let prefix: String
    private let output: ScriptOutput
    /// Whether the script prints its completions for `--completions`.
    private let hasCompletions: Bool
    /// The program, and each command by its name.
    let contexts: [String?]

    package init(
        _ schema: Schema, program: String, for output: ScriptOutput = .sh, prefix: String = "",
        hasCompletions: Bool = false
    ) throws(Refusal) {
        let parts = schema.partsBeyondShell
        guard parts.isEmpty else { throw Refusal(parts: parts) }
        (self.schema, self.prefix, self.output, self.hasCompletions) = (schema, prefix, output, hasCompletions)
        self.program = schema.program ?? program
        contexts = [nil] + schema.allCommands.map(\.name)
    }

    /// The commands that can come next.
    func commands(in context: String?) -> [Schema.Command] {
        context.map { schema.command(named: $0)?.commands ?? [] } ?? schema.commands
    }

    /// The full name of the command that is used if none is named.
    func defaultCommand(in context: String?) -> String? {
        let name = context.map { schema.command(named: $0)?.defaultCommand } ?? schema.defaultCommand
        return name.map { fullName($0, in: context) }
    }

    func fullName(_ command: String, in context: String?) -> String { context.map { "\($0) \(command)" } ?? command }

    /// The line that chooses a command and gives its settings their defaults.
    func choice(of name: String) -> String {
        let settings = schema.command(named: name)?.settings ?? []
        return (["_p_command=\(quoted(name))"] + defaults(settings)).joined(separator: " ")
    }

    func variable(_ key: String) -> String { ShellName.variable(for: key, prefix: prefix) }
    func place(_ key: String) -> String { "_p_at_" + ShellName.variable(for: key, prefix: "") }
    /// The variable that is set while a value is unchecked.
    func unchecked(_ key: String) -> String { "_p_new_" + ShellName.variable(for: key, prefix: "") }
    func text(_ key: String) -> String { "_p_text_" + ShellName.variable(for: key, prefix: "") }
    /// The variable with the text of an array as it was given, between a space and a colon; empty if it is not known.
    func raw(_ key: String) -> String { "_p_raw_" + ShellName.variable(for: key, prefix: "") }
    /// The variable with the layer of a value that counts in rules about several settings.
    func layer(_ key: String) -> String { "_p_by_" + ShellName.variable(for: key, prefix: "") }
    /// The variable with the words of a list of uses.
    func uses(_ list: String) -> String { "_p_uses_" + ShellName.variable(for: list, prefix: "") }
    func quoted(_ text: String) -> String { ShellQuoting.word(text) }
    /// The text as a word or pattern, which needs no quotes if nothing in it has a meaning for a shell.
    func word(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", ":", "+": true
            default: false
            }
        }
        return isPlain && !text.isEmpty && text != "esac" ? text : quoted(text)
    }
    /// The name by which functions of the parser know a setting.
    func name(_ setting: SettingDeclaration) -> String { ShellName.variable(for: setting.key, prefix: "") }
    /// Whether functions can make the name of the variable from that of the setting.
    func hasPlainVariable(_ setting: SettingDeclaration) -> Bool { variable(setting.key) == prefix + name(setting) }
    /// The pattern of a setting, or of a flag, in a context.
    func pattern(_ context: String?, _ name: String) -> String { word("\(context ?? ""):\(name)") }

    /// The code that sets the variables of the settings and the positional parameters, or ends the script.
    package func code() throws(ScriptFailure) -> String {
        for context in contexts {
            let settings = schema.settings(of: context)
            let keys = settings.map(\.key) + settings.orderedLists + (schema.commands.isEmpty ? [] : ["command"])
            _ = try ShellName.variables(for: keys, prefix: prefix, output: output)
        }
        var lines = ["# The arguments, parsed without prefs. Made by prefs args --build from the declaration above."]
        lines += completionLines + environmentLines + startLines + functions + mainLoop + endLines
        return lines.map(\.indentedByTabs).joined(separator: "\n") + "\n"
    }

    // MARK: Start

    /// Prints the completions if they are all that is asked for.
    private var completionLines: [String] {
        guard hasCompletions else { return [] }
        let arms = ScriptOutput.completing.map { shell in
            let text = schema.completions(for: shell, program: program)
            return "\(shell.rawValue)) printf '%s' \(quoted(text)) ;;"
        }
        let shells = listed(ScriptOutput.completing.map(\.rawValue), "or")
        let refusal = "printf '%s\\n' \(quoted("\(program): --completions requires a shell: \(shells)")) >&2; exit 2"
        return ["if [ \"${1-}\" = --completions ]; then", "    case ${2-} in"] + arms.map { "    " + $0 }
            + ["    *) \(refusal) ;;", "    esac", "    exit 0", "fi"]
    }

    /// Keeps the variables of the environment, since the settings may have variables of the same names.
    private var environmentLines: [String] {
        let names = Set(schema.allSettings.flatMap(\.allVariables)).sorted()
        return names.map { "_p_env_\($0)=${\($0)-}" }
    }

    private var startLines: [String] {
        let ofCommands = schema.allCommands.flatMap(\.command.settings)
        let others = (ofCommands.map(\.key) + ofCommands.orderedLists).map(variable)
        var lines = others.isEmpty ? [] : ["unset -v \(Set(others).sorted().joined(separator: " "))"]
        lines += defaults(schema.settings) + schema.allSettings.orderedLists.map { "\(uses($0))=''" }
        lines += [
            "_p_command='' _p_errors='' _p_help='' _p_version='' _p_only='' _p_lost=''",
            "_p_rest='' _p_left=$# _p_whole='' _p_notes='' _p_line='", "'",
        ]
        return lines
    }

    func defaults(_ settings: [SettingDeclaration]) -> [String] {
        settings.map { setting in
            let state = "\(place(setting.key))='' \(unchecked(setting.key))='' \(text(setting.key))="
            if setting.isList {
                let pairs = setting.defaultValue?.dictionaryValue?.map { "\($0.key)=\($0.value.plainText)" }
                let elements = setting.defaultValue?.arrayValue?.map(\.plainText)
                let words = (pairs ?? elements ?? []).map(quoted)
                return state + quoted(words.joined(separator: " "))
                    + (setting.isChecked ? " \(raw(setting.key))=''" : "")
            }
            let value = setting.defaultValue?.plainText ?? (setting.rule.type == .boolean ? "false" : "")
            let text = setting.isDefaultInHome ? "~/\(quoted(String(value.dropFirst(2))))" : word(value)
            // Without a check, nothing reads the rest.
            let isChecked = !checks(of: setting).isEmpty || !setting.allVariables.isEmpty
            return "\(variable(setting.key))=\(text) " + (isChecked ? state : "\(place(setting.key))=") + "''"
        }
    }

    // MARK: Functions

    private var functions: [String] {
        var lines = StandaloneFunctions.failing(program: program)
        let types = schema.allSettings.map(\.rule.ofWords.type)
        if types.contains(.integer) { lines += StandaloneFunctions.integer }
        if types.contains(.boolean) { lines += StandaloneFunctions.boolean }
        if schema.allSettings.contains(where: { isPlain($0) && $0.rule.type != .string }) {
            lines += StandaloneFunctions.converting(prefix)
        }
        if hasNotes { lines += StandaloneFunctions.noting(program: program) }
        if schema.allSettings.contains(where: \.rule.ofWords.hasLength) { lines += StandaloneFunctions.length }
        if schema.allSettings.contains(where: { $0.rule.ofWords.pattern != nil }) {
            lines += StandaloneFunctions.matching
        }
        if !choicesOfDefaults.isEmpty {
            lines += ["_p_default() {", "    case $_p_command in"] + choicesOfDefaults + ["    esac", "}"]
        }
        lines += ["# The effect of flag $1 in the current command."]
        lines += [
            "_p_flag() {", "    _p_kind='' _p_key='' _p_fixed='' _p_old='' _p_shown=$1",
        ]
        lines += ["    case $_p_command:$1 in"] + contexts.flatMap { flagArms($0) } + ["    esac", "}"]
        if !schema.isExact {
            lines += StandaloneFunctions.abbreviating
            lines +=
                ["_p_long_flag() {", "    _p_flag \"$1\"", "    case $_p_command in"]
                + contexts.map { context in
                    let names = table(of: context).long.keys.sorted().map { word("--\($0)") }
                    return "    \(word(context ?? ""))) _p_complete \"$1\" \(names.joined(separator: " ")) ;;"
                }
            lines += ["    esac", "}"]
        }
        lines += ["# Sets the setting $1 to the text $2, which was given by $3."]
        lines += ["_p_set() {", "    case $_p_command:$1 in"] + contexts.flatMap { setArms($0) }
        lines += [
            "    *) eval \"_p_at_$1=\\$3 _p_text_$1=\\$2 \(prefix)$1=\\$2 _p_new_$1=1\" ;;", "    esac", "}",
        ]
        lines += ["# Checks the new value of the setting $1."]
        lines += ["_p_check() {", "    case $_p_command:$1 in"] + contexts.flatMap { checkArms($0) }
        lines += ["    esac", "}"]
        lines += ["_p_show_help() {", "    case $_p_command in"]
        for context in contexts.reversed() {
            let help = schema.helpText(program: program, command: context)
            lines += ["    \(quoted(context ?? ""))) printf '%s' \(quoted(help)) ;;"]
        }
        lines += ["    esac", "}"]
        let lists = schema.allSettings.filter(\.isList)
        let hasUses = !schema.allSettings.orderedLists.isEmpty
        if !lists.isEmpty || hasUses || output == .sh && schema.allSettings.contains(where: \.takesRest) {
            lines += StandaloneFunctions.quoting
        }
        if lists.contains(where: { $0.rule.separator != nil }) { lines += StandaloneFunctions.splitting }
        if lists.contains(where: \.isMap) {
            lines += StandaloneFunctions.pairing + (output == .sh ? [] : StandaloneFunctions.fields(output))
        }
        if lists.contains(where: \.rule.isUnique) { lines += StandaloneFunctions.differing }
        return lines + existenceFunctions
    }

    /// The branches that choose default commands.
    private var choicesOfDefaults: [String] {
        contexts.compactMap { context in
            defaultCommand(in: context).map { "    \(quoted(context ?? ""))) \(choice(of: $0)) ;;" }
        }
    }

    private func table(of context: String?) -> FlagTable {
        FlagTable(schema.settings(of: context), common: schema.commonFlags, versionShort: schema.versionShort)
    }

    /// The branches for the flags of a context.
    private func flagArms(_ context: String?) -> [String] {
        let table = table(of: context)
        let flags = table.written.sorted { $0.flag < $1.flag }.map { ($0.flag, words(of: $0.meaning)) }
        return flagsOfOthers(context, table) + arms(flags, in: context)
    }

    /// Returns a branch for each different action, with the flags that have it.
    private func arms(_ flags: [(flag: String, action: String)], in context: String?) -> [String] {
        var places: [Name: Int] = [:]
        var arms: [(patterns: [String], action: String)] = []
        for (flag, action) in flags {
            if let place = places[Name(action)] {
                arms[place].patterns.append(pattern(context, flag))
            } else {
                places[Name(action)] = arms.count
                arms.append(([pattern(context, flag)], action))
            }
        }
        return arms.map { "    \($0.patterns.joined(separator: "|"))) \($0.action) ;;" }
    }

    /// The branches for the flags of commands that are not chosen. One of the default command chooses it.
    private func flagsOfOthers(_ context: String?, _ table: FlagTable) -> [String] {
        let known = Set(table.written.map { Name($0.flag) } + [Name("-h")])
        var meanings: [Name: String] = [:]
        // A setting that takes unknown flags takes these too.
        let isSearched = context == nil && !schema.settings.contains(where: \.passesUnknown)
        for (name, command) in isSearched ? schema.allCommands : [] {
            for (flag, meaning) in FlagTable(command.settings, common: []).written
            where meanings[Name(flag)] == nil {
                let kind = meaning.takesValue ? "misplaced_value" : "misplaced"
                meanings[Name(flag)] = "_p_kind=\(kind) _p_fixed=\(quoted(name))"
            }
        }
        if let command = defaultCommand(in: context).flatMap({ schema.command(named: $0) }) {
            for (flag, _) in FlagTable(command.settings, common: []).written {
                let otherwise = meanings[Name(flag)]?.replacing("_p_kind=", with: " _p_old=") ?? ""
                meanings[Name(flag)] = "_p_kind=default\(otherwise)"
            }
        }
        let others = meanings.filter { !known.contains($0.key) }.sorted { $0.key < $1.key }
        return arms(others.map { ($0.key.text, $0.value) }, in: context)
    }

    private func words(of meaning: FlagTable.Meaning) -> String {
        switch meaning {
        case .common(let flag): "_p_kind=\(flag == .help ? "help" : "version")"
        case .on(let setting): "_p_kind=on _p_key=\(name(setting))"
        case .off(let setting): "_p_kind=off _p_key=\(name(setting))"
        case .count(let setting): "_p_kind=count _p_key=\(name(setting))"
        case .sets(let setting, let flag):
            "_p_kind=sets _p_key=\(name(setting)) _p_fixed=\(word(flag.value.plainText))"
                + (flag.deprecated.map { " _p_old=\(quoted(endOfNote($0)))" } ?? "")
        case .value(let setting) where setting.isValueOptional:
            "_p_kind=optional _p_key=\(name(setting)) _p_fixed=\(word(setting.implied?.plainText ?? ""))"
        case .value(let setting):
            "_p_kind=\(setting.allowsDash ? "any" : setting.rule.ofElements.type == .integer ? "number" : "value") _p_key=\(name(setting)) _p_fixed=\(word(setting.expectation))"
        case .secret, .secretSource: ""
        }
    }

    /// The branches that set the settings of a context. Texts that nothing else depends on have none.
    private func setArms(_ context: String?) -> [String] {
        let settings = schema.settings(of: context).filter { !$0.takesRest }
        let converted = settings.filter { isPlain($0) && $0.rule.type != .string }.map { setting in
            (name(setting), "_p_convert \"$@\" _p_\(setting.rule.type.rawValue) \(quoted(refusalOfText(setting)))")
        }
        return settings.filter { !isPlain($0) }.flatMap { arm($0, context) } + arms(converted, in: context)
    }

    /// Whether only the type of the setting decides how its value is taken from a text.
    private func isPlain(_ setting: SettingDeclaration) -> Bool {
        hasPlainVariable(setting) && !setting.isList && setting.deprecated == nil
            && refusalOfSecond(setting).isEmpty && use(of: setting).isEmpty
            && [.string, .integer, .boolean].contains(setting.rule.type)
    }

    /// The problem with a text that is not of the setting's type.
    private func refusalOfText(_ setting: SettingDeclaration) -> String {
        "\(setting.rule.reported(.unreadable(expected: setting.flagRule.expectation)))"
    }

    /// The lines that set a setting.
    private func arm(_ setting: SettingDeclaration, _ context: String?) -> [String] {
        let scope = pattern(context, name(setting))
        let note = setting.deprecated.map { "_p_note \"$3\"\(quoted(endOfNote($0))); " } ?? ""
        let assignments = "\(note)\(place(setting.key))=$3 \(text(setting.key))=$2"
        let isNew = "\(unchecked(setting.key))=1"
        let failure = "_p_fail \"$3 ${2:-\\\"\\\"}: \"\(quoted(refusalOfText(setting)))"
        let once = refusalOfSecond(setting)
        let use = use(of: setting)
        if setting.isList {
            return ["    \(scope))"] + (note.isEmpty ? [] : [note]).map { "        " + $0 }
                + (use.isEmpty ? [] : ["        " + use]) + adding(to: setting).map { "        " + $0 }
        }
        switch setting.rule.type {
        case .integer, .boolean:
            // Without an earlier value there is none, not even the default.
            let empty =
                setting.rule.type == .boolean
                ? "if [ -z \"$\(place(setting.key))\" ]; then \(variable(setting.key))=''; fi; " : ""
            return [
                "    \(scope))",
                "        if _p_\(setting.rule.type.rawValue) \"$2\"; then \(once)\(variable(setting.key))=$_p_value \(isNew); else",
                "            \(empty)\(failure)", "        fi", "        \(use)\(assignments) ;;",
            ]
        default: return ["    \(scope)) \(use)\(once)\(assignments) \(variable(setting.key))=$2 \(isNew) ;;"]
        }
    }

    /// The command that adds the use of a flag with the text `$2` to its list; empty if it has no list.
    private func use(of setting: SettingDeclaration) -> String {
        guard let list = setting.ordered.map(uses) else { return "" }
        let text = setting.isMap ? "${2#*=}" : "$2"
        let (test, value) =
            switch setting.rule.ofWords.type {
            case .integer: ("_p_integer \"\(text)\"", "$_p_value")
            case .boolean: ("_p_boolean \"\(text)\"", "$_p_value")
            default: (":", text)
            }
        let word = setting.isMap ? "${2%%=*}=\(value)" : value
        return "case $3 in -*) if \(test); then _p_quote \(quoted(setting.writtenName)) \"\(word)\"; "
            + "\(list)=\"$\(list)${\(list):+ }$_p_value\"; fi ;; esac; "
    }

    /// The command that refuses the second use of a flag; empty if it can be repeated.
    private func refusalOfSecond(_ setting: SettingDeclaration) -> String {
        guard schema.isGivenOnce(setting) else { return "" }
        let problem = Schema.Arguments.Mistake(.repeatedFlag, at: "").description
        return "if [ -n \"$\(place(setting.key))\" ]; then _p_fail \"$3\"\(quoted(problem)); fi; "
    }

    /// The lines that add the elements of the text `$2` to an array, or replace the array by them. The first ones
    /// replace the default.
    private func adding(to setting: SettingDeclaration) -> [String] {
        let (words, new, at) = (text(setting.key), unchecked(setting.key), place(setting.key))
        let isInteger = setting.rule.ofWords.type == .integer
        let separator = setting.rule.separator
        let written = "\(raw(setting.key))=\" ${2:-\\\"\\\"}:\""
        var add: [String] = []
        if setting.isMap {
            let value = isInteger ? "\\$_p_value" : "\\${2#*=}"
            add = [
                "if [ -z \"$\(new)\" ]; then \(new)=1 \(words)=''; fi",
                "eval \"_p_pair \\\"\\${2%%=*}=\(value)\\\" $\(words)\"", "\(words)=$_p_value",
            ]
        } else if !setting.repeats, setting.positional == nil {
            add.append("\(refusalOfSecond(setting))\(words)=$_p_value \(new)=1")
        } else {
            add = [
                "if [ -z \"$\(new)\" ]; then \(new)=1 \(words)=''; fi",
                "if [ -n \"$_p_value\" ]; then \(words)=\"$\(words)${\(words):+ }$_p_value\"; fi",
            ]
        }
        // Each use of a flag gives a part of the array, whose whole text is not known.
        let keep =
            !setting.isChecked
            ? "\(at)=$3 ;;"
            : setting.positional != nil
                ? "\(raw(setting.key))='' \(at)=$3 ;;"
                : setting.repeats
                    ? "case $3 in -*) \(raw(setting.key))='' ;; *) \(written) ;; esac; \(at)=$3 ;;"
                    : "\(written) \(at)=$3 ;;"
        if separator == nil, !isInteger, !setting.isMap { return ["_p_quote \"$2\""] + add + [keep] }
        let test =
            separator.map { "_p_split \"$2\" \(quoted($0)) \(isInteger ? "_p_integer" : "''")" }
            ?? "_p_integer \"$2\""
        let elements = setting.rule.ofWords
        let reason = elements.reported(.unreadable(expected: elements.expectation))
        let failure = "_p_fail \"$3 ${2:-\\\"\\\"}: \"\(quoted("\(reason)"))"
        if setting.isMap {
            let lines =
                isInteger
                ? ["if _p_integer \"${2#*=}\"; then"] + add.map { "    " + $0 } + ["else", "    \(failure)", "fi"] : add
            let reason = elements.reported(.unreadable(expected: setting.expectation))
            let otherwise = "_p_fail \"$3 ${2:-\\\"\\\"}: \"\(quoted("\(reason)"))"
            return ["case $2 in", "?*=*)"] + lines.map { "    " + $0 } + ["    ;;", "*) \(otherwise) ;;", "esac", keep]
        }
        let quoting = separator == nil ? ["_p_quote \"$_p_value\""] : []
        return ["if \(test); then"] + (quoting + add).map { "    " + $0 } + ["else", "    \(failure)", "fi", keep]
    }

    /// The lines that check an array and its elements, and assign it. Other shells than the script's own must be able
    /// to read them.
    private func assignment(of setting: SettingDeclaration) -> [String] {
        let (words, new, name) = (text(setting.key), unchecked(setting.key), variable(setting.key))
        let (rule, at) = (setting.rule, place(setting.key))
        func failure(_ reason: Schema.Problem.Reason) -> String {
            let colon = rule.message == nil ? "" : ":-:"
            return "_p_fail \"$\(at)${\(raw(setting.key))\(colon)}\"\(quoted(" \(rule.reported(reason))"))"
        }
        var checks: [String] = []
        let tests = [
            rule.minimumCount.map { "[ \"$#\" -lt \($0) ]" }, rule.maximumCount.map { "[ \"$#\" -gt \($0) ]" },
        ].compactMap(\.self)
        if !tests.isEmpty {
            let reason = Schema.Problem.Reason.wrongCount(minimum: rule.minimumCount, maximum: rule.maximumCount)
            checks.append("if \(tests.joined(separator: " || ")); then \(failure(reason)); fi")
        }
        if rule.isUnique { checks.append("if ! _p_differ \"$@\"; then \(failure(.repeatedElement)); fi") }
        let ofElements = self.checks(rule.ofWords, of: "_p_word") { reason in
            "_p_fail \"$\(at) ${_p_word:-\\\"\\\"}\"\(quoted(": \(reason)"))"
        }
        if !ofElements.isEmpty {
            let ofMap = setting.isMap ? ["    _p_word=${_p_word#*=}"] : []
            checks += ["for _p_word in \"$@\"; do"] + ofMap + ofElements.map { "    " + $0 } + ["done"]
        }
        var lines: [String] = []
        if !checks.isEmpty {
            lines = ["if [ -n \"$\(new)\" ]; then", "    \(new)=''", "    eval \"set -- $\(words)\""]
            lines += checks.map { "    " + $0 } + ["fi"]
        }
        switch (output, setting.isMap) {
        case (.sh, _): lines.append("\(name)=$\(words)")
        case (_, false): lines.append("eval \"\(name)=($\(words))\"")
        case (_, true):
            let declaration = output == .bash ? "declare -gA" : "typeset -gA"
            lines += [
                "eval \"_p_fields $\(words)\"",
                "eval \"unset -v \(name); \(declaration) \(name); \(name)=($_p_value)\"",
            ]
        }
        return lines + [";;"]
    }

    /// The branches that check the new values of a context.
    private func checkArms(_ context: String?) -> [String] {
        schema.settings(of: context).compactMap { setting -> [String]? in
            let head = "    \(pattern(context, name(setting))))"
            if setting.isList { return [head] + assignment(of: setting).map { "        " + $0 } }
            let checks = checks(of: setting)
            guard !setting.takesRest, !checks.isEmpty else { return nil }
            let start = ["if [ -n \"$\(unchecked(setting.key))\" ]; then", "    \(unchecked(setting.key))=''"]
            let lines = start + checks.map { "    " + $0 } + ["fi ;;"]
            return [head] + lines.map { "        " + $0 }
        }.flatMap(\.self)
    }

    // MARK: End

    private var endLines: [String] {
        var lines = ["if [ -n \"$_p_help\" ]; then", "    _p_show_help", "    exit 0", "fi"]
        let version = schema.versionText(program: program)
        if hasVersion {
            lines += ["if [ -n \"$_p_version\" ]; then", "    printf '%s' \(quoted(version))", "    exit 0", "fi"]
        }
        if !choicesOfDefaults.isEmpty { lines.append("if [ -z \"$_p_lost\" ]; then _p_default; fi") }
        for context in contexts {
            lines.append(context == nil ? "case $_p_command in" : "")
            let commands = commands(in: context)
            if !commands.isEmpty {
                let names = listed(commands.filter { !$0.isHidden }.map(\.name), "or")
                lines += [
                    "\(quoted(context ?? "")))",
                    "    if [ -z \"$_p_lost\" ]; then _p_fail \(quoted("missing command: \(names)")); else",
                    "        :",
                ]
                // Without its command, no operand is one of the rest.
                lines +=
                    valueChecks(of: schema.settings(of: context).filter { !$0.takesRest }).map { "        " + $0 } + [
                        "    fi ;;"
                    ]
            } else {
                lines += ["\(quoted(context ?? "")))"] + contextEnd(context).map { "    " + $0 } + ["    ;;"]
            }
        }
        let refusal = [
            "if [ -n \"$_p_errors\" ]; then",
            "    printf '%s%s\\n' \"$_p_errors\" \(hint) >&2",
            "    exit 2", "fi",
        ]
        lines += ["esac"] + refusal
        if hasNotes { lines.append("printf '%s' \"$_p_notes\" >&2") }
        let existence = contexts.flatMap { existenceChecks($0) }
        if !existence.isEmpty { lines += existence + refusal }
        if !schema.commands.isEmpty { lines.append("\(variable("command"))=$_p_command") }
        return lines.filter { !$0.isEmpty }
    }

    /// The line after the errors, as words.
    private var hint: String {
        let own = "--\(schema.name(of: .help, in: nil))."
        guard !schema.commands.isEmpty else { return quoted("Try \(program) \(own)") }
        let others = schema.allCommands.filter {
            schema.name(of: .help, in: $0.name) != schema.name(of: .help, in: nil)
        }
        let start = "\(quoted("Try \(program) "))\"${_p_command:+$_p_command }\""
        guard !others.isEmpty else { return start + own }
        let patterns = others.map { word($0.name) }.joined(separator: "|")
        let other = "--\(CommonFlag.help.nameIfTaken)."
        return "\(start)\"$(case $_p_command in \(patterns)) echo \(other) ;; *) echo \(own) ;; esac)\""
    }

    /// Places the operands of a context, reads the variables and checks the values.
    private func contextEnd(_ context: String?) -> [String] {
        let settings = schema.settings(of: context)
        var lines: [String] = []
        let count = schema.operandCount(of: context)
        if let count {
            let missing = Schema.Arguments.Mistake(.missingOperands(count.lowerBound), at: "").description
            if count.lowerBound > 0 {
                lines.append("if [ \"$#\" -lt \(count.lowerBound) ]; then _p_fail \(quoted(missing)); fi")
            }
        }
        let places = settings.positionals
        let most: Int = settings.contains(where: \.takesRest) ? .max : count?.upperBound ?? .max
        if most != .max {
            lines += ["_p_former=$_p_errors _p_errors=''"] + refusal(after: most)
            // Values of operands are reported first.
            lines.append("_p_late=$_p_errors _p_errors=$_p_former")
        }
        if !places.isEmpty { lines.append("_p_need=0") }
        for setting in places where setting.leastOperands > 0 {
            lines.append(
                "if [ -z \"$\(place(setting.key))\" ]; then _p_need=$((_p_need + \(setting.leastOperands))); fi")
        }
        for (index, setting) in places.enumerated() {
            guard !setting.isList else {
                lines += collection(of: setting, before: places[(index + 1)...].filter { !$0.isRequired })
                continue
            }
            let least = setting.isRequired ? "0" : "\"$_p_need\""
            lines.append("if [ -z \"$\(place(setting.key))\" ] && [ \"$#\" -gt \(least) ]; then")
            lines.append("    _p_set \(name(setting)) \"$1\" \(quoted(setting.operandName))")
            lines.append("    shift")
            lines.append("fi")
            if setting.isRequired {
                lines.append("if [ \"$_p_need\" -gt 0 ]; then _p_need=$((_p_need - 1)); fi")
            }
        }
        if let taker = settings.first(where: \.takesRest) {
            // Other shells than the script's own must be able to read the line.
            lines +=
                output == .sh
                ? ["_p_quote \"$@\"", "\(variable(taker.key))=$_p_value"]
                : ["eval '\(variable(taker.key))=(\"$@\")'"]
            if let reason = taker.deprecated {
                lines.append("if [ \"$#\" -gt 0 ]; then _p_note \(quoted(taker.operandName + endOfNote(reason))); fi")
            }
        } else if !places.isEmpty, count == nil {
            lines += refusal(after: 0)
        } else if most != .max {
            lines.append("_p_errors=$_p_errors$_p_late")
        }
        for list in settings.orderedLists {
            lines.append(
                output == .sh
                    ? "\(variable(list))=$\(uses(list))" : "eval \"\(variable(list))=($\(uses(list)))\"")
        }
        lines += givenLayers(of: settings) + valueChecks(of: settings) + relationChecks(of: settings)
        if let taker = settings.first(where: \.takesRest), taker.rule.minimumCount ?? 0 > 0 {
            let problem = "\(taker.operandName) \(Schema.Problem.Reason.missing)"
            lines.append("if [ \"$#\" -eq 0 ]; then _p_fail \(quoted(problem)); fi")
        }
        for setting in places where setting.isList && !setting.isRequired && setting.leastOperands > 0 {
            guard !setting.hasDefault else { continue }
            let problem = "\(setting.operandName) \(Schema.Problem.Reason.missing)"
            lines.append("if [ -z \"$\(place(setting.key))\" ]; then _p_fail \(quoted(problem)); fi")
        }
        return lines + valuesOfOthers(for: settings)
    }

    /// The lines that give settings the values of others by default. A setting follows the one that it depends on.
    private func valuesOfOthers(for settings: [SettingDeclaration]) -> [String] {
        var (waiting, lines) = (settings.filter { $0.defaultFrom != nil }, [String]())
        while let index = waiting.firstIndex(where: { waiting.declaration(of: $0.defaultFrom ?? "") == nil }) {
            let setting = waiting.remove(at: index)
            let (own, other) = (variable(setting.key), variable(setting.defaultFrom ?? ""))
            let isArray = setting.isList && output != .sh
            let copy = isArray ? "eval '\(own)=(${\(other)[@]+\"${\(other)[@]}\"})'" : "\(own)=$\(other)"
            let words = setting.isList ? " \(text(setting.key))=$\(text(setting.defaultFrom ?? ""));" : ""
            lines.append("if [ -z \"$\(place(setting.key))\" ]; then\(words) \(copy); fi")
        }
        return lines
    }

    /// The lines that take the operands of an array: all that the other settings leave.
    private func collection(of setting: SettingDeclaration, before others: [SettingDeclaration]) -> [String] {
        var lines = ["_p_need=$((_p_need - \(setting.leastOperands)))", "_p_number=$(($# - _p_need))"]
        lines += others.map { other in
            "if [ -z \"$\(place(other.key))\" ]; then _p_number=$((_p_number - 1)); fi"
        }
        func limit(_ test: String, _ bound: String) -> String {
            "if [ \"$_p_number\" \(test) \(bound) ]; then _p_number=\(bound); fi"
        }
        lines.append(limit("-lt", "\(setting.leastOperands)"))
        if let most = setting.rule.maximumCount { lines.append(limit("-gt", "\(max(most, setting.leastOperands))")) }
        lines.append(limit("-gt", "\"$#\""))
        lines += [
            "while [ \"$_p_number\" -gt 0 ]; do",
            "    _p_set \(name(setting)) \"$1\" \(quoted(setting.operandName))",
            "    shift", "    _p_number=$((_p_number - 1))", "done",
        ]
        return ["if [ -z \"$\(place(setting.key))\" ]; then"] + lines.map { "    " + $0 } + ["fi"]
    }

    /// The lines that refuse the operands after the first ones.
    private func refusal(after most: Int) -> [String] {
        [
            "_p_number=0", "for _p_word in \"$@\"; do", "    _p_number=$((_p_number + 1))",
            "    if [ \"$_p_number\" -gt \(most) ]; then _p_fail \"unexpected operand $_p_word\"; fi",
            "done",
        ]
    }

    /// The lines that read the variables, then check the values of the command line.
    private func valueChecks(of settings: [SettingDeclaration]) -> [String] {
        let related = related(settings.filter { !$0.takesRest })
        return settings.filter { !$0.takesRest }.flatMap { environment(of: $0, isRelated: related.contains($0)) }
            + settings.flatMap { setting in
                if setting.takesRest { return checksOfRest(setting) }
                return setting.isList || !checks(of: setting).isEmpty ? ["_p_check \(name(setting))"] : []
            }
    }

    /// The lines that check each operand of the rest.
    private func checksOfRest(_ setting: SettingDeclaration) -> [String] {
        let lines = checks(setting.rule.ofWords, of: "_p_word") { reason in
            "_p_fail \(quoted(setting.operandName + " "))\"${_p_word:-\\\"\\\"}\"\(quoted(": \(reason)"))"
        }
        return lines.isEmpty ? [] : ["for _p_word in \"$@\"; do"] + lines.map { "    " + $0 } + ["done"]
    }

    private func environment(of setting: SettingDeclaration, isRelated: Bool) -> [String] {
        let key = name(setting)
        let check = !setting.isList && checks(of: setting).isEmpty ? "" : " _p_check \(key);"
        // Only flags and operands are noted.
        let (keep, restore) =
            setting.deprecated == nil ? ("", "") : ("_p_old=$_p_notes; ", " _p_notes=$_p_old;")
        // A variable that is refused has no value.
        let mark = isRelated ? " \(layer(setting.key))=${\(unchecked(setting.key)):+new};" : ""
        func line(_ name: String, _ test: String, _ value: String) -> String {
            "if [ -z \"$\(place(setting.key))\" ] && \(test); then "
                + "\(keep)_p_set \(key) \(value) \(name);\(restore)\(mark)\(check) fi"
        }
        return setting.environment.map { line($0, "[ -n \"$_p_env_\($0)\" ]", "\"$_p_env_\($0)\"") }
            + setting.flagValues.flatMap { flag in
                flag.environment.map { name in
                    line(
                        name, "case $_p_env_\(name) in ''|\(StandaloneFunctions.wordsForNo)) false ;; esac",
                        quoted(setting.flagRule.text(of: flag.value)))
                }
            }
    }

    private func checks(of setting: SettingDeclaration) -> [String] {
        let text = text(setting.key)
        let checks = checks(setting.rule, of: variable(setting.key)) { reason in
            "_p_fail \"$\(place(setting.key)) ${\(text):-\\\"\\\"}\"\(quoted(": \(reason)"))"
        }
        // A counter has no text: its value is shown.
        let isShown = setting.isCounter && !checks.isEmpty
        return isShown ? ["\(text)=${\(text):-$\(variable(setting.key))}"] + checks : checks
    }

    /// The lines that check the value of a variable. A rule with a message is reported once.
    private func checks(
        _ rule: ValueRule, of name: String, _ failure: (Schema.Problem.Reason) -> String
    ) -> [String] {
        guard let message = rule.message else { return plainChecks(rule, of: name, failure) }
        let lines = plainChecks(rule, of: name) { _ in "_p_wrong=1" }
        guard !lines.isEmpty else { return [] }
        return ["_p_wrong=''"] + lines + ["if [ -n \"$_p_wrong\" ]; then \(failure(.message(message))); fi"]
    }

    private func plainChecks(
        _ rule: ValueRule, of name: String, _ failure: (Schema.Problem.Reason) -> String
    ) -> [String] {
        var lines: [String] = []
        if rule.hasLength {
            let tests = [
                rule.minimumLength.map { "[ \"$_p_value\" -lt \($0) ]" },
                rule.maximumLength.map { "[ \"$_p_value\" -gt \($0) ]" },
            ]
            let reason = Schema.Problem.Reason.wrongLength(minimum: rule.minimumLength, maximum: rule.maximumLength)
            lines += [
                "_p_length \"$\(name)\"",
                "if \(tests.compactMap(\.self).joined(separator: " || ")); then \(failure(reason)); fi",
            ]
        }
        if !rule.choices.isEmpty {
            let reason = Schema.Problem.Reason.notAChoice(rule.choices.map(\.plainText), nearest: nil)
            let words = rule.choices.map { word($0.plainText) }.joined(separator: "|")
            lines.append("case $\(name) in \(words)) ;; *) \(failure(reason)) ;; esac")
        }
        if let pattern = rule.pattern, let expression = try? ExtendedExpression(pattern) {
            let newline = expression.newline.map { "\\\($0 / 64)\($0 / 8 % 8)\($0 % 8)" } ?? ""
            let isMatch = "_p_matches \"$\(name)\" \(quoted(expression.text)) \(quoted(newline))"
            lines.append("if ! \(isMatch); then \(failure(.mismatch(pattern: pattern.text))); fi")
        }
        if let kind = rule.kind, kind.isPath {
            lines.append("if [ -z \"$\(name)\" ]; then \(failure(.notOfKind(kind.noun))); fi")
        }
        let (minimum, maximum) = (rule.minimum?.plainText, rule.maximum?.plainText)
        guard minimum != nil || maximum != nil else { return lines }
        let tests = [
            minimum.map { "_p_below \"$\(name)\" \($0)" }, maximum.map { "_p_below \($0) \"$\(name)\"" },
        ]
        let isOutside = tests.compactMap(\.self).joined(separator: " || ")
        lines.append(
            "if \(isOutside); then \(failure(.outsideRange(minimum: minimum, maximum: maximum))); fi")
        return lines
    }
}

// MARK: Rules about several settings

extension StandaloneParser {
    /// The settings that a rule about several names.
    private func related(_ settings: [SettingDeclaration]) -> [SettingDeclaration] {
        let keys = settings.flatMap { setting in
            let others = setting.conflicts + setting.requires + setting.groups.flatMap(\.keys)
            return (others.isEmpty ? [] : [setting.key]) + others
        }
        let names = Set(keys.map { Name($0) })
        return settings.filter { names.contains(Name($0.key)) }
    }

    /// The lines that find which values of the command line count.
    private func givenLayers(of settings: [SettingDeclaration]) -> [String] {
        related(settings).map { setting in
            let isGiven =
                setting.takesRest ? "[ \"$#\" -gt 0 ]" : "[ -n \"$\(place(setting.key))\" ]\(isNotFalse(setting))"
            let label = setting.takesRest ? " \(place(setting.key))=\(quoted(setting.operandName))" : ""
            return "\(layer(setting.key))=''; if \(isGiven); then \(layer(setting.key))=flag\(label); fi"
        }
    }

    private func isNotFalse(_ setting: SettingDeclaration) -> String {
        setting.rule.type == .boolean ? " && [ \"$\(variable(setting.key))\" != false ]" : ""
    }

    /// The lines that let variables give way to flags, and refuse what cannot be together or is missing.
    private func relationChecks(of settings: [SettingDeclaration]) -> [String] {
        let (related, excluded) = (related(settings), settings.excludedPositions)
        func written(_ key: String) -> String { settings.declaration(of: key)?.writtenName ?? key }
        func isUsed(_ key: String) -> String { "[ -n \"${\(layer(key))-}\" ]" }
        var lines = zip(settings, excluded).filter { !$0.0.allVariables.isEmpty && related.contains($0.0) }.flatMap {
            setting, others -> [String] in
            let (by, at) = (layer(setting.key), place(setting.key))
            let displacements = others.map { settings[$0] }.map { other in
                let note = Schema.Arguments.Note.displaced("", by: other.writtenName).description
                return "if [ \"$\(layer(other.key))\" = flag ]; then _p_note \"$\(at)\"\(quoted(note)); "
                    + "\(defaults([setting]).joined());\(setting.isList ? " _p_check \(name(setting));" : "") el"
            }
            let end = displacements.isEmpty ? "\(by)='env'" : "se \(by)='env'; fi"
            return [
                "if [ \"$\(by)\" = new ]; then", "    \(by)=''",
                "    if [ -n \"$\(at)\" ]\(isNotFalse(setting)); then \(displacements.joined())\(end); fi", "fi",
            ]
        }
        var (conflicts, groups): (Set<Set<Name>>, Set<Set<Name>>) = ([], [])
        for setting in settings {
            if setting.requiresValue {
                let problem = "\(setting.writtenName) \(Schema.Problem.Reason.missing)"
                lines.append("if [ -z \"$\(place(setting.key))\" ]; then _p_fail \(quoted(problem)); fi")
            }
            func refuse(_ test: String, _ reason: Schema.Problem.Reason) {
                lines.append(
                    "if \(isUsed(setting.key)) && \(test); then _p_fail \"$\(place(setting.key))\"\(quoted(" \(reason)")); fi"
                )
            }
            for other in setting.conflicts where conflicts.insert([Name(setting.key), Name(other)]).inserted {
                let words = "\(Schema.Problem.Reason.conflict(with: ""))"
                lines.append(
                    "if \(isUsed(setting.key)) && \(isUsed(other)); then _p_fail \"$\(place(setting.key))\"\(quoted(" \(words)"))\"$\(place(other))\"; fi"
                )
            }
            for other in setting.requires { refuse("[ -z \"${\(layer(other))-}\" ]", .requires(written(other))) }
            for group in setting.wholeGroups where group.keys.count > 1 {
                let isNew = groups.insert(Set(group.keys.map { Name($0) } + [Name(group.number.rawValue)])).inserted
                guard isNew else { continue }
                let reason = Schema.Problem.Reason.group(group.number, of: group.keys.map(written))
                let marks = group.keys.map { "${\(layer($0)):+x}" }.joined()
                let wrong =
                    switch group.number {
                    case .exactlyOne: "[ \"\(marks)\" != x ]"
                    case .atMostOne: "case \(marks) in ''|x) false ;; esac"
                    case .atLeastOne: "[ -z \"\(marks)\" ]"
                    }
                lines.append("if \(wrong); then _p_fail \(quoted("\(reason)")); fi")
            }
        }
        return lines
    }

    var hasVersion: Bool { schema.versionShort != nil || schema.commonFlags.contains(.version) }

    /// The settings of a context with a flag that requires a value.
    func settingsWithValue(_ context: String?) -> [SettingDeclaration] {
        let settings = schema.settings(of: context)
        let keys = FlagTable(settings, common: []).written.compactMap { _, meaning -> Name? in
            guard case .value(let setting) = meaning, !setting.isValueOptional else { return nil }
            return Name(setting.key)
        }
        let names = Set(keys)
        return settings.filter { names.contains(Name($0.key)) }
    }

    /// Whether a declaration can lead to a note.
    var hasNotes: Bool {
        schema.hasExclusions
            || schema.allSettings.contains { setting in
                setting.deprecated != nil || setting.flagValues.contains { $0.deprecated != nil }
            }
    }

    /// The end of the note that a flag is deprecated.
    func endOfNote(_ reason: String) -> String {
        Schema.Arguments.Note.deprecated("", reason: reason).description.shown
    }

    /// The functions that check which files of arrays exist.
    private var existenceFunctions: [String] {
        var names: Set<String> = []
        return schema.allSettings.filter { $0.isList && names.insert(name($0)).inserted }.flatMap {
            setting -> [String] in
            guard let check = existenceCheck(of: setting, "$_p_word") else { return [] }
            let ofMap = setting.isMap ? "_p_word=${_p_word#*=}; " : ""
            return ["_p_exist_\(name(setting))() {", "    for _p_word in \"$@\"; do \(ofMap)\(check); done", "}"]
        }
    }

    /// The command that checks whether the file in a variable exists; nil if that does not matter.
    private func existenceCheck(of setting: SettingDeclaration, _ value: String) -> String? {
        let rule = setting.rule.ofWords
        guard let exists = rule.exists, let kind = rule.kind else { return nil }
        let isThere =
            switch kind {
            case .folder where exists: "[ -d \"\(value)\" ]"
            case .file where exists: "[ -e \"\(value)\" ] && [ ! -d \"\(value)\" ]"
            default: "[ -e \"\(value)\" ]"
            }
        let isWrong = exists ? "! { \(isThere); }" : isThere
        let reason = rule.reported(.notOfKind(kind.expectation(exists: exists)))
        return "if [ -n \"\(value)\" ] && \(isWrong); then "
            + "_p_fail \(quoted(setting.writtenName + " "))\"\(value)\"\(quoted(": \(reason)")); fi"
    }

    /// The lines that check which files exist.
    private func existenceChecks(_ context: String?) -> [String] {
        guard commands(in: context).isEmpty else { return [] }
        let lines = schema.settings(of: context).compactMap { setting -> String? in
            let value = "$\(variable(setting.key))"
            guard let check = existenceCheck(of: setting, setting.isList || setting.takesRest ? "$_p_word" : value)
            else {
                return nil
            }
            if setting.takesRest { return "for _p_word in \"$@\"; do \(check); done" }
            return setting.isList ? "eval \"_p_exist_\(name(setting)) $\(text(setting.key))\"" : check
        }
        guard let context, !lines.isEmpty else { return lines }
        return ["if [ \"$_p_command\" = \(quoted(context)) ]; then"] + lines.map { "    " + $0 } + ["fi"]
    }
}

// MARK: Refusing

extension StandaloneParser {
    /// The parts of a declaration that need `prefs`, without their locations.
    package struct Refusal: Error, Hashable, Sendable {
        package let parts: [Schema.Mistake]
    }
}

extension Schema {
    /// What the declaration uses beyond the rules of `StandaloneParser`.
    var partsBeyondShell: [Mistake] {
        var parts: [Mistake] = []
        if isStored { parts.append(Mistake(.needsPrefs(""), at: ["Domain"])) }
        parts += commands.defaultBeyondShell(defaultCommand, at: EntryPath())
        // The settings of an extended schema have other paths.
        guard extends.isEmpty else { return parts + [Mistake(.needsPrefs(""), at: ["Extends"])] }
        parts += settings.partsBeyondShell(at: EntryPath(), outer: [])
        return parts + commands.partsBeyondShell(at: EntryPath(), outer: settings)
    }
}

extension [Schema.Command] {
    fileprivate func partsBeyondShell(at path: EntryPath, outer: [SettingDeclaration]) -> [Schema.Mistake] {
        enumerated().flatMap { index, command in
            let path = path.appending("Commands").appending(EntryPath.Component(index))
            let parts = command.settings.partsBeyondShell(at: path, outer: outer)
            return parts + command.commands.defaultBeyondShell(command.defaultCommand, at: path)
                + command.commands.partsBeyondShell(at: path, outer: outer + command.settings)
        }
    }

    /// A default command with commands in it needs `prefs`.
    fileprivate func defaultBeyondShell(_ name: String?, at path: EntryPath) -> [Schema.Mistake] {
        guard let name, let command = first(where: { $0.name.hasSameBytes(as: name) }), !command.commands.isEmpty else {
            return []
        }
        return [Schema.Mistake(.needsPrefs("with commands in it"), at: path.appending("DefaultCommand"))]
    }
}

extension [SettingDeclaration] {
    fileprivate func partsBeyondShell(at path: EntryPath, outer: [SettingDeclaration]) -> [Schema.Mistake] {
        let hasPlaces = !(outer + self).positionals.isEmpty
        let outerPasses = outer.contains(where: \.passesUnknown)
        return enumerated().flatMap { index, setting in
            let place = path.appending("Settings").appending(EntryPath.Component(index))
            var parts = setting.partsBeyondShell
            if setting.passesUnknown && hasPlaces || setting.positional != nil && outerPasses {
                parts.append(("PassUnknown", "a rest with other operands"))
            }
            return parts.map { name, part in
                Schema.Mistake(.needsPrefs(part), at: place.appending(EntryPath.Component(name)))
            }
        }
    }
}

extension SettingDeclaration {
    /// The attributes beyond the rules of `StandaloneParser`, with their values if these matter.
    fileprivate var partsBeyondShell: [(name: String, part: String)] {
        guard words.isEmpty else { return [("Words", "")] }
        let allowed: [ValueType] = [.string, .integer, .boolean]
        let isRest = takesRest && rule.type == .array && (rule.element?.isPlain ?? true)
        let attributes: [(name: String, part: String, isBeyond: Bool)] = [
            ("Type", rule.type.rawValue, !allowed.contains(rule.type) && !isRest && !isList),
            ("Environment", "", isList && rule.separator == nil && !environment.isEmpty),
            ("Kind", rule.kind?.rawValue ?? "", rule.kind.map { !$0.isPath } ?? false),
            ("Pattern", rule.pattern?.obstacle ?? "", rule.pattern?.obstacle != nil),
            ("Separator", "", rule.separator != nil && !isList),
            ("ChoicesFrom", "", rule.choicesFrom != nil), ("Sensitive", "", isSensitive),
            ("Configuration", "", isConfiguration),
            ("MaximumCount", "", rule.maximumCount != nil && !isList),
            ("MinimumCount", "", !isList && rule.minimumCount.map { !isRest || $0 > 1 } ?? false),
            ("Unique", "", rule.isUnique && !isList),
            ("Values", "of a map", isMap && !flagValues.isEmpty),
            ("Values", "of a list", isList && rule.separator != nil && !flagValues.isEmpty),
        ]
        // The rest is the operands that are left, at least one if it has a minimum count. Nothing else sets it.
        let ofRest: [(name: String, part: String, isBeyond: Bool)] = [
            ("Default", "", defaultValue != nil), ("Required", "", isRequired), ("Flag", "", !flags.isEmpty),
            ("Short", "", !shorts.isEmpty), ("Values", "", !flagValues.isEmpty),
            ("Environment", "", !environment.isEmpty),
        ]
        return (attributes + (takesRest ? ofRest : [])).filter(\.isBeyond).map { ($0.name, $0.part) }
    }
}

extension SettingDeclaration {
    /// Whether a flag gives one element of an array, or several between separators.
    var isList: Bool {
        let isGivenInParts = repeats || !(rule.separator ?? "").isEmpty || positional != nil
        return (isMap || rule.type == .array && isGivenInParts) && !takesRest && !isValueOptional
            && (positional == nil || isListOfOperands) && rule.ofWords.isOfList
    }

    /// Whether each operand, and each use of a flag, gives one element of the array.
    private var isListOfOperands: Bool {
        let hasFlags = !flags.isEmpty || !shorts.isEmpty || !flagValues.isEmpty
        return rule.type == .array && rule.separator == nil && (repeats || !hasFlags)
    }

    /// The number of operands that must be left for this setting.
    var leastOperands: Int {
        max(rule.type == .array ? rule.minimumCount ?? 0 : 0, isRequired ? 1 : 0)
    }

    /// Whether an array as a whole is checked.
    var isChecked: Bool { rule.minimumCount != nil || rule.maximumCount != nil || rule.isUnique }
}

extension ValueRule {
    /// The rule for the elements of an array or the values of a dictionary, or the rule itself for any other value.
    var ofWords: ValueRule { type == .array || type == .dictionary ? element ?? ValueRule() : self }

    /// Whether a value with this rule can be an element of an array.
    fileprivate var isOfList: Bool {
        var rest = self
        (rest.minimum, rest.maximum, rest.minimumLength, rest.maximumLength) = (nil, nil, nil, nil)
        (rest.choices, rest.choiceTitles, rest.message) = ([], [], nil)
        if pattern?.obstacle == nil { rest.pattern = nil }
        if kind?.isPath ?? false { (rest.kind, rest.exists) = (nil, nil) }
        return rest == ValueRule(type) && [.string, .integer].contains(type)
    }

    /// Whether every string or path is allowed.
    fileprivate var isPlain: Bool {
        var rest = self
        rest.message = nil
        if kind?.isPath ?? false { (rest.kind, rest.exists) = (nil, nil) }
        return rest == ValueRule(.string)
    }

    fileprivate var hasLength: Bool { type == .string && (minimumLength != nil || maximumLength != nil) }
}

extension Pattern {
    /// The part that a shell cannot check, or nil if it can.
    fileprivate var obstacle: String? {
        do throws(ExtendedExpression.Obstacle) {
            _ = try ExtendedExpression(self)
            return nil
        } catch {
            return error.text
        }
    }
}
