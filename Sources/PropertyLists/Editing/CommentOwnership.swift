/// The comments that an entry owns. They are removed and moved with it.
///
/// An entry owns the comments on its line, unless another entry follows them there, and the comment lines directly
/// above it at its indentation. Every other comment stays where it is.
struct OwnedComments {
    /// The comments before the entry: on its line, and on the lines above.
    var before: [Range<Int>] = []
    /// The comments after the entry on its line.
    var after: [Range<Int>] = []
    /// The start of the entry or of its first comment on its line.
    var start: Int
    /// The end of the entry with its separator and the comments after it.
    var end: Int
    /// The start of the entry's line, or nil if other text precedes it on the line.
    var lineStart: Int?
    /// The start of the comment lines above the entry that it owns, or nil if it owns none.
    var linesStart: Int?
    /// The place of an entry that is inserted before this one on a line of its own, or nil as for `lineStart`.
    var front: Int?
}

extension SourceLayout {
    /// A comment, or a line break between comments.
    private struct Token {
        let range: Range<Int>
        let isComment: Bool
    }

    /// The comments and line breaks in a range that has no other text than separators.
    private func tokens(in range: Range<Int>) -> [Token] {
        var (tokens, at) = ([Token](), range.lowerBound)
        while at < range.upperBound {
            if let newline = newline(at: at) {
                tokens.append(Token(range: newline, isComment: false))
                at = newline.upperBound
            } else if let end = endOfComment(at: at) {
                tokens.append(Token(range: at..<end, isComment: true))
                at = end
            } else {
                at += 1
            }
        }
        return tokens
    }

    /// The comments of an entry.
    func comments(of index: Int, in container: Int) -> OwnedComments {
        let child = child(index, of: container)
        var owned = OwnedComments(start: child.start, end: child.end)
        takeComments(before: child, index, container, &owned)
        takeComments(after: child, index, container, &owned)
        return owned
    }

    private func takeComments(before child: Child, _ index: Int, _ container: Int, _ owned: inout OwnedComments) {
        var tokens = tokens(in: child.gapStart..<child.start)
        while let comment = tokens.last, comment.isComment {
            owned.before.insert(comment.range, at: 0)
            owned.start = comment.range.lowerBound
            tokens.removeLast()
        }
        guard let line = startOfLine(before: tokens, child) else { return }
        owned.lineStart = line
        let indent = text[line..<owned.start]
        var (start, above, isAfterBlank) = (line, [Range<Int>](), false)
        while !tokens.isEmpty {
            tokens.removeLast()
            let count = tokens.reversed().prefix(while: \.isComment).count
            let rest = Array(tokens.dropLast(count))
            // The rest of the line of the previous entry or of the bracket.
            guard let lineAbove = startOfLine(before: rest, child) else { break }
            let comments = tokens.suffix(count).map(\.range)
            guard let first = comments.first else {
                isAfterBlank = true
                break
            }
            guard text[lineAbove..<first.lowerBound] == indent else { break }
            (start, above, tokens) = (lineAbove, comments + above, rest)
        }
        owned.front = start
        let isFirstOfFile = isStringsFile && container == 0 && index == 0 && !tokens.contains(where: \.isComment)
        if isFirstOfFile {
            owned.front = line
            if above.isEmpty { (owned.before, owned.start) = ([], child.start) }
        } else if !above.isEmpty, !(isAfterBlank && isFollowed(index, in: container)) {
            (owned.before, owned.linesStart) = (above + owned.before, start)
        }
    }

    /// The start of the line that follows the last of the tokens, or nil if the entry or bracket before the gap is on
    /// that line.
    private func startOfLine(before tokens: [Token], _ child: Child) -> Int? {
        if let newline = tokens.last { return newline.range.upperBound }
        return child.gapStart == 0 ? 0 : nil
    }

    /// Whether another entry follows without a blank line or a comment line between them.
    private func isFollowed(_ index: Int, in container: Int) -> Bool {
        guard index + 1 < children[container].count else { return false }
        let next = map.entries[children[container][index + 1]].start
        let gap = map.entries[children[container][index]].value.upperBound..<next
        return tokens(in: gap).count { !$0.isComment } <= 1
    }

