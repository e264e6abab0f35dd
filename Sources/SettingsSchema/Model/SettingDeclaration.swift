package import PropertyLists

/// The declaration of one setting.
package struct SettingDeclaration: Hashable, Sendable {
    package var key: String
    package var rule: ValueRule
    package var defaultValue: PropertyList?
    /// Whether the default is a path that begins with a tilde for the user's home.
    package var isDefaultInHome = false
    /// The key of the setting whose value is the default; nil for none.
    package var defaultFrom: String?
    package var isRequired = false
    /// Keys that must not be given together with this one.
    package var conflicts: [String] = []
    /// Keys that must be given with this one.
    package var requires: [String] = []
    /// The groups of this setting, at most one for each number.
    package private(set) var groups: [Group] = []

    // Descriptions.
    package var title: String?
    package var summary: String?
    package var group: String?
    package var placeholder: String?
    package var unit: String?
    /// The reason the setting is deprecated; empty if no reason is given.
    package var deprecated: String?

    // Sources and storage.
    package var flags: [String] = []
    package var shorts: [String] = []
    package var isNegatable = false
    package var repeats = false
    /// Whether the setting must not be given twice on a command line.
    package var isOnce = false
    /// The name of the array that lists the uses of this flag and others in order; nil for none.
    package var ordered: String?
    /// Whether a dictionary has plain values, and each use of the flag gives an entry: `-D name=value`.
    package var isMap = false
    /// The names of the words that follow the flag, each an element of the array; empty for an ordinary value.
    package var words: [String] = []
    package var positional: Int?
    package var takesRest = false
    /// Flags without a value of their own that set this one: `-9` sets the level 9.
    package var flagValues: [FlagValue] = []
    /// Whether the flag can be given without its value. A value is then given after an equals sign, or directly after
    /// the letter: `--color=never`, `-cnever`.
    package var isValueOptional = false
    /// The value of a flag that is given without one.
    package var implied: PropertyList?
    /// Whether the word after the flag is its value even if it begins with a dash.
    package var allowsDash = false
    /// Whether the rest takes unknown flags.
    package var passesUnknown = false
    /// Whether help and completions leave the setting out.
    package var isHidden = false
    package var environment: [String] = []
    package var isSensitive = false
    package var isMirrored = true
    /// How a mirror combines writes, or nil if that is not declared.
    package var merge: MergeRule?
    /// The key by which the dictionaries of an array are matched.
    package var identity: String?
    package var isTransient = false
    package var isByHost = false
    /// Whether the value is the path of a file whose values are a layer of the program.
    package var isConfiguration = false
    package var renamedFrom: [String] = []
    /// The key of the dictionary in which the value of a part of the program is stored, or the path of that dictionary:
    /// `http-timeout` in the scope `http` is stored in `:http:timeout`. Nil for a key of the domain.
    package var scope: String?
    /// The path of the value in the dictionary of its command or scope; nil for a key of the domain.
    package internal(set) var storedAt: EntryPath?

    package init(_ key: String, _ rule: ValueRule = ValueRule()) {
        self.key = key
        self.rule = rule
    }

    /// A flag, with its dashes, and the value that it gives the setting.
    package struct FlagValue: Hashable, Sendable {
        package let flag: String
        package internal(set) var value: PropertyList
        package var title: String?
        package var summary: String?
        /// The heading under which the help lists the flag; nil for that of the setting.
        package var group: String?
        package var isHidden = false
        /// The variables that mean the same as the flag if they hold anything but a word for no.
        package var environment: [String] = []
        /// The reason the flag is deprecated; empty if no reason is given.
        package var deprecated: String?

        /// The name after two dashes; nil for a letter.
        var long: String? { flag.utf8.starts(with: "--".utf8) ? String(flag.dropFirst(2)) : nil }
        /// The letter after one dash.
        var short: String? { long == nil && flag.hasPrefix("-") ? String(flag.dropFirst()) : nil }
        /// Whether another flag sets the same value and is described by the same words.
        func hasSameMeaning(as other: FlagValue) -> Bool {
            value == other.value && title == other.title && summary == other.summary && group == other.group
                && deprecated == other.deprecated
        }
        /// Whether the help lists the flag on a line of its own.
        var hasLine: Bool { title != nil || summary != nil || group != nil || deprecated != nil }
    }
}

