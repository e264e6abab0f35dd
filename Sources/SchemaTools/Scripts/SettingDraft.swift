internal import PropertyLists
internal import SettingsSchema

/// A setting whose line is being read. Its attributes are those of a schema.
struct SettingDraft {
    let place: TextLocation
    var key: String?
    var flags: [String] = []
    var shorts: [String] = []
    /// The letters of a range of flags.
    var letters: [String] = []
    var hasValue = false
    /// The name of the operand that gives the value.
    var operand: String?
    /// Whether the value is an array of what `rule` describes.
    private(set) var isList = false
    /// Whether the value is a dictionary of what `rule` describes.
    private(set) var isMap = false
    var setting = PropertyList.Dictionary()
    var rule = PropertyList.Dictionary()
    private(set) var places: [(path: [String], isOfRule: Bool, location: TextLocation)] = []
    /// The type as written.
    private var type: String?
    /// The titles of choices, in the order of their items.
    private var titles: [(choice: String, title: String)] = []

    init(at place: TextLocation) { self.place = place }

    /// The declaration as in a schema.
    var declaration: PropertyList.Dictionary {
        var (result, rule) = (setting, rule)
        if !titles.isEmpty {
            let choices = rule["Choices"]?.arrayValue ?? []
            rule["ChoiceTitles"] = .array(
                choices.map { choice in
                    titles.first { .string($0.choice) == choice }.map { .string($0.title) } ?? choice
                })
        }
        if isList || setting["Rest"] != nil {
            result["Type"] = .string("array")
            result["Elements"] = .dictionary(rule)
            if operand != nil { result["Repeats"] = nil }
            if setting["Words"] != nil, let text = setting["Default"]?.stringValue {
                result["Default"] = .array(text.split(separator: " ").map { .string(String($0)) })
            }
        } else if isMap {
            result["Map"] = .boolean(true)
            result["Entries"] = .dictionary(rule)
            if let text = setting["Default"]?.stringValue, let pairs = Self.pairs(text) { result["Default"] = pairs }
        } else {
            for entry in rule { result[entry.key] = entry.value }
        }
        result["Key"] = .string(key ?? operand ?? flags.first ?? shorts.first ?? "")
        // The help shows the name of an operand, even if its key is another one.
        if key != nil, let operand, setting["Placeholder"] == nil {
            result["Placeholder"] = .string(operand.uppercased())
        }
        if !flags.isEmpty { result["Flag"] = .array(flags.map { .string($0) }) }
        if !shorts.isEmpty { result["Short"] = .array(shorts.map { .string($0) }) }
        return result
    }

    /// Returns the dictionary of `a=1 b=2`, or nil if a word has another form.
    private static func pairs(_ text: String) -> PropertyList? {
        let words = text.split { $0 == " " || $0 == "," }.map { $0.split(separator: "=", maxSplits: 1) }
        guard words.allSatisfy({ $0.count == 2 }) else { return nil }
        let pairs = words.map { (String($0[0]), PropertyList.string(String($0[1]))) }
        return .dictionary(PropertyList.Dictionary(pairs))
    }

    /// Whether bounds are those of a length.
    private var isText: Bool { rule["Type"] == nil && rule["Kind"].map { $0 != "duration" && $0 != "size" } ?? true }

    /// Makes the setting one that takes the rest of the operands.
    mutating func takeRest() {
        isList = true
        setting["Rest"] = .boolean(true)
        guard setting["Required"] != nil else { return }
        setting["Required"] = nil
        setting["MinimumCount"] = .integer(1)
    }

    // MARK: Type

    private static let types: [String: (attribute: String, name: String)] = [
        "int": ("Type", "integer"), "integer": ("Type", "integer"), "real": ("Type", "real"),
        "number": ("Type", "real"), "text": ("Type", "string"), "string": ("Type", "string"),
        "bool": ("Type", "boolean"), "boolean": ("Type", "boolean"), "date": ("Type", "date"),
        "data": ("Type", "data"), "file": ("Kind", "file"), "folder": ("Kind", "folder"), "path": ("Kind", "path"),
        "url": ("Kind", "url"), "host": ("Kind", "host"), "address": ("Kind", "address"),
        "duration": ("Kind", "duration"), "size": ("Kind", "size"),
    ]

    private static let names = types.keys.sorted()