    private func takeComments(after child: Child, _ index: Int, _ container: Int, _ owned: inout OwnedComments) {
        if let separator = child.separator {
            let inside = tokens(in: child.entry.value.upperBound..<separator.lowerBound)
            owned.after = inside.prefix(while: \.isComment).map(\.range)
        }
        let isLast = index + 1 == children[container].count
        let end =
            isLast
            ? interior(of: container).upperBound : map.entries[children[container][index + 1]].start
        let rest = tokens(in: child.end..<max(child.end, end))
        let comments = rest.prefix(while: \.isComment).map(\.range)
        // A comment that another entry follows on its line is that entry's.
        guard let last = comments.last, isLast || comments.count < rest.count else { return }
        owned.after += comments
        owned.end = last.upperBound
    }

    /// The bytes to remove with an entry and its comments.
    ///
    /// - Parameters:
    ///   - isAtEnd: Whether no entry of the container remains after it.
    ///   - keepsLine: Whether new entries are inserted before it on lines of their own.
    func removals(
        of index: Int, in container: Int, isAtEnd: Bool, keepsLine: Bool = false
    ) -> [Range<Int>] {
        let (child, owned) = (child(index, of: container), comments(of: index, in: container))
        var lines: [Range<Int>] = []
        if let start = owned.linesStart, let line = owned.lineStart { lines = [start..<line] }
        if let separator = child.separator, let end = endOfComments(of: child, owned, before: separator) {
            return lines + [owned.start..<end, separator.lowerBound..<owned.end]
        }
        let rest = text[owned.end...].prefix { isSpace($0) }.endIndex
        let endsLine = rest == text.count || newline(at: rest) != nil
        if let line = owned.lineStart, endsLine {
            let start = owned.linesStart ?? line
            if let newline = newline(at: rest) { return [start..<newline.upperBound] }
            return [(keepsLine ? start : startOfNewline(before: start))..<rest]
        }
        let spaces = text[child.gapStart..<owned.start].reversed().prefix { isSpace($0) }.count
        if isAtEnd, index > 0, gap(child.gapStart..<(owned.linesStart ?? owned.start)).isBlank {
            return [child.gapStart..<owned.end]
        }
        if endsLine || isAtEnd { return lines + [owned.start - spaces..<owned.end] }
        return lines + [owned.start..<rest]
    }

    /// The end of an entry's comments before its separator if comments on other lines follow them there, or nil.
    private func endOfComments(of child: Child, _ owned: OwnedComments, before separator: Range<Int>) -> Int? {
        let value = child.entry.value.upperBound
        let inside = owned.after.filter { $0.upperBound <= separator.lowerBound }
        let comments = tokens(in: value..<separator.lowerBound).count(where: \.isComment)
        return comments > inside.count ? inside.last?.upperBound ?? value : nil
    }

    /// The start of the line break that ends at `offset`, or `offset` if none does.
    private func startOfNewline(before offset: Int) -> Int {
        for length in [2, 1] where offset >= length && newline(at: offset - length)?.upperBound == offset {
            return offset - length
        }
        return offset
    }
}

// MARK: Writing beside comments

extension SourceLayout {
    /// The place of a new separator after an entry: after a comment that ends before the end of the line, so that the
    /// comment stays with the entry.
    func placeOfSeparator(of index: Int, in container: Int) -> Int {
        let (child, owned) = (child(index, of: container), comments(of: index, in: container))
        return endOfLine(after: child.end) == nil ? owned.end : child.end
    }

    /// Whether a comment of the entry extends to the end of the line, or no separator can follow it.
    func endsWithComment(_ index: Int, in container: Int) -> Bool {
        guard let last = comments(of: index, in: container).after.last else { return false }
        if syntax.hasTags { return true }
        let separator = child(index, of: container).separator
        return separator.map { last.lowerBound >= $0.upperBound } ?? (blockComment(last) != Array(text[last]))
    }

