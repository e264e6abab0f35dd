package import PropertyLists
internal import Queries
package import SettingsSchema

/// The settings that an application for iOS declares in its `Settings.bundle`, read as a schema.
///
///     let bundle = try SettingsBundle(domain: "com.example.app", languages: ["de"]) { name in … }
package struct SettingsBundle: Sendable {
    package private(set) var schema: Schema
    /// The invalid parts of the bundle, and those that a schema cannot express, file by file in the order of the text.
    package private(set) var findings: [Finding] = []

    /// An error, or a part of the bundle that is left out.
    package struct Finding: Hashable, Sendable {
        /// The file within the bundle: `Root.plist`, `de.lproj/Root.strings`.
        package let file: String
        package let path: EntryPath
        package let text: String
        /// Whether the schema can be used nevertheless.
        package let isWarning: Bool
        /// The line and column; nil for a binary file.
        package fileprivate(set) var location: TextLocation?
    }

    /// The contents of a file in the bundle.
    package enum Contents: Sendable {
        case bytes([UInt8])
        case missing
        /// The file must not be read, for the reason given.
        case refused(String)
    }

    package static let maximumPanes = 256
    package static let maximumDepth = 16

    /// Returns whether a property list is a pane of a settings bundle rather than a schema.
    package static func isPane(_ bytes: [UInt8]) -> Bool {
        guard let pane = try? PropertyList(parsing: bytes) else { return false }
        return pane["PreferenceSpecifiers"] != nil
    }

    /// Reads a bundle.
    ///
    /// - Parameters:
    ///   - pane: The name of the first pane, without `.plist`.
    ///   - languages: The languages for titles, best first, as in the names of `LANG.lproj` folders.
    ///   - file: Returns a file of the bundle.
    package init(
        domain: String, pane: String = "Root", languages: [String] = [],
        file: @escaping (String) throws -> Contents
    ) throws {
        var reader = BundleReader(domain: domain, languages: languages, file: file)
        try reader.readPane(pane, group: nil, from: nil)
        findings = reader.checkedFindings()
        schema = reader.schema
    }
}

/// Reads the panes of a bundle one after the other.
private struct BundleReader {
    let languages: [String]
    let file: (String) throws -> SettingsBundle.Contents
    var schema: Schema
    /// The position of each setting, in the order of the schema.
    private var places: [(file: String, path: EntryPath)] = []
    private var keys: Set<Name> = []
    private var findings: [SettingsBundle.Finding] = []
    /// The texts of the property lists that have been read, to locate findings.
    private var texts: [Name: [UInt8]] = [:]
    /// The names of the panes that are open, outermost first, and of all panes.
    private var open: [String] = []
    private var seen: Set<Name> = []
    /// The titles of the current pane in the user's language.
    private var strings: PropertyList.Dictionary = [:]

    init(domain: String, languages: [String], file: @escaping (String) throws -> SettingsBundle.Contents) {
        (self.languages, self.file) = (languages, file)
        schema = Schema(domain: domain)
    }

    private var name: String { "\(open.last ?? "Root").plist" }

    private mutating func report(
        _ text: String, at path: EntryPath, in file: String? = nil, isWarning: Bool = false,
        location: TextLocation? = nil
    ) {
        guard findings.count < Schema.maximumDiagnostics else { return }
        findings.append(
            SettingsBundle.Finding(file: file ?? name, path: path, text: text, isWarning: isWarning, location: location)
        )
    }

    private mutating func warn(_ text: String, at path: EntryPath) { report(text, at: path, isWarning: true) }
}

// MARK: Panes

