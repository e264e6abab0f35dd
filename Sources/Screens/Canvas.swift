internal import SettingsSchema

/// The appearance of a cell: one of the terminal's first eight colors, and attributes.
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

/// The cells of a screen.
package struct Canvas: Sendable {
    /// One column of a row. It holds no reference, so that a screen of cells is compared in microseconds.
    private struct Cell: Equatable, Sendable {
        /// A Unicode scalar, or a number from `firstCluster` on for a text in `clusters`. The second column of a wide
        /// character has `rest`.
        var code: UInt32
        var style = Style()

        static let rest: UInt32 = 0
        static let firstCluster: UInt32 = 0x11_0000
        static let blank = Cell(code: 0x20)

        /// Whether the cell may be an emoji. False for letters of East Asian scripts.
        var isEmoji: Bool { 0x2300..<0x2E80 ~= code || 0x1F000..<0x20000 ~= code || code >= Self.firstCluster }
    }

    package let columns: Int
    package let rows: Int
    private var cells: [Cell]
    /// The characters that consist of several scalars.
    private var clusters: [String] = []
    /// The position of the cursor; nil hides it.
    package var cursor: (column: Int, row: Int)?

    /// The largest screen that is drawn; the rest of a larger one stays empty.
    package static let maximumColumns = 1000, maximumRows = 500

    package init(columns: Int, rows: Int) {
        self.columns = min(max(columns, 1), Self.maximumColumns)
        self.rows = min(max(rows, 1), Self.maximumRows)
        cells = Array(repeating: .blank, count: self.columns * self.rows)
    }

    /// Writes text, cut with `…` at `limit` columns, and returns the column after it.
    @discardableResult
    package mutating func put(
        _ text: String, _ column: Int, _ row: Int, limit: Int = .max, style: Style = Style()
    ) -> Int {
        let end = min(columns, limit < columns - column ? column + limit : columns)
        guard row >= 0, row < rows, column >= 0, column < end else { return column }
        var at = column
        if text.isNarrow, text.unicodeScalars.count <= end - column {
            for scalar in text.unicodeScalars {
                set(at, row, scalar.value, style)
                at += 1
            }
            return at
        }
        var previous = column
        for character in text {
            let (shown, width) = character.cells
            if width == 0 { continue }
            guard at + width <= end else {
                let place = at < end ? at : previous
                set(place, row, 0x2026, style)
                for empty in (place + 1)..<max(place + 1, end) { set(empty, row, 0x20, style) }
                return end
            }
            set(at, row, code(of: shown), style, isWide: width == 2)
            previous = at
            at += width
        }
        return at
    }

    /// Changes the style of part of a row, but not its text.
    package mutating func paint(_ row: Int, from column: Int, to end: Int, _ style: Style) {
        guard row >= 0, row < rows else { return }
        for place in max(0, column)..<max(max(0, column), min(end, columns)) {
            cells[row * columns + place].style = style
        }
    }

    private mutating func set(_ column: Int, _ row: Int, _ code: UInt32, _ style: Style, isWide: Bool = false) {
        let index = row * columns + column
        // Overwriting half of a wide character also clears the other half.
        if cells[index].code == Cell.rest { cells[index - 1].code = Cell.blank.code }
        let after = isWide ? column + 2 : column + 1
        if after < columns, cells[index - column + after].code == Cell.rest {
            cells[index - column + after].code = Cell.blank.code
        }
        cells[index] = Cell(code: code, style: style)
        if isWide { cells[index + 1] = Cell(code: Cell.rest, style: style) }
    }

    private mutating func code(of text: String) -> UInt32 {
        let scalars = text.unicodeScalars
        if let first = scalars.first, scalars.index(after: scalars.startIndex) == scalars.endIndex {
            return first.value
        }
        clusters.append(text)
        return Cell.firstCluster + UInt32(clusters.count - 1)
    }

    private func text(_ cell: Cell) -> String {
        if cell.code >= Cell.firstCluster { return clusters[Int(cell.code - Cell.firstCluster)] }
        return cell.code == Cell.rest ? "" : Unicode.Scalar(cell.code).map { String($0) } ?? ""
    }

    /// The text and the style of a cell. The second column of a wide character has no text.
    package subscript(_ column: Int, _ row: Int) -> (text: String, style: Style) {
        let cell = cells[row * columns + column]
        return (text(cell), cell.style)
    }

    /// The rows as text, without spaces at their ends.
    package var lines: [String] {
        (0..<rows).map { row in
            var line = cells[(row * columns)..<((row + 1) * columns)].map(text).joined()
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// Returns the text to write to a terminal that shows another canvas, or anything if that is nil.
    package func update(from shown: Canvas?, hasColors: Bool) -> String {
        let base = shown.flatMap { $0.columns == columns && $0.rows == rows ? $0 : nil }
        var text = ""
        var style: Style?
        // A code stands for the same text in both.
        let hasSameCodes = base?.clusters == clusters
        for row in 0..<rows {
            let places = (row * columns)..<((row + 1) * columns)
            if hasSameCodes, let base, base.cells[places] == cells[places] { continue }
            // The column of the cursor, if it is known.
            var at: Int?
            for column in 0..<columns where !isShown(column, row, by: base) {
                let cell = cells[row * columns + column]
                if cell.code == Cell.rest { continue }
                if at != column { text += "\u{1B}[\(row + 1);\(column + 1)H" }
                if style != cell.style {
                    text += cell.style.sequence(hasColors: hasColors)
                    style = cell.style
                }
                // Terminals differ in the width of emoji. A narrow one must not leave an old character beside it.
                if cell.isEmoji, isWide(column, row) { text += "  \u{1B}[\(row + 1);\(column + 1)H" }
                text += self.text(cell)
                // Terminals differ in the width of characters beyond ASCII.
                at = cell.code < 0x80 ? column + 1 : nil
            }
        }
        if style != nil { text += "\u{1B}[0m" }
        let start = base == nil ? "\u{1B}[?25l\u{1B}[0m\u{1B}[2J" : "\u{1B}[?25l"
        guard let cursor else { return text.isEmpty && base != nil && base?.cursor == nil ? "" : start + text }
        if text.isEmpty, let shown = base?.cursor, shown == cursor { return "" }
        return start + text + "\u{1B}[\(cursor.row + 1);\(cursor.column + 1)H\u{1B}[?25h"
    }

    /// Returns whether a terminal that shows another canvas, or nothing if that is nil, shows a cell already.
    private func isShown(_ column: Int, _ row: Int, by base: Canvas?) -> Bool {
        let index = row * columns + column
        let cell = cells[index]
        guard let base else { return cell == .blank }
        if cell.code < Cell.firstCluster {
            guard base.cells[index] == cell else { return false }
        } else {
            guard base.cells[index].style == cell.style, base.text(base.cells[index]) == text(cell) else {
                return false
            }
        }
        // Both columns of a wide character are drawn together.
        return !isWide(column, row) || base.cells[index + 1] == cells[index + 1]
    }

    private func isWide(_ column: Int, _ row: Int) -> Bool {
        column + 1 < columns && cells[row * columns + column + 1].code == Cell.rest
    }
}

extension Character {
    /// The text of a cell for this character, and its number of columns. Control characters, and those that change the
    /// direction of text, are shown as a symbol.
    var cells: (text: String, width: Int) {
        let scalars = unicodeScalars
        guard let first = scalars.first else { return ("", 0) }
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
    /// Whether every scalar is a character of one column: printable ASCII, or a line of a box. Most texts on a screen
    /// are, and finding the characters of others takes ten times as long.
    fileprivate var isNarrow: Bool {
        utf8.allSatisfy { 0x20...0x7E ~= $0 }
            || unicodeScalars.allSatisfy { 0x20...0x7E ~= $0.value || 0x2500...0x257F ~= $0.value }
    }

    /// The number of columns in which a canvas shows the text.
    package var shownColumns: Int { isNarrow ? unicodeScalars.count : reduce(0) { $0 + $1.cells.width } }
}