    /// Takes the marks `!`, `...` and the comma from the end of a word, and returns the rest of it.
    mutating func takeMarks(of word: String) -> String {
        var word = word
        while true {
            if word.hasSuffix("!") {
                word.removeLast()
                setting["Required"] = .boolean(true)
            } else if word.hasSuffix("...") {
                word.removeLast(3)
                isList = true
                setting["Repeats"] = .boolean(true)
            } else if word.hasSuffix(",") {
                word.removeLast()
                isList = true
                setting["Separator"] = .string(",")
            } else {
                return word
            }
        }
    }

    /// Takes a type with its marks, and returns the problem with it, or nil.
    mutating func take(type written: String, at place: TextLocation) -> String? {
        if let type {
            return type == written
                ? nil : "a second type, \(shortened(written)); the first is \(shortened(type))"
        }
        type = written
        let word = takeMarks(of: written)
        places.append((["Choices", "Type", "Kind"], true, place))
        places.append((["Separator", "Repeats", "Type"], false, place))
        if word.contains("|") {
            rule["Choices"] = .array(word.split(separator: "|").map { .string(String($0)) })
            return nil
        }
        let parts = word.split(separator: ":", maxSplits: 1).map(String.init)
        guard let last = parts.last else { return nil }
        guard let type = Self.types[last.lowercased()] else {
            if parts.count > 1 {
                return "unknown type \(shortened(last))\(hint(Self.names.nearest(to: last.lowercased())))"
            }
            setting["Placeholder"] = .string(last)
            return nil
        }
        if type.name != "string" { rule[type.attribute] = .string(type.name) }
        if parts.count > 1 { setting["Placeholder"] = .string(parts[0]) }
        return nil
    }

    // MARK: Items

    /// Takes a default, bounds or an attribute, and returns the problem with it, or nil.
    mutating func take(_ item: LineScanner.Item) -> String? {
        let isNew: Bool
        switch (item.kind, item.name) {
        case ("<", _): isNew = set("Default", .string(item.value), at: item.location)
        case ("[", _), (_, "count"), (_, "length"):
            let bounds = bounds(item.value) ?? (item.value[...], item.value[...])
            guard !bounds.least.isEmpty || !bounds.most.isEmpty else {
                return "\(item.notation) requires a bound, as in 1..5"
            }
            let isLength = item.kind == "[" ? isText : item.name == "length"
            isNew = set(bounds, of: item.name == "count" ? "Count" : isLength ? "Length" : "", at: item.location)
        case (_, "key"):
            guard !item.value.isEmpty else { return "{key} requires a value" }
            isNew = !places.contains { $0.path == ["Key"] }
            key = item.value
            places.append((["Key"], false, item.location))
        case (_, "choice"):
            let choices = rule["Choices"]?.arrayValue?.compactMap(\.stringValue) ?? []
            guard let (choice, title) = item.choice else { return "{choice} requires a choice and its title" }
            guard choices.contains(choice) else {
                return "unknown choice \(shortened(choice))\(hint(choices.nearest(to: choice)))"
            }
            isNew = !titles.contains { $0.choice == choice }
            titles.append((choice, title))
            places.append((["ChoiceTitles"], true, item.location))
        case (_, "map"):
            guard rule["Type"] != "boolean" || type != nil else { return "{map} does not apply to a flag" }
            isNew = !isMap
            isMap = true
            places.append((["Map"], false, item.location))
            guard !item.value.isEmpty else { break }
            guard let type = Self.types[item.value.lowercased()] else {
                return "unknown type \(shortened(item.value))\(hint(Self.names.nearest(to: item.value.lowercased())))"
            }
            if type.name != "string" { rule[type.attribute] = .string(type.name) }
        case (_, "new"):
            guard item.value.isEmpty else { return "{new} takes no value" }
            isNew = set("Exists", .boolean(false), isOfRule: true, at: item.location)
        default:
            guard let known = DeclaredItem.ofSetting[item.name] else {
                let nearest = DeclaredItem.names.sorted().nearest(to: item.name).map { "{\($0)}" }
                return "unknown {\(shortened(item.name))}\(hint(nearest))"
            }
            guard let value = known.value.value(of: item) else { return item.missing }
            isNew = set(known.attribute, value, isOfRule: known.isOfRule, at: item.location)
            if ["Separator", "Words"].contains(known.attribute) { isList = true }
        }
        return isNew ? nil : item.duplicate
    }

    /// Sets an attribute of the setting, or of the rule for its elements if it is a list. Returns false if another item
    /// or the type has set it to another value.
    private mutating func set(
        _ name: String, _ value: PropertyList, isOfRule: Bool = false, at place: TextLocation
    ) -> Bool {
        let former = isOfRule ? rule[name] : setting[name]
        // A counter has a default of its own, and a required rest a minimum count.
        let isPreset = ["Default", "MinimumCount"].contains(name) && !places.contains { $0.path == [name] }
        if isOfRule { rule[name] = value } else { setting[name] = value }
        places.append(([name], isOfRule, place))
        return former == nil || former == value || isPreset
    }

