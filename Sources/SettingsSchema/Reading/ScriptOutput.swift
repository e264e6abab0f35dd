internal import PropertyLists

/// The formats in which values are passed to a script.
package enum ScriptOutput: String, Hashable, Sendable, CaseIterable {
    case bash, zsh, fish, sh, json
    /// `NAME=VALUE` records, each ended by a NUL.
    case nul

    /// The shells with completion scripts.
    package static let completing: [ScriptOutput] = [.bash, .zsh, .fish]

    /// Returns the shell that a script's first line names, or nil if it is not supported.
    package init?(firstLine: some StringProtocol) {
        guard firstLine.hasPrefix("#!") else { return nil }
        let words = String(firstLine).dropFirst(2).split(whereSeparator: \.isWhitespace)
        let names = words.map { word in word.split(separator: "/" as Character).last.map { String($0) } ?? "" }
        // Skips `env`, `busybox`, options and assignments, as in `env -S bash -e`.
        let named = names.first { $0 != "env" && $0 != "busybox" && !$0.hasPrefix("-") && !$0.contains("=") }
        switch named {
        case "bash", "rbash": self = .bash
        case "zsh": self = .zsh
        case "fish": self = .fish
        case "sh", "dash", "ash", "ksh", "mksh", "yash", "posh": self = .sh
        default: return nil
        }
    }
}

extension ScriptOutput {
    /// Returns code that ends the script with a status.
    package func exit(_ status: Int32) -> String {
        switch self {
        case .bash, .zsh, .sh: "exit \(status)\n"
        case .fish: "exit \(status);\n"
        case .json, .nul: ""
        }
    }

    /// Returns code that writes a text to the script's standard output and ends the script.
    ///
    /// The script evaluates this program's output instead of showing it.
    package func printing(_ text: String, thenExit status: Int32) -> String {
        guard self != .json, self != .nul else { return text }
        let end = self == .fish ? ";\n" : "\n"
        return "printf '%s' \(ShellQuoting.word(text, for: self))\(end)\(exit(status))"
    }
}

/// The reason values cannot be passed to a script.
package enum ScriptFailure: Error, Hashable, Sendable {
    /// Several keys map to the same variable.
    case clash([String], variable: String)
    /// The shell reserves this variable.
    case reserved(key: String, variable: String)
    /// A value contains a NUL, which a variable cannot hold.
    case nul(key: String)
    /// A value is not valid UTF-8, which the output cannot hold.
    case notText(key: String)
    /// The prefix is not a valid start of a variable name.
    case invalidPrefix(String)
}

extension ScriptFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .clash(let keys, let variable):
            "the settings \(listed(keys.map { shortened($0) })) would all become the variable \(shortened(variable))"
        case .reserved(let key, let variable):
            "the shell reserves the variable \(shortened(variable)); use --prefix for the setting \(shortened(key))"
        case .nul(let key): "the value of \(shortened(key)) contains a NUL, which a variable cannot hold"
        case .notText(let key): "the value of \(shortened(key)) is not valid UTF-8, which JSON cannot hold"
        case .invalidPrefix(let prefix): "\(shortened(prefix)) is not a valid start of a variable name"
        }
    }
}

