internal import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A parser for the command line. It collects errors instead of stopping at the first.
struct ArgumentParser {
    let schema: Schema
    let context: Schema.Arguments.Context
    private var arguments: ArraySlice<String>
    var flags: FlagTable
    /// The settings that apply to the chosen command.
    var settings: [SettingDeclaration]
    var result = Schema.Arguments()
    var mistakes: [Schema.Arguments.Mistake] = []
    /// For each key that was given: the flag or operand, and the text as written.
    var given = GivenSettings()
    /// The operands, and the unknown flags among them that the rest takes.
    var operands: [(text: String, isFlag: Bool)] = []
    private var help: Schema.Arguments.HelpRequest?
    private var asksForVersion = false
    /// Whether an unknown command was given, so that its flags are unknown too.
    private(set) var hasUnknownCommand = false
    /// Whether an operand is the name of a command. Otherwise, a flag can have chosen the default command.
    private var namesCommand = false
    /// Whether the remaining arguments belong to the setting that takes the rest, including flags.
    private var isInRest = false

    init(schema: Schema, arguments: [String], context: Schema.Arguments.Context) {
        self.schema = schema
        self.context = context
        self.arguments = arguments[...]
        settings = schema.settings
        flags = FlagTable(schema.settings, common: schema.commonFlags, versionShort: schema.versionShort)
    }

    /// The commands that can come next, and the one that is used if none does.
    var scope: (commands: [Schema.Command], defaultCommand: String?) {
        guard let command = result.command else { return (schema.commands, schema.defaultCommand) }
        let chosen = schema.command(named: command)
        return (chosen?.commands ?? [], chosen?.defaultCommand)
    }

    mutating func parse() -> Schema.Arguments.Outcome {
        while let argument = arguments.popFirst() { take(argument) }
        if let help {
            if help.showsValues { resolve() }
            return .help(.init(command: result.command, showsValues: help.showsValues, given: result))
        }
        if asksForVersion { return .version }
        if onlyStores {
            finishStoring()
            return mistakes.isEmpty ? .storing(result) : .mistakes(mistakesWithCommand)
        }
        finish()
        return mistakes.isEmpty ? .values(result) : .mistakes(mistakesWithCommand)
    }

    private var mistakesWithCommand: [Schema.Arguments.Mistake] {
        mistakes.map { mistake in
            var mistake = mistake
            mistake.command = result.command
            return mistake
        }
    }

    mutating func report(_ reason: Schema.Arguments.Mistake.Reason, at place: String) {
        mistakes.append(.init(reason, at: place))
    }

    private mutating func take(_ argument: String) {
        if isInRest || argument == "-" || !argument.begins(with: "-") {
            takeOperand(argument)
        } else if argument == "--" {
            while let operand = arguments.popFirst() { takeOperand(operand) }
        } else if argument.begins(with: "--") {
            takeLong(argument, dashes: 2)
        } else {
            takeSingleDash(argument)
        }
    }

    // MARK: Flags

    /// Splits an argument into the name after its dashes and the value after an equals sign.
    private func parts(_ argument: String, dashes: Int) -> (name: String, value: String?) {
        let body = argument.unicodeScalars.dropFirst(dashes)
        guard let end = body.firstIndex(of: "=") else { return (String(body), nil) }
        return (String(body[..<end]), String(body[body.index(after: end)...]))
    }

    private mutating func takeLong(_ argument: String, dashes: Int) {
        let (name, value) = parts(argument, dashes: dashes)
        let written = (dashes == 1 ? "-" : "--") + name
        if let meaning = flags.long[Name(name)] { return apply(meaning, written, attached: value) }
        let found = schema.isExact || dashes == 1 || name.isEmpty ? [] : flags.flags(abbreviated: name)
        if found.count == 1 { return apply(found[0].meaning, "--\(found[0].name)", attached: value) }
        if takesDefaultCommand(knowing: name, isLetter: false) { return takeLong(argument, dashes: dashes) }
        if found.count > 1 {
            return report(.ambiguousFlag(found.prefix(10).map { "--\($0.name)" }), at: written)
        }
        refuse(argument, written, nearest: flags.nearest(toLong: name), hasValue: value != nil)
    }

