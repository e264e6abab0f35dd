internal import PropertyLists

extension SettingDeclaration {
    /// The attributes of a setting, in the order in which they are written.
    static let attributes: [Attribute<SettingDeclaration>] =
        [
            Attribute(name: "Key") { value, setting, place in
                guard let text = value.stringValue else { return place.report(.wrongValue(expected: "a string")) }
                setting.key = text
            } write: { setting in
                .string(setting.key)
            }
        ] + ValueRule.attributes.map { $0.lifted { $1(&$0.rule) } } + ownAttributes

    private static let ownAttributes: [Attribute<SettingDeclaration>] = [
        Attribute(name: "Default") { value, setting, place in
            setting.defaultValue = setting.rule.read(value, &place)
        } write: { setting in
            setting.defaultValue
        },
        .flag("Required", { $1(&$0.isRequired) }),
        .names("Conflicts", { $1(&$0.conflicts) }), .names("Requires", { $1(&$0.requires) }),
        .names("ExactlyOneOf", { $1(&$0.exactlyOneOf) }),
        .text("Title", { $1(&$0.title) }), .text("Summary", { $1(&$0.summary) }), .text("Group", { $1(&$0.group) }),
        .text("Placeholder", { $1(&$0.placeholder) }), .text("Unit", { $1(&$0.unit) }),
        Attribute(name: "Deprecated") { value, setting, place in
            if let text = value.stringValue, Bool(word: text) == nil {
                setting.deprecated = text
            } else if let flag = value.booleanValue ?? value.stringValue.flatMap(Bool.init(word:)) {
                setting.deprecated = flag ? "" : nil
            } else {
                place.report(.wrongValue(expected: "true, or the reason"))
            }
        } write: { setting in
            setting.deprecated.map { $0.isEmpty ? .boolean(true) : .string($0) }
        },
        .names("Flag", { $1(&$0.flags) }), .text("Short", { $1(&$0.short) }),
        .flag("Negatable", { $1(&$0.isNegatable) }),
        .flag("Repeats", { $1(&$0.repeats) }), .count("Positional", { $1(&$0.positional) }),
        .flag("Rest", { $1(&$0.takesRest) }), .flag("PassUnknown", { $1(&$0.passesUnknown) }),
        Attribute(name: "Values") { value, setting, place in
            guard let entries = value.dictionaryValue else {
                return place.report(.wrongValue(expected: "a dictionary of flags and values"))
            }
            let rule = setting.flagRule
            setting.flagValues = entries.compactMap { entry in
                place.inside(EntryPath.Component(entry.key)) { place in
                    rule.read(entry.value, &place).map { FlagValue(flag: entry.key, value: $0) }
                }
            }
        } write: { setting in
            let pairs = setting.flagValues.map { ($0.flag, $0.value) }
            return pairs.isEmpty ? nil : .dictionary(PropertyList.Dictionary(pairs))
        },
        .flag("ValueOptional", { $1(&$0.isValueOptional) }),
        Attribute(name: "Implied") { value, setting, place in
            setting.implied = setting.flagRule.read(value, &place)
        } write: { setting in
            setting.implied
        },
        .flag("AllowsDash", { $1(&$0.allowsDash) }), .flag("Hidden", { $1(&$0.isHidden) }),
        .names("Environment", { $1(&$0.environment) }), .flag("Sensitive", { $1(&$0.isSensitive) }),
        .flag("Mirrored", { $1(&$0.isMirrored) }, preset: true), .flag("Merge", { $1(&$0.merges) }),
        .flag("Transient", { $1(&$0.isTransient) }),
        .flag("ByHost", { $1(&$0.isByHost) }), .names("RenamedFrom", { $1(&$0.renamedFrom) }),
    ]

    /// Reads a setting. A setting without a key keeps its index in the list, so that the paths of later errors are
    /// correct.
    static func read(_ value: PropertyList, _ place: inout AttributeReader) -> SettingDeclaration? {
        var setting = SettingDeclaration("")
        if value["Type"] == nil, let type = value["Default"].flatMap({ ValueType($0.kind) }) {
            setting.rule.type = type
        }
        setting.rule.takeType(ofKind: value)
        place.read(value, into: &setting, by: attributes)
        guard value.dictionaryValue != nil else { return setting }
        if value["Key"] == nil { place.report(.missingAttribute("Key")) }
        return setting
    }
}
