/// The replacements in a text that change its value to another.
struct EditPlan {
    /// A part of the edited text.
    enum Piece {
        case old(Range<Int>)
        case new([UInt8])
    }

    var style: TextStyle
    private let layout: SourceLayout
    private let options: PropertyList.ReadingOptions
    private var replacements: [(range: Range<Int>, text: [UInt8])] = []
    /// The containers and values that differ and are not replaced yet.
    private var pending: [Change] = []

    private struct Change {
        let position: Int
        let old: PropertyList
        let new: PropertyList
        let path: [EntryPath.Component]
    }

    /// The change to an entry of a container.
    private enum EntryChange: Equatable {
        case kept, removed
        case renamed(String)
    }

    /// A new entry after the entry at an index, or after the opening bracket if the index is −1.
    private struct Insertion {
        var index: Int
        let key: String?
        let value: PropertyList
    }

    init(_ layout: SourceLayout, _ style: TextStyle, _ options: PropertyList.ReadingOptions) {
        (self.layout, self.style, self.options) = (layout, style, options)
    }

    private var text: [UInt8] { layout.text }

    /// Plans the edit.
    mutating func edit(from old: PropertyList, to new: PropertyList) throws(EncodingFailure) {
        guard !layout.map.entries.isEmpty else { return try editEmptyText(to: new) }
        pending = [Change(position: 0, old: old, new: new, path: [])]
        while let change = pending.popLast() {
            guard change.old != change.new else { continue }
            switch (change.old, change.new) {
            case (.dictionary(let old), .dictionary(let new)):
                if let kind = style.mistakenKind(of: new) {
                    throw EncodingFailure(.looksLike(kind), path: EntryPath(change.path), format: style.format)
                }
                try edit(dictionary: change, from: old, to: new)
            case (.array(let old), .array(let new)): try edit(array: change, from: old, to: new)
            default: try replace(change)
            }
        }
    }

    /// The parts of the edited text.
    func pieces() -> [Piece] {
        // At the same offset, insertions precede removals and keep their order.
        let order = replacements.indices.sorted { a, b in
            let (x, y) = (replacements[a].range, replacements[b].range)
            if x.lowerBound != y.lowerBound { return x.lowerBound < y.lowerBound }
            if x.isEmpty != y.isEmpty { return x.isEmpty }
            return a < b
        }
        var pieces: [Piece] = []
        var copied = 0
        for index in order {
            let (range, text) = replacements[index]
            // Removals may overlap.
            if range.lowerBound > copied { pieces.append(.old(copied..<range.lowerBound)) }
            if !text.isEmpty { pieces.append(.new(text)) }
            copied = max(copied, range.upperBound)
        }
        if copied < text.count { pieces.append(.old(copied..<text.count)) }
        return pieces
    }

    private mutating func replace(_ range: Range<Int>, with text: [UInt8]) {
        replacements.append((range, text))
    }
}

// MARK: Dictionaries and arrays

extension EditPlan {
    private func key(_ position: Int) -> String { layout.map.entries[position].component?.text ?? "" }

    private mutating func edit(
        dictionary change: Change, from old: PropertyList.Dictionary, to new: PropertyList.Dictionary
    ) throws(EncodingFailure) {
        let children = layout.children[change.position]
        // Of a duplicate key the last entry is used.
        var positions: [EntryPath.Component: Int] = [:]
        for (index, child) in children.enumerated() { positions[EntryPath.Component(key(child))] = index }
        let isPlain = positions.count == old.count && old.keys.allSatisfy { positions[EntryPath.Component($0)] != nil }
        guard isPlain, !isWrapping(old), !isWrapping(new) else { return try replace(change) }

        var renames: [EntryPath.Component: String] = [:]
        var added: [PropertyList.Dictionary.Entry] = []
        let removed = old.filter { new[$0.key] == nil }
        var removedByValue = Dictionary(grouping: removed.reversed(), by: \.value)
        for entry in new where old[entry.key] == nil {
            if let former = removedByValue[entry.value]?.popLast() {
                renames[EntryPath.Component(former.key)] = entry.key
            } else {
                added.append(entry)
            }
        }
        var entryChanges: [EntryChange] = []
        for (index, child) in children.enumerated() {
            let key = EntryPath.Component(key(child))
            guard let value = new[key.text] else {
                let name = positions[key] == index ? renames[key] : nil
                entryChanges.append(name.map { .renamed($0) } ?? .removed)
                continue
            }
            entryChanges.append(.kept)
            if positions[key] == index, let former = old[key.text], former != value {
                pending.append(Change(position: child, old: former, new: value, path: change.path + [key]))
            }
        }
        try arrange(change, entryChanges, insertions(of: added, into: children.map(key)))
    }

