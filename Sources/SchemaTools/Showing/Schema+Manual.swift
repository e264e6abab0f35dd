internal import PropertyLists
package import SettingsSchema

extension Schema {
    /// Returns a complete manual page in mdoc.
    ///
    /// - Parameters:
    ///   - program: The name of the program.
    ///   - date: The date of the page, such as `January 31, 2026`.
    package func manualPage(program: String, date: String) -> String {
        let program = self.program ?? program
        let name = ManualText.word(program)
        var lines = [
            ".Dd \(date)", ".Dt \(ManualText.word(program.uppercased())) 1", ".Os", ".Sh NAME", ".Nm \(name)",
            ".Nd \(ManualText.word(title ?? (isStored ? "settings of \(domain)" : "a script")).replacing("\"", with: ""))",
            ".Sh SYNOPSIS",
        ]
        lines += synopsis
        lines += [".Sh DESCRIPTION"] + description
        lines += [".Sh OPTIONS"] + options(settings) + commonOptions
        lines += commandSections
        lines += environmentSection
        lines += [
            ".Sh EXIT STATUS", ".Bl -tag -width Ds", ".It 0", "Success, or help was requested.", ".It 2",
            "A flag, an operand or a value is invalid.", ".El",
        ]
        if !examples.isEmpty {
            lines += [".Sh EXAMPLES", ".Bd -literal -offset indent"] + examples.map(ManualText.line) + [".Ed"]
        }
        return Self.text(lines)
    }

    private static func text(_ lines: [String]) -> String { lines.joined(separator: "\n") + "\n" }

    private var synopsis: [String] {
        guard !commands.isEmpty else { return [".Nm", ".Op Ar options"] + Self.operands(settings) }
        return shownCommands.flatMap { name, _ in
            [".Nm", ".Op Ar options", ".Cm \(ManualText.word(name))"] + Self.operands(settings(of: name))
        }
    }

    /// The commands without others in them, except hidden ones.
    private var shownCommands: [(name: String, command: Command)] {
        allCommands.filter { name, command in
            command.commands.isEmpty && !commandPath(name).contains(where: \.isHidden)
        }
    }

    private static func operands(_ settings: [SettingDeclaration]) -> [String] {
        settings.takingOperands.map { setting in
            let name = "\(ManualText.word(setting.operandName.lowercased()))\(setting.takesManyOperands ? " ..." : "")"
            return setting.operandUsage.hasPrefix("[") ? ".Op Ar \(name)" : ".Ar \(name)"
        }
    }

    private var description: [String] {
        let description = ManualText.paragraph([title, summary].compactMap { $0?.asSentence }.joined(separator: " "))
        let domainLine = [".Pp", "Its settings are stored in the domain", ".Ql \(ManualText.word(domain)) ."]
        return (description.isEmpty ? [".Nm", "has the following settings."] : description)
            + (isStored ? domainLine : [])
    }

    /// Returns the list of flags with their descriptions.
    private func options(_ settings: [SettingDeclaration]) -> [String] {
        [".Bl -tag -width Ds"]
            + settings.filter { !$0.isHidden }.flatMap { setting -> [String] in
                let isListed = !setting.flagUsage.isEmpty || setting.takesOperands
                let own = isListed ? [".It " + Self.head(of: setting)] + Self.body(of: setting) : []
                return own
                    + setting.linesOfFlagValues.flatMap { flags, value in
                        let names = flags.map { "Fl \(ManualText.word(String($0.dropFirst())))" }
                        return [".It \(names.joined(separator: " , "))"] + ManualText.paragraph(value.explanation)
                    }
            }
    }

    private static func head(of setting: SettingDeclaration) -> String {
        if setting.flagUsage.isEmpty { return "Ar \(ManualText.word(setting.operandName.lowercased()))" }
        let isAttached = setting.isValueOptional
        let name = ManualText.word(setting.valueName)
        let value =
            setting.isSwitch || setting.allFlags.isEmpty && setting.shorts.isEmpty
            ? "" : isAttached ? " Ns Oo = Ns Ar \(name) Oc" : " Ar \(name)"
        guard !setting.hasSecrets else {
            return setting.secretFlags.map { flag in
                "\(ManualText.flag(flag.name)) Ar \(flag.source == .file ? "file" : "number")"
            }.joined(separator: " | ")
        }
        var names = setting.shorts.map { "Fl \(ManualText.word($0))" } + setting.allFlags.map(ManualText.flag)
        if names.isEmpty {
            names = setting.shownFlagValues(withLine: false).map {
                "Fl \(ManualText.word(String($0.flag.dropFirst())))"
            }
        }
        return names.joined(separator: " , ") + value
    }

    private static func body(of setting: SettingDeclaration) -> [String] {
        var lines = ManualText.paragraph(setting.explanation)
        if let shown = setting.shownDefault { lines += ManualText.paragraph("The default is \(shown).") }
        return lines.isEmpty ? ManualText.paragraph("Sets \(setting.key).") : lines
    }

    private var commonOptions: [String] {
        commonFlags.flatMap { flag in
            let short = letter(of: flag, in: nil).map { "Fl \($0) , " } ?? ""
            let argument =
                switch flag {
                case .set: " Ar :key Ns = Ns Ar value"
                case .reset: " Ns Oo = Ns Ar key Oc"
                default: ""
                }
            let text = flag == .help ? ["Shows a summary."] : ManualText.paragraph(flag.explanation)
            return [".It \(short)\(ManualText.flag(name(of: flag, in: nil)))\(argument)"] + text
        } + [".El"]
    }

    private var commandSections: [String] {
        guard !commands.isEmpty else { return [] }
        return [".Sh COMMANDS"]
            + shownCommands.flatMap { name, command -> [String] in
                let description = ManualText.paragraph(
                    [command.title, command.summary].compactMap { $0?.asSentence }.joined(separator: " "))
                let head =
                    [".Ss \(ManualText.word(name))"]
                    + (description.isEmpty ? ["Options of this command:"] : description)
                let rows = options(commandPath(name).flatMap(\.settings))
                return rows.count == 1 ? head : head + rows + [".El"]
            }
    }

    private var environmentSection: [String] {
        let settings = allSettings.filter { !$0.allVariables.isEmpty && !$0.isHidden }
        guard !settings.isEmpty else { return [] }
        func row(_ name: String, _ effect: String) -> [String] {
            [".It Ev \(ManualText.word(name))"] + ManualText.paragraph("\(effect); a flag overrides it.")
        }
        let rows = settings.flatMap { setting -> [String] in
            let own = setting.environment.flatMap { row($0, "Sets \(setting.key)") }
            return own
                + setting.flagValues.flatMap { flag in
                    flag.environment.flatMap { row($0, "Means \(flag.flag) unless it is a word for no") }
                }
        }
        return [".Sh ENVIRONMENT", ".Bl -tag -width Ds"] + rows + [".El"]
    }
}

