/// The lines, separators and comments of the entries that an edit removes, renames and adds.
extension EditPlan {
    /// Removes, renames and adds entries of a container.
    mutating func arrange(_ change: Change, _ entryChanges: [EntryChange], _ added: [Insertion])
        throws(EncodingFailure)
    {
        guard !added.isEmpty || entryChanges.contains(where: { $0 != .kept }) else { return }
        guard !entryChanges.isEmpty else { return try fill(change, added) }
        let container = change.position
        func child(_ index: Int) -> SourceLayout.Child {
            layout.child(index, of: container)
        }
        let last = entryChanges.count - 1
        let lastKept = entryChanges.lastIndex { $0 != .removed }
        if lastKept == nil, added.isEmpty { return empty(container) }

        for (index, entryChange) in entryChanges.enumerated() {
            switch entryChange {
            case .kept: break
            case .removed:
                // If no entry remains, new entries are added here and need the line break before them.
                let ranges = layout.removals(
                    of: index, in: container, isAtEnd: index > lastKept ?? -1, keepsLine: lastKept == nil)
                for range in ranges { replace(range, with: []) }
            case .renamed(let name): try rename(child(index).entry, to: name, change)
            }
        }

        // New entries are inserted after an entry that remains.
        var groups: [(index: Int, insertions: [Insertion])] = []
        var nearest = -1
        let remaining = entryChanges.indices.map { index in
            if entryChanges[index] != .removed { nearest = index }
            return nearest
        }
        for var insertion in added {
            if insertion.index >= 0 { insertion.index = remaining[insertion.index] }
            if groups.last?.index == insertion.index {
                groups[groups.count - 1].insertions.append(insertion)
            } else {
                groups.append((insertion.index, [insertion]))
            }
        }
        let isList = layout.separator(inDictionary: child(last).entry.key != nil) == UInt8(ascii: ",")
        let endsWithSeparator = !isList || child(last).separator != nil
        if isList, !endsWithSeparator, let lastKept {
            let kept = child(lastKept)
            if groups.last?.index == lastKept {
                let place = layout.placeOfSeparator(of: lastKept, in: container)
                if kept.separator == nil { replace(place..<place, with: [UInt8(ascii: ",")]) }
            } else if let separator = kept.separator {
                let before = kept.entry.value.upperBound..<separator.lowerBound
                replace(layout.gap(before).isBlank ? before.lowerBound..<separator.upperBound : separator, with: [])
            }
        }
        for group in groups {
            let isLast = group.index == lastKept ?? -1
            try insert(group.insertions, at: group.index, change, isList && isLast && !endsWithSeparator)
        }
    }

