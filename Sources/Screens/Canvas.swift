internal import SettingsSchema

/// The appearance of a cell: one of the terminal's first eight colors, and attributes.
package struct Style: Hashable, Sendable {
    package enum Color: UInt8, Hashable, Sendable { case red = 1, green, yellow, blue, magenta, cyan }

    /// The color in the lowest three bits, then the attributes.
    fileprivate let bits: UInt8

    fileprivate init(bits: UInt8) { self.bits = bits }

    package init(_ color: Color? = nil, isBold: Bool = false, isDim: Bool = false, isReversed: Bool = false) {
        bits = (color?.rawValue ?? 0) | (isBold ? 8 : 0) | (isDim ? 16 : 0) | (isReversed ? 32 : 0)
    }

    package var color: Color? { Color(rawValue: bits & 7) }
    package var isBold: Bool { bits & 8 != 0 }
    package var isDim: Bool { bits & 16 != 0 }
    package var isReversed: Bool { bits & 32 != 0 }
}

/// The cells of a screen.
package struct Canvas: Sendable {
    /// One column of a row: the code in the lowest 24 bits, then the style.
    ///
    /// It is one word without a reference, so that a screen of cells is compared in a microsecond.
    private struct Cell: Equatable, Sendable {
        private var bits: UInt32

        init(code: UInt32, style: Style = Style()) { bits = code | UInt32(style.bits) << 24 }

        /// A Unicode scalar, or a number from `firstCluster` on for a text in `clusters`. The second column of a wide
        /// character has `rest`.
        var code: UInt32 {
            get { bits & 0xFF_FFFF }
            set { bits = bits & ~0xFF_FFFF | newValue }
        }

        var style: Style {
            get { Style(bits: UInt8(bits >> 24)) }
            set { self = Cell(code: code, style: newValue) }
        }

        static let rest: UInt32 = 0
        static let firstCluster: UInt32 = 0x11_0000
        static let blank = Cell(code: 0x20)
        static let ellipsis: UInt32 = 0x2026

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
        guard row >= 0, row < rows, column >= 0, column < end, !text.isEmpty else { return column }
        let start = row * columns
        clearWide(over: start + column)
        let after =
            putNarrow(text, start + column, to: start + end, style)
            ?? putCharacters(of: text, start + column, to: start + end, style)
        // The rest of a wide character whose first column was overwritten.
        if after < start + columns, cells[after].code == Cell.rest { cells[after].code = Cell.blank.code }
        return after - start
    }

    /// Writes a text to the cells from `first` to `end`, and returns the index after it; nil if it contains a scalar
    /// that is not narrow. Most texts do not, and finding the characters of others takes ten times as long.
    private mutating func putNarrow(_ text: String, _ first: Int, to end: Int, _ style: Style) -> Int? {
        var at = first
        // A span, because the array would check for each cell whether it is shared.
        var cells = cells.mutableSpan
        for scalar in text.unicodeScalars {
            guard scalar.isNarrow else { return nil }
            if at == end {
                cells[end - 1].code = Cell.ellipsis
                break
            }
            cells[at] = Cell(code: scalar.value, style: style)
            at += 1
        }
        return at
    }

    private mutating func putCharacters(of text: String, _ first: Int, to end: Int, _ style: Style) -> Int {
        var (at, previous) = (first, first)
        for character in text {
            let (shown, width) = character.cells
            guard at + width <= end else {
                let place = at < end ? at : previous
                cells[place] = Cell(code: Cell.ellipsis, style: style)
                for empty in (place + 1)..<end { cells[empty] = Cell(code: Cell.blank.code, style: style) }
                return end
            }
            cells[at] = Cell(code: code(of: shown), style: style)
            if width == 2 { cells[at + 1] = Cell(code: Cell.rest, style: style) }
            previous = at
            at += width
        }
        return at
    }

    /// Fills part of a row with a character of one column.
    package mutating func fill(
        _ row: Int, from column: Int, to end: Int, with scalar: Unicode.Scalar = " ", style: Style = Style()
    ) {
        let (column, end) = (max(0, column), min(end, columns))
        guard row >= 0, row < rows, column < end else { return }
        clearWide(over: row * columns + column)
        if end < columns { clearWide(over: row * columns + end) }
        for place in column..<end { cells[row * columns + place] = Cell(code: scalar.value, style: style) }
    }

    /// Clears the wide character whose second half is in a cell.
    private mutating func clearWide(over index: Int) {
        guard cells[index].code == Cell.rest else { return }
        (cells[index - 1].code, cells[index].code) = (Cell.blank.code, Cell.blank.code)
    }

    /// Changes the style of part of a row, but not its text.
    package mutating func paint(_ row: Int, from column: Int, to end: Int, _ style: Style) {
        guard row >= 0, row < rows else { return }
        for place in max(0, column)..<max(max(0, column), min(end, columns)) {
            cells[row * columns + place].style = style
        }
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

    /// Returns the text that changes a terminal from another canvas to this one. If `shown` is nil, the contents of the
    /// terminal are unknown, and the text clears them first.
    package func update(from shown: Canvas?, hasColors: Bool) -> String {
        let isKnown = shown?.columns == columns && shown?.rows == rows
        let base = isKnown ? shown ?? self : Canvas(columns: columns, rows: rows)
        var output: [UInt8] = []
        var style: Style?
        for row in 0..<rows {
            // The column of the cursor, if it is known.
            var at: Int?
            for column in columnsToDraw(row, over: base) where !isShown(column, row, by: base) {
                let cell = cells[row * columns + column]
                if cell.code == Cell.rest { continue }
                if at != column { output.appendMove(to: column, row) }
                if style != cell.style {
                    output.append(cell.style, hasColors: hasColors)
                    style = cell.style
                }
                if cell.code < 0x80 {
                    output.append(UInt8(cell.code))
                    at = column + 1
                    continue
                }
                // Terminals differ in the width of emoji. A narrow one must not leave an old character beside it.
                if cell.isEmoji, isWide(column, row) {
                    output += "  ".utf8
                    output.appendMove(to: column, row)
                }
                output += self.text(cell).utf8
                // Terminals differ in the width of characters beyond ASCII.
                at = nil
            }
        }
        if style != nil { output += "\u{1B}[0m".utf8 }
        let text = String(decoding: output, as: UTF8.self)
        let start = isKnown ? "\u{1B}[?25l" : "\u{1B}[?25l\u{1B}[0m\u{1B}[2J"
        guard let cursor else { return text.isEmpty && isKnown && base.cursor == nil ? "" : start + text }
        if text.isEmpty, let shown = base.cursor, shown == cursor { return "" }
        return start + text + "\u{1B}[\(cursor.row + 1);\(cursor.column + 1)H\u{1B}[?25h"
    }

    /// The columns of a row from the first to the last one that may differ from another canvas.
    private func columnsToDraw(_ row: Int, over base: Canvas) -> Range<Int> {
        // A code denotes the same text in both canvases only if they have the same clusters.
        guard clusters.isEmpty && base.clusters.isEmpty || clusters == base.clusters else { return 0..<columns }
        let (new, old) = (cells.span, base.cells.span)
        var (first, last) = (row * columns, (row + 1) * columns)
        while first < last, new[first] == old[first] { first += 1 }
        while first < last, new[last - 1] == old[last - 1] { last -= 1 }
        if first == last { return 0..<0 }
        // Both columns of a wide character are drawn together.
        return max(0, first - row * columns - 1)..<(last - row * columns)
    }

    /// Returns whether a terminal that shows another canvas shows a cell already.
    private func isShown(_ column: Int, _ row: Int, by base: Canvas) -> Bool {
        let index = row * columns + column
        let cell = cells[index]
        if cell.code < Cell.firstCluster {
            guard base.cells[index] == cell else { return false }
        } else {
            guard base.cells[index].style == cell.style, base.text(base.cells[index]) == text(cell) else {
                return false
            }
        }
        return !isWide(column, row) || base.cells[index + 1] == cells[index + 1]
    }

    private func isWide(_ column: Int, _ row: Int) -> Bool {
        column + 1 < columns && cells[row * columns + column + 1].code == Cell.rest
    }
}

// Sequences that control the terminal.
extension [UInt8] {
    /// Appends the sequence that moves the cursor.
    fileprivate mutating func appendMove(to column: Int, _ row: Int) {
        self += "\u{1B}[".utf8
        append(number: row + 1)
        append(UInt8(ascii: ";"))
        append(number: column + 1)
        append(UInt8(ascii: "H"))
    }

    /// Appends the sequence that selects a style.
    fileprivate mutating func append(_ style: Style, hasColors: Bool) {
        self += "\u{1B}[0".utf8
        if style.isBold { self += ";1".utf8 }
        if style.isDim { self += ";2".utf8 }
        if style.isReversed { self += ";7".utf8 }
        if hasColors, let color = style.color { self += [UInt8(ascii: ";"), UInt8(ascii: "3"), 0x30 + color.rawValue] }
        append(UInt8(ascii: "m"))
    }

    private mutating func append(number: Int) {
        if number > 9 { append(number: number / 10) }
        append(0x30 + UInt8(number % 10))
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
    /// The number of columns in which a canvas shows the text.
    package var shownColumns: Int {
        var columns = 0
        for scalar in unicodeScalars {
            guard scalar.isNarrow else { return reduce(0) { $0 + $1.cells.width } }
            columns += 1
        }
        return columns
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is shown in one column, and is a character of its own unless one follows that is not narrow.
    /// True for printable ASCII, Latin letters, punctuation, arrows, and the lines and shapes of boxes.
    fileprivate var isNarrow: Bool {
        switch value {
        case 0x20...0x7E, 0xA1...0xAC, 0xAE...0x2FF, 0x2010...0x2027, 0x2190...0x21FF, 0x2500...0x25FC: true
        default: false
        }
    }
}
