internal import SettingsSchema

extension StandaloneParser {
    /// The loop over the arguments.
    var mainLoop: [String] {
        missingFunction
            + """
            while [ -n "$_p_rest" ] || [ "$_p_left" -gt 0 ]; do
                _p_has=''
                if [ -n "$_p_rest" ]; then
                    _p_name=-${_p_rest%"${_p_rest#?}"}
                    _p_whole=$_p_name
                    _p_rest=${_p_rest#?}
                    case $_p_rest in "="*) _p_has=1 _p_attached=${_p_rest#=} _p_rest='' ;; esac
                    _p_flag "$_p_name"
                    \(fallback)
                    case $_p_kind:$_p_rest in
                    \(ifCommands("misplaced*) _p_has=1 _p_rest='' ;;"))
                    value:?*|any:?*|number:?*|optional:?*)
                        if [ -z "$_p_has" ]; then _p_has=1 _p_attached=$_p_rest _p_rest=''; fi ;;
                    esac
                else
                    _p_word=$1
                    shift
                    _p_left=$((_p_left - 1))
                    _p_whole=$_p_word
                    if [ -n "$_p_only" ] || [ "$_p_word" = - ]; then _p_name=''; else
                        case $_p_word in
                        --)
                            _p_only=1
                            continue ;;
                        --*)
                            _p_name=${_p_word%%=*}
                            case $_p_word in *=*) _p_has=1 _p_attached=${_p_word#*=} ;; esac
                            \(schema.isExact ? "_p_flag" : "_p_long_flag") "$_p_name"
                            \(useOfDefault)
                            ;;
                        -??*)
                            _p_name=${_p_word%%=*}
                            _p_long=''
                            if [ "${#_p_name}" -gt 2 ]; then
                                _p_flag "-$_p_name"
                                _p_long=$_p_kind
                            fi
                            case $_p_long in
                            ''|misplaced*|default)
                                _p_rest=${_p_word#-}
                                _p_flag "-${_p_rest%"${_p_rest#?}"}"
                                \(numberCheck(":-[0-9]*|:-.*|:-\(inf)|:-\(infinity)\(numbersOfDefault)"))
                                if [ -n "$_p_name" ]; then
                                    \(useOfDefault)
                                    case $_p_kind:${#_p_name} in
                                    :*|misplaced*:[3-9]|misplaced*:??*)
                                        _p_rest='' _p_kind=''
                                        case $_p_long in
                                        misplaced*|default)
                                            _p_flag "-$_p_name"
                                            \(fallback)
                                            _p_shown=$_p_name
                                            case $_p_word in *=*) _p_has=1 ;; esac ;;
                                        esac ;;
                                    *) continue ;;
                                    esac
                                fi ;;
                            *)
                                _p_shown=$_p_name
                                case $_p_word in *=*) _p_has=1 _p_attached=${_p_word#*=} ;; esac ;;
                            esac ;;
                        -*)
                            _p_name=${_p_word%=}
                            _p_flag "$_p_name"
                            \(numberCheck(":-[0-9]|:-.\(numbersOfDefault)"))
                            \(hasDefaults ? "if [ -n \"$_p_name\" ]; then \(useOfDefault); fi" : "")
                            ;;
                        *) _p_name='' ;;
                        esac
                    fi
                    if [ -z "$_p_name" ]; then
            \(operandLines.map { "            " + $0 }.joined(separator: "\n"))
                        continue
                    fi
                fi
                _p_take=''
                case $_p_kind in
                '')
                    _p_rest=''
                    \(unknownFlag) ;;
                ambiguous) _p_fail "$_p_name is ambiguous: $_p_fixed" ;;
            \(misplacedArm)
                help|version|off|sets)
                    if [ -n "$_p_has" ]; then _p_fail "$_p_shown takes no value"; else
                        case $_p_kind in
                        help) _p_help=1 ;;
                        \(hasVersion ? "version) _p_version=1 ;;" : "")
                        off) _p_set "$_p_key" false "$_p_shown" ;;
                        sets)
                            _p_set "$_p_key" "$_p_fixed" "$_p_shown"
                            \(hasNotes ? "if [ -n \"$_p_old\" ]; then _p_note \"$_p_shown$_p_old\"; fi" : "")
                            ;;
                        esac
                    fi ;;
                on) if [ -z "$_p_has" ]; then _p_attached=true; fi; _p_take=1 ;;
                optional) if [ -z "$_p_has" ]; then _p_attached=$_p_fixed; fi; _p_take=1 ;;
            \(countArm)
                value|any|number)
                    _p_take=$_p_has
                    if [ -z "$_p_has" ] && [ "$_p_left" -gt 0 ]; then
                        case $_p_kind:$1 in
                        any:*|number:-[0-9]*|number:-.*|number:-\(inf)|number:-\(infinity)|*:-) _p_take=1 ;;
                        *:-*) ;;
                        *) _p_take=1 ;;
                        esac
                        if [ -n "$_p_take" ]; then
                            _p_attached=$1
                            shift
                            _p_left=$((_p_left - 1))
                        fi
                    fi
                    if [ -z "$_p_take" ]; then
                        _p_note=''
                        if [ "$_p_left" -gt 0 ] && [ "$1" != -- ]; then
                            _p_note=" (write $_p_shown=$1 if that is the value)"
                        fi
                        _p_fail "$_p_shown requires a value: $_p_fixed$_p_note"
                        _p_missing "$_p_key" "$_p_shown"
                    fi ;;
                esac
                if [ -n "$_p_take" ]; then _p_set "$_p_key" "$_p_attached" "$_p_shown"; fi
            done
            """.shellLines
    }