    /// Adds entries after the one at `index`.
    ///
    /// - Parameter isOpenEnded: Whether no separator follows the last of them.
    private mutating func insert(
        _ insertions: [Insertion], at index: Int, _ change: Change, _ isOpenEnded: Bool
    ) throws(EncodingFailure) {
        let (container, count) = (change.position, layout.children[change.position].count)
        func child(_ index: Int) -> SourceLayout.Child {
            layout.child(index, of: container)
        }
        // The existing entry whose line breaks and spaces the new entries copy.
        let sibling = child(index >= 1 ? index : min(1, count - 1))
        var isOnLines = sibling.gap.newline != nil || (layout.isStringsFile && container == 0 && count == 1)
        var newline = sibling.gap.newline.map { Array(text[$0]) } ?? style.newline
        var indent = sibling.gap.indent.map { Array(text[$0]) } ?? []
        let neighbour = layout.comments(of: max(index, 0), in: container)
        let (place, isAtFront): (Int, Bool)
        if index >= 0 {
            if !isOnLines, layout.endsWithComment(index, in: container) {
                // On the line of this comment, another entry would be taken for the one that the comment is about.
                (isOnLines, newline, indent) = (true, style.newline, layout.indent(ofLineAt: child(index).start))
            }
            place = isOnLines ? layout.endOfLine(after: neighbour.end) ?? neighbour.end : neighbour.end
            isAtFront = false
        } else if isOnLines, let front = neighbour.front {
            (place, isAtFront) = (front, true)
        } else if isOnLines, !(layout.isStringsFile && container == 0) {
            let open = layout.interior(of: container).lowerBound
            place = layout.endOfLine(after: open) ?? open
            isAtFront = false
        } else {
            (place, isAtFront) = (neighbour.start, true)
        }
        // A line comment may only be written at the end of a line.
        let mayEndLine = isOnLines && (isAtFront || layout.endOfLine(after: place) != nil)
        var entries: [[UInt8]] = []
        for (step, insertion) in insertions.enumerated() {
            let isLast = step == insertions.count - 1
            let mark = layout.separator(inDictionary: insertion.key != nil)
            entries.append(
                try entry(
                    insertion, like: sibling, change, indent: isOnLines ? indent : nil,
                    mark: isLast && isOpenEnded ? nil : mark, mayEndLine: mayEndLine))
        }
        let space = inlineSpace(sibling)
        var added: [UInt8] = []
        for entry in entries {
            switch (isOnLines, isAtFront) {
            case (true, false): added += newline + indent + entry
            case (true, true): added += indent + entry + newline
            case (false, false): added += space + entry
            case (false, true): added += entry + space
            }
        }
        if !isOnLines, isAtFront, isOpenEnded { added.removeLast(space.count) }
        replace(place..<place, with: added)
    }

    /// The text of a new entry with its separator, and with its comments if it was moved.
    ///
    /// - Parameter mayEndLine: Whether a comment after the entry may extend to the end of the line.
    private mutating func entry(
        _ insertion: Insertion, like sibling: SourceLayout.Child?, _ change: Change, indent: [UInt8]?, mark: UInt8?,
        mayEndLine: Bool
    ) throws(EncodingFailure) -> [UInt8] {
        let text = try entry(insertion, like: sibling, change, indent: indent)
        let separator = mark.map { [$0] } ?? []
        guard let source = insertion.source, let container = layout.map.entries[source].container,
            !layout.hasLines(container), layout.map.sections?.kinds[container] != .dotted,
            let index = layout.index(of: source)
        else { return text + separator }
        let owned = layout.comments(of: index, in: container)
        var (before, after): ([UInt8], [UInt8]) = ([], [])
        for range in owned.before {
            if let indent {
                before += Array(self.text[range]) + style.newline + indent
            } else if let comment = layout.blockComment(range) {
                before += comment + [0x20]
            } else {
                continue
            }
            carry(range)
        }
        for range in owned.after {
            guard let comment = mayEndLine ? Array(self.text[range]) : layout.blockComment(range) else { continue }
            after += [0x20] + comment
            carry(range)
        }
        return before + text + (mayEndLine ? separator + after : after + separator)
    }

    /// The space that separates entries on the line of `sibling`.
    private func inlineSpace(_ sibling: SourceLayout.Child) -> [UInt8] {
        guard sibling.gap.isBlank, sibling.gap.newline == nil,
            sibling.entry.container.map({
                layout.children[$0].count > 1
            }) ?? false
        else { return style.space }
        return Array(text[sibling.gapStart..<sibling.start])
    }

    /// The text of a new entry, without a separator.
    private mutating func entry(
        _ insertion: Insertion, like sibling: SourceLayout.Child?, _ change: Change, indent: [UInt8]?
    ) throws(EncodingFailure) -> [UInt8] {
        var path = change.path
        var text: [UInt8] = []
        if let key = insertion.key {
            path.append(EntryPath.Component(key))
            text = try keyText(key, path) + between(like: sibling?.entry, indent)
        } else {
            path.append(.end)
        }
        if let source = insertion.source, let value = layout.text(ofMoved: source, indent: indent) {
            carry(layout.map.entries[source].value)
            return text + value
        }
        let inner = layout.syntax.hasSections ? nil : indent
        return text + (try FragmentWriter.text(of: insertion.value, style, indent: inner, at: path))
    }

