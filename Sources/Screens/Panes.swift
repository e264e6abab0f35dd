/// A screen with a header, panes, and key hints in the last row.
protocol PaneScreen: Screen {
    var size: (columns: Int, rows: Int) { get }
    /// The text at the right end of the first row.
    var header: String { get }
    /// The key hints in the last row.
    var keyHints: [String] { get }
    /// The result of the last key, or the reason it had none.
    var message: Message? { get }
    /// The line after a colon, or nil.
    var prompt: LineEditor? { get }
    /// The box that is drawn over the screen, or nil.
    var overlay: Overlay? { get }

    /// Returns the first column of the open field in a row of the screen, and the number of columns for its text; nil
    /// for other rows.
    func fieldPlace(at row: Int) -> (column: Int, room: Int)?
}

/// A key hint, and its first column in the last row.
private struct Hint {
    let column: Int
    let text: String
}

/// The result of a key, or the reason it had none.
struct Message: Hashable, Sendable {
    let text: String
    let isError: Bool

    init(_ text: String, isError: Bool = false) { (self.text, self.isError) = (text, isError) }
}

extension PaneScreen {
    /// The column where the header begins.
    var headerStart: Int { max(0, size.columns - header.shownColumns - 1) }

    /// Translates a click on a key hint into that key, and a click in the field into a position of the cursor. Returns
    /// nil for a click without an effect, and any other press unchanged.
    func meaning(of press: KeyPress) -> KeyPress? {
        guard case .click(let column, let row) = press.key else { return press }
        if let overlay { return overlay.meaning(of: press, columns: size.columns, rows: size.rows) }
        if row == size.rows - 1 {
            let hint = message == nil ? shownHints.last { $0.column <= column } : nil
            return hint.flatMap { KeyPress(hintedAt: column - $0.column, in: $0.text) }
        }
        if row == 0, let key = KeyPress(hintedAt: column - headerStart, in: header) { return key }
        guard let place = fieldPlace(at: row), place.column - 1...place.column + place.room ~= column else {
            return press
        }
        return KeyPress(.place(column: column - place.column, of: place.room - 1))
    }

    /// Returns the line of the box that a click selects.
    func clickedLine(_ press: KeyPress) -> Int? { overlay?.line(of: press, columns: size.columns, rows: size.rows) }

    /// Returns the first line that the box shows after a key that scrolls it; nil for other keys.
    func scrolled(by press: KeyPress) -> Int? {
        guard let overlay else { return nil }
        let frame = overlay.frame(columns: size.columns, rows: size.rows)
        let last = max(0, overlay.lines.count - frame.room)
        let next: Int
        switch press.key {
        case .up, .wheel(-1), .character("k"): next = frame.start - 1
        case .down, .wheel(1), .character("j"): next = frame.start + 1
        case .pageUp: next = frame.start - frame.room
        case .pageDown: next = frame.start + frame.room
        case .home: next = 0
        case .end: next = last
        default: return nil
        }
        return max(0, min(next, last))
    }

    /// Draws the message or the key hints, and then the box, which has hints of its own.
    func drawFooterAndBox(on canvas: inout Canvas) {
        let overlay = overlay
        if let prompt {
            let (text, cursor) = prompt.shown(in: max(2, canvas.columns - 3))
            canvas.put(":" + text, 1, canvas.rows - 1)
            canvas.cursor = (2 + cursor, canvas.rows - 1)
        } else if let message {
            canvas.drawMessage(message.text, isError: message.isError)
        } else if overlay == nil {
            for hint in shownHints { canvas.put(hint.text, hint.column, canvas.rows - 1, style: Style(isDim: true)) }
        }
        if let overlay { canvas.draw(overlay) }
    }

    /// The key hints that fit in the last row.
    private var shownHints: [Hint] {
        var column = 1
        return keyHints.compactMap { text in
            let (start, width) = (column, text.shownColumns)
            guard start + width < size.columns else { return nil }
            column += width + 2
            return Hint(column: start, text: text)
        }
    }
}

