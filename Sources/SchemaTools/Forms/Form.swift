package import PropertyLists
package import SettingsSchema

/// The state of a form for a schema: pages with groups of controls, and the changes made so far.
///
/// It is independent of the user interface, which shows the controls and passes on the answers.
package struct Form: Sendable {
    package struct Page: Sendable {
        package let title: String
        package let groups: [Group]
    }

    package struct Group: Sendable {
        package let title: String?
        package let controls: [Control]
    }

    /// The changes that saving a form makes in one transaction.
    package struct Changes: Hashable, Sendable {
        package var values: PropertyList.Dictionary
        /// The keys whose values are removed, so that a lower layer takes effect.
        package var resets: [String]

        package init(values: PropertyList.Dictionary = [:], resets: [String] = []) {
            self.values = values
            self.resets = resets
        }

        package var isEmpty: Bool { values.isEmpty && resets.isEmpty }
        package var count: Int { values.count + resets.count }
    }

    package enum Answer: Hashable, Sendable {
        case accepted(PropertyList)
        /// The reason the answer is rejected, as a sentence.
        case refused(String)
    }

    package let schema: Schema
    package let pages: [Page]
    package private(set) var changes = Changes()
    private var values: [Name: Schema.ValueInForce]
    /// The values of each key in all layers that have one, highest priority first.
    private var layers: [Name: [Schema.ValueInForce]]
    /// The open conflicts of mirrors at each key, as lines of text.
    package var mirrorConflicts: [Name: [String]] = [:]

    /// Creates a form.
    ///
    /// - Parameters:
    ///   - values: The values in force, each with its layer, including defaults.
    ///   - layers: The values in all layers, to show those that the user's values override.
    ///   - forced: The keys that an administrator has forced.
    package init(
        _ schema: Schema, values: [Name: Schema.ValueInForce] = [:],
        layers: [Name: [Schema.ValueInForce]] = [:], forced: Set<Name> = []
    ) {
        self.schema = schema
        self.values = values
        self.layers = layers
        func page(_ title: String, _ settings: [SettingDeclaration]) -> Page? {
            let visible = settings.filter { !$0.isTransient && !$0.takesOperands }
            guard !visible.isEmpty else { return nil }
            return Page(
                title: title,
                groups: visible.grouped.map { group in
                    Group(
                        title: group.title,
                        controls: group.settings.map { Control($0, isForced: forced.contains(Name($0.key))) })
                })
        }
        pages =
            ([page(schema.title ?? schema.domain, schema.settings.map(\.underStoredKey))]
            + schema.allCommands.map { name, command in
                page(command.title ?? name, command.settings.map(\.underStoredKey))
            }).compactMap(\.self)
    }
}

// MARK: Display

extension Form {
    package var controls: [Control] { pages.flatMap(\.groups).flatMap(\.controls) }

    package func control(_ key: String) -> Control? { controls.first { $0.key.hasSameBytes(as: key) } }

    /// Returns the value of a key with the changes made so far, and its layer; nil if it has none.
    package func value(of key: String) -> Schema.ValueInForce? {
        if let value = changes.values[key] { return .init(value, layer: .form) }
        let value = storedValue(of: key)
        guard changes.resets.contains(exactly: key) || value == nil else { return value }
        let beneath = layers(of: key).first { !$0.layer.isOfUser && $0.fault == nil }
        if let beneath { return beneath }
        return control(key)?.setting.defaultValue.map { .init($0, layer: .default) }
    }

    /// Returns the stored values of a key and its default, highest priority first.
    package func layers(of key: String) -> [Schema.ValueInForce] { layers[Name(key)] ?? [] }

    /// Returns the stored value in force, without the changes made in this form.
    package func storedValue(of key: String) -> Schema.ValueInForce? { values[Name(key)] }

    /// Whether the form changes the setting.
    package func isChanged(_ key: String) -> Bool {
        changes.values[key] != nil || changes.resets.contains(exactly: key)
    }

