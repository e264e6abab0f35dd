package import PropertyLists
internal import Queries

extension Schema {
    /// The maximum number of settings in a list, and of errors reported.
    package static let maximumSettings = 10_000
    package static let maximumDiagnostics = 1000
    /// The number of errors after which no similar key is searched for, because that takes longer than the check.
    package static let maximumSuggestions = 100

    /// The attributes of a schema, in the order in which they are written.
    package static let attributes: [Attribute<Schema>] = [
        .requiredText("Domain", { $1(&$0.domain) }),
        .text("Program", { $1(&$0.program) }), .text("ProgramVersion", { $1(&$0.programVersion) }),
        .text("VersionShort", { $1(&$0.versionShort) }),
        .text("Title", { $1(&$0.title) }), .text("Summary", { $1(&$0.summary) }),
        .version("Version", { $1(&$0.version) }, preset: 1),
        .names("Extends", { $1(&$0.extends) }), .flag("Closed", { $1(&$0.isClosed) }),
        .names("File", { $1(&$0.programFiles) }), .flag("Mirrored", { $1(&$0.mirrorsUndeclared) }, preset: true),
        formatAttribute, operandsAttribute, .flag("Strict", { $1(&$0.isStrict) }),
        .flag("Exact", { $1(&$0.isExact) }), .flag("Interleaved", { $1(&$0.isInterleaved) }, preset: true),
        settingsAttribute({ $1(&$0.settings) }),
        commandsAttribute({ $1(&$0.commands) }), .text("DefaultCommand", { $1(&$0.defaultCommand) }),
        .names("Examples", { $1(&$0.examples) }), .text("Epilogue", { $1(&$0.epilogue) }),
        .list(
            "Migrations", { $1(&$0.migrations) }, of: Migration(from: 0), by: Migration.attributes, requiring: "From"),
        .list(
            "Queries", { $1(&$0.queries) }, of: QueryDeclaration(), by: QueryDeclaration.attributes, requiring: "Name"),
    ]

    /// The names of all attributes, by the type of their owner. Used to check that the manual describes them all.
    package static var attributeNames: [String: [String]] {
        [
            "schema": attributes.map(\.name), "setting": SettingDeclaration.attributes.map(\.name),
            "command": Command.attributes.map(\.name), "migration": Migration.attributes.map(\.name),
            "query": QueryDeclaration.attributes.map(\.name),
        ]
    }

    /// The format of a new file of the domain.
    private static let formatAttribute = Attribute<Schema>(name: "Format") { value, schema, reader in
        guard let format = PropertyList.Format.ofDomains.first(where: { $0.name == value.stringValue })?.format else {
            let names = PropertyList.Format.ofDomains.map(\.name)
            return reader.report(.wrongValue(expected: listed(names, "or")))
        }
        schema.newFormat = format
    } write: { schema in
        PropertyList.Format.ofDomains.first { $0.format == schema.newFormat }.map { .string($0.name) }
    }

    /// The number of operands, or `declared` for those that settings take.
    private static let operandsAttribute: Attribute<Schema> = {
        let count = Attribute<Schema>.operandCount { $1(&$0.operands) }
        return Attribute(name: count.name) { value, schema, reader in
            if value.stringValue == declaredOperands {
                schema.refusesOperands = true
                return
            }
            count.read(value, &schema, &reader)
        } write: { schema in
            schema.refusesOperands ? .string(declaredOperands) : count.write(schema)
        }
    }()

    private static let declaredOperands = "declared"

    fileprivate static func settingsAttribute<Model>(
        _ part: @escaping Access<Model, [SettingDeclaration]>
    ) -> Attribute<Model> {
        Attribute(name: "Settings") { value, model, reader in
            let settings = reader.readEach(value) { SettingDeclaration.read($0, &$1) }
            part(&model) { $0 = settings }
        } write: { model in
            let settings = Attribute<Model>.value(of: part, in: model) ?? []
            return settings.isEmpty ? nil : .array(settings.map { SettingDeclaration.attributes.written($0) })
        }
    }
}

extension Schema {
    /// The maximum nesting depth of commands.
    static let maximumCommandDepth = 8

    fileprivate static func commandsAttribute<Model>(_ part: @escaping Access<Model, [Command]>) -> Attribute<Model> {
        let list = Attribute<Model>.list(
            "Commands", part, of: Command(""), by: Command.attributes, requiring: "Name")
        return Attribute(name: list.name) { value, model, reader in
            if !reader.isTooDeep(limit: maximumCommandDepth) { list.read(value, &model, &reader) }
        } write: { model in
            list.write(model)
        }
    }
}

