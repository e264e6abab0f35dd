internal import PropertyLists
internal import SchemaTools
internal import SettingsSchema

extension BrowseScreen {
    package func draw(on canvas: inout Canvas) {
        drawHeader(on: &canvas)
        layout.drawBorders(side: "Domains", on: &canvas)
        if layout.sideColumns > 0 {
            drawDomains(to: layout.sideColumns, on: &canvas)
            drawEntries(on: &canvas)
        } else if isInDomains, !domains.isEmpty, !showsMatches {
            drawDomains(to: canvas.columns, on: &canvas)
        } else {
            drawEntries(on: &canvas)
        }
        drawDetails(on: &canvas)
        drawFooterAndBox(on: &canvas)
    }

    var header: String {
        if let timeline {
            let name = timeline.path.components.isEmpty ? "" : " of \(Self.name(of: timeline.path))"
            return timeline.target == nil ? "history of all domains" : "history" + name
        }
        var texts: [String] = []
        if !search.isEmpty, let catalog { texts += ["/\(search)", "\(catalog.selected + 1) of \(catalog.count)"] }
        if isWatching { texts.append("watching") }
        return texts.isEmpty ? "/ search" : texts.joined(separator: "  ")
    }

    private func drawHeader(on canvas: inout Canvas) {
        let start = headerStart
        let name = timeline?.version.domain ?? current ?? "prefs"
        canvas.put(name, 1, 0, limit: max(0, start - 2), style: Style(isBold: true))
        switch mode {
        case .searching(let editor, _): canvas.drawSearch(editor, found: showsMatches ? catalog?.count : nil)
        default: canvas.put(header, start, 0, style: .control)
        }
    }

    // MARK: Domains

    private func drawDomains(to end: Int, on canvas: inout Canvas) {
        let first = layout.list.lowerBound
        let start = layout.hasBorders ? 1 : 0
        if shownDomains.isEmpty {
            canvas.put("no match", start + 1, first, limit: end - start - 1, style: Style(isDim: true))
        }
        for (row, name) in zip(first..<(first + layout.sideHeight), shownDomains.dropFirst(domainTop)) {
            let isCurrent = Name(name) == current.map { Name($0) }
            canvas.put(isCurrent ? "▸" : " ", start, row, style: .control)
            canvas.put(name, start + 1, row, limit: end - start - 2, style: Style(isBold: isCurrent))
            if isCurrent, isInDomains { canvas.select(row, from: start, to: end) }
        }
        let last = first + layout.sideHeight - 1
        if domainTop > 0 { canvas.put("↑", end - 1, first, style: .control) }
        if shownDomains.count > domainTop + layout.sideHeight { canvas.put("↓", end - 1, last, style: .control) }
    }

    // MARK: Entries

    /// The columns of the entries.
    struct EntryColumns {
        let start: Int
        /// The column after the contents, and the one after the list.
        let end: Int, listEnd: Int
        /// The column after the labels.
        let labelEnd: Int

        fileprivate init(_ layout: PaneLayout, columns: Int, label: Int) {
            (start, listEnd) = layout.hasBorders ? (layout.sideColumns + 1, columns - 1) : (0, columns)
            end = min(listEnd, start + PaneLayout.mostContentColumns)
            labelEnd = start + 1 + min(label, (end - start) * 2 / 5, 48)
        }

        var hasTypes: Bool { end - start >= 44 }

        /// The column of the mark that shows whether a container is open.
        func mark(of row: EntryTree.Row) -> Int { start + 1 + min(2 * row.depth, max(0, labelEnd - start - 6)) }

        /// The first column of a value, and the number of columns for it.
        func value(before origin: String) -> (column: Int, room: Int) {
            let column = labelEnd + (hasTypes ? 14 : 2)
            return (column, max(1, end - column - (origin.isEmpty ? 1 : origin.shownColumns + 2)))
        }
    }

    var entryColumns: EntryColumns { EntryColumns(layout, columns: size.columns, label: labelColumns) }