    /// Whether a value of the user is stored.
    package func hasUserValue(_ key: String) -> Bool {
        ((storedValue(of: key).map { [$0] } ?? []) + layers(of: key)).contains { $0.layer.isOfUser }
    }

    /// Returns the value as its control shows it, with secrets masked.
    package func shownValue(of key: String) -> String? {
        guard let control = control(key), let value = value(of: key) else { return nil }
        return control.shownText(of: value.value)
    }

    /// The changes as a user reads them: each setting with its stored value and the new one.
    package var review: [(control: Control, old: String, new: String)] {
        controls.filter { isChanged($0.key) }.map { control in
            let text = { (value: Schema.ValueInForce?) in value.map { control.shownText(of: $0.value) } ?? "no value" }
            let value = value(of: control.key)
            let origin = changes.values[control.key] == nil ? value.map { " (\($0.layer))" } ?? "" : ""
            let former =
                storedValue(of: control.key) ?? control.setting.defaultValue.map { .init($0, layer: .default) }
            return (control, text(former), text(value) + origin)
        }
    }
}

// MARK: Answers

extension Form {
    /// Parses and applies an answer.
    package mutating func answer(_ text: String, to key: String) -> Answer {
        guard let control = control(key) else { return .refused("There is no such setting.") }
        do throws(Schema.Problem.Reason) {
            var new = try control.value(ofAnswer: text, replacing: value(of: key)?.value)
            if control.keepsEntries, let old = storedValue(of: key), old.layer.isOfUser {
                new = new.keepingEntries(of: old.value)
            }
            return set(new, for: key)
        } catch {
            return .refused(error.asRefusal)
        }
    }

    /// Applies a value, as from a toggle or a choice.
    package mutating func set(_ value: PropertyList, for key: String) -> Answer {
        guard let control = control(key) else { return .refused("There is no such setting.") }
        guard !control.isForced else { return .refused("This value is forced by an administrator.") }
        let problems = control.setting.rule.problems(with: value, isSecret: control.kind == .secret)
        if let problem = problems.first { return .refused(problem.asRefusal(isInArray: control.kind == .list)) }
        changes.resets.removeAll { $0.hasSameBytes(as: key) }
        changes.values[key] = storedValue(of: key)?.value == value ? nil : value
        return .accepted(value)
    }

    /// Removes the user's value, so that a lower layer or the default takes effect.
    package mutating func reset(_ key: String) -> Answer {
        guard let control = control(key) else { return .refused("There is no such setting.") }
        guard !control.isForced else { return .refused("This value is forced by an administrator.") }
        guard !control.isRequired || control.setting.defaultValue != nil else {
            return .refused("A value is required.")
        }
        discard(key)
        if hasUserValue(key) { changes.resets.append(key) }
        return .accepted(control.setting.defaultValue ?? .string(""))
    }

    /// Replaces the changes by earlier ones.
    package mutating func restore(_ earlier: Changes) { changes = earlier }

    /// Removes the change to one setting.
    package mutating func discard(_ key: String) {
        changes.values[key] = nil
        changes.resets.removeAll { $0.hasSameBytes(as: key) }
    }

    /// Takes the values that are stored now, and returns the keys of changed settings whose stored value is another
    /// one than before.
    package mutating func update(
        values new: [Name: Schema.ValueInForce], layers: [Name: [Schema.ValueInForce]]
    ) -> [String] {
        let conflicts = (changes.values.keys.map(\.self) + changes.resets).filter {
            storedValue(of: $0)?.value != new[Name($0)]?.value
        }
        (values, self.layers) = (new, layers)
        for entry in changes.values where new[entry.name]?.value == entry.value { discard(entry.key) }
        changes.resets = changes.resets.filter(hasUserValue)
        return conflicts.filter(isChanged)
    }

    /// The problems of the values as a whole: those that the answers have made, and those that were there before.
    package var problems: [Schema.Problem] { problems(with: value) }

    /// The problems that the answers have made. The form cannot be saved while there are any. Others do not matter: a
    /// required value may come from a variable or a flag of the program.
    package var obstacles: [Schema.Problem] {
        let former = problems(with: storedValue)
        return problems.filter { problem in
            !former.contains(problem) || problem.keys.contains { changes.values[$0] != nil }
        }
    }