    /// Chooses the default command if it has a flag that is unknown so far.
    private mutating func takesDefaultCommand(knowing flag: String, isLetter: Bool) -> Bool {
        guard !hasUnknownCommand, let defaultCommand = scope.defaultCommand,
            let command = scope.commands.first(where: { $0.name.hasSameBytes(as: defaultCommand) })
        else { return false }
        let table = FlagTable(command.settings, common: [])
        guard (isLetter ? table.short[Name(flag)] : table.long[Name(flag)]) != nil else { return false }
        choose(defaultCommand)
        return true
    }

    /// Parses `-k`, `-k3`, `-k=3`, `-abc`, or a long flag with a single dash, as on NeXTSTEP.
    private mutating func takeSingleDash(_ argument: String) {
        let (name, _) = parts(argument, dashes: 1)
        if name.unicodeScalars.count > 1, flags.long[Name(name)] != nil { return takeLong(argument, dashes: 1) }
        // By Unicode scalar, because a value may begin with a combining character.
        var rest = argument.unicodeScalars.dropFirst()
        guard let first = rest.first, flags.short[Name(String(first))] != nil else {
            if argument.isNegativeNumber, nextOperandMayBeNumber { return takeOperand(argument) }
            if let first = rest.first, takesDefaultCommand(knowing: String(first), isLetter: true) {
                return takeSingleDash(argument)
            }
            // A single letter is similar to almost any flag, so no suggestion is made.
            let isHinted = name.unicodeScalars.count > 1 || flags.long[Name(name)] != nil
            let nearest = isHinted ? flags.nearest(toLong: name) : nil
            return refuse(argument, "-\(name)", nearest: nearest, hasValue: argument.contains("="))
        }
        while let character = rest.popFirst() {
            let flag = "-\(character)"
            guard let meaning = flags.short[Name(String(character))] else {
                return refuse(flag, flag, nearest: nil, hasValue: true)
            }
            let isAttached = rest.first == "=" || (meaning.takesValue && !rest.isEmpty)
            let attached = isAttached ? String(rest.first == "=" ? rest.dropFirst() : rest) : nil
            apply(meaning, flag, attached: attached)
            if isAttached || meaning.takesValue { return }
        }
    }

    /// Reports an unknown flag, unless the rest takes it.
    ///
    /// - Parameter word: The flag with its value, as given.
    private mutating func refuse(_ word: String, _ flag: String, nearest: String?, hasValue: Bool) {
        guard !hasUnknownCommand else { return }
        if settings.contains(where: \.passesUnknown) {
            operands.append((word, true))
            return
        }
        if result.command == nil, let owner = schema.owner(ofFlag: flag) {
            report(.misplacedFlag(command: owner.command), at: flag)
            if !hasValue, owner.takesValue { _ = nextValue(for: nil) }
            return
        }
        report(.unknownFlag(nearest: nearest), at: flag)
        // Skips the value that was meant for the misspelled flag, so that it is not taken as an operand.
        if !hasValue, let nearest, flags.long[Name(String(nearest.dropFirst(2)))]?.takesValue ?? false {
            _ = nextValue(for: nil)
        }
    }

