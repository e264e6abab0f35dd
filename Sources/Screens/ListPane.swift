internal import PropertyLists
internal import SchemaTools
internal import SettingsSchema

/// The elements of a list or dictionary, to add, remove, move and edit.
struct ListPane: Sendable {
    enum Outcome: Sendable { case open, changed, closed }

    /// The purpose of the line editor.
    enum Purpose: Hashable, Sendable {
        case element(Int)
        case newElement(key: String?)
        case newKey
    }

    /// An entry. Its value is nil if the schema declares the entry but it is not set.
    struct Entry: Sendable {
        var key: String?
        var value: PropertyList?
    }

    private(set) var entries: [Entry]
    private(set) var selected = 0
    private(set) var editor: (line: LineEditor, purpose: Purpose)?
    private(set) var reason: String?
    /// The reason the entries as a whole cannot be stored, or nil if they can.
    var refusal: String?
    /// Whether the user was warned that entries that cannot be stored are lost.
    private var isWarned = false
    let title: String
    private let rule: ValueRule
    let isDictionary: Bool
    /// The entries that the schema declares, if others are not allowed.
    private let declared: [SettingDeclaration]

    init(_ control: Form.Control, _ value: PropertyList?, selected: Int = 0) {
        (title, rule) = (control.title, control.setting.rule)
        isDictionary = control.kind == .dictionary
        declared = if case .entries(let entries) = rule.contents { entries } else { [] }
        entries =
            value?.arrayValue?.map { Entry(value: $0) }
            ?? value?.dictionaryValue?.map { Entry(key: $0.key, value: $0.value) } ?? []
        let keys = Set(entries.compactMap(\.key).map { Name($0) })
        if isDictionary { entries += declared.filter { !keys.contains(Name($0.key)) }.map { Entry(key: $0.key) } }
        self.selected = max(0, min(selected, entries.count - 1))
    }

    /// The array or dictionary of the entries.
    var value: PropertyList {
        guard isDictionary else { return .array(entries.compactMap(\.value)) }
        var dictionary = PropertyList.Dictionary()
        for entry in entries { dictionary[entry.key ?? ""] = entry.value }
        return .dictionary(dictionary)
    }

    /// Whether the pane has an edit that is not in the form yet.
    var isEdited: Bool { editor != nil || refusal != nil }

    /// The reason the text in the field or the entries cannot be stored.
    var problem: String? {
        reason ?? refusal.map { isWarned ? "\($0) Esc again drops what is not stored." : $0 }
    }

    /// The keys that act on the pane.
    var hint: String {
        if let (_, purpose) = editor {
            return "Enter accept   Esc cancel" + (choices(for: purpose).isEmpty ? "" : "   ↑↓ choose")
        }
        if entries.isEmpty { return "a add  Esc back" }
        let keys = [
            declared.isEmpty ? "a add" : nil, "Enter edit", "x remove",
            isDictionary || entries.count < 2 ? nil : "Alt-↑↓ move", "Esc back",
        ]
        return keys.compactMap(\.self).joined(separator: "  ")
    }

    /// Returns the text of an entry; for one without a value, its default.
    func text(_ entry: Entry) -> String {
        if let value = entry.value { return text(value) }
        let setting = entry.key.flatMap { key in declared.first { $0.key.hasSameBytes(as: key) } }
        return "–" + (setting?.defaultValue.map { "  (default \(text($0)))" } ?? "")
    }

