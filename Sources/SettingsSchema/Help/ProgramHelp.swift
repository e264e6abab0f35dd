package import PropertyLists
internal import Queries

extension Schema {
    /// A value of a layer, as help and forms show it.
    package struct ValueInForce: Hashable, Sendable {
        /// The origin of a value.
        package enum Source: Hashable, Sendable, CustomStringConvertible {
            case user, userHost, forced, `default`
            /// A change that is not saved yet.
            case form
            /// Another layer, by its name.
            case other(String)

            /// Whether the user can remove the value.
            package var isOfUser: Bool { self == .user || self == .userHost }

            package var description: String {
                switch self {
                case .user: "user"
                case .userHost: "user-host"
                case .forced: "forced"
                case .default: "default"
                case .form: "this form"
                case .other(let name): name
                }
            }
        }

        package let value: PropertyList
        package let layer: Source
        /// The reason the value is invalid; nil if it is valid.
        package let fault: String?
        /// The path of the file that holds the value.
        package let file: String?

        package init(_ value: PropertyList, layer: Source, fault: String? = nil, file: String? = nil) {
            self.value = value
            self.layer = layer
            self.fault = fault
            self.file = file
        }
    }

    /// Returns the text for `--help`.
    ///
    /// - Parameters:
    ///   - program: The name of the program.
    ///   - command: The sub-command to describe.
    ///   - width: The maximum line width in columns; at least 40 are used.
    ///   - values: The values in force, for `--help-values`.
    ///   - displaced: The values that give way to those of other settings.
    ///   - given: The values of the flags beside the request.
    package func helpText(
        program: String, command: String? = nil, width: Int = 80, values: [Name: ValueInForce]? = nil,
        displaced: [Name: ValueInForce] = [:], given: PropertyList.Dictionary = [:]
    ) -> String {
        var help = ProgramHelp(self, program: program, command: command, width: max(width, 40))
        (help.values, help.displaced, help.given) = (values, displaced, given)
        return help.lines.joined(separator: "\n").printable + "\n"
    }

    /// Returns the text for `--version`.
    package func versionText(program: String) -> String {
        let program = self.program ?? program
        return "\(program)\(programVersion.map { " \($0)" } ?? ": settings of \(domain), version \(version)")\n"
            .printable
    }
}