/// Escapes text for manual pages in mdoc, so that no part of it is taken as a macro.
enum ManualText {
    /// Returns running text with a new line for each sentence, wrapped to the recommended width.
    static func paragraph(_ text: String) -> [String] {
        sentences(text).flatMap { sentence in sentence.wrapped(to: 70).map(line) }.filter { !$0.isEmpty }
    }

    /// Returns a line of text that is not a macro.
    static func line(_ text: String) -> String {
        let escaped = escaped(text)
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    /// Returns a word as a macro argument.
    static func word(_ text: String) -> String {
        let escaped = escaped(text)
        // A short word could be a macro name, and a single punctuation mark a delimiter.
        let guarded = text.count <= 3 ? "\\&" + escaped : escaped
        return escaped.contains(" ") || escaped.isEmpty
            ? "\"\(guarded.replacing("\"", with: "\\(dq"))\"" : guarded.replacing("\"", with: "\\(dq")
    }

    /// Returns a long flag as a macro.
    static func flag(_ name: String) -> String { "Fl \(word("-\(name)"))" }

    private static func sentences(_ text: String) -> [String] {
        var sentences: [String] = []
        var current = ""
        var isAtEnd = false
        for character in text {
            if isAtEnd, character.isWhitespace {
                sentences.append(current)
                current = ""
            } else {
                current.append(character)
            }
            isAtEnd = ".!?".contains(character)
        }
        return (sentences + [current]).map { String($0.drop(while: \.isWhitespace)) }.filter { !$0.isEmpty }
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "`": result += "\\(ga"
            case "'": result += "\\(aq"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case " "..."~": result.unicodeScalars.append(scalar)
            case "\n", "\t": result += " "
            default:
                guard scalar.value >= 0xA0 else { continue }
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\[u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)]"
            }
        }
        return result
    }
}
