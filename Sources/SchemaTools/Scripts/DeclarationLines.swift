internal import PropertyLists
package import SettingsSchema

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
        /// The number of settings that are declared before it in its scope.
        let position: Int
        /// The flags with their dashes, and the value that each sets.
        let values: [(flag: String, value: String)]
        /// The attributes of the flags, such as their title.
        let attributes: PropertyList.Dictionary
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
        // The line before, which the next one may continue.
        var pending: LineScanner?
        for (index, line) in script.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        {
            var text = LineScanner(line: index + 1, String(Substring(line)))
            if isInside, !isEnded, let continuation = text.continuation {
                count += 1
                guard count <= Schema.maximumSettings else {
                    report("more than \(Schema.maximumSettings) lines", at: continuation.location)
                    break
                }
                if pending == nil { report("no line above that it continues", at: continuation.location) }
                pending?.append(continuation)
                continue
            }
            take(&pending)
            text.skipSpaces()
            if text.isAtEnd { continue }
            guard text.next == "#" else {
                isEnded = isInside
                // Lines after the declaration are searched only for one that was meant to be part of it.
                if isEnded, count > 0 { break }
                continue
            }
            if isInside {
                if !isEnded, Self.isHead(text.rest) {
                    takeHead(&text)
                    continue
                }
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
                    pending = text
                }
            } else if Self.isHead(text.rest) {
                isInside = true
                takeHead(&text)
            }
        }
        take(&pending)
        declareChoices()
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
        "extends": "Extends", "format": "Format", "version-short": "VersionShort", "default-command": "DefaultCommand",
        "settings-version": "Version",
    ]

    /// Takes a line `#prefs`. The declaration can have several, each with other names.
    private mutating func takeHead(_ text: inout LineScanner) {
        text.skip("#prefs")
        if locations[EntryPath()] == nil { locations[EntryPath()] = text.location }
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
            if locations[path] == nil { locations[path] = place }
            var value = PropertyList.boolean(true)
            if text.skip("=") {
                guard let text = text.takeQuoted() else {
                    report("missing quote at the end of the value", at: text.location)
                    return
                }
                value = .string(text)
            }
            if let former = scopes[0].attributes[attribute], former != value {
                report("duplicate \(name); remove one of them", at: place)
            } else {
                scopes[0].attributes[attribute] = value
            }
        }
    }

    // MARK: Lines

    private static let directives = [
        "flag", "option", "config", "arg", "rest", "command", "group", "example", "epilogue",
    ]

    private mutating func take(_ pending: inout LineScanner?) {
        guard var line = pending else { return }
        pending = nil
        take(&line)
    }

    private mutating func take(_ text: inout LineScanner) {
        let place = text.location
        text.skip("@")
        let name = text.takeWord()
        text.skipSpaces()
        switch name {
        case "flag": takeFlag(&text)
        case "option", "config": takeOption(&text, isConfiguration: name == "config")
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
        var draft = SettingDraft(at: text.location)
        draft.rule["Type"] = .string("boolean")
        takeFlags(&text, &draft, hasValue: false)
        guard !draft.flags.isEmpty || !draft.shorts.isEmpty || !draft.letters.isEmpty else {
            return report("a flag such as -v or --verbose must follow", at: text.location)
        }
        if setsValue(&text, draft) { return }
        guard draft.letters.isEmpty else { return report("an option such as level=* must follow", at: text.location) }
        finish(&text, &draft)
    }

    private mutating func takeOption(_ text: inout LineScanner, isConfiguration: Bool) {
        var draft = SettingDraft(at: text.location)
        if isConfiguration { draft.setting["Configuration"] = .boolean(true) }
        takeFlags(&text, &draft, hasValue: true)
        guard !draft.flags.isEmpty || !draft.shorts.isEmpty else {
            return report("an option such as --keep=INT must follow", at: text.location)
        }
        if !draft.hasValue { report("the type of the value is missing, as in --keep=INT", at: text.location) }
        finish(&text, &draft)
    }

    /// Takes the flags, and the type of the value after the last one.
    private mutating func takeFlags(_ text: inout LineScanner, _ draft: inout SettingDraft, hasValue: Bool) {
        while text.next == "-" {
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
                draft.shorts.append(name)
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
                    draft.setting["ValueOptional"] = .boolean(true)
                    if !text.skip("]") {
                        report("missing ] after the type", at: text.location)
                    } else if let next = text.next, !" \t<[{".unicodeScalars.contains(next) {
                        let place = text.location
                        report("unexpected text after ]: \(shortened(text.takeWord()))", at: place)
                    }
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
    private mutating func setsValue(_ text: inout LineScanner, _ draft: SettingDraft) -> Bool {
        var ahead = text
        let key = ahead.takeWord { $0 == "=" }
        guard ahead.next == "=", !key.isEmpty else { return false }
        let keyPlace = text.location
        ahead.skip("=")
        guard let value = ahead.takeQuoted() else {
            report("missing quote at the end of the value", at: ahead.location)
            return true
        }
        text = ahead
        if !draft.setting.isEmpty {
            report("[no-] and ... do not apply to a flag that sets another option", at: draft.place)
        }
        let letters = draft.letters + draft.shorts
        let values = (draft.flags.map { "--\($0)" } + letters.map { "-\($0)" }).map { flag in
            (flag: flag, value: value == "*" ? String(flag.drop { $0 == "-" }) : value)
        }
        setters.append(
            Setter(
                scope: current, key: key, keyPlace: keyPlace, position: scopes[current].settings.count, values: values,
                attributes: takeSetterAttributes(&text),
                place: draft.place))
        return true
    }

    /// Takes the title and the items of a flag that sets another option.
    private mutating func takeSetterAttributes(_ text: inout LineScanner) -> PropertyList.Dictionary {
        let (title, _, items) = takeTitle(&text)
        var attributes = PropertyList.Dictionary()
        if !title.isEmpty { attributes["Title"] = .string(title) }
        for item in items where !isFull {
            if item.kind != "{" || DeclaredItem.names.contains(item.name) && DeclaredItem.ofSetter[item.name] == nil {
                report("\(item.notation) does not apply to a flag that sets another option", at: item.location)
            } else if let problem = DeclaredItem.ofSetter.take(item, into: &attributes) {
                report(problem, at: item.location)
            }
        }
        if let group, !attributes.isEmpty { attributes["Group"] = .string(group) }
        return attributes
    }

    /// Declares the keys that several flags set and no line declares: a choice without a default for each, at the place
    /// of its first flag.
    private mutating func declareChoices() {
        var setters: [EntryPath: [Setter]] = [:]
        for setter in self.setters where declaration(of: setter) == nil {
            // A command adds flags for a key of the whole script.
            var (scope, outer) = (setter.scope, scopes[setter.scope].parent)
            while let index = outer {
                if setters[scopes[index].path.appending(.init(setter.key))] != nil { scope = index }
                outer = scopes[index].parent
            }
            setters[scopes[scope].path.appending(.init(setter.key)), default: []].append(setter)
        }
        /// For each list of settings that grows, the new positions of the settings in it.
        var positions: [EntryPath: [Int]] = [:]
        let choices = setters.values.filter { $0.count > 1 }.sorted { $0[0].keyPlace.line < $1[0].keyPlace.line }
        for (scope, choices) in Dictionary(grouping: choices, by: { $0[0].scope }) {
            var rest = choices[...]
            var settings: [PropertyList.Dictionary] = []
            var moved: [Int] = []
            for (index, setting) in scopes[scope].settings.enumerated() {
                while let next = rest.first, next[0].position <= index {
                    settings.append(choice(of: rest.removeFirst()))
                }
                moved.append(settings.count)
                settings.append(setting)
            }
            scopes[scope].settings = settings + rest.map { choice(of: $0) }
            positions[scopes[scope].path.appending("Settings")] = moved
        }
        guard !positions.isEmpty else { return }
        locations = Dictionary(
            uniqueKeysWithValues: locations.map { path, location in
                guard let end = path.components.firstIndex(of: "Settings"), end + 1 < path.components.count,
                    let moved = positions[EntryPath(Array(path.components[...end]))],
                    let index = path.components[end + 1].index
                else { return (path, location) }
                var path = path
                path.components[end + 1] = .init(moved[index])
                return (path, location)
            })
    }

    private func choice(of setters: [Setter]) -> PropertyList.Dictionary {
        let values = setters.flatMap(\.values).map(\.value)
        let distinct = values.indices.filter { values.firstIndex(of: values[$0]) == $0 }.map { values[$0] }
        return ["Key": .string(setters[0].key), "Choices": .array(distinct.map { .string($0) })]
    }

    /// Returns the scope and the position of the setting whose value the flags set, or nil if it is not declared.
    private func declaration(of setter: Setter) -> (scope: Int, position: Int)? {
        var scope: Int? = setter.scope
        while let index = scope {
            if let at = scopes[index].settings.firstIndex(where: { $0["Key"]?.stringValue == setter.key }) {
                return (index, at)
            }
            scope = scopes[index].parent
        }
        return nil
    }

    /// Adds the flags to the setting whose value they set.
    private mutating func add(_ setter: Setter) {
        guard let (scope, position) = declaration(of: setter) else { return reportUnknownKey(of: setter) }
        var values = scopes[scope].settings[position]["Values"]?.dictionaryValue ?? [:]
        let path = scopes[scope].path.appending("Settings").appending(.init(position))
        // A setting that only flags declare is where the first one is.
        if locations[path] == nil { locations[path] = setter.keyPlace }
        for (flag, value) in setter.values {
            if values[flag] != nil { report("duplicate flag \(flag); remove one of them", at: setter.place) }
            var attributes: PropertyList.Dictionary = ["Value": .string(value)]
            for entry in setter.attributes { attributes[entry.key] = entry.value }
            // A variable belongs to one flag; the others mean the same.
            if flag != setter.values.first?.flag { attributes["Environment"] = nil }
            values[flag] = attributes.count == 1 ? .string(value) : .dictionary(attributes)
            locations[path.appending("Values").appending(.init(flag))] = setter.place
        }
        scopes[scope].settings[position]["Values"] = .dictionary(values)
    }

    private mutating func reportUnknownKey(of setter: Setter) {
        var keys: [String] = []
        var scope: Int? = setter.scope
        while let index = scope {
            keys += scopes[index].settings.compactMap { $0["Key"]?.stringValue }
            scope = scopes[index].parent
        }
        let nearest = errorCount < Schema.maximumSuggestions ? keys.nearest(to: setter.key) : nil
        let fix = nearest == nil ? "; declare it with @option, or add another flag for it" : hint(nearest)
        report("unknown key \(shortened(setter.key))\(fix)", at: setter.keyPlace)
    }

    private mutating func takeOperand(_ text: inout LineScanner, isRest: Bool) {
        var draft = SettingDraft(at: text.location)
        let name = text.takeWord { $0 == ":" || $0 == "!" || $0 == "." || $0 == "," }
        guard !name.isEmpty else { return report("a name such as source must follow", at: text.location) }
        draft.operand = name
        var ahead = text
        let marks = ahead.takeWord { $0 == ":" }
        if !marks.isEmpty, ahead.next == ":" {
            warn("the type precedes the marks !, ... and the comma, as in \(shortened(name)):FILE!", at: text.location)
        }
        let rest = draft.takeMarks(of: marks)
        if !rest.isEmpty {
            report("unexpected text after the name: \(shortened(rest))", at: text.location)
        }
        text = ahead
        if text.skip(":") { takeType(&text, &draft, end: nil) }
        text.skipSpaces()
        if isRest {
            draft.takeRest()
        } else {
            scopes[current].arguments += 1
            draft.setting["Positional"] = .integer(PropertyList.Integer(scopes[current].arguments))
        }
        finish(&text, &draft)
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
        let (title, _, items) = takeTitle(&text)
        if !title.isEmpty { scope.attributes["Title"] = .string(title) }
        for item in items { take(item, &scope) }
        scopes.append(scope)
    }

    private mutating func take(_ item: LineScanner.Item, _ scope: inout Scope) {
        guard item.kind == "{", item.name == "default", let parent = scope.parent else {
            if let problem = DeclaredItem.ofCommand.take(item, into: &scope.attributes) {
                report(problem, at: item.location)
            } else if let attribute = DeclaredItem.ofCommand[item.name]?.attribute {
                locations[scope.path.appending(.init(attribute))] = item.location
            }
            return
        }
        if !item.value.isEmpty { report("{default} takes no value", at: item.location) }
        if scopes[parent].attributes["DefaultCommand"] != nil { report(item.duplicate, at: item.location) }
        scopes[parent].attributes["DefaultCommand"] = scope.attributes["Name"]
        locations[scopes[parent].path.appending("DefaultCommand")] = item.location
    }

    // MARK: Settings

    /// Returns how an attribute is written in this notation, if it is not an item of the same name.
    static func notation(of attribute: String) -> String? {
        switch attribute {
        case "Implied": "{implied: VALUE}"
        case "ValueOptional": "--flag[=TYPE]"
        case "Rest": "@rest"
        default: nil
        }
    }

    /// Takes a type: `INT`, `full|incremental`, `N:int`, and the marks `,`, `...` and `!` after it.
    private mutating func takeType(_ text: inout LineScanner, _ draft: inout SettingDraft, end: Unicode.Scalar?) {
        let place = text.location
        var isFirst = true
        let word = text.takeWord { scalar in
            defer { isFirst = false }
            // An item can follow without a space: INT<7>.
            return scalar == end || !isFirst && "<[{".unicodeScalars.contains(scalar)
        }
        if let problem = draft.take(type: word, at: place) { report(problem, at: place) }
    }

    /// Takes the title of a line, and the items before and after it.
    private mutating func takeTitle(_ text: inout LineScanner) -> (
        title: String, location: TextLocation, items: [LineScanner.Item]
    ) {
        text.skipSpaces()
        let (title, place, items) = text.takeItems()
        if let name = DeclaredItem.name(inTitle: title) {
            report("{\(name)} must be before or after the title; as a part of it, write { \(name) }", at: place)
        }
        return (title, place, items)
    }

    /// Takes the default, bounds and attributes, and the title, and adds the setting.
    private mutating func finish(_ text: inout LineScanner, _ draft: inout SettingDraft) {
        let (title, titlePlace, items) = takeTitle(&text)
        // The type of a map's values determines what bounds are.
        for item in items.filter({ $0.name == "map" }) + items.filter({ $0.name != "map" }) where !isFull {
            if let problem = draft.take(item) { report(problem, at: item.location) }
        }
        if draft.key == nil, draft.operand == nil, draft.flags.isEmpty, let mark = draft.shorts.first,
            mark.isShortFlag, !mark.unicodeScalars.allSatisfy(\.properties.isAlphabetic), Int(mark) == nil
        {
            return report("-\(mark) requires a {key: NAME}", at: draft.place)
        }
        if let problem = draft.problem(inTitle: title) { warn(problem, at: titlePlace) }
        if !title.isEmpty { draft.setting["Title"] = .string(title) }
        if let group, draft.operand == nil { draft.setting["Group"] = .string(group) }
        let path = scopes[current].path.appending("Settings").appending(.init(scopes[current].settings.count))
        locations[path] = draft.place
        for place in draft.places {
            let inner: EntryPath.Component? = draft.isList ? "Elements" : draft.isMap ? "Entries" : nil
            let prefix = place.isOfRule ? inner.map { path.appending($0) } ?? path : path
            for name in place.path { locations[prefix.appending(.init(name))] = place.location }
        }
        scopes[current].settings.append(draft.declaration)
    }
}

extension Schema {
    /// Reads a schema in the notation of one line per option.
    ///
    /// - Parameter lines: The whole script, so that the locations of errors match it.
    package static func read(
        lines: String, for shell: ScriptOutput = .sh, checks: Bool = true, warns: Bool = false,
        extending findSchema: (String) throws -> Schema? = { _ in nil }
    ) -> (schema: Schema?, mistakes: [Mistake]) {
        let lines = DeclarationLines(lines)
        let (schema, mistakes) = read(
            lines.value, from: .head, for: shell, checks: checks, warns: warns, extending: findSchema)
        let own = lines.mistakes.filter { warns || !$0.isWarning }
        return (schema, (own + located(mistakes, lines.location)).inOrderOfLocation)
    }

    /// Returns errors with their locations in a declaration of one line per option, in the order of the text.
    package static func located(_ mistakes: [Mistake], inLines lines: String) -> [Mistake] {
        located(mistakes, DeclarationLines(lines).location)
    }
}

extension Schema.Mistake {
    /// How to fix the error.
    ///
    /// - Parameter hasLines: Whether the declaration has one line per option, which are not attributes.
    package func fix(inLines hasLines: Bool) -> String? {
        guard hasLines, case .missingAttribute(let name) = reason else { return reason.fix }
        return DeclarationLines.notation(of: name).map { "write \($0)" } ?? reason.fix
    }
}