/// The lines of a help text: usage, description, then groups of flags.
package struct ProgramHelp {
    package typealias Row = (left: String, right: String)
    package typealias Section = (title: String, rows: [Row])

    private let schema: Schema
    private let program: String
    /// The command with the names of those that contain it.
    private let commandName: String?
    private let command: Schema.Command?
    private let width: Int
    /// The settings, those of the command before those of the commands that contain it and of the program.
    private let settings: [SettingDeclaration]
    /// The settings whose flags are listed.
    private let listed: [SettingDeclaration]
    /// Whether the flags that every program has are listed.
    private let hasCommonFlags: Bool
    fileprivate(set) var values: [Name: Schema.ValueInForce]?
    fileprivate(set) var displaced: [Name: Schema.ValueInForce] = [:]
    fileprivate(set) var given: PropertyList.Dictionary = [:]

    /// Creates the help of a program or of a command.
    ///
    /// - Parameters:
    ///   - schema: The declaration of the program.
    ///   - program: The name of the program.
    ///   - command: The full name of the command.
    ///   - width: The greatest width of a line in columns.
    ///   - isWhole: Whether the help of a command also lists the flags that are not only its own.
    package init(
        _ schema: Schema, program: String, command: String? = nil, width: Int = .max, isWhole: Bool = true
    ) {
        (self.schema, self.program, self.width, commandName) = (schema, schema.program ?? program, width, command)
        let path = command.map { schema.commandPath($0) } ?? []
        self.command = path.last
        settings = (path.reversed().flatMap(\.settings) + schema.settings).filter { !$0.isHidden }
        listed = isWhole ? settings : (path.last?.settings ?? schema.settings).filter { !$0.isHidden }
        hasCommonFlags = isWhole || command == nil
    }

    private var commands: [Schema.Command] {
        (command.map(\.commands) ?? schema.commands).filter { !$0.isHidden }
    }

    var lines: [String] {
        var lines = usage
        for text in [command?.title ?? schema.title, command?.summary ?? schema.summary].compactMap(\.self) {
            lines += [""] + text.asSentence.wrapped(to: width)
        }
        let sections = sections
        // All sections share one left column width.
        let left = sections.flatMap(\.rows).map { $0.left.columns }.filter { $0 <= width / 3 }.max() ?? 0
        for section in sections {
            lines += ["", "\(section.title):"]
            lines += section.rows.flatMap { $0.left.explained(by: $0.right, at: left + 4, width: width) }
        }
        let examples = command.map(\.examples) ?? schema.examples
        if !examples.isEmpty { lines += ["", "Examples:"] + examples.map { "  " + $0.printable } }
        if let epilogue = command.map(\.epilogue) ?? schema.epilogue { lines += [""] + epilogue.wrapped(to: width) }
        return lines
    }

    /// The operands, the commands, and the flags in their groups.
    package var sections: [Section] { operandSection + commandSection + flagSections }

    /// The lines that say how the program is called.
    package var usage: [String] {
        var words = ["usage: \(program)"]
        if let commandName { words.append(commandName) }
        words.append("[options]")
        let hasDefault = (command.map(\.defaultCommand) ?? schema.defaultCommand) != nil
        if !commands.isEmpty { words.append(hasDefault ? "[COMMAND …]" : "COMMAND …") }
        if commands.isEmpty { words += operands.map(\.operandUsage) + undeclaredOperands }
        var lines: [String] = []
        var line = words[0]
        let indent = String(repeating: " ", count: min(line.columns + 1, width / 2))
        for word in words.dropFirst() {
            if line.columns + 1 + word.columns > width {
                lines.append(line)
                line = indent + word
            } else {
                line += " " + word
            }
        }
        return lines + [line]
    }

    private var operands: [SettingDeclaration] { settings.takingOperands }

    /// The usage of operands that only `Operands` declares.
    private var undeclaredOperands: [String] {
        guard operands.isEmpty, let count = schema.operandCount(of: commandName), count != 0...0 else { return [] }
        let words = count.upperBound == 1 ? "OPERAND" : "OPERAND …"
        return [count.lowerBound == 0 ? "[\(words)]" : words]
    }

    private var operandSection: [Section] {
        guard commands.isEmpty else { return [] }
        let rows = operands.filter { $0.flagUsage.isEmpty }.map { (left: $0.operandName, right: words(of: $0)) }
        return rows.isEmpty ? [] : [("Operands", rows)]
    }

    private var commandSection: [Section] {
        let titles = commands.map { $0.group ?? "Commands" }
        let groups = titles.indices.filter { titles.firstIndex(of: titles[$0]) == $0 }.map { titles[$0] }
        return groups.map { title in
            let own = commands.filter { ($0.group ?? "Commands") == title }
            return (
                title,
                own.map {
                    (left: ([$0.name] + $0.aliases).joined(separator: ", "), right: $0.title ?? $0.summary ?? "")
                }
            )
        }
    }

    private var flagSections: [Section] {
        var sections: [Section] = []
        let all = listed.flatMap(rows)
        for group in all.filter({ $0.group == nil }) + all.filter({ $0.group != nil }) {
            let title = group.group ?? "Options"
            if let index = sections.firstIndex(where: { $0.title == title }) {
                sections[index].rows += group.rows
            } else {
                sections.append((title, group.rows))
            }
        }
        if !hasCommonFlags {
            // They are listed elsewhere.
        } else if sections.first?.title == "Options" {
            sections[0].rows += commonRows
        } else {
            sections.append(("Options", commonRows))
        }
        let rest = listed.filter { rows(of: $0).isEmpty && !$0.takesOperands }
        if !rest.isEmpty { sections.append(("Other settings", rest.map { (":\($0.key)", words(of: $0)) })) }
        return sections
    }

    /// Returns the rows for a setting with their headings: one for all its flags, and one for each flag that sets a
    /// value and has a description of its own.
    private func rows(of setting: SettingDeclaration) -> [(group: String?, rows: [Row])] {
        let own = setting.flagUsage.isEmpty ? [] : [(group: setting.group, rows: rowsOfFlags(of: setting))]
        return own
            + setting.linesOfFlagValues.map { flags, value in
                let indent = flags.allSatisfy { $0.hasPrefix("--") } ? Self.roomForShort : ""
                let names = value.environment.joined(separator: " or ")
                let words = [value.explanation, names.isEmpty ? "" : "(variable \(names))"].filter { !$0.isEmpty }
                let row = (indent + flags.joined(separator: ", "), words.joined(separator: " "))
                return (group: value.group ?? setting.group, rows: [row])
            }
    }

    /// Returns the rows for a setting's flags: one for all of them, or one for each flag of a secret.
    private func rowsOfFlags(of setting: SettingDeclaration) -> [Row] {
        guard setting.hasSecrets else {
            let indent = setting.shorts.isEmpty ? Self.roomForShort : ""
            return [(indent + setting.flagUsage.joined(separator: ", "), words(of: setting))]
        }
        return zip(setting.flagUsage, setting.secretFlags).enumerated().map { index, flag in
            let same = flag.1.source == .file ? "The same." : "The same, from an open descriptor."
            return (Self.roomForShort + flag.0, index == 0 ? words(of: setting) : same)
        }
    }

    private var commonRows: [Row] {
        schema.commonFlags.map { flag in
            let short = schema.letter(of: flag, in: commandName).map { "-\($0), " } ?? Self.roomForShort
            let argument = flag.argument.map { flag.isValueOptional ? "[=\($0)]" : " \($0)" } ?? ""
            return ("\(short)--\(schema.name(of: flag, in: commandName))\(argument)", flag.explanation)
        }
    }

    private static let roomForShort = "    "

    /// Returns the description of a setting: explanation, default, variable and value in force.
    private func words(of setting: SettingDeclaration) -> String {
        var facts: [String] = []
        if setting.requiresValue { facts.append("required") }
        if let implied = setting.implied { facts.append("without a value \(setting.shown(implied))") }
        if let source = setting.defaultFrom.flatMap(settings.declaration) {
            facts.append("default that of \(source.writtenName)")
        } else if let shown = setting.shownDefault {
            facts.append("default \(shown)")
        }
        if !setting.environment.isEmpty { facts.append("variable \(setting.environment.joined(separator: " or "))") }
        if let values {
            let now = values[Name(setting.key)].map { now in
                "\(setting.shown(now.value)) from \(now.layer)\(now.fault.map { ": \($0)" } ?? "")"
            }
            facts.append("now \(now ?? "not set")")
            if let former = displaced[Name(setting.key)] {
                facts.append("\(setting.shown(former.value)) from \(former.layer) \(former.fault ?? "is not used")")
            }
            if let value = given[setting.key] { facts.append("\(setting.shown(value)) given") }
        }
        let inParentheses = facts.isEmpty ? "" : "(\(facts.joined(separator: "; ")))"
        let own = [setting.ownExplanation, inParentheses].filter { !$0.isEmpty }.joined(separator: " ")
        return ([own] + setting.explanationsOfChoices).filter { !$0.isEmpty }.joined(separator: "\n")
    }
}

