internal import PropertyLists

/// The parser of a script in POSIX shell, for hosts without `prefs`.
///
/// It has the part of the rules that needs no more than a shell: flags, options, choices, bounds of integers, operands,
/// defaults, environment variables, sub-commands and help. Its functions and variables begin with `__prefs_`:
///
/// - `command`, `lost`: the chosen sub-command; whether an unknown one was given
/// - `errors`, `help`, `version`: the errors so far; whether help or the version is requested
/// - `left`, `only`: the number of arguments that are not parsed yet, which precede the operands in `$@`; whether these
///   are all operands
/// - `word`, `name`, `whole`: the argument; its flag, or nothing for an operand; the flag with its value, to be passed
///   on
/// - `rest`: the letters after the current one in an argument such as `-nv`
/// - `has`, `attached`, `take`: whether a value is attached; the value; whether it is set
/// - `kind`, `key`, `fixed`, `shown`: the result of `__prefs_flag`: the effect, the setting, a value or text of the
///   flag, and its name in messages
/// - `at_KEY`, `text_KEY`, `new_KEY`: for each setting, the flag or operand that gave the value; the text; whether it
///   is unchecked
/// - `env_NAME`: an environment variable at the start
package struct StandaloneParser {
    let schema: Schema
    private let program: String
    private let prefix: String
    private let output: ScriptOutput
    /// The program, and each command by its name.
    let contexts: [String?]

    package init(
        _ schema: Schema, program: String, for output: ScriptOutput = .sh, prefix: String = ""
    ) throws(Refusal) {
        let parts = schema.partsBeyondShell
        guard parts.isEmpty else { throw Refusal(parts: parts) }
        (self.schema, self.prefix, self.output) = (schema, prefix, output)
        self.program = schema.program ?? program
        contexts = [nil] + schema.commands.map(\.name)
    }

    func variable(_ key: String) -> String { ShellName.variable(for: key, prefix: prefix) }
    func place(_ key: String) -> String { "__prefs_at_" + ShellName.variable(for: key, prefix: "") }
    /// The variable that is set while a value is unchecked.
    func unchecked(_ key: String) -> String { "__prefs_new_" + ShellName.variable(for: key, prefix: "") }
    func text(_ key: String) -> String { "__prefs_text_" + ShellName.variable(for: key, prefix: "") }
    func quoted(_ text: String) -> String { ShellQuoting.word(text) }

    /// The code that sets the variables of the settings and the positional parameters, or ends the script.
    package func code() throws(ScriptFailure) -> String {
        for context in contexts {
            let keys = schema.settings(of: context).map(\.key) + (schema.commands.isEmpty ? [] : ["command"])
            _ = try ShellName.variables(for: keys, prefix: prefix, output: output)
        }
        var lines = ["# The arguments, parsed without prefs. Made by prefs args --build from the declaration above."]
        lines += environmentLines + startLines + functions + mainLoop + endLines
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: Start

    /// Keeps the variables of the environment, since the settings may have variables of the same names.
    private var environmentLines: [String] {
        let names = Set(schema.allSettings.flatMap(\.environment)).sorted()
        return names.map { "__prefs_env_\($0)=${\($0)-}" }
    }

    private var startLines: [String] {
        let others = schema.commands.flatMap(\.settings).map { variable($0.key) }
        var lines = others.isEmpty ? [] : ["unset -v \(Set(others).sorted().joined(separator: " "))"]
        lines += defaults(schema.settings)
        lines += [
            "__prefs_command='' __prefs_errors='' __prefs_help='' __prefs_version='' __prefs_only='' __prefs_lost=''",
            "__prefs_rest='' __prefs_left=$# __prefs_whole='' __prefs_line='", "'",
        ]
        return lines
    }

    func defaults(_ settings: [SettingDeclaration]) -> [String] {
        settings.map { setting in
            let value = setting.defaultValue?.plainText ?? (setting.rule.type == .boolean ? "false" : "")
            return
                "\(variable(setting.key))=\(quoted(value)) \(place(setting.key))='' \(text(setting.key))='' \(unchecked(setting.key))=''"
        }
    }

    // MARK: Functions

    private var functions: [String] {
        var lines = StandaloneFunctions.failing(program: program) + StandaloneFunctions.integer
        lines += StandaloneFunctions.boolean
        lines += ["# The effect of flag $1 in the current command."]
        lines += ["__prefs_flag() {", "    __prefs_kind='' __prefs_key='' __prefs_fixed='' __prefs_shown=$1"]
        lines += ["    case $__prefs_command:$1 in"] + contexts.flatMap { flagArms($0) } + ["    esac", "}"]
        lines += ["# Sets the setting $1 to the text $2, which was given by $3."]
        lines += ["__prefs_set() {", "    case $__prefs_command:$1 in"] + contexts.flatMap { setArms($0) }
        lines += ["    esac", "}"]
        lines += ["# Checks the new value of the setting $1."]
        lines += ["__prefs_check() {", "    case $__prefs_command:$1 in"] + contexts.flatMap { checkArms($0) }
        lines += ["    esac", "}"]
        lines += ["__prefs_show_help() {", "    case $__prefs_command in"]
        for context in contexts.reversed() {
            let help = schema.helpText(program: program, command: context)
            lines += ["    \(quoted(context ?? ""))) printf '%s' \(quoted(help)) ;;"]
        }
        lines += ["    esac", "}"]
        if output == .sh, schema.allSettings.contains(where: \.takesRest) { lines += StandaloneFunctions.quoting }
        return lines
    }

    /// The branches for the flags of a context, with all abbreviations.
    private func flagArms(_ context: String?) -> [String] {
        let settings = schema.settings(of: context)
        let table = FlagTable(settings, common: schema.commonFlags, versionShort: schema.versionShort)
        let scope = context ?? ""
        var lines: [String] = []
        var beginnings: Set<Name> = []
        for name in table.long.keys where !schema.isExact {
            for length in 1..<max(1, name.text.utf8.count) { beginnings.insert(Name(String(name.text.prefix(length)))) }
        }
        var unique: [Name: [Name]] = [:]
        for text in beginnings.sorted() where table.long[text] == nil {
            let found = table.flags(abbreviated: text.text)
            if found.count == 1 {
                unique[found[0].name, default: []].append(text)
            } else {
                let names = listed(found.prefix(10).map { "--\($0.name)" }, "or")
                lines.append(
                    "    \(quoted("\(scope):--\(text)"))) __prefs_kind=ambiguous __prefs_fixed=\(quoted(names)) ;;")
            }
        }
        for name in table.long.keys.sorted() {
            guard let meaning = table.long[name] else { continue }
            let patterns = (["--\(name)"] + (unique[name] ?? []).map { "--\($0)" }).map { quoted("\(scope):\($0)") }
            lines.append(
                "    \(patterns.joined(separator: "|"))) __prefs_shown=\(quoted("--\(name)")) \(words(of: meaning)) ;;")
        }
        for letter in table.short.keys.sorted() {
            guard let meaning = table.short[letter] else { continue }
            lines.append("    \(quoted("\(scope):-\(letter)"))) \(words(of: meaning)) ;;")
        }
        guard context == nil else { return lines }
        var seen: Set<Name> = []
        for command in schema.commands {
            let own = FlagTable(command.settings, common: [])
            let flags = own.long.map { ("--\($0.key)", $0.value) } + own.short.map { ("-\($0.key)", $0.value) }
            for (flag, meaning) in flags.sorted(by: { $0.0 < $1.0 })
            where flag != "-h" && seen.insert(Name(flag)).inserted {
                let kind = meaning.takesValue ? "misplaced_value" : "misplaced"
                lines.append("    \(quoted(":\(flag)"))) __prefs_kind=\(kind) __prefs_fixed=\(quoted(command.name)) ;;")
            }
        }
        return lines
    }

    private func words(of meaning: FlagTable.Meaning) -> String {
        switch meaning {
        case .common(let flag): "__prefs_kind=\(flag == .help ? "help" : "version")"
        case .on(let setting): "__prefs_kind=on __prefs_key=\(quoted(setting.key))"
        case .off(let setting): "__prefs_kind=off __prefs_key=\(quoted(setting.key))"
        case .count(let setting): "__prefs_kind=count __prefs_key=\(quoted(setting.key))"
        case .sets(let setting, let flag):
            "__prefs_kind=sets __prefs_key=\(quoted(setting.key)) __prefs_fixed=\(quoted(flag.value.plainText))"
        case .value(let setting) where setting.isValueOptional:
            "__prefs_kind=optional __prefs_key=\(quoted(setting.key)) __prefs_fixed=\(quoted(setting.implied?.plainText ?? ""))"
        case .value(let setting):
            "__prefs_kind=\(setting.allowsDash ? "any" : setting.rule.type == .integer ? "number" : "value") __prefs_key=\(quoted(setting.key)) __prefs_fixed=\(quoted(setting.rule.expectation))"
        case .secret, .secretSource: ""
        }
    }

    /// The branches that set the settings of a context.
    private func setArms(_ context: String?) -> [String] {
        schema.settings(of: context).filter { !$0.takesRest }.flatMap { setting -> [String] in
            let scope = quoted("\(context ?? ""):\(setting.key)")
            let assignments = "\(place(setting.key))=$3 \(text(setting.key))=$2"
            let isNew = "\(unchecked(setting.key))=1"
            let failure = "__prefs_fail \"$3 ${2:-\\\"\\\"}: must be \(setting.rule.expectation)\""
            switch setting.rule.type {
            case .integer, .boolean:
                let function = setting.rule.type == .integer ? "__prefs_integer" : "__prefs_boolean"
                return [
                    "    \(scope))", "        \(assignments)",
                    "        if \(function) \"$2\"; then \(variable(setting.key))=$__prefs_value \(isNew); else",
                    "            \(failure)", "        fi ;;",
                ]
            default: return ["    \(scope)) \(assignments) \(variable(setting.key))=$2 \(isNew) ;;"]
            }
        }
    }

    /// The branches that check the new values of a context.
    private func checkArms(_ context: String?) -> [String] {
        schema.settings(of: context).compactMap { setting -> [String]? in
            let checks = checks(of: setting)
            guard !setting.takesRest, !checks.isEmpty else { return nil }
            let start = ["if [ -n \"$\(unchecked(setting.key))\" ]; then", "    \(unchecked(setting.key))=''"]
            let lines = start + checks.map { "    " + $0 } + ["fi ;;"]
            return ["    \(quoted("\(context ?? ""):\(setting.key)")))"] + lines.map { "        " + $0 }
        }.flatMap(\.self)
    }

    // MARK: End

    private var endLines: [String] {
        var lines = ["if [ -n \"$__prefs_help\" ]; then", "    __prefs_show_help", "    exit 0", "fi"]
        let version = schema.versionText(program: program)
        lines += ["if [ -n \"$__prefs_version\" ]; then", "    printf '%s' \(quoted(version))", "    exit 0", "fi"]
        for context in contexts {
            let isRoot = context == nil
            lines.append(isRoot ? "case $__prefs_command in" : "")
            if isRoot, !schema.commands.isEmpty {
                let names = listed(schema.commands.filter { !$0.isHidden }.map(\.name), "or")
                lines += [
                    "'')",
                    "    if [ -z \"$__prefs_lost\" ]; then __prefs_fail \(quoted("missing command: \(names)")); else",
                    "        :",
                ]
                lines += valueChecks(of: schema.settings).map { "        " + $0 } + ["    fi ;;"]
            } else {
                lines += ["\(quoted(context ?? "")))"] + contextEnd(context).map { "    " + $0 } + ["    ;;"]
            }
        }
        lines += [
            "esac", "if [ -n \"$__prefs_errors\" ]; then",
            "    printf '%s%s\\n' \"$__prefs_errors\" \(quoted("Try \(program) --help.")) >&2", "    exit 2", "fi",
        ]
        if !schema.commands.isEmpty { lines.append("\(variable("command"))=$__prefs_command") }
        return lines.filter { !$0.isEmpty }
    }

    /// Places the operands of a context, reads the variables and checks the values.
    private func contextEnd(_ context: String?) -> [String] {
        let settings = schema.settings(of: context)
        var lines: [String] = []
        let count = schema.operandCount(of: context)
        if let count {
            let missing = Schema.Arguments.Mistake(.missingOperands(count.lowerBound), at: "").description
            if count.lowerBound > 0 {
                lines.append("if [ $# -lt \(count.lowerBound) ]; then __prefs_fail \(quoted(missing)); fi")
            }
        }
        let places = settings.positionals
        let most: Int = settings.contains(where: \.takesRest) ? .max : count?.upperBound ?? .max
        if most != .max {
            lines += ["__prefs_former=$__prefs_errors __prefs_errors=''"] + refusal(after: most)
            // Values of operands are reported first.
            lines.append("__prefs_late=$__prefs_errors __prefs_errors=$__prefs_former")
        }
        let required = places.filter(\.isRequired)
        if !places.isEmpty {
            lines.append("__prefs_need=0")
            for setting in required {
                lines.append("if [ -z \"$\(place(setting.key))\" ]; then __prefs_need=$((__prefs_need + 1)); fi")
            }
        }
        for setting in places {
            let least = setting.isRequired ? "0" : "\"$__prefs_need\""
            lines.append("if [ -z \"$\(place(setting.key))\" ] && [ $# -gt \(least) ]; then")
            lines.append("    __prefs_set \(quoted(setting.key)) \"$1\" \(quoted(setting.operandName))")
            lines.append("    shift")
            lines.append("fi")
            if setting.isRequired {
                lines.append("if [ \"$__prefs_need\" -gt 0 ]; then __prefs_need=$((__prefs_need - 1)); fi")
            }
        }
        if let taker = settings.first(where: \.takesRest) {
            // Other shells than the script's own must be able to read the line.
            lines +=
                output == .sh
                ? ["__prefs_quote \"$@\"", "\(variable(taker.key))=$__prefs_value"]
                : ["eval '\(variable(taker.key))=(\"$@\")'"]
            if let least = taker.rule.minimumCount, least > 0 {
                let problem = "\(taker.operandName) \(Schema.Problem.Reason.missing)"
                lines.append("if [ $# -eq 0 ]; then __prefs_fail \(quoted(problem)); fi")
            }
        } else if !places.isEmpty, count == nil {
            lines += refusal(after: 0)
        } else if most != .max {
            lines.append("__prefs_errors=$__prefs_errors$__prefs_late")
        }
        lines += valueChecks(of: settings)
        for setting in settings where setting.requiresValue {
            let problem = "\(setting.writtenName) \(Schema.Problem.Reason.missing)"
            lines.append("if [ -z \"$\(place(setting.key))\" ]; then __prefs_fail \(quoted(problem)); fi")
        }
        return lines
    }

    /// The lines that refuse the operands after the first ones.
    private func refusal(after most: Int) -> [String] {
        [
            "__prefs_number=0", "for __prefs_word in \"$@\"; do", "    __prefs_number=$((__prefs_number + 1))",
            "    if [ \"$__prefs_number\" -gt \(most) ]; then __prefs_fail \"unexpected operand $__prefs_word\"; fi",
            "done",
        ]
    }

    /// The lines that read the variables, then check the values of the command line.
    private func valueChecks(of settings: [SettingDeclaration]) -> [String] {
        let settings = settings.filter { !$0.takesRest }
        let checked = settings.filter { !checks(of: $0).isEmpty }
        return settings.flatMap { environment(of: $0) } + checked.map { "__prefs_check \(quoted($0.key))" }
    }

    private func environment(of setting: SettingDeclaration) -> [String] {
        let key = quoted(setting.key)
        let check = checks(of: setting).isEmpty ? "" : " __prefs_check \(key);"
        return setting.environment.map { name in
            "if [ -z \"$\(place(setting.key))\" ] && [ -n \"$__prefs_env_\(name)\" ]; then __prefs_set \(key) \"$__prefs_env_\(name)\" \(name);\(check) fi"
        }
    }

    private func checks(of setting: SettingDeclaration) -> [String] {
        let (rule, name) = (setting.rule, variable(setting.key))
        func failure(_ reason: Schema.Problem.Reason) -> String {
            "__prefs_fail \"$\(place(setting.key)) ${\(text(setting.key)):-\\\"\\\"}\"\(quoted(": \(reason)"))"
        }
        var lines: [String] = []
        if !rule.choices.isEmpty {
            let reason = Schema.Problem.Reason.notAChoice(rule.choices.map(\.plainText), nearest: nil)
            let words = rule.choices.map { quoted($0.plainText) }.joined(separator: "|")
            lines.append("case $\(name) in \(words)) ;; *) \(failure(reason)) ;; esac")
        }
        if let kind = rule.kind, kind.isPath {
            lines.append("if [ -z \"$\(name)\" ]; then \(failure(.notOfKind(kind.noun))); fi")
        }
        let (minimum, maximum) = (rule.minimum?.plainText, rule.maximum?.plainText)
        guard minimum != nil || maximum != nil else { return lines }
        let tests = [
            minimum.map { "__prefs_below \"$\(name)\" \($0)" }, maximum.map { "__prefs_below \($0) \"$\(name)\"" },
        ]
        let isOutside = tests.compactMap(\.self).joined(separator: " || ")
        // A counter has no text: its value is shown.
        if setting.isCounter { lines.append("\(text(setting.key))=${\(text(setting.key)):-$\(name)}") }
        lines.append(
            "if \(isOutside); then \(failure(.outsideRange(minimum: minimum, maximum: maximum))); fi")
        return lines
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
        if defaultCommand != nil { parts.append(Mistake(.needsPrefs(""), at: ["DefaultCommand"])) }
        // The settings of an extended schema have other paths.
        guard extends.isEmpty else { return parts + [Mistake(.needsPrefs(""), at: ["Extends"])] }
        parts += settings.partsBeyondShell(at: EntryPath(), outer: [])
        for (index, command) in commands.enumerated() {
            let path: EntryPath = ["Commands", EntryPath.Component(index)]
            parts += command.settings.partsBeyondShell(at: path, outer: settings)
            if !command.commands.isEmpty { parts.append(Mistake(.needsPrefs(""), at: path.appending("Commands"))) }
        }
        return parts
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
        let allowed: [ValueType] = [.string, .integer, .boolean]
        let isRest = takesRest && rule.type == .array && (rule.element?.isPlain ?? true)
        let attributes: [(name: String, part: String, isBeyond: Bool)] = [
            ("Type", rule.type.rawValue, !allowed.contains(rule.type) && !isRest),
            ("Kind", rule.kind?.rawValue ?? "", rule.kind.map { !$0.isPath } ?? false),
            ("Pattern", "", rule.pattern != nil), ("Separator", "", rule.separator != nil),
            ("Exists", "", rule.exists != nil), ("ChoicesFrom", "", rule.choicesFrom != nil),
            ("Conflicts", "", !conflicts.isEmpty), ("Requires", "", !requires.isEmpty),
            ("ExactlyOneOf", "", !exactlyOneOf.isEmpty), ("Sensitive", "", isSensitive),
            ("Deprecated", "", deprecated != nil),
            ("Values", "a deprecated flag", flagValues.contains { $0.deprecated != nil }),
            ("MinimumLength", "", rule.minimumLength != nil),
            ("MaximumLength", "", rule.maximumLength != nil), ("MaximumCount", "", rule.maximumCount != nil),
            ("MinimumCount", "", rule.minimumCount.map { !isRest || $0 > 1 } ?? false),
            ("Unique", "", rule.isUnique),
        ]
        // The rest is the operands that are left, at least one if it has a minimum count. Nothing else sets it.
        let ofRest: [(name: String, part: String, isBeyond: Bool)] = [
            ("Default", "", defaultValue != nil), ("Required", "", isRequired), ("Flag", "", !flags.isEmpty),
            ("Short", "", short != nil), ("Values", "", !flagValues.isEmpty),
            ("Environment", "", !environment.isEmpty),
        ]
        return (attributes + (takesRest ? ofRest : [])).filter(\.isBeyond).map { ($0.name, $0.part) }
    }
}

extension ValueRule {
    /// Whether every string is allowed.
    fileprivate var isPlain: Bool { self == ValueRule(.string) }
}
