/// Where the parts of a screen are: a pane on the left, a list, and an explanation of what is selected in it.
struct PaneLayout: Sendable {
    /// The columns of the pane on the left; 0 if it is not shown.
    let sideColumns: Int
    /// The rows of the list.
    let list: Range<Int>
    /// The rows of the explanation.
    let details: Range<Int>
    let hasBorders: Bool
    /// The rows of the pane on the left, or of the list if it takes its place.
    var sideHeight: Int { sideColumns > 0 ? details.upperBound - list.lowerBound : list.count }

    /// Creates the layout of a screen.
    ///
    /// - Parameter side: The columns of the widest text in the pane on the left; nil without one.
    init(columns: Int, rows: Int, side: Int?, detailRows: Int) {
        hasBorders = columns >= 60 && rows >= 14
        sideColumns = hasBorders ? side.map { min(max($0, 6) + 6, columns / 3) } ?? 0 : 0
        let start = hasBorders ? 2 : 1
        let end = max(start + 1, rows - 1 - detailRows - (hasBorders ? 2 : 0))
        list = start..<end
        let first = end + (hasBorders ? 1 : 0)
        details = first..<max(first, min(rows - 1, first + detailRows))
    }

    func drawBorders(side title: String, on canvas: inout Canvas) {
        guard hasBorders else { return }
        let (last, split) = (canvas.columns - 1, sideColumns)
        let dim = Style(isDim: true)
        let (top, middle, bottom) = (list.lowerBound - 1, list.upperBound, details.upperBound)
        for (row, left, join, right) in [(top, "┌", "┬", "┐"), (middle, "├", "├", "┤"), (bottom, "└", "┴", "┘")] {
            let isMiddle = row == middle && split > 0
            let start = isMiddle ? split : 0
            canvas.put(String(repeating: "─", count: last - start), start, row, style: dim)
            canvas.put(isMiddle ? "│" : left, 0, row, style: dim)
            if split > 0 { canvas.put(join, split, row, style: dim) }
            canvas.put(right, last, row, style: dim)
        }
        for row in (top + 1)..<bottom where row != middle {
            canvas.put("│", 0, row, style: dim)
            if split > 0 { canvas.put("│", split, row, style: dim) }
            canvas.put("│", last, row, style: dim)
        }
        if split > 0 { canvas.put(" \(title) ", 2, top, limit: split - 2) }
    }
}

extension Canvas {
    /// Draws the field of a search at the end of the first row.
    mutating func drawSearch(_ editor: LineEditor) {
        let width = min(30, columns / 2)
        let start = columns - width
        put(String(repeating: " ", count: width), start, 0)
        put("/", start, 0, style: Style(.cyan))
        let (text, cursor) = editor.shown(in: width - 3)
        put(text, start + 1, 0)
        self.cursor = (start + 1 + cursor, 0)
    }

    /// Draws what the last key led to in the last row.
    mutating func drawMessage(_ text: String, isError: Bool) {
        put(text, 1, rows - 1, limit: columns - 2, style: Style(isError ? .red : .green))
    }

    /// Draws as many hints on keys in the last row as fit.
    mutating func drawKeys(_ keys: [String]) {
        var column = 1
        for key in keys where column + key.shownColumns < columns {
            column = put(key, column, rows - 1, style: Style(isDim: true)) + 2
        }
    }

    /// Draws lines in a box over the rest, with a hint below them. The line `showing` is scrolled into view, and is
    /// replaced by a field if there is one.
    mutating func drawOverlay(
        _ title: String, _ lines: [(String, Style)], _ hint: String, showing: Int? = nil,
        field: (line: LineEditor, label: String)? = nil, scroll: Int = 0
    ) {
        let widest =
            (lines.map(\.0.shownColumns) + [title.shownColumns + 2, hint.shownColumns, field == nil ? 0 : 40])
            .max() ?? 0
        let width = min(widest + 4, columns)
        let height = min(lines.count + 3, rows)
        let (left, above) = ((columns - width) / 2, (rows - height) / 2)
        let room = max(1, height - 3)
        let start = showing.map { max(0, $0 - room + 1) } ?? min(scroll, max(0, lines.count - room))
        cursor = nil
        for row in above..<(above + height) {
            put("│" + String(repeating: " ", count: max(0, width - 2)) + "│", left, row)
        }
        let bar = String(repeating: "─", count: max(0, width - 2))
        put("┌\(bar)┐", left, above)
        put(" \(title) ", left + 1, above, limit: width - 2, style: Style(isBold: true))
        put("└\(bar)┘", left, above + height - 1)
        put(hint, left + 2, above + height - 2, limit: width - 4, style: Style(.cyan))
        for (offset, line) in lines.dropFirst(start).prefix(room).enumerated() {
            let row = above + 1 + offset
            if let field, start + offset == showing {
                let after = put(field.label, left + 2, row, limit: max(1, width / 2), style: Style(.cyan))
                let (text, cursor) = field.line.shown(in: max(2, left + width - 3 - after))
                put(text, after, row, limit: max(1, left + width - 2 - after))
                self.cursor = (after + cursor, row)
            } else {
                put(line.0, left + 2, row, limit: width - 4, style: line.1)
            }
        }
        if start + room < lines.count { put("↓", left + width - 1, above + height - 3, style: Style(.cyan)) }
        if start > 0 { put("↑", left + width - 1, above + 1, style: Style(.cyan)) }
    }
}