extension SettingDeclaration {
    /// A rule about how many of several settings can or must have a value.
    package struct Group: Hashable, Sendable {
        package enum Number: String, Hashable, Sendable {
            case exactlyOne = "ExactlyOneOf"
            case atMostOne = "AtMostOneOf"
            case atLeastOne = "AtLeastOneOf"

            /// Whether the settings exclude each other.
            package var isExclusive: Bool { self != .atLeastOne }

            /// Returns whether the rule holds if this many of the settings have a value.
            func holds(_ count: Int) -> Bool { (count > 0 || self == .atMostOne) && (count < 2 || !isExclusive) }
        }

        package let number: Number
        package let keys: [String]
    }

    /// The keys that are declared as a group with this setting; empty for none.
    subscript(number: Group.Number) -> [String] {
        get { groups.first { $0.number == number }?.keys ?? [] }
        set {
            groups.removeAll { $0.number == number }
            if !newValue.isEmpty { groups.append(Group(number: number, keys: newValue)) }
        }
    }

    /// The groups with the key of this setting in them.
    package var wholeGroups: [Group] {
        groups.map { $0.keys.contains(exactly: key) ? $0 : Group(number: $0.number, keys: [key] + $0.keys) }
    }

    /// Whether a rule about this setting depends on the values of others.
    package var isRelated: Bool { !conflicts.isEmpty || !requires.isEmpty || !groups.isEmpty }

    /// Whether a rule excludes this setting or another one.
    package var isExclusive: Bool { !conflicts.isEmpty || groups.contains(where: \.number.isExclusive) }

    /// Makes the value the path of the program's configuration.
    mutating func takeConfiguration() {
        isConfiguration = true
        if rule.type == .string, rule.kind == nil { rule.kind = .file }
    }

    /// Makes the value a dictionary of texts, unless the entries have another rule.
    mutating func takeMap() {
        (isMap, repeats) = (true, true)
        if rule.type == .string { rule.type = .dictionary }
        if rule.type == .dictionary, rule.contents == .anything { rule.contents = .each(ValueRule()) }
    }

    /// Makes the value an array with an element for each word that follows the flag, unless it is an array already.
    mutating func takeWords(_ names: [String]) {
        words = names
        if rule.type != .array {
            let element = rule
            rule = ValueRule(.array)
            rule.contents = .each(element)
        }
        (rule.minimumCount, rule.maximumCount) = (names.count, names.count)
    }

    /// The name that forms show.
    package var name: String { title ?? key }

    /// Whether there is a value without one being given.
    package var hasDefault: Bool { defaultValue != nil || defaultFrom != nil }

    /// Whether a value must be given, because there is no default.
    package var requiresValue: Bool { isRequired && !hasDefault }

    /// Whether the flag takes no value.
    package var isSwitch: Bool { rule.type == .boolean || isCounter }

    /// The variables that give the value, or mean the same as a flag that sets it.
    package var allVariables: [String] { environment + flagValues.flatMap(\.environment) }

    /// The letters of all flags.
    var allShorts: [String] { shorts + flagValues.compactMap(\.short) }

    /// The flags that set a value and that help shows, on lines of their own or with the setting.
    package func shownFlagValues(withLine hasLine: Bool) -> [FlagValue] {
        flagValues.filter { value in
            // A flag is listed where one with a variable is that means the same.
            let isListed =
                value.hasLine
                || flagValues.contains {
                    !$0.environment.isEmpty && $0.hasSameMeaning(as: value)
                }
            return !value.isHidden && isListed == hasLine
        }
    }

    /// The flags that set a value and that help lists on lines of their own. Those that mean the same are together, the
    /// letters first.
    package var linesOfFlagValues: [(flags: [String], value: FlagValue)] {
        var lines: [(flags: [String], value: FlagValue)] = []
        for value in shownFlagValues(withLine: true) {
            let same = lines.firstIndex { $0.value.hasSameMeaning(as: value) }
            guard let same else {
                lines.append(([value.flag], value))
                continue
            }
            let position =
                value.short == nil ? lines[same].flags.count : lines[same].flags.firstIndex { $0.hasPrefix("--") }
            lines[same].flags.insert(value.flag, at: position ?? lines[same].flags.count)
            lines[same].value.environment += value.environment
        }
        return lines
    }

