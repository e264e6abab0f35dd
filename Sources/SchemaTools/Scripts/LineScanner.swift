internal import PropertyLists
internal import SettingsSchema

/// A line of a declaration with the lines that continue it, and the position in them.
struct LineScanner {
    private var scalars: [Unicode.Scalar] = []
    private var position = 0
    /// The lines, each with the position of its first scalar, and the column of that scalar.
    private var lines: [(number: Int, start: Int, column: Int)]

    /// A part in brackets: `<7>`, `[1..9]` or `{env: NAME}`.
    struct Item {
        let kind: Unicode.Scalar
        /// The name before the colon in braces.
        var name = ""
        let value: String
        let location: TextLocation
    }

    init(line: Int, _ text: String) {
        lines = [(line, 0, 1)]
        scalars = Array(text.unicodeScalars.last == "\r" ? text.unicodeScalars.dropLast() : text.unicodeScalars[...])
    }

    /// The rest of a line `# @ text`, which continues the line above; nil for another line.
    var continuation: LineScanner? {
        var text = self
        text.skipSpaces()
        guard text.skip("#") else { return nil }
        text.skipSpaces()
        guard text.skip("@"), let next = text.next, Self.isSpace(next) else { return nil }
        text.skipSpaces()
        return text.isAtEnd ? nil : text
    }

    /// Adds the text after the position of another line, after a space.
    mutating func append(_ other: LineScanner) {
        scalars.append(" ")
        lines.append((other.lines[0].number, scalars.count, other.location.column))
        scalars += other.scalars[other.position...]
    }

    var isAtEnd: Bool { position >= scalars.count }
    var next: Unicode.Scalar? { isAtEnd ? nil : scalars[position] }
    var location: TextLocation { location(of: position) }

    private func location(of position: Int) -> TextLocation {
        let line = lines.last { $0.start <= position } ?? lines[0]
        return TextLocation(line: line.number, column: position - line.start + line.column)
    }

    var rest: String { Self.text(scalars[position...]) }

    private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

    mutating func skipSpaces() { while let next, Self.isSpace(next) { position += 1 } }

    /// Skips the text if it is next, and returns whether it is.
    @discardableResult mutating func skip(_ text: String) -> Bool {
        guard scalars[position...].starts(with: text.unicodeScalars) else { return false }
        position += text.unicodeScalars.count
        return true
    }

    /// Takes the text up to white space or to an end.
    mutating func takeWord(_ isEnd: (Unicode.Scalar) -> Bool = { _ in false }) -> String {
        let start = position
        while let next, !Self.isSpace(next), !isEnd(next) { position += 1 }
        return Self.text(scalars[start..<position])
    }

    /// Takes a word, or a text in quotes, in which a backslash precedes a quote or a backslash. Returns nil if the
    /// closing quote is missing.
    mutating func takeQuoted() -> String? {
        guard let quote = next, quote == "\"" || quote == "'" else { return takeWord() }
        var result = String.UnicodeScalarView()
        position += 1
        while let next, next != quote {
            position += 1
            if next == "\\", let escaped = self.next {
                result.append(escaped)
                position += 1
            } else {
                result.append(next)
            }
        }
        guard next == quote else { return nil }
        position += 1
        return String(result)
    }

    /// Takes the rest of the line without white space at its end.
    mutating func takeRest() -> String {
        let start = position
        position = scalars.count
        var end = scalars.count
        while end > start, Self.isSpace(scalars[end - 1]) { end -= 1 }
        return Self.text(scalars[start..<end])
    }

    /// Takes the items before the title, the title with its location, and the items after it.
    mutating func takeItems() -> (title: String, location: TextLocation, items: [Item]) {
        var items: [Item] = []
        while let next, let item = item(from: position, opening: next) {
            items.append(item.item)
            position = item.end
            skipSpaces()
        }
        var end = scalars.count
        var last: [Item] = []
        while end > position {
            if Self.isSpace(scalars[end - 1]) {
                end -= 1
            } else if scalars[end - 1] == "}" || scalars[end - 1] == "]", let start = opening(before: end),
                let item = item(from: start, opening: scalars[start]), item.end == end
            {
                last.append(item.item)
                end = start
            } else {
                break
            }
        }
        let (title, location) = (Self.text(scalars[position..<end]), self.location)
        position = scalars.count
        return (title, location, items + last.reversed())
    }

    /// Returns the position of the bracket that the one before `end` closes.
    private func opening(before end: Int) -> Int? {
        let (close, open): (Unicode.Scalar, Unicode.Scalar) = scalars[end - 1] == "}" ? ("}", "{") : ("]", "[")
        var depth = 0
        for index in stride(from: end - 1, through: position, by: -1) {
            if scalars[index] == close { depth += 1 }
            if scalars[index] == open { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }

    private func item(from start: Int, opening: Unicode.Scalar) -> (item: Item, end: Int)? {
        guard let close = ["<": ">", "[": "]", "{": "}"][opening] as Unicode.Scalar? else { return nil }
        var depth = 0
        var end = start
        repeat {
            guard end < scalars.count else { return nil }
            if scalars[end] == opening { depth += 1 }
            if scalars[end] == close { depth -= 1 }
            end += 1
        } while depth > 0
        let inner = Self.text(scalars[(start + 1)..<(end - 1)])
        let place = location(of: start)
        switch opening {
        case "[":
            guard inner.contains(".."), !inner.contains(" ") else { return nil }
            return (Item(kind: opening, value: inner, location: place), end)
        case "{":
            let parts = inner.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { $0.trimmed }
            return (Item(kind: opening, name: parts[0], value: parts.count > 1 ? parts[1] : "", location: place), end)
        default: return (Item(kind: opening, value: inner, location: place), end)
        }
    }
}