/// The layout of a screen: a pane on the left, a list, and details of the selected row.
struct PaneLayout: Sendable {
    /// The columns of the pane on the left; 0 if it is not shown.
    let sideColumns: Int
    /// The rows of the list.
    let list: Range<Int>
    /// The rows of the details.
    let details: Range<Int>
    let hasBorders: Bool
    /// The number of rows of the pane on the left, or of the list if the pane is shown in its place.
    var sideHeight: Int { sideColumns > 0 ? details.upperBound - list.lowerBound : list.count }

    /// Creates the layout of a screen.
    ///
    /// - Parameter side: The width of the widest text in the pane on the left, in columns; nil for no pane.
    init(columns: Int, rows: Int, side: Int?, detailRows: Int) {
        hasBorders = columns >= 60 && rows >= 14
        let wanted = hasBorders ? side.map { min(max($0, 6) + 6, columns / 3) } ?? 0 : 0
        // On a narrow screen, the pane is not shown, so that the list has room for all its columns.
        sideColumns = columns - wanted >= Self.leastListColumns ? wanted : 0
        let start = hasBorders ? 2 : 1
        let end = max(start + 1, rows - 1 - detailRows - (hasBorders ? 2 : 0))
        list = start..<end
        let first = end + (hasBorders ? 1 : 0)
        details = first..<max(first, min(rows - 1, first + detailRows))
    }

    private static let leastListColumns = 50
    /// The columns that the contents of a list use on a wide screen, so that they stay close to each other.
    static let mostContentColumns = 100

    func drawBorders(side title: String, on canvas: inout Canvas) {
        guard hasBorders else { return }
        let (last, split) = (canvas.columns - 1, sideColumns)
        let (top, bottom) = (list.lowerBound - 1, details.upperBound)
        func fill(_ rows: Range<Int>, _ columns: Range<Int>, _ scalar: Unicode.Scalar) {
            canvas.fill(rows, columns, with: scalar, style: Style(isDim: true))
        }
        for column in [0, split, last] { fill(top..<bottom, column..<(column + 1), "│") }
        let lines: [(row: Int, start: Int, left: Unicode.Scalar, join: Unicode.Scalar, right: Unicode.Scalar)] = [
            (top, 0, "┌", "┬", "┐"), (list.upperBound, split, "├", "├", "┤"), (bottom, 0, "└", "┴", "┘"),
        ]
        for line in lines {
            let row = line.row..<(line.row + 1)
            fill(row, line.start..<last, "─")
            fill(row, split..<(split + 1), line.join)
            fill(row, line.start..<(line.start + 1), line.left)
            fill(row, last..<(last + 1), line.right)
        }
        if split > 0 { canvas.put(" \(title) ", 2, top, limit: split - 2) }
    }
}

extension Canvas {
    /// Draws the field of a search at the end of the first row, and before it the number of matches.
    mutating func drawSearch(_ editor: LineEditor, found: Int?) {
        let width = min(30, columns / 2)
        let start = columns - width
        let count = found.map { "\($0) found" } ?? ""
        fill(0..<1, (start - 1 - count.count)..<columns)
        put(count, start - 1 - count.count, 0, style: Style(isDim: true))
        put("/", start, 0, style: .control)
        let (text, cursor) = editor.shown(in: width - 3)
        put(text, start + 1, 0)
        self.cursor = (start + 1 + cursor, 0)
    }

    /// Draws a message in the last row, or in the last three if it is long. The end of a longer one is cut.
    mutating func drawMessage(_ text: String, isError: Bool) {
        var lines = text.wrapped(toColumns: columns - 2)
        let count = min(lines.count, 3, rows)
        if lines.count > count { lines[count - 1] += " …" }
        fill((rows - count)..<rows, 0..<columns)
        for (row, line) in zip((rows - count)..<rows, lines) {
            put(line, 1, row, limit: columns - 2, style: isError ? .invalid : Style())
        }
    }