extension Attribute {
    /// A number of operands: 2, or a range such as 1...3 or 1... .
    static func operandCount(_ part: @escaping Access<Model, ClosedRange<Int>?>) -> Attribute {
        Attribute(name: "Operands") { value, model, reader in
            let range = value.count.map { $0...$0 } ?? value.stringValue.flatMap(Schema.operandRange)
            guard let range else { return reader.report(.wrongValue(expected: "a count such as 2, 1...3 or 1...")) }
            part(&model) { $0 = range }
        } write: { model in
            guard let range = value(of: part, in: model) ?? nil else { return nil }
            guard range.lowerBound < range.upperBound else { return .integer(PropertyList.Integer(range.lowerBound)) }
            return .string("\(range.lowerBound)...\(range.upperBound == .max ? "" : "\(range.upperBound)")")
        }
    }
}

extension Schema {
    /// Parses `1...3` or `1...`. Two dots mean the same.
    fileprivate static func operandRange(_ text: String) -> ClosedRange<Int>? {
        guard let dots = text.firstRange(of: "...") ?? text.firstRange(of: "..") else { return nil }
        let (lower, upper) = (text[..<dots.lowerBound], text[dots.upperBound...])
        guard let least = Int(lower), least >= 0 else { return nil }
        guard let most = upper.isEmpty ? .max : Int(upper), most >= least else { return nil }
        return least...most
    }
}

extension Schema.Command {
    static let attributes: [Attribute<Schema.Command>] = [
        .requiredText("Name", { $1(&$0.name) }),
        .names("Aliases", { $1(&$0.aliases) }), .text("Title", { $1(&$0.title) }),
        .text("Summary", { $1(&$0.summary) }), .text("Group", { $1(&$0.group) }),
        .flag("Hidden", { $1(&$0.isHidden) }), .name("Store", { $1(&$0.store) }),
        .operandCount({ $1(&$0.operands) }),
        Schema.settingsAttribute({ $1(&$0.settings) }),
        Schema.commandsAttribute({ $1(&$0.commands) }), .text("DefaultCommand", { $1(&$0.defaultCommand) }),
        .names("Examples", { $1(&$0.examples) }), .text("Epilogue", { $1(&$0.epilogue) }),
    ]
}

extension Schema.Migration {
    static let attributes: [Attribute<Schema.Migration>] = [
        .version("From", { $1(&$0.from) }, preset: 0),
        Attribute(name: "Rename") { value, migration, reader in
            migration.renames = reader.pairs(value).map { Rename(old: $0.key, new: $0.value) }
        } write: { migration in
            pairs(migration.renames.map { ($0.old, $0.new) })
        },
        .names("Remove", { $1(&$0.removals) }),
        Attribute(name: "Convert") { value, migration, reader in
            for (key, name) in reader.pairs(value) {
                reader.inside(EntryPath.Component(key)) { reader in
                    guard let type = ValueType(rawValue: name) else {
                        let nearest = ValueType.allCases.map(\.rawValue).nearest(to: name)
                        return reader.report(.unknownName(name, nearest: nearest))
                    }
                    migration.conversions.append(Conversion(key: key, type: type))
                }
            }
        } write: { migration in
            pairs(migration.conversions.map { ($0.key, $0.type.rawValue) })
        },
    ]

    private static func pairs(_ pairs: [(String, String)]) -> PropertyList? {
        pairs.isEmpty ? nil : .dictionary(PropertyList.Dictionary(pairs.map { ($0.0, .string($0.1)) }))
    }
}

extension AttributeReader {
    /// Returns the entries of a dictionary of strings.
    fileprivate mutating func pairs(_ value: PropertyList) -> [(key: String, value: String)] {
        guard let entries = value.dictionaryValue else {
            report(.wrongValue(expected: "a dictionary"))
            return []
        }
        return entries.compactMap { entry in
            inside(EntryPath.Component(entry.key)) { reader in
                guard let text = entry.value.stringValue else {
                    reader.report(.wrongValue(expected: "a string"))
                    return nil
                }
                return (entry.key, text)
            }
        }
    }
}