    /// The text of a comment that can be followed by other text on its line, or nil if it cannot be written so.
    func blockComment(_ range: Range<Int>) -> [UInt8]? {
        if syntax.hasHashComments { return nil }
        guard text[range].starts(with: "//".utf8) else { return Array(text[range]) }
        let inside = Array(text[range].dropFirst(2))
        let hasEnd = zip(inside, inside.dropFirst()).contains { $0 == UInt8(ascii: "*") && $1 == UInt8(ascii: "/") }
        return hasEnd ? nil : Array("/*".utf8) + inside + Array(" */".utf8)
    }

    /// The text of the value at a position for another place, or nil if it cannot be written there as it is.
    ///
    /// - Parameter indent: The indentation of the new line, or nil if the value must be on one line.
    func text(ofMoved position: Int, indent: [UInt8]?) -> [UInt8]? {
        let range = map.entries[position].value
        // The range of a table is that of its header or key.
        let kind = map.sections?.kinds[position]
        guard !range.isEmpty, kind == nil || kind == .inline, !hasLines(position) else { return nil }
        guard text[range].contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return Array(text[range]) }
        guard let indent else { return nil }
        let former = self.indent(ofLineAt: range.lowerBound)
        // Line breaks in strings and data are part of the value, and those in comments stay as they are.
        var fixed = allComments.filter { range.contains($0.lowerBound) }
        for (offset, entry) in map.entries[position...].enumerated() {
            guard entry.start < range.upperBound else { break }
            if offset > 0, let key = entry.key { fixed.append(key) }
            if children[position + offset].isEmpty { fixed.append(entry.value) }
        }
        fixed.sort { $0.lowerBound < $1.lowerBound }
        var (result, at, next) = ([UInt8](), range.lowerBound, 0)
        while at < range.upperBound {
            while next < fixed.count, fixed[next].upperBound <= at { next += 1 }
            if next < fixed.count, fixed[next].contains(at) {
                result += text[at..<fixed[next].upperBound]
                at = fixed[next].upperBound
            } else if let newline = newline(at: at) {
                result += text[newline]
                at = newline.upperBound
                if text[at...].starts(with: former), range.contains(at + former.count) {
                    result += indent
                    at += former.count
                }
            } else {
                result.append(text[at])
                at += 1
            }
        }
        return result
    }
}

// MARK: All comments

extension SourceLayout {
    /// The comments of the text, in order.
    var allComments: [Range<Int>] {
        if let sections = map.sections { return sections.comments }
        var (comments, at) = ([Range<Int>](), 0)
        func take(to end: Int) {
            guard at < end else { return }
            // A processing instruction of XML is treated like a comment, but is none.
            comments += tokens(in: at..<end).filter {
                $0.isComment && text[$0.range.lowerBound + 1] != UInt8(ascii: "?")
            }
            .map(\.range)
        }
        for (position, entry) in map.entries.enumerated() {
            // A strings file's root has no text of its own.
            if position == 0, isStringsFile { continue }
            if let key = entry.key {
                take(to: key.lowerBound)
                at = max(at, key.upperBound)
            }
            take(to: entry.value.lowerBound)
            at = max(at, entry.value.lowerBound)
            let isContainer = !children[position].isEmpty || isEmptyContainer(entry.value)
            at = max(at, isContainer ? interior(of: position).lowerBound : entry.value.upperBound)
        }
        take(to: text.count)
        return comments
    }

    /// Whether a value without entries is a container, and not a scalar.
    private func isEmptyContainer(_ range: Range<Int>) -> Bool {
        guard !range.isEmpty else { return false }
        guard !syntax.hasTags else {
            return element(at: range.lowerBound).map { $0 == .dict || $0 == .array } ?? false
        }
        let close: UInt8
        switch text[range.lowerBound] {
        case UInt8(ascii: "{"): close = UInt8(ascii: "}")
        case UInt8(ascii: "["): close = UInt8(ascii: "]")
        case UInt8(ascii: "("): close = UInt8(ascii: ")")
        default: return false
        }
        let end = skippingBlank(range.lowerBound + 1)
        return end == range.upperBound - 1 && text[end] == close
    }

    /// The text of comments.
    func texts(of comments: some Sequence<Range<Int>>) -> [String] {
        comments.map { String(decoding: text[$0], as: UTF8.self) }
    }
}