    mutating func draw(_ overlay: Overlay) {
        let frame = overlay.frame(columns: columns, rows: rows)
        let (left, above, width, height) = (frame.left, frame.above, frame.width, frame.height)
        cursor = nil
        let (right, below) = (left + width - 1, above + height - 1)
        for row in above...below {
            let (start, end, line): (String, String, Unicode.Scalar) =
                row == above ? ("┌", "┐", "─") : row == below ? ("└", "┘", "─") : ("│", "│", " ")
            fill(row..<(row + 1), left..<right, with: line)
            put(start, left, row)
            put(end, right, row)
        }
        put(" \(overlay.title) ", left + 1, above, limit: width - 2, style: Style(isBold: true))
        put(overlay.hint, left + 2, below - 1, limit: width - 4, style: .control)
        if let problem = overlay.problem {
            put(problem, left + 2, below - 2, limit: width - 4, style: .invalid)
        }
        for (offset, line) in overlay.lines.dropFirst(frame.start).prefix(frame.room).enumerated() {
            let row = above + 1 + offset
            if let field = overlay.field, frame.start + offset == overlay.showing {
                put(field.label, left + 2, row, limit: overlay.labelColumns(in: width), style: .control)
                let (after, columns) = overlay.place(left: left, width: width)
                let (text, cursor) = field.line.shown(in: columns)
                put(text, after, row, limit: columns + 1)
                self.cursor = (after + cursor, row)
            } else {
                put(line.0, left + 2, row, limit: width - 4, style: line.1)
                if line.1.isReversed, cursor == nil { cursor = (left + 2, row) }
            }
        }
        let last = above + max(1, frame.room)
        if frame.start + frame.room < overlay.lines.count { put("↓", right, last, style: .control) }
        if frame.start > 0 { put("↑", right, above + 1, style: .control) }
    }
}

/// Lines in a box over a screen, with a hint below them.
struct Overlay: Sendable {
    let title: String
    let lines: [(String, Style)]
    let hint: String
    /// The reason the contents of the box cannot be stored.
    var problem: String?
    /// The line that is scrolled into view.
    var showing: Int?
    /// A field that replaces the line `showing`.
    var field: (line: LineEditor, label: String)?
    var scroll = 0

    /// Returns the lines of an explanation of keys, wrapped to fit a screen of `columns` columns.
    static func lines(_ keys: [(String, String)], columns: Int) -> [String] {
        let start = 1 + (keys.map(\.0.count).max() ?? 0)
        return keys.flatMap { key, text in
            text.wrapped(toColumns: max(10, columns - 6 - start)).enumerated().map { index, line in
                (index == 0 ? key : "") + String(repeating: " ", count: start - (index == 0 ? key.count : 0)) + line
            }
        }
    }

    /// Returns the position of the box on a screen, and the lines that it shows.
    func frame(columns: Int, rows: Int) -> (left: Int, above: Int, width: Int, height: Int, start: Int, room: Int) {
        let texts = lines.map(\.0.shownColumns) + [hint.shownColumns, problem?.shownColumns ?? 0]
        let widest = max(title.shownColumns + 2, texts.max() ?? 0, field == nil ? 0 : 40)
        let width = min(widest + 4, columns)
        let others = problem == nil ? 3 : 4
        // The last row stays empty, so that the box is seen as one.
        let height = min(lines.count + others, rows > 6 ? rows - 1 : rows)
        let room = max(1, height - others)
        let start = showing.map { max(0, $0 - room + 1) } ?? min(scroll, max(0, lines.count - room))
        return ((columns - width) / 2, (rows - height) / 2, width, height, start, room)
    }

    fileprivate func labelColumns(in width: Int) -> Int {
        min(field?.label.shownColumns ?? 0, max(1, width / 2))
    }

    /// The first column of the field's text, and the number of columns for it.
    fileprivate func place(left: Int, width: Int) -> (column: Int, columns: Int) {
        let after = left + 2 + labelColumns(in: width)
        return (after, max(2, left + width - 3 - after))
    }