    /// Whether a flag can choose a default command.
    private var hasDefaults: Bool { contexts.contains { defaultCommand(in: $0) != nil } }

    /// The line that chooses the default command if the flag is one of its own, and takes the argument again.
    private var useOfDefault: String {
        !hasDefaults
            ? ""
            : "if [ \"$_p_kind\" = default ]; then if [ -n \"$_p_lost\" ]; then _p_kind=''; else "
                + "_p_default; set -- \"$_p_word\" \"$@\"; _p_left=$((_p_left + 1)) _p_rest=''; continue; fi; fi"
    }

    /// The line for a flag of the default command at a place where it does not choose that command.
    private var fallback: String {
        hasDefaults ? "if [ \"$_p_kind\" = default ]; then _p_kind=$_p_old _p_old=''; fi" : ""
    }

    /// Whether a flag can be given before its command, or after an unknown one.
    private func ifCommands(_ line: String) -> String { schema.commands.isEmpty ? "" : line }

    private var misplacedArm: String {
        ifCommands(
            """
                misplaced*)
                    if [ -z "$_p_lost" ]; then _p_fail "$_p_name must follow $_p_fixed"; fi
                    if [ "$_p_kind" = misplaced_value ] && [ -z "$_p_has" ] && [ "$_p_left" -gt 0 ]; then
                        case $1 in -?*) ;; *) shift; _p_left=$((_p_left - 1)) ;; esac
                    fi ;;
            """)
    }

    /// The line for a flag that is not declared: an error, or an operand where such flags are passed on.
    private var unknownFlag: String {
        let scopes = contexts.filter { schema.settings(of: $0).contains(where: \.passesUnknown) }
        let failure = "_p_fail \"unknown flag $_p_name\""
        let names = scopes.map { quoted($0 ?? "") }.joined(separator: "|")
        let line =
            scopes.isEmpty
            ? failure
            : "case $_p_command in \(names)) set -- \"$@\" \"$_p_whole\" ;; *) \(failure) ;; esac"
        return schema.commands.isEmpty ? line : "if [ -z \"$_p_lost\" ]; then \(line); fi"
    }

    /// The patterns of negative numbers that are also flags of the default command.
    private var numbersOfDefault: String {
        hasDefaults ? "|default:-[0-9]*|default:-.*|default:-\(inf)|default:-\(infinity)" : ""
    }