    /// Sets a minimum, a maximum or both.
    private mutating func set(
        _ bounds: (least: Substring, most: Substring), of what: String, at place: TextLocation
    ) -> Bool {
        var isNew = true
        for (name, bound) in [("Minimum\(what)", bounds.least), ("Maximum\(what)", bounds.most)] where !bound.isEmpty {
            isNew = set(name, .string(String(bound)), isOfRule: what != "Count", at: place) && isNew
        }
        return isNew
    }

    /// Splits `1..9`. Three dots mean the same, except before the fraction of a number, which may begin with a dot.
    private func bounds(_ text: String) -> (least: Substring, most: Substring)? {
        guard let dots = text.firstRange(of: "..") else { return nil }
        let most = text[dots.upperBound...]
        let hasThreeDots = most.first == "." && rule["Type"] != "real"
        return (text[..<dots.lowerBound], hasThreeDots ? most.dropFirst() : most)
    }

    /// The problem with a title that contains what was probably meant as an item, or nil.
    func problem(inTitle title: String) -> String? {
        if title.hasPrefix("<"), !title.contains(">") { return "missing > at the end of the default" }
        if let brace = title.lastIndex(of: "{"), !title[brace...].contains("}") {
            let name = title[brace...].dropFirst().prefix { $0.isLetter || $0 == "-" }
            if DeclaredItem.names.contains(String(name)) { return "missing } at the end of {\(name)" }
        }
        if let bracket = title.lastIndex(of: "[") {
            let inner = title[bracket...].dropFirst().prefix { $0 != "]" }
            let isBounds =
                inner.contains(where: \.isNumber) && inner.contains { "-.,".contains($0) }
                && inner.allSatisfy { $0.isNumber || "-., ".contains($0) }
            if isBounds { return "bounds are written [1..5]" }
        }
        guard setting["Default"] == nil, title.hasSuffix(">"), let start = title.lastIndex(of: "<") else {
            return nil
        }
        let inner = String(title[start...].dropFirst().dropLast())
        let isValue = isText ? rule["Choices"]?.arrayValue?.contains(.string(inner)) ?? false : Double(inner) != nil
        return isValue ? "the default <\(inner)> precedes the title" : nil
    }
}

/// An item in braces that sets an attribute as written.
struct DeclaredItem {
    let attribute: String
    let value: Value
    /// Whether it belongs to the rule for values.
    var isOfRule = false

    /// The value of an item in braces.
    enum Value {
        case text
        /// Text that can be empty.
        case anyText
        /// Words separated by spaces or commas.
        case words
        /// YES if the item has no value.
        case mark

        /// Returns the value of the attribute, or nil if it is missing.
        func value(of item: LineScanner.Item) -> PropertyList? {
            switch self {
            case .mark: item.value.isEmpty ? .boolean(true) : .string(item.value)
            case .anyText: .string(item.value)
            case .text: item.value.isEmpty ? nil : .string(item.value)
            case .words:
                item.value.isEmpty
                    ? nil : .array(item.value.split { $0 == " " || $0 == "," }.map { .string(String($0)) })
            }
        }
    }

