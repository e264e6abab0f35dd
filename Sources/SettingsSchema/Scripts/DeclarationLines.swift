internal import PropertyLists

/// A declaration in the head of a script with one line per option.
///
///     #prefs domain=com.example.nightly title="Copies a folder"
///     # @flag   -v --verbose          Print each file
///     # @option -k --keep=INT <7>     How many copies to keep [1..365] {env: NIGHTLY_KEEP}
///
/// It is converted to the property list that declares the same, so that both have the same rules.
struct DeclarationLines {
    private(set) var mistakes: [Schema.Mistake] = []
    private var locations: [EntryPath: TextLocation] = [:]
    /// The program, followed by its commands.
    private var scopes = [Scope(path: EntryPath())]
    private var current = 0
    private var group: String?
    /// The flags that set values of settings, which may be declared in later lines.
    private var setters: [Setter] = []

    private struct Setter {
        let scope: Int
        let key: String
        let keyPlace: TextLocation
        /// The flags with their dashes, and the value that each sets.
        let values: [(flag: String, value: String)]
        let place: TextLocation
    }

    private struct Scope {
        let path: EntryPath
        var parent: Int?
        var attributes = PropertyList.Dictionary()
        var settings: [PropertyList.Dictionary] = []
        /// The indices of the commands in it.
        var commands: [Int] = []
        var arguments = 0
    }

    /// Whether a line begins a declaration in this notation.
    static func isHead(_ comment: some StringProtocol) -> Bool {
        guard comment.hasPrefix("#prefs") else { return false }
        let next = comment.unicodeScalars.dropFirst(6).first
        return next == nil || next == " " || next == "\t" || next == "\r"
    }

    init(_ script: String) {
        var (isInside, isEnded, count) = (false, false, 0)
        for (index, line) in script.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        {
            var text = LineScanner(line: index + 1, String(Substring(line)))
            text.skipSpaces()
            if text.isAtEnd { continue }
            guard text.next == "#" else {
                isEnded = isInside
                // Lines after the declaration are searched only for one that was meant to be part of it.
                if isEnded, count > 0 { break }
                continue
            }
            if isInside {
                text.skip("#")
                text.skipSpaces()
                guard text.next == "@" else { continue }
                if isEnded {
                    warnOfLineAfterEnd(text)
                    if !mistakes.isEmpty { break }
                } else {
                    count += 1
                    guard count <= Schema.maximumSettings else {
                        report("more than \(Schema.maximumSettings) lines", at: text.location)
                        break
                    }
                    take(&text)
                }
            } else if Self.isHead(text.rest) {
                isInside = true
                text.skip("#prefs")
                takeHead(&text)
            }
        }
        for setter in setters { add(setter) }
        scopes[0].attributes["Strict"] = .boolean(true)
    }

    /// The same declaration as a property list.
    var value: PropertyList { value(of: 0) }

    /// Returns the location of the entry at a path, or of the entry that contains it.
    func location(of path: EntryPath) -> TextLocation? {
        var path = path
        while !path.components.isEmpty {
            if let location = locations[path] { return location }
            path.components.removeLast()
        }
        return locations[path]
    }

    private func value(of index: Int) -> PropertyList {
        let scope = scopes[index]
        var result = scope.attributes
        if !scope.settings.isEmpty { result["Settings"] = .array(scope.settings.map { .dictionary($0) }) }
        if !scope.commands.isEmpty { result["Commands"] = .array(scope.commands.map { value(of: $0) }) }
        return .dictionary(result)
    }

    private var errorCount = 0

    /// Whether the maximum number of errors has been reached, so that no more are searched for.
    private var isFull: Bool { errorCount >= Schema.maximumDiagnostics }

    private mutating func report(_ problem: String, at location: TextLocation) {
        guard !isFull else { return }
        errorCount += 1
        add(problem, at: location)
    }

    /// Reports a part of a line that is probably not meant as it is read.
    private mutating func warn(_ problem: String, at location: TextLocation) {
        guard mistakes.count - errorCount < Schema.maximumDiagnostics else { return }
        add(problem, at: location, isWarning: true)
    }