    /// The text between a key and its value.
    private func between(like sibling: SourceMap.Entry?, _ indent: [UInt8]?) -> [UInt8] {
        if let sibling, let key = sibling.key, !sibling.value.isEmpty {
            let between = text[key.upperBound..<sibling.value.lowerBound]
            let isPlain = between.allSatisfy { $0 == layout.syntax.mark || $0 == 0x20 || (0x09...0x0D).contains($0) }
            // An entry on one line needs its key and its value on that line.
            if isPlain, indent != nil || !between.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
                return Array(between)
            }
        }
        return layout.syntax.hasTags ? indent.map { style.newline + $0 } ?? [] : style.between
    }

    func keyText(_ key: String, _ path: [EntryPath.Component]) throws(EncodingFailure) -> [UInt8] {
        do throws(Refusal) {
            return try style.text(ofKey: key)
        } catch {
            throw EncodingFailure(error.problem, path: EntryPath(path), format: style.format)
        }
    }

    private mutating func rename(
        _ entry: SourceMap.Entry, to name: String, _ change: Change
    ) throws(EncodingFailure) {
        guard let key = entry.key else { return }
        let path = change.path + [EntryPath.Component(name)]
        var style = style
        style.keyQuotes = quotes(of: key) ?? style.keyQuotes
        do throws(Refusal) {
            replace(key, with: try style.text(ofKey: name))
        } catch {
            throw EncodingFailure(error.problem, path: EntryPath(path), format: style.format)
        }
        // The entry is `key;`, whose value is its key. The value now needs a text of its own.
        guard entry.value.isEmpty, let former = entry.component else { return }
        let value = try FragmentWriter.text(of: .string(former.text), style, indent: nil, at: path)
        replace(key.upperBound..<key.upperBound, with: " = ".utf8 + value)
    }

    /// The quotes of a key or string to keep in its replacement, or nil if they show no preference.
    func quotes(of range: Range<Int>) -> TextStyle.Quotes? {
        // Without quotes, the comment that follows would become part of the word.
        let hasBareStrings = layout.syntax.bareCharacters != nil
        if hasBareStrings, range.upperBound < text.count, text[range.upperBound] == UInt8(ascii: "/") {
            return .double
        }
        return switch text[range.lowerBound] {
        case UInt8(ascii: "'"): .single
        case UInt8(ascii: "\""): layout.hasOptionalQuotes(range) ? .double : nil
        case UInt8(ascii: "<"), UInt8(ascii: "{"), UInt8(ascii: "("): nil
        default: .whereNeeded
        }
    }
}

// MARK: Containers without entries

extension EditPlan {
    /// Writes the first entries of a container.
    mutating func fill(_ change: Change, _ added: [Insertion]) throws(EncodingFailure) {
        let entry = layout.map.entries[change.position]
        let interior = layout.interior(of: change.position)
        if layout.syntax.hasSections, !text[interior].contains(UInt8(ascii: "#")) {
            return replace(
                entry.value, with: try FragmentWriter.text(of: change.new, style, indent: nil, at: change.path))
        }
        let isOnLines = isOnLines(change.position)
        let comments = text[interior].lastIndex { !layout.isSpace($0) && $0 != 0x0A && $0 != 0x0D }
        let outer = isOnLines || comments != nil ? layout.indent(ofLineAt: entry.value.lowerBound) : []
        let indent: [UInt8]? = isOnLines ? outer + style.unit : nil
        let inDictionary = added[0].key != nil
        var inside: [UInt8] = []
        // A line comment ends with its line, so the entries begin on a new one.
        let line = isOnLines || comments != nil ? style.newline : []
        for (step, insertion) in added.enumerated() {
            let isLast = step == added.count - 1
            inside += line + (indent ?? [])
            let mark = layout.separator(inDictionary: inDictionary).flatMap {
                !isLast || $0 == UInt8(ascii: ";") ? $0 : nil
            }
            inside += try self.entry(
                insertion, like: nil, change, indent: indent, mark: mark, mayEndLine: !line.isEmpty)
            if mark != nil, line.isEmpty, !isLast { inside += style.space }
        }
        if !line.isEmpty { inside += line + outer }
        if layout.syntax.hasTags, interior.isEmpty, interior.lowerBound == entry.value.upperBound {
            // `<dict/>`
            let close = (inDictionary ? layout.syntax.dictionary : layout.syntax.array).close
            var tag = Array(text[entry.value].dropLast(2))
            while let last = tag.last, isXMLSpace(last) { tag.removeLast() }
            return replace(entry.value, with: tag + Array(">".utf8) + inside + Array(close.utf8))
        }
        replace((comments.map { $0 + 1 } ?? interior.lowerBound)..<interior.upperBound, with: inside)
    }

