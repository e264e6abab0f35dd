internal import PropertyLists
internal import SchemaTools
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
        let rows = size.rows
        return PaneLayout(
            columns: size.columns, rows: rows, side: widest,
            detailRows: rows >= 24 ? 4 : rows >= 14 ? 3 : rows >= 9 ? 2 : 1)
    }

    var listRows: [Row] {
        var rows: [Row] = []
        // Matches are ordered by rank.
        let hasHeadings = groupNames.count > 1 && search.isEmpty
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
        selectVisible()
        let rows = listRows
        let height = layout.list.count
        guard let at = rows.firstIndex(where: { $0.control == selected }) else {
            top = 0
            return
        }
        // The heading of a group is shown together with its first setting.
        let first = at > 0 && rows[at - 1].control == nil ? at - 1 : at
        if first < top { top = first }
        if at >= top + height { top = at - height + 1 }
        top = max(0, min(top, rows.count - height))
    }

    /// Selects another setting if the selected one is no longer shown.
    private mutating func selectVisible() {
        let visible = visible
        guard !visible.contains(selected) else { return }
        if let next = visible.first(where: { $0 > selected }) ?? visible.last { selected = next }
    }

    /// Draws the form on an empty canvas of its size.
    package func draw(on canvas: inout Canvas) {
        let layout = layout
        drawHeader(on: &canvas)
        layout.drawBorders(side: "Groups", on: &canvas)
        drawGroups(layout, on: &canvas)
        drawList(layout, on: &canvas)
        drawDetails(layout, on: &canvas)
        drawFooterAndBox(on: &canvas)
    }

    // MARK: Frame

    var header: String {
        var texts = search.isEmpty ? ["/ search"] : ["/\(search)", "\(visible.count) found"]
        if !form.changes.isEmpty { texts.append("\(form.changes.count) changed") }
        return texts.joined(separator: "  ")
    }

    private func drawHeader(on canvas: inout Canvas) {
        let start = headerStart
        let title = form.schema.title ?? form.schema.domain
        let end = canvas.put(title, 1, 0, limit: max(0, start - 2), style: Style(isBold: true))
        if form.schema.title != nil {
            canvas.put(form.schema.domain, end + 2, 0, limit: max(0, start - end - 3), style: Style(isDim: true))
        }
        if case .searching(let editor) = mode {
            canvas.drawSearch(editor, found: search.isEmpty ? nil : visible.count)
        } else {
            canvas.put(header, start, 0, style: .control)
        }
    }

    /// The index of the first group that is shown.
    var groupTop: Int {
        let at = groupNames.firstIndex(of: groups.isEmpty ? "" : groups[selected]) ?? 0
        return max(0, at - layout.sideHeight + 1)
    }

    private func drawGroups(_ layout: PaneLayout, on canvas: inout Canvas) {
        guard layout.sideColumns > 0 else { return }
        let problems = problems
        let names = groupNames
        let current = groups.isEmpty ? "" : groups[selected]
        for (row, name) in zip(layout.list.lowerBound..<layout.details.upperBound, names.dropFirst(groupTop)) {
            let members = controls.indices.filter { groups[$0] == name }.map { controls[$0] }
            let changed = members.count { form.isChanged($0.key) }
            let states = members.map { state(of: $0, problems) }
            let trouble = [ValueState.invalid, .conflict].first { states.contains($0) }
            canvas.put(name == current ? "▸" : " ", 1, row, style: .control)
            let mark = trouble?.mark ?? (changed > 0 ? "\(changed)\(ValueState.edited.mark)" : "")
            let end = layout.sideColumns - mark.shownColumns - 1
            canvas.put(name, 2, row, limit: end - 3, style: Style(isBold: name == current))
            canvas.put(mark, end, row, style: (trouble ?? .edited).style)
        }
    }

    // MARK: Settings

    /// The columns of the list.
    private var listColumns: (start: Int, end: Int) {
        let layout = layout
        return layout.hasBorders ? (layout.sideColumns + 1, size.columns - 1) : (0, size.columns)
    }

    /// The column after the contents of the list.
    private var contentEnd: Int { min(listColumns.end, listColumns.start + PaneLayout.mostContentColumns) }

    private var titleColumns: Int {
        let width = contentEnd - listColumns.start
        return min(controls.map(\.title.shownColumns).max() ?? 0, width * 2 / 5, 40)
    }

    /// The columns of the layers.
    private var originColumns: Int { 11 }

    /// The first column of the values, and the number of columns for them.
    var valuePlace: (column: Int, room: Int) {
        let column = listColumns.start + titleColumns + 3
        return (column, max(1, contentEnd - column - originColumns - 1))
    }

    private func drawList(_ layout: PaneLayout, on canvas: inout Canvas) {
        let (start, end) = listColumns
        let (rows, problems) = (listRows, problems)
        if rows.isEmpty {
            let text =
                controls.isEmpty
                ? "This schema has no settings to store."
                : SearchQuery(search).unknownText
                    ?? (search == "@modified" ? "Nothing is modified. Esc shows all." : SearchQuery.noMatch)
            canvas.put(text, start + 2, layout.list.lowerBound, limit: end - start - 2, style: Style(isDim: true))
        }
        for (row, shown) in zip(layout.list, rows.dropFirst(top)) {
            guard let index = shown.control else {
                canvas.put(shown.heading, start + 1, row, limit: end - start - 1, style: Style(isBold: true))
                continue
            }
            draw(index, problems, row, start, end, on: &canvas)
        }
        // Arrows show that there are more rows.
        if top > 0 { canvas.put("↑", end - 1, layout.list.lowerBound, style: .control) }
        if rows.count > top + layout.list.count {
            canvas.put("↓", end - 1, layout.list.upperBound - 1, style: .control)
        }
    }

    private func draw(
        _ index: Int, _ problems: [Name: String], _ row: Int, _ start: Int, _ end: Int, on canvas: inout Canvas
    ) {
        let control = controls[index]
        let state = state(of: control, problems)
        canvas.put(state.mark, start, row, style: state.style)
        canvas.put(control.title, start + 1, row, limit: titleColumns)
        let origin = origin(of: control)
        let (valueStart, room) = valuePlace
        canvas.put(
            origin, contentEnd - 2 - min(origin.shownColumns, originColumns - 1), row, limit: originColumns,
            style: state == .forced || state == .edited ? state.style : .control)
        if index == selected, case .editing(let editor, _) = mode {
            return canvas.put(editor, valueStart, row, limit: room)
        }
        let (value, style) = shownValue(of: control, isSelected: index == selected)
        canvas.put(value, valueStart, row, limit: room, style: style)
        if index == selected { canvas.select(row, from: start, to: end) }
    }

    /// The state of a setting, as its mark shows it.
    private func state(of control: Form.Control, _ problems: [Name: String]) -> ValueState {
        let key = Name(control.key)
        if problems[key] != nil { return .invalid }
        if hasConflict(key) { return .conflict }
        if form.isChanged(control.key) { return .edited }
        if control.isForced { return .forced }
        if form.value(of: control.key)?.fault != nil { return .invalid }
        return form.hasUserValue(control.key) ? .set : .standard
    }

    private func shownValue(of control: Form.Control, isSelected: Bool) -> (String, Style) {
        guard let value = form.value(of: control.key), let text = form.shownValue(of: control.key) else {
            return control.isRequired ? ("required", .invalid) : ("–", Style(isDim: true))
        }
        let isSet = !control.isForced && (form.isChanged(control.key) || form.hasUserValue(control.key))
        let style = Style(isBold: isSet)
        switch control.kind {
        case .toggle: return (value.value.booleanValue == true ? "[x]" : "[ ]", style)
        case .choice:
            let title = control.setting.rule.choiceTitles.isEmpty ? text + unit(of: control) : text
            return (isSelected ? "‹ \(title) ›" : title, style)
        case .secret: return (text, style)
        case .list, .dictionary:
            return value.value.entryCount == 0
                ? ("empty", Style(isDim: true)) : (Self.listed(value.value) ?? text, style)
        default:
            return text.isEmpty ? ("\"\"", Style(isDim: true)) : (text + unit(of: control), style)
        }
    }

    private func unit(of control: Form.Control) -> String {
        control.isQuantity ? "" : control.setting.unit.map { " \($0)" } ?? ""
    }

    /// Returns the elements or entries on one line, or nil if there are none, or if one is a container or data.
    private static func listed(_ value: PropertyList) -> String? {
        let texts =
            value.arrayValue?.map { ("", $0) } ?? value.dictionaryValue?.map { ("\($0.key) = ", $0.value) } ?? []
        guard !texts.isEmpty, !texts.contains(where: { $0.1.isContainer || $0.1.kind == .data }) else { return nil }
        return texts.map { $0.0 + $0.1.plainText }.joined(separator: ", ")
    }

    private func origin(of control: Form.Control) -> String {
        if control.isForced { return "forced" }
        if form.isChanged(control.key) { return form.changes.values[control.key] == nil ? "reset" : "edited" }
        return form.value(of: control.key)?.layer.description ?? ""
    }

    private func drawDetails(_ layout: PaneLayout, on canvas: inout Canvas) {
        guard let control else { return }
        let start = layout.hasBorders ? layout.sideColumns + 2 : 1
        let width = canvas.columns - start - (layout.hasBorders ? 2 : 1)
        for (row, line) in zip(layout.details, details(of: control, columns: width)) {
            canvas.put(line.0, start, row, limit: width, style: line.1)
        }
    }

    /// The details of a setting as lines of a width.
    private func details(of control: Form.Control, columns: Int) -> [(String, Style)] {
        details(of: control).flatMap { text, style in text.wrapped(toColumns: columns).map { ($0, style) } }
    }

    /// Returns a value of a setting on one line. Sensitive values are masked.
    private func shownText(of value: PropertyList, _ control: Form.Control) -> String {
        let isListed = control.kind == .list || control.kind == .dictionary
        return (isListed ? Self.listed(value) : nil) ?? control.shownText(of: value)
    }

    /// The details of a setting: its problem, its description and rule, its layers and its names.
    private func details(of control: Form.Control) -> [(String, Style)] {
        let setting = control.setting
        let text = { (value: Schema.ValueInForce) in shownText(of: value.value, control) }
        var lines: [(String, Style)] = []
        var expectation = expectation(of: control)
        if case .editing(let editor, _) = mode, let reason = refusal(of: editor.text), !editor.text.isEmpty {
            lines.append((reason, .invalid))
            expectation = nil
        } else if let reason = problems[Name(control.key)] {
            lines.append((reason, .invalid))
        } else if conflicts.contains(Name(control.key)) {
            let value = form.storedValue(of: control.key).map(text)
            let hint = isOpen ? "" : " \(keymap.hint(.dropChange, "drops your change"))."
            lines.append(("Another process set \(value ?? "nothing").\(hint)", .conflict))
        } else if let fault = form.value(of: control.key)?.fault {
            lines.append((fault, .invalid))
        }
        lines += (form.mirrorConflicts[Name(control.key)] ?? []).map { ($0, .conflict) }
        if let reason = setting.deprecated {
            lines.append(("Deprecated\(reason.isEmpty ? "." : ": \(reason)")", Style(isBold: true)))
        }
        if control.isForced, let file = form.storedValue(of: control.key)?.file {
            lines.append(("Forced by the administrator in \(file).", .forced))
        }
        let explanation = [setting.summary.map { $0.hasSuffix(".") ? $0 : $0 + "." }, expectation]
        lines.append((explanation.compactMap(\.self).joined(separator: " "), Style()))
        let layers = form.layers(of: control.key).map { value in
            "\(value.layer) \(text(value))" + (value.fault == nil || value.layer == .forced ? "" : " (ignored)")
        }
        lines.append((layers.joined(separator: "   "), Style()))
        let names = setting.flagUsage.joined(separator: ", ")
        let variables = setting.environment.map { "$\($0)" }.joined(separator: ", ")
        let dim = ["key \(setting.key)", names, variables].filter { !$0.isEmpty }
        return lines + [(dim.joined(separator: "   "), Style(isDim: true))]
    }

    /// The rule for the values of a control, as a sentence; nil if the control accepts only valid values.
    private func expectation(of control: Form.Control) -> String? {
        let words: String? =
            switch control.kind {
            case .toggle: nil
            case .list: control.setting.bounds.map { "elements: \($0)" }
            case .dictionary: control.setting.bounds
            case .text where control.setting.rule.type == .any: nil
            default: control.expectation
            }
        return words.map { $0.prefix(1).uppercased() + $0.dropFirst() + ($0.hasSuffix("…") ? "" : ".") }
    }

    var keyHints: [String] {
        switch mode {
        case .editing:
            let isNumber = if case .number? = control?.kind { true } else { false }
            let hasSecret = control.map { $0.kind == .secret && form.value(of: $0.key) != nil } ?? false
            let keepsEntries = control?.keepsEntries ?? false
            let isPath = control?.setting.rule.kind?.isPath ?? false
            return ["Enter accept", "Esc cancel"] + (isNumber ? ["↑↓ step"] : [])
                + (keepsEntries ? ["other entries are kept"] : hasSecret ? ["an empty field keeps the secret"] : [])
                + [isPath ? "Tab complete" : "Tab accept and go on"]
        case .searching: return ["Enter done", "Esc show all", "↑↓ select"] + SearchQuery.marks
        case .prompting: return [Prompt.list]
        default:
            let edit = keymap.hint(.enter, "edit")
            let action: [String] =
                switch control?.kind {
                case _ where control?.isForced ?? false: []
                case .toggle?: [keymap.hint(.toggle, "toggle")]
                case .choice?: ["←→ choose", keymap.hint(.enter, "list")]
                case .number?: [edit, "←→ step"]
                case .list?, .dictionary?: [keymap.hint(.enter, "entries")]
                case nil: []
                default: [edit]
                }
            return (search.isEmpty ? [] : [keymap.hint(.cancel, "show all")]) + action
                + [
                    keymap.hint(.save, "save"), keymap.hint(.help, "help"), keymap.hint(.quit, "quit"),
                    keymap.hint(.delete, "remove"), keymap.hint(.undo, "undo"), keymap.hint(.difference, "changes"),
                    keymap.hint(.history, "history"), keymap.hint(.details, "details"),
                ]
        }
    }

    var prompt: LineEditor? { if case .prompting(let editor) = mode { editor } else { nil } }

    // MARK: Overlays

    var overlay: Overlay? {
        switch mode {
        case .choosing(let index, _):
            guard let control, case .choice(let choices) = control.kind else { return nil }
            return Overlay(control.title, choices: choices.map(control.shownText), marked: index)
        case .listing(let pane, _): return overlay(for: pane)
        case .reviewing:
            return Overlay(
                title: "Save these changes?", lines: review(form), hint: "Enter save   Esc back", scroll: scroll)
        case .leaving:
            return Overlay(
                title: "Unsaved changes", lines: review(form), hint: "s save   x discard   Esc stay", scroll: scroll)
        case .offering(let changes, let heading):
            var copy = form
            copy.restore(changes)
            return Overlay(
                title: "Unsaved changes, \(heading)", lines: review(copy), hint: "Enter take   x drop   Esc later",
                scroll: scroll)
        case .helping:
            let lines = Overlay.lines(help, columns: size.columns).map { ($0, Style()) }
            return Overlay(title: "Keys", lines: lines, hint: "Esc back", scroll: scroll)
        case .explaining:
            guard let control else { return nil }
            let lines = details(of: control, columns: max(10, size.columns - 6))
            return Overlay(title: control.title, lines: lines, hint: "Esc back", scroll: scroll)
        case .history(let earlier, let index, _):
            guard let control else { return nil }
            let lines = earlier.map { earlier in
                "\(earlier.heading)  \(earlier.value.map { shownText(of: $0, control) } ?? "no value")"
            }
            return Overlay("History of \(control.title)", choices: lines, marked: index, "Enter take   Esc back")
        case .browsing, .editing, .searching, .prompting: return nil
        }
    }

    /// The changes as lines: the title, the old value and the new one; and then what else is wrong.
    private func review(_ form: Form) -> [(String, Style)] {
        form.review.flatMap { control, old, new in
            let isConflict = conflicts.contains(Name(control.key))
            let note = "\(ValueState.conflict.mark) replaces the value that another process has set meanwhile"
            return [(control.title, Style(isBold: true)), ("- \(old)", .removed), ("+ \(new)", .added)]
                + (isConflict ? [(note, .conflict)] : [])
        } + form.problems.map { ("! \(form.sentence(for: $0))", .invalid) }
    }

    private var help: [(String, String)] {
        keymap.help(in: .form) + [
            ("^Z", "suspend"), ("In a field", "Tab accepts and goes on"),
            ("In a list", "a adds, x removes, Alt-Up and Alt-Down move"),
        ]
    }

    private func overlay(for pane: ListPane) -> Overlay {
        var lines = pane.entries.enumerated().map { index, entry in
            let isMarked = index == pane.selected && pane.editor == nil
            let style = Style(isDim: entry.value == nil, isReversed: isMarked)
            return ((entry.key.map { "\($0) = " } ?? "") + pane.text(entry), style)
        }
        if lines.isEmpty, pane.editor == nil {
            lines = [(pane.isDictionary ? "no entries" : "no elements", Style(isDim: true))]
        }
        var field: (line: LineEditor, label: String, row: Int)?
        if let (line, purpose) = pane.editor {
            switch purpose {
            case .element(let index): field = (line, pane.entries[index].key.map { "\($0) = " } ?? "", index)
            case .newElement(let key): field = (line, key.map { "\($0) = " } ?? "+ ", lines.count)
            case .newKey: field = (line, "key: ", lines.count)
            }
        }
        if let field, field.row == lines.count { lines.append(("", Style())) }
        return Overlay(
            title: pane.title, lines: lines, hint: pane.hint, problem: pane.problem,
            showing: field?.row ?? pane.selected, field: field.map { ($0.line, $0.label) })
    }
}
