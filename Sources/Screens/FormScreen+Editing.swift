internal import PropertyLists
internal import SchemaTools
internal import SettingsSchema

// Changing values: by a key, in a field, in a list of choices, and in a list of entries.
extension FormScreen {
    /// Changes the selected setting in a way that can be undone.
    mutating func change(_ body: (inout Form, String) -> Void) {
        guard let control else { return }
        let former = form.changes
        body(&form, control.key)
        conflicts.remove(Name(control.key))
        if form.changes != former {
            undo.append(former)
            redo = []
        }
    }

    /// Undoes the last change, and selects its setting.
    mutating func undoLast() {
        guard let last = undo.popLast() else {
            message = Message(
                saved.map { "Nothing to undo in this form. \($0)" } ?? "Nothing to undo in this form.", isError: true)
            return
        }
        redo.append(form.changes)
        restore(last, saying: "Undone")
    }

    /// Makes the change again that was undone last.
    mutating func redoLast() {
        guard let next = redo.popLast() else {
            message = Message("Nothing to redo.", isError: true)
            return
        }
        undo.append(form.changes)
        restore(next, saying: "Redone")
    }

    private mutating func restore(_ changes: Form.Changes, saying text: String) {
        let former = form
        form.restore(changes)
        guard
            let index = controls.firstIndex(where: { control in
                form.isChanged(control.key) != former.isChanged(control.key)
                    || form.value(of: control.key) != former.value(of: control.key)
            })
        else { return }
        selected = index
        message = Message("\(text): \(controls[index].title)")
    }

    private mutating func apply(_ answer: (inout Form, String) -> Form.Answer) {
        var reason: String?
        change { form, key in if case .refused(let text) = answer(&form, key) { reason = text } }
        if let reason { message = Message(reason, isError: true) }
    }

    mutating func set(_ value: PropertyList) { apply { form, key in form.set(value, for: key) } }

    mutating func reset() {
        guard let control else { return }
        let hadValue = form.isChanged(control.key) || form.hasUserValue(control.key)
        apply { form, key in form.reset(key) }
        guard message == nil else { return }
        let value = form.shownValue(of: control.key)
        message = Message(
            hadValue
                ? "\(control.title) is now \(value ?? "unset")."
                : "\(control.title) has no user value to remove."
        )
    }

    /// Stores a text that the user has typed.
    private mutating func accept(_ text: String, for control: Form.Control) {
        answers[Name(control.key), default: []].append(text)
        apply { form, key in form.answer(text, to: key) }
    }

    /// Selects the next value of a toggle, a choice or a number.
    mutating func step(_ step: Int) {
        guard let control, !refusesForced(control) else { return }
        let value = form.value(of: control.key)?.value
        switch control.kind {
        case .toggle: set(.boolean(!(value?.booleanValue ?? false)))
        case .choice(let choices):
            let at = value.flatMap { choices.firstIndex(of: $0) }
            let next = at.map { ($0 + step + choices.count) % choices.count } ?? (step > 0 ? 0 : choices.count - 1)
            set(choices[next])
        case .number: if let next = control.stepped(value, by: step) { set(next) }
        default: message = Message("Enter edits this setting.")
        }
    }

    mutating func refusesForced(_ control: Form.Control) -> Bool {
        if control.isForced { message = Message("This value is forced by an administrator.", isError: true) }
        return control.isForced
    }

    /// Starts to edit the selected setting. If `text` is given, it replaces the value in the field.
    mutating func open(_ text: String? = nil) {
        guard let control, !refusesForced(control) else { return }
        let value = form.value(of: control.key)?.value
        switch control.kind {
        case .toggle: step(1)
        case .choice: mode = .choosing(control.index(of: value), before: value)
        case .list, .dictionary: mode = .listing(ListPane(control, value), before: value)
        case .secret: mode = .editing(LineEditor(isSecret: true), before: value)
        default:
            let editor = LineEditor(text ?? control.fieldText(of: value), history: answers[Name(control.key)] ?? [])
            mode = .editing(editor, before: value)
        }
    }

    /// If another process has changed the value that is being edited, shows the new value, or records a conflict if the
    /// user has already edited it.
    mutating func reload() {
        guard let control else { return }
        let value = form.value(of: control.key)?.value
        let isEdited: Bool
        switch mode {
        case .editing(let editor, let before) where before != value:
            isEdited = editor.text != control.fieldText(of: before)
            if !isEdited { open() }
        case .choosing(let index, let before) where before != value:
            isEdited = index != control.index(of: before)
            if !isEdited { open() }
        case .listing(let pane, let before) where before != value:
            isEdited = pane.isEdited
            if !isEdited { mode = .listing(ListPane(control, value, selected: pane.selected), before: value) }
        default: return
        }
        if isEdited { conflicts.insert(Name(control.key)) }
    }

    /// Changes the selected setting at the end of a mode. A change by another process since the mode began is a
    /// conflict.
    private mutating func change(_ key: String, since before: PropertyList?, _ body: (inout Self) -> Void) {
        let isConflict = form.value(of: key)?.value != before
        body(&self)
        if isConflict { conflicts.insert(Name(key)) }
    }

