package import PropertyLists

extension Form {
    /// The control for one setting.
    package struct Control: Sendable {
        /// The kinds of controls.
        package enum Kind: Hashable, Sendable {
            case toggle
            case choice([PropertyList])
            /// A number with optional bounds.
            case number(minimum: PropertyList?, maximum: PropertyList?)
            case text
            case secret
            /// A date, or data, as text.
            case date, data
            /// An array or a dictionary, as a property list.
            case list, dictionary
        }

        package let setting: SettingDeclaration
        package let kind: Kind
        /// Whether an administrator has forced the value, so that it is read-only.
        package let isForced: Bool

        package var key: String { setting.key }
        package var title: String { setting.name }
        package var isRequired: Bool { setting.isRequired }

        init(_ setting: SettingDeclaration, isForced: Bool) {
            self.setting = setting
            self.isForced = isForced
            kind = Self.kind(of: setting)
        }

        private static func kind(of setting: SettingDeclaration) -> Kind {
            if setting.hasSecrets { return .secret }
            if !setting.rule.choices.isEmpty { return .choice(setting.rule.choices) }
            return switch setting.rule.type {
            case .boolean: .toggle
            case .integer, .real: .number(minimum: setting.rule.minimum, maximum: setting.rule.maximum)
            case .string, .any: .text
            case .date: .date
            case .data: .data
            case .array: .list
            case .dictionary: .dictionary
            }
        }
    }
}

extension Form.Control {
    /// A short description of valid answers: `yes or no`, `from 1 to 365 copies`.
    package var expectation: String? {
        switch kind {
        case .toggle: "yes or no"
        case .choice: nil
        case .number, .text, .secret, .list:
            if let bounds = setting.bounds {
                bounds
            } else {
                setting.rule.type == .string ? nil : setting.rule.expectation
            }
        case .date, .data, .dictionary: setting.rule.expectation
        }
    }

    /// Parses an answer. A choice can also be given by its number in the list.
    ///
    /// - Parameter old: The current value, whose type is kept if the schema leaves the type open and the text fits it.
    func value(
        ofAnswer text: String, replacing old: PropertyList? = nil
    ) throws(Schema.Problem.Reason) -> PropertyList {
        let trimmed = text.trimmed
        switch kind {
        case .toggle where ["y", "n"].contains(trimmed.lowercased()): return .boolean(trimmed.lowercased() == "y")
        case .choice(let choices):
            let value = try? setting.rule.value(ofText: trimmed)
            if let value, choices.contains(value) { return value }
            if let choice = choices.first(where: { setting.rule.title(of: $0) == trimmed }) { return choice }
            if let number = Int(trimmed), 1...choices.count ~= number { return choices[number - 1] }
            return try setting.rule.value(ofText: trimmed)
        case .text where setting.rule.isOpen:
            if let value = old.flatMap({ try? ValueRule(typeOf: $0).value(ofText: text) }) { return value }
            return try setting.rule.value(ofText: text)
        case .text, .secret: return try setting.rule.value(ofText: text)
        // People write "1h 30m" and "2 GB".
        case .number where isQuantity: return try setting.rule.value(ofText: trimmed.filter { $0 != " " })
        default: return try setting.rule.value(ofText: trimmed)
        }
    }

    /// Whether the value is written with a unit of time or size.
    package var isQuantity: Bool { setting.rule.kind?.isQuantity ?? false }

    /// Returns a value as a user reads it: a secret masked, and a choice by its title.
    package func shownText(of value: PropertyList) -> String {
        switch kind {
        case .secret: mask
        case .choice where !setting.rule.choiceTitles.isEmpty: setting.rule.title(of: value)
        default: text(of: value)
        }
    }

    /// Returns the number that follows a value, or precedes it, in steps of the unit that its text ends with; nil
    /// without one. Without a value, the first number is the lowest one.
    package func stepped(_ value: PropertyList?, by step: Int) -> PropertyList? {
        guard case .number(let minimum, let maximum) = kind else { return nil }
        guard let value else { return minimum ?? maximum ?? (setting.rule.type == .real ? .real(0) : .integer(0)) }
        if case .real(let real) = value {
            let sum = real + Double(step) / 10
            // Decimal steps, without the digits that binary fractions leave.
            let rounded = (sum * 1e9).rounded() / 1e9
            return .real(rounded.isFinite ? rounded : sum)
        }
        guard case .integer(let integer) = value, let number = Int64(exactly: integer) else { return nil }
        let units: [Int64] =
            switch setting.rule.kind {
            case .duration: [604_800, 86_400, 3600, 60]
            case .size: (1...6).reversed().map { 1 << (10 * $0) }
            default: []
            }
        // Below one minute there are seconds, not zero minutes.
        let unit = units.first { number % $0 == 0 && (step > 0 ? number > 0 : number > $0) } ?? 1
        let (product, isLarge) = Int64(step).multipliedReportingOverflow(by: unit)
        let (sum, isOver) = number.addingReportingOverflow(product)
        return isLarge || isOver ? nil : .integer(PropertyList.Integer(sum))
    }

    /// Returns the text of the number that follows, or precedes, the one in a text.
    package func stepped(_ text: String, by step: Int) -> String? {
        (try? value(ofAnswer: text)).flatMap { stepped($0, by: step) }.map(self.text)
    }

    /// Returns a value as text that can be entered as an answer.
    package func text(of value: PropertyList) -> String {
        if case .boolean(let flag) = value { return flag ? "yes" : "no" }
        return setting.rule.fieldText(of: value)
    }
}
