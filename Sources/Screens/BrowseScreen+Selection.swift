internal import PropertyLists

// Selecting domains and entries: with keys and with the mouse.
extension BrowseScreen {
    mutating func move(_ count: Int) -> [Effect] {
        guard isInDomains else {
            selected = Self.index(selected, movedBy: count, of: tree.count)
            return []
        }
        guard !shownDomains.isEmpty else { return [] }
        let at = current.flatMap { shownDomains.firstIndex(exactly: $0) } ?? 0
        return open(shownDomains[Self.index(at, movedBy: count, of: shownDomains.count)])
    }

    private static func index(_ index: Int, movedBy step: Int, of count: Int) -> Int {
        let (sum, isOver) = index.addingReportingOverflow(step)
        return max(0, min(count - 1, isOver ? (step > 0 ? .max : 0) : sum))
    }

    mutating func closeOrLeave() {
        guard let row else {
            isInDomains = !domains.isEmpty
            return
        }
        if row.isOpen {
            tree.toggle(at: selected)
        } else if row.depth > 0 {
            selected = tree.position(of: EntryPath(row.path.components.dropLast())) ?? selected
        } else {
            isInDomains = !domains.isEmpty
        }
    }

    mutating func openOrEnter() {
        guard let row, row.value.isContainer else { return }
        if !row.isOpen { tree.toggle(at: selected) } else if row.value.entryCount > 0 { selected += 1 }
    }

    func fieldPlace(at row: Int) -> (column: Int, room: Int)? {
        guard case .editing = mode, let entry = self.row, position(at: row) == selected else { return nil }
        return entryColumns.value(before: origin(of: entry))
    }

    /// The position of the entry in a row of the screen.
    func position(at line: Int) -> Int? {
        let list = layout.list
        let position = line - list.lowerBound + top
        return list.contains(line) && position < tree.count ? position : nil
    }

    /// Selects the clicked row. A click on the selected row acts on it, and one on its mark opens or closes a
    /// container.
    mutating func click(_ column: Int, _ line: Int) -> [Effect] {
        let isLeft = layout.sideColumns > 0 ? column < layout.sideColumns : isInDomains
        if isLeft {
            isInDomains = true
            let index = line - layout.list.lowerBound + domainTop
            let isInside = line >= layout.list.lowerBound && line < layout.list.lowerBound + layout.sideHeight
            return isInside && shownDomains.indices.contains(index) ? open(shownDomains[index]) : []
        }
        guard layout.list.contains(line) else { return [] }
        isInDomains = false
        guard let position = position(at: line) else { return [] }
        let clicked = rows[position - top]
        if clicked.value.isContainer, column <= entryColumns.mark(of: clicked) + 1 {
            selected = position
            tree.toggle(at: position)
        } else if position == selected {
            return performOnRow(.enter)
        } else {
            selected = position
        }
        return []
    }

    /// Lays out the screen, scrolls until the selection is visible, and creates the visible rows.
    mutating func settle() {
        let lines = size.rows
        layout = PaneLayout(
            columns: size.columns, rows: lines, side: domains.isEmpty ? nil : widestDomain,
            detailRows: lines >= 40 ? 10 : lines >= 20 ? 5 : lines >= 14 ? 3 : lines >= 9 ? 2 : 1)
        let height = layout.list.count
        selected = max(0, min(selected, tree.count - 1))
        top = max(0, min(max(min(top, selected), selected - height + 1), tree.count - height))
        rows = tree.rows(top..<(top + height))
        row = rows.indices.contains(selected - top) ? rows[selected - top] : nil
        for row in rows { labelColumns = max(labelColumns, row.labelColumns) }
        if isSearching {
            catalog?.scroll(to: height)
            row = catalog?.selectedRow
        }
        let at = current.flatMap { shownDomains.firstIndex(exactly: $0) } ?? 0
        let room = layout.sideHeight
        domainTop = max(0, min(max(min(domainTop, at), at - room + 1), shownDomains.count - room))
    }
}