extension SettingDeclaration {
    /// The attributes of a setting, in the order in which they are written.
    package static let attributes: [Attribute<SettingDeclaration>] =
        [.requiredText("Key", { $1(&$0.key) })] + ValueRule.attributes.map { $0.lifted { $1(&$0.rule) } }
        + ownAttributes

    private static let ownAttributes: [Attribute<SettingDeclaration>] = [
        Attribute(name: "Words") { value, setting, reader in
            let names = (value.arrayValue ?? []).compactMap(\.stringValue).filter { !$0.isEmpty }
            guard names.count > 1, names.count == value.arrayValue?.count else {
                return reader.report(.wrongValue(expected: "an array of at least two names"))
            }
            setting.takeWords(names)
        } write: { setting in
            setting.words.isEmpty ? nil : .array(setting.words.map { .string($0) })
        },
        Attribute(name: "Default") { value, setting, reader in
            setting.defaultValue = setting.rule.read(value, &reader)
        } write: { setting in
            setting.isDefaultInHome ? nil : setting.defaultValue
        },
        defaultPath, .text("DefaultFrom", { $1(&$0.defaultFrom) }),
        .flag("Required", { $1(&$0.isRequired) }),
        .names("Conflicts", { $1(&$0.conflicts) }), .names("Requires", { $1(&$0.requires) }),
        group(.exactlyOne), group(.atMostOne), group(.atLeastOne),
        .text("Title", { $1(&$0.title) }), .text("Summary", { $1(&$0.summary) }), .text("Group", { $1(&$0.group) }),
        .text("Placeholder", { $1(&$0.placeholder) }), .text("Unit", { $1(&$0.unit) }),
        .deprecated({ $1(&$0.deprecated) }),
        .names("Flag", { $1(&$0.flags) }), .names("Short", { $1(&$0.shorts) }),
        .flag("Negatable", { $1(&$0.isNegatable) }),
        .flag("Repeats", { $1(&$0.repeats) }), .flag("Once", { $1(&$0.isOnce) }),
        .text("Ordered", { $1(&$0.ordered) }),
        .count("Positional", { $1(&$0.positional) }),
        .flag("Rest", { $1(&$0.takesRest) }), .flag("PassUnknown", { $1(&$0.passesUnknown) }),
        Attribute(name: "Values") { value, setting, reader in
            guard let entries = value.dictionaryValue else {
                return reader.report(.wrongValue(expected: "a dictionary of flags and values"))
            }
            let rule = setting.flagRule
            setting.flagValues = entries.compactMap { entry in
                reader.inside(EntryPath.Component(entry.key)) { reader in
                    FlagValue.read(entry.value, of: entry.key, by: rule, &reader)
                }
            }
        } write: { setting in
            let pairs = setting.flagValues.map { ($0.flag, $0.written) }
            return pairs.isEmpty ? nil : .dictionary(PropertyList.Dictionary(pairs))
        },
        .flag("ValueOptional", { $1(&$0.isValueOptional) }),
        Attribute(name: "Implied") { value, setting, reader in
            setting.implied = setting.flagRule.read(value, &reader)
        } write: { setting in
            setting.implied
        },
        .flag("AllowsDash", { $1(&$0.allowsDash) }), .flag("Hidden", { $1(&$0.isHidden) }),
        .names("Environment", { $1(&$0.environment) }), .flag("Sensitive", { $1(&$0.isSensitive) }),
        .flag("Mirrored", { $1(&$0.isMirrored) }, preset: true), merging, .text("Identity", { $1(&$0.identity) }),
        .flag("Transient", { $1(&$0.isTransient) }),
        .flag("ByHost", { $1(&$0.isByHost) }),
        Attribute(name: "Map") { value, setting, reader in
            guard let flag = value.flag else { return reader.report(.wrongValue(expected: "true or false")) }
            if flag { setting.takeMap() }
        } write: { setting in
            setting.isMap ? .boolean(true) : nil
        },
        Attribute(name: "Configuration") { value, setting, reader in
            guard let flag = value.flag else { return reader.report(.wrongValue(expected: "true or false")) }
            if flag { setting.takeConfiguration() }
        } write: { setting in
            setting.isConfiguration ? .boolean(true) : nil
        },
        .names("RenamedFrom", { $1(&$0.renamedFrom) }), .text("Scope", { $1(&$0.scope) }),
    ]