    /// Marks a setting as given although its value is missing, so that it is not reported as required too. What was
    /// given before keeps its value, but not its text.
    private var missingFunction: [String] {
        let arms = contexts.flatMap { context in
            settingsWithValue(context).filter { $0.isList || !hasPlainVariable($0) }.map { setting in
                let words =
                    setting.isList
                    ? setting.isChecked ? " \(raw(setting.key))=''" : ""
                    : " \(text(setting.key))=$\(variable(setting.key))"
                return "    \(pattern(context, name(setting)))) \(place(setting.key))=$2\(words) ;;"
            }
        }
        let otherwise = "eval \"_p_at_$1=\\$2 _p_text_$1=\\$\(prefix)$1\""
        return ["_p_missing() {"]
            + (arms.isEmpty
                ? ["    \(otherwise)"]
                : ["    case $_p_command:$1 in"] + arms + ["    *) \(otherwise) ;;", "    esac"])
            + ["}"]
    }

    /// The patterns of infinity.
    private var inf: String { "[iI][nN][fF]" }
    private var infinity: String { "\(inf)[iI][nN][iI][tT][yY]" }

    /// Takes a negative number, whose kind and text match the patterns, as an operand where one may be.
    private func numberCheck(_ patterns: String) -> String {
        let arms = contexts.compactMap { context -> String? in
            let places = schema.settings(of: context).positionals
            let scope = quoted(context ?? "")
            guard !places.isEmpty else { return "\(scope):*) _p_name='' _p_rest='' ;;" }
            // A number after the first operand of an array can be one of its elements.
            let array = places.firstIndex { $0.rule.type == .array && $0.rule.ofElements.type == .integer }
            let numbers = places.indices.filter { places[$0].rule.type == .integer || $0 >= array ?? .max }
            func patterns(_ indices: [Int]) -> String { indices.map { "\(scope):\($0)" }.joined(separator: "|") }
            let others = places.indices.filter { !numbers.contains($0) }
            let action = "_p_name='' _p_rest='' ;;"
            guard array == nil else {
                return (others.isEmpty ? "" : "\(patterns(others))) ;; ") + "\(scope):*) \(action)"
            }
            return numbers.isEmpty ? nil : "\(patterns(numbers))) \(action)"
        }
        let choice =
            arms.isEmpty ? "" : "; case $_p_command:$(($# - _p_left)) in \(arms.joined(separator: " ")) esac"
        let check = "case $_p_kind:$_p_word in \(patterns)) _p_rest=''\(choice) ;; esac"
        guard !schema.commands.isEmpty, !arms.isEmpty else { return check }
        // Where a number is allowed, it takes precedence over a letter of a command that is not chosen.
        let others = ["-[0-9]*", "-.*", "-\(inf)", "-\(infinity)"].map { "misplaced*:\($0)" }.joined(separator: "|")
        return "\(check); case $_p_kind:$_p_word in \(others)) \(choice.dropFirst(2)) ;; esac"
    }

    /// The branch for flags that count.
    private var countArm: String {
        let arms = contexts.flatMap { context in
            schema.settings(of: context).filter(\.isCounter).map { setting in
                let (name, at) = (variable(setting.key), place(setting.key))
                let note = setting.deprecated.map { " _p_note \"$_p_shown\"\(quoted(endOfNote($0)));" } ?? ""
                let scope = pattern(context, self.name(setting))
                return
                    "            \(scope))\(note) if [ -z \"$\(at)\" ]; then \(name)=0; fi; \(name)=$((\(name) + 1)) \(at)=$_p_shown \(text(setting.key))='' \(unchecked(setting.key))=1 ;;"
            }
        }
        guard !arms.isEmpty else { return "" }
        return """
                count)
                    if [ -n "$_p_has" ]; then _p_take=1; else
                        case $_p_command:$_p_key in
            \(arms.joined(separator: "\n"))
                        esac
                    fi ;;
            """
    }

