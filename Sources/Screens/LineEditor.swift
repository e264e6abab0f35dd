/// A line of text that is edited with a cursor, a kill buffer and a history.
package struct LineEditor: Sendable {
    /// The effect of a key.
    package enum Outcome: Hashable, Sendable {
        case edited
        case accepted
        case canceled
        /// The key has no meaning in a line.
        case ignored
    }

    private var characters: [Character]
    /// The index of the character before which text is inserted.
    package private(set) var cursor: Int
    private var killed: [Character] = []
    private let history: [String]
    /// The index of the recalled line in the history, and the text that it replaced.
    private var recalled: (Int, String)?
    package let isSecret: Bool
    /// The limit of characters in a line.
    package static let maximumCount = 1 << 20

    package init(_ text: String = "", history: [String] = [], isSecret: Bool = false) {
        characters = Array(text)
        cursor = characters.count
        (self.history, self.isSecret) = (history, isSecret)
    }

    package var text: String { String(characters) }

    package mutating func handle(_ press: KeyPress) -> Outcome {
        switch press.key {
        case .enter: return .accepted
        case .escape: return .canceled
        case .paste(let text): insert(text.trimmingLineBreaks)
        case .place(let column, let columns): place(at: column, of: columns)
        case .left: cursor = press.isControl || press.isAlt ? wordStart : max(0, cursor - 1)
        case .right: cursor = press.isControl || press.isAlt ? wordEnd : min(characters.count, cursor + 1)
        case .home: cursor = 0
        case .end: cursor = characters.count
        case .up: recall(-1)
        case .down: recall(1)
        case .backspace: press.isAlt ? kill(wordStart..<cursor) : remove(max(0, cursor - 1)..<cursor)
        case .delete: remove(cursor..<min(characters.count, cursor + 1))
        case .character(let character) where press.isControl: return control(character)
        case .character("b") where press.isAlt: cursor = wordStart
        case .character("f") where press.isAlt: cursor = wordEnd
        case .character("d") where press.isAlt: kill(cursor..<wordEnd)
        case .character(let character) where !press.isAlt: insert(String(character))
        default: return .ignored
        }
        return .edited
    }

    private mutating func control(_ letter: Character) -> Outcome {
        switch letter {
        case "a": cursor = 0
        case "e": cursor = characters.count
        case "b": cursor = max(0, cursor - 1)
        case "f": cursor = min(characters.count, cursor + 1)
        case "d": remove(cursor..<min(characters.count, cursor + 1))
        case "k": kill(cursor..<characters.count)
        case "u": kill(0..<cursor)
        case "w": kill(wordStart..<cursor)
        case "y": insert(String(killed))
        case "p": recall(-1)
        case "n": recall(1)
        case "c", "g": return .canceled
        default: return .ignored
        }
        return .edited
    }

    /// Inserts text at the cursor. A terminal sends each line break of a paste as a carriage return.
    package mutating func insert(_ text: String) {
        let room = Self.maximumCount - characters.count
        let new = String(text.map { $0 == "\r" || $0 == "\r\n" ? "\n" : $0 }.prefix(max(0, room)))
        // A combining character joins the one before it.
        let before = String(characters[..<cursor]) + new
        characters = Array(before) + characters[cursor...]
        cursor = before.count
    }

    /// Adds `step` to a number. Does nothing for other text, or if the result is out of range.
    mutating func step(by step: Int64) {
        guard let number = Int64(text) else { return }
        let (next, isOver) = number.addingReportingOverflow(step)
        if !isOver { self = LineEditor(String(next)) }
    }

    /// Extends a path by the common beginning of all candidates, and returns their names if there are several; nil if
    /// there is none.
    mutating func complete(_ paths: [String]) -> String? {
        guard var common = paths.first else { return nil }
        for path in paths { while !path.hasPrefix(common) { common.removeLast() } }
        if common.count > text.count { self = LineEditor(common) }
        return paths.count > 1
            ? paths.map { $0.split(separator: "/").last.map(String.init) ?? $0 }.joined(separator: "  ") : ""
    }

    private mutating func remove(_ range: Range<Int>) {
        characters.removeSubrange(range)
        cursor = range.lowerBound
    }

    private mutating func kill(_ range: Range<Int>) {
        if !range.isEmpty { killed = Array(characters[range]) }
        remove(range)
    }

    private mutating func recall(_ step: Int) {
        let (index, typed) = recalled ?? (history.count, text)
        let next = index + step
        guard next >= 0, next <= history.count else { return }
        recalled = next == history.count ? nil : (next, typed)
        characters = Array(next == history.count ? typed : history[next])
        cursor = characters.count
    }

    private var wordStart: Int {
        var at = cursor
        while at > 0, !characters[at - 1].isWordPart { at -= 1 }
        while at > 0, characters[at - 1].isWordPart { at -= 1 }
        return at
    }

    private var wordEnd: Int {
        var at = cursor
        while at < characters.count, !characters[at].isWordPart { at += 1 }
        while at < characters.count, characters[at].isWordPart { at += 1 }
        return at
    }

    // MARK: Display

    private var shownCharacters: [Character] {
        isSecret ? Array(repeating: "•", count: characters.count) : characters
    }

    /// Returns the part of the line around the cursor that fits in a number of columns, as the cells of a canvas show
    /// it, and the cursor's column in it.
    package func shown(in columns: Int) -> (text: String, cursor: Int) {
        let (columns, shown) = (max(columns, 2), shownCharacters)
        let (start, width) = shownStart(in: columns)
        var end = cursor
        var total = width
        while end < shown.count, total + shown[end].cells.width <= columns {
            total += shown[end].cells.width
            end += 1
        }
        return (shown[start..<end].map(\.cells.text).joined(), width)
    }

    /// The first character that is shown, and the columns from it to the cursor. If the line does not fit, the cursor
    /// is in the middle, or further right near the end of the line.
    private func shownStart(in columns: Int) -> (start: Int, width: Int) {
        let shown = shownCharacters
        func start(before end: Int, room: Int) -> Int {
            var (start, width) = (end, 0)
            while start > 0, width + shown[start - 1].cells.width <= room {
                start -= 1
                width += shown[start].cells.width
            }
            return start
        }
        // One column is kept for the cursor after the text.
        let start = min(start(before: cursor, room: columns / 2), start(before: shown.count, room: columns - 1))
        return (start, shown[start..<cursor].reduce(0) { $0 + $1.cells.width })
    }

    /// Puts the cursor before the character at a column of the shown text.
    private mutating func place(at column: Int, of columns: Int) {
        let shown = shownCharacters
        var (at, end) = (shownStart(in: max(columns, 2)).start, 0)
        while at < shown.count {
            end += shown[at].cells.width
            if end > column { break }
            at += 1
        }
        cursor = at
    }
}

extension String {
    /// The text without the line breaks at its end, which a copied line has.
    fileprivate var trimmingLineBreaks: String {
        String(self[..<(lastIndex { !$0.isNewline }.map(index(after:)) ?? startIndex)])
    }
}

extension Character {
    fileprivate var isWordPart: Bool { isLetter || isNumber || self == "_" }
}

extension Canvas {
    /// Draws a line that is being edited, in brackets, and puts the cursor into it. The line begins at `column`.
    mutating func put(_ editor: LineEditor, _ column: Int, _ row: Int, limit: Int) {
        put("[", column - 1, row, style: .control)
        let (text, cursor) = editor.shown(in: limit - 1)
        let used = put(text, column, row, limit: limit - 1)
        put("]", max(used, column) + (cursor >= text.shownColumns ? 1 : 0), row, style: .control)
        self.cursor = (column + cursor, row)
    }
}