    private static let defaultPath = Attribute<SettingDeclaration>(name: "DefaultPath") { value, setting, reader in
        guard let text = value.stringValue, text.hasPrefix("~/") else {
            return reader.report(.wrongValue(expected: "a path that begins with ~/"))
        }
        if setting.defaultValue != nil { return reader.report(.contradicts("Default")) }
        (setting.defaultValue, setting.isDefaultInHome) = (value, true)
    } write: { setting in
        setting.isDefaultInHome ? setting.defaultValue : nil
    }

    /// Earlier versions knew only whether the entries of a dictionary are merged.
    private static let merging = Attribute<SettingDeclaration>(name: "Merge") { value, setting, reader in
        if let flag = value.flag {
            setting.merge = flag ? .entries : .value
            return
        }
        named.read(value, &setting, &reader)
    } write: {
        named.write($0)
    }

    private static let named = Attribute<SettingDeclaration>.name("Merge", { $1(&$0.merge) })

    private static func group(_ number: Group.Number) -> Attribute<SettingDeclaration> {
        .names(number.rawValue, { $1(&$0[number]) })
    }

    /// Reads a setting. A setting without a key keeps its index in the list, so that the paths of later errors are
    /// correct.
    static func read(_ value: PropertyList, _ reader: inout AttributeReader) -> SettingDeclaration? {
        var setting = SettingDeclaration("")
        if value["Type"] == nil, let type = value["Default"].flatMap({ ValueType($0.kind) }) {
            setting.rule.type = type
        }
        setting.rule.takeType(ofKind: value)
        reader.read(value, into: &setting, by: attributes)
        guard value.dictionaryValue != nil else { return setting }
        if value["Key"] == nil { reader.report(.missingAttribute("Key")) }
        return setting
    }
}

extension SettingDeclaration.FlagValue {
    /// The attributes besides the value.
    private static let attributes: [Attribute<SettingDeclaration.FlagValue>] = [
        .text("Title", { $1(&$0.title) }), .text("Summary", { $1(&$0.summary) }), .text("Group", { $1(&$0.group) }),
        .flag("Hidden", { $1(&$0.isHidden) }), .names("Environment", { $1(&$0.environment) }),
        .deprecated({ $1(&$0.deprecated) }),
    ]

    /// Reads the value of a flag, or a dictionary of the value and attributes of the flag.
    fileprivate static func read(
        _ value: PropertyList, of flag: String, by rule: ValueRule, _ reader: inout AttributeReader
    ) -> SettingDeclaration.FlagValue? {
        guard case .dictionary(var entries) = value, let inner = entries.removeValue(forKey: "Value"),
            !rule.mayBeDictionary || hasOnlyAttributes(entries)
        else { return rule.read(value, &reader).map { .init(flag: flag, value: $0) } }
        var result = SettingDeclaration.FlagValue(flag: flag, value: inner)
        reader.read(.dictionary(entries), into: &result, by: attributes)
        guard let inner = reader.inside("Value", { rule.read(inner, &$0) }) else { return nil }
        result.value = inner
        return result
    }

    private static func hasOnlyAttributes(_ entries: PropertyList.Dictionary) -> Bool {
        entries.allSatisfy { entry in attributes.contains { $0.name.hasSameBytes(as: entry.key) } }
    }

    /// The value, or a dictionary if there are attributes or the value looks like such a dictionary.
    fileprivate var written: PropertyList {
        guard case .dictionary(var entries) = Self.attributes.written(self) else { return value }
        var others = value.dictionaryValue ?? [:]
        let isAmbiguous = others.removeValue(forKey: "Value") != nil && Self.hasOnlyAttributes(others)
        guard !entries.isEmpty || isAmbiguous else { return value }
        entries["Value"] = value
        return .dictionary(entries)
    }
}

extension ValueRule {
    fileprivate var mayBeDictionary: Bool { type == .dictionary || type == .any }

    /// The maximum nesting depth of rules.
    static let maximumRuleDepth = 16