/// The mapping from keys to shell variables.
package enum ShellName {
    /// Returns the variable for a key: other characters than ASCII letters, digits and underscores become underscores,
    /// and an underscore precedes a leading digit.
    package static func variable(for key: String, prefix: String) -> String {
        var name = ""
        for scalar in (prefix + key).unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_": name.unicodeScalars.append(scalar)
            default: name += "_"
            }
        }
        guard let first = name.unicodeScalars.first, !("0"..."9" ~= first) else { return "_" + name }
        return name
    }

    /// Returns the variables for keys. Throws if two are the same or one is reserved.
    package static func variables(
        for keys: [String], prefix: String, output: ScriptOutput
    ) throws(ScriptFailure) -> [String] {
        guard prefix.isEmpty || prefix.isVariableName else { throw .invalidPrefix(prefix) }
        let names = keys.map { variable(for: $0, prefix: prefix) }
        var first: [Name: Int] = [:]
        for (index, name) in names.enumerated() {
            if isReserved(name, in: output) { throw .reserved(key: keys[index], variable: name) }
            guard first.updateValue(index, forKey: Name(name)) == nil else {
                throw .clash(zip(keys, names).filter { $0.1 == name }.map(\.0), variable: name)
            }
        }
        return names
    }

    package static func isReserved(_ name: String, in output: ScriptOutput) -> Bool {
        guard output != .json, output != .nul else { return false }
        if everywhere.contains(name) || beginnings.contains(where: name.hasPrefix) { return true }
        switch output {
        case .zsh: return zsh.contains(name)
        case .fish: return fish.contains(name)
        default: return false
        }
    }

    /// Variables that one of the shells sets, makes read-only, or uses to control its behavior.
    private static let everywhere: Set = [
        "_", "ARGC", "CDPATH", "COLUMNS", "DIRSTACK", "EGID", "ENV", "EPOCHREALTIME", "EPOCHSECONDS", "ERRNO", "EUID",
        "EXECIGNORE",
        "FCEDIT", "FIGNORE", "FPATH", "FUNCNAME", "FUNCNEST", "GID", "GLOBIGNORE", "GROUPS", "HISTCHARS", "HISTCMD",
        "HISTCONTROL", "HISTFILE", "HISTSIZE", "HOME", "HOSTNAME", "HOSTTYPE", "IFS", "IGNOREEOF", "KEYTIMEOUT", "LANG",
        "LINENO", "LINES", "LISTMAX", "LOGNAME", "MACHTYPE", "MAIL", "MAILCHECK", "MAILPATH", "MAPFILE", "MODULE_PATH",
        "NULLCMD", "OLDPWD", "OPTARG", "OPTERR", "OPTIND", "OSTYPE", "PATH", "PIPESTATUS", "POSIXLY_CORRECT", "PPID",
        "PROMPT", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS3", "PS4", "PWD", "RANDOM", "READNULLCMD", "REPLY",
        "SAVEHIST",
        "SECONDS", "SHELL", "SHELLOPTS", "SHLVL", "SPROMPT", "SRANDOM", "TERM", "TIMEFMT", "TIMEFORMAT", "TMOUT",
        "TMPPREFIX", "TTY", "TTYIDLE", "UID", "USERNAME", "VENDOR", "WATCH", "WORDCHARS", "ZDOTDIR",
    ]

    private static let beginnings = [
        "BASH", "COMP_", "FISH_", "LC_", "LD_", "ZSH_", "__fish", "__prefs_", "_p_", "fish_",
    ]

    private static let zsh: Set = [
        "aliases", "argv", "builtins", "cdpath", "commands", "dirstack", "fignore", "fpath", "funcfiletrace",
        "funcsourcetrace", "funcstack", "functions", "functrace", "galiases", "histchars", "history", "historywords",
        "jobdirs", "jobstates", "jobtexts", "keymaps", "mailpath", "manpath", "match", "mbegin", "mend", "module_path",
        "modules", "nameddirs", "options", "parameters", "patchars", "path", "pipestatus", "prompt", "psvar", "reply",
        "reswords", "saliases", "signals", "status", "termcap", "terminfo", "userdirs", "usergroups", "watch",
        "widgets",
        "zle_bracketed_paste", "zsh_eval_context", "zsh_scheduled_events",
    ]

    private static let fish: Set = [
        "argv", "history", "hostname", "last_pid", "pid", "pipestatus", "status", "status_generation", "umask",
        "version",
    ]
}

/// Quotes text for shell source, so that it is always taken literally.
package enum ShellQuoting {
    /// Returns one word for POSIX shells, bash and zsh. Within single quotes, only a single quote is special.
    package static func word(_ text: String) -> String {
        var result = "'"
        // By Unicode scalar, since Swift combines a quote and a following combining mark into one character.
        for scalar in text.unicodeScalars {
            if scalar == "'" { result += "'\\''" } else { result.unicodeScalars.append(scalar) }
        }
        return result + "'"
    }

    /// Returns one word for fish. Newlines are escaped because `eval (…)` splits its input at line breaks.
    package static func fishWord(_ text: String) -> String {
        var result = "'"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'", "\\": result += "\\\(scalar)"
            case "\n": result += "'\\n'"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "'"
    }

    package static func word(_ text: String, for output: ScriptOutput) -> String {
        output == .fish ? fishWord(text) : word(text)
    }
}