extension BundleReader {
    /// Reads a pane, and the panes in it.
    ///
    /// - Parameters:
    ///   - group: The titles of the panes around it and its own; nil for the first pane.
    ///   - reference: The entry that names the pane; nil for the first pane.
    mutating func readPane(_ pane: String, group: String?, from reference: EntryPath?) throws {
        let at = reference ?? EntryPath()
        guard pane.isPlainName else { return report("must be a name without a slash", at: at) }
        guard !open.contains(exactly: pane) else {
            let panes = (open + [pane]).map { shortened($0) }.joined(separator: " → ")
            return report("a pane that contains itself: \(panes)", at: at)
        }
        guard open.count < SettingsBundle.maximumDepth else {
            return report("panes nested more than \(SettingsBundle.maximumDepth) deep", at: at)
        }
        guard seen.insert(Name(pane)).inserted else {
            return warn("the pane \(shortened(pane)) is already included, and is left out here", at: at)
        }
        guard seen.count <= SettingsBundle.maximumPanes else {
            return report("more than \(SettingsBundle.maximumPanes) panes", at: at)
        }
        let place = reference == nil ? "\(pane).plist" : name
        let bytes: [UInt8]
        switch try file("\(pane).plist") {
        case .bytes(let contents): bytes = contents
        case .missing: return report("there is no file \(shortened(pane)).plist", at: at, in: place)
        case .refused(let reason): return report("\(shortened(pane)).plist \(reason)", at: at, in: place)
        }
        open.append(pane)
        let outer = strings
        defer {
            open.removeLast()
            strings = outer
        }
        guard let value = parsed(bytes, name) else { return }
        texts[Name(name)] = bytes
        guard let root = value.dictionaryValue else { return report("must be a dictionary", at: EntryPath()) }
        try readRoot(root, group: group)
    }

    private mutating func parsed(_ bytes: [UInt8], _ file: String) -> PropertyList? {
        do throws(DecodingFailure) {
            return try PropertyList(parsing: bytes)
        } catch {
            report("\(error.problem)", at: error.path, in: file, location: error.location(in: bytes))
            return nil
        }
    }

    private mutating func readRoot(_ root: PropertyList.Dictionary, group: String?) throws {
        strings = [:]
        if let table = root["StringsTable"] {
            let path: EntryPath = ["StringsTable"]
            if let table = table.stringValue {
                if table.isPlainName {
                    try readStrings(table, at: path)
                } else {
                    report("must be a name without a slash", at: path)
                }
            } else {
                report("must be a string", at: path)
            }
        }
        if open.count == 1, let title = root["Title"]?.stringValue { schema.title = localized(title).nonEmpty }
        for entry in root where !["StringsTable", "PreferenceSpecifiers", "Title"].contains(entry.key) {
            warn("is left out", at: [EntryPath.Component(entry.key)])
        }
        let path: EntryPath = ["PreferenceSpecifiers"]
        guard let list = root["PreferenceSpecifiers"] else { return report("is missing", at: path) }
        guard let elements = list.arrayValue else { return report("must be an array", at: path) }
        guard schema.settings.count + elements.count <= Schema.maximumSettings else {
            return report("more than \(Schema.maximumSettings) settings", at: path)
        }
        var heading = Heading(pane: group)
        for (index, element) in elements.enumerated() {
            let path = path.appending(EntryPath.Component(index))
            guard let values = element.dictionaryValue else {
                report("must be a dictionary", at: path)
                continue
            }
            try read(Specifier(values: values, path: path), under: &heading)
        }
    }

    /// Reads the strings of the first language that has the table.
    private mutating func readStrings(_ table: String, at path: EntryPath) throws {
        for language in languages where language.isPlainName {
            let name = "\(language).lproj/\(table).strings"
            switch try file(name) {
            case .missing: continue
            case .refused(let reason): return report("\(name) \(reason)", at: path)
            case .bytes(let bytes):
                guard !bytes.isEmpty, let value = parsed(bytes, name) else { return }
                texts[Name(name)] = bytes
                guard let entries = value.dictionaryValue else {
                    return report("must be a dictionary", at: EntryPath(), in: name)
                }
                strings = entries
                return
            }
        }
    }

    private func localized(_ text: String) -> String { strings[text]?.stringValue ?? text }
}

/// The group that the next settings belong to.
private struct Heading {
    /// The title of the pane, with those of the panes around it.
    let pane: String?
    var title: String?
    var footer: String?

