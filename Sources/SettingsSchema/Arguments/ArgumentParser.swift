internal import PropertyLists

/// The walk over a command line: it takes what it understands and collects what it does not.
struct ArgumentParser {
    let schema: Schema
    let context: Schema.Arguments.Context
    private var arguments: ArraySlice<String>
    var flags: FlagTable
    /// The settings that hold for the chosen command.
    var settings: [SettingDeclaration]
    var result = Schema.Arguments()
    var mistakes: [Schema.Arguments.Mistake] = []
    /// For each key that was given the flag or operand, and the text as it was written.
    var given = GivenSettings()
    var operands: [String] = []
    private var help: Schema.Arguments.HelpRequest?
    private var asksForVersion = false
    /// Whether a command was named that there is none of, so that its flags are not known either.
    private(set) var isLost = false
    /// Whether what follows is the rest, flags and all.
    private var isInRest = false

    init(schema: Schema, arguments: [String], context: Schema.Arguments.Context) {
        self.schema = schema
        self.context = context
        self.arguments = arguments[...]
        settings = schema.settings
        flags = FlagTable(schema.settings)
    }

    mutating func parse() -> Schema.Arguments.Outcome {
        while let argument = arguments.popFirst() { take(argument) }
        if let help { return .help(.init(command: result.command, showsValues: help.showsValues)) }
        if asksForVersion { return .version }
        finish()
        return mistakes.isEmpty ? .values(result) : .mistakes(mistakes)
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

    /// A name as it stands behind its dashes, and what is attached to it behind an equals sign.
    private func parts(_ argument: String, dashes: Int) -> (name: String, value: String?) {
        let body = argument.unicodeScalars.dropFirst(dashes)
        guard let end = body.firstIndex(of: "=") else { return (String(body), nil) }
        return (String(body[..<end]), String(body[body.index(after: end)...]))
    }

    private mutating func takeLong(_ argument: String, dashes: Int) {
        let (name, value) = parts(argument, dashes: dashes)
        let written = (dashes == 1 ? "-" : "--") + name
        if let meaning = flags.long[name] { return apply(meaning, written, attached: value) }
        refuse(written, nearest: flags.nearest(toLong: name), hasValue: value != nil)
    }

    /// `-k`, `-k3`, `-k=3`, `-abc`, or the name of a long flag as NeXT wrote it.
    private mutating func takeSingleDash(_ argument: String) {
        let (name, _) = parts(argument, dashes: 1)
        if name.unicodeScalars.count > 1, flags.long[name] != nil { return takeLong(argument, dashes: 1) }
        // By scalars, so that a value may begin with one that combines with what is before it.
        var rest = argument.unicodeScalars.dropFirst()
        guard let first = rest.first, flags.short[String(first)] != nil else {
            if argument.isNegativeNumber, nextOperandMayBeNumber { return takeOperand(argument) }
            // To a single letter everything is near.
            let isHinted = name.unicodeScalars.count > 1 || flags.long[name] != nil
            let nearest = isHinted ? flags.nearest(toLong: name) : nil
            return refuse("-\(name)", nearest: nearest, hasValue: argument.contains("="))
        }
        while let character = rest.popFirst() {
            let flag = "-\(character)"
            guard let meaning = flags.short[String(character)] else {
                return refuse(flag, nearest: nil, hasValue: true)
            }
            let isAttached = rest.first == "=" || (meaning.takesValue && !rest.isEmpty)
            let attached = isAttached ? String(rest.first == "=" ? rest.dropFirst() : rest) : nil
            apply(meaning, flag, attached: attached)
            if isAttached || meaning.takesValue { return }
        }
    }

    private mutating func refuse(_ flag: String, nearest: String?, hasValue: Bool) {
        guard !isLost else { return }
        if result.command == nil, let owner = schema.owner(ofFlag: flag) {
            report(.misplacedFlag(command: owner.command), at: flag)
            if !hasValue, owner.takesValue { _ = nextValue(for: nil) }
            return
        }
        report(.unknownFlag(nearest: nearest), at: flag)
        // What was meant for the flag is no operand.
        if !hasValue, let nearest, flags.long[String(nearest.dropFirst(2))]?.takesValue ?? false {
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
        case .value(let setting):
            guard let text = attached ?? nextValue(for: setting) else {
                // What was meant to be given is not missing on top of that.
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

    private mutating func applyCommon(_ common: CommonFlag, _ flag: String, _ attached: String?) {
        guard attached == nil || common.argument != nil else { return report(.needlessValue, at: flag) }
        switch common {
        case .help: help = help ?? .init(command: nil, showsValues: false)
        case .helpValues: help = .init(command: nil, showsValues: true)
        case .version: asksForVersion = true
        case .save: result.saves = true
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
        result.secrets.removeAll { $0.key == setting.key }
        result.secrets.append(.init(key: setting.key, flag: flag, source: source))
        note(setting, from: flag)
        given[setting.key] = (flag, nil)
    }

    /// What to say where the value is missing: what it should be, and how to write one that begins with a dash.
    private func missing(_ setting: SettingDeclaration, _ flag: String) -> String {
        let expected = setting.ruleOfFlag.expectation
        guard let next = arguments.first, next != "--", next.begins(with: "-") else { return expected }
        return "\(expected) (write \(flag)=\(shortened(next)) if that is the value)"
    }

    /// Takes the next argument where it is a value: no flag, unless it is a negative number and one is wanted.
    private mutating func nextValue(for setting: SettingDeclaration?) -> String? {
        guard let next = arguments.first else { return nil }
        let isFlag = next.begins(with: "-") && next != "-"
        guard !isFlag || (setting?.rule.takesNumber ?? false && next.isNegativeNumber) else { return nil }
        return arguments.popFirst()
    }

    // MARK: Operands

    private mutating func takeOperand(_ operand: String) {
        if !schema.commands.isEmpty, result.command == nil, !isLost { return choose(operand) }
        operands.append(operand)
        if settings.contains(where: \.takesRest), operands.count > settings.count(where: { $0.positional != nil }) {
            isInRest = true
        }
    }

    private mutating func choose(_ name: String) {
        guard schema.command(named: name) != nil else {
            isLost = true
            return report(.unknownCommand(nearest: schema.commands.map(\.name).nearest(to: name)), at: name)
        }
        result.command = name
        settings = schema.settings(of: name)
        flags = FlagTable(settings)
    }

    /// Whether a number may stand where the next operand does.
    private var nextOperandMayBeNumber: Bool {
        let places = settings.inPlaces
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
    /// Whether the text begins with these bytes. (`hasPrefix` compares characters, and may see a dash and an accent as
    /// one.)
    fileprivate func begins(with prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Whether a minus sign stands before a number here.
    fileprivate var isNegativeNumber: Bool {
        guard begins(with: "-"), let next = unicodeScalars.dropFirst().first else { return false }
        return "0"..."9" ~= next || next == "." || lowercased().hasPrefix("-inf")
    }
}