    private func problems(with value: (String) -> Schema.ValueInForce?) -> [Schema.Problem] {
        var layers = [Relations.Layer(.forced), .init(.arguments), .init(.stored)]
        for setting in schema.hasRelations ? schema.allSettings : [] {
            guard let value = value(setting.storedKey), value.layer != .default else { continue }
            let index = value.layer == .forced ? 0 : value.layer == .form || value.layer.isOfUser ? 1 : 2
            try? layers[index].values.put(value.value, at: setting.storedPaths[0])
        }
        return schema.relationProblems(in: layers)
    }

    /// Returns a problem of the answers as a sentence that names settings by their titles.
    package func sentence(for problem: Schema.Problem) -> String {
        let title = { (key: String) in control(key)?.title ?? key }
        let subject = title(problem.place)
        switch problem.reason {
        case .conflict(let other): return "\(subject) and \(title(other)) cannot both have a value."
        case .requires(let other): return "\(subject) requires a value for \(title(other))."
        case .group(.exactlyOne, let keys): return "Exactly one of \(listed(keys.map(title))) must have a value."
        case .group(.atMostOne, let keys): return "At most one of \(listed(keys.map(title))) can have a value."
        case .group(.atLeastOne, let keys): return "At least one of \(listed(keys.map(title))) must have a value."
        case .message(let text): return "\(subject): \(text)".asSentence
        default: return "\(subject) \(problem.reason)".asSentence
        }
    }
}

extension PropertyList {
    /// Returns the dictionary together with the entries of another one that it lacks.
    fileprivate func keepingEntries(of old: PropertyList) -> PropertyList {
        guard case .dictionary(var entries) = self, case .dictionary(let former) = old else { return self }
        for entry in former { entries[entry.key] = entries[entry.key]?.keepingEntries(of: entry.value) ?? entry.value }
        return .dictionary(entries)
    }
}

extension Schema.Problem {
    /// The keys of the settings whose values contradict each other.
    fileprivate var keys: [String] {
        switch reason {
        case .conflict(let other): [place, other]
        case .group(_, let keys): keys
        default: [place]
        }
    }

    /// The rule as a sentence, which names the entry if it is inside the value.
    fileprivate func asRefusal(isInArray: Bool) -> String {
        guard let first = path.components.first else { return reason.asRefusal }
        let element = isInArray ? first.index.map { "Element \($0 + 1)" } : nil
        return "\(element ?? first.text) \(reason)".asSentence
    }
}

extension Schema.Problem.Reason {
    /// The rule as a sentence.
    package var asRefusal: String { "\(self)".capitalizedFirst.asSentence }
}

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
        case .number where isQuantity, .date, .data:
            [setting.rule.expectation, setting.bounds].compactMap(\.self).joined(separator: ", ")
        case .number, .text, .secret, .list:
            if let bounds = setting.bounds {
                bounds
            } else {
                setting.rule.type == .string ? nil : setting.rule.expectation
            }
        case .dictionary: setting.rule.expectation
        }
    }

    /// Whether the entries that an answer leaves out are kept. They are not shown, because one of them is a secret.
    package var keepsEntries: Bool { kind == .secret && !setting.isSensitive && setting.rule.type == .dictionary }

    /// Whether the choices have numbers, by which they can be given. They have none if one of them looks like a number,
    /// because the answer 2 would then mean either of two choices.
    var numbersChoices: Bool {
        guard case .choice(let choices) = kind else { return false }
        return !choices.contains { choice in
            [text(of: choice), setting.rule.title(of: choice)].contains { Double($0.trimmed) != nil }
        }
    }

    /// Parses an answer. A choice can also be given by its number in the list, if it has one.
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
            if numbersChoices, let number = Int(trimmed), 1...choices.count ~= number { return choices[number - 1] }
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
    package var isQuantity: Bool { setting.rule.kind?.quantity != nil }

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
        let units = setting.rule.kind?.quantity?.steps ?? []
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
