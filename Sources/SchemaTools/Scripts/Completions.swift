internal import PropertyLists
internal import Queries
package import SettingsSchema

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
        /// The completions for each operand. The last element is also for all further operands.
        let operands: [Values]
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

        /// The title on one line.
        var shownTitle: String { String(title.printable.prefix { !$0.isNewline }) }
    }

    enum Values: Equatable {
        case words([Word])
        /// Files whose names have one of these endings; all if there are none.
        case files(endings: [String])
        case folders
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
                    : [
                        .words(
                            inner.filter { !$0.isHidden }.map {
                                Word(text: $0.name, title: $0.title ?? $0.summary ?? "")
                            })
                    ])
        }
    }

    private static func flags(of settings: [SettingDeclaration], _ schema: Schema, _ command: String?) -> [Flag] {
        let own = settings.flatMap { setting -> [Flag] in
            let title = setting.title ?? setting.summary ?? ""
            if setting.hasSecrets {
                return setting.secretFlags.map {
                    Flag(
                        names: ["--\($0.name)"], title: title,
                        values: $0.source == .file ? .files(endings: []) : .nothing)
                }
            }
            let names = setting.allFlags.map { "--\($0)" } + setting.shorts.map { "-\($0)" }
            let setters = setting.flagValues.filter { !$0.isHidden }.map {
                Flag(names: [$0.flag], title: $0.title ?? $0.summary ?? title, values: nil)
            }
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
                let short = schema.letter(of: flag, in: command).map { ["-\($0)"] } ?? []
                let values: Values? =
                    switch flag {
                    case .set: .words(assignments(settings))
                    case .reset: .words(settings.filter { !$0.isTransient }.map { Word(text: $0.key) })
                    default: nil
                    }
                return Flag(
                    names: ["--\(schema.name(of: flag, in: command))"] + short, title: flag.title, values: values,
                    isValueOptional: flag.isValueOptional)
            }
    }

    private static func assignments(_ settings: [SettingDeclaration]) -> [Word] {
        settings.filter { !$0.hasSecrets }.map { Word(text: "\(EntryPath([.init($0.key)]))=") }
    }

    private static func operands(of settings: [SettingDeclaration], isAllowed: Bool) -> [Values] {
        let places = settings.takingOperands
        guard !places.isEmpty else { return [isAllowed ? .files(endings: []) : .nothing] }
        // After one that takes many, an operand can belong to any of those that follow.
        let single = places.prefix { !$0.takesManyOperands }
        let many = places.dropFirst(single.count).map(values)
        let words = many.flatMap(\.words)
        let last: [Values] =
            words.isEmpty || many.contains { $0.words.isEmpty } ? Array(many.prefix(1)) : [.words(words)]
        return single.map(values) + (many.isEmpty ? [.nothing] : last)
    }

    private static func values(of setting: SettingDeclaration) -> Values {
        let rule = setting.rule.ofElements
        if let command = rule.choicesFrom { return .lines(command) }
        if !rule.choices.isEmpty {
            let isTitled = rule.choiceTitles.count == rule.choices.count
            return .words(rule.choices.map { Word(text: $0.plainText, title: isTitled ? rule.title(of: $0) : "") })
        }
        if rule.type == .boolean { return .words([Word(text: "true"), Word(text: "false")]) }
        if case .entries(let entries) = setting.rule.contents {
            return .words(entries.map { Word(text: "\($0.key)=", title: $0.title ?? "") })
        }
        if setting.takesEntries {
            let keys = setting.defaultValue?.dictionaryValue?.map(\.key) ?? []
            return keys.isEmpty ? .nothing : .words(keys.map { Word(text: "\($0)=") })
        }
        let files = Values.files(endings: rule.pattern?.endings ?? [])
        guard let kind = rule.kind else { return rule.type == .string ? files : .nothing }
        return switch kind.target {
        case .file: files
        case .folder: .folders
        case nil: .nothing
        }
    }
}