    /// The branches for a word where a command is expected.
    private func commandArms(_ context: String?) -> [String] {
        let commands = commands(in: context)
        guard !commands.isEmpty else { return [] }
        let scope = context ?? ""
        let arms = commands.map { command in
            let patterns = ([command.name] + command.aliases).map { word("\(scope):\($0)") }.joined(separator: "|")
            return ["\(patterns))", "    \(choice(of: fullName(command.name, in: context)))", "    continue ;;"]
        }
        let name = defaultCommand(in: context).flatMap { schema.operandCount(of: $0) == 0...0 ? nil : $0 }
        let unknown =
            name.map { ["\(quoted(scope + ":"))*) \(choice(of: $0)) ;;"] }
            ?? [
                "\(quoted(scope + ":"))*)", "    _p_lost=1", "    _p_fail \"unknown command $_p_word\"",
                "    continue ;;",
            ]
        return arms.flatMap(\.self) + unknown
    }

    private var operandLines: [String] {
        var lines: [String] = []
        if !schema.commands.isEmpty {
            lines += ["if [ -z \"$_p_lost\" ]; then", "    case $_p_command:$_p_word in"]
            for context in contexts { lines += commandArms(context).map { "    " + $0 } }
            lines += ["    esac", "fi"]
        }
        lines += ["set -- \"$@\" \"$_p_word\""]
        if !schema.isInterleaved { lines.append("_p_only=1") }
        let arms = contexts.compactMap { context -> String? in
            let settings = schema.settings(of: context)
            guard settings.contains(where: { $0.takesRest && !$0.passesUnknown }) else { return nil }
            let count = settings.count { $0.positional != nil }
            return "\(quoted(context ?? ""))) if [ \"$(($# - _p_left))\" -gt \(count) ]; then _p_only=1; fi ;;"
        }
        if !arms.isEmpty { lines += ["case $_p_command in"] + arms + ["esac"] }
        return lines
    }
}

/// The functions of an inlined parser that are the same for every script.
enum StandaloneFunctions {
    /// Records an error, with control characters escaped.
    static func failing(program: String) -> [String] {
        """
        _p_fail() {
            _p_tail=$1 _p_escaped=''
            while :; do
                case $_p_tail in *[[:cntrl:]]*) ;; *) break ;; esac
                _p_head=${_p_tail%%[[:cntrl:]]*}
                _p_tail=${_p_tail#"$_p_head"}
                _p_control=${_p_tail%"${_p_tail#?}"}
                _p_tail=${_p_tail#?}
                _p_code=$(printf '%X' "'$_p_control")
                case $_p_code in
                9) _p_code=t ;;
                A) _p_code=n ;;
                D) _p_code=r ;;
                *) _p_code="u{$_p_code}" ;;
                esac
                _p_escaped=$_p_escaped$_p_head"\\\\"$_p_code
            done
            _p_errors=$_p_errors\(ShellQuoting.word("\(program): "))$_p_escaped$_p_tail$_p_line
        }
        """.shellLines
    }

    /// Records a note once.
    static func noting(program: String) -> [String] {
        """
        _p_note() {
            case $_p_line$_p_notes in *"$_p_line"\(ShellQuoting.word("\(program): "))"$1$_p_line"*) return 0 ;; esac
            _p_notes=$_p_notes\(ShellQuoting.word("\(program): "))$1$_p_line
        }
        """.shellLines
    }

