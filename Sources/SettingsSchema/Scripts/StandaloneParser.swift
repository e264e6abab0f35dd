internal import PropertyLists

/// The parser of a script in POSIX shell, for hosts without `prefs`.
///
/// It has the part of the rules that needs no more than a shell: flags, options, choices, bounds of integers, operands,
/// defaults, environment variables, sub-commands and help. All its names begin with `__prefs_`:
///
/// The variables of the shell:
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
    private let schema: Schema
    private let program: String
    private let prefix: String
    private let output: ScriptOutput
    /// The program, and each command by its name.
    private let contexts: [String?]

    package init(
        _ schema: Schema, program: String, for output: ScriptOutput = .sh, prefix: String = ""
    ) throws(Refusal) {
        let parts = schema.partsBeyondShell
        guard parts.isEmpty else { throw Refusal(parts: parts) }
        (self.schema, self.prefix, self.output) = (schema, prefix, output)
        self.program = schema.program ?? program
        contexts = [nil] + schema.commands.map(\.name)
    }

    private func variable(_ key: String) -> String { ShellName.variable(for: key, prefix: prefix) }
    private func place(_ key: String) -> String { "__prefs_at_" + ShellName.variable(for: key, prefix: "") }
    /// The variable that is set while a value is unchecked.
    private func unchecked(_ key: String) -> String { "__prefs_new_" + ShellName.variable(for: key, prefix: "") }
    private func text(_ key: String) -> String { "__prefs_text_" + ShellName.variable(for: key, prefix: "") }
    private func quoted(_ text: String) -> String { ShellQuoting.word(text) }

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

    private func defaults(_ settings: [SettingDeclaration]) -> [String] {
        settings.map { setting in
            let value = setting.defaultValue?.plainText ?? (setting.rule.type == .boolean ? "false" : "")
            let isCounter = setting.isCounter && value.isEmpty
            return
                "\(variable(setting.key))=\(quoted(isCounter ? "" : value)) \(place(setting.key))='' \(text(setting.key))='' \(unchecked(setting.key))=''"
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
        var shortened: [String: [String]] = [:]
        if !schema.isExact {
            for name in table.long.keys {
                for length in 1..<max(1, name.utf8.count) {
                    let text = String(name.prefix(length))
                    if table.long[text] == nil { shortened[text, default: []].append(name) }
                }
            }
        }
        var unique: [String: [String]] = [:]
        for text in shortened.keys.sorted() {
            let found = table.flags(abbreviated: text)
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
        var seen: Set<String> = []
        for command in schema.commands {
            let own = FlagTable(command.settings, common: [])
            let flags = own.long.map { ("--\($0.key)", $0.value) } + own.short.map { ("-\($0.key)", $0.value) }
            for (flag, meaning) in flags.sorted(by: { $0.0 < $1.0 }) where flag != "-h" && seen.insert(flag).inserted {
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
        case .sets(let setting, let value):
            "__prefs_kind=sets __prefs_key=\(quoted(setting.key)) __prefs_fixed=\(quoted(value.plainText))"
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

    // MARK: Main

    private var mainLoop: [String] {
        missingFunction
            + """
            while [ -n "$__prefs_rest" ] || [ "$__prefs_left" -gt 0 ]; do
                __prefs_has=''
                if [ -n "$__prefs_rest" ]; then
                    __prefs_name=-${__prefs_rest%"${__prefs_rest#?}"}
                    __prefs_whole=$__prefs_name
                    __prefs_rest=${__prefs_rest#?}
                    case $__prefs_rest in "="*) __prefs_has=1 __prefs_attached=${__prefs_rest#=} __prefs_rest='' ;; esac
                    __prefs_flag "$__prefs_name"
                    case $__prefs_kind:$__prefs_rest in
                    misplaced*) __prefs_has=1 __prefs_rest='' ;;
                    value:?*|any:?*|number:?*|optional:?*)
                        if [ -z "$__prefs_has" ]; then __prefs_has=1 __prefs_attached=$__prefs_rest __prefs_rest=''; fi ;;
                    esac
                else
                    __prefs_word=$1
                    shift
                    __prefs_left=$((__prefs_left - 1))
                    __prefs_whole=$__prefs_word
                    if [ -n "$__prefs_only" ] || [ "$__prefs_word" = - ]; then __prefs_name=''; else
                        case $__prefs_word in
                        --)
                            __prefs_only=1
                            continue ;;
                        --*)
                            __prefs_name=${__prefs_word%%=*}
                            case $__prefs_word in *=*) __prefs_has=1 __prefs_attached=${__prefs_word#*=} ;; esac
                            __prefs_flag "$__prefs_name" ;;
                        -??*)
                            __prefs_name=${__prefs_word%%=*}
                            __prefs_flag "-$__prefs_name"
                            if [ -n "$__prefs_kind" ] && [ "$__prefs_shown" = "-$__prefs_name" ] && [ "${#__prefs_name}" -gt 2 ]; then
                                __prefs_shown=$__prefs_name
                                case $__prefs_word in *=*) __prefs_has=1 __prefs_attached=${__prefs_word#*=} ;; esac
                            else
                                __prefs_rest=${__prefs_word#-}
                                __prefs_flag "-${__prefs_rest%"${__prefs_rest#?}"}"
                                case $__prefs_kind in
                                misplaced*) if [ "${#__prefs_name}" -gt 2 ]; then __prefs_kind=''; fi ;;
                                esac
                                case $__prefs_kind:$__prefs_word in
                                :-[0-9]*|:-.*|:-\(inf)|:-\(infinity)) \(numberCheck) ;;
                                :*) __prefs_rest='' ;;
                                *) continue ;;
                                esac
                            fi ;;
                        -*)
                            __prefs_name=${__prefs_word%=}
                            __prefs_flag "$__prefs_name"
                            case $__prefs_kind:$__prefs_word in
                            :-[0-9]|:-.) \(numberCheck) ;;
                            esac ;;
                        *) __prefs_name='' ;;
                        esac
                    fi
                    if [ -z "$__prefs_name" ]; then
            \(operandLines.map { "            " + $0 }.joined(separator: "\n"))
                        continue
                    fi
                fi
                __prefs_take=''
                case $__prefs_kind in
                '')
                    __prefs_rest=''
                    if [ -n "$__prefs_lost" ]; then :; else
                        case $__prefs_command in
            \(passingArms)
                        *) __prefs_fail "unknown flag $__prefs_name" ;;
                        esac
                    fi ;;
                ambiguous) __prefs_fail "$__prefs_name is ambiguous: $__prefs_fixed" ;;
                misplaced*)
                    if [ -z "$__prefs_lost" ]; then __prefs_fail "$__prefs_name must follow $__prefs_fixed"; fi
                    if [ "$__prefs_kind" = misplaced_value ] && [ -z "$__prefs_has" ] && [ "$__prefs_left" -gt 0 ]; then
                        case $1 in -?*) ;; *) shift; __prefs_left=$((__prefs_left - 1)) ;; esac
                    fi ;;
                help|version|off|sets)
                    if [ -n "$__prefs_has" ]; then __prefs_fail "$__prefs_shown takes no value"; else
                        case $__prefs_kind in
                        help) __prefs_help=1 ;;
                        version) __prefs_version=1 ;;
                        off) __prefs_set "$__prefs_key" false "$__prefs_shown" ;;
                        sets) __prefs_set "$__prefs_key" "$__prefs_fixed" "$__prefs_shown" ;;
                        esac
                    fi ;;
                on) if [ -z "$__prefs_has" ]; then __prefs_attached=true; fi; __prefs_take=1 ;;
                optional) if [ -z "$__prefs_has" ]; then __prefs_attached=$__prefs_fixed; fi; __prefs_take=1 ;;
                count)
                    if [ -n "$__prefs_has" ]; then __prefs_take=1; else
            \(countLines.map { "            " + $0 }.joined(separator: "\n"))
                    fi ;;
                value|any|number)
                    __prefs_take=$__prefs_has
                    if [ -z "$__prefs_has" ] && [ "$__prefs_left" -gt 0 ]; then
                        case $__prefs_kind:$1 in
                        any:*|number:-[0-9]*|number:-.*|number:-\(inf)|number:-\(infinity)|*:-) __prefs_take=1 ;;
                        *:-*) ;;
                        *) __prefs_take=1 ;;
                        esac
                        if [ -n "$__prefs_take" ]; then
                            __prefs_attached=$1
                            shift
                            __prefs_left=$((__prefs_left - 1))
                        fi
                    fi
                    if [ -z "$__prefs_take" ]; then
                        __prefs_note=''
                        if [ "$__prefs_left" -gt 0 ] && [ "$1" != -- ]; then
                            __prefs_note=" (write $__prefs_shown=$1 if that is the value)"
                        fi
                        __prefs_fail "$__prefs_shown requires a value: $__prefs_fixed$__prefs_note"
                        __prefs_missing "$__prefs_key" "$__prefs_shown"
                    fi ;;
                esac
                if [ -n "$__prefs_take" ]; then __prefs_set "$__prefs_key" "$__prefs_attached" "$__prefs_shown"; fi
            done
            """.shellLines
    }

    /// Marks a setting as given although its value is missing, so that it is not reported as required too.
    private var missingFunction: [String] {
        ["__prefs_missing() {", "    case $1 in"]
            + schema.allSettings.filter { !$0.takesRest }.map { "    \(quoted($0.key))) \(place($0.key))=$2 ;;" }
            + ["    esac", "}"]
    }

    /// The patterns of infinity.
    private var inf: String { "[iI][nN][fF]" }
    private var infinity: String { "\(inf)[iI][nN][iI][tT][yY]" }

    /// Takes a negative number as an operand where one may be.
    private var numberCheck: String {
        let arms = contexts.map { context -> String in
            let places = schema.settings(of: context).inPlaces
            let scope = quoted(context ?? "")
            guard !places.isEmpty else { return "\(scope):*) __prefs_name='' __prefs_rest='' ;;" }
            let numbers = places.indices.filter { places[$0].rule.type == .integer }.map { "\(scope):\($0)" }
            return numbers.isEmpty ? "" : "\(numbers.joined(separator: "|"))) __prefs_name='' __prefs_rest='' ;;"
        }
        return
            "__prefs_rest=''; case $__prefs_command:$(($# - __prefs_left)) in \(arms.filter { !$0.isEmpty }.joined(separator: " ")) esac"
    }

    /// The branches for commands that pass on unknown flags.
    private var passingArms: String {
        let scopes = contexts.filter { schema.settings(of: $0).contains(where: \.passesUnknown) }
        guard !scopes.isEmpty else { return "" }
        let names = scopes.map { quoted($0 ?? "") }.joined(separator: "|")
        return "            \(names)) set -- \"$@\" \"$__prefs_whole\" ;;"
    }

    private var countLines: [String] {
        let settings = schema.allSettings.filter(\.isCounter)
        guard !settings.isEmpty else { return [":"] }
        return ["case $__prefs_key in"]
            + settings.map { setting in
                let name = variable(setting.key)
                return
                    "\(quoted(setting.key))) if [ -z \"$\(place(setting.key))\" ]; then \(name)=0; fi; \(name)=$((\(name) + 1)) \(place(setting.key))=$__prefs_shown \(text(setting.key))='' \(unchecked(setting.key))=1 ;;"
            } + ["esac"]
    }

    private var operandLines: [String] {
        var lines: [String] = []
        if !schema.commands.isEmpty {
            lines += ["if [ -z \"$__prefs_command$__prefs_lost\" ]; then", "    case $__prefs_word in"]
            for command in schema.commands {
                let names = ([command.name] + command.aliases).map(quoted).joined(separator: "|")
                let start = defaults(command.settings).joined(separator: " ")
                lines.append("    \(names)) __prefs_command=\(quoted(command.name)) \(start) ;;")
            }
            lines += ["    *)", "        __prefs_lost=1", "        __prefs_fail \"unknown command $__prefs_word\" ;;"]
            lines += ["    esac", "    continue", "fi"]
        }
        lines += ["set -- \"$@\" \"$__prefs_word\""]
        if !schema.isInterleaved { lines.append("__prefs_only=1") }
        let arms = contexts.compactMap { context -> String? in
            let settings = schema.settings(of: context)
            guard settings.contains(where: { $0.takesRest && !$0.passesUnknown }) else { return nil }
            let count = settings.count { $0.positional != nil }
            return "\(quoted(context ?? ""))) if [ $(($# - __prefs_left)) -gt \(count) ]; then __prefs_only=1; fi ;;"
        }
        if !arms.isEmpty { lines += ["case $__prefs_command in"] + arms + ["esac"] }
        return lines
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
        let places = settings.inPlaces
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