    private mutating func apply(_ meaning: FlagTable.Meaning, _ flag: String, attached: String?) {
        switch meaning {
        case .common(let common): applyCommon(common, flag, attached)
        case .on(let setting): set(setting, to: attached ?? "true", shown: attached, from: flag)
        case .off(let setting):
            guard attached == nil else { return report(.needlessValue, at: flag) }
            set(setting, to: "false", shown: nil, from: flag)
        case .count(let setting): count(setting, attached, from: flag)
        case .sets(let setting, let setter):
            guard attached == nil else { return report(.needlessValue, at: flag) }
            set(setting, to: setter.value, shown: nil, from: flag)
            note(setter.deprecated, from: flag)
        case .value(let setting) where !setting.words.isEmpty: setWords(of: setting, flag, first: attached)
        case .value(let setting) where attached == nil && setting.isValueOptional && setting.implied != nil:
            set(setting, to: setting.implied ?? .string(""), shown: nil, from: flag)
        case .value(let setting):
            guard let text = attached ?? nextValue(for: setting) else {
                // Marked as given, so that it is not reported as missing too.
                given[setting.key] = (flag, nil)
                return report(.missingValue(expected: missing(setting, flag)), at: flag)
            }
            set(setting, to: text, shown: text, from: flag)
        case .secret(let flags):
            report(.secret(instead: flags), at: flag)
            if attached == nil { _ = nextValue(for: nil) }
        case .secretSource(let setting, let source): applySecret(source, setting, flag, attached)
        }
    }

    /// Sets an array whose elements are the words after the flag. The first one can be attached to it.
    private mutating func setWords(of setting: SettingDeclaration, _ flag: String, first: String?) {
        var texts = first.map { [$0] } ?? []
        while texts.count < setting.words.count, let text = nextValue(for: setting) { texts.append(text) }
        guard texts.count == setting.words.count else {
            given[setting.key] = (flag, nil)
            return report(.missingValue(expected: missing(setting, flag)), at: flag)
        }
        let shown = texts.joined(separator: " ")
        var values: [PropertyList] = []
        for text in texts {
            do throws(Schema.Problem.Reason) {
                values.append(try setting.rule.ofElements.value(ofText: text, now: context.now))
            } catch {
                report(.value(text, error), at: flag)
            }
        }
        guard values.count == texts.count else {
            given[setting.key] = (flag, shown)
            return note(setting, from: flag)
        }
        set(setting, to: .array(values), shown: shown, from: flag)
    }

    private mutating func applyCommon(_ common: CommonFlag, _ flag: String, _ attached: String?) {
        guard attached == nil || common.argument != nil else { return report(.needlessValue, at: flag) }
        switch common {
        case .help: help = help ?? .init(command: nil, showsValues: false)
        case .helpValues: help = .init(command: nil, showsValues: true)
        case .version: asksForVersion = true
        case .save: result.saves = true
        case .reset: addReset(of: attached, flag)
        case .set:
            guard let text = attached ?? arguments.popFirst() else {
                return report(.missingValue(expected: common.argument ?? ""), at: flag)
            }
            assign(text)
        }
    }

    private mutating func applySecret(
        _ wanted: SecretFlag.Source, _ setting: SettingDeclaration, _ flag: String, _ attached: String?
    ) {
        guard let text = attached ?? nextValue(for: nil) else {
            return report(.missingValue(expected: wanted == .file ? "a file" : "a descriptor"), at: flag)
        }
        var source = Schema.Arguments.SecretRequest.Source.file(text)
        if wanted == .descriptor {
            guard let number = Int32(text), number >= 0 else {
                return report(.value(text, .unreadable(expected: "the number of an open descriptor")), at: flag)
            }
            source = .descriptor(number)
        }
        result.secrets.removeAll { $0.key.hasSameBytes(as: setting.key) }
        result.secrets.append(.init(key: setting.key, flag: flag, source: source))
        note(setting, from: flag)
        given[setting.key] = (flag, nil)
    }

    /// Describes a missing value, and how to write one that begins with a dash.
    private func missing(_ setting: SettingDeclaration, _ flag: String) -> String {
        let expected = setting.expectation
        guard let next = arguments.first, next != "--", next.begins(with: "-") else { return expected }
        return "\(expected) (write \(flag)=\(shortened(next)) if that is the value)"
    }

    /// Removes and returns the next argument if it is a value: not a flag, unless it is a negative number and the
    /// setting takes numbers.
    private mutating func nextValue(for setting: SettingDeclaration?) -> String? {
        guard let next = arguments.first else { return nil }
        if setting?.allowsDash ?? false { return arguments.popFirst() }
        let isFlag = next.begins(with: "-") && next != "-"
        guard !isFlag || (setting?.rule.takesNumber ?? false && next.isNegativeNumber) else { return nil }
        return arguments.popFirst()
    }

