internal import SettingsSchema

/// The cells of a screen.
package struct Canvas: Sendable {
    /// One column of a row: the code in the lowest 24 bits, then the style.
    ///
    /// It is one word without a reference, so that a screen of cells is compared in a microsecond.
    private struct Cell: Equatable, Sendable {
        fileprivate private(set) var bits: UInt32

        init(code: UInt32, style: Style = Style()) { bits = code | UInt32(style.bits) << 24 }

        /// A Unicode scalar, or a number from `firstCluster` on for a text in `clusters`. The columns of a wide
        /// character after its first one have `rest`.
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

        /// Whether some terminals show the character in another number of columns, or join it to its neighbors: signs
        /// of several scalars, emoji, and the letters of scripts that are shaped or written from right to left.
        var isUncertain: Bool {
            switch code {
            case 0..<0x300, 0x370...0x482, 0x48A...0x588, 0x1E00...0x1FFF, 0x2010...0x2027, 0x2190...0x21FF,
                0x2400...0x2426, 0x2500...0x25FC, 0x2E80...0x303E, 0x3041...0x3096, 0x309B...0xA4C6, 0xAC00...0xD7A3,
                0xF900...0xFAFF, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0xFFFD, 0x20000...0x3FFFD:
                false
            default: true
            }
        }
    }

    package let columns: Int
    package let rows: Int
    private var cells: [Cell]
    /// The characters that consist of several scalars.
    private var clusters: [String] = []
    /// Whether a cell may be uncertain. False for most screens, whose rows are then not searched for them.
    private var hasUncertain = false
    /// The position of the cursor; nil hides it.
    package var cursor: (column: Int, row: Int)?

    /// The largest screen that is drawn; the rest of a larger one stays empty.
    package static let maximumColumns = 1000, maximumRows = 500

    package init(columns: Int, rows: Int) {
        self.columns = min(max(columns, 1), Self.maximumColumns)
        self.rows = min(max(rows, 1), Self.maximumRows)
        cells = Array(repeating: .blank, count: self.columns * self.rows)
    }

    /// Empties the canvas, and keeps its memory for the next screen.
    package mutating func clear() {
        (clusters, hasUncertain, cursor) = ([], false, nil)
        var cells = cells.mutableSpan
        for place in cells.indices { cells[place] = .blank }
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
        clearRest(from: after, to: start + columns)
        return after - start
    }

    /// Writes a text to the cells from `first` to `end`, and returns the index after it; nil if it contains a scalar
    /// that is not narrow. Most texts do not, and finding the characters of others takes ten times as long.
    private mutating func putNarrow(_ text: String, _ first: Int, to end: Int, _ style: Style) -> Int? {
        let text = text.utf8Span
        let bytes = text.span
        var (at, next) = (first, 0)
        // A span, because the array would check for each cell whether it is shared.
        var cells = cells.mutableSpan
        while next < bytes.count, at < end, bytes[next].isNarrow {
            cells[at] = Cell(code: UInt32(bytes[next]), style: style)
            (at, next) = (at + 1, next + 1)
        }
        if next == bytes.count { return at }
        var scalars = text.makeUnicodeScalarIterator()
        scalars.reset(roundingBackwardsFrom: next)
        while let scalar = scalars.next() {
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
            if cells[at].isUncertain { hasUncertain = true }
            for rest in (at + 1)..<(at + width) { cells[rest] = Cell(code: Cell.rest, style: style) }
            previous = at
            at += width
        }
        return at
    }

    /// Fills a rectangle with a character of one column.
    package mutating func fill(
        _ rows: Range<Int>, _ columns: Range<Int>, with scalar: Unicode.Scalar = " ", style: Style = Style()
    ) {
        let rows = rows.clamped(to: 0..<self.rows)
        let columns = columns.clamped(to: 0..<self.columns)
        guard !columns.isEmpty else { return }
        let cell = Cell(code: scalar.value, style: style)
        for row in rows {
            let start = row * self.columns
            clearWide(over: start + columns.lowerBound)
            if columns.upperBound < self.columns { clearWide(over: start + columns.upperBound) }
            var cells = cells.mutableSpan
            for column in columns { cells[start + column] = cell }
        }
    }

    /// Clears the wide character that began in an earlier cell and extends over this one.
    private mutating func clearWide(over index: Int) {
        guard cells[index].code == Cell.rest else { return }
        var first = index
        while cells[first].code == Cell.rest {
            cells[first].code = Cell.blank.code
            first -= 1
        }
        cells[first].code = Cell.blank.code
        clearRest(from: index + 1, to: (index / columns + 1) * columns)
    }

    /// Clears the rest of a wide character whose first columns were overwritten.
    private mutating func clearRest(from index: Int, to end: Int) {
        var index = index
        while index < end, cells[index].code == Cell.rest {
            cells[index].code = Cell.blank.code
            index += 1
        }
    }

    /// Changes the style of part of a row, but not its text.
    package mutating func paint(_ row: Int, from column: Int, to end: Int, _ style: Style) {
        guard row >= 0, row < rows else { return }
        let start = row * columns + max(0, column)
        let end = max(start, row * columns + min(end, columns))
        var cells = cells.mutableSpan
        for place in start..<end { cells[place].style = style }
    }

    /// Shows a row as selected. The terminal's cursor is in it, unless it is in a field, so that magnifiers, screen
    /// readers and braille displays follow.
    package mutating func select(_ row: Int, from column: Int, to end: Int) {
        paint(row, from: column, to: end, Style(isReversed: true))
        if cursor == nil { cursor = (column, row) }
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

    /// Returns the bytes that change a terminal from another canvas to this one. If `shown` is nil, the contents of the
    /// terminal are unknown, and the bytes clear them first.
    package func update(from shown: Canvas?, colors: Colors) -> [UInt8] {
        let isKnown = shown?.columns == columns && shown?.rows == rows
        let base = isKnown ? shown ?? self : Canvas(columns: columns, rows: rows)
        // A code from `firstCluster` on denotes the same text in both canvases only if they have the same clusters.
        let firstUnknown = clusters == base.clusters ? .max : Cell.firstCluster
        var output: [UInt8] = []
        output.reserveCapacity(4 * columns)
        output += "\u{1B}[?25l".utf8
        if !isKnown { output += "\u{1B}[0m\u{1B}[2J".utf8 }
        let start = output.count
        var style: Style?
        for row in 0..<rows {
            let place = (row * columns)..<((row + 1) * columns)
            let (new, old) = (cells.span.extracting(place), base.cells.span.extracting(place))
            if firstUnknown == .max, Self.areSame(new, old) { continue }
            if hasUncertain || base.hasUncertain, let start = uncertainStart(of: row, from: base) {
                output.appendMove(to: start, row)
                output += "\u{1B}[0m\u{1B}[K".utf8
                style = Style()
                appendCells(of: row, from: start, to: columns, to: &output, &style, colors: colors)
                continue
            }
            // The column after the one drawn last, and whether the terminal's cursor is there.
            var (next, isThere) = (0, false)
            for changed in new.indices where new[changed] != old[changed] || new[changed].code >= firstUnknown {
                // All columns of a wide character are drawn together.
                let column = new[changed].code == Cell.rest ? changed - 1 : changed
                let (cell, former) = (new[column], old[column])
                guard column >= next,
                    cell.code < firstUnknown || cell.style != former.style || text(cell) != base.text(former)
                else { continue }
                if !isThere || column != next { output.appendMove(to: column, row) }
                append(cell, to: &output, &style, colors: colors)
                next = column + 1
                // Some terminals show lines and arrows in two columns.
                isThere = cell.code < 0x80
            }
        }
        if style != nil { output += "\u{1B}[0m".utf8 }
        let isSame = isKnown && output.count == start
        guard let cursor else { return isSame && base.cursor == nil ? [] : output }
        if isSame, let shown = base.cursor, shown == cursor { return [] }
        appendMove(to: cursor, to: &output, colors: colors)
        output += "\u{1B}[?25h".utf8
        return output
    }

    private func append(_ cell: Cell, to output: inout [UInt8], _ style: inout Style?, colors: Colors) {
        if style != cell.style {
            output += cell.style.sequence(in: colors).utf8
            style = cell.style
        }
        if cell.code < 0x80 { output.append(UInt8(cell.code)) } else { output += text(cell).utf8 }
    }

    private static func areSame(_ cells: Span<Cell>, _ others: Span<Cell>) -> Bool {
        // The compiler compares several cells at once, because the loop has no exit.
        var difference: UInt32 = 0
        for index in cells.indices { difference |= cells[index].bits ^ others[index].bits }
        return difference == 0
    }
}

// Uncertain text: the terminal alone knows where each of its characters is, so the cursor is never moved into it. A run
// of such characters is written as a whole, on a row that was cleared up to its end, and the text after it is put where
// it belongs.
extension Canvas {
    /// Returns the column from which a row must be cleared and drawn again, because it has or had uncertain text; nil
    /// if it has none, or is unchanged.
    private func uncertainStart(of row: Int, from base: Canvas) -> Int? {
        let first = row * columns
        let isUncertain = (first..<(first + columns)).contains {
            cells[$0].isUncertain || base.cells[$0].isUncertain
        }
        guard isUncertain,
            var start = (first..<(first + columns)).first(where: { place in
                let (new, old) = (cells[place], base.cells[place])
                if new == old, new.code < Cell.firstCluster { return false }
                return new.style != old.style || text(new) != base.text(old)
            })
        else { return nil }
        while start > first, isJoined(start) || base.isJoined(start) { start -= 1 }
        return start - first
    }

    /// Whether the cell and the one before it belong to one character or to one run.
    private func isJoined(_ index: Int) -> Bool {
        cells[index].code == Cell.rest || isInRun(index) && isInRun(index - 1)
    }

    private func isInRun(_ index: Int) -> Bool {
        var first = index
        while cells[first].code == Cell.rest { first -= 1 }
        return cells[first].isUncertain
    }

    /// Appends the cells of a row, other than blank ones at their end. The terminal's cursor is at the first one.
    private func appendCells(
        of row: Int, from start: Int, to end: Int, to output: inout [UInt8], _ style: inout Style?, colors: Colors
    ) {
        let first = row * columns
        let last = (start..<end).last { cells[first + $0] != .blank } ?? start - 1
        var isThere = true
        for column in start..<(last + 1) {
            let cell = cells[first + column]
            if cell.code == Cell.rest || cell == .blank && !isThere { continue }
            if !isThere { output.appendMove(to: column, row) }
            append(cell, to: &output, &style, colors: colors)
            var next = column + 1
            while next <= last, cells[first + next].code == Cell.rest { next += 1 }
            isThere = cell.code < 0x80 || cell.isUncertain && next <= last && cells[first + next].isUncertain
        }
    }

    /// Appends what moves the terminal's cursor to a column. Where that is after uncertain text, the text is written
    /// again up to there.
    private func appendMove(
        to cursor: (column: Int, row: Int), to output: inout [UInt8], colors: Colors
    ) {
        let first = cursor.row * columns
        var start = cursor.column
        if start > 0, start <= columns, cursor.row < rows, isInRun(first + start - 1) {
            start -= 1
            while start > 0, isJoined(first + start) { start -= 1 }
        }
        output.appendMove(to: start, cursor.row)
        guard start < cursor.column else { return }
        var style: Style?
        appendCells(of: cursor.row, from: start, to: cursor.column, to: &output, &style, colors: colors)
        output += "\u{1B}[0m".utf8
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

    private mutating func append(number: Int) {
        let (tens, ones) = number.quotientAndRemainder(dividingBy: 10)
        if tens > 0 { append(number: tens) }
        append(0x30 + UInt8(ones))
    }
}

extension Character {
    /// The text of a cell for this character, and its number of columns. Control characters, and those that change the
    /// direction of text, are shown as a symbol.
    var cells: (text: String, width: Int) {
        let text = shown
        return (text, max(1, text.columns))
    }

    private var shown: String {
        guard let first = unicodeScalars.first else { return "" }
        switch first.properties.generalCategory {
        case .control:
            let symbol = first.value < 0x20 ? Unicode.Scalar(0x2400 + first.value) : Unicode.Scalar(0x2421)
            return symbol.map { String($0) } ?? "?"
        case .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse:
            // Some of them form one character with the next one.
            return "\u{FFFD}" + String(String.UnicodeScalarView(unicodeScalars.dropFirst())).map(\.shown).joined()
        case .nonspacingMark, .enclosingMark: return "\u{25CC}" + String(self)
        default: return String(self)
        }
    }
}

extension String {
    /// The number of columns in which a canvas shows the text.
    package var shownColumns: Int {
        let bytes = utf8Span.span
        if bytes.indices.allSatisfy({ bytes[$0].isNarrow }) { return bytes.count }
        var columns = 0
        for scalar in unicodeScalars {
            guard scalar.isNarrow else { return reduce(0) { $0 + $1.cells.width } }
            columns += 1
        }
        return columns
    }
}

extension String {
    /// Returns the characters before a column of the text as a canvas shows it.
    package func beginning(toColumns columns: Int) -> String {
        var (width, end) = (0, startIndex)
        while end < endIndex, width < columns {
            width += self[end].cells.width
            end = index(after: end)
        }
        return String(self[..<end])
    }
}

extension UInt8 {
    /// Whether the byte is a scalar of printable ASCII.
    fileprivate var isNarrow: Bool { 0x20...0x7E ~= self }
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