    /// Whether an entry begins a line, so that its contents may have lines of their own.
    func isOnLines(_ position: Int) -> Bool {
        guard let container = layout.map.entries[position].container, let index = layout.index(of: position) else {
            return true
        }
        if layout.hasLines(container) || layout.map.sections?.kinds[container] == .dotted { return false }
        return layout.child(index, of: container).gap.newline != nil || (container == 0 && layout.isStringsFile)
    }

    /// Removes all entries of a container.
    mutating func empty(_ container: Int) {
        let entry = layout.map.entries[container]
        let count = layout.children[container].count
        let interior = layout.interior(of: container)
        let children = (0..<count).map { layout.child($0, of: container) }
        let removals = (0..<count).flatMap { layout.removals(of: $0, in: container, isAtEnd: true) }
        let isStringsFile = layout.isStringsFile && container == 0
        func leavesText() -> Bool {
            var end = interior.lowerBound
            for removal in removals + [interior.upperBound..<interior.upperBound] {
                if text[end..<max(end, removal.lowerBound)].contains(where: { $0 > 0x20 }) { return true }
                end = max(end, removal.upperBound)
            }
            return false
        }
        guard !leavesText() else {
            for removal in removals { replace(removal, with: []) }
            if isStringsFile, layout.format == .gnustep, !acceptsBlank {
                // GNUstep cannot read a file that contains only comments.
                let end = Array("{".utf8) + style.newline + Array("}".utf8) + style.newline
                replace(text.count..<text.count, with: style.newline + end)
            }
            return
        }
        let isOnLines = children.contains { $0.gap.newline != nil }
        if isStringsFile {
            // Only a strings file can be empty.
            let braces = Array("{".utf8) + style.newline + Array("}".utf8) + style.newline
            replace(interior, with: acceptsBlank ? [] : braces)
        } else if layout.syntax.hasTags {
            let tag = text[entry.value.lowerBound..<interior.lowerBound].dropLast()
            replace(entry.value, with: Array(tag) + Array("/>".utf8))
        } else {
            let line = style.newline + layout.indent(ofLineAt: entry.value.lowerBound)
            replace(interior, with: layout.syntax.breaksEmpty && isOnLines ? line : [])
        }
    }

    /// Adds the first entries to a text with only comments, which is an empty dictionary in OpenStep.
    mutating func editEmptyText(to new: PropertyList) throws(EncodingFailure) {
        var added: [UInt8] = []
        if let last = text.last, last != 0x0A, last != 0x0D { added += style.newline }
        guard case .dictionary(let entries) = new else {
            added += try FragmentWriter.text(of: new, style, indent: [], at: [])
            return replace(text.count..<text.count, with: added + style.newline)
        }
        for entry in entries.sortedEntries {
            let path = [EntryPath.Component(entry.key)]
            added += try keyText(entry.key, path) + " = ".utf8
            added += try FragmentWriter.text(of: entry.value, style, indent: [], at: path)
            added += ";".utf8 + style.newline
        }
        replace(text.count..<text.count, with: added)
    }
}