    /// The items of a setting.
    static let ofSetting: [String: DeclaredItem] = [
        "env": DeclaredItem(attribute: "Environment", value: .words),
        "summary": DeclaredItem(attribute: "Summary", value: .text),
        "unit": DeclaredItem(attribute: "Unit", value: .text),
        "placeholder": DeclaredItem(attribute: "Placeholder", value: .text),
        "pattern": DeclaredItem(attribute: "Pattern", value: .text, isOfRule: true),
        "message": DeclaredItem(attribute: "Message", value: .text, isOfRule: true),
        "kind": DeclaredItem(attribute: "Kind", value: .text, isOfRule: true),
        "implied": DeclaredItem(attribute: "Implied", value: .anyText),
        "default-from": DeclaredItem(attribute: "DefaultFrom", value: .text),
        "default-path": DeclaredItem(attribute: "DefaultPath", value: .text),
        "from": DeclaredItem(attribute: "ChoicesFrom", value: .text, isOfRule: true),
        "conflicts": DeclaredItem(attribute: "Conflicts", value: .words),
        "requires": DeclaredItem(attribute: "Requires", value: .words),
        "one-of": DeclaredItem(attribute: "ExactlyOneOf", value: .words),
        "at-most-one": DeclaredItem(attribute: "AtMostOneOf", value: .words),
        "at-least-one": DeclaredItem(attribute: "AtLeastOneOf", value: .words),
        "was": DeclaredItem(attribute: "RenamedFrom", value: .words),
        "scope": DeclaredItem(attribute: "Scope", value: .text),
        "separator": DeclaredItem(attribute: "Separator", value: .anyText),
        "secret": DeclaredItem(attribute: "Sensitive", value: .mark),
        "hidden": DeclaredItem(attribute: "Hidden", value: .mark),
        "transient": DeclaredItem(attribute: "Transient", value: .mark),
        "merge": DeclaredItem(attribute: "Merge", value: .text),
        "identity": DeclaredItem(attribute: "Identity", value: .text),
        "by-host": DeclaredItem(attribute: "ByHost", value: .mark),
        "required": DeclaredItem(attribute: "Required", value: .mark),
        "unique": DeclaredItem(attribute: "Unique", value: .mark),
        "dash": DeclaredItem(attribute: "AllowsDash", value: .mark),
        "pass": DeclaredItem(attribute: "PassUnknown", value: .mark),
        "exists": DeclaredItem(attribute: "Exists", value: .mark, isOfRule: true),
        "ordered": DeclaredItem(attribute: "Ordered", value: .text),
        "words": DeclaredItem(attribute: "Words", value: .words),
        "once": DeclaredItem(attribute: "Once", value: .mark),
        "repeats": DeclaredItem(attribute: "Repeats", value: .mark),
        "deprecated": DeclaredItem(attribute: "Deprecated", value: .mark),
    ]

    /// The names of all items of a setting.
    static let names = Set(["key", "count", "length", "map", "new", "choice"] + ofSetting.keys)

    /// The items of a flag that sets another option.
    static let ofSetter = ofSetting.filter { ["summary", "hidden", "deprecated", "env"].contains($0.key) }

    /// The items of a command, besides {default}.
    static let ofCommand: [String: DeclaredItem] = [
        "hidden": DeclaredItem(attribute: "Hidden", value: .mark),
        "operands": DeclaredItem(attribute: "Operands", value: .text),
        "store": DeclaredItem(attribute: "Store", value: .text),
        "summary": DeclaredItem(attribute: "Summary", value: .text),
    ]

    /// Returns the name of an item inside a title, where it would have no effect; nil if there is none. A name without
    /// a value, such as {key}, can be part of the title.
    static func name(inTitle title: String) -> String? {
        var rest = title[...]
        while let brace = rest.firstIndex(of: "{") {
            rest = rest[rest.index(after: brace)...]
            let name = String(rest.prefix { $0.isLetter || $0 == "-" })
            let next = rest.dropFirst(name.count).first
            let isMark = ofSetting[name]?.value == .mark || name == "new" || name == "map"
            if names.contains(name), next == ":" && rest.contains("}") || next == "}" && isMark { return name }
        }
        return nil
    }
}

extension [String: DeclaredItem] {
    /// Takes an item of something that is not a setting, and returns the problem with it, or nil.
    func take(_ item: LineScanner.Item, into attributes: inout PropertyList.Dictionary) -> String? {
        guard item.kind == "{", let known = self[item.name] else {
            return "unknown \(item.notation)\(hint(keys.sorted().nearest(to: item.name).map { "{\($0)}" }))"
        }
        guard let value = known.value.value(of: item) else { return item.missing }
        defer { attributes[known.attribute] = value }
        return attributes[known.attribute] == nil ? nil : item.duplicate
    }
}

extension LineScanner.Item {
    /// The choice and its title in `{choice: full "Everything"}`; nil if one is missing.
    fileprivate var choice: (name: String, title: String)? {
        var text = LineScanner(line: 0, value)
        guard let name = text.takeQuoted(), !name.isEmpty else { return nil }
        text.skipSpaces()
        guard !text.isAtEnd, let title = text.takeQuoted(), text.isAtEnd, !title.isEmpty else { return nil }
        return (name, title)
    }

    /// The item as written, without the value after a name.
    var notation: String {
        switch kind {
        case "{": "{\(shortened(name))}"
        case "[": "[\(shortened(value))]"
        default: "<\(shortened(value))>"
        }
    }

    /// The problem that the item has no value.
    var missing: String { "\(notation) requires a value" }

    /// The problem that another item, or the type, declares the same.
    var duplicate: String { "duplicate \(notation); remove one of them" }
}