    init(pane: String?) { self.pane = pane }

    var group: String? {
        let titles = [pane, title].compactMap { $0?.nonEmpty }
        return titles.isEmpty ? nil : titles.joined(separator: SettingsBundle.separator)
    }
}

extension SettingsBundle {
    /// The text between the title of a pane and those of its groups.
    static let separator = " › "

    /// The titles of the two choices that are written as a toggle.
    static let titlesOfToggle = ["On", "Off"]
}

// MARK: Specifiers

/// An element of `PreferenceSpecifiers`.
private struct Specifier {
    let values: PropertyList.Dictionary
    let path: EntryPath
    /// The attributes that have been carried over.
    var used: Set<String> = ["Type", "Key", "Title"]

    init(values: PropertyList.Dictionary, path: EntryPath) { (self.values, self.path) = (values, path) }

    func at(_ name: String) -> EntryPath { path.appending(EntryPath.Component(name)) }
}

extension BundleReader {
    private mutating func read(_ specifier: Specifier, under heading: inout Heading) throws {
        var specifier = specifier
        guard let type = text("Type", of: &specifier) else {
            if specifier.values["Type"] == nil { report("Type is missing", at: specifier.path) }
            return
        }
        switch type {
        case "PSGroupSpecifier":
            heading.title = text("Title", of: &specifier).map(localized)
            heading.footer = text("FooterText", of: &specifier).map(localized)
            warnOfUnused(specifier)
        case "PSChildPaneSpecifier":
            try readChild(&specifier, under: heading)
        case "PSTextFieldSpecifier", "IASKTextViewSpecifier", "PSToggleSwitchSpecifier", "PSSliderSpecifier",
            "PSMultiValueSpecifier", "PSRadioGroupSpecifier", "PSTitleValueSpecifier", "IASKDatePickerSpecifier":
            if type == "PSRadioGroupSpecifier" { heading = Heading(pane: heading.pane) }
            guard let (key, rule) = declared(&specifier, type) else { return }
            add(key, rule, &specifier, under: heading)
        default:
            let nearest = Self.types.nearest(to: type)
            warn("\(shortened(type)) is left out\(hint(nearest))", at: specifier.at("Type"))
        }
    }

    private static let types = [
        "PSGroupSpecifier", "PSChildPaneSpecifier", "PSTextFieldSpecifier", "PSToggleSwitchSpecifier",
        "PSSliderSpecifier", "PSMultiValueSpecifier", "PSRadioGroupSpecifier", "PSTitleValueSpecifier",
    ]

    private mutating func readChild(_ specifier: inout Specifier, under heading: Heading) throws {
        let title = text("Title", of: &specifier).map(localized)
        guard let value = specifier.values["File"] else {
            let isCustom = specifier.values.contains { $0.key.hasPrefix("IASK") }
            if isCustom {
                warn("a pane without a File is left out", at: specifier.path)
            } else {
                report("File is missing", at: specifier.path)
            }
            return
        }
        specifier.used.insert("File")
        guard let pane = value.stringValue else { return report("must be a string", at: specifier.at("File")) }
        warnOfUnused(specifier)
        let titles = [heading.pane, title?.nonEmpty ?? pane].compactMap(\.self)
        try readPane(pane, group: titles.joined(separator: SettingsBundle.separator), from: specifier.at("File"))
    }

    /// Returns the key of a setting, and its rule, or nil if the specifier is invalid or left out.
    private mutating func declared(_ specifier: inout Specifier, _ type: String) -> (String, ValueRule)? {
        guard let key = text("Key", of: &specifier) else {
            if specifier.values["Key"] != nil { return nil }
            if type == "PSTitleValueSpecifier" {
                warn("a title without a Key is left out", at: specifier.path)
            } else {
                report("Key is missing", at: specifier.path)
            }
            return nil
        }
        let rule: ValueRule?
        switch type {
        case "PSToggleSwitchSpecifier": rule = ruleOfToggle(&specifier)
        case "PSSliderSpecifier": rule = ruleOfSlider(&specifier)
        case "PSMultiValueSpecifier", "PSRadioGroupSpecifier": rule = ruleOfChoices(&specifier)
        case "IASKDatePickerSpecifier": rule = ValueRule(.date)
        case "PSTitleValueSpecifier":
            warn("is shown read-only on iOS, and can be changed here", at: specifier.path)
            rule = ValueRule(specifier.values["DefaultValue"].flatMap { ValueType($0.kind) } ?? .string)
        default: rule = ruleOfText(&specifier)
        }
        return rule.map { (key, $0) }
    }