    // MARK: Operands

    private mutating func takeOperand(_ operand: String) {
        if !hasUnknownCommand, !scope.commands.isEmpty { return takeCommand(operand) }
        operands.append((operand, false))
        if !schema.isInterleaved { isInRest = true }
        guard let taker = settings.first(where: \.takesRest), !taker.passesUnknown else { return }
        if operands.count > settings.count(where: { $0.positional != nil }) { isInRest = true }
    }

    /// Takes an operand where a command is expected.
    private mutating func takeCommand(_ name: String) {
        let (commands, defaultCommand) = scope
        func isNamed(_ command: Schema.Command) -> Bool {
            command.name.hasSameBytes(as: name) || command.aliases.contains { $0.hasSameBytes(as: name) }
        }
        if let command = commands.first(where: isNamed) {
            namesCommand = true
            return choose(command.name)
        }
        if let defaultCommand, schema.operandCount(of: path(of: defaultCommand)) != 0...0 {
            choose(defaultCommand)
            return takeOperand(name)
        }
        hasUnknownCommand = true
        let names = commands.filter { !$0.isHidden }.flatMap { [$0.name] + $0.aliases }
        report(.unknownCommand(nearest: names.nearest(to: name)), at: name)
    }

    private func path(of command: String) -> String { result.command.map { "\($0) \(command)" } ?? command }

    mutating func choose(_ name: String) {
        let path = path(of: name)
        result.command = path
        settings = schema.settings(of: path)
        flags = FlagTable(settings, common: schema.commonFlags, versionShort: schema.versionShort)
    }

    private var nextOperandMayBeNumber: Bool {
        let places = settings.positionals
        guard !places.isEmpty else { return true }
        if operands.count < places.count, places[operands.count].rule.takesNumber { return true }
        return places.prefix(operands.count).contains { $0.takesManyOperands && $0.rule.takesNumber }
    }
}

extension ValueRule {
    /// Whether a value, or an element of it, is a number.
    fileprivate var takesNumber: Bool {
        switch type {
        case .integer, .real: true
        case .array: element?.takesNumber ?? false
        default: false
        }
    }
}

extension String {
    /// Returns whether the text begins with these bytes. (`hasPrefix` compares characters, and treats a dash with a
    /// combining mark as one character.)
    fileprivate func begins(with prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Whether this begins a negative number.
    fileprivate var isNegativeNumber: Bool {
        guard begins(with: "-"), let next = unicodeScalars.dropFirst().first else { return false }
        return "0"..."9" ~= next || next == "." || ["-inf", "-infinity"].contains(lowercased())
    }
}

extension ArgumentParser {
    /// Sets the value of a setting from text. A repeated flag replaces the earlier value, or appends to it if the
    /// setting repeats.
    mutating func set(_ setting: SettingDeclaration, to text: String, shown: String?, from place: String) {
        do throws(Schema.Problem.Reason) {
            let value =
                setting.takesEntries
                ? try setting.rule.entry(ofText: text, orWhole: !setting.isMap, now: context.now)
                : try setting.flagRule.value(ofText: text, now: context.now)
            set(setting, to: value, shown: shown, from: place)
        } catch {
            report(.value(text, error), at: place)
            note(setting, from: place)
            given[setting.key] = (place, setting.takesElements ? nil : shown)
        }
    }