    private mutating func add(_ problem: String, at location: TextLocation, isWarning: Bool = false) {
        var mistake = Schema.Mistake(.syntax(problem), at: EntryPath())
        (mistake.location, mistake.isWarning) = (location, isWarning)
        mistakes.append(mistake)
    }

    // MARK: Head

    private static let headNames = [
        "domain": "Domain", "title": "Title", "summary": "Summary", "program": "Program", "version": "ProgramVersion",
        "operands": "Operands", "exact": "Exact", "interleaved": "Interleaved", "closed": "Closed",
        "extends": "Extends", "version-short": "VersionShort", "default-command": "DefaultCommand",
        "settings-version": "Version",
    ]

    private mutating func takeHead(_ text: inout LineScanner) {
        locations[EntryPath()] = text.location
        while true {
            text.skipSpaces()
            guard !text.isAtEnd, !isFull else { return }
            let place = text.location
            let name = text.takeWord { $0 == "=" }
            guard let attribute = Self.headNames[name] else {
                let nearest = Self.headNames.keys.sorted().nearest(to: name)
                let isPartOfValue = nearest == nil && text.next != "=" && !scopes[0].attributes.isEmpty
                let fix = isPartOfValue ? "; a value with spaces requires quotes" : hint(nearest)
                report("unknown name \(shortened(name))\(fix)", at: place)
                _ = text.takeWord()
                continue
            }
            let path: EntryPath = [EntryPath.Component(attribute)]
            locations[path] = place
            guard text.next == "=" else {
                scopes[0].attributes[attribute] = .boolean(true)
                continue
            }
            text.skip("=")
            guard let value = text.takeQuoted() else {
                report("missing quote at the end of the value", at: text.location)
                return
            }
            scopes[0].attributes[attribute] = .string(value)
        }
    }

    // MARK: Lines

    private static let directives = ["flag", "option", "arg", "rest", "command", "group", "example", "epilogue"]

    private mutating func take(_ text: inout LineScanner) {
        let place = text.location
        text.skip("@")
        let name = text.takeWord()
        text.skipSpaces()
        switch name {
        case "flag": takeFlag(&text)
        case "option": takeOption(&text)
        case "arg", "rest": takeOperand(&text, isRest: name == "rest")
        case "command": takeCommand(&text)
        case "group":
            let title = text.takeRest()
            group = title.isEmpty ? nil : title
        case "example":
            let others = scopes[current].attributes["Examples"]?.arrayValue ?? []
            scopes[current].attributes["Examples"] = .array(others + [.string(text.takeRest())])
        case "epilogue":
            let former = scopes[current].attributes["Epilogue"]?.stringValue.map { $0 + "\n" } ?? ""
            scopes[current].attributes["Epilogue"] = .string(former + text.takeRest())
        default:
            let nearest = Self.directives.nearest(to: name).map { "@\($0)" }
            report("unknown line @\(shortened(name))\(hint(nearest))", at: place)
        }
    }

    /// Warns of a line after the code has begun, which has no effect.
    private mutating func warnOfLineAfterEnd(_ text: LineScanner) {
        var text = text
        let place = text.location
        text.skip("@")
        let name = text.takeWord()
        guard Self.directives.contains(name) else { return }
        warn("@\(name) has no effect after the first line of code; move it to the line after #prefs", at: place)
    }

    private mutating func takeFlag(_ text: inout LineScanner) {
        var draft = Draft(at: text.location)
        draft.rule["Type"] = .string("boolean")
        takeFlags(&text, &draft, hasValue: false)
        guard !draft.flags.isEmpty || draft.short != nil || !draft.letters.isEmpty else {
            return report("a flag such as -v or --verbose must follow", at: text.location)
        }
        if setsValue(&text, draft) { return }
        guard draft.letters.isEmpty else { return report("an option such as level=* must follow", at: text.location) }
        finish(&text, &draft)
    }