    private mutating func ruleOfText(_ specifier: inout Specifier) -> ValueRule {
        var rule = ValueRule(.string)
        if let keyboard = text("KeyboardType", of: &specifier) {
            var typed = rule
            typed.kind = ValueKind.allCases.first { $0.facts.keyboard == keyboard }
            switch keyboard {
            case _ where typed.kind != nil: break
            case "NumberPad": typed.pattern = Pattern(SettingsBundle.patternOfNumberPad)
            case "Alphabet", "NumbersAndPunctuation": break
            default: specifier.used.remove("KeyboardType")
            }
            // A keyboard is only a suggestion. A rule must not forbid what the application stores by default, nor a
            // password.
            let isContradicted = specifier.values["DefaultValue"].map { !typed.problems(with: $0).isEmpty } ?? false
            if isContradicted || typed != rule && specifier.values["IsSecure"].flatMap(boolean) == true {
                specifier.used.remove("KeyboardType")
            } else {
                rule = typed
            }
        }
        if let text = text("IASKRegex", of: &specifier) {
            let pattern = Pattern(text.withoutAnchors)
            if let failure = pattern.failure {
                warn("is left out: \(failure)", at: specifier.at("IASKRegex"))
            } else {
                rule.pattern = pattern
            }
        }
        return rule
    }

    private mutating func ruleOfToggle(_ specifier: inout Specifier) -> ValueRule? {
        let (on, off) = (specifier.values["TrueValue"] ?? true, specifier.values["FalseValue"] ?? false)
        specifier.used.formUnion(["TrueValue", "FalseValue"])
        guard on != true || off != false else { return ValueRule(.boolean) }
        guard on != off else {
            report("must differ from TrueValue", at: specifier.at("FalseValue"))
            return nil
        }
        var rule = ValueRule(ofChoices: [on, off])
        rule.choiceTitles = SettingsBundle.titlesOfToggle
        return rule
    }

    private mutating func ruleOfSlider(_ specifier: inout Specifier) -> ValueRule? {
        var rule = ValueRule(.real)
        rule.minimum = value("MinimumValue", by: ValueRule(.real), of: &specifier)
        rule.maximum = value("MaximumValue", by: ValueRule(.real), of: &specifier)
        if case .real(let minimum)? = rule.minimum, case .real(let maximum)? = rule.maximum, minimum > maximum {
            report("is above MaximumValue", at: specifier.at("MinimumValue"))
            return nil
        }
        return rule
    }

    private mutating func ruleOfChoices(_ specifier: inout Specifier) -> ValueRule? {
        specifier.used.insert("Values")
        guard let values = specifier.values["Values"] else {
            report("Values is missing", at: specifier.path)
            return nil
        }
        guard let values = values.arrayValue, !values.isEmpty else {
            report("must be an array of values", at: specifier.at("Values"))
            return nil
        }
        guard values.count <= Schema.maximumSettings else {
            report("more than \(Schema.maximumSettings) values", at: specifier.at("Values"))
            return nil
        }
        let name = specifier.values["Titles"] == nil ? "ShortTitles" : "Titles"
        var titles: [String] = []
        if let list = specifier.values[name] {
            specifier.used.insert(name)
            guard let texts = list.arrayValue?.map(\.stringValue), texts.allSatisfy({ $0 != nil }) else {
                report("must be an array of strings", at: specifier.at(name))
                return nil
            }
            titles = texts.compactMap { $0.map(localized) }
            guard titles.count == values.count else {
                report("must have as many elements as Values, \(values.count)", at: specifier.at(name))
                return nil
            }
        }
        var rule = ValueRule(ofChoices: values)
        var choices: Set<PropertyList> = []
        var distinct: [Int] = []
        for (index, choice) in rule.choices.enumerated() {
            if choices.insert(choice).inserted {
                distinct.append(index)
            } else {
                let path = specifier.at("Values").appending(EntryPath.Component(index))
                warn("a duplicate value is left out", at: path)
            }
        }
        rule.choices = distinct.map { rule.choices[$0] }
        rule.choiceTitles = titles.isEmpty ? [] : distinct.map { titles[$0] }
        if zip(rule.choices, rule.choiceTitles).allSatisfy({ $0.plainText == $1 }) { rule.choiceTitles = [] }
        return rule
    }

