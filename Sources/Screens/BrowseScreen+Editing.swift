package import PropertyLists
internal import SchemaTools
internal import SettingsSchema

// Changing entries: in place, in a field, and in a list of choices.
extension BrowseScreen {
    func isSecret(_ row: EntryTree.Row) -> Bool { contents?.secrets[row.path] != nil }

    private func value(at path: EntryPath) -> PropertyList? {
        PropertyList.dictionary(contents?.entries ?? [:])[path]
    }

    /// Returns an entry as it is now.
    func target(_ path: EntryPath) -> Target {
        Target(
            path: path, value: path.components.isEmpty ? nil : value(at: path), secret: contents?.secrets[path])
    }

    /// The entry that the mode acts on.
    var target: Target? {
        switch mode {
        case .editing(_, let purpose):
            switch purpose {
            case .value(let target), .newKey(let target), .newValue(_, let target), .rename(let target),
                .copy(let target):
                target
            case .newDomain: nil
            }
        case .choosing(let target, _, _), .choosingType(let target, _), .deciding(let target, _, _, _, _): target
        case .history(let timeline): timeline.target
        case .browsing, .searching, .prompting, .reading: nil
        }
    }

    /// Returns an effect on an entry, unless another process has changed the entry since the mode began.
    mutating func unlessChanged(_ target: Target, _ effect: Effect) -> [Effect] {
        guard target == self.target(target.path) else {
            leaveChoice()
            return refuse(
                "\(Self.name(of: target.path)) was changed by another process meanwhile; nothing was changed")
        }
        leaveChoice()
        return [effect]
    }

    /// Ends a list of choices. A field stays until its text is stored.
    private mutating func leaveChoice() {
        if case .editing = mode { return }
        mode = .browsing
    }

    func rule(at path: EntryPath) -> ValueRule? { contents?.schema?.rule(at: path) }

    /// The name of an entry in a message: its key, or its path if it is inside another one.
    package static func name(of path: EntryPath) -> String {
        let parent = EntryPath(path.components.dropLast())
        if path.components.last == .end { return "a new element of \(name(of: parent))" }
        return path.components.count == 1 ? path.components[0].text : path.description
    }

    /// Opens a container, or starts to edit a value.
    mutating func act() -> [Effect] {
        guard let row else { return [] }
        if isSecret(row) {
            mode = .editing(LineEditor(isSecret: true), .value(target(row.path)))
            return []
        }
        let rule = rule(at: row.path)
        switch row.value {
        case .array, .dictionary: tree.toggle(at: selected)
        case .boolean(let flag) where contents?.layer == nil && !hasConfirmed:
            // A program may read this file at once.
            mode = .choosing(target(row.path), [false, true], flag ? 1 : 0)
        case .boolean(let flag): return set(.boolean(!flag), target(row.path))
        case .null, .uid: return [.edit(row.path)]
        case _ where rule?.choices.isEmpty == false:
            let choices = rule?.choices ?? []
            mode = .choosing(target(row.path), choices, choices.firstIndex(of: row.value) ?? 0)
        case .string(let text) where text.contains(where: \.isNewline):
            // A field of one line cannot hold line breaks.
            return [.edit(row.path)]
        default:
            let text = rule.replacing(row.value)?.fieldText(of: row.value) ?? ""
            mode = .editing(LineEditor(text), .value(target(row.path)))
        }
        return []
    }

    mutating func set(_ value: PropertyList, _ target: Target) -> [Effect] {
        guard target.secret != nil || target.value != value else {
            mode = .browsing
            return []
        }
        return unlessChanged(target, .change(.set(target.path, value)))
    }

    mutating func convert(_ target: Target, to kind: PropertyList.Kind) -> [Effect] {
        mode = .browsing
        guard let old = target.value else { return [] }
        guard let value = old.converted(to: kind) else {
            return refuse("This \(old.kind.rawValue) is not a valid \(kind.rawValue).")
        }
        return set(value, target)
    }

    /// Moves the selected element of an array up or down.
    mutating func moveElement(_ step: Int) -> [Effect] {
        guard let row else { return [] }
        let parent = EntryPath(row.path.components.dropLast())
        guard let elements = value(at: parent)?.arrayValue, let index = row.path.components.last?.index else {
            return refuse("Only array elements can be moved; the keys of a dictionary have no order.")
        }
        guard elements.indices.contains(index + step) else { return [] }
        let target = EntryPath(parent.components + [EntryPath.Component(index + step)])
        return [.change(.move(row.path, to: target))]
    }

    mutating func add() {
        guard contents != nil else {
            message = Message("No domain is open.", isError: true)
            return
        }
        var parent = EntryPath()
        var isArray = false
        if let row {
            // Adds inside an open container, otherwise next to the entry.
            parent = row.isOpen ? row.path : EntryPath(row.path.components.dropLast())
            isArray = value(at: parent)?.arrayValue != nil
        }
        let place = target(parent)
        mode = .editing(
            LineEditor(),
            isArray ? .newValue(EntryPath(parent.components + [.end]), inside: place) : .newKey(inside: place))
    }

