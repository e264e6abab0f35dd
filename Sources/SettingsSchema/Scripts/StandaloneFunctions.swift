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
