internal import PropertyLists
internal import SettingsSchema

extension FormScreen {
    /// A row of the list: a heading, or a setting.
    struct Row: Sendable {
        let heading: String
        /// The index of the control; nil for a heading.
        let control: Int?
    }

    var groupNames: [String] { groups.reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }

    var layout: PaneLayout {
        let names = groupNames
        let widest = names.count > 1 ? names.map(\.shownColumns).max() : nil
        return PaneLayout(columns: columns, rows: rows, side: widest, detailRows: rows >= 14 ? 3 : rows >= 9 ? 2 : 1)
    }

    var listRows: [Row] {
        var rows: [Row] = []
        let hasHeadings = groupNames.count > 1
        for index in visible {
            if hasHeadings, rows.last?.heading != groups[index] {
                rows.append(Row(heading: groups[index], control: nil))
            }
            rows.append(Row(heading: groups[index], control: index))
        }
        return rows
    }

    /// Scrolls until the selected row is shown.
    mutating func settle() {
        let rows = listRows
        let height = layout.list.count
        guard let at = rows.firstIndex(where: { $0.control == selected }) else {
            top = 0
            return
        }
        // With the first setting of a group, its heading.
        let first = at > 0 && rows[at - 1].control == nil ? at - 1 : at
        if first < top { top = first }
        if at >= top + height { top = at - height + 1 }
        top = max(0, min(top, rows.count - height))
    }

    /// Draws the form on an empty canvas of its size.
    package func draw(on canvas: inout Canvas) {
        let layout = layout
        drawHeader(on: &canvas)
        layout.drawBorders(side: "Groups", on: &canvas)
        drawGroups(layout, on: &canvas)
        drawList(layout, on: &canvas)
        drawDetails(layout, on: &canvas)
        drawFooter(on: &canvas)
        switch mode {
        case .choosing(let index): drawChoices(index, on: &canvas)
        case .listing(let pane): drawPane(pane, on: &canvas)
        case .reviewing: canvas.drawOverlay("Save these changes?", review, "Enter save   Esc back", scroll: scroll)
        case .leaving: canvas.drawOverlay("Unsaved changes", review, "s save   d discard   Esc stay", scroll: scroll)
        case .helping: canvas.drawOverlay("Keys", Self.help.map { ($0, Style()) }, "Esc back", scroll: scroll)
        default: break
        }
    }

    // MARK: Frame

    private func drawHeader(on canvas: inout Canvas) {
        let count = form.changes.count
        var right = "/ search"
        if case .searching = mode { right = "" } else if !search.isEmpty { right = "/\(search)" }
        if showsChangedOnly { right += "  changed only" }
        right += count == 0 ? "" : "  \(count) changed"
        let start = max(0, canvas.columns - right.shownColumns - 1)
        let title = form.schema.title ?? form.schema.domain
        let end = canvas.put(title, 1, 0, limit: max(0, start - 2), style: Style(isBold: true))
        if form.schema.title != nil {
            canvas.put(form.schema.domain, end + 2, 0, limit: max(0, start - end - 3), style: Style(isDim: true))
        }
        if case .searching(let editor) = mode {
            canvas.drawSearch(editor)
        } else {
            canvas.put(right, start, 0, style: Style(.cyan))
        }
    }

    private func drawGroups(_ layout: PaneLayout, on canvas: inout Canvas) {
        guard layout.sideColumns > 0 else { return }
        let problems = problems
        let names = groupNames
        let current = groups.isEmpty ? "" : groups[selected]
        let height = layout.details.upperBound - layout.list.lowerBound
        let start = max(0, (names.firstIndex(of: current) ?? 0) - height + 1)
        for (row, name) in zip(layout.list.lowerBound..<layout.details.upperBound, names.dropFirst(start)) {
            let members = controls.indices.filter { groups[$0] == name }.map { controls[$0] }
            let changed = members.count { form.isChanged($0.key) }
            let isWrong = members.contains { problems[$0.key] != nil || conflicts.contains($0.key) }
            canvas.put(name == current ? "▸" : " ", 1, row, style: Style(.cyan))
            let mark = isWrong ? "!" : changed > 0 ? "\(changed)•" : ""
            let end = layout.sideColumns - mark.shownColumns - 1
            canvas.put(name, 2, row, limit: end - 3, style: Style(isBold: name == current))
            canvas.put(mark, end, row, style: Style(isWrong ? .red : .yellow))
        }
    }

    // MARK: Settings

