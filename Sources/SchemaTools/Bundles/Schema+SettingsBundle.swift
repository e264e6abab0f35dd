package import PropertyLists
internal import Queries
package import SettingsSchema

extension Schema {
    /// The schema as the panes of a `Settings.bundle`, and a line for each part that a bundle cannot express.
    package func settingsBundle() -> (panes: [(name: String, value: PropertyList)], leftOut: [String]) {
        var writer = BundleWriter(groups: settings.grouped)
        let names = Self.attributes.written(self).dictionaryValue?.map(\.key) ?? []
        for name in names where !["Domain", "Title", "Settings"].contains(name) {
            writer.leftOut.append("\(name) is left out")
        }
        writer.write(title: title)
        return (writer.panes, writer.leftOut)
    }
}

/// Writes the groups of a schema as panes.
private struct BundleWriter {
    private(set) var panes: [(name: String, value: PropertyList)] = []
    var leftOut: [String] = []
    private var root = Pane()
    private var names: Set<String> = []

    /// A screen of settings.
    private struct Pane {
        var groups: [(title: String?, settings: [SettingDeclaration])] = []
        var children: [(title: String, pane: Pane)] = []

        /// Adds a group to the pane that the titles lead to.
        mutating func add(_ title: String?, _ settings: [SettingDeclaration], in titles: ArraySlice<String>) {
            guard let first = titles.first else { return groups.append((title, settings)) }
            let index = children.firstIndex { $0.title == first } ?? children.count
            if index == children.count { children.append((first, Pane())) }
            children[index].pane.add(title, settings, in: titles.dropFirst())
        }
    }

    init(groups: [(title: String?, settings: [SettingDeclaration])]) {
        let paths = groups.map { Self.path(of: $0.title) }
        for (group, path) in zip(groups, paths) {
            // A group is a pane if it contains other groups, and otherwise a group of the pane around it.
            let isPane = !path.isEmpty && paths.contains { $0.count > path.count && $0.starts(with: path) }
            if isPane {
                root.add(nil, group.settings, in: path[...])
            } else {
                root.add(path.last, group.settings, in: path.dropLast())
            }
        }
    }

    /// Returns the titles of the panes and of the group that a title consists of.
    private static func path(of title: String?) -> [String] {
        guard let title, !title.isEmpty else { return [] }
        let parts = title.components(around: SettingsBundle.separator)
        return parts.contains("") || parts.count >= SettingsBundle.maximumDepth ? [title] : parts
    }

    mutating func write(title: String?) {
        var value = write(root, as: "Root")
        if let title, case .dictionary(var entries) = value {
            entries["Title"] = .string(title)
            value = .dictionary(entries)
        }
        panes.insert(("Root", value), at: 0)
    }

    private mutating func write(_ pane: Pane, as name: String) -> PropertyList {
        names.insert(name.lowercased())
        var specifiers: [PropertyList] = []
        // Settings without a group must come first.
        for group in pane.groups.filter({ $0.title == nil }) + pane.groups.filter({ $0.title != nil }) {
            var footer: String?
            var isFirst = true
            for setting in group.settings {
                guard var specifier = specifier(of: setting) else { continue }
                let summary = setting.summary?.isEmpty == true ? nil : setting.summary
                if isFirst ? group.title != nil || summary != nil || !specifiers.isEmpty : footer != summary {
                    var heading: PropertyList.Dictionary = ["Type": "PSGroupSpecifier"]
                    heading["Title"] = group.title.map { .string($0) }
                    heading["FooterText"] = summary.map { .string($0) }
                    specifiers.append(.dictionary(heading))
                }
                (footer, isFirst) = (summary, false)
                // iOS shows no title for a slider, and requires one for other controls.
                let isSlider = specifier["Type"] == "PSSliderSpecifier"
                specifier["Title"] = (isSlider ? setting.title : setting.name).map { .string($0) }
                specifiers.append(.dictionary(specifier))
            }
        }
        if !pane.children.isEmpty, !specifiers.isEmpty { specifiers.append(["Type": "PSGroupSpecifier"]) }
        for child in pane.children {
            let name = fileName(for: child.title)
            specifiers.append([
                "Type": "PSChildPaneSpecifier", "Title": .string(child.title), "File": .string(name),
            ])
            let place = panes.count
            panes.insert((name, write(child.pane, as: name)), at: place)
        }
        return ["PreferenceSpecifiers": .array(specifiers)]
    }