    /// Adds a setting to the schema.
    private mutating func add(
        _ key: String, _ rule: ValueRule, _ specifier: inout Specifier, under heading: Heading
    ) {
        guard keys.insert(Name(key)).inserted else {
            return warn("duplicate key \(shortened(key)); only the first is used", at: specifier.at("Key"))
        }
        var setting = SettingDeclaration(key, rule)
        setting.title = text("Title", of: &specifier).map(localized)?.nonEmpty
        setting.group = heading.group
        var footer = text("FooterText", of: &specifier)
        // A dictionary has a subtitle for each value.
        if footer == nil, specifier.values["IASKSubtitle"]?.stringValue != nil {
            footer = text("IASKSubtitle", of: &specifier)
        }
        setting.summary = footer.map(localized)?.nonEmpty ?? heading.footer?.nonEmpty
        if specifier.values["IsSecure"] != nil { setting.isSensitive = flag("IsSecure", of: &specifier) ?? false }
        if setting.isSensitive, let value = specifier.values["DefaultValue"] {
            specifier.used.insert("DefaultValue")
            // Every reader of the schema could read the secret. An empty one is none.
            if !value.plainText.isEmpty {
                warn("a secret has no default; it is left out", at: specifier.at("DefaultValue"))
            }
        } else if var value = specifier.values["DefaultValue"] {
            specifier.used.insert("DefaultValue")
            if rule.choiceTitles == SettingsBundle.titlesOfToggle, let flag = value.booleanValue,
                !rule.choices.contains(value)
            {
                value = rule.choices[flag ? 0 : 1]
            } else if rule.type == .boolean, let number = value.integerValue, number == 0 || number == 1 {
                value = .boolean(number == 1)
            } else if rule.type == .string, [.integer, .real, .boolean].contains(value.kind) {
                value = .string(value.plainText)
            }
            var reader = AttributeReader()
            let adapted = rule.read(value, &reader)
            if let problem = adapted.flatMap({ rule.problems(with: $0).first?.reason.description })
                ?? reader.mistakes.first?.reason.description
            {
                warn("\(problem); it is left out", at: specifier.at("DefaultValue"))
            } else {
                setting.defaultValue = adapted
            }
        }
        warnOfUnused(specifier)
        schema.settings.append(setting)
        places.append((name, specifier.path))
    }

    private mutating func warnOfUnused(_ specifier: Specifier) {
        let names = specifier.values.map(\.key).filter { !specifier.used.contains($0) }
        guard !names.isEmpty else { return }
        let shown = names.prefix(12).map { shortened($0) } + (names.count > 12 ? ["\(names.count - 12) others"] : [])
        warn("\(listed(shown)) \(names.count == 1 ? "is" : "are") left out", at: specifier.path)
    }
}

// MARK: Attributes

extension BundleReader {
    private mutating func text(_ name: String, of specifier: inout Specifier) -> String? {
        guard let value = specifier.values[name] else { return nil }
        specifier.used.insert(name)
        guard let text = value.stringValue else {
            report("must be a string", at: specifier.at(name))
            return nil
        }
        return text
    }