    /// Returns the line that a click selects.
    func line(of press: KeyPress, columns: Int, rows: Int) -> Int? {
        guard case .click(let column, let row) = press.key else { return nil }
        let frame = frame(columns: columns, rows: rows)
        let offset = row - frame.above - 1
        guard column > frame.left, column < frame.left + frame.width - 1, offset >= 0, offset < frame.room else {
            return nil
        }
        return frame.start + offset < lines.count ? frame.start + offset : nil
    }

    /// Translates a click on a key hint into that key, a click in the field into a position of the cursor, and a click
    /// outside of a box without a field into Escape. Returns a click on a line unchanged, and nil for any other click.
    func meaning(of press: KeyPress, columns: Int, rows: Int) -> KeyPress? {
        guard case .click(let column, let row) = press.key else { return press }
        let frame = frame(columns: columns, rows: rows)
        guard frame.left..<(frame.left + frame.width) ~= column, frame.above..<(frame.above + frame.height) ~= row
        else { return field == nil ? KeyPress(.escape) : nil }
        if row == frame.above + frame.height - 2 { return KeyPress(hintedAt: column - frame.left - 2, in: hint) }
        guard let line = line(of: press, columns: columns, rows: rows) else { return nil }
        guard field != nil else { return press }
        let (start, columns) = place(left: frame.left, width: frame.width)
        return line == showing ? KeyPress(.place(column: column - start, of: columns)) : nil
    }
}

extension Overlay {
    /// Creates a box of choices that shows the one at `index` reversed.
    init(_ title: String, choices: [String], marked index: Int, _ hint: String = "Enter choose   Esc back") {
        let lines = choices.enumerated().map { ($0.element, Style(isReversed: $0.offset == index)) }
        self.init(title: title, lines: lines, hint: hint, showing: index)
    }
}

/// The effect of a key in a box of choices.
enum ListChoice: Hashable, Sendable {
    case marked(Int), chosen(Int), left

    /// - Parameter clicked: The index of the choice that was clicked, or nil.
    init(_ press: KeyPress, _ index: Int, of titles: [String], clicked: Int?) {
        let last = titles.count - 1
        if let letter = press.character, let next = Self.next(letter, after: index, in: titles) {
            self = .marked(next)
            return
        }
        switch press.isControl("c") ? .escape : press.key {
        case .character where press.isControl: self = .marked(index)
        case .up, .wheel(-1), .character("k"), .backTab: self = .marked(max(0, index - 1))
        case .down, .wheel(1), .character("j"), .tab: self = .marked(min(last, index + 1))
        case .home, .pageUp: self = .marked(0)
        case .end, .pageDown: self = .marked(last)
        case .enter, .character(" "): self = .chosen(index)
        case .click: self = clicked.map { .chosen($0) } ?? .marked(index)
        case .escape, .left, .character("q"): self = .left
        default: self = .marked(index)
        }
    }

    /// Returns the next choice that begins with a letter.
    private static func next(_ letter: Character, after index: Int, in titles: [String]) -> Int? {
        let start = String(letter).lowercased()
        return titles.indices.map { ($0 + index + 1) % titles.count }
            .first { titles[$0].lowercased().hasPrefix(start) && letter != " " }
    }
}

extension String {
    /// The text in lines of at most `columns` columns, broken between words. A word that is wider is broken too.
    func wrapped(toColumns columns: Int) -> [String] {
        if isEmpty { return [] }
        var lines: [String] = []
        for word in split(separator: " ", omittingEmptySubsequences: false).map(String.init) {
            let used = lines.last.map { $0.shownColumns + 1 }
            if let used, used + word.shownColumns <= columns {
                lines[lines.count - 1] += " " + word
            } else if word.shownColumns <= columns {
                if lines.isEmpty || !word.isEmpty { lines.append(word) }
            } else {
                var line = ""
                if let used, used < columns { line = lines.removeLast() + " " }
                for character in word {
                    if line.shownColumns + character.cells.width > columns, !line.isEmpty {
                        lines.append(line)
                        line = ""
                    }
                    line.append(character)
                }
                lines.append(line)
            }
        }
        return lines
    }
}