    /// Whether the dictionary is, or could be mistaken for, the wrapping of another value in JSON.
    private func isWrapping(_ dictionary: PropertyList.Dictionary) -> Bool {
        options.unwrapsJSON && style.format == .json && dictionary.count <= 1
            && dictionary.first?.key.utf8.first == UInt8(ascii: "$")
    }

    /// Returns the insertions of new entries, in sorted order if the existing keys are sorted, otherwise at the end.
    private func insertions(of added: [PropertyList.Dictionary.Entry], into keys: [String]) -> [Insertion] {
        guard !added.isEmpty else { return [] }
        func areSorted(_ isBefore: (String, String) -> Bool) -> Bool {
            zip(keys, keys.dropFirst()).allSatisfy { !isBefore($1, $0) }
        }
        func sorted(_ isBefore: (String, String) -> Bool) -> [Insertion] {
            added.sorted { isBefore($0.key, $1.key) }.map { entry in
                var (low, high) = (0, keys.count)
                while low < high {
                    let middle = (low + high) / 2
                    if isBefore(entry.key, keys[middle]) { high = middle } else { low = middle + 1 }
                }
                return Insertion(index: low - 1, key: entry.key, value: entry.value)
            }
        }
        let orders: [(String, String) -> Bool] = [
            { $0.isBefore($1) }, { $0.lowercased().isBefore($1.lowercased()) },
        ]
        for order in orders where areSorted(order) { return sorted(order) }
        return added.map { Insertion(index: keys.count - 1, key: $0.key, value: $0.value) }
    }

    private mutating func edit(
        array change: Change, from old: [PropertyList], to new: [PropertyList]
    ) throws(EncodingFailure) {
        let children = layout.children[change.position]
        guard children.count == old.count else { return try replace(change) }
        var entryChanges = [EntryChange](repeating: .kept, count: old.count)
        var insertions: [Insertion] = []
        for (range, replaced) in Self.differences(from: old, to: new) {
            let common = min(range.count, replaced.count)
            for step in 0..<common {
                let index = range.lowerBound + step
                pending.append(
                    Change(
                        position: children[index], old: old[index], new: new[replaced.lowerBound + step],
                        path: change.path + [EntryPath.Component(replaced.lowerBound + step)]))
            }
            for index in range.dropFirst(common) { entryChanges[index] = .removed }
            for index in replaced.dropFirst(common) {
                insertions.append(Insertion(index: range.lowerBound + common - 1, key: nil, value: new[index]))
            }
        }
        try arrange(change, entryChanges, insertions)
    }

    /// The limit of element comparisons in the search for the common elements of two arrays.
    private static let mostComparisons = 1 << 20