    private mutating func takeOption(_ text: inout LineScanner) {
        var draft = Draft(at: text.location)
        takeFlags(&text, &draft, hasValue: true)
        guard !draft.flags.isEmpty || draft.short != nil else {
            return report("an option such as --keep=INT must follow", at: text.location)
        }
        if !draft.hasValue { report("the type of the value is missing, as in --keep=INT", at: text.location) }
        finish(&text, &draft)
    }

    /// Takes the flags, and the type of the value after the last one.
    private mutating func takeFlags(_ text: inout LineScanner, _ draft: inout Draft, hasValue: Bool) {
        while text.next == "-" {
            let place = text.location
            let isLong = text.skip("--")
            if isLong {
                if text.skip("[no-]") { draft.setting["Negatable"] = .boolean(true) }
            } else {
                text.skip("-")
            }
            var name = text.takeWord { $0 == "=" || $0 == "[" }
            if name.hasSuffix("..."), !hasValue {
                name.removeLast(3)
                draft.rule["Type"] = .string("integer")
                draft.setting["Repeats"] = .boolean(true)
                draft.setting["Default"] = .integer(0)
            }
            // A comma between flags, as in the help.
            if name.hasSuffix(",") { name.removeLast() }
            if isLong {
                draft.flags.append(name)
            } else if !hasValue, let letters = Self.letters(name) {
                draft.letters = letters
            } else {
                if draft.short != nil { report("a second letter; declare it with @flag", at: place) }
                draft.short = name
            }
            let placeOfValue = text.location
            let isOptional = text.skip("[=")
            if isOptional || text.skip("=") {
                guard hasValue else {
                    report("a flag has no value; declare it with @option", at: placeOfValue)
                    _ = text.takeWord()
                    return
                }
                draft.hasValue = true
                if text.next.map({ " \t<[{]".unicodeScalars.contains($0) }) ?? true {
                    warn("the type of the value is missing, as in --keep=INT", at: text.location)
                }
                takeType(&text, &draft, end: isOptional ? "]" : nil)
                if isOptional {
                    text.skip("]")
                    draft.setting["ValueOptional"] = .boolean(true)
                }
            }
            text.skipSpaces()
        }
    }