    /// Whether each use of the flag adds one.
    package var isCounter: Bool { rule.type == .integer && repeats }

    /// Whether operands set this setting.
    package var takesOperands: Bool { positional != nil || takesRest }

    /// The placeholder of the value in help and usage: `N`, `FILE`, `full|incremental`.
    package var valueName: String {
        if let placeholder { return placeholder }
        if !words.isEmpty { return words.joined(separator: " ") }
        if takesEntries, case .each(let inner) = rule.contents {
            return "KEY=" + SettingDeclaration("", inner).valueName
        }
        if takesEntries { return "KEY=VALUE" }
        let rule = rule.ofElements
        if !rule.choices.isEmpty, rule.choices.count <= 4 {
            let text = rule.choices.map(\.plainText).joined(separator: "|")
            if text.count <= 32 { return text }
        }
        if let kind = rule.kind { return kind.rawValue.uppercased() }
        if let placeholder = rule.swiftType?.placeholder { return placeholder }
        return switch rule.type {
        case .integer, .real: "N"
        case .string: "TEXT"
        case .any: "VALUE"
        case .boolean: "BOOL"
        default: rule.type.rawValue.uppercased()
        }
    }
}

extension [SettingDeclaration] {
    /// Returns the setting with a key. Keys are compared by their bytes, as in a property list.
    package func declaration(of key: String) -> SettingDeclaration? { first { $0.key.hasSameBytes(as: key) } }

    /// The settings with a position, in order.
    package var positionals: [SettingDeclaration] {
        filter { $0.positional != nil }.sorted { $0.positional ?? 0 < $1.positional ?? 0 }
    }

    /// The names of the arrays that list uses of flags in order, each once.
    package var orderedLists: [String] {
        let names = compactMap(\.ordered)
        return names.indices.filter { !names[..<$0].contains(exactly: names[$0]) }.map { names[$0] }
    }

    /// The settings that take operands, in order.
    package var takingOperands: [SettingDeclaration] { positionals + filter(\.takesRest) }
}

extension SettingDeclaration {
    /// All long flags of this setting, without dashes.
    package var allFlags: [String] {
        if hasSecrets { return secretFlags.map(\.name) }
        return flags + (isNegatable ? flags.map { "no-\($0)" } : [])
    }
}

extension SettingDeclaration {
    /// Whether this setting takes any number of operands.
    package var takesManyOperands: Bool { takesRest || (positional != nil && rule.type == .array) }
}

extension String {
    /// Whether this is valid after `--`: letters, digits, dashes, dots and underscores, beginning with a letter or
    /// digit.
    package var isFlagName: Bool {
        guard let first = unicodeScalars.first, first.isPlain, first != "_", utf8.count <= 64 else { return false }
        return unicodeScalars.allSatisfy { $0.isPlain || $0 == "-" || $0 == "." }
    }

    /// Whether this is valid after one dash: a letter, a digit, or a mark such as `@`.
    package var isShortFlag: Bool {
        guard unicodeScalars.count == 1, let scalar = unicodeScalars.first else { return false }
        return scalar.isPlain && scalar != "_" || "#%+/:?@~".unicodeScalars.contains(scalar)
    }

    /// Whether this is a valid name of a shell and environment variable.
    package var isVariableName: Bool {
        guard let first = unicodeScalars.first, utf8.count <= 200 else { return false }
        return !("0"..."9" ~= first) && unicodeScalars.allSatisfy(\.isPlain)
    }

    /// Whether this is a valid key: not empty, without NUL, and not the reserved version key.
    var isKey: Bool { !isEmpty && !unicodeScalars.contains("\0") && self != Schema.versionKey }
}

extension Unicode.Scalar {
    /// Whether this is an ASCII letter, a digit or an underscore.
    fileprivate var isPlain: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }
}