    mutating func editAsText() -> [Effect] {
        guard let control, !refusesForced(control) else { return [] }
        guard control.kind != .secret else {
            message = Message("A secret cannot be edited as text.", isError: true)
            return []
        }
        return [.edit(key: control.key, form.value(of: control.key)?.value)]
    }

    mutating func choose(_ index: Int, since before: PropertyList?, _ press: KeyPress) {
        guard let control, case .choice(let choices) = control.kind else {
            mode = .browsing
            return
        }
        switch ListChoice(press, index, of: choices.map(control.shownText), clicked: clickedLine(press)) {
        case .marked(let next): mode = .choosing(next, before: before)
        case .chosen(let index):
            mode = .browsing
            if before != choices[index] { change(control.key, since: before) { $0.set(choices[index]) } }
        case .left: mode = .browsing
        }
    }

    mutating func chooseEarlier(_ earlier: [Earlier], _ index: Int, since before: PropertyList?, _ press: KeyPress) {
        guard let control, !refusesForced(control) else {
            mode = .browsing
            return
        }
        switch ListChoice(press, index, of: earlier.map(\.heading), clicked: clickedLine(press)) {
        case .marked(let next): mode = .history(earlier, next, before: before)
        case .chosen(let index):
            mode = .browsing
            change(control.key, since: before) { screen in
                if let value = earlier[index].value { screen.set(value) } else { screen.reset() }
            }
        case .left: mode = .browsing
        }
    }

    mutating func edit(
        _ editor: inout LineEditor, since before: PropertyList?, _ press: KeyPress
    ) -> [Effect] {
        guard let control else {
            mode = .browsing
            return []
        }
        mode = .editing(editor, before: before)
        switch press.key {
        case .tab where isPath(control): return [.complete(editor.text)]
        case .tab, .backTab:
            accept(editor, since: before, for: control)
            if case .browsing = mode { move(press.key == .tab ? 1 : -1) }
            return []
        case .click(let column, let row):
            accept(editor, since: before, for: control)
            if case .browsing = mode { click(column, row) }
            return []
        case .up, .down:
            guard case .number = control.kind else { break }
            let next = control.stepped(editor.text, by: press.key == .up ? 1 : -1)
            mode = .editing(next.map { LineEditor($0) } ?? editor, before: before)
            return []
        default: break
        }
        switch editor.handle(press) {
        case .canceled: mode = .browsing
        case .edited, .ignored: mode = .editing(editor, before: before)
        case .accepted: accept(editor, since: before, for: control)
        }
        return []
    }

    /// Stores the text of a field. A refused text stays in the field.
    private mutating func accept(_ editor: LineEditor, since before: PropertyList?, for control: Form.Control) {
        // An unchanged text changes nothing: not even the layer that the value comes from.
        if editor.text != control.fieldText(of: before) {
            change(control.key, since: before) { screen in
                if editor.text.isEmpty, control.isRemovedByEmptyText {
                    screen.reset()
                } else {
                    screen.accept(editor.text, for: control)
                }
            }
        }
        guard let message, message.isError else {
            mode = .browsing
            return
        }
        mode = .editing(editor, before: before)
        self.message = Message("\(message.text) Esc cancels.", isError: true)
    }

    private func isPath(_ control: Form.Control) -> Bool {
        control.setting.rule.kind?.isPath ?? false
    }

    mutating func complete(_ paths: [String]) {
        let isFolder = control?.setting.rule.kind == .folder
        let paths = isFolder ? paths.filter { $0.hasSuffix("/") } : paths
        guard case .editing(var editor, let before) = mode, let names = editor.complete(paths) else {
            message = Message(isFolder ? "No such folder." : "No such file.", isError: true)
            return
        }
        mode = .editing(editor, before: before)
        if !names.isEmpty { message = Message(names) }
    }

    /// Returns the reason the text in the field cannot be stored, or nil if it can.
    func refusal(of text: String) -> String? {
        guard let control else { return nil }
        var copy = form
        if case .refused(let reason) = copy.answer(text, to: control.key) { return reason }
        return nil
    }

    mutating func list(_ pane: inout ListPane, since before: PropertyList?, _ press: KeyPress) {
        guard let key = control?.key else {
            mode = .browsing
            return
        }
        switch pane.handle(press, clicked: clickedLine(press)) {
        case .open: mode = .listing(pane, before: before)
        case .changed:
            let value = pane.value
            change(key, since: before) { $0.set(value) }
            // A value that the rule refuses stays in the pane, with the reason.
            pane.refusal = message?.text
            mode = .listing(pane, before: conflicts.contains(Name(key)) ? before : form.value(of: key)?.value)
            message = nil
        case .closed: mode = .browsing
        }
    }
}

extension Form.Control {
    /// Returns the text of a field that shows a value. The field of a secret is empty.
    fileprivate func fieldText(of value: PropertyList?) -> String {
        kind == .secret ? "" : value.map(text) ?? ""
    }

    /// Returns the index of a value among the choices, or 0.
    fileprivate func index(of value: PropertyList?) -> Int {
        guard case .choice(let choices) = kind else { return 0 }
        return value.flatMap { choices.firstIndex(of: $0) } ?? 0
    }

    /// Whether an empty field means that there is no value.
    fileprivate var isRemovedByEmptyText: Bool {
        switch kind {
        case .number, .date, .data: true
        case .toggle, .choice, .text, .secret, .list, .dictionary: false
        }
    }
}
