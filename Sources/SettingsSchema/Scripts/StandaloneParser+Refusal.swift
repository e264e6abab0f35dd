internal import PropertyLists

extension StandaloneParser {
    /// The parts of a declaration that need `prefs`, without their locations.
    package struct Refusal: Error, Hashable, Sendable {
        package let parts: [Schema.Mistake]
    }
}

extension Schema {
    /// What the declaration uses beyond the rules of `StandaloneParser`.
    var partsBeyondShell: [Mistake] {
        var parts: [Mistake] = []
        if isStored { parts.append(Mistake(.needsPrefs(""), at: ["Domain"])) }
        if defaultCommand != nil { parts.append(Mistake(.needsPrefs(""), at: ["DefaultCommand"])) }
        // The settings of an extended schema have other paths.
        guard extends.isEmpty else { return parts + [Mistake(.needsPrefs(""), at: ["Extends"])] }
        parts += settings.partsBeyondShell(at: EntryPath(), outer: [])
        for (index, command) in commands.enumerated() {
            let path: EntryPath = ["Commands", EntryPath.Component(index)]
            parts += command.settings.partsBeyondShell(at: path, outer: settings)
            if !command.commands.isEmpty { parts.append(Mistake(.needsPrefs(""), at: path.appending("Commands"))) }
        }
        return parts
    }
}

extension [SettingDeclaration] {
    fileprivate func partsBeyondShell(at path: EntryPath, outer: [SettingDeclaration]) -> [Schema.Mistake] {
        let hasPlaces = !(outer + self).inPlaces.isEmpty
        let outerPasses = outer.contains(where: \.passesUnknown)
        return enumerated().flatMap { index, setting in
            let place = path.appending("Settings").appending(EntryPath.Component(index))
            var parts = setting.partsBeyondShell
            if setting.passesUnknown && hasPlaces || setting.positional != nil && outerPasses {
                parts.append(("PassUnknown", "a rest with other operands"))
            }
            return parts.map { name, part in
                Schema.Mistake(.needsPrefs(part), at: place.appending(EntryPath.Component(name)))
            }
        }
    }
}

extension SettingDeclaration {
    /// The attributes beyond the rules of `StandaloneParser`, with their values if these matter.
    fileprivate var partsBeyondShell: [(name: String, part: String)] {
        let allowed: [ValueType] = [.string, .integer, .boolean]
        let isRest = takesRest && rule.type == .array && (rule.element?.isPlain ?? true)
        let attributes: [(name: String, part: String, isBeyond: Bool)] = [
            ("Type", rule.type.rawValue, !allowed.contains(rule.type) && !isRest),
            ("Kind", rule.kind?.rawValue ?? "", rule.kind.map { !$0.isPath } ?? false),
            ("Pattern", "", rule.pattern != nil), ("Separator", "", rule.separator != nil),
            ("Exists", "", rule.exists != nil), ("ChoicesFrom", "", rule.choicesFrom != nil),
            ("Conflicts", "", !conflicts.isEmpty), ("Requires", "", !requires.isEmpty),
            ("ExactlyOneOf", "", !exactlyOneOf.isEmpty), ("Sensitive", "", isSensitive),
            ("Deprecated", "", deprecated != nil), ("MinimumLength", "", rule.minimumLength != nil),
            ("MaximumLength", "", rule.maximumLength != nil), ("MaximumCount", "", rule.maximumCount != nil),
            ("MinimumCount", "", rule.minimumCount != nil && !isRest),
        ]
        return attributes.filter(\.isBeyond).map { ($0.name, $0.part) }
    }
}

extension ValueRule {
    /// Whether every string is allowed.
    fileprivate var isPlain: Bool { self == ValueRule(.string) }
}
