internal import PropertyLists
internal import SettingsSchema

/// The shell scripts that call the command's own `__complete`, which answers from the table of verbs and the store.
///
/// The scripts contain nothing from that table, so an installed script never becomes outdated.
package enum CompletionScript: String, Hashable, Sendable, CaseIterable {
    case bash, zsh, fish
}

extension CompletionScript {
    /// The names of the command that the scripts are for.
    package static let programs = [Prefs.name, "defaults", "plutil", "PlistBuddy"]

    /// Returns the script for one of the command's names.
    ///
    /// The first line of an answer states what to offer: `words` only, or `files` or `folders` too.
    package func text(for program: String) -> String {
        let text =
            switch self {
            case .bash: Self.bashText
            case .zsh: Self.zshText
            case .fish: Self.fishText
            }
        return text.replacing(Prefs.name, with: program)
    }

    /// The script for `prefs`.
    package var text: String { text(for: Prefs.name) }

    private static let bashText = #"""
        # Completion of prefs, for bash.
        _prefs() {
            local rest=${COMP_LINE:0:COMP_POINT} words=() word i kind candidate current head=
            # Bash also splits words at colons, equals signs and at signs; rejoin parts without a space between them.
            for ((i = 0; i <= COMP_CWORD; i++)); do
                word=${COMP_WORDS[i]}
                if ((i > 0)) && [[ $rest != [[:space:]]* ]]; then
                    words[${#words[@]} - 1]+=$word
                else
                    words+=("$word")
                fi
                rest=${rest#"${rest%%[![:space:]]*}"}
                rest=${rest#"$word"}
            done
            current=${words[${#words[@]} - 1]}
            # The text before the last split is already on the line. An at sign is replaced with the text after it.
            if [[ $current == *[:=@]* ]]; then head=${current%"${current##*[:=@]}"}; fi
            head=${head%@}
            COMPREPLY=()
            {
                read -r kind
                while IFS= read -r candidate; do
                    printf -v candidate %q "${candidate%%$'\t'*}"
                    COMPREPLY+=("${candidate#"$head"}")
                done
            } < <(prefs __complete bash "${words[@]:1}" 2> /dev/null)
            if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *: ]]; then compopt -o nospace 2> /dev/null; fi
            case $kind in
                files)
                    compopt -o filenames 2> /dev/null
                    while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "$current")
                    ;;
                folders)
                    compopt -o filenames 2> /dev/null
                    while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -d -- "$current")
                    ;;
            esac
        }
        complete -F _prefs prefs

        """#

    private static let zshText = #"""
        #compdef prefs
        # Completion of prefs, for zsh.
        _prefs() {
            local kind line
            local -a lines names shown
            lines=("${(@f)$(prefs __complete zsh "${(@Q)words[2,CURRENT]}" 2> /dev/null)}")
            kind=$lines[1]
            for line in "${(@)lines[2,-1]}"; do
                names+=("${line%%$'\t'*}")
                shown+=("${line/$'\t'/  -- }")
            done
            if (( $#names )); then compadd -l -d shown -a names; fi
            case $kind in
                files) _files ;;
                folders) _files -/ ;;
            esac
        }
        if [ "$funcstack[1]" = "_prefs" ]; then
            _prefs "$@"
        else
            compdef _prefs prefs
        fi

        """#

    private static let fishText = #"""
        # Completion of prefs, for fish.
        function __prefs_complete
            set -l words (commandline -opc)
            set -l token (commandline -ct)
            set -l lines (prefs __complete fish $words[2..-1] "$token" 2> /dev/null)
            switch "$lines[1]"
                case files
                    __fish_complete_path "$token"
                case folders
                    __fish_complete_directories "$token"
            end
            if set -q lines[2]
                string join \n -- $lines[2..-1]
            end
        end
        complete -c prefs -f -a '(__prefs_complete)'

        """#
}

/// Quoting for POSIX shells.
package enum ShellWord {
    /// Returns the word that any shell reads as `text`, which must not contain a NUL. Only bash, zsh and ksh can read
    /// bytes that are not valid UTF-8.
    package static func quoted(_ text: String) -> String {
        if ByteText.holdsRaw(text) { return visibleLine([text]) }
        return !text.isEmpty && text.utf8.allSatisfy(isPlain) ? text : ShellQuoting.word(text)
    }

    /// Returns the line that a shell reads as `words`.
    package static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    /// Returns whether a byte has no special meaning in any shell, at any position in a word.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-_./:,@%+".utf8.contains(byte)
        }
    }
}

extension ShellWord {
    /// Returns the text of a typed word, which may be incomplete. Expansions are not performed.
    package static func unquoted(_ word: String) -> String {
        var result = ""
        var quote: Unicode.Scalar?
        var rest = word.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch (scalar, quote) {
            case ("'", nil), ("\"", nil): quote = scalar
            case ("'", "'"), ("\"", "\""): quote = nil
            case ("\\", nil): if let next = rest.popFirst() { result.unicodeScalars.append(next) }
            case ("\\", "\"") where rest.first.map { "\"\\$`".unicodeScalars.contains($0) } ?? false:
                result.unicodeScalars.append(rest.removeFirst())
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