    /// The attributes of a rule. Each follows the ones that it depends on for reading.
    static let attributes: [Attribute<ValueRule>] = [
        .name("Type", { $1(&$0.optionalType) }),
        .name("Kind", { $1(&$0.kind) }),
        Attribute(name: "Elements") { value, rule, reader in
            if let inner = Self.inner(value, &reader) { rule.contents = .each(inner) }
        } write: { rule in
            rule.type == .dictionary ? nil : rule.element.map { attributes.written($0) }
        },
        Attribute(name: "Entries", read: readEntries, write: writtenEntries),
        bound("Minimum", { $1(&$0.minimum) }), bound("Maximum", { $1(&$0.maximum) }),
        .count("MinimumLength", { $1(&$0.minimumLength) }), .count("MaximumLength", { $1(&$0.maximumLength) }),
        .count("MinimumCount", { $1(&$0.minimumCount) }), .count("MaximumCount", { $1(&$0.maximumCount) }),
        .flag("Unique", { $1(&$0.isUnique) }),
        .text("Pattern", { $1(&$0.patternText) }),
        Attribute(name: "Choices") { value, rule, reader in
            let single = rule
            rule.choices = reader.readEach(value) { choice, reader in single.read(choice, &reader) }
            if value == .array([]) { reader.find(.empty) }
        } write: { rule in
            rule.choices.isEmpty ? nil : .array(rule.choices)
        },
        .names("ChoiceTitles", { $1(&$0.choiceTitles) }),
        Attribute(name: "ChoicesFrom") { value, rule, reader in
            // A command from another user's file must not run.
            guard reader.source == .head else { return reader.report(.notInHead) }
            guard let text = value.stringValue else { return reader.report(.wrongValue(expected: "a string")) }
            rule.choicesFrom = text
        } write: { rule in
            rule.choicesFrom.map { .string($0) }
        },
        .text("Message", { $1(&$0.message) }),
        .text("Separator", { $1(&$0.separator) }), .optionalFlag("Exists", { $1(&$0.exists) }),
    ]

    /// The type as an optional, as the attribute table requires.
    private var optionalType: ValueType? {
        get { type }
        set { if let newValue { type = newValue } }
    }

    private var patternText: String? {
        get { pattern?.text }
        set { pattern = newValue.map { Pattern($0) } }
    }

    private static func bound(
        _ name: String, _ part: @escaping Access<ValueRule, PropertyList?>
    ) -> Attribute<ValueRule> {
        Attribute(name: name) { value, rule, reader in
            let bound = rule.read(value, &reader)
            part(&rule) { $0 = bound }
        } write: { rule in
            Attribute<ValueRule>.value(of: part, in: rule) ?? nil
        }
    }

    /// Returns the value converted to this type, or reports an error and returns nil.
    package func read(_ value: PropertyList, _ reader: inout AttributeReader) -> PropertyList? {
        if type == .any { return value }
        if case .string(let text) = value, type != .string {
            do throws(Schema.Problem.Reason) {
                return try self.value(ofText: text)
            } catch {
                reader.report(.refused(error))
                return nil
            }
        }
        let adapted = adapted(value)
        guard adapted.kind.rawValue == type.rawValue else {
            reader.report(.wrongValue(expected: expectation))
            return nil
        }
        return adapted
    }

    /// Returns the rule for the contents, or reports that it is nested too deeply and returns nil.
    private static func inner(_ value: PropertyList, _ reader: inout AttributeReader) -> ValueRule? {
        if reader.isTooDeep(limit: maximumRuleDepth) { return nil }
        var rule = ValueRule()
        rule.takeType(ofKind: value)
        reader.read(value, into: &rule, by: attributes)
        return rule
    }

    /// Makes a duration or a size a number if the declaration has no type.
    mutating func takeType(ofKind value: PropertyList) {
        guard value["Type"] == nil, type == .string, let kind = value["Kind"]?.stringValue.flatMap(ValueKind.init),
            kind.quantity != nil
        else { return }
        type = .integer
    }

    /// Reads a dictionary as one rule for all entries, or an array as one declaration for each entry.
    private static let readEntries: @Sendable (PropertyList, inout ValueRule, inout AttributeReader) -> Void = {
        value, rule, reader in
        guard case .array = value else {
            if let inner = Self.inner(value, &reader) { rule.contents = .each(inner) }
            return
        }
        if reader.isTooDeep(limit: maximumRuleDepth) { return }
        rule.contents = .entries(reader.readEach(value) { SettingDeclaration.read($0, &$1) })
    }

    private static let writtenEntries: @Sendable (ValueRule) -> PropertyList? = { rule in
        switch rule.contents {
        case .entries(let entries): .array(entries.map { SettingDeclaration.attributes.written($0) })
        case .each(let inner) where rule.type == .dictionary: attributes.written(inner)
        default: nil
        }
    }
}
