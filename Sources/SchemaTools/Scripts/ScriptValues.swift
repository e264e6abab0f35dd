package import PropertyLists
package import SettingsSchema

/// The values passed to a script, in the order of its schema.
package struct ScriptValues: Hashable, Sendable {
    /// A setting with its value in force, if any.
    struct Setting: Hashable, Sendable {
        /// What the variable holds.
        enum Shape {
            case text
            /// A Boolean. Scripts use such a variable as a command (`if $verbose`), so it must not be empty.
            case flag
            case array
            /// Keys with their values.
            case map
        }

        let key: String
        let shape: Shape
        let value: PropertyList?

        var isList: Bool { shape == .array || shape == .map }

        /// The keys and values of a map.
        var pairs: [(key: String, value: String)] {
            value?.dictionaryValue?.map { ($0.key, $0.value.plainText) } ?? []
        }

        /// The value as shell words: one for a text, one for each element of an array, and `KEY=VALUE` for each of a
        /// map.
        var words: [String] {
            switch shape {
            case .text: [value?.plainText ?? ""]
            case .flag: [value?.plainText ?? "false"]
            case .array: value.map { $0.arrayValue ?? [$0] }?.map(\.plainText) ?? []
            case .map: pairs.map { "\($0.key)=\($0.value)" }
            }
        }
    }

    var settings: [Setting]
    /// The chosen sub-command, if the schema has any.
    var command: String?
    var operands: [String]
    /// The keys that only commands that were not chosen have.
    var others: [String] = []

    /// Creates the values for a script.
    ///
    /// - Parameter values: The values in force, including defaults.
    package init(
        schema: Schema, values: PropertyList.Dictionary, command: String? = nil, operands: [String] = [],
        uses: [Schema.Arguments.OrderedUse] = []
    ) {
        let own = schema.settings(of: command)
        settings = own.map { setting in
            let shape: Setting.Shape =
                switch setting.rule.type {
                case .array: .array
                case .boolean: .flag
                default: setting.isMap ? .map : .text
                }
            return Setting(key: setting.key, shape: shape, value: values[setting.key])
        }
        for list in own.orderedLists {
            let words = uses.filter { $0.list.hasSameBytes(as: list) }.flatMap { [.string($0.flag), $0.word] }
            settings.append(Setting(key: list, shape: .array, value: .array(words)))
        }
        self.command = schema.commands.isEmpty ? nil : command ?? ""
        self.operands = operands
        guard !schema.commands.isEmpty else { return }
        for key in schema.allSettings.map(\.key) where own.declaration(of: key) == nil { others.append(key) }
        others += schema.allSettings.orderedLists.filter { !own.orderedLists.contains(exactly: $0) }
    }

    /// Returns the text that the script evaluates or reads.
    ///
    /// A setting without a value is an empty string, an empty array or false. Booleans are `true` and `false`, dates
    /// are RFC 3339, data is base64; dictionaries and nested values are JSON. For a shell without arrays, an array is a
    /// string of quoted words: `eval "set -- $excluded"`. A map is an associative array in bash and zsh, and an array
    /// of `KEY=VALUE` in other shells. In records, a scalar is `NAME=VALUE`, an element
    /// `NAME[]=VALUE` and an operand `=VALUE`. In fish, use `eval (… | string collect)`, because `source` cannot set
    /// the script's operands.
    ///
    /// The variables of commands that were not chosen are unset, so that the environment cannot provide them. Bytes
    /// that are not valid UTF-8 are in the notation of `ByteText`.
    package func text(for output: ScriptOutput, prefix: String = "") throws(ScriptFailure) -> String {
        let keys = settings.map(\.key) + (command == nil ? [] : ["command"])
        let names = try ShellName.variables(for: keys, prefix: prefix, output: output)
        if output == .json {
            for setting in settings where setting.value?.holdsRaw ?? false { throw .notText(key: setting.key) }
            if operands.contains(where: ByteText.holdsRaw) { throw .notText(key: "operands") }
            return json
        }
        for setting in settings where setting.words.contains(where: { $0.utf8.contains(0) }) {
            throw .nul(key: setting.key)
        }
        if operands.contains(where: { $0.utf8.contains(0) }) { throw .nul(key: "operands") }
        var all = settings
        if let command { all.append(Setting(key: "command", shape: .text, value: .string(command))) }
        if output == .nul { return records(all, names) }
        var unset: [String] = []
        for key in others {
            let name = ShellName.variable(for: key, prefix: prefix)
            let isTaken = names.contains(name) || unset.contains(name) || ShellName.isReserved(name, in: output)
            if !isTaken { unset.append(name) }
        }
        guard !unset.isEmpty else { return assignments(all, names, output) }
        let removal =
            output == .fish ? "set -e \(unset.joined(separator: " "));" : "unset -v \(unset.joined(separator: " "))"
        return "\(removal)\n\(assignments(all, names, output))"
    }

    private func assignments(_ settings: [Setting], _ names: [String], _ output: ScriptOutput) -> String {
        var text = ""
        for (setting, name) in zip(settings, names) {
            func quoted(_ text: String) -> String { ShellQuoting.word(text, for: output) }
            let words =
                switch (setting.shape, output) {
                case (.map, .bash): setting.pairs.map { "[\(quoted($0.key))]=\(quoted($0.value))" }
                case (.map, .zsh): setting.pairs.map { "\(quoted($0.key)) \(quoted($0.value))" }
                default: setting.words.map(quoted)
                }
            if setting.shape == .map { text += Self.declaration(ofMap: name, output) }
            text += Self.assignment(name, words, isArray: setting.isList, output) + "\n"
        }
        text += output == .fish ? "set argv" : "set --"
        for operand in operands { text += " " + ShellQuoting.word(operand, for: output) }
        return text + (output == .fish ? ";\n" : "\n")
    }

    /// The commands that make a variable an associative array, which an array or a text cannot become.
    private static func declaration(ofMap name: String, _ output: ScriptOutput) -> String {
        switch output {
        case .bash: "unset -v \(name); declare -gA \(name)\n"
        case .zsh: "unset -v \(name); typeset -gA \(name)\n"
        default: ""
        }
    }

    private static func assignment(_ name: String, _ words: [String], isArray: Bool, _ output: ScriptOutput) -> String {
        // A loop rather than `joined`, whose first generic instantiation takes longer than the loop.
        var list = ""
        for (index, word) in words.enumerated() { list += index == 0 ? word : " " + word }
        return switch output {
        case .fish: list.isEmpty ? "set -g \(name);" : "set -g \(name) \(list);"
        case .sh where isArray: "\(name)=\(ShellQuoting.word(list))"
        default: isArray ? "\(name)=(\(list))" : "\(name)=\(list)"
        }
    }

    /// Returns `NAME=VALUE` or `NAME[]=ELEMENT` records, then `=OPERAND` for each operand.
    private func records(_ settings: [Setting], _ names: [String]) -> String {
        let values = zip(settings, names).flatMap { setting, name in
            setting.words.map { "\(name)\(setting.isList ? "[]" : "")=\($0)\0" }
        }
        return (values + operands.map { "=\($0)\0" }).joined()
    }

    private var json: String {
        var result = PropertyList.Dictionary()
        result["command"] = command.map { .string($0) }
        result["operands"] = .array(operands.map { .string($0) })
        result["values"] = .dictionary(
            PropertyList.Dictionary(settings.compactMap { setting in setting.value.map { (setting.key, $0) } }))
        return PropertyList.dictionary(result).plainText + "\n"
    }
}