    /// The number of characters in UTF-8, in every locale.
    static let length: [String] =
        #"""
        _p_length() {
            _p_value=$(printf '%s' "$1" | LC_ALL=C tr -d '\200-\277' | LC_ALL=C wc -c)
            _p_value=$((_p_value))
        }
        """#.shellLines

    /// Each character of a text is one byte to `grep`, which has no newlines in its lines.
    static let matching: [String] =
        #"""
        # Whether the text $1 matches the expression $2. Newlines become $3, or match nothing.
        _p_matches() {
            case $3:$1 in :*"$_p_line"*) return 1 ;; esac
            {
                printf '%s' "$1" | LC_ALL=C tr -d '\200-\277' | LC_ALL=C tr '\n' "${3:-\\n}"
                echo
            } | LC_ALL=C grep -Eqx -e "$2"
        }
        """#.shellLines

    /// Integers are compared as text, since a shell has those of 64 bits with a sign only.
    static let integer: [String] =
        """
        # Whether the integer $1 is below $2, by eight digits at a time, since mksh calculates in 32 bits.
        _p_below() {
            case $1:$2 in
            -*:-*) set -- "${2#-}" "${1#-}" ;;
            -*) return 0 ;;
            *:-*) return 1 ;;
            esac
            if [ "${#1}" -ne "${#2}" ]; then
                [ "${#1}" -lt "${#2}" ]
                return
            fi
            while [ "${#1}" -gt 8 ]; do
                set -- "${1#????????}" "${2#????????}" "$1" "$2"
                set -- "$1" "$2" "1${3%"$1"}" "1${4%"$2"}"
                if [ "$3" != "$4" ]; then
                    [ "$3" -lt "$4" ]
                    return
                fi
            done
            [ "1$1" -lt "1$2" ]
        }
        _p_integer() {
            _p_value=${1#[-+]}
            _p_limit=18446744073709551615 _p_sign=''
            case $1 in -*) _p_limit=9223372036854775808 _p_sign=- ;; esac
            case $_p_value in
            0[xX]*)
                _p_value=${_p_value#0?}
                case $_p_value in ''|*[!0-9a-fA-F]*) return 1 ;; esac
                while :; do case $_p_value in 0?*) _p_value=${_p_value#0} ;; *) break ;; esac; done
                if [ "${#_p_value}" -gt 16 ]; then return 1; fi
                _p_value=$(printf %u "0x$_p_value") ;;
            ''|*[!0-9]*) return 1 ;;
            esac
            while :; do case $_p_value in 0?*) _p_value=${_p_value#0} ;; *) break ;; esac; done
            if _p_below "$_p_limit" "$_p_value"; then return 1; fi
            if [ "$_p_value" != 0 ]; then _p_value=$_p_sign$_p_value; fi
        }
        """.shellLines

    static let abbreviating: [String] =
        """
        # Finds which of the long flags after $1 it abbreviates, unless it is a flag of the command itself. One of a
        # command that is not chosen is meant only if it abbreviates none.
        _p_complete() {
            case $1:$_p_kind in --:*) return 0 ;; *:|*:misplaced*|*:default) ;; *) return 0 ;; esac
            _p_text=$1 _p_other=$_p_kind _p_first='' _p_names='' _p_last='' _p_effects=$_p_line _p_number=0
            shift
            for _p_part in "$@"; do
                case $_p_part in "$_p_text"*) _p_flag "$_p_part" ;; *) continue ;; esac
                _p_effect=$_p_kind:$_p_key:$_p_fixed
                case $_p_effects in *"$_p_line$_p_effect$_p_line"*) continue ;; esac
                _p_effects=$_p_effects$_p_effect$_p_line
                if [ -z "$_p_first" ]; then _p_first=$_p_part; fi
                _p_number=$((_p_number + 1))
                if [ "$_p_number" -gt 10 ]; then continue; fi
                _p_names=$_p_names${_p_last:+${_p_names:+, }$_p_last} _p_last=$_p_part
            done
            if [ "$_p_number" -eq 1 ]; then _p_flag "$_p_first"; else
                _p_flag "$_p_text"
                case $_p_number:$_p_other in 0:*|*:default) ;; *) _p_kind=ambiguous _p_fixed="$_p_names or $_p_last" ;; esac
            fi
        }
        """.shellLines

    static let wordsForNo = "[Ff][Aa][Ll][Ss][Ee]|[Nn][Oo]|[Oo][Ff][Ff]|0"

    static let boolean: [String] =
        """
        _p_boolean() {
            case $1 in
            [Tt][Rr][Uu][Ee]|[Yy][Ee][Ss]|[Oo][Nn]|1) _p_value=true ;;
            \(wordsForNo)) _p_value=false ;;
            *) return 1 ;;
            esac
        }
        """.shellLines

    /// Sets settings whose variables begin with a prefix.
    static func converting(_ prefix: String) -> [String] {
        """
        # Sets the setting $1 to the text $2 from $3, converted by the function $4. If it cannot be, the reason is $5, and
        # there is no value but an earlier one.
        _p_convert() {
            if "$4" "$2"; then eval "\(prefix)$1=\\$_p_value _p_new_$1=1"; else
                eval "if [ -z \\"\\$_p_at_$1\\" ]; then \(prefix)$1=''; fi"
                _p_fail "$3 ${2:-\\"\\"}: $5"
            fi
            eval "_p_at_$1=\\$3 _p_text_$1=\\$2"
        }
        """.shellLines
    }

    /// The elements of a text between separators.
    static let splitting: [String] =
        #"""
        # Quotes the parts of the text $1 between separators $2 as words. Each is converted by the function $3.
        _p_split() {
            _p_tail=$1 _p_parts=''
            while [ -n "$1" ]; do
                _p_value=${_p_tail%%"$2"*}
                if [ -n "$3" ]; then "$3" "$_p_value" || return 1; fi
                _p_quote "$_p_value"
                _p_parts="$_p_parts${_p_parts:+ }$_p_value"
                case $_p_tail in *"$2"*) _p_tail=${_p_tail#*"$2"} ;; *) break ;; esac
            done
            _p_value=$_p_parts
        }
        """#.shellLines

    static let pairing: [String] =
        #"""
        # Quotes the pairs after $1 as words. The pair $1 replaces the one with its key, or is the last one.
        _p_pair() {
            _p_added=$1 _p_found='' _p_parts=''
            shift
            for _p_part in "$@"; do
                if [ "${_p_part%%=*}" = "${_p_added%%=*}" ]; then _p_part=$_p_added _p_found=1; fi
                _p_quote "$_p_part"
                _p_parts="$_p_parts${_p_parts:+ }$_p_value"
            done
            if [ -z "$_p_found" ]; then
                _p_quote "$_p_added"
                _p_parts="$_p_parts${_p_parts:+ }$_p_value"
            fi
            _p_value=$_p_parts
        }
        """#.shellLines

    /// Pairs as the contents of an associative array.
    static func fields(_ output: ScriptOutput) -> [String] {
        let key = output == .bash ? "[$_p_value]=" : "$_p_value "
        return """
            _p_fields() {
                _p_parts=''
                for _p_part in "$@"; do
                    _p_quote "${_p_part%%=*}"
                    _p_parts="$_p_parts \(key)"
                    _p_quote "${_p_part#*=}"
                    _p_parts=$_p_parts$_p_value
                done
                _p_value=$_p_parts
            }
            """.shellLines
    }

    static let differing: [String] =
        #"""
        # Whether all arguments differ.
        _p_differ() {
            _p_parts=''
            for _p_part in "$@"; do
                _p_quote "$_p_part"
                case "$_p_parts " in *" $_p_value "*) return 1 ;; esac
                _p_parts="$_p_parts $_p_value"
            done
        }
        """#.shellLines

    /// Quotes its arguments as words, in place of an array.
    static let quoting: [String] =
        #"""
        _p_quote() {
            _p_value=''
            for _p_word in "$@"; do
                _p_quoted=''
                while :; do
                    case $_p_word in
                    *\'*)
                        _p_quoted=$_p_quoted${_p_word%%\'*}"'\\''"
                        _p_word=${_p_word#*\'} ;;
                    *) break ;;
                    esac
                done
                _p_value="$_p_value${_p_value:+ }'$_p_quoted$_p_word'"
            done
        }
        """#.shellLines
}

extension String {
    /// The line with a tab for each four spaces before it, which takes less space.
    var indentedByTabs: String {
        let spaces = prefix { $0 == " " }.count
        return String(repeating: "\t", count: spaces / 4) + dropFirst(spaces / 4 * 4)
    }

    /// The lines of shell code without empty ones.
    var shellLines: [String] { split(separator: "\n").filter { $0.contains { $0 != " " } }.map(String.init) }
}
