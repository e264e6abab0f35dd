internal import PropertyLists
internal import Queries

extension ValueRule {
    /// The maximum nesting depth of rules.
    static let maximumRuleDepth = 16

    /// The attributes of a rule. Each follows the ones that it depends on for reading.
    static let attributes: [Attribute<ValueRule>] = [
        .name("Type", { $1(&$0.optionalType) }),
        .name("Kind", { $1(&$0.kind) }),
        Attribute(name: "Elements") { value, rule, place in
            if let inner = Self.inner(value, &place) { rule.contents = .each(inner) }
        } write: { rule in
            rule.type == .dictionary ? nil : rule.element.map { attributes.written($0) }
        },
        Attribute(name: "Entries", read: readEntries, write: writtenEntries),
        bound("Minimum", { $1(&$0.minimum) }), bound("Maximum", { $1(&$0.maximum) }),
        .count("MinimumLength", { $1(&$0.minimumLength) }), .count("MaximumLength", { $1(&$0.maximumLength) }),
        .count("MinimumCount", { $1(&$0.minimumCount) }), .count("MaximumCount", { $1(&$0.maximumCount) }),
        .flag("Unique", { $1(&$0.isUnique) }),
        Attribute(name: "Pattern") { value, rule, place in
            guard let text = value.stringValue else { return place.report(.wrongValue(expected: "a string")) }
            rule.pattern = Pattern(text)
        } write: { rule in
            rule.pattern.map { .string($0.text) }
        },
        Attribute(name: "Choices") { value, rule, place in
            let single = rule
            rule.choices = place.readEach(value) { choice, place in single.read(choice, &place) }
            if value == .array([]) { place.find(.empty) }
        } write: { rule in
            rule.choices.isEmpty ? nil : .array(rule.choices)
        },
        .names("ChoiceTitles", { $1(&$0.choiceTitles) }),
        Attribute(name: "ChoicesFrom") { value, rule, place in
            // A command from another user's file must not run.
            guard place.source == .head else { return place.report(.notInHead) }
            guard let text = value.stringValue else { return place.report(.wrongValue(expected: "a string")) }
            rule.choicesFrom = text
        } write: { rule in
            rule.choicesFrom.map { .string($0) }
        },
        .text("Separator", { $1(&$0.separator) }),
        Attribute(name: "Exists") { value, rule, place in
            guard let flag = value.booleanValue ?? value.stringValue.flatMap(Bool.init(word:)) else {
                return place.report(.wrongValue(expected: "true or false"))
            }
            rule.exists = flag
        } write: { rule in
            rule.exists.map { .boolean($0) }
        },
    ]

    /// The type as an optional, as the attribute table requires.
    private var optionalType: ValueType? {
        get { type }
        set { if let newValue { type = newValue } }
    }

    private static func bound(
        _ name: String, _ part: @escaping Access<ValueRule, PropertyList?>
    ) -> Attribute<ValueRule> {
        Attribute(name: name) { value, rule, place in
            let bound = rule.read(value, &place)
            part(&rule) { $0 = bound }
        } write: { rule in
            Attribute<ValueRule>.value(of: part, in: rule) ?? nil
        }
    }

    /// Returns the value converted to this type, or reports an error and returns nil.
    func read(_ value: PropertyList, _ place: inout AttributeReader) -> PropertyList? {
        if type == .any { return value }
        if case .string(let text) = value, type != .string {
            do throws(Schema.Problem.Reason) {
                return try self.value(ofText: text)
            } catch {
                place.report(.refused(error))
                return nil
            }
        }
        let adapted = adapted(value)
        guard adapted.kind.rawValue == type.rawValue else {
            place.report(.wrongValue(expected: expectation))
            return nil
        }
        return adapted
    }

    /// Returns the rule for the contents, or reports that it is nested too deeply and returns nil.
    private static func inner(_ value: PropertyList, _ place: inout AttributeReader) -> ValueRule? {
        guard place.path.components.count < 2 * maximumRuleDepth else {
            place.report(.nestedTooDeeply(limit: maximumRuleDepth))
            return nil
        }
        var rule = ValueRule()
        rule.takeType(ofKind: value)
        place.read(value, into: &rule, by: attributes)
        return rule
    }

    /// Makes a duration or a size a number if the declaration has no type.
    mutating func takeType(ofKind value: PropertyList) {
        guard value["Type"] == nil, type == .string, let kind = value["Kind"]?.stringValue.flatMap(ValueKind.init),
            kind.isQuantity
        else { return }
        type = .integer
    }

    /// Reads a dictionary as one rule for all entries, or an array as one declaration for each entry.
    private static let readEntries: @Sendable (PropertyList, inout ValueRule, inout AttributeReader) -> Void = {
        value, rule, place in
        guard case .array = value else {
            if let inner = Self.inner(value, &place) { rule.contents = .each(inner) }
            return
        }
        guard place.path.components.count < 2 * maximumRuleDepth else {
            return place.report(.nestedTooDeeply(limit: maximumRuleDepth))
        }
        rule.contents = .entries(place.readEach(value) { SettingDeclaration.read($0, &$1) })
    }

    private static let writtenEntries: @Sendable (ValueRule) -> PropertyList? = { rule in
        switch rule.contents {
        case .entries(let entries): .array(entries.map { SettingDeclaration.attributes.written($0) })
        case .each(let inner) where rule.type == .dictionary: attributes.written(inner)
        default: nil
        }
    }
}