    mutating func set(_ setting: SettingDeclaration, to value: PropertyList, shown: String?, from place: String) {
        let repeats = setting.takesElements
        if schema.isGivenOnce(setting), given[setting.key] != nil { report(.repeatedFlag, at: place) }
        if let list = setting.ordered, place.hasPrefix("-"), !place.contains(" ") {
            result.uses.append(.init(list: list, flag: setting.writtenName, value: value))
        }
        if repeats {
            var elements = result.values[setting.key]?.arrayValue ?? []
            // The array has no second owner then, and grows in place.
            result.values[setting.key] = .array([])
            // A repeated flag takes one element, or several between separators.
            elements += setting.rule.separator == nil ? [value] : value.arrayValue ?? []
            result.values[setting.key] = .array(elements)
        } else if setting.takesEntries {
            var entries = result.values[setting.key]?.dictionaryValue ?? [:]
            for entry in value.dictionaryValue ?? [:] { entries[entry.key] = entry.value }
            result.values[setting.key] = .dictionary(entries)
        } else {
            result.values[setting.key] = value
        }
        note(setting, from: place)
        given[setting.key] = (place, repeats || setting.takesEntries ? nil : shown)
    }

    mutating func count(_ setting: SettingDeclaration, _ attached: String?, from place: String) {
        if let attached { return set(setting, to: attached, shown: attached, from: place) }
        let former = result.values[setting.key]?.integerValue.flatMap { Int(exactly: $0) } ?? 0
        let (next, overflow) = former.addingReportingOverflow(1)
        result.values[setting.key] = .integer(PropertyList.Integer(overflow ? former : next))
        note(setting, from: place)
        given[setting.key] = (place, nil)
    }

    mutating func note(_ setting: SettingDeclaration, from place: String) { note(setting.deprecated, from: place) }

    /// Notes that a flag was used although it is deprecated for a reason.
    private mutating func note(_ reason: String?, from place: String) {
        guard let reason else { return }
        let note = Schema.Arguments.Note.deprecated(place, reason: reason)
        if !result.notes.contains(note) { result.notes.append(note) }
    }

    /// Applies `--set :a:b=VALUE`.
    mutating func assign(_ text: String) {
        let scalars = text.unicodeScalars
        guard let end = scalars.firstIndex(of: "=") else { return report(.malformedAssignment, at: text) }
        let (name, value) = (String(scalars[..<end]), String(scalars[scalars.index(after: end)...]))
        guard !name.isEmpty else { return report(.malformedAssignment, at: text) }
        do throws(EntryPath.Failure) {
            let path = name.hasPrefix(":") ? try EntryPath(parsing: name) : EntryPath([.init(name)])
            try assign(value, at: path, written: name)
        } catch {
            report(.path(error), at: name)
        }
    }

    private mutating func assign(
        _ text: String, at path: EntryPath, written: String
    ) throws(EntryPath.Failure) {
        guard let key = path.components.first, let setting = setting(key.text) else {
            return report(
                .unknownKey(nearest: settings.map(\.key).nearest(to: path.components.first?.text ?? "")),
                at: "--set \(written)")
        }
        guard !setting.hasSecrets(at: path.components.dropFirst()) else {
            let flags = setting.allFlags.map { "--\($0)" } + setting.environment.map { "the variable \($0)" }
            return report(.secret(instead: flags.isEmpty ? ["the stored setting"] : flags), at: "--set \(written)")
        }
        note(setting, from: "--set \(written)")
        guard path.components.count > 1 else { return set(setting, to: text, shown: text, from: "--set \(written)") }
        let value: PropertyList
        do throws(Schema.Problem.Reason) {
            value = try setting.rule.value(ofText: text, inside: path.components.dropFirst(), now: context.now)
        } catch {
            return report(.value(text, error), at: "--set \(written)")
        }
        try put(value, at: path, of: setting)
        given[key.text] = ("--set \(written)", nil)
    }

    /// Returns the setting with this key, or with this former key.
    private func setting(_ key: String) -> SettingDeclaration? {
        settings.declaration(of: key)
            ?? settings.first { $0.renamedFrom.contains { $0.hasSameBytes(as: key) } }
    }