extension SettingDeclaration {
    /// The flags, the last one with its placeholder: `-k`, `--keep N`.
    package var flagUsage: [String] {
        if hasSecrets { return secretFlags.map { "--\($0.name) \($0.source == .file ? "FILE" : "N")" } }
        let shorts = self.shorts.map { "-\($0)" }
        let longs = flags.map { isNegatable ? "--[no-]\($0)" : "--\($0)" }
        guard let last = (shorts + longs).last else { return shownFlagValues(withLine: false).map(\.flag) }
        let value = isSwitch ? "" : isValueOptional ? "[\(longs.isEmpty ? "" : "=")\(valueName)]" : " \(valueName)"
        return (shorts + longs).dropLast() + [last + value]
    }

    /// The operand in a usage line: `TARGET`, `[FILES …]`.
    package var operandUsage: String {
        let isMany = takesManyOperands
        let isNeeded = requiresValue || rule.minimumCount ?? 0 > 0
        let words = isMany ? "\(operandName) …" : operandName
        return isNeeded ? words : "[\(words)]"
    }

    /// The description of the setting, as sentences.
    package var explanation: String {
        ([ownExplanation] + explanationsOfChoices).filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The description without its choices.
    fileprivate var ownExplanation: String {
        [title.map(\.asSentence), summary.map(\.asSentence), bounds.map { "\($0.capitalizedFirst)." }, notice]
            .compactMap(\.self).joined(separator: " ")
    }

    /// The rules for the value beyond its type: `from 1 to 365 days`.
    package var bounds: String? {
        typealias Reason = Schema.Problem.Reason
        let unit = shownUnit
        let inner = rule.type == .array ? rule.element ?? rule : rule
        var words: [String] = []
        if !inner.choices.isEmpty, !valueName.contains("|") {
            words.append("one of \(listed(inner.choices.map(inner.text), "or"))")
        }
        if inner.minimum != nil || inner.maximum != nil {
            words.append(Reason.range(inner.minimum.map(inner.text), inner.maximum.map(inner.text)) + unit)
        } else if !unit.isEmpty {
            words.append("in\(unit)")
        }
        if inner.minimumLength != nil || inner.maximumLength != nil {
            words.append("\(Reason.range(inner.minimumLength, inner.maximumLength)) long")
        }
        if let pattern = inner.pattern, inner.message == nil { words.append("matching \(pattern.text)") }
        if self.words.isEmpty, rule.minimumCount != nil || rule.maximumCount != nil {
            words.append("\(Reason.range(rule.minimumCount, rule.maximumCount)) of them")
        }
        if rule.isUnique { words.append("without duplicates") }
        if let separator = rule.separator, !separator.isEmpty { words.append("separated by \"\(separator)\"") }
        if takesElements || takesEntries { words.append("can be repeated") }
        if let values = wordsOfFlagValues { words.append(values) }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// The flags that set a value: `-1 to -9`, `-j for bzip2`.
    private var wordsOfFlagValues: String? {
        let flags = shownFlagValues(withLine: false)
        guard !flags.isEmpty else { return nil }
        let own = flags.filter { $0.short == flagRule.text(of: $0.value) }
        let others = flags.filter { $0.short != flagRule.text(of: $0.value) }
        let range = own.count > 2 ? ["\(own[0].flag) to \(own[own.count - 1].flag)"] : own.map(\.flag)
        return (range + others.map { "\($0.flag) for \(flagRule.text(of: $0.value))" }).joined(separator: ", ")
    }

    /// The unit after a number. Durations and sizes include their own.
    private var shownUnit: String {
        rule.kind?.quantity != nil ? "" : unit.map { " \($0)" } ?? ""
    }

    /// The choices that have titles, each with its title as a sentence.
    fileprivate var explanationsOfChoices: [String] {
        let rule = rule.ofElements
        guard rule.choiceTitles.count == rule.choices.count else { return [] }
        return rule.choices.filter { rule.title(of: $0) != $0.plainText }.map {
            "\(rule.text(of: $0)): \(rule.title(of: $0).asSentence)"
        }
    }

    private var notice: String? { deprecated.map(\.asNotice) }

    /// The default for help texts; nil if it is empty or false.
    package var shownDefault: String? {
        guard let defaultValue else { return defaultFrom.map { "that of \($0)" } }
        switch defaultValue {
        case .boolean(false): return nil
        case .integer(0) where isCounter: return nil
        case .string(let text) where text.isEmpty: return nil
        case .array(let elements) where elements.isEmpty: return nil
        case .integer, .real: return shown(defaultValue) + shownUnit
        default: return shown(defaultValue)
        }
    }

    /// Returns a value on one line as a flag takes it, with secrets masked.
    func shown(_ value: PropertyList) -> String {
        switch masked(value) {
        case .array(let elements):
            elements.map { shortened((rule.element ?? ValueRule()).text(of: $0), to: 60) }.joined(separator: ", ")
        case let value: shortened(rule.text(of: value), to: 60)
        }
    }
}

extension SettingDeclaration.FlagValue {
    /// The description of the flag, as sentences.
    package var explanation: String {
        [title?.asSentence, summary?.asSentence, deprecated?.asNotice].compactMap(\.self).joined(separator: " ")
    }
}

extension String {
    /// The notice that something is deprecated for this reason, which can be empty.
    fileprivate var asNotice: String { isEmpty ? "Deprecated." : "Deprecated: \(asSentence)" }

    /// The text with a full stop, unless it ends a sentence already, or with a URL, to which the stop would belong.
    package var asSentence: String {
        guard let last = unicodeScalars.last, !".!?…:。！？".unicodeScalars.contains(last) else { return self }
        let word = utf8.reversed().prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }
        return word.reversed().firstRange(of: Array("://".utf8)) == nil ? self + "." : self
    }

    package var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