    private func drawList(_ layout: PaneLayout, on canvas: inout Canvas) {
        let start = layout.hasBorders ? layout.sideColumns + 1 : 0
        let end = canvas.columns - (layout.hasBorders ? 1 : 0)
        let (rows, problems) = (listRows, problems)
        if rows.isEmpty {
            let text = controls.isEmpty ? "This schema has no settings to store." : "Nothing matches. Esc shows all."
            canvas.put(text, start + 2, layout.list.lowerBound, limit: end - start - 2, style: Style(isDim: true))
        }
        for (row, shown) in zip(layout.list, rows.dropFirst(top)) {
            guard let index = shown.control else {
                canvas.put(shown.heading, start + 1, row, limit: end - start - 1, style: Style(.blue, isBold: true))
                continue
            }
            draw(index, problems, row, start, end, on: &canvas)
        }
        // Arrows show that there is more.
        if top > 0 { canvas.put("↑", end - 1, layout.list.lowerBound, style: Style(.cyan)) }
        if rows.count > top + layout.list.count {
            canvas.put("↓", end - 1, layout.list.upperBound - 1, style: Style(.cyan))
        }
    }

    private func draw(
        _ index: Int, _ problems: [String: String], _ row: Int, _ start: Int, _ end: Int, on canvas: inout Canvas
    ) {
        let control = controls[index]
        let isWrong = problems[control.key] != nil || conflicts.contains(control.key)
        let isChanged = form.isChanged(control.key)
        let mark = isWrong ? "!" : isChanged ? "•" : " "
        canvas.put(mark, start, row, style: Style(isWrong ? .red : .yellow))
        let width = end - start
        let titleColumns = min(controls.map(\.title.shownColumns).max() ?? 0, width * 2 / 5, 40)
        canvas.put(control.title, start + 1, row, limit: titleColumns, style: Style(isBold: index == selected))
        let origin = origin(of: control)
        let originColumns = width >= 44 ? 11 : 0
        let valueStart = start + titleColumns + 3
        let room = max(1, end - valueStart - originColumns - 1)
        if originColumns > 0 {
            let at = end - 2 - min(origin.shownColumns, originColumns - 1)
            canvas.put(
                origin, at, row, limit: originColumns, style: Style(isChanged ? .yellow : nil, isDim: !isChanged))
        }
        if index == selected, case .editing(let editor) = mode {
            canvas.put("[", valueStart - 1, row, style: Style(.cyan))
            let (text, cursor) = editor.shown(in: room - 1)
            let used = canvas.put(text, valueStart, row, limit: room - 1)
            canvas.put("]", max(used, valueStart) + (cursor >= text.shownColumns ? 1 : 0), row, style: Style(.cyan))
            canvas.cursor = (valueStart + cursor, row)
            return
        }
        let (value, style) = shownValue(of: control, isSelected: index == selected)
        canvas.put(value, valueStart, row, limit: room, style: style)
        if index == selected { canvas.paint(row, from: start, to: end, Style(isReversed: true)) }
    }

    private func shownValue(of control: Form.Control, isSelected: Bool) -> (String, Style) {
        guard let value = form.value(of: control.key), let text = form.shownValue(of: control.key) else {
            return control.isRequired ? ("required", Style(.yellow)) : ("–", Style(isDim: true))
        }
        let style = Style(control.isForced ? nil : value.fault == nil ? .green : .red, isDim: control.isForced)
        switch control.kind {
        case .toggle: return (value.value.booleanValue == true ? "[x]" : "[ ]", style)
        case .choice:
            let title = control.setting.rule.title(of: value.value)
            return (isSelected ? "‹ \(title) ›" : title, style)
        case .secret: return (text, style)
        default:
            if text.isEmpty { return ("\"\"", Style(isDim: true)) }
            let hasUnit = control.setting.rule.kind != .duration && control.setting.rule.kind != .size
            let unit = hasUnit ? control.setting.unit.map { " \($0)" } ?? "" : ""
            return (text + unit, style)
        }
    }

    private func origin(of control: Form.Control) -> String {
        if control.isForced { return "forced" }
        if form.isChanged(control.key) { return form.changes.values[control.key] == nil ? "reset" : "edited" }
        return form.value(of: control.key)?.layer ?? ""
    }