    private mutating func flag(_ name: String, of specifier: inout Specifier) -> Bool? {
        specifier.used.insert(name)
        if let flag = specifier.values[name].flatMap(boolean) { return flag }
        report("must be true or false", at: specifier.at(name))
        return nil
    }

    private func boolean(_ value: PropertyList) -> Bool? {
        if let flag = value.flag { return flag }
        return value.integerValue.flatMap { $0 == 0 || $0 == 1 ? $0 == 1 : nil }
    }

    /// Returns an attribute as a value of the rule's type.
    private mutating func value(_ name: String, by rule: ValueRule, of specifier: inout Specifier) -> PropertyList? {
        guard let value = specifier.values[name] else { return nil }
        specifier.used.insert(name)
        var reader = AttributeReader()
        let result = rule.read(value, &reader)
        if let mistake = reader.mistakes.first { report("\(mistake.reason)", at: specifier.at(name)) }
        if case .real(let number)? = result, !number.isFinite {
            report("must be a finite number", at: specifier.at(name))
            return nil
        }
        return result
    }
}

// MARK: Findings

extension BundleReader {
    /// Returns all findings with their locations, after a check of the schema.
    mutating func checkedFindings() -> [SettingsBundle.Finding] {
        let reported = Set(findings.map { [Name($0.file), Name($0.path.description)] })
        for mistake in schema.mistakes(inheriting: schema) {
            let components = mistake.path.components
            guard components.count > 2, let index = Int(components[1].text), places.indices.contains(index) else {
                report("\(mistake.withoutLocation)", at: EntryPath(), in: "Root.plist")
                continue
            }
            let attribute = Self.attributes[components[2].text] ?? components[2].text
            let path = places[index].path.appending(EntryPath.Component(attribute))
            guard !reported.contains([Name(places[index].file), Name(path.description)]) else { continue }
            report("\(mistake.reason)", at: path, in: places[index].file)
        }
        let files = Dictionary(grouping: findings.indices, by: { Name(findings[$0].file) })
        for (file, indices) in files {
            guard let text = texts[file], let sources = SourceMap(text) else { continue }
            let locations = sources.locations(of: indices.map { findings[$0].path }, in: text)
            for index in indices where findings[index].location == nil {
                findings[index].location = locations[findings[index].path]
            }
        }
        return findings
    }

    /// The attributes of a specifier from which those of a setting are read.
    private static let attributes = [
        "Choices": "Values", "ChoiceTitles": "Titles", "Default": "DefaultValue", "Minimum": "MinimumValue",
        "Maximum": "MaximumValue", "Pattern": "IASKRegex",
    ]
}

extension SettingsBundle {
    static let patternOfNumberPad = "[0-9]*"
}

extension ValueRule {
    /// Creates the rule that values are among `choices`, with the type that all of them have.
    fileprivate init(ofChoices choices: [PropertyList]) {
        let kinds = Set(choices.map(\.kind))
        switch kinds.count == 1 ? kinds.first.flatMap({ ValueType($0) }) : nil {
        case .some(let type) where [.string, .integer, .real, .date, .data].contains(type): self.init(type)
        default: self.init(kinds == [.integer, .real] ? .real : .any)
        }
        self.choices = type == .real ? choices.map { adapted($0) } : choices
    }
}

extension String {
    /// Whether the text can be the name of a file in the bundle, without its ending.
    fileprivate var isPlainName: Bool {
        let isPlain = unicodeScalars.allSatisfy { $0 != "/" && $0.value >= 0x20 && !(0x7F..<0xA0 ~= $0.value) }
        return isPlain && !isEmpty && !hasPrefix(".") && utf8.count <= 200
    }

    fileprivate var nonEmpty: String? { isEmpty ? nil : self }

    /// A regular expression without the anchors at its ends, since patterns match the whole string.
    fileprivate var withoutAnchors: String {
        var text = self[...]
        if text.hasPrefix("^") { text = text.dropFirst() }
        if text.hasSuffix("$"), !text.hasSuffix("\\$") { text = text.dropLast() }
        return String(text)
    }
}