    /// The letters of `1..-9`.
    private static func letters(_ text: String) -> [String]? {
        let parts = text.split(separator: "..-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts.allSatisfy(\.isShortFlag), let first = parts[0].utf8.first,
            let last = parts[1].utf8.first, first <= last
        else { return nil }
        return (first...last).map { String(Unicode.Scalar($0)) }
    }

    /// Takes `level=9` after a flag, which then sets the value of another option. With `level=*`, the letter is the
    /// value.
    private mutating func setsValue(_ text: inout LineScanner, _ draft: Draft) -> Bool {
        var ahead = text
        let key = ahead.takeWord { $0 == "=" }
        guard ahead.next == "=", !key.isEmpty else { return false }
        ahead.skip("=")
        let value = ahead.takeWord()
        let letters = draft.letters + (draft.short.map { [$0] } ?? [])
        let values = (draft.flags.map { "--\($0)" } + letters.map { "-\($0)" }).map { flag in
            (flag: flag, value: value == "*" ? String(flag.drop { $0 == "-" }) : value)
        }
        setters.append(
            Setter(scope: current, key: key, keyPlace: text.location, values: values, place: draft.place))
        text = ahead
        return true
    }

    /// Adds the flags to the setting whose value they set.
    private mutating func add(_ setter: Setter) {
        var keys: [String] = []
        var scope: Int? = setter.scope
        while let index = scope {
            if let at = scopes[index].settings.firstIndex(where: { $0["Key"]?.stringValue == setter.key }) {
                var values = scopes[index].settings[at]["Values"]?.dictionaryValue ?? [:]
                let path = scopes[index].path.appending("Settings").appending(.init(at)).appending("Values")
                for (flag, value) in setter.values {
                    values[flag] = .string(value)
                    locations[path.appending(.init(flag))] = setter.place
                }
                scopes[index].settings[at]["Values"] = .dictionary(values)
                return
            }
            keys += scopes[index].settings.compactMap { $0["Key"]?.stringValue }
            scope = scopes[index].parent
        }
        let nearest = errorCount < Schema.maximumSuggestions ? keys.nearest(to: setter.key) : nil
        report("unknown key \(shortened(setter.key))\(hint(nearest))", at: setter.keyPlace)
    }

    private mutating func takeOperand(_ text: inout LineScanner, isRest: Bool) {
        var draft = Draft(at: text.location)
        let name = text.takeWord { $0 == ":" || $0 == "!" || $0 == "." || $0 == "," }
        guard !name.isEmpty else { return report("a name such as source must follow", at: text.location) }
        draft.key = name
        var ahead = text
        if text.next == ":" {
            text.skip(":")
        } else if ahead.takeWord().contains(":") {
            warn("the type precedes the marks !, ... and the comma, as in \(shortened(name)):FILE!", at: text.location)
        }
        takeType(&text, &draft, end: nil)
        text.skipSpaces()
        if isRest {
            draft.isList = true
            draft.setting["Rest"] = .boolean(true)
            if draft.setting["Required"] != nil {
                draft.setting["Required"] = nil
                draft.setting["MinimumCount"] = .integer(1)
            }
        } else {
            scopes[current].arguments += 1
            draft.setting["Positional"] = .integer(PropertyList.Integer(scopes[current].arguments))
        }
        finish(&text, &draft, repeats: false)
    }

    private mutating func takeCommand(_ text: inout LineScanner) {
        let place = text.location
        let words = text.takeWord().split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        let names = (words.first ?? "").split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        var parent = 0
        for name in names.dropLast() {
            let next = scopes[parent].commands.first { scopes[$0].attributes["Name"]?.stringValue == name }
            guard let next else { return report("unknown command \(shortened(name)); declare it first", at: place) }
            parent = next
        }
        let path = scopes[parent].path.appending("Commands").appending(.init(scopes[parent].commands.count))
        var scope = Scope(path: path, parent: parent)
        scope.arguments = scopes[parent].arguments
        scope.attributes["Name"] = .string(names.last ?? "")
        if words.count > 1 { scope.attributes["Aliases"] = .array(words.dropFirst().map { .string($0) }) }
        scope.attributes["Group"] = group.map { .string($0) }
        locations[path] = place
        group = nil
        scopes[parent].commands.append(scopes.count)
        current = scopes.count
        text.skipSpaces()
        let (title, _, items) = text.takeItems()
        if !title.isEmpty { scope.attributes["Title"] = .string(title) }
        for item in items {
            switch (item.kind, item.name) {
            case ("{", "hidden"): scope.attributes["Hidden"] = .boolean(true)
            case ("{", "default"):
                scopes[parent].attributes["DefaultCommand"] = scope.attributes["Name"]
                locations[scopes[parent].path.appending("DefaultCommand")] = item.location
            case ("{", "operands"): scope.attributes["Operands"] = .string(item.value)
            case ("{", "summary"): scope.attributes["Summary"] = .string(item.value)
            default: report("unknown \(item.kind)\(shortened(item.name))", at: item.location)
            }
        }
        scopes.append(scope)
    }

    // MARK: Settings

    /// A setting whose line is being read.
    private struct Draft {
        let place: TextLocation
        var key: String?
        var flags: [String] = []
        var short: String?
        /// The letters of a range of flags.
        var letters: [String] = []
        var hasValue = false
        /// Whether the value is an array of what `rule` describes.
        var isList = false
        var setting = PropertyList.Dictionary()
        var rule = PropertyList.Dictionary()
        var places: [(path: [String], isOfRule: Bool, location: TextLocation)] = []

        init(at place: TextLocation) { self.place = place }

        /// Whether bounds are those of a length.
        var isText: Bool { rule["Type"] == nil && rule["Kind"].map { $0 != "duration" && $0 != "size" } ?? true }

        /// Sets an attribute of the setting, or of the rule for its elements if it is a list.
        mutating func set(_ name: String, _ value: PropertyList, isOfRule: Bool = false, at place: TextLocation) {
            if isOfRule { rule[name] = value } else { setting[name] = value }
            places.append(([name], isOfRule, place))
        }

        /// Sets a minimum, a maximum or both.
        mutating func set(_ bounds: (least: Substring, most: Substring), of what: String, at place: TextLocation) {
            for (name, bound) in [("Minimum\(what)", bounds.least), ("Maximum\(what)", bounds.most)]
            where !bound.isEmpty {
                set(name, .string(String(bound)), isOfRule: what != "Count", at: place)
            }
        }

        /// Splits `1..9`. Three dots mean the same, except before the fraction of a number, which may begin with a dot.
        func bounds(_ text: String) -> (least: Substring, most: Substring)? {
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
                if DeclarationLines.itemNames.contains(String(name)) { return "missing } at the end of {\(name)" }
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

    private static let types: [String: (attribute: String, name: String)] = [
        "int": ("Type", "integer"), "integer": ("Type", "integer"), "real": ("Type", "real"),
        "number": ("Type", "real"), "text": ("Type", "string"), "string": ("Type", "string"),
        "bool": ("Type", "boolean"), "boolean": ("Type", "boolean"), "date": ("Type", "date"),
        "data": ("Type", "data"), "file": ("Kind", "file"), "folder": ("Kind", "folder"), "path": ("Kind", "path"),
        "url": ("Kind", "url"), "host": ("Kind", "host"), "address": ("Kind", "address"),
        "duration": ("Kind", "duration"), "size": ("Kind", "size"),
    ]

    /// Takes a type: `INT`, `full|incremental`, `N:int`, and the marks `,`, `...` and `!` after it.
    private mutating func takeType(_ text: inout LineScanner, _ draft: inout Draft, end: Unicode.Scalar?) {
        let place = text.location
        var word = text.takeWord { $0 == end }
        while true {
            if word.hasSuffix("!") {
                word.removeLast()
                draft.setting["Required"] = .boolean(true)
            } else if word.hasSuffix("...") {
                word.removeLast(3)
                draft.isList = true
                draft.setting["Repeats"] = .boolean(true)
            } else if word.hasSuffix(",") {
                word.removeLast()
                draft.isList = true
                draft.setting["Separator"] = .string(",")
            } else {
                break
            }
        }
        draft.places.append((["Choices", "Type", "Kind"], true, place))
        draft.places.append((["Separator", "Repeats", "Type"], false, place))
        if word.contains("|") {
            draft.rule["Choices"] = .array(word.split(separator: "|").map { .string(String($0)) })
            return
        }
        let parts = word.split(separator: ":", maxSplits: 1).map(String.init)
        guard let last = parts.last else { return }
        if let type = Self.types[last.lowercased()] {
            if type.name != "string" { draft.rule[type.attribute] = .string(type.name) }
            if parts.count > 1 { draft.setting["Placeholder"] = .string(parts[0]) }
        } else if parts.count > 1 {
            let nearest = Self.types.keys.sorted().nearest(to: last.lowercased())
            report("unknown type \(shortened(last))\(hint(nearest))", at: place)
        } else {
            draft.setting["Placeholder"] = .string(last)
        }
    }

    /// The value of an item in braces.
    private enum ItemValue {
        case text
        /// Words separated by spaces or commas.
        case words
        /// YES if the item has no value.
        case mark
    }

    /// The attribute that each item in braces sets, if it sets one as written.
    private static let items: [String: (attribute: String, value: ItemValue, isOfRule: Bool)] = [
        "env": ("Environment", .words, false), "summary": ("Summary", .text, false), "unit": ("Unit", .text, false),
        "placeholder": ("Placeholder", .text, false), "pattern": ("Pattern", .text, true),
        "kind": ("Kind", .text, true), "implied": ("Implied", .text, false), "from": ("ChoicesFrom", .text, true),
        "conflicts": ("Conflicts", .words, false), "requires": ("Requires", .words, false),
        "one-of": ("ExactlyOneOf", .words, false), "was": ("RenamedFrom", .words, false),
        "separator": ("Separator", .text, false), "secret": ("Sensitive", .mark, false),
        "hidden": ("Hidden", .mark, false), "transient": ("Transient", .mark, false),
        "by-host": ("ByHost", .mark, false), "required": ("Required", .mark, false),
        "unique": ("Unique", .mark, false), "dash": ("AllowsDash", .mark, false),
        "pass": ("PassUnknown", .mark, false), "exists": ("Exists", .mark, true),
        "repeats": ("Repeats", .mark, false), "deprecated": ("Deprecated", .mark, false),
    ]

    /// The names in braces.
    private static let itemNames: Set = Set(["key", "count", "length", "new"] + items.keys)

    /// Returns how an attribute is written in this notation, if it is not an item of the same name.
    static func notation(of attribute: String) -> String? {
        switch attribute {
        case "Implied": "{implied: VALUE}"
        case "ValueOptional": "--flag[=TYPE]"
        case "Rest": "@rest"
        default: nil
        }
    }

    /// Takes the default, bounds and attributes, and the title, and adds the setting.
    private mutating func finish(_ text: inout LineScanner, _ draft: inout Draft, repeats: Bool = true) {
        text.skipSpaces()
        let (title, titlePlace, items) = text.takeItems()
        if !title.isEmpty { draft.setting["Title"] = .string(title) }
        for item in items where !isFull { take(item, &draft) }
        if let problem = draft.problem(inTitle: title) { warn(problem, at: titlePlace) }
        if draft.isList {
            draft.setting["Type"] = .string("array")
            draft.setting["Elements"] = .dictionary(draft.rule)
            if !repeats { draft.setting["Repeats"] = nil }
        } else {
            for entry in draft.rule { draft.setting[entry.key] = entry.value }
        }
        let key = draft.key ?? draft.flags.first ?? draft.short ?? ""
        draft.setting["Key"] = .string(key)
        if !draft.flags.isEmpty { draft.setting["Flag"] = .array(draft.flags.map { .string($0) }) }
        draft.setting["Short"] = draft.short.map { .string($0) }
        if let group, draft.key == nil { draft.setting["Group"] = .string(group) }
        let path = scopes[current].path.appending("Settings").appending(.init(scopes[current].settings.count))
        locations[path] = draft.place
        for place in draft.places {
            let prefix = place.isOfRule && draft.isList ? path.appending("Elements") : path
            for name in place.path { locations[prefix.appending(.init(name))] = place.location }
        }
        scopes[current].settings.append(draft.setting)
    }

    private mutating func take(_ item: LineScanner.Item, _ draft: inout Draft) {
        switch (item.kind, item.name) {
        case ("<", _): draft.set("Default", .string(item.value), at: item.location)
        case ("[", _):
            guard let bounds = draft.bounds(item.value) else { return }
            draft.set(bounds, of: draft.isText ? "Length" : "", at: item.location)
        case (_, "count"), (_, "length"):
            let bounds = draft.bounds(item.value) ?? (item.value[...], item.value[...])
            draft.set(bounds, of: item.name == "count" ? "Count" : "Length", at: item.location)
        case (_, "key"):
            draft.key = item.value
            draft.places.append((["Key"], false, item.location))
        case (_, "new"): draft.set("Exists", .boolean(false), isOfRule: true, at: item.location)
        default:
            guard let (attribute, form, isOfRule) = Self.items[item.name] else {
                let nearest = Self.itemNames.sorted().nearest(to: item.name).map { "{\($0)}" }
                return report("unknown {\(shortened(item.name))}\(hint(nearest))", at: item.location)
            }
            let value: PropertyList =
                switch form {
                case .text: .string(item.value)
                case .words: .array(item.value.split { $0 == " " || $0 == "," }.map { .string(String($0)) })
                case .mark: item.value.isEmpty ? .boolean(true) : .string(item.value)
                }
            draft.set(attribute, value, isOfRule: isOfRule, at: item.location)
            if attribute == "Separator" { draft.isList = true }
        }
    }
}
