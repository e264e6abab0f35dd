internal import PropertyLists
internal import SettingsSchema

/// The elements of a list or dictionary, to add, remove, move and edit.
struct ListPane: Sendable {
    enum Outcome: Sendable { case open, changed, closed }

    /// What the line editor is for.
    enum Purpose: Hashable, Sendable {
        case element(Int)
        case newElement(key: String?)
        case newKey
    }

    private(set) var entries: [(key: String?, value: PropertyList)]
    private(set) var selected = 0
    private(set) var editor: (line: LineEditor, purpose: Purpose)?
    private(set) var reason: String?
    let title: String
    private let rule: ValueRule
    private let isDictionary: Bool

    init(_ control: Form.Control, _ value: PropertyList?) {
        (title, rule) = (control.title, control.setting.rule)
        isDictionary = control.kind == .dictionary
        entries =
            value?.arrayValue?.map { (nil, $0) }
            ?? value?.dictionaryValue?.map { ($0.key, $0.value) } ?? []
    }

    /// The value that the entries make.
    var value: PropertyList {
        guard isDictionary else { return .array(entries.map(\.value)) }
        var dictionary = PropertyList.Dictionary()
        for entry in entries { dictionary[entry.key ?? ""] = entry.value }
        return .dictionary(dictionary)
    }

    func text(_ value: PropertyList) -> String {
        switch value {
        case .array, .dictionary: (try? value.serialized(as: .json)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        default: value.plainText
        }
    }

    mutating func handle(_ press: KeyPress) -> Outcome {
        reason = nil
        if editor != nil { return edit(press) }
        switch press.key {
        case .up where press.isAlt, .character("K"): return move(-1)
        case .down where press.isAlt, .character("J"): return move(1)
        case .up, .wheel(-1), .character("k"): selected = max(0, selected - 1)
        case .down, .wheel(1), .character("j"): selected = max(0, min(entries.count - 1, selected + 1))
        case .home, .pageUp: selected = 0
        case .end, .pageDown: selected = max(0, entries.count - 1)
        case .character("a"): editor = (LineEditor(), isDictionary ? .newKey : .newElement(key: nil))
        case .enter where entries.isEmpty: editor = (LineEditor(), isDictionary ? .newKey : .newElement(key: nil))
        case .enter: editor = (LineEditor(text(entries[selected].value)), .element(selected))
        case .delete, .character("d"):
            guard entries.indices.contains(selected) else { break }
            entries.remove(at: selected)
            selected = max(0, min(selected, entries.count - 1))
            return .changed
        case .escape, .left, .character("q"): return .closed
        default: break
        }
        return .open
    }

    private mutating func move(_ step: Int) -> Outcome {
        guard !isDictionary, entries.indices.contains(selected), entries.indices.contains(selected + step) else {
            return .open
        }
        entries.swapAt(selected, selected + step)
        selected += step
        return .changed
    }

    private mutating func edit(_ press: KeyPress) -> Outcome {
        guard case (var line, let purpose)? = editor else { return .open }
        switch line.handle(press) {
        case .canceled: editor = nil
        case .edited, .ignored: editor = (line, purpose)
        case .accepted:
            editor = (line, purpose)
            return accept(line.text, purpose)
        }
        return .open
    }

    private mutating func accept(_ text: String, _ purpose: Purpose) -> Outcome {
        if purpose == .newKey {
            if text.isEmpty || entries.contains(where: { $0.key == text }) {
                reason = text.isEmpty ? "A key is required." : "There is such a key."
            } else {
                editor = (LineEditor(), .newElement(key: text))
            }
            return .open
        }
        let key: String? = if case .newElement(let key) = purpose { key } else { entries[selected].key }
        do throws(Schema.Problem.Reason) {
            let value = try parse(text, key)
            switch purpose {
            case .element(let index): entries[index].value = value
            default:
                entries.append((key, value))
                selected = entries.count - 1
            }
            editor = nil
            return .changed
        } catch {
            reason = "\(error)"
            return .open
        }
    }

    private func parse(_ text: String, _ key: String?) throws(Schema.Problem.Reason) -> PropertyList {
        let rule = key.map { self.rule.inside(EntryPath.Component($0)) } ?? self.rule.element
        guard let rule else {
            // Without a rule, brackets begin a property list, and the rest is text, a number or a truth value.
            if let first = text.first, "[{(<".contains(first), let value = try? PropertyList(parsing: text) {
                return value
            }
            return try ValueRule(.any).value(ofText: text)
        }
        return try rule.checkedValue(ofText: text)
    }
}