    /// Returns the ranges of elements that differ, each with its replacement.
    private static func differences(
        from old: [PropertyList], to new: [PropertyList]
    ) -> [(Range<Int>, Range<Int>)] {
        let head = zip(old, new).prefix { $0 == $1 }.count
        let rest = min(old.count, new.count) - head
        let tail = zip(old.reversed(), new.reversed()).prefix(rest).prefix { $0 == $1 }.count
        let (before, after) = (head..<old.count - tail, head..<new.count - tail)
        guard before.count != after.count, !before.isEmpty, !after.isEmpty,
            before.count <= mostComparisons / after.count
        else { return [(before, after)] }
        // The longest common subsequence. Equal elements have the same number, so that only numbers are compared.
        var numbers: [PropertyList: Int] = [:]
        func number(_ value: PropertyList) -> Int {
            if let known = numbers[value] { return known }
            numbers[value] = numbers.count
            return numbers.count - 1
        }
        let (a, b) = (before.map { number(old[$0]) }, after.map { number(new[$0]) })
        let width = b.count + 1
        var lengths = [Int32](repeating: 0, count: (a.count + 1) * width)
        for i in a.indices.reversed() {
            for j in b.indices.reversed() {
                lengths[i * width + j] =
                    a[i] == b[j]
                    ? lengths[(i + 1) * width + j + 1] + 1
                    : max(lengths[(i + 1) * width + j], lengths[i * width + j + 1])
            }
        }
        var result: [(Range<Int>, Range<Int>)] = []
        var (i, j, k, l) = (0, 0, 0, 0)
        func close() {
            if i > k || j > l { result.append((head + k..<head + i, head + l..<head + j)) }
        }
        while i < a.count, j < b.count {
            if a[i] == b[j] {
                close()
                (i, j) = (i + 1, j + 1)
                (k, l) = (i, j)
            } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
                i += 1
            } else {
                j += 1
            }
        }
        (i, j) = (a.count, b.count)
        close()
        return result
    }
}

// MARK: Entries

extension EditPlan {
    /// Removes, renames and adds entries of a container.
    private mutating func arrange(_ change: Change, _ entryChanges: [EntryChange], _ added: [Insertion])
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
                let range = removal(index, of: container, isAtEnd: index > lastKept ?? -1)
                // If no entry remains, new entries are added here and need the line break before them.
                let start = lastKept == nil ? child(index).lineStart ?? range.lowerBound : range.lowerBound
                replace(max(start, range.lowerBound)..<range.upperBound, with: [])
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
                if kept.separator == nil { replace(kept.end..<kept.end, with: [UInt8(ascii: ",")]) }
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

