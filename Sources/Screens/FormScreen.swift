package import PropertyLists
package import SchemaTools
package import SettingsSchema

/// A form on a whole screen, as a state machine: events in, effects out.
///
/// It performs no I/O: the caller reads keys, saves, runs the editor, and shows the canvas.
package struct FormScreen: PaneScreen {
    package enum Event: ScreenEvent {
        case key(KeyPress)
        case resized(columns: Int, rows: Int)
        /// The value that the user wrote in an editor; nil if it is unchanged.
        case edited(PropertyList?)
        /// Unsaved changes of an earlier form that was interrupted.
        case offered(Form.Changes, heading: String)
        /// The values that a setting had, newest first.
        case history(key: String, [Earlier])
        /// Files whose path begins with the text of the field.
        case completed([String])
        case refused(String)
        /// A note of the store.
        case noted(String)
        /// The stored values after a save, and the command line that undoes it.
        case saved([Name: Schema.ValueInForce], layers: [Name: [Schema.ValueInForce]], undo: String)
        /// The stored values after a change by another process.
        case stored([Name: Schema.ValueInForce], layers: [Name: [Schema.ValueInForce]])
        /// The open conflicts of mirrors at each key, as lines of text.
        case mirrorConflicts([Name: [String]])
    }

    package enum Effect: Hashable, Sendable {
        case save(Form.Changes)
        /// Lets the user edit a value in an editor.
        case edit(key: String, PropertyList?)
        /// Lists the values that a setting had.
        case history(key: String)
        /// Lists the files whose path begins with a text.
        case complete(String)
        case finish(isComplete: Bool)
    }

    /// The mode, which determines what a key does.
    ///
    /// A mode that edits a value keeps the value from the time when the mode began, including unsaved changes.
    enum Mode: Sendable {
        case browsing
        case editing(LineEditor, before: PropertyList?)
        /// A list of choices, with the index of the marked one.
        case choosing(Int, before: PropertyList?)
        /// The elements of a list or dictionary.
        case listing(ListPane, before: PropertyList?)
        case searching(LineEditor)
        /// A command after a colon.
        case prompting(LineEditor)
        /// Earlier values of the selected setting, newest first, with the index of the marked one.
        case history([Earlier], Int, before: PropertyList?)
        case reviewing
        case leaving
        /// Whether to take the changes of an earlier form.
        case offering(Form.Changes, heading: String)
        case helping
        /// All details of the selected setting.
        case explaining
    }

    /// An earlier value of a setting.
    package struct Earlier: Hashable, Sendable {
        /// When and by whom it was set.
        package let heading: String
        /// The value; nil if it was removed.
        package let value: PropertyList?

        package init(heading: String, value: PropertyList?) { (self.heading, self.value) = (heading, value) }
    }

    package internal(set) var form: Form
    let controls: [Form.Control]
    /// The group of each control.
    let groups: [String]
    var mode = Mode.browsing
    /// The index of the selected control.
    var selected = 0
    /// The first row of the list, or of an overlay, that is shown.
    var top = 0
    var scroll = 0
    private(set) var size = (columns: 80, rows: 24)
    var search = ""
    /// The indices of the controls that are shown: all, or those that the search finds.
    private(set) var visible: [Int]
    /// The result of the last key, or the reason it had none; shown until the next key.
    var message: Message?
    var conflicts: Set<Name> = []
    /// The changes before each one that can be undone, and before each undo.
    var undo: [Form.Changes] = [], redo: [Form.Changes] = []
    /// Whether changes of an earlier form are still offered, now or when the form is opened again.
    package private(set) var hasOffer = false
    /// Whether the last key was the first of two that quit.
    private var isLeaving = false
    let keymap: Keymap
    /// A message about the last save and how to undo it; nil before the first save.
    package private(set) var saved: String?
    /// The texts that were typed for each setting, oldest first.
    var answers: [Name: [String]] = [:]

    package init(_ form: Form, _ keymap: Keymap = .standard) {
        (self.form, self.keymap) = (form, keymap)
        var (controls, names): ([Form.Control], [String]) = ([], [])
        for page in form.pages {
            for group in page.groups {
                controls += group.controls
                names += Array(repeating: group.title ?? page.title, count: group.controls.count)
            }
        }
        (self.controls, groups, visible) = (controls, names, Array(controls.indices))
    }

    /// Finds the controls that match the search. One that is being edited stays, even if another process makes the same
    /// change.
    private mutating func findVisible() {
        let query = SearchQuery(search)
        guard !query.isEmpty else {
            visible = Array(controls.indices)
            return
        }
        visible = form.matches(query, in: controls, conflicts: conflicts)
        if isOpen, !visible.contains(selected) { visible.insert(selected, at: 0) }
    }

    /// Whether another process or another host of a mirror has set another value.
    func hasConflict(_ key: Name) -> Bool { conflicts.contains(key) || form.mirrorConflicts[key] != nil }

    /// Whether the value of the selected setting is being edited.
    var isOpen: Bool {
        switch mode {
        case .editing, .choosing, .listing, .history: true
        case .browsing, .searching, .prompting, .reviewing, .leaving, .offering, .helping, .explaining: false
        }
    }

    var control: Form.Control? { visible.contains(selected) ? controls[selected] : nil }

    /// The keys of settings that contradict others or lack a required value, with the reasons.
    var problems: [Name: String] { sentences(for: form.problems) }

    private func sentences(for problems: [Schema.Problem]) -> [Name: String] {
        var reasons: [Name: String] = [:]
        for problem in problems {
            let remedy = if case .conflict = problem.reason { " \(keymap.hint(.delete, "removes one"))." } else { "" }
            reasons[Name(problem.place)] = form.sentence(for: problem) + remedy
        }
        return reasons
    }

    // MARK: Events

    package mutating func handle(_ event: Event) -> [Effect] {
        let former = search
        defer {
            // A conflict exists only while its setting is changed or is being edited.
            conflicts = conflicts.filter { form.isChanged($0.text) || isOpen && $0 == control.map { Name($0.key) } }
            findVisible()
            // The best match is selected while the search is typed.
            if case .searching = mode, search != former, let best = visible.first { selected = best }
            settle()
        }
        switch event {
        case .key(let press):
            let press = meaning(of: press)
            message = nil
            guard let press else { break }
            if keymap.command(for: press) != .interrupt { isLeaving = false }
            return handle(press)
        case .resized(let columns, let rows):
            size = (columns, rows)
        case .edited(let value):
            if let value, let control { set(control.setting.rule.adapted(value)) }
        case .offered(let changes, let heading): (mode, hasOffer) = (.offering(changes, heading: heading), true)
        case .history(let key, let earlier):
            guard let control, control.key.hasSameBytes(as: key) else { break }
            if earlier.isEmpty {
                message = Message("No earlier value is kept.")
            } else {
                mode = .history(earlier, 0, before: form.value(of: key)?.value)
            }
        case .completed(let paths): complete(paths)
        case .refused(let reason):
            mode = .browsing
            message = Message(reason, isError: true)
        case .noted(let text): message = Message(text)
        case .saved(let values, let layers, let command):
            let count = form.changes.count
            form.restore(.init())
            _ = form.update(values: values, layers: layers)
            let text = "Saved \(count) setting\(count == 1 ? "" : "s"). To undo: \(command)"
            (undo, redo, conflicts, saved, mode) = ([], [], [], text, .browsing)
            message = Message(text)
        case .mirrorConflicts(let conflicts): form.mirrorConflicts = conflicts
        case .stored(let values, let layers):
            let changed = controls.filter { values[Name($0.key)]?.value != form.storedValue(of: $0.key)?.value }
            conflicts.formUnion(form.update(values: values, layers: layers).map { Name($0) })
            reload()
            guard !changed.isEmpty else { break }
            let names = changed.prefix(3).map(\.title).joined(separator: ", ") + (changed.count > 3 ? ", …" : "")
            message = Message("Changed by another process: \(names)", isError: !conflicts.isEmpty)
        }
        return []
    }

    private mutating func handle(_ press: KeyPress) -> [Effect] {
        // In a field, a letter is text.
        if keymap.command(for: press) == .save, press.character == nil { return finishAndSave() }
        switch mode {
        case .browsing: return browse(press)
        case .editing(var editor, let before): return edit(&editor, since: before, press)
        case .choosing(let index, let before): choose(index, since: before, press)
        case .listing(var pane, let before): list(&pane, since: before, press)
        case .searching(var editor):
            if case .click(let column, let row) = press.key {
                mode = .browsing
                click(column, row)
                break
            }
            switch press.key {
            case .up, .down, .pageUp, .pageDown, .wheel: return browse(press)
            default: break
            }
            switch editor.handle(press) {
            case .accepted:
                if visible.isEmpty { message = Message(SearchQuery.noMatch) }
                mode = .browsing
            case .canceled: (mode, search) = (.browsing, "")
            case .edited, .ignored:
                search = editor.text
                mode = .searching(editor)
            }
        case .prompting(var editor):
            mode = .browsing
            switch editor.handle(press) {
            case .accepted: return execute(Prompt(editor.text))
            case .canceled: break
            case .edited, .ignored: mode = .prompting(editor)
            }
        case .history(let earlier, let index, let before): chooseEarlier(earlier, index, since: before, press)
        case .offering(let changes, _): answerOffer(changes, press)
        case .helping, .explaining, .reviewing, .leaving: return answer(press)
        }
        return []
    }

    private mutating func answerOffer(_ changes: Form.Changes, _ press: KeyPress) {
        if let start = scrolled(by: press) {
            scroll = start
            return
        }
        switch press.key {
        case .enter:
            undo.append(form.changes)
            form.restore(changes)
            (mode, hasOffer, scroll) = (.browsing, false, 0)
        case .character("x"): (mode, hasOffer, scroll) = (.browsing, false, 0)
        case .escape, .character("q"): (mode, scroll) = (.browsing, 0)
        case .click: break
        default: message = Message("\(overlay?.hint ?? "").")
        }
    }

    private mutating func browse(_ press: KeyPress) -> [Effect] {
        switch press.key {
        case .wheel(let step):
            move(3 * step)
            return []
        case .click(let column, let row):
            click(column, row)
            return []
        default: break
        }
        let command = keymap.command(for: press)
        if let letter = press.character, "0"..."9" ~= letter, command == nil {
            // In a number or a date, a digit begins a new value.
            switch control?.kind {
            case .number?, .date?:
                open(String(letter))
                return []
            default: break
            }
        }
        guard let command, command.meaning(in: .form) != nil else {
            let former =
                press.character == "r" ? " It removed the value before; \(keymap.hint(.delete, "does now"))." : ""
            message = Message(
                "The key \(press.name) has no meaning here; \(keymap.hint(.help, "shows the keys")).\(former)",
                isError: true)
            return []
        }
        if command == .interrupt {
            guard isLeaving else {
                isLeaving = true
                let count = form.changes.count
                let losing = count == 0 ? "" : ", and drops \(count) unsaved change\(count == 1 ? "" : "s")"
                message = Message("\(keymap.hint(.interrupt, "again quits"))\(losing).")
                return []
            }
            return [.finish(isComplete: form.changes.isEmpty || saved != nil)]
        }
        return perform(command)
    }

    private mutating func perform(_ command: ScreenCommand) -> [Effect] {
        let page = max(1, layout.list.count - 1)
        switch command {
        case .up: move(-1)
        case .down: move(1)
        case .pageUp: move(-page)
        case .pageDown: move(page)
        case .halfPageUp: move(-max(1, page / 2))
        case .halfPageDown: move(max(1, page / 2))
        case .first: move(-controls.count)
        case .last: move(controls.count)
        case .nextPane: moveGroup(1)
        case .previousPane: moveGroup(-1)
        case .left: step(-1)
        case .right: step(1)
        case .enter: open()
        case .toggle: if case .toggle? = control?.kind { step(1) } else { open() }
        case .delete:
            let hadChange = control.map { form.isChanged($0.key) } ?? false
            reset()
            if hadChange, let text = message?.text {
                message = Message("\(text) \(keymap.hint(.dropChange, "drops the change instead")).")
            }
        case .reset: reset()
        case .dropChange: change { form, key in form.discard(key) }
        case .undo: undoLast()
        case .redo: redoLast()
        case .save: return finishAndSave()
        case .difference:
            if form.changes.isEmpty { message = Message("Nothing is changed.") } else { mode = .reviewing }
        case .modified:
            let words = search.split(separator: " ")
            let others = words.filter { $0 != "@modified" }
            search = (others.count < words.count ? others : others + ["@modified"]).joined(separator: " ")
        case .search: (mode, search) = (.searching(LineEditor()), "")
        case .history: if let control { return [.history(key: control.key)] }
        case .details: if control != nil { mode = .explaining }
        case .editText: return editAsText()
        case .prompt: mode = .prompting(LineEditor())
        case .help: mode = .helping
        case .cancel where search.isEmpty:
            message = Message("\(keymap.hint(.quit, "quits")); \(keymap.hint(.help, "shows the keys")).")
        case .cancel: search = ""
        case .quit: return quit()
        case .interrupt, .add, .rename, .copy, .changeType, .moveUp, .moveDown, .nextMatch, .previousMatch,
            .historyOfAll, .watch, .copyReading, .copyWriting:
            break
        }
        return []
    }

    /// Executes a command that was typed after a colon.
    private mutating func execute(_ command: Prompt) -> [Effect] {
        switch command {
        case .write: return finishAndSave()
        case .quit: return quit()
        case .writeAndQuit:
            // A value of another process is replaced only after a review.
            guard conflicts.isEmpty else { return quit() }
            guard !form.changes.isEmpty, form.obstacles.isEmpty else {
                return form.changes.isEmpty ? quit() : finishAndSave()
            }
            return [.save(form.changes), .finish(isComplete: true)]
        case .discard: return [.finish(isComplete: form.changes.isEmpty || saved != nil)]
        case .help: mode = .helping
        case .unknown(let text):
            message = Message("Unknown command \(text). Commands are \(Prompt.list).", isError: true)
        }
        return []
    }

    private mutating func quit() -> [Effect] {
        if form.changes.isEmpty { return [.finish(isComplete: true)] }
        mode = .leaving
        return []
    }

    /// Handles the keys of the overlays that ask a question.
    private mutating func answer(_ press: KeyPress) -> [Effect] {
        if let start = scrolled(by: press) {
            scroll = start
            return []
        }
        switch (mode, press.key) {
        case (.reviewing, .enter), (.reviewing, .character("s")), (.reviewing, .character("y")),
            (.leaving, .character("s")):
            scroll = 0
            guard form.obstacles.isEmpty else {
                save()
                return []
            }
            let isLeaving = if case .leaving = mode { true } else { false }
            return [.save(form.changes)] + (isLeaving ? [.finish(isComplete: true)] : [])
        case (.leaving, .character("x")) where press.character != nil:
            return [.finish(isComplete: saved != nil)]
        case (_, .click): break
        case (.helping, _), (.explaining, _), (_, .escape): (mode, scroll) = (.browsing, 0)
        case _ where press.character == "q" || press.character == "n" || press.isControl("c"):
            (mode, scroll) = (.browsing, 0)
        default: message = Message("\(overlay?.hint ?? "").")
        }
        return []
    }

    /// Shows the changes for review, or selects the first setting that prevents saving.
    private mutating func save() {
        if let (key, reason) = sentences(for: form.obstacles).min(by: { place($0.key) < place($1.key) }) {
            (mode, search) = (.browsing, "")
            if let index = controls.firstIndex(where: { Name($0.key) == key }) { selected = index }
            message = Message(reason, isError: true)
        } else if form.changes.isEmpty {
            message = Message("Nothing is changed.")
        } else {
            mode = .reviewing
        }
    }

    /// Accepts the value that is being edited, and saves unless it is invalid.
    private mutating func finishAndSave() -> [Effect] {
        switch mode {
        case .reviewing, .leaving: return answer(KeyPress(.character("s")))
        case .offering: return []
        case .listing(let pane, _) where pane.editor == nil: if pane.refusal == nil { mode = .browsing }
        case .browsing, .helping, .explaining, .prompting, .history: (mode, scroll) = (.browsing, 0)
        case .editing, .choosing, .listing, .searching: _ = handle(KeyPress(.enter))
        }
        if case .listing(let pane, _) = mode, pane.editor == nil, pane.refusal == nil { mode = .browsing }
        if case .browsing = mode { save() }
        return []
    }

    private func place(_ key: Name) -> Int { controls.firstIndex { Name($0.key) == key } ?? .max }

    // MARK: Selection

    mutating func move(_ count: Int) {
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
        let names = visible.reduce(into: [String]()) { if !$0.contains(groups[$1]) { $0.append(groups[$1]) } }
        guard let at = names.firstIndex(of: groups.isEmpty ? "" : groups[selected]) else { return move(0) }
        select(group: names[(at + step + names.count) % names.count])
    }

    private mutating func select(group name: String) {
        guard let first = visible.first(where: { groups[$0] == name }) else { return }
        selected = first
        // Scrolls to show the whole group, as far as it fits.
        let rows = listRows
        if let last = rows.lastIndex(where: { $0.heading == name }) { top = max(top, last - layout.list.count + 1) }
    }

    /// The row of the list that a row of the screen shows.
    private func listRow(at row: Int) -> Row? {
        let (list, rows) = (layout.list, listRows)
        let index = row - list.lowerBound + top
        return list.contains(row) && rows.indices.contains(index) ? rows[index] : nil
    }

    func fieldPlace(at row: Int) -> (column: Int, room: Int)? {
        guard case .editing = mode, listRow(at: row)?.control == selected else { return nil }
        return valuePlace
    }

    /// Selects the clicked setting or group. A click on a value, or on the selected setting, also opens the setting.
    mutating func click(_ column: Int, _ row: Int) {
        let layout = layout
        if column < layout.sideColumns {
            let (names, index) = (groupNames, row - layout.list.lowerBound + groupTop)
            if row >= layout.list.lowerBound, row < layout.details.upperBound, names.indices.contains(index) {
                select(group: names[index])
            }
            return
        }
        guard let found = listRow(at: row)?.control else { return }
        let acts = found == selected || column >= valuePlace.column
        selected = found
        if acts { open() }
    }
}