    /// The layer of an entry that does not come from the layer that is edited. Empty for other entries.
    func origin(of row: EntryTree.Row) -> String {
        guard let origins = contents?.origins, !origins.isEmpty, row.depth == 0, timeline == nil else { return "" }
        return origins[Name(row.label)] ?? ""
    }

    private func drawEntries(on canvas: inout Canvas) {
        if showsMatches { return drawMatches(on: &canvas) }
        let columns = entryColumns
        if rows.isEmpty {
            let text =
                contents != nil
                ? "No entries. a adds one."
                : current == nil && domains.isEmpty ? "There are no domains. a adds one." : ""
            let (column, room) = (columns.start + 2, columns.end - columns.start - 2)
            canvas.put(text, column, layout.list.lowerBound, limit: room, style: Style(isDim: true))
        }
        for (offset, row) in rows.enumerated() {
            draw(row, isSelected: top + offset == selected, layout.list.lowerBound + offset, columns, on: &canvas)
        }
        drawArrows(top, of: tree.count, on: &canvas)
    }

    /// Draws arrows that show that the list has more rows.
    private func drawArrows(_ top: Int, of count: Int, on canvas: inout Canvas) {
        let (last, list) = (entryColumns.listEnd - 1, layout.list)
        if top > 0 { canvas.put("↑", last, list.lowerBound, style: .control) }
        if count > top + list.count { canvas.put("↓", last, list.upperBound - 1, style: .control) }
    }

    /// Draws the matches of a search: each with its domain, its path and its value.
    private func drawMatches(on canvas: inout Canvas) {
        guard let catalog else { return }
        let (start, end, list) = (entryColumns.start, entryColumns.end, layout.list)
        if catalog.count == 0 {
            canvas.put(
                catalog.query.unknownText ?? SearchQuery.noMatch, start + 2, list.lowerBound, limit: end - start - 2,
                style: Style(isDim: true))
        }
        let shown = catalog.top..<min(catalog.count, catalog.top + list.count)
        let matches = shown.map { catalog[$0] }
        let names = matches.map { match in
            match.path.components.isEmpty ? "" : Self.name(of: match.path)
        }
        let width = { (texts: [String], most: Int) in min(texts.map(\.shownColumns).max() ?? 0, most) }
        let domainColumns = domains.isEmpty ? 0 : width(matches.map(\.domain.name), (end - start) / 3)
        let nameStart = start + 1 + (domainColumns == 0 ? 0 : domainColumns + 2)
        let nameColumns = width(names, (end - start) / 3)
        for (row, (match, name)) in zip(list, zip(matches, names)) {
            if domainColumns > 0 {
                canvas.put(match.domain.name, start + 1, row, limit: domainColumns, style: Style(isDim: !name.isEmpty))
            }
            canvas.put(name, nameStart, row, limit: nameColumns)
            let at = nameStart + nameColumns + 2
            let state = match.path.components.isEmpty ? .standard : match.domain.state(of: match.path)
            canvas.put(state.mark, start, row, style: state.style)
            let layer = match.path.components.first.flatMap { match.domain.origins[Name($0.text)] } ?? ""
            let room = max(1, end - at - 1 - (layer.isEmpty ? 0 : layer.shownColumns + 1))
            canvas.put(
                match.value.shownValue(limit: room), at, row, limit: room, style: Style(isBold: state == .set))
            canvas.put(layer, end - 1 - layer.shownColumns, row, style: .control)
            if row - list.lowerBound + catalog.top == catalog.selected {
                canvas.select(row, from: start, to: entryColumns.listEnd)
            }
        }
        drawArrows(catalog.top, of: catalog.count, on: &canvas)
    }

