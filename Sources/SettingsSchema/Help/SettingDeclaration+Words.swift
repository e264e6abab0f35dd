internal import PropertyLists
internal import Queries

extension SettingDeclaration {
    /// The flags, the last one with its placeholder: `-k`, `--keep N`.
    package var flagUsage: [String] {
        if hasSecrets { return secretFlags.map { "--\($0.name) \($0.source == .file ? "FILE" : "N")" } }
        let shorts = short.map { ["-\($0)"] } ?? []
        let longs = flags.map { isNegatable ? "--[no-]\($0)" : "--\($0)" }
        guard let last = (shorts + longs).last else { return flagValues.map(\.flag) }
        let value = isSwitch ? "" : isValueOptional ? "[\(longs.isEmpty ? "" : "=")\(valueName)]" : " \(valueName)"
        return (shorts + longs).dropLast() + [last + value]
    }

    /// The operand in a usage line: `TARGET`, `[FILES …]`.
    var operandUsage: String {
        let isMany = takesManyOperands
        let isNeeded = isRequired && defaultValue == nil || rule.minimumCount ?? 0 > 0
        let words = isMany ? "\(operandName) …" : operandName
        return isNeeded ? words : "[\(words)]"
    }

    /// The description of the setting, as sentences.
    package var explanation: String {
        [title.map(\.asSentence), summary.map(\.asSentence), bounds.map { "\($0.capitalizedFirst)." }, notice]
            .compactMap(\.self).joined(separator: " ")
    }

    /// The rules for the value beyond its type: `from 1 to 365 days`.
    package var bounds: String? {
        let unit = shownUnit
        let inner = rule.type == .array ? rule.element ?? rule : rule
        var words: [String] = []
        if !inner.choices.isEmpty, !valueName.contains("|") {
            words.append("one of \(listed(inner.choices.map(inner.text), "or"))")
        }
        if inner.minimum != nil || inner.maximum != nil {
            words.append(
                Schema.Problem.Reason.range(inner.minimum.map(inner.text), inner.maximum.map(inner.text)) + unit)
        } else if !unit.isEmpty {
            words.append("in\(unit)")
        }
        if inner.minimumLength != nil || inner.maximumLength != nil {
            let length = Schema.Problem.Reason.range(
                inner.minimumLength.map(String.init), inner.maximumLength.map(String.init))
            words.append("\(length) long")
        }
        if let pattern = inner.pattern { words.append("matching \(pattern.text)") }
        if rule.minimumCount != nil || rule.maximumCount != nil {
            let count = Schema.Problem.Reason.range(
                rule.minimumCount.map(String.init), rule.maximumCount.map(String.init))
            words.append("\(count) of them")
        }
        if let separator = rule.separator, !separator.isEmpty { words.append("separated by \"\(separator)\"") }
        if repeats, rule.type == .array { words.append("can be repeated") }
        if let values = wordsOfFlagValues { words.append(values) }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// The flags that set a value: `-1 to -9`, `-j for bzip2`.
    private var wordsOfFlagValues: String? {
        guard !flagValues.isEmpty else { return nil }
        let own = flagValues.filter { $0.short == flagRule.text(of: $0.value) }
        let others = flagValues.filter { $0.short != flagRule.text(of: $0.value) }
        let range = own.count > 2 ? ["\(own[0].flag) to \(own[own.count - 1].flag)"] : own.map(\.flag)
        return (range + others.map { "\($0.flag) for \(flagRule.text(of: $0.value))" }).joined(separator: ", ")
    }

    /// The unit after a number. Durations and sizes include their own.
    private var shownUnit: String {
        let hasOwn = rule.kind == .duration || rule.kind == .size
        return hasOwn ? "" : unit.map { " \($0)" } ?? ""
    }

    private var notice: String? {
        guard let deprecated else { return nil }
        return deprecated.isEmpty ? "Deprecated." : "Deprecated: \(deprecated.asSentence)"
    }

    /// The default for help texts; nil if it is empty or false.
    package var shownDefault: String? {
        guard let defaultValue else { return nil }
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

extension String {
    /// The text with a full stop, unless it already ends a sentence.
    var asSentence: String {
        guard let last = unicodeScalars.last else { return self }
        return ".!?…:".unicodeScalars.contains(last) ? self : self + "."
    }

    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