    /// Returns a name for the file of a pane. No other pane has it, not even on a file system that ignores case.
    private func fileName(for title: String) -> String {
        let letters = title.unicodeScalars.filter { $0.isASCII && $0.properties.isAlphabetic || "0"..."9" ~= $0 }
        let name = letters.isEmpty ? "Pane" : String(String.UnicodeScalarView(letters.prefix(40)))
        var (file, number) = (name, 1)
        while names.contains(file.lowercased()) {
            number += 1
            file = "\(name)\(number)"
        }
        return file
    }

    /// Returns the specifier of a setting without its title, or nil if no control fits.
    private mutating func specifier(of setting: SettingDeclaration) -> PropertyList.Dictionary? {
        let key = shortened(setting.key)
        guard !setting.isTransient, !setting.takesOperands else {
            leftOut.append("\(key): is left out, since it is not stored")
            return nil
        }
        guard var control = control(for: setting) else {
            leftOut.append("\(key): is left out, since a settings bundle has no control for \(setting.rule.type.noun)")
            return nil
        }
        control.entries["Key"] = .string(setting.key)
        if let value = setting.defaultValue {
            control.entries["DefaultValue"] = control.storesText ? .string(value.plainText) : value
        } else if control.entries["Type"] != "PSTextFieldSpecifier" {
            leftOut.append("\(key): has no Default, which iOS expects of this control")
        }
        if control.storesText { leftOut.append("\(key): iOS stores the number as text") }
        if control.storesReal { leftOut.append("\(key): iOS stores the integer as a real number") }
        let written = SettingDeclaration.attributes.written(setting).dictionaryValue?.map(\.key) ?? []
        let carried = control.carried.union(["Key", "Type", "Default", "Title", "Summary", "Group"])
        let rest = written.filter { !carried.contains($0) }
        if !rest.isEmpty { leftOut.append("\(key): \(listed(rest)) \(rest.count == 1 ? "is" : "are") left out") }
        return control.entries
    }

    /// A control, the attributes of the setting that it expresses, and what iOS stores instead of the setting's type.
    private struct Control {
        var entries: PropertyList.Dictionary
        var carried: Set<String> = []
        var storesText = false
        var storesReal = false
    }

    private func control(for setting: SettingDeclaration) -> Control? {
        let rule = setting.rule
        if !rule.choices.isEmpty { return Self.controlOfChoices(rule) }
        switch rule.type {
        case .boolean: return Control(entries: ["Type": "PSToggleSwitchSpecifier"])
        case .string:
            var control = Control(entries: ["Type": "PSTextFieldSpecifier"])
            if setting.isSensitive {
                control.entries["IsSecure"] = true
                control.carried.insert("Sensitive")
            }
            if let keyboard = rule.kind?.facts.keyboard {
                control.entries["KeyboardType"] = .string(keyboard)
                control.carried.insert("Kind")
            } else if rule.pattern?.text == SettingsBundle.patternOfNumberPad {
                control.entries["KeyboardType"] = "NumberPad"
                control.carried.insert("Pattern")
            }
            return control
        case .integer, .real:
            let bounds = [rule.minimum, rule.maximum].compactMap { $0.flatMap(Self.number) }
            guard bounds.count == 2, bounds.allSatisfy(\.isFinite) else {
                return Control(
                    entries: ["Type": "PSTextFieldSpecifier", "KeyboardType": "NumbersAndPunctuation"],
                    storesText: true)
            }
            return Control(
                entries: [
                    "Type": "PSSliderSpecifier", "MinimumValue": .real(bounds[0]), "MaximumValue": .real(bounds[1]),
                ], carried: ["Minimum", "Maximum"], storesReal: rule.type == .integer)
        case .date, .data, .array, .dictionary, .any: return nil
        }
    }

    private static func controlOfChoices(_ rule: ValueRule) -> Control {
        let carried: Set<String> = ["Choices", "ChoiceTitles"]
        if rule.choices.count == 2, rule.choiceTitles == SettingsBundle.titlesOfToggle {
            return Control(
                entries: [
                    "Type": "PSToggleSwitchSpecifier", "TrueValue": rule.choices[0], "FalseValue": rule.choices[1],
                ], carried: carried)
        }
        let titles = rule.choices.map { PropertyList.string(rule.title(of: $0)) }
        return Control(
            entries: ["Type": "PSMultiValueSpecifier", "Titles": .array(titles), "Values": .array(rule.choices)],
            carried: carried)
    }

    private static func number(_ value: PropertyList) -> Double? {
        value.realValue ?? ValueRule(.real).adapted(value).realValue
    }
}

extension String {
    /// Returns the parts of the text around each occurrence of `separator`.
    fileprivate func components(around separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