    private func draw(
        _ entry: EntryTree.Row, isSelected: Bool, _ row: Int, _ columns: EntryColumns, on canvas: inout Canvas
    ) {
        let (start, end, labelEnd) = (columns.start, columns.end, columns.labelEnd)
        let former = timeline.map { $0.moment.map { .dictionary($0.former) } } ?? former
        // The time line of an entry shows no changes of others.
        let isShown = entry.path.components.starts(with: timeline?.path.components ?? [])
        let isChanged = isShown && former.map { $0[entry.path] != entry.value } ?? false
        let state = timeline == nil ? contents?.state(of: entry.path) ?? .standard : .standard
        canvas.put(isChanged ? "*" : state.mark, start, row, style: isChanged ? .changed : state.style)
        let mark = columns.mark(of: entry)
        if entry.value.isContainer { canvas.put(entry.isOpen ? "▾" : "▸", mark, row, style: .control) }
        canvas.put(
            entry.label.isEmpty ? "\"\"" : entry.label, mark + 2, row, limit: labelEnd - mark - 2)
        if columns.hasTypes {
            canvas.put(entry.value.kind.rawValue, labelEnd + 2, row, limit: 10, style: Style(isDim: true))
        }
        let origin = origin(of: entry)
        let value = columns.value(before: origin)
        if !origin.isEmpty {
            let style = state == .forced ? state.style : .control
            canvas.put(origin, end - 1 - origin.shownColumns, row, style: style)
        }
        if isSelected, case .editing(let editor, .value) = mode {
            return canvas.put(editor, value.column, row, limit: value.room)
        }
        var style = Style(isBold: state == .set, isDim: state != .set && entry.value.isContainer)
        if isChanged, timeline != nil { style = .changed }
        canvas.put(entry.value.shownValue(limit: value.room), value.column, row, limit: value.room, style: style)
        if isChanged, timeline == nil {
            canvas.paint(row, from: start, to: columns.listEnd, Style(.yellow, isBold: true, isReversed: true))
        }
        if isSelected, !isInDomains { canvas.select(row, from: start, to: columns.listEnd) }
    }

    // MARK: Details

    /// The details of the domain that is open.
    private var domainDetails: [Detail] {
        guard let contents else { return [] }
        let count = contents.entries.count
        let own = contents.layer.map { layer in
            let count = contents.entries.keys.count { contents.origins[Name($0)] == nil }
            return ", \(count) of layer \(layer)"
        }
        let conflicts = contents.conflicts.count
        return [
            Detail("domain", contents.name), Detail("keys", "\(count)\(own ?? "")"),
            contents.schema.map { Detail("schema", $0.title ?? "version \($0.version)") },
            conflicts == 0 ? nil : Detail("conflict", "\(conflicts) open", style: .conflict),
        ].compactMap(\.self)
    }

    private func drawDetails(on canvas: inout Canvas) {
        let start = layout.hasBorders ? layout.sideColumns + 2 : 1
        let end = canvas.columns - (layout.hasBorders ? 2 : 1)
        if showsMatches, catalog?.count == 0 { return }
        var lines = timeline.map { [Detail("", $0.title)] + ($0.moment?.changes ?? []) } ?? details
        if isInDomains, timeline == nil, !showsMatches { lines = domainDetails }
        if let refusal { lines.insert(Detail("", refusal, style: .invalid), at: 0) }
        for (row, detail) in zip(layout.details, lines) {
            var column = start
            if !detail.label.isEmpty {
                column = canvas.put(
                    detail.label, start, row, limit: max(0, end - start), style: Style(isDim: true))
                column = max(column + 1, start + 9)
            }
            canvas.put(
                detail.text, column, row, limit: max(0, end - column), style: detail.style)
        }
    }

    var prompt: LineEditor? { if case .prompting(let editor) = mode { editor } else { nil } }