    mutating func startNaming(_ row: EntryTree.Row, _ purpose: Purpose) {
        let parent = EntryPath(row.path.components.dropLast())
        if value(at: parent)?.arrayValue != nil {
            message = Message("An element of an array has no key.", isError: true)
        } else {
            mode = .editing(LineEditor(row.label), purpose)
        }
    }

    mutating func edit(_ editor: inout LineEditor, _ purpose: Purpose, _ press: KeyPress) -> [Effect] {
        if press.key == .tab, rule(for: purpose)?.kind?.isPath ?? false { return [.complete(editor.text)] }
        if press.key == .up || press.key == .down, steps(editor, purpose) {
            editor.step(by: press.key == .up ? 1 : -1)
            mode = .editing(editor, purpose)
            return []
        }
        // A click elsewhere accepts the text, as in other programs.
        switch editor.handle(press.key == .tab || press.isControl("s") || press.isClick ? KeyPress(.enter) : press) {
        case .canceled: mode = .browsing
        case .edited, .ignored: mode = .editing(editor, purpose)
        case .accepted: return accept(editor, purpose)
        }
        return []
    }

    /// Whether Up and Down change the number in a field.
    func steps(_ editor: LineEditor, _ purpose: Purpose) -> Bool {
        guard case .value(let target) = purpose else { return false }
        return !editor.isSecret && target.value?.kind == .integer
    }

    private mutating func accept(_ editor: LineEditor, _ purpose: Purpose) -> [Effect] {
        mode = .editing(editor, purpose)
        let text = editor.text
        switch purpose {
        // A secret is not shown, so its field is empty at first.
        case .value where editor.isSecret && text.isEmpty: mode = .browsing
        case .value(let target):
            do throws(Schema.Problem.Reason) {
                return set(try value(ofText: text, purpose), target)
            } catch {
                return refuse(error.asRefusal)
            }
        case .newValue(let path, let parent):
            // Another process may have added the key meanwhile.
            if let key = path.components.last, key != .end, unused(key.text, inside: parent.path) == nil { return [] }
            do throws(Schema.Problem.Reason) {
                return unlessChanged(parent, .change(.set(path, try value(ofText: text, purpose))))
            } catch {
                return refuse(error.asRefusal)
            }
        case .newKey(let parent):
            guard let path = unused(text, inside: parent.path) else { return [] }
            let isSecret = contents?.schema?.isSensitive(path) ?? false
            mode = .editing(LineEditor(isSecret: isSecret), .newValue(path, inside: parent))
        case .rename(let target):
            if text == target.path.components.last?.text {
                mode = .browsing
                return []
            }
            guard let path = unused(text, beside: target) else { return [] }
            return unlessChanged(target, .change(.rename(target.path, to: path)))
        case .copy(let target):
            guard let path = unused(text, beside: target) else { return [] }
            return unlessChanged(target, .change(.copy(target.path, to: path)))
        case .newDomain:
            guard !text.isEmpty else { return refuse("A name is required.") }
            return [.create(text)]
        }
        return []
    }

    private mutating func unused(_ key: String, beside target: Target) -> EntryPath? {
        unused(key, inside: EntryPath(target.path.components.dropLast()))
    }

    private mutating func unused(_ key: String, inside parent: EntryPath) -> EntryPath? {
        let path = EntryPath(parent.components + [EntryPath.Component(key)])
        if key.isEmpty {
            message = Message("A key is required.", isError: true)
        } else if value(at: path) != nil {
            message = Message("The key \(key) exists already.", isError: true)
        } else {
            return path
        }
        return nil
    }

    /// The rule of the value in the field.
    func rule(for purpose: Purpose) -> ValueRule? {
        switch purpose {
        case .value(let target): rule(at: target.path)
        case .newValue(let path, _): rule(at: path)
        case .newKey, .rename, .copy, .newDomain: nil
        }
    }

    /// Parses the text of a field, by the schema or else by the type of the value.
    private func value(ofText text: String, _ purpose: Purpose) throws(Schema.Problem.Reason) -> PropertyList {
        let isSecret = if case .editing(let editor, _) = mode { editor.isSecret } else { false }
        let old: PropertyList? = if case .value(let target) = purpose, !isSecret { target.value } else { nil }
        guard let rule = rule(for: purpose).replacing(old) else {
            return isSecret ? .string(text) : ValueRule.newValue(ofText: text)
        }
        return try rule.checkedValue(ofText: text, isSecret: isSecret)
    }

    /// The type of the new value in the field, or nil.
    var typedKind: PropertyList.Kind? {
        guard case .editing(let editor, let purpose) = mode, case .newValue = purpose else { return nil }
        return (try? value(ofText: editor.text, purpose))?.kind
    }

    /// The reason the text in the field cannot be stored, or nil if it can.
    var refusal: String? {
        guard case .editing(let editor, let purpose) = mode, !editor.text.isEmpty else { return nil }
        switch purpose {
        case .value, .newValue:
            do throws(Schema.Problem.Reason) {
                _ = try value(ofText: editor.text, purpose)
                return nil
            } catch {
                return error.asRefusal
            }
        default: return nil
        }
    }
}
