internal import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ArgumentParser {
    /// Sets the value of a setting from text. A repeated flag replaces the earlier value, or appends to it if the
    /// setting repeats.
    mutating func set(_ setting: SettingDeclaration, to text: String, shown: String?, from place: String) {
        do throws(Schema.Problem.Reason) {
            set(setting, to: try setting.flagRule.value(ofText: text, now: context.now), shown: shown, from: place)
        } catch {
            report(.value(text, error), at: place)
            note(setting, from: place)
            given[setting.key] = (place, setting.takesElements ? nil : shown)
        }
    }

    mutating func set(_ setting: SettingDeclaration, to value: PropertyList, shown: String?, from place: String) {
        let repeats = setting.takesElements
        if schema.isStrict, setting.rule.type == .array, !repeats, given[setting.key] != nil {
            report(.repeatedFlag, at: place)
        }
        if repeats {
            var elements = result.values[setting.key]?.arrayValue ?? []
            // The array has no second owner then, and grows in place.
            result.values[setting.key] = .array([])
            // A repeated flag takes one element, or several between separators.
            elements += setting.rule.separator == nil ? [value] : value.arrayValue ?? []
            result.values[setting.key] = .array(elements)
        } else {
            result.values[setting.key] = value
        }
        note(setting, from: place)
        given[setting.key] = (place, repeats ? nil : shown)
    }

    mutating func count(_ setting: SettingDeclaration, _ attached: String?, from place: String) {
        if let attached { return set(setting, to: attached, shown: attached, from: place) }
        let former = result.values[setting.key]?.integerValue.flatMap { Int(exactly: $0) } ?? 0
        let (next, overflow) = former.addingReportingOverflow(1)
        result.values[setting.key] = .integer(PropertyList.Integer(overflow ? former : next))
        note(setting, from: place)
        given[setting.key] = (place, nil)
    }

    mutating func note(_ setting: SettingDeclaration, from place: String) {
        guard let reason = setting.deprecated else { return }
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
                .unknownKey(nearest: settings.map(\.key).nearest(to: path.components.first?.text ?? "")), at: written)
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
        settings.first { $0.key.hasSameBytes(as: key) }
            ?? settings.first { $0.renamedFrom.contains { $0.hasSameBytes(as: key) } }
    }

    /// Changes an entry within the value that would be in force without the command line.
    private mutating func put(
        _ value: PropertyList, at path: EntryPath, of setting: SettingDeclaration
    ) throws(EntryPath.Failure) {
        let former =
            result.values[setting.key] ?? variableValue(of: setting) ?? context.stored[setting.key]
            ?? setting.defaultValue
        var domain = PropertyList.dictionary(former.map { [setting.key: $0] } ?? [:])
        var path = path
        path.components[0] = EntryPath.Component(setting.key)
        try domain.checkEnd(of: path)
        try domain.set(value, at: path)
        result.values[setting.key] = domain[setting.key]
    }

    private func variableValue(of setting: SettingDeclaration) -> PropertyList? {
        setting.variable(in: { context.variables[$0] }).flatMap {
            try? setting.rule.value(ofText: $0.text, now: context.now)
        }
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
    fileprivate var takesElements: Bool { repeats && rule.type == .array }

    /// The rule for the value that follows the flag.
    var flagRule: ValueRule { takesElements && rule.separator == nil ? rule.element ?? ValueRule() : rule }

    /// Returns the first variable of the setting that is set. An empty variable is unset.
    package func variable(in variables: (String) -> String?) -> (name: String, text: String)? {
        for name in environment {
            if let text = variables(name), !text.isEmpty { return (name, text) }
        }
        return nil
    }
}