    var keyHints: [String] {
        switch mode {
        case .editing(let editor, let purpose):
            let completes = rule(for: purpose)?.kind?.isPath ?? false
            let keepsSecret = if case .value = purpose { editor.isSecret } else { false }
            return ["Enter accept", "Esc cancel"] + (steps(editor, purpose) ? ["↑↓ step"] : [])
                + (keepsSecret ? ["an empty field keeps the secret"] : [])
                + (completes ? ["Tab complete"] : [])
        case .prompting: return [Prompt.list]
        case .history(let timeline):
            let action = timeline.target == nil ? "Enter open" : "Enter restore"
            return ["← older", "→ newer", action, "Esc back", "↑↓ scroll"]
        case .searching: return ["Enter go there", "Esc back", "↑↓ select"] + SearchQuery.marks
        default:
            var hints = search.isEmpty ? [] : [keymap.hint(.cancel, "show all"), keymap.hint(.nextMatch, "next")]
            if isInDomains {
                if search.isEmpty { hints += ["→ entries", keymap.hint(.search, "search")] }
                return hints
                    + [
                        keymap.hint(.help, "help"), keymap.hint(.add, "add"), keymap.hint(.quit, "quit"),
                        keymap.hint(.history, "history"), keymap.hint(.watch, "watch"),
                    ]
            }
            if let row {
                switch row.value {
                case _ where hasDecision(at: row): hints.append(keymap.hint(.enter, "decide"))
                case .array, .dictionary: hints.append(row.isOpen ? "← close" : "→ open")
                case .boolean: hints.append(keymap.hint(.toggle, "toggle"))
                default: hints.append(keymap.hint(.enter, "edit"))
                }
            }
            return hints
                + [
                    keymap.hint(.add, "add"), keymap.hint(.help, "help"), keymap.hint(.quit, "quit"),
                    keymap.hint(.delete, "delete"), keymap.hint(.undo, "undo"), keymap.hint(.history, "history"),
                    keymap.hint(.copyReading, "copy"), keymap.hint(.details, "details"),
                ]
        }
    }

    // MARK: Overlays

    var help: [(String, String)] { keymap.help(in: .browser) + [("^Z", "suspend")] }

    var overlay: Overlay? {
        switch mode {
        case .choosing(let target, let choices, let index):
            return Overlay(
                Self.name(of: target.path), choices: choices.map { shownText($0, of: target) }, marked: index)
        case .choosingType(let target, let index):
            let title = "Type of \(Self.name(of: target.path))"
            return Overlay(title, choices: Self.kinds.map(\.rawValue), marked: index)
        case .deciding(_, let place, _, let values, let index):
            return Overlay(
                "Which value of \(Self.name(of: place))?", choices: values, marked: index,
                "Enter keep   Esc back")
        case .reading(let title, let lines, let scroll):
            let lines = lines.flatMap { $0.isEmpty ? [""] : $0.wrapped(toColumns: max(10, size.columns - 6)) }
            return Overlay(title: title, lines: lines.map { ($0, Style()) }, hint: "Esc back", scroll: scroll)
        case .editing(let editor, let purpose): return field(editor, purpose)
        case .browsing, .searching, .history, .prompting: return nil
        }
    }

    private func field(_ editor: LineEditor, _ purpose: Purpose) -> Overlay? {
        let (title, label): (String, String)
        switch purpose {
        case .value: return nil
        case .newKey(let target):
            let parent = target.path
            (title, label) = ("New entry\(parent.components.isEmpty ? "" : " in \(Self.name(of: parent))")", "key: ")
        case .newValue(let path, _):
            let name = Self.name(of: path)
            (title, label) = (
                path.components.last == .end ? name.prefix(1).uppercased() + name.dropFirst() : "New entry \(name)",
                "value: "
            )
        case .rename: (title, label) = ("Rename", "key: ")
        case .copy: (title, label) = ("Copy", "key: ")
        case .newDomain: (title, label) = ("New domain", "name: ")
        }
        let kind = typedKind.map { "   type \($0.rawValue)" } ?? ""
        return Overlay(
            title: title, lines: [("", Style())], hint: "Enter accept   Esc cancel" + kind,
            problem: message?.text ?? refusal, showing: 0, field: (editor, label))
    }
}