extension Schema.Arguments.OrderedUse {
    /// The value as one word: `KEY=VALUE` for an entry of a map.
    fileprivate var word: PropertyList {
        guard let entry = value.dictionaryValue?.first else { return .string(value.plainText) }
        return .string("\(entry.key)=\(entry.value.plainText)")
    }
}

extension PropertyList {
    /// Whether a string in the value has bytes that are not valid UTF-8.
    package var holdsRaw: Bool {
        switch self {
        case .string(let text): ByteText.holdsRaw(text)
        case .array(let elements): elements.contains(where: \.holdsRaw)
        case .dictionary(let entries): entries.contains { $0.value.holdsRaw }
        default: false
        }
    }

    /// The same value where it is given in valid UTF-8, and not in the notation of `ByteText`.
    package var escapingRaw: PropertyList {
        guard holdsRaw else { return self }
        return switch self {
        case .string(let text): .string(ByteText.text(text.utf8))
        case .array(let elements): .array(elements.map(\.escapingRaw))
        case .dictionary(let entries):
            .dictionary(PropertyList.Dictionary(entries.map { ($0.key, $0.value.escapingRaw) }))
        default: self
        }
    }
}

extension Schema {
    /// Returns the lines for a script that tell ShellCheck which variables `prefs args` sets. They precede the call.
    package func linesForShellCheck(_ output: ScriptOutput, prefix: String = "") -> String {
        let lists = allSettings.orderedLists.map { SettingDeclaration($0) }
        let settings = allSettings + lists + (commands.isEmpty ? [] : [SettingDeclaration("command")])
        var names: [String] = []
        for setting in settings {
            let name = ShellName.variable(for: setting.key, prefix: prefix)
            if !names.contains(name) { names.append(name) }
        }
        guard output == .bash else {
            return "# shellcheck disable=SC2154 # set by prefs args: \(names.joined(separator: " "))\n"
        }
        let maps = Set(settings.filter(\.isMap).map { ShellName.variable(for: $0.key, prefix: prefix) })
        let lines = [("declare", names.filter { !maps.contains($0) }), ("declare -A", names.filter(maps.contains))]
        return lines.filter { !$0.1.isEmpty }.map { "\($0.0) \($0.1.joined(separator: " "))\n" }.joined()
    }
}
