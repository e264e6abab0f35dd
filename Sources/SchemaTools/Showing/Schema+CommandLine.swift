internal import PropertyLists
package import SettingsSchema

extension Schema {
    /// Whether the schema declares flags, operands or commands, and not only stored settings.
    package var hasCommandLine: Bool {
        !isStored || !commands.isEmpty
            || settings.contains {
                $0.takesOperands || !$0.flags.isEmpty || !$0.shorts.isEmpty || !$0.flagValues.isEmpty
            }
    }

    /// The commands with their full names, except hidden ones.
    private var shownCommands: [(name: String, command: Command)] {
        allCommands.filter { name, _ in !commandPath(name).contains(where: \.isHidden) }
    }

    // MARK: Markdown

    /// Returns the command line of a program as Markdown: usage, operands, commands and flags.
    ///
    /// - Parameter program: The name of the program.
    package func commandLineInMarkdown(program: String) -> String {
        let program = self.program ?? program
        var blocks = ["# \(program.asMarkdown)"] + Self.paragraphs(title, summary)
        blocks += help(nil, program, under: "##") + Self.ending(examples, epilogue)
        for (name, command) in shownCommands {
            blocks += ["## \("\(program) \(name)".asMarkdown)"] + Self.paragraphs(command.title, command.summary)
            let aliases = command.aliases.map { "`\($0.asCode)`" }
            if !aliases.isEmpty { blocks.append("Also called \(listed(aliases, "or")).") }
            blocks += help(name, program, under: "###") + Self.ending(command.examples, command.epilogue)
        }
        return blocks.joined(separator: "\n\n").printable + "\n"
    }

    private static func paragraphs(_ texts: String?...) -> [String] {
        texts.compactMap { $0?.asSentence.asMarkdown }
    }

    private func help(_ command: String?, _ program: String, under heading: String) -> [String] {
        let help = ProgramHelp(self, program: program, command: command, isWhole: false)
        return help.usage.map { "    " + $0 }
            + help.sections.flatMap { title, rows in
                let lines = rows.map { left, right in
                    "- `\(left.drop(while: \.isWhitespace).replacing("`", with: "'"))`"
                        + (right.isEmpty ? "" : ": ")
                        + right.split(separator: "\n").map { String($0).asMarkdown }.joined(separator: "\n  - ")
                }
                return ["\(heading) \(title.asMarkdown)", lines.joined(separator: "\n")]
            }
    }

    private static func ending(_ examples: [String], _ epilogue: String?) -> [String] {
        let lines = examples.map { "    " + $0.replacing("\n", with: " ") }.joined(separator: "\n")
        return (lines.isEmpty ? [] : ["Examples:", lines]) + paragraphs(epilogue)
    }

    // MARK: JSON

    /// Returns the command line of a program in JSON, for programs that make documentation or completions.
    ///
    /// - Parameter program: The name of the program.
    package func commandLineInJSON(program: String) -> String {
        var result = description(
            name: self.program ?? program, title, summary, settings, commands, defaultCommand, examples, epilogue)
        result["version"] = programVersion.map { .string($0) }
        result["domain"] = isStored ? .string(domain) : nil
        let common = commonFlags.map { flag in
            Self.dictionary([
                (
                    "names",
                    Self.texts((letter(of: flag, in: nil).map { ["-\($0)"] } ?? []) + ["--\(name(of: flag, in: nil))"])
                ),
                ("value", flag.argument.map { .string($0) }),
                ("valueOptional", flag.isValueOptional ? true : nil), ("title", .string(flag.title)),
            ])
        }
        result["flags"] = .array((result["flags"]?.arrayValue ?? []) + common)
        return PropertyList.dictionary(result).documentInJSON
    }

