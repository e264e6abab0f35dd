package import PropertyLists
package import SettingsSchema

/// A form on a whole screen: takes events, and returns what to do.
///
/// It decides everything and touches nothing: the caller reads keys, saves, runs the editor, and shows the canvas.
package struct FormScreen: Screen {
    package enum Event: ScreenEvent {
        case key(KeyPress)
        case resized(columns: Int, rows: Int)
        /// The value that the user wrote in an editor; nil if it is unchanged.
        case edited(PropertyList?)
        /// Files whose path begins with the text of the field.
        case completed([String])
        case refused(String)
        case saved([String: Schema.ValueInForce], layers: [String: [Schema.ValueInForce]])
        /// The stored values after a change by another process.
        case stored([String: Schema.ValueInForce], layers: [String: [Schema.ValueInForce]])
    }

    package enum Effect: ScreenEffect, Hashable {
        case save(Form.Changes)
        /// Lets the user edit a value in an editor.
        case edit(key: String, PropertyList?)
        /// Lists the files whose path begins with a text.
        case complete(String)
        case suspend
        case redraw
        case finish(isComplete: Bool)
    }

    /// What the keys act on.
    ///
    /// A mode that edits a value has it as it was when the mode began, with the changes made in the form.
    enum Mode: Sendable {
        case browsing
        case editing(LineEditor, before: PropertyList?)
        /// A list of choices, with the index of the marked one.
        case choosing(Int, before: PropertyList?)
        /// The elements of a list or dictionary.
        case listing(ListPane, before: PropertyList?)
        case searching(LineEditor)
        case reviewing
        case leaving
        case helping
    }

    package internal(set) var form: Form
    /// What the command to undo a save names.
    let word: String
    let controls: [Form.Control]
    /// The group of each control.
    let groups: [String]
    var mode = Mode.browsing
    /// The index of the selected control.
    var selected = 0
    /// The first row of the list, or of an overlay, that is shown.
    var top = 0
    var scroll = 0
    var columns = 80, rows = 24
    var search = ""
    var showsChangedOnly = false
    /// What the last key led to, or why it did not; shown until the next.
    var message: (text: String, isError: Bool)?
    var conflicts: Set<String> = []
    private var undo: [Form.Changes] = []
    /// What was saved last, and how to undo it; nil before.
    package private(set) var saved: String?
    private var answers: [String: [String]] = [:]

    package init(_ form: Form, word: String) {
        (self.form, self.word) = (form, word)
        var (controls, names): ([Form.Control], [String]) = ([], [])
        for page in form.pages {
            for group in page.groups {
                controls += group.controls
                names += Array(repeating: group.title ?? page.title, count: group.controls.count)
            }
        }
        (self.controls, groups) = (controls, names)
    }

    /// The indices of the controls that are shown.
    var visible: [Int] {
        let wanted = search.lowercased()
        return controls.indices.filter { index in
            let (control, setting) = (controls[index], controls[index].setting)
            // A setting stays while it is edited, even if another process makes the same change.
            if showsChangedOnly, !form.isChanged(control.key), !(isOpen && index == selected) { return false }
            let texts = [control.title, control.key, setting.summary ?? ""] + setting.flagUsage
            return wanted.isEmpty || texts.contains { $0.lowercased().contains(wanted) }
        }
    }

    /// Whether the value of the selected setting is being edited.
    var isOpen: Bool {
        switch mode {
        case .editing, .choosing, .listing: true
        case .browsing, .searching, .reviewing, .leaving, .helping: false
        }
    }

    var control: Form.Control? { visible.contains(selected) ? controls[selected] : nil }

    /// The keys of settings that contradict others, with the reasons.
    var problems: [String: String] {
        var reasons: [String: String] = [:]
        for problem in form.problems {
            guard let key = problem.path.components.first?.text else { continue }
            let remedy = if case .conflict = problem.reason { " r removes one." } else { "" }
            reasons[key] = form.sentence(for: problem) + remedy
        }
        return reasons
    }

    // MARK: Events

    package mutating func handle(_ event: Event) -> [Effect] {
        defer {
            settle()
            // A conflict ends with the change.
            conflicts = conflicts.filter { form.isChanged($0) || isOpen && $0 == control?.key }
        }
        switch event {
        case .key(let press):
            message = nil
            if press.isControl("z") { return [.suspend] }
            if press.isControl("l") { return [.redraw] }
            return handle(press)
        case .resized(let columns, let rows):
            (self.columns, self.rows) = (columns, rows)
            return []
        case .edited(let value):
            if let value, let control { set(control.setting.rule.adapted(value)) }
        case .completed(let paths): complete(paths)
        case .refused(let reason):
            mode = .browsing
            message = (reason, true)
        case .saved(let values, let layers):
            let count = form.changes.count
            form.restore(.init())
            _ = form.update(values: values, layers: layers)
            let text = "Saved \(count) setting\(count == 1 ? "" : "s"). To undo: prefs undo \(word)"
            (undo, conflicts, saved, mode) = ([], [], text, .browsing)
            message = (text, false)
        case .stored(let values, let layers):
            let changed = controls.filter { values[$0.key]?.value != form.storedValue(of: $0.key)?.value }
            conflicts.formUnion(form.update(values: values, layers: layers))
            reload()
            guard !changed.isEmpty else { break }
            let names = changed.prefix(3).map(\.title).joined(separator: ", ") + (changed.count > 3 ? ", …" : "")
            message = ("Changed by another process: \(names)", !conflicts.isEmpty)
        }
        return []
    }

    private mutating func handle(_ press: KeyPress) -> [Effect] {
        if press.isControl("s") { return finishAndSave() }
        switch mode {
        case .browsing: return browse(press)
        case .editing(var editor, let before): return edit(&editor, since: before, press)
        case .choosing(let index, let before): choose(index, since: before, press)
        case .listing(var pane, let before): list(&pane, since: before, press)
        case .searching(var editor):
            switch editor.handle(press) {
            case .accepted: mode = .browsing
            case .canceled: (mode, search) = (.browsing, "")
            case .edited, .ignored:
                search = editor.text
                mode = .searching(editor)
            }
        case .helping, .reviewing, .leaving: return answer(press)
        }
        return []
    }

    private mutating func browse(_ press: KeyPress) -> [Effect] {
        switch press.key {
        case .up: move(-1)
        case .down: move(1)
        case .pageUp: move(-max(1, layout.list.count - 1))
        case .pageDown: move(max(1, layout.list.count - 1))
        case .wheel(let step): move(3 * step)
        case .home: move(-controls.count)
        case .end: move(controls.count)
        case .tab: moveGroup(1)
        case .backTab: moveGroup(-1)
        case .left: step(-1)
        case .right: step(1)
        case .enter: open()
        case .escape where search.isEmpty && !showsChangedOnly: message = ("q quits; ? shows the keys.", false)
        case .escape: (search, showsChangedOnly) = ("", false)
        case .delete, .backspace: reset()
        case .click(let column, let row): click(column, row)
        case .character(let letter) where press.isControl: return control(letter)
        case .character(let letter): return command(letter)
        default: break
        }
        return []
    }

    private mutating func control(_ letter: Character) -> [Effect] {
        switch letter {
        case "c", "d": return quit()
        case "n": move(1)
        case "p": move(-1)
        default: break
        }
        return []
    }

    private mutating func command(_ letter: Character) -> [Effect] {
        switch letter {
        case "q": return quit()
        case " ": if case .toggle? = control?.kind { step(1) } else { open() }
        case "+": step(1)
        case "-": step(-1)
        case "r": reset()
        case "u":
            undoLast()
        case "x": change { form, key in form.discard(key) }
        case "d": if form.changes.isEmpty { message = ("Nothing is changed.", false) } else { mode = .reviewing }
        case "s": save()
        case "m": showsChangedOnly.toggle()
        case "g": moveGroup(1)
        case "j": move(1)
        case "k": move(-1)
        case "/": (mode, search) = (.searching(LineEditor()), "")
        case "?", "h": mode = .helping
        case "e": return editAsText()
        case "0"..."9":
            // A number or date is typed over the value.
            switch control?.kind {
            case .number?, .date?: open(String(letter))
            default: refuseCommand(letter)
            }
        default: refuseCommand(letter)
        }
        return []
    }

    private mutating func refuseCommand(_ letter: Character) {
        message = ("No command \(letter). Enter edits the setting; ? shows the keys.", true)
    }

    private mutating func quit() -> [Effect] {
        if form.changes.isEmpty { return [.finish(isComplete: true)] }
        mode = .leaving
        return []
    }

    /// Handles the keys of the overlays that ask a question.
    private mutating func answer(_ press: KeyPress) -> [Effect] {
        switch (mode, press.key) {
        case (_, .up), (_, .wheel(-1)): scroll = max(0, scroll - 1)
        case (_, .down), (_, .wheel(1)): scroll += 1
        case (_, .pageUp): scroll = max(0, scroll - max(1, rows - 6))
        case (_, .pageDown): scroll += max(1, rows - 6)
        case (.reviewing, .enter), (.reviewing, .character("s")), (.reviewing, .character("y")),
            (.leaving, .character("s")), (.leaving, .character("y")):
            scroll = 0
            guard form.problems.isEmpty else {
                save()
                return []
            }
            let isLeaving = if case .leaving = mode { true } else { false }
            return [.save(form.changes)] + (isLeaving ? [.finish(isComplete: true)] : [])
        // Not Control-D, which may have asked the question.
        case (.leaving, .character("d")) where press.character != nil,
            (.leaving, .character("n")) where press.character != nil:
            return [.finish(isComplete: saved != nil)]
        default: (mode, scroll) = (.browsing, 0)
        }
        return []
    }

    /// Shows the difference before it is saved, or the first setting that is in the way.
    private mutating func save() {
        if let (key, reason) = problems.min(by: { place($0.key) < place($1.key) }) {
            (mode, search, showsChangedOnly) = (.browsing, "", false)
            if let index = controls.firstIndex(where: { $0.key == key }) { selected = index }
            message = (reason, true)
        } else if form.changes.isEmpty {
            message = ("Nothing is changed.", false)
        } else {
            mode = .reviewing
        }
    }

    /// Ends what is being edited, and saves, unless it cannot be stored.
    private mutating func finishAndSave() -> [Effect] {
        switch mode {
        case .reviewing, .leaving: return answer(KeyPress(.character("s")))
        case .listing(let pane, _) where pane.editor == nil: if pane.refusal == nil { mode = .browsing }
        case .browsing, .helping: mode = .browsing
        case .editing, .choosing, .listing, .searching: _ = handle(KeyPress(.enter))
        }
        if case .listing(let pane, _) = mode, pane.editor == nil, pane.refusal == nil { mode = .browsing }
        if case .browsing = mode { save() }
        return []
    }

    private func place(_ key: String) -> Int { controls.firstIndex { $0.key == key } ?? .max }

    // MARK: Selection

    private mutating func move(_ count: Int) {
        let visible = visible
        guard let first = visible.first, let last = visible.last else { return }
        guard let at = visible.firstIndex(of: selected) else {
            selected = first
            return
        }
        selected = at + count < 0 ? first : at + count >= visible.count ? last : visible[at + count]
    }

    /// Selects the first setting of the next or previous group.
    private mutating func moveGroup(_ step: Int) {
        let visible = visible
        let names = visible.reduce(into: [String]()) { if $0.last != groups[$1] { $0.append(groups[$1]) } }
        guard let at = names.firstIndex(of: groups.isEmpty ? "" : groups[selected]) else { return move(0) }
        let name = names[(at + step + names.count) % names.count]
        guard let first = visible.first(where: { groups[$0] == name }) else { return }
        selected = first
        // The whole group is shown, as far as it fits.
        let rows = listRows
        if let last = rows.lastIndex(where: { $0.heading == name }) { top = max(top, last - layout.list.count + 1) }
    }

    private mutating func click(_ column: Int, _ row: Int) {
        let layout = layout
        if column < layout.sideColumns, row >= layout.list.lowerBound {
            let names = groupNames
            let index = row - layout.list.lowerBound
            if names.indices.contains(index), let first = visible.first(where: { groups[$0] == names[index] }) {
                selected = first
            }
            return
        }
        let index = row - layout.list.lowerBound + top
        guard layout.list.contains(row), listRows.indices.contains(index), let found = listRows[index].control else {
            return
        }
        if selected == found { open() } else { selected = found }
    }

    // MARK: Changing values

    /// Changes the selected setting in a way that can be undone.
    private mutating func change(_ body: (inout Form, String) -> Void) {
        guard let control else { return }
        let former = form.changes
        body(&form, control.key)
        conflicts.remove(control.key)
        if form.changes != former { undo.append(former) }
    }

    /// Takes back the last change, and selects its setting.
    private mutating func undoLast() {
        guard let last = undo.popLast() else {
            message = (saved.map { "Nothing to undo in this form. \($0)" } ?? "Nothing to undo in this form.", true)
            return
        }
        let former = form
        form.restore(last)
        guard
            let index = controls.firstIndex(where: { control in
                form.isChanged(control.key) != former.isChanged(control.key)
                    || form.value(of: control.key) != former.value(of: control.key)
            })
        else { return }
        selected = index
        message = ("Undone: \(controls[index].title)", false)
    }

    private mutating func apply(_ answer: (inout Form, String) -> Form.Answer) {
        var reason: String?
        change { form, key in if case .refused(let text) = answer(&form, key) { reason = text } }
        if let reason { message = (reason, true) }
    }

    mutating func set(_ value: PropertyList) { apply { form, key in form.set(value, for: key) } }

    private mutating func reset() {
        guard let control else { return }
        let hadValue = form.isChanged(control.key) || form.hasUserValue(control.key)
        apply { form, key in form.reset(key) }
        guard message == nil else { return }
        let value = form.shownValue(of: control.key)
        message = (
            hadValue
                ? "\(control.title) is now \(value ?? "unset")."
                : "\(control.title) has no value of the user to remove.", false
        )
    }

    /// Stores a text that the user has typed.
    private mutating func accept(_ text: String, for control: Form.Control) {
        answers[control.key, default: []].append(text)
        apply { form, key in form.answer(text, to: key) }
    }

    /// Selects the next value of a toggle, a choice or a number.
    private mutating func step(_ step: Int) {
        guard let control, !refusesForced(control) else { return }
        let value = form.value(of: control.key)?.value
        switch control.kind {
        case .toggle: set(.boolean(!(value?.booleanValue ?? false)))
        case .choice(let choices):
            let at = value.flatMap { choices.firstIndex(of: $0) }
            let next = at.map { ($0 + step + choices.count) % choices.count } ?? (step > 0 ? 0 : choices.count - 1)
            set(choices[next])
        case .number: if let next = control.stepped(value, by: step) { set(next) }
        default: message = ("Enter edits this setting.", false)
        }
    }

    private mutating func refusesForced(_ control: Form.Control) -> Bool {
        if control.isForced { message = ("This value is forced by an administrator.", true) }
        return control.isForced
    }

    /// Starts to edit the selected setting; a field with a text that replaces the value, if there is one.
    private mutating func open(_ text: String? = nil) {
        guard let control, !refusesForced(control) else { return }
        let value = form.value(of: control.key)?.value
        switch control.kind {
        case .toggle: step(1)
        case .choice: mode = .choosing(control.index(of: value), before: value)
        case .list, .dictionary: mode = .listing(ListPane(control, value), before: value)
        case .secret: mode = .editing(LineEditor(isSecret: true), before: value)
        default:
            let editor = LineEditor(text ?? control.fieldText(of: value), history: answers[control.key] ?? [])
            mode = .editing(editor, before: value)
        }
    }

    /// Shows the new value where another process has changed the one that is being edited. If the user has already
    /// edited it, that is a conflict.
    private mutating func reload() {
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
        if isEdited { conflicts.insert(control.key) }
    }

    /// Changes the selected setting at the end of a mode. A change by another process since the mode began is a
    /// conflict.
    private mutating func change(_ key: String, since before: PropertyList?, _ body: (inout Self) -> Void) {
        let isConflict = form.value(of: key)?.value != before
        body(&self)
        if isConflict { conflicts.insert(key) }
    }

    private mutating func editAsText() -> [Effect] {
        guard let control, !refusesForced(control) else { return [] }
        guard control.kind != .secret else {
            message = ("A secret is not written to a file for an editor.", true)
            return []
        }
        return [.edit(key: control.key, form.value(of: control.key)?.value)]
    }

    private mutating func choose(_ index: Int, since before: PropertyList?, _ press: KeyPress) {
        guard let control, case .choice(let choices) = control.kind else {
            mode = .browsing
            return
        }
        switch ListChoice(press, index, of: choices.map(control.shownText), clicked: clicked(press)) {
        case .marked(let next): mode = .choosing(next, before: before)
        case .chosen(let index):
            mode = .browsing
            if before != choices[index] { change(control.key, since: before) { $0.set(choices[index]) } }
        case .left: mode = .browsing
        }
    }

    /// The line of the box over the form that a key clicks.
    private func clicked(_ press: KeyPress) -> Int? { overlay?.line(of: press, columns: columns, rows: rows) }

    private mutating func edit(
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

    /// Stores the text of a field. One that is refused stays in the field.
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
        (mode, self.message) = (.editing(editor, before: before), ("\(message.text) Esc cancels.", true))
    }

    private func isPath(_ control: Form.Control) -> Bool {
        control.setting.rule.kind?.isPath ?? false
    }

    private mutating func complete(_ paths: [String]) {
        let isFolder = control?.setting.rule.kind == .folder
        let paths = isFolder ? paths.filter { $0.hasSuffix("/") } : paths
        guard case .editing(var editor, let before) = mode, let names = editor.complete(paths) else {
            message = (isFolder ? "No such folder." : "No such file.", true)
            return
        }
        mode = .editing(editor, before: before)
        if !names.isEmpty { message = (names, false) }
    }

    /// Why the text in the field cannot be stored; nil if it can.
    func refusal(of text: String) -> String? {
        guard let control else { return nil }
        var copy = form
        if case .refused(let reason) = copy.answer(text, to: control.key) { return reason }
        return nil
    }

    private mutating func list(_ pane: inout ListPane, since before: PropertyList?, _ press: KeyPress) {
        guard let key = control?.key else {
            mode = .browsing
            return
        }
        switch pane.handle(press, clicked: clicked(press)) {
        case .open: mode = .listing(pane, before: before)
        case .changed:
            let value = pane.value
            change(key, since: before) { $0.set(value) }
            // What the rule refuses stays in the pane, with the reason.
            pane.refusal = message?.text
            mode = .listing(pane, before: conflicts.contains(key) ? before : form.value(of: key)?.value)
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
