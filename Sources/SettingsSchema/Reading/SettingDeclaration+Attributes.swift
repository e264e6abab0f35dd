internal import PropertyLists

extension SettingDeclaration {
    /// The attributes of a setting in the order in which they are written.
    static let attributes: [Attribute<SettingDeclaration>] =
        [
            Attribute(name: "Key") { value, setting, place in
                guard let text = value.stringValue else { return place.report(.wrongValue(expected: "a string")) }
                setting.key = text
            } write: { setting in
                .string(setting.key)
            }
        ] + ValueRule.attributes.map { $0.lifted(\.rule) } + ownAttributes

    private static let ownAttributes: [Attribute<SettingDeclaration>] = [
        Attribute(name: "Default") { value, setting, place in
            setting.defaultValue = setting.rule.read(value, &place)
        } write: { setting in
            setting.defaultValue
        },
        .flag("Required", \.isRequired),
        .names("Conflicts", \.conflicts), .names("Requires", \.requires), .names("ExactlyOneOf", \.exactlyOneOf),
        .text("Title", \.title), .text("Summary", \.summary), .text("Group", \.group),
        .text("Placeholder", \.placeholder), .text("Unit", \.unit),
        Attribute(name: "Deprecated") { value, setting, place in
            if let text = value.stringValue, ValueRule.boolean(text) == nil {
                setting.deprecated = text
            } else if let flag = value.booleanValue ?? value.stringValue.flatMap(ValueRule.boolean) {
                setting.deprecated = flag ? "" : nil
            } else {
                place.report(.wrongValue(expected: "true, or the reason"))
            }
        } write: { setting in
            setting.deprecated.map { $0.isEmpty ? .boolean(true) : .string($0) }
        },
        .names("Flag", \.flags), .text("Short", \.short), .flag("Negatable", \.isNegatable),
        .flag("Repeats", \.repeats), .count("Positional", \.positional), .flag("Rest", \.takesRest),
        .names("Environment", \.environment), .flag("Sensitive", \.isSensitive),
        .flag("Mirrored", \.isMirrored, preset: true), .flag("Merge", \.merges), .flag("Transient", \.isTransient),
        .flag("ByHost", \.isByHost), .names("RenamedFrom", \.renamedFrom),
    ]

    /// Reads a setting. One without a key keeps its place in the list until all mistakes are found.
    static func read(_ value: PropertyList, _ place: inout AttributePlace) -> SettingDeclaration? {
        var setting = SettingDeclaration("")
        if value["Type"] == nil, let type = value["Default"].flatMap({ ValueType($0.kind) }) {
            setting.rule.type = type
        }
        place.read(value, into: &setting, by: attributes)
        guard value.dictionaryValue != nil else { return setting }
        if value["Key"] == nil { place.report(.missingAttribute("Key")) }
        return setting
    }
}
