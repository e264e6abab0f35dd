internal import SettingsSchema

/// How a cell looks: one of the terminal's first eight colors, and attributes.
package struct Style: Hashable, Sendable {
    package enum Color: Int, Hashable, Sendable { case red = 31, green, yellow, blue, magenta, cyan }

    package var color: Color?
    package var isBold = false
    package var isDim = false
    package var isReversed = false

    package init(_ color: Color? = nil, isBold: Bool = false, isDim: Bool = false, isReversed: Bool = false) {
        (self.color, self.isBold, self.isDim, self.isReversed) = (color, isBold, isDim, isReversed)
    }

    /// The sequence that selects this style.
    func sequence(hasColors: Bool) -> String {
        var codes = "0"
        if isBold { codes += ";1" }
        if isDim { codes += ";2" }
        if isReversed { codes += ";7" }
        if hasColors, let color { codes += ";\(color.rawValue)" }
        return "\u{1B}[\(codes)m"
    }
}

/// The cells of a screen, as they are to be shown.
package struct Canvas: Sendable {
    /// One column of a row. The second column of a wide character is empty.
    package struct Cell: Hashable, Sendable {
        package var text: String
        package var style: Style
    }

    package let columns: Int
    package let rows: Int
    package private(set) var cells: [Cell]
    /// Where the cursor is shown; nil hides it.
    package var cursor: (column: Int, row: Int)?

    /// The largest screen that is drawn; the rest of a larger one stays empty.
    package static let maximumColumns = 1000, maximumRows = 500

    package init(columns: Int, rows: Int) {
        self.columns = min(max(columns, 1), Self.maximumColumns)
        self.rows = min(max(rows, 1), Self.maximumRows)
        cells = Array(repeating: Cell(text: " ", style: Style()), count: self.columns * self.rows)
    }

    /// Writes text, cut with `…` at `limit` columns, and returns the column after it.
    @discardableResult
    package mutating func put(
        _ text: String, _ column: Int, _ row: Int, limit: Int = .max, style: Style = Style()
    ) -> Int {
        let end = min(columns, limit < columns - column ? column + limit : columns)
        guard row >= 0, row < rows, column >= 0, column < end else { return column }
        var at = column
        var previous = column
        for character in text {
            let (shown, width) = character.cells
            if width == 0 { continue }
            guard at + width <= end else {
                let place = at < end ? at : previous
                set(place, row, "…", style)
                for empty in (place + 1)..<max(place + 1, end) { set(empty, row, " ", style) }
                return end
            }
            set(at, row, shown, style)
            if width == 2 { set(at + 1, row, "", style) }
            previous = at
            at += width
        }
        return at
    }

    /// Gives part of a row a style, and keeps its text.
    package mutating func paint(_ row: Int, from column: Int, to end: Int, _ style: Style) {
        guard row >= 0, row < rows else { return }
        for place in max(0, column)..<max(max(0, column), min(end, columns)) {
            cells[row * columns + place].style = style
        }
    }

    private mutating func set(_ column: Int, _ row: Int, _ text: String, _ style: Style) {
        let index = row * columns + column
        // Half of a wide character cannot stay.
        if cells[index].text.isEmpty, !text.isEmpty, column > 0, cells[index - 1].text.cellWidth == 2 {
            cells[index - 1].text = " "
        }
        cells[index] = Cell(text: text, style: style)
        if column + 1 < columns, cells[index + 1].text.isEmpty, text.cellWidth != 2 { cells[index + 1].text = " " }
    }

    /// The rows as text, without spaces at their ends.
    package var lines: [String] {
        (0..<rows).map { row in
            var line = cells[(row * columns)..<((row + 1) * columns)].map(\.text).joined()
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// Returns what to write to a terminal that shows another canvas, or anything if that is nil.
    package func update(from shown: Canvas?, hasColors: Bool) -> String {
        var text = "\u{1B}[?25l"
        let base = shown.flatMap { $0.columns == columns && $0.rows == rows ? $0 : nil }
        if base == nil { text += "\u{1B}[0m\u{1B}[2J" }
        var style: Style?
        for row in 0..<rows {
            // The column where the cursor is, if it is known.
            var at: Int?
            for column in 0..<columns {
                let index = row * columns + column
                let cell = cells[index]
                if cell.text.isEmpty { continue }
                if let base {
                    let isSame =
                        base.cells[index] == cell
                        && (cell.text.cellWidth < 2 || base.cells[index + 1] == cells[index + 1])
                    if isSame { continue }
                } else if cell.text == " ", cell.style == Style() {
                    continue
                }
                if at != column { text += "\u{1B}[\(row + 1);\(column + 1)H" }
                if style != cell.style {
                    text += cell.style.sequence(hasColors: hasColors)
                    style = cell.style
                }
                text += cell.text
                // Terminals differ in the width of what is not ASCII.
                at = cell.text.utf8.count == 1 ? column + 1 : nil
            }
        }
        if style != nil { text += "\u{1B}[0m" }
        if let cursor { text += "\u{1B}[\(cursor.row + 1);\(cursor.column + 1)H\u{1B}[?25h" }
        return text
    }
}

extension Character {
    /// What a cell shows for this character, and in how many columns. Control characters, and those that change the
    /// direction of text, are shown as a symbol.
    var cells: (text: String, width: Int) {
        guard let first = unicodeScalars.first else { return ("", 0) }
        switch first.properties.generalCategory {
        case .control:
            let symbol = first.value < 0x20 ? Unicode.Scalar(0x2400 + first.value) : Unicode.Scalar(0x2421)
            return (symbol.map { String($0) } ?? "?", 1)
        case .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: return ("\u{FFFD}", 1)
        case .nonspacingMark, .enclosingMark: return ("\u{25CC}" + String(self), 1)
        default: return (String(self), max(1, String(self).columns))
        }
    }
}

extension String {
    /// The number of columns of a cell's text: 0, 1 or 2.
    fileprivate var cellWidth: Int { utf8.count == 1 ? 1 : first?.cells.width ?? 0 }

    /// The number of columns in which a canvas shows the text.
    package var shownColumns: Int { reduce(0) { $0 + $1.cells.width } }
}
