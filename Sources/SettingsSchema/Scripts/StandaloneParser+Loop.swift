extension StandaloneParser {
    /// The loop over the arguments.
    var mainLoop: [String] {
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
                    \(fallback)
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
                            __prefs_flag "$__prefs_name"
                            \(useOfDefault) ;;
                        -??*)
                            __prefs_name=${__prefs_word%%=*}
                            __prefs_long=''
                            if [ "${#__prefs_name}" -gt 2 ]; then
                                __prefs_flag "-$__prefs_name"
                                if [ "$__prefs_shown" = "-$__prefs_name" ]; then __prefs_long=$__prefs_kind; fi
                            fi
                            case $__prefs_long in
                            ''|ambiguous|misplaced*|default)
                                __prefs_rest=${__prefs_word#-}
                                __prefs_flag "-${__prefs_rest%"${__prefs_rest#?}"}"
                                case $__prefs_kind:$__prefs_word in
                                :-[0-9]*|:-.*|:-\(inf)|:-\(infinity)\(numbersOfDefault)) \(numberCheck) ;;
                                esac
                                if [ -n "$__prefs_name" ]; then
                                    \(useOfDefault)
                                    case $__prefs_kind:${#__prefs_name} in
                                    :*|misplaced*:[3-9]|misplaced*:??*)
                                        __prefs_rest='' __prefs_kind=''
                                        case $__prefs_long in
                                        misplaced*|default)
                                            __prefs_flag "-$__prefs_name"
                                            \(fallback)
                                            __prefs_shown=$__prefs_name
                                            case $__prefs_word in *=*) __prefs_has=1 ;; esac ;;
                                        esac ;;
                                    *) continue ;;
                                    esac
                                fi ;;
                            *)
                                __prefs_shown=$__prefs_name
                                case $__prefs_word in *=*) __prefs_has=1 __prefs_attached=${__prefs_word#*=} ;; esac ;;
                            esac ;;
                        -*)
                            __prefs_name=${__prefs_word%=}
                            __prefs_flag "$__prefs_name"
                            case $__prefs_kind:$__prefs_word in
                            :-[0-9]|:-.\(numbersOfDefault)) \(numberCheck) ;;
                            esac
                            if [ -n "$__prefs_name" ]; then
                                \(useOfDefault)
                                :
                            fi ;;
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
                        sets)
                            __prefs_set "$__prefs_key" "$__prefs_fixed" "$__prefs_shown"
                            if [ -n "$__prefs_old" ]; then __prefs_note "$__prefs_shown$__prefs_old"; fi ;;
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

    /// Whether a flag can choose a default command.
    private var hasDefaults: Bool { contexts.contains { defaultCommand(in: $0) != nil } }

    /// The line that chooses the default command if the flag is one of its own, and takes the argument again.
    private var useOfDefault: String {
        !hasDefaults
            ? ":"
            : "if [ \"$__prefs_kind\" = default ]; then if [ -n \"$__prefs_lost\" ]; then __prefs_kind=''; else "
                + "__prefs_default; set -- \"$__prefs_word\" \"$@\"; __prefs_left=$((__prefs_left + 1)) __prefs_rest=''; continue; fi; fi"
    }

    /// The line for a flag of the default command at a place where it does not choose that command.
    private var fallback: String {
        hasDefaults ? "if [ \"$__prefs_kind\" = default ]; then __prefs_kind=$__prefs_old __prefs_old=''; fi" : ":"
    }

    /// The patterns of negative numbers that are also flags of the default command.
    private var numbersOfDefault: String {
        hasDefaults ? "|default:-[0-9]*|default:-.*|default:-\(inf)|default:-\(infinity)" : ""
    }

    /// Marks a setting as given although its value is missing, so that it is not reported as required too. What was
    /// given before keeps its value, but not its text.
    private var missingFunction: [String] {
        let arms = schema.allSettings.filter { !$0.takesRest }.map { setting in
            let words = setting.isList ? " \(raw(setting.key))=''" : " \(text(setting.key))=$\(variable(setting.key))"
            return "    \(quoted(setting.key))) \(place(setting.key))=$2\(words) ;;"
        }
        return ["__prefs_missing() {", "    case $1 in"] + arms + ["    esac", "}"]
    }

    /// The patterns of infinity.
    private var inf: String { "[iI][nN][fF]" }
    private var infinity: String { "\(inf)[iI][nN][iI][tT][yY]" }

    /// Takes a negative number as an operand where one may be.
    private var numberCheck: String {
        let arms = contexts.map { context -> String in
            let places = schema.settings(of: context).positionals
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
                let note = setting.deprecated.map { " __prefs_note \"$__prefs_shown\"\(quoted(endOfNote($0)));" } ?? ""
                return
                    "\(quoted(setting.key)))\(note) if [ -z \"$\(place(setting.key))\" ]; then \(name)=0; fi; \(name)=$((\(name) + 1)) \(place(setting.key))=$__prefs_shown \(text(setting.key))='' \(unchecked(setting.key))=1 ;;"
            } + ["esac"]
    }

    /// The branches for a word where a command is expected.
    private func commandArms(_ context: String?) -> [String] {
        let commands = commands(in: context)
        guard !commands.isEmpty else { return [] }
        let scope = context ?? ""
        let arms = commands.map { command in
            let patterns = ([command.name] + command.aliases).map { quoted("\(scope):\($0)") }.joined(separator: "|")
            return ["\(patterns))", "    \(choice(of: fullName(command.name, in: context)))", "    continue ;;"]
        }
        let name = defaultCommand(in: context).flatMap { schema.operandCount(of: $0) == 0...0 ? nil : $0 }
        let unknown =
            name.map { ["\(quoted(scope + ":"))*) \(choice(of: $0)) ;;"] }
            ?? [
                "\(quoted(scope + ":"))*)", "    __prefs_lost=1", "    __prefs_fail \"unknown command $__prefs_word\"",
                "    continue ;;",
            ]
        return arms.flatMap(\.self) + unknown
    }

    private var operandLines: [String] {
        var lines: [String] = []
        if !schema.commands.isEmpty {
            lines += ["if [ -z \"$__prefs_lost\" ]; then", "    case $__prefs_command:$__prefs_word in"]
            for context in contexts { lines += commandArms(context).map { "    " + $0 } }
            lines += ["    esac", "fi"]
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
}

/// The functions of an inlined parser that are the same for every script.
enum StandaloneFunctions {
    /// Records an error, with control characters escaped.
    static func failing(program: String) -> [String] {
        """
        __prefs_fail() {
            __prefs_tail=$1 __prefs_escaped=''
            while :; do
                case $__prefs_tail in *[[:cntrl:]]*) ;; *) break ;; esac
                __prefs_head=${__prefs_tail%%[[:cntrl:]]*}
                __prefs_tail=${__prefs_tail#"$__prefs_head"}
                __prefs_control=${__prefs_tail%"${__prefs_tail#?}"}
                __prefs_tail=${__prefs_tail#?}
                __prefs_code=$(printf '%X' "'$__prefs_control")
                case $__prefs_code in
                9) __prefs_code=t ;;
                A) __prefs_code=n ;;
                D) __prefs_code=r ;;
                *) __prefs_code="u{$__prefs_code}" ;;
                esac
                __prefs_escaped=$__prefs_escaped$__prefs_head'\\'$__prefs_code
            done
            __prefs_errors=$__prefs_errors\(ShellQuoting.word("\(program): "))$__prefs_escaped$__prefs_tail$__prefs_line
        }
        """.shellLines
    }

    /// Records a note once.
    static func noting(program: String) -> [String] {
        """
        __prefs_note() {
            case $__prefs_line$__prefs_notes in *"$__prefs_line"\(ShellQuoting.word("\(program): "))"$1$__prefs_line"*) return ;; esac
            __prefs_notes=$__prefs_notes\(ShellQuoting.word("\(program): "))$1$__prefs_line
        }
        """.shellLines
    }

    /// The number of characters in UTF-8, in every locale.
    static let length: [String] =
        #"""
        __prefs_length() {
            __prefs_value=$(printf '%s' "$1" | LC_ALL=C tr -d '\200-\277' | LC_ALL=C wc -c)
            __prefs_value=$((__prefs_value))
        }
        """#.shellLines

    /// Each character of a text is one byte to `grep`, which has no newlines in its lines.
    static let matching: [String] =
        #"""
        # Whether the text $1 matches the expression $2. Newlines become $3, or match nothing.
        __prefs_matches() {
            case $3:$1 in :*"$__prefs_line"*) return 1 ;; esac
            {
                printf '%s' "$1" | LC_ALL=C tr -d '\200-\277' | LC_ALL=C tr '\n' "${3:-\\n}"
                echo
            } | LC_ALL=C grep -Eqx -e "$2"
        }
        """#.shellLines

    /// Integers are compared as text, since a shell has those of 64 bits with a sign only.
    static let integer: [String] =
        """
        # Whether the integer $1 is below $2.
        __prefs_below() {
            case $1:$2 in
            -*:-*) set -- "${2#-}" "${1#-}" ;;
            -*) return 0 ;;
            *:-*) return 1 ;;
            esac
            if [ "${#1}" -ne "${#2}" ]; then
                [ "${#1}" -lt "${#2}" ]
                return
            fi
            if [ "${#1}" -gt 10 ]; then
                set -- "$1" "$2" "${1%??????????}" "${2%??????????}"
                if [ "$3" != "$4" ]; then
                    [ "$3" -lt "$4" ]
                    return
                fi
                set -- "${1#"$3"}" "${2#"$4"}"
            fi
            [ "1$1" -lt "1$2" ]
        }
        __prefs_integer() {
            __prefs_value=${1#[-+]}
            __prefs_limit=18446744073709551615 __prefs_sign=''
            case $1 in -*) __prefs_limit=9223372036854775808 __prefs_sign=- ;; esac
            case $__prefs_value in
            0[xX]*)
                __prefs_value=${__prefs_value#0?}
                case $__prefs_value in ''|*[!0-9a-fA-F]*) return 1 ;; esac
                while :; do case $__prefs_value in 0?*) __prefs_value=${__prefs_value#0} ;; *) break ;; esac; done
                if [ "${#__prefs_value}" -gt 16 ]; then return 1; fi
                __prefs_value=00000000$__prefs_value
                __prefs_high=${__prefs_value%????????}
                __prefs_low=${__prefs_value#"$__prefs_high"}
                # 2 to the power of 32 is 42949 * 100000 + 67296.
                __prefs_low=$((0x$__prefs_high * 67296 + 0x$__prefs_low))
                __prefs_high=$((0x$__prefs_high * 42949 + __prefs_low / 100000))
                __prefs_low=$((__prefs_low % 100000 + 100000))
                __prefs_value=$__prefs_high${__prefs_low#1} ;;
            ''|*[!0-9]*) return 1 ;;
            esac
            while :; do case $__prefs_value in 0?*) __prefs_value=${__prefs_value#0} ;; *) break ;; esac; done
            if __prefs_below "$__prefs_limit" "$__prefs_value"; then return 1; fi
            if [ "$__prefs_value" != 0 ]; then __prefs_value=$__prefs_sign$__prefs_value; fi
        }
        """.shellLines

    static let boolean: [String] =
        """
        __prefs_boolean() {
            case $1 in
            [Tt][Rr][Uu][Ee]|[Yy][Ee][Ss]|[Oo][Nn]|1) __prefs_value=true ;;
            [Ff][Aa][Ll][Ss][Ee]|[Nn][Oo]|[Oo][Ff][Ff]|0) __prefs_value=false ;;
            *) return 1 ;;
            esac
        }
        """.shellLines

    /// The elements of a text between separators.
    static let splitting: [String] =
        #"""
        # Quotes the parts of the text $1 between separators $2 as words. Each is converted by the function $3.
        __prefs_split() {
            __prefs_tail=$1 __prefs_parts=''
            while [ -n "$1" ]; do
                __prefs_value=${__prefs_tail%%"$2"*}
                if [ -n "$3" ]; then "$3" "$__prefs_value" || return 1; fi
                __prefs_quote "$__prefs_value"
                __prefs_parts="$__prefs_parts${__prefs_parts:+ }$__prefs_value"
                case $__prefs_tail in *"$2"*) __prefs_tail=${__prefs_tail#*"$2"} ;; *) break ;; esac
            done
            __prefs_value=$__prefs_parts
        }
        """#.shellLines

    static let differing: [String] =
        #"""
        # Whether all arguments differ.
        __prefs_differ() {
            __prefs_parts=''
            for __prefs_part in "$@"; do
                __prefs_quote "$__prefs_part"
                case "$__prefs_parts " in *" $__prefs_value "*) return 1 ;; esac
                __prefs_parts="$__prefs_parts $__prefs_value"
            done
        }
        """#.shellLines

    /// Quotes its arguments as words, in place of an array.
    static let quoting: [String] =
        #"""
        __prefs_quote() {
            __prefs_value=''
            for __prefs_word in "$@"; do
                __prefs_quoted=''
                while :; do
                    case $__prefs_word in
                    *\'*)
                        __prefs_quoted=$__prefs_quoted${__prefs_word%%\'*}"'\\''"
                        __prefs_word=${__prefs_word#*\'} ;;
                    *) break ;;
                    esac
                done
                __prefs_value="$__prefs_value${__prefs_value:+ }'$__prefs_quoted$__prefs_word'"
            done
        }
        """#.shellLines
}

extension String {
    /// The lines of shell code.
    var shellLines: [String] { split(separator: "\n").map(String.init) }
}