    /// Applies `--reset`, or `--reset=KEY`.
    private mutating func addReset(of key: String?, _ flag: String) {
        guard let key else {
            result.reset = .all
            return
        }
        let name = key.hasPrefix(":") ? String(key.dropFirst()) : key
        func isNamed(_ setting: SettingDeclaration) -> Bool {
            ([setting.key] + setting.renamedFrom).contains(exactly: name) || setting.storedKey.hasSameBytes(as: key)
        }
        // Without a command, a key can be that of several.
        let own = settings.filter(isNamed)
        let named = own.isEmpty ? schema.allSettings.filter(isNamed) : own
        if named.isEmpty {
            let place = "\(flag) \(key.isEmpty ? "\"\"" : key)"
            report(.unknownKey(nearest: schema.allSettings.map(\.key).nearest(to: name)), at: place)
        }
        switch result.reset {
        case nil: result.reset = .keys(named.map(\.storedKey))
        case .keys(let others): result.reset = .keys(others + named.map(\.storedKey))
        case .all: break
        }
    }

    /// Whether the command line asks for no more than storing: `--reset`, or `--save` without an operand and a command.
    private var onlyStores: Bool {
        guard !hasUnknownCommand else { return false }
        return result.reset != nil || result.saves && operands.isEmpty && !namesCommand
    }

    /// Changes an entry within the value that would be in force without the command line.
    private mutating func put(
        _ value: PropertyList, at path: EntryPath, of setting: SettingDeclaration
    ) throws(EntryPath.Failure) {
        let former =
            result.values[setting.key] ?? variableValue(of: setting)
            ?? storedLayers.lazy.compactMap { $0.values[setting.key] }.first ?? setting.defaultValue
        var domain = PropertyList.dictionary(former.map { [setting.key: $0] } ?? [:])
        var path = path
        path.components[0] = EntryPath.Component(setting.key)
        try domain.checkEmptyKeys(of: path)
        try domain.set(value, at: path)
        result.values[setting.key] = domain[setting.key]
    }

    private func variableValue(of setting: SettingDeclaration) -> PropertyList? {
        setting.variable(in: { context.variables[$0] }).flatMap {
            try? setting.rule.value(ofText: $0.text, now: context.now)
        }
    }
}

extension Schema {
    /// Whether a flag of the setting is refused if the command line has given its value before.
    package func isGivenOnce(_ setting: SettingDeclaration) -> Bool {
        setting.isOnce || isStrict && setting.rule.type == .array && !setting.takesElements
    }
}

extension ValueRule {
    /// Parses text by the rule for an entry at a path within a value of this rule.
    fileprivate func value(
        ofText text: String, inside path: ArraySlice<EntryPath.Component>, now: Date?
    ) throws(Schema.Problem.Reason) -> PropertyList {
        var rule: ValueRule? = self
        for component in path { rule = rule?.inside(component) }
        guard let rule else { return .bare(text) }
        return try rule.value(ofText: text, now: now)
    }
}

extension PropertyList {
    /// Parses text without a declared rule: a property list if it contains a bracket or quote, otherwise a string.
    static func bare(_ text: String) -> PropertyList {
        guard text.contains(where: { "()[]{}<>\"".contains($0) }) else { return .string(text) }
        return (try? PropertyList(parsing: text)) ?? .string(text)
    }
}

extension SettingDeclaration {
    /// Whether the flag is repeated, once for each element of the value.
    var takesElements: Bool { repeats && rule.type == .array }

    /// Whether the flag is repeated, once for each entry of the value: `--limit ada=5`.
    package var takesEntries: Bool { repeats && rule.type == .dictionary }

    /// The rule for the value that follows the flag.
    package var flagRule: ValueRule { takesElements && rule.separator == nil ? rule.element ?? ValueRule() : rule }

    /// A description of the value that follows the flag.
    package var expectation: String {
        takesEntries ? "KEY=VALUE" : words.isEmpty ? flagRule.expectation : listed(words)
    }

    /// Returns the first variable of the setting that is set. An empty variable is unset.
    package func variable(in variables: (String) -> String?) -> (name: String, text: String)? {
        for name in environment {
            if let text = variables(name), !text.isEmpty { return (name, text) }
        }
        for flag in flagValues {
            for name in flag.environment {
                guard let text = variables(name), !text.isEmpty, Bool(word: text) != false else { continue }
                return (name, flagRule.text(of: flag.value))
            }
        }
        return nil
    }
}