extension Pattern {
    /// The endings of the texts that match, if the pattern allows any text before one of a few endings such as `.toml`.
    fileprivate var endings: [String]? {
        guard text.hasPrefix(".*\\.") || text.hasPrefix(".+\\.") else { return nil }
        var names = text.dropFirst(4)
        if names.hasPrefix("("), names.hasSuffix(")") { names = names.dropFirst().dropLast() }
        let isPlain = names.allSatisfy { $0 == "|" || $0.isASCII && ($0.isLetter || $0.isNumber) }
        // Without parentheses, a bar would separate whole patterns.
        guard isPlain, !names.isEmpty, !names.contains("|") || text.hasSuffix(")") else { return nil }
        return names.split(separator: "|").map { ".\($0)" }
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

// The scripts for bash and zsh work alike: they look for the command among the words and choose the completions by the
// word before the cursor. Neither evaluates the words it offers.
extension Completions {
    func bash(_ program: String) -> String {
        let function = Self.function(program)
        return """
            # Completions of \(Self.comment(program)) for bash.
            \(function)() {
                local rest=${COMP_LINE:0:COMP_POINT} last=${COMP_WORDS[COMP_CWORD]} command='' prefix='' ended='' taken='' word i
                local -i operand=0
                local current previous head
                local -a given=() words=()
                # Bash also splits words at colons and equals signs; rejoin parts without a space between them.
                for ((i = 0; i <= COMP_CWORD; i++)); do
                    word=${COMP_WORDS[i]}
                    if ((i > 0)) && [[ $rest != [[:space:]]* ]]; then given[${#given[@]} - 1]+=$word
                    else given+=("$word")
                    fi
                    rest=${rest#"${rest%%[![:space:]]*}"}
                    rest=${rest#"$word"}
                done
                COMPREPLY=()
                ((${#given[@]} > 1)) || return 0
                current=${given[${#given[@]} - 1]} previous=${given[${#given[@]} - 2]}
                # The text before the last split is already on the line. An at sign is replaced with the text after it.
                if [[ $last == [:=]* ]]; then last=''; fi
                head=${current%"$last"} head=${head%@}
                for word in "${given[@]:1:${#given[@]}-2}"; do
            \(indented(wordSearch, by: 8))
                done
            \(indented(unbundling("previous"), by: 4))
                # No flag is called --, which stands for the place after it.
                if [[ $ended ]]; then previous=--
                elif [[ $current == -*=* ]]; then
                    previous=${current%%=*}= prefix=${current%%=*}= current=${current#*=}
                fi
                case "$command:$previous" in
            \(indented(cases { Self.bashWords($0) }, by: 4))
                esac
                for word in "${words[@]}"; do
                    [[ $word == "$current"* ]] || continue
                    word=$prefix$word
                    word=${word#"$head"}
                    [[ -n $word ]] || continue
                    printf -v word %q "$word"
                    COMPREPLY+=("$word")
                done
            }
            complete -o default -F \(function) \(ShellQuoting.word(program))

            """
    }

    private static func bashWords(_ values: Values) -> String {
        switch values {
        case .words(let words): "words=(\(words.map { ShellQuoting.word($0.text) }.joined(separator: " ")))"
        case .lines(let command): "mapfile -t words < <(\(limited(ShellQuoting.word(command))))"
        case .files(let endings) where endings.isEmpty: "return"
        case .files(let endings):
            "mapfile -t COMPREPLY < <(compgen -d -- \"$current\"; "
                + endings.map { "compgen -f -X '!*\($0)' -- \"$current\"" }.joined(separator: "; ")
                + "); compopt -o filenames 2>/dev/null; return"
        case .folders: "compopt -o dirnames 2>/dev/null; return"
        case .nothing: "compopt +o default 2>/dev/null; return"
        }
    }

    /// Returns code that runs a quoted command of the script without input, for two seconds and 64 KiB.
    private static func limited(_ command: String) -> String {
        "timeout 2 sh -c \(command) </dev/null 2>/dev/null | head -c 65536"
    }

    func zsh(_ program: String) -> String {
        // The name of the file from which zsh autoloads the function.
        let function = "_" + ShellName.variable(for: program, prefix: "")
        return """
            #compdef \(program.isFlagName ? program : ShellQuoting.word(Self.comment(program)))
            # Completions of \(Self.comment(program)) for zsh.
            \(function)() {
                local previous=${words[CURRENT-1]} command='' ended='' taken='' word
                local -i operand=0
                local -a offered shown
                for word in "${(@)words[2,CURRENT-1]}"; do
            \(indented(wordSearch, by: 8))
                done
            \(indented(unbundling("previous"), by: 4))
                # No flag is called --, which stands for the place after it.
                if [[ -n $ended ]]; then previous=--
                elif [[ ${words[CURRENT]} == --*=* ]]; then
                    previous=${words[CURRENT]%%=*}=
                    compset -P '*='
                fi
                case "$command:$previous" in
            \(indented(cases { Self.zshWords($0) }, by: 4))
                esac
                if (( ${#shown} )); then compadd -l -d shown -a offered; else compadd -a offered; fi
            }
            if [ "$funcstack[1]" = \(ShellQuoting.word(function)) ]; then \(function) "$@"
            else compdef \(function) \(ShellQuoting.word(program))
            fi

            """
    }

    private static func zshWords(_ values: Values) -> String {
        switch values {
        case .words(let words):
            "offered=(\(words.map { ShellQuoting.word($0.text) }.joined(separator: " ")))\(shown(words))"
        case .lines(let command): "offered=(\"${(@f)$(\(limited(ShellQuoting.word(command))))}\")"
        case .files(let endings) where endings.isEmpty: "_files; return"
        case .files(let endings): "_files -g '*(\(endings.joined(separator: "|")))'; return"
        case .folders: "_files -/; return"
        case .nothing: "return"
        }
    }

    /// The words with their descriptions, as zsh lists them.
    private static func shown(_ words: [Word]) -> String {
        guard words.contains(where: { !$0.title.isEmpty }) else { return "" }
        let width = words.map(\.text.columns).max() ?? 0
        let lines = words.map { word in
            let title = word.title.isEmpty ? "" : "  -- \(word.shownTitle)"
            return ShellQuoting.word(title.isEmpty ? word.text : word.text.padded(to: width) + title)
        }
        return " shown=(\(lines.joined(separator: " ")))"
    }

    /// The lines that examine a word before the cursor: the value of a flag, an operand, a command, or a flag that
    /// takes the next word.
    private var wordSearch: [String] {
        let commands = commandWords.map { words, command in
            "\(words.map { ShellQuoting.word($0) }.joined(separator: "|"))) command=\(ShellQuoting.word(command)) operand=0 ;;"
        }
        let flags = flagsWithValue.map { "\($0.map { ShellQuoting.word($0) }.joined(separator: "|"))) taken=$word ;;" }
        func choice(_ arms: [String]) -> [String] { ["case \"$command:$word\" in"] + arms + ["esac"] }
        return [
            "if [[ $taken && $word != -* ]]; then", "    taken=''", "    continue", "fi",
            "taken=''", "if [[ $word == -- && -z $ended ]]; then", "    ended=1", "    continue", "fi",
            "if [[ $ended || $word != -?* ]]; then",
        ] + (commands.isEmpty ? ["operand+=1"] : choice(commands + ["*) operand+=1 ;;"])).map { "    " + $0 }
            + ["    continue", "fi"] + unbundling("word") + (flags.isEmpty ? [] : choice(flags))
    }

    /// For each command, the words that choose it, each after the command that contains it and a colon.
    private var commandWords: [(words: [String], command: String)] {
        contexts.compactMap { context in
            guard let command = context.command, let names = context.path.last else { return nil }
            let parent = command.split(separator: " ").dropLast().joined(separator: " ")
            return (names.map { "\(parent):\($0)" }, command)
        }
    }

    /// For each command, the flags that take the next word, each after the command and a colon.
    private var flagsWithValue: [[String]] {
        contexts.map { context in
            context.flags.filter { $0.values != nil && !$0.isValueOptional }.flatMap(\.names).map {
                "\(context.command ?? ""):\($0)"
            }
        }.filter { !$0.isEmpty }
    }

    /// Returns the line that removes the letters without values from `-vk`, so that `-k` is left.
    private func unbundling(_ variable: String) -> [String] {
        let flags = contexts.flatMap(\.flags)
        func letters(_ flags: [Flag]) -> Set<Character> {
            Set(flags.flatMap(\.names).filter { $0.count == 2 }.compactMap(\.last))
        }
        let switches = letters(flags.filter { $0.values == nil }).subtracting(
            letters(flags.filter { $0.values != nil }))
        guard !switches.isEmpty else { return [] }
        let pattern = "-[\(String(switches.sorted()))]?*"
        return ["while [[ $\(variable) == \(pattern) ]]; do \(variable)=-${\(variable):2}; done"]
    }

    /// Returns the `case` branches for each command and flag, then those without a flag.
    private func cases(_ words: (Values) -> String) -> [String] {
        contexts.flatMap { context -> [String] in
            let command = context.command ?? ""
            let valued = context.flags.compactMap { flag -> String? in
                guard let values = flag.values else { return nil }
                // An equals sign ends the flag of a value in the same word.
                let ends = flag.isValueOptional ? ["="] : ["", "="]
                let patterns = flag.names.flatMap { name in
                    ends.map { ShellQuoting.word("\(command):\(name)\($0)") }
                }
                return "\(patterns.joined(separator: "|"))) \(words(values)) ;;"
            }
            let ended = "\(ShellQuoting.word("\(command):--"))) \(atPlace(context.operands, words)) ;;"
            let flags = ShellQuoting.word("\(command):") + "*"
            return valued + [ended, "\(flags)) \(otherwise(context, words)) ;;"]
        }
    }

    /// Returns the completions for flags, if the word begins like one, or for operands.
    private func otherwise(_ context: Context, _ words: (Values) -> String) -> String {
        let flags = context.flags.flatMap { flag in flag.names.map { Word(text: $0, title: flag.title) } }
        let current = words(.files(endings: [])) == "return" ? "$current" : "${words[CURRENT]}"
        return "if [[ \(current) == -* ]]; then \(words(.words(flags))); else \(atPlace(context.operands, words)); fi"
    }

    /// Returns the completions for the operand at the cursor.
    private func atPlace(_ operands: [Values], _ words: (Values) -> String) -> String {
        guard let last = operands.last, operands.count > 1 else { return operands.first.map(words) ?? ":" }
        let arms = operands.dropLast().enumerated().map { "\($0.offset)) \(words($0.element)) ;;" }
        return "case $operand in \(arms.joined(separator: " ")) *) \(words(last)) ;; esac"
    }

    // MARK: fish

    func fish(_ program: String) -> String {
        let name = ShellQuoting.fishWord(program)
        let function = Self.function(program) + "_at"
        var lines = ["# Completions of \(Self.comment(program)) for fish."]
        if contexts.contains(where: { $0.operands.count > 1 }) { lines += placeInFish(function) }
        for context in contexts {
            var tests = context.path.map { "__fish_seen_subcommand_from \(Self.fishList($0))" }
            if !context.inner.isEmpty {
                tests.append("not __fish_seen_subcommand_from \(Self.fishList(context.inner))")
            }
            let condition = tests.isEmpty ? "" : " -n \(ShellQuoting.fishWord(tests.joined(separator: "; and ")))"
            lines += context.flags.map { "complete -c \(name)\(condition)\(Self.fish($0))" }
            guard context.operands.count > 1 else {
                lines += context.operands.map { "complete -c \(name)\(condition)\(Self.fishWords($0))" }
                continue
            }
            lines += context.operands.enumerated().map { place, values in
                let isLast = place == context.operands.count - 1
                let test =
                    "\(function) \(ShellQuoting.fishWord(context.command ?? "")) \(place)\(isLast ? " more" : "")"
                return "complete -c \(name) -n \(ShellQuoting.fishWord(test))\(Self.fishWords(values))"
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns a function that tells whether the cursor is at an operand of a command, which has a number from 0 on.
    /// With a third argument, it is also true for later operands.
    private func placeInFish(_ function: String) -> [String] {
        func arms(_ words: [[String]], _ action: (Int) -> String) -> [String] {
            words.enumerated().flatMap { ["case \(Self.fishList($0.element))", "    \(action($0.offset))"] }
        }
        let commands = commandWords
        let chosen = arms(commands.map(\.words)) {
            "set command \(ShellQuoting.fishWord(commands[$0].command)); set place 0"
        }
        let flags = arms(flagsWithValue) { _ in "set taken 1" }
        return """
            function \(function)
                set -l command ''
                set -l place 0
                set -l taken ''
                set -l ended ''
                set -l words (commandline -opc)
                for word in $words[2..-1]
                    if test -n "$taken"; and not string match -q -- '-*' $word
                        set taken ''
                        continue
                    end
                    set taken ''
                    if test "$word" = --; and test -z "$ended"
                        set ended 1
                        continue
                    end
                    if test -n "$ended"; or not string match -q -r -- '^-.' $word
                        switch "$command:$word"
            \(indented(chosen + ["case '*'", "    set place (math $place + 1)"], by: 12))
                        end
                        continue
                    end
                    switch "$command:$word"
            \(indented(flags + ["case '*'"], by: 8))
                    end
                end
                test "$command" = "$argv[1]"; and begin
                    test $place -eq $argv[2]; or test $place -ge $argv[2] -a -n "$argv[3]"
                end
            end
            """.split(separator: "\n").map(String.init)
    }

    private static func fishList(_ words: [String]) -> String {
        words.map { ShellQuoting.fishWord($0) }.joined(separator: " ")
    }

    private static func fish(_ flag: Flag) -> String {
        let names = flag.names.map { name in
            name.hasPrefix("--")
                ? " -l \(ShellQuoting.fishWord(String(name.dropFirst(2))))"
                : " -s \(ShellQuoting.fishWord(String(name.dropFirst())))"
        }
        let title = flag.title.isEmpty ? "" : " -d \(ShellQuoting.fishWord(flag.title))"
        return names.joined() + (flag.values.map { (flag.isValueOptional ? "" : " -r") + fishWords($0) } ?? "") + title
    }

    /// Quoted twice, because fish evaluates the words when it offers them.
    private static func fishWords(_ values: Values) -> String {
        switch values {
        case .words(let words):
            " -f -a \(ShellQuoting.fishWord(words.map { fishWord($0) }.joined(separator: " ")))"
        case .lines(let command):
            " -f -a \(ShellQuoting.fishWord("(\(limited(ShellQuoting.fishWord(command))))"))"
        case .files(let endings) where endings.isEmpty: " -F"
        case .files(let endings):
            " -f -a '(\(endings.map { "__fish_complete_suffix \($0)" }.joined(separator: "; ")))'"
        case .folders: " -f -a '(__fish_complete_directories (commandline -ct))'"
        case .nothing: " -f"
        }
    }

    /// A word with its description after a tab.
    private static func fishWord(_ word: Word) -> String {
        let title = word.shownTitle
        return ShellQuoting.fishWord(word.text) + (title.isEmpty ? "" : "\\t" + ShellQuoting.fishWord(title))
    }

    // MARK: Helpers

    /// Returns the name of the shell function that completes a program.
    private static func function(_ program: String) -> String {
        "_" + ShellName.variable(for: program, prefix: "") + "_completions"
    }

    /// Returns text for a comment, without line breaks, which would end it.
    private static func comment(_ text: String) -> String { String(text.map { $0.isNewline ? " " : $0 }) }

    private func indented(_ lines: [String], by width: Int) -> String {
        let padding = String(repeating: " ", count: width)
        return lines.map { padding + $0 }.joined(separator: "\n")
    }
}