    /// The bytes to remove with an entry.
    ///
    /// - Parameter isAtEnd: Whether no entry of the container remains after it.
    private func removal(_ index: Int, of container: Int, isAtEnd: Bool) -> Range<Int> {
        let child = layout.child(index, of: container)
        if let start = child.lineStart, let end = layout.endOfLine(after: child.end) {
            if let newline = layout.newline(at: end) { return start..<newline.upperBound }
            return (child.gap.newline?.lowerBound ?? start)..<end
        }
        if isAtEnd, index > 0, child.gap.isBlank { return child.gapStart..<child.end }
        if index + 1 < layout.children[container].count {
            let next = layout.child(index + 1, of: container)
            if next.gap.isBlank { return child.start..<next.start }
        }
        return child.start..<child.end + text[child.end...].prefix { $0 == 0x20 || $0 == 0x09 }.count
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
        let isOnLines = sibling.gap.newline != nil || (layout.isStringsFile && container == 0 && count == 1)
        let newline = sibling.gap.newline.map { Array(text[$0]) } ?? style.newline
        let indent = sibling.gap.indent.map { Array(text[$0]) } ?? []
        var entries: [[UInt8]] = []
        for (step, insertion) in insertions.enumerated() {
            var entry = try self.entry(insertion, like: sibling, change, indent: isOnLines ? indent : nil)
            let isLast = step == insertions.count - 1
            if let mark = layout.separator(inDictionary: insertion.key != nil), !(isLast && isOpenEnded) {
                entry.append(mark)
            }
            entries.append(entry)
        }
        let (place, isAtFront): (Int, Bool)
        if index >= 0 {
            place = isOnLines ? layout.endOfLine(after: child(index).end) ?? child(index).end : child(index).end
            isAtFront = false
        } else if isOnLines, !(layout.isStringsFile && container == 0) {
            let open = layout.interior(of: container).lowerBound
            place = layout.endOfLine(after: open) ?? open
            isAtFront = false
        } else {
            let first = child(0)
            place = (isOnLines ? first.lineStart : nil) ?? first.start
            isAtFront = true
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
    private func entry(
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
        return text + (try FragmentWriter.text(of: insertion.value, style, indent: indent, at: path))
    }

    /// The text between a key and its value.
    private func between(like sibling: SourceMap.Entry?, _ indent: [UInt8]?) -> [UInt8] {
        if let sibling, let key = sibling.key, !sibling.value.isEmpty {
            let between = text[key.upperBound..<sibling.value.lowerBound]
            let mark: UInt8? = layout.format == .xml ? nil : UInt8(ascii: layout.isOpenStep ? "=" : ":")
            let isPlain = between.allSatisfy { $0 == mark || $0 == 0x20 || (0x09...0x0D).contains($0) }
            // An entry on one line needs its key and its value on that line.
            if isPlain, indent != nil || !between.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
                return Array(between)
            }
        }
        switch layout.format {
        case .xml: return indent.map { style.newline + $0 } ?? []
        case .json: return style.colon
        default: return Array(" = ".utf8)
        }
    }

    private func keyText(_ key: String, _ path: [EntryPath.Component]) throws(EncodingFailure) -> [UInt8] {
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
    private func quotes(of range: Range<Int>) -> TextStyle.Quotes? {
        // Without quotes, the comment that follows would become part of the word.
        if layout.isOpenStep, range.upperBound < text.count, text[range.upperBound] == UInt8(ascii: "/") {
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
    private mutating func fill(_ change: Change, _ added: [Insertion]) throws(EncodingFailure) {
        let entry = layout.map.entries[change.position]
        let interior = layout.interior(of: change.position)
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
            inside += try self.entry(insertion, like: nil, change, indent: indent)
            if let mark = layout.separator(inDictionary: inDictionary), !isLast || mark == UInt8(ascii: ";") {
                inside.append(mark)
                if line.isEmpty, !isLast { inside += style.space }
            }
        }
        if !line.isEmpty { inside += line + outer }
        if layout.format == .xml, interior.isEmpty, interior.lowerBound == entry.value.upperBound {
            // `<dict/>`
            let name = inDictionary ? "dict" : "array"
            var tag = Array(text[entry.value].dropLast(2))
            while let last = tag.last, isXMLSpace(last) { tag.removeLast() }
            return replace(entry.value, with: tag + Array(">".utf8) + inside + Array("</\(name)>".utf8))
        }
        replace((comments.map { $0 + 1 } ?? interior.lowerBound)..<interior.upperBound, with: inside)
    }

    /// Whether an entry begins a line, so that its contents may have lines of their own.
    private func isOnLines(_ position: Int) -> Bool {
        let entry = layout.map.entries[position]
        guard let container = entry.container else { return true }
        let siblings = layout.children[container]
        // The positions are ascending.
        var (low, high) = (0, siblings.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if siblings[middle] < position { low = middle + 1 } else { high = middle }
        }
        let child = layout.child(low, of: container)
        return child.gap.newline != nil || (container == 0 && layout.isStringsFile)
    }

    /// Removes all entries of a container.
    private mutating func empty(_ container: Int) {
        let entry = layout.map.entries[container]
        let count = layout.children[container].count
        let interior = layout.interior(of: container)
        let children = (0..<count).map { layout.child($0, of: container) }
        let end = children[count - 1].end
        let isBlank = children.allSatisfy(\.gap.isBlank) && layout.gap(end..<interior.upperBound).isBlank
        let removals = (0..<count).map { removal($0, of: container, isAtEnd: true) }
        let isStringsFile = layout.isStringsFile && container == 0
        func leavesText() -> Bool {
            var end = interior.lowerBound
            for removal in removals + [interior.upperBound..<interior.upperBound] {
                if text[end..<max(end, removal.lowerBound)].contains(where: { $0 > 0x20 }) { return true }
                end = max(end, removal.upperBound)
            }
            return false
        }
        guard isBlank || isStringsFile && !leavesText() else {
            for removal in removals { replace(removal, with: []) }
            if isStringsFile, layout.format == .gnustep {
                // GNUstep cannot read a file that contains only comments.
                let end = Array("{".utf8) + style.newline + Array("}".utf8) + style.newline
                replace(text.count..<text.count, with: style.newline + end)
            }
            return
        }
        let isOnLines = children.contains { $0.gap.newline != nil }
        if isStringsFile {
            // An empty file cannot be read.
            replace(interior, with: Array("{".utf8) + style.newline + Array("}".utf8) + style.newline)
        } else if layout.format == .xml {
            let tag = text[entry.value.lowerBound..<interior.lowerBound].dropLast()
            replace(entry.value, with: Array(tag) + Array("/>".utf8))
        } else {
            let line = style.newline + layout.indent(ofLineAt: entry.value.lowerBound)
            replace(interior, with: layout.isOpenStep && isOnLines ? line : [])
        }
    }

    /// Adds the first entries to a text with only comments, which is an empty dictionary in OpenStep.
    private mutating func editEmptyText(to new: PropertyList) throws(EncodingFailure) {
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

// MARK: Values

extension EditPlan {
    /// Replaces a value as a whole.
    private mutating func replace(_ change: Change) throws(EncodingFailure) {
        let entry = layout.map.entries[change.position]
        let range = entry.value
        guard !range.isEmpty else {
            // The entry is `key;`, whose value is its key. The value now needs a text of its own.
            let value = try FragmentWriter.text(of: change.new, style, indent: nil, at: change.path)
            return replace((entry.key?.upperBound ?? range.lowerBound)..<range.lowerBound, with: " = ".utf8 + value)
        }
        var style = style
        if layout.format != .xml { style.stringQuotes = quotes(of: range) ?? style.stringQuotes }
        let hasLines = text[range].contains { $0 == 0x0A || $0 == 0x0D }
        let isOnLines = change.old.isContainer && hasLines || isOnLines(change.position)
        var indent: [UInt8]? = isOnLines ? layout.indent(ofLineAt: range.lowerBound) : nil
        if case .data = change.old, case .data = change.new, !hasLines { indent = nil }
        if change.path.isEmpty, layout.isOpenStep, case .string = change.new {
            // The root must not look like JSON.
            style.stringQuotes = .double
        }
        let value = try FragmentWriter.text(of: change.new, style, indent: indent, at: change.path)
        guard layout.format == .xml, let interior = layout.interior(ofElement: range),
            let element = layout.element(at: range.lowerBound), ![.true, .false, .dict, .array].contains(element),
            value.starts(with: "<\(element.rawValue)>".utf8)
        else { return replace(range, with: value) }
        // The tags are kept.
        let length = element.rawValue.utf8.count
        replace(
            interior, with: section(change.new, interior) ?? Array(value[(length + 2)..<(value.count - length - 3)]))
    }

    /// Returns a string as a CDATA section if the former value is one, or nil.
    private func section(_ value: PropertyList, _ range: Range<Int>) -> [UInt8]? {
        guard case .string(let string) = value, text[range].starts(with: "<![CDATA[".utf8),
            text[range].suffix(3).elementsEqual("]]>".utf8), !string.utf8.contains(0), !string.utf8.contains(0x0D),
            string.unicodeScalars.allSatisfy(\.isASCII), !string.contains("]]>")
        else { return nil }
        return Array("<![CDATA[\(string)]]>".utf8)
    }
}