    private func text(_ value: PropertyList) -> String {
        switch value {
        case .array, .dictionary: (try? value.serialized(as: .json)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        default: value.plainText
        }
    }

    /// Returns the text of a field that shows the value of an entry, or nil if it has none.
    private func fieldText(_ entry: Entry) -> String? {
        entry.value.flatMap { rule(entry.key).replacing($0)?.fieldText(of: $0) }
    }

    /// - Parameter clicked: The line of the overlay that was clicked, or nil.
    mutating func handle(_ press: KeyPress, clicked: Int? = nil) -> Outcome {
        reason = nil
        if editor != nil { return edit(press) }
        let wasWarned = isWarned
        isWarned = false
        switch press.isControl("c") ? .escape : press.key {
        case .character where press.isControl: break
        case .up where press.isAlt, .character("K"): return move(-1)
        case .down where press.isAlt, .character("J"): return move(1)
        case .up, .wheel(-1), .character("k"): selected = max(0, selected - 1)
        case .down, .wheel(1), .character("j"): selected = max(0, min(entries.count - 1, selected + 1))
        case .home, .pageUp: selected = 0
        case .end, .pageDown: selected = max(0, entries.count - 1)
        case .character("a"), .character("+"): add()
        case .enter where entries.isEmpty: add()
        case .enter: open()
        case .click:
            guard let clicked, entries.indices.contains(clicked) else { break }
            if selected == clicked { open() } else { selected = clicked }
        case .character(" "):
            guard entries.indices.contains(selected), rule(entries[selected].key)?.type == .boolean else { break }
            entries[selected].value = .boolean(!(entries[selected].value?.booleanValue ?? false))
            return .changed
        case .delete, .backspace, .character("x"): return remove()
        case .escape, .left, .character("q"):
            if refusal == nil || wasWarned { return .closed }
            isWarned = true
        default: break
        }
        return .open
    }

    private mutating func add() {
        if declared.isEmpty {
            edit(
                isDictionary ? "" : choices(for: .newElement(key: nil)).first ?? "",
                isDictionary ? .newKey : .newElement(key: nil))
        } else {
            reason = "All entries that are allowed are listed."
        }
    }

    private mutating func open() {
        edit(fieldText(entries[selected]) ?? "", .element(selected))
    }

    private mutating func edit(_ text: String, _ purpose: Purpose) { editor = (LineEditor(text), purpose) }

    private mutating func remove() -> Outcome {
        guard entries.indices.contains(selected) else { return .open }
        if declared.contains(where: { $0.key == entries[selected].key }) {
            entries[selected].value = nil
        } else {
            entries.remove(at: selected)
            selected = max(0, min(selected, entries.count - 1))
        }
        return .changed
    }

    private mutating func move(_ step: Int) -> Outcome {
        guard !isDictionary, entries.indices.contains(selected), entries.indices.contains(selected + step) else {
            return .open
        }
        entries.swapAt(selected, selected + step)
        selected += step
        return .changed
    }

    // MARK: Editing

    private mutating func edit(_ press: KeyPress) -> Outcome {
        guard case (var line, let purpose)? = editor else { return .open }
        if press.key == .up || press.key == .down {
            step(press.key == .up ? -1 : 1, line, purpose)
            return .open
        }
        switch line.handle(press.key == .tab ? KeyPress(.enter) : press) {
        case .canceled: editor = nil
        case .edited, .ignored: editor = (line, purpose)
        case .accepted:
            editor = (line, purpose)
            return accept(line.text, purpose)
        }
        return .open
    }

    /// The rule for the text in the field.
    private func rule(for purpose: Purpose) -> ValueRule? {
        switch purpose {
        case .element(let index): rule(entries[index].key)
        case .newElement(let key): rule(key)
        case .newKey: ValueRule(.string)
        }
    }

    /// The texts that the field may contain, if the rule lists them.
    private func choices(for purpose: Purpose) -> [String] { rule(for: purpose)?.choices.map(\.plainText) ?? [] }

    /// Replaces the text of the field with the next choice or number.
    private mutating func step(_ step: Int, _ line: LineEditor, _ purpose: Purpose) {
        let choices = choices(for: purpose)
        var line = line
        if choices.isEmpty {
            if rule(for: purpose)?.type ?? .integer == .integer { line.step(by: Int64(-step)) }
        } else {
            let at = choices.firstIndex(of: line.text).map { ($0 + step + choices.count) % choices.count }
            line = LineEditor(choices[at ?? 0])
        }
        editor = (line, purpose)
    }

    private mutating func accept(_ text: String, _ purpose: Purpose) -> Outcome {
        if purpose == .newKey {
            if text.isEmpty || entries.contains(where: { $0.key?.hasSameBytes(as: text) ?? false }) {
                reason = text.isEmpty ? "A key is required." : "The key \(text) exists already."
            } else {
                editor = (LineEditor(choices(for: .newElement(key: text)).first ?? ""), .newElement(key: text))
            }
            return .open
        }
        let key: String? =
            switch purpose {
            case .newElement(let key): key
            case .element(let index): entries[index].key
            case .newKey: nil
            }
        let former: PropertyList? = if case .element(let index) = purpose { entries[index].value } else { nil }
        if text == fieldText(Entry(key: key, value: former)) {
            editor = nil
            return .open
        }
        do throws(Schema.Problem.Reason) {
            let value = try parse(text, key, former)
            switch purpose {
            case .element(let index): entries[index].value = value
            default:
                entries.append(Entry(key: key, value: value))
                selected = entries.count - 1
            }
            editor = nil
            return .changed
        } catch {
            reason = error.asRefusal
            return .open
        }
    }

    /// The rule for an element, or for the entry with a key.
    private func rule(_ key: String?) -> ValueRule? {
        key.map { rule.inside(EntryPath.Component($0)) } ?? rule.element
    }

    /// Parses the text of a field: by the rule, or else by the type of the former value.
    private func parse(
        _ text: String, _ key: String?, _ former: PropertyList?
    ) throws(Schema.Problem.Reason) -> PropertyList {
        guard let rule = rule(key).replacing(former) else { return ValueRule.newValue(ofText: text) }
        return try rule.checkedValue(ofText: text)
    }
}