    private func description(
        name: String, _ title: String?, _ summary: String?, _ settings: [SettingDeclaration], _ commands: [Command],
        _ defaultCommand: String?, _ examples: [String], _ epilogue: String?
    ) -> PropertyList.Dictionary {
        let settings = settings.filter { !$0.isHidden }
        var result: PropertyList.Dictionary = ["name": .string(name)]
        result["title"] = title.map { .string($0) }
        result["summary"] = summary.map { .string($0) }
        result["flags"] = .array(settings.flatMap(\.flagsInJSON))
        result["operands"] = .array(settings.takingOperands.map(\.operandInJSON))
        result["commands"] = .array(
            commands.filter { !$0.isHidden }.map { command in
                var inner = description(
                    name: command.name, command.title, command.summary, command.settings, command.commands,
                    command.defaultCommand, command.examples, command.epilogue)
                if !command.aliases.isEmpty { inner["aliases"] = Self.texts(command.aliases) }
                inner["group"] = command.group.map { .string($0) }
                return .dictionary(inner)
            })
        result["defaultCommand"] = defaultCommand.map { .string($0) }
        if !examples.isEmpty { result["examples"] = Self.texts(examples) }
        result["epilogue"] = epilogue.map { .string($0) }
        return result
    }

    fileprivate static func texts(_ texts: [String]) -> PropertyList { .array(texts.map { .string($0) }) }

    fileprivate static func dictionary(_ entries: [(key: String, value: PropertyList?)]) -> PropertyList {
        var result = PropertyList.Dictionary()
        for (key, value) in entries { result[key] = value }
        return .dictionary(result)
    }
}

extension SettingDeclaration {
    /// The setting's flags: one for all names with the same meaning.
    fileprivate var flagsInJSON: [PropertyList] {
        let names = hasSecrets ? [] : shorts.map { "-\($0)" } + allFlags.map { "--\($0)" }
        let own: [PropertyList] =
            names.isEmpty
            ? []
            : [
                Schema.dictionary(
                    [("names", Schema.texts(names)), ("value", isSwitch ? nil : .string(valueName))] + facts)
            ]
        let ofSecrets = secretFlags.map { flag in
            Schema.dictionary(
                [
                    ("names", Schema.texts(["--\(flag.name)"])),
                    ("value", .string(flag.source == .file ? "FILE" : "N")),
                ] + facts)
        }
        let setters = flagValues.filter { !$0.isHidden }.map { flag in
            Schema.dictionary([
                ("names", Schema.texts([flag.flag])), ("key", .string(key)), ("sets", flag.value),
                ("title", flag.title.map { .string($0) }), ("summary", flag.summary.map { .string($0) }),
                ("group", (flag.group ?? group).map { .string($0) }),
                ("environment", flag.environment.isEmpty ? nil : Schema.texts(flag.environment)),
                ("deprecated", flag.deprecated.map { .string($0) }),
            ])
        }
        return own + ofSecrets + setters
    }

    fileprivate var operandInJSON: PropertyList {
        Schema.dictionary([("name", .string(operandName)), ("many", takesManyOperands ? true : nil)] + facts)
    }

    /// What help says about the setting.
    private var facts: [(key: String, value: PropertyList?)] {
        let inner = rule.ofElements
        let choices = inner.choices.map { choice in
            Schema.dictionary([
                ("value", choice),
                ("title", inner.choiceTitles.isEmpty ? nil : .string(inner.title(of: choice))),
            ])
        }
        return [
            ("key", .string(key)), ("type", .string(inner.kind?.rawValue ?? inner.type.rawValue)),
            ("title", title.map { .string($0) }), ("summary", summary.map { .string($0) }),
            ("rule", bounds.map { .string($0) }), ("choices", choices.isEmpty ? nil : .array(choices)),
            ("default", hasSecrets ? nil : defaultValue), ("required", requiresValue ? true : nil),
            ("repeats", repeats ? true : nil), ("valueOptional", isValueOptional ? true : nil),
            ("environment", environment.isEmpty ? nil : Schema.texts(environment)),
            ("group", group.map { .string($0) }), ("secret", hasSecrets ? true : nil),
            ("deprecated", deprecated.map { .string($0) }),
        ]
    }
}