    private func drawDetails(_ layout: PaneLayout, on canvas: inout Canvas) {
        guard let control else { return }
        let start = layout.hasBorders ? layout.sideColumns + 2 : 1
        let width = canvas.columns - start - (layout.hasBorders ? 2 : 1)
        var lines: [(String, Style)] = []
        if case .editing(let editor) = mode, let reason = refusal(of: editor.text), !editor.text.isEmpty {
            lines.append((reason, Style(.red)))
        } else if let reason = problems[control.key] {
            lines.append((reason, Style(.red)))
        } else if conflicts.contains(control.key) {
            let value = form.storedValue(of: control.key).map {
                control.kind == .secret ? mask : control.text(of: $0.value)
            }
            lines.append(("Another process set \(value ?? "nothing") meanwhile. x takes that.", Style(.red)))
        } else if let fault = form.value(of: control.key)?.fault {
            lines.append((fault, Style(.red)))
        }
        let setting = control.setting
        let names = [setting.key] + setting.flagUsage + setting.environment
        let explanation = [
            setting.summary.map { $0.hasSuffix(".") ? $0 : $0 + "." }, control.expectation.map { "(\($0))" },
        ]
        .compactMap { $0 }.joined(separator: " ")
        let layers = form.layers(of: control.key).map { value in
            "\(value.layer) \(control.kind == .secret ? mask : control.text(of: value.value))"
        }.joined(separator: "   ")
        if !explanation.isEmpty { lines.append((explanation, Style())) }
        if !layers.isEmpty { lines.append((layers, Style())) }
        lines.append((names.joined(separator: ", "), Style(isDim: true)))
        for (row, line) in zip(layout.details, lines) {
            canvas.put(line.0, start, row, limit: width, style: line.1)
        }
    }

    private func drawFooter(on canvas: inout Canvas) {
        if let message { return canvas.drawMessage(message.text, isError: message.isError) }
        var keys: [String]
        switch mode {
        case .editing:
            keys = ["Enter accept", "Esc cancel"]
            if let control, case .number = control.kind { keys.append("↑↓ step") }
            if let control, [.file, .folder, .path].contains(control.setting.rule.kind) { keys.append("Tab complete") }
        case .searching: keys = ["Enter keep", "Esc show all"]
        default:
            let action: String? =
                switch control?.kind {
                case .toggle?: "Space toggle"
                case .choice?: "←→ choose"
                case .number?: "Enter edit  ←→ step"
                case .list?, .dictionary?: "Enter entries"
                case nil: nil
                default: "Enter edit"
                }
            keys = [action, "r reset", "u undo", "d difference", "^S save", "q quit", "? help"].compactMap { $0 }
        }
        canvas.drawKeys(keys)
    }

    // MARK: Overlays

    /// The changes as lines: the title, the old value and the new one.
    private var review: [(String, Style)] {
        controls.filter { form.isChanged($0.key) }.flatMap { control -> [(String, Style)] in
            let text = { (value: Schema.ValueInForce?) in
                value.map { control.kind == .secret ? mask : control.text(of: $0.value) } ?? "no value"
            }
            let new = form.value(of: control.key)
            let origin =
                form.changes.values[control.key] == nil ? new.map { " (\($0.layer))" } ?? "" : ""
            return [
                (control.title, Style(isBold: true)),
                ("- \(text(form.storedValue(of: control.key)))", Style(.red)),
                ("+ \(text(new))\(origin)", Style(.green)),
            ]
        }
    }

    private static let help = [
        "Up, Down       select a setting", "Tab, g         go to the next group", "Space          turn on or off",
        "Left, Right    choose, or step a number", "Enter          edit", "e              edit as text in $EDITOR",
        "r              remove the user's value", "x              drop the change to this setting",
        "u              undo the last change", "d              show the difference", "/              search",
        "m              show changed settings only", "^S             save", "q              quit",
        "^Z             suspend",
        "In a list: a adds, d removes, Alt-Up and Alt-Down move.",
    ]

    private func drawChoices(_ index: Int, on canvas: inout Canvas) {
        guard let control, case .choice(let choices) = control.kind else { return }
        let lines = choices.enumerated().map {
            (control.setting.rule.title(of: $0.element), Style(isReversed: $0.offset == index))
        }
        canvas.drawOverlay(control.title, lines, "Enter choose   Esc back", showing: index)
    }

    private func drawPane(_ pane: ListPane, on canvas: inout Canvas) {
        var lines = pane.entries.enumerated().map { index, entry in
            let style = Style(isReversed: index == pane.selected && pane.editor == nil)
            return ((entry.key.map { "\($0) = " } ?? "") + pane.text(entry.value), style)
        }
        if lines.isEmpty { lines = [("no entries", Style(isDim: true))] }
        var field: (line: LineEditor, label: String, row: Int)?
        if let (line, purpose) = pane.editor {
            switch purpose {
            case .element(let index): field = (line, pane.entries[index].key.map { "\($0) = " } ?? "", index)
            case .newElement(let key): field = (line, key.map { "\($0) = " } ?? "+ ", lines.count)
            case .newKey: field = (line, "key: ", lines.count)
            }
        }
        if let field, field.row == lines.count { lines.append(("", Style())) }
        let keys = pane.editor == nil ? "a add  Enter edit  d remove  Esc back" : "Enter accept   Esc cancel"
        canvas.drawOverlay(
            pane.title, lines, pane.reason ?? keys, showing: field?.row ?? pane.selected,
            field: field.map { ($0.line, $0.label) })
    }
}
