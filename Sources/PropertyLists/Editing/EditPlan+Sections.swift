/// Edits of a text whose dictionaries are sections with headers.
extension SourceLayout {
    /// Whether the entries of a container are lines of the text, and not between brackets.
    func hasLines(_ position: Int) -> Bool {
        guard let sections = map.sections else { return false }
        switch sections.kinds[position] {
        case .header, .implicit: return true
        case .dotted: return map.entries[position].container.map { hasLines($0) } ?? false
        case .inline: return false
        case nil: return children[position].first.map { sections.kinds[$0] == .header } ?? false
        }
    }

    /// Whether the container is in braces, and some of its keys have several parts.
    func hasDottedKeys(_ position: Int) -> Bool {
        guard let sections = map.sections else { return false }
        return children[position].contains { sections.kinds[$0] == .dotted }
    }

    /// The indices of the lines of an entry and of everything inside it.
    fileprivate func lines(of position: Int) -> [Int] {
        map.sections?.lines(in: position..<endsOfEntries[position]) ?? []
    }

    fileprivate func line(_ index: Int) -> TextSections.Line? {
        guard let lines = map.sections?.lines, lines.indices.contains(index) else { return nil }
        return lines[index]
    }

    private func startOfLine(at offset: Int) -> Int {
        text[..<offset].lastIndex { $0 == 0x0A }.map { $0 + 1 } ?? 0
    }

    /// The start of the line after the one of `offset`, or the end of the text.
    fileprivate func startOfNextLine(after offset: Int) -> Int {
        text[offset...].firstIndex { $0 == 0x0A }.map { $0 + 1 } ?? text.count
    }

    /// The text of the line that begins at `start`, without white space around it.
    private func content(ofLineAt start: Int) -> ArraySlice<UInt8> {
        text[start...].prefix { $0 != 0x0A && $0 != 0x0D }.drop { $0 <= 0x20 }
    }

    /// The start of a line, or of the comment lines directly above it, which belong to it.
    ///
    /// The comments at the beginning of the file are those of the file. Comments above several entries without blank
    /// lines between them are those of the group.
    fileprivate func start(ofLine index: Int) -> Int {
        guard let line = line(index) else { return text.count }
        let start = startOfLine(at: line.range.lowerBound)
        var first = start
        while first > 0 {
            let above = startOfLine(at: first - 1)
            let comment = content(ofLineAt: above)
            guard comment.first == UInt8(ascii: "#"),
                text[above..<comment.startIndex] == text[start..<line.range.lowerBound]
            else { break }
            first = above
        }
        guard first > 0 else { return start }
        let isAfterBlank = content(ofLineAt: startOfLine(at: first - 1)).isEmpty
        let next = startOfNextLine(after: line.range.upperBound)
        let isFollowed = self.line(index + 1).map { $0.kind == .entry && startOfLine(at: $0.range.lowerBound) == next }
        return line.kind == .entry && isAfterBlank && isFollowed ?? false ? start : first
    }

    /// The start of the line after a line of the text.
    fileprivate func end(ofLine index: Int) -> Int {
        line(index).map { startOfNextLine(after: $0.range.upperBound) } ?? 0
    }

    /// The end of the section that contains a line, before the next header and its comments.
    fileprivate func endOfSection(of index: Int) -> Int {
        guard let lines = map.sections?.lines else { return text.count }
        let next = lines[(index + 1)...].firstIndex { $0.kind != .entry }
        return next.map { start(ofLine: $0) } ?? text.count
    }

    /// The bytes to remove with a line. A header takes the blank lines above it along.
    fileprivate func removal(ofLine index: Int) -> Range<Int> {
        guard let line = line(index) else { return 0..<0 }
        var start = start(ofLine: index)
        let end = end(ofLine: index)
        guard line.kind != .entry else { return start..<end }
        while start > 0 {
            let above = startOfLine(at: start - 1)
            guard content(ofLineAt: above).isEmpty else { break }
            start = above
        }
        return start..<end
    }

    /// The end of the blank lines at the start of a line.
    fileprivate func endOfBlankLines(at start: Int) -> Int {
        var end = start
        while end < text.count, content(ofLineAt: end).isEmpty { end = startOfNextLine(after: end) }
        return end
    }

    /// The indices of the lines whose keys name the entry.
    fileprivate func keyLines(of position: Int) -> [Int] {
        lines(of: position).filter { index in
            line(index).map { $0.kind == .entry && $0.path.contains(position) } ?? false
        }
    }

    /// The local dates and times in the value of an entry, which are strings that look like their text.
    func localTexts(in position: Int) -> Set<Name> {
        guard map.sections != nil else { return [] }
        return Set(
            (position..<endsOfEntries[position]).lazy.compactMap { inner -> Name? in
                let range = map.entries[inner].value
                guard children[inner].isEmpty, !range.isEmpty, text[range.lowerBound] &- 0x30 <= 9 else { return nil }
                let token = String(decoding: text[range], as: UTF8.self)
                return TOMLDate.isLocal(token) ? Name(token) : nil
            })
    }

    /// The path of a dictionary, or of an array of them, as a header has it.
    fileprivate func header(of position: Int) -> [UInt8] {
        for line in lines(of: position).lazy.compactMap({ self.line($0) }) where line.kind != .entry {
            let last = line.position == position ? line.path.count - 1 : line.path.firstIndex(of: position)
            if let last { return Array(text[line.keys[0].lowerBound..<line.keys[last].upperBound]) }
        }
        return []
    }
}

// MARK: Dictionaries

extension EditPlan {
    /// Plans the edit of a dictionary whose entries are lines.
    mutating func edit(
        section change: Change, from old: PropertyList.Dictionary, to new: PropertyList.Dictionary
    ) throws(EncodingFailure) {
        let (source, target) = (source(in: change), target(in: change))
        let isRenamed = source.map { old[$0.text] != nil && new[$0.text] == nil } ?? false
        let name = isRenamed ? target.flatMap { new[$0.text] == nil ? nil : $0 } : nil
        for child in layout.children[change.position] {
            guard let key = layout.map.entries[child].component, let former = old[key.text] else { continue }
            let isSource = name != nil && key == source
            guard let value = new[isSource ? name?.text ?? "" : key.text], isSource || key != name else {
                removeLines(of: child)
                continue
            }
            if isSource, let name { try renameLines(of: child, to: name.text, change) }
            guard value != former else { continue }
            pending.append(
                Change(position: child, old: former, new: value, path: change.path + [isSource ? name ?? key : key]))
        }
        let added = new.filter { old[$0.key] == nil && EntryPath.Component($0.key) != name }
        if new.isEmpty { return keepEmpty(change.position, at: change.path) }
        try add(added, to: change.position, at: change.path)
    }

    private mutating func removeLines(of position: Int) {
        let removals = layout.lines(of: position).map { layout.removal(ofLine: $0) }
        for removal in removals { replace(removal, with: []) }
        if let last = removals.last, removals.first?.lowerBound == 0 {
            // A text does not begin with the blank lines that separated a section from the next.
            replace(last.upperBound..<layout.endOfBlankLines(at: last.upperBound), with: [])
        }
    }

    private mutating func renameLines(of position: Int, to name: String, _ change: Change) throws(EncodingFailure) {
        let text = try keyText(name, change.path + [EntryPath.Component(name)])
        for index in layout.lines(of: position) {
            guard let line = layout.line(index), let part = line.path.firstIndex(of: position) else { continue }
            replace(line.keys[part], with: text)
        }
    }

    /// Adds the header or the key without which a dictionary that has lost all its entries would not exist.
    private mutating func keepEmpty(_ position: Int, at path: [EntryPath.Component]) {
        switch layout.map.sections?.kinds[position] {
        case .implicit:
            guard let first = layout.lines(of: position).first else { return }
            insertHeader(of: position, at: layout.start(ofLine: first), path)
        case .dotted:
            guard let first = layout.keyLines(of: position).first, let prefix = prefix(of: position, inLine: first)
            else { return }
            insertLines(prefix + style.between + "{}".utf8, at: layout.start(ofLine: first))
        case .header, .inline, nil: break
        }
    }

    /// Inserts the header of a dictionary that has none, and a blank line after its entries.
    private mutating func insertHeader(of position: Int, at place: Int, _ path: [EntryPath.Component]) {
        guard headed.insert(position).inserted else { return }
        insertLines("[".utf8 + layout.header(of: position) + "]".utf8, at: place, rank: rank(path))
        replace(place..<place, with: style.newline, rank: rank(path) + 2)
    }

    /// The indentation and the key of a line up to the part that denotes the dictionary.
    private func prefix(of position: Int, inLine index: Int) -> [UInt8]? {
        guard let line = layout.line(index), let part = line.path.firstIndex(of: position) else { return nil }
        return layout.indent(ofLineAt: line.range.lowerBound)
            + text[line.keys[0].lowerBound..<line.keys[part].upperBound]
    }

    /// Inserts whole lines at the start of a line.
    private mutating func insertLines(_ lines: [UInt8], at place: Int, rank: Int = 0) {
        let isAfterText = lacksNewline(place)
        replace(place..<place, with: isAfterText ? style.newline + lines : lines + style.newline, rank: rank)
    }

    /// Whether the place is the end of a text whose last line has no line break; it gets none.
    private func lacksNewline(_ place: Int) -> Bool { place == text.count && place > 0 && text[place - 1] != 0x0A }

    /// The rank of a header at a path: after the lines of the section before it, and after the tables inside that. The
    /// next two are those of its lines and of the blank line after them.
    private func rank(_ path: [EntryPath.Component]) -> Int { .max - 4 * (path.count + 1) }

    /// Replaces a section by a value of another kind.
    mutating func replace(section change: Change) throws(EncodingFailure) {
        guard let container = layout.map.entries[change.position].container, let key = change.path.last else {
            throw EncodingFailure(.kindNotSupported(change.new.kind), format: style.format)
        }
        removeLines(of: change.position)
        let outer = style
        style.bareTexts = layout.localTexts(in: change.position)
        defer { style = outer }
        try add(
            [PropertyList.Dictionary.Entry(key: key.text, value: change.new)], to: container,
            at: Array(change.path.dropLast()))
    }
}

// MARK: Braces

extension EditPlan {
    /// Plans the edit of a dictionary in braces, some of whose keys have several parts.
    mutating func edit(
        dotted change: Change, from old: PropertyList.Dictionary, to new: PropertyList.Dictionary
    ) throws(EncodingFailure) {
        let added = new.filter { old[$0.key] == nil }
        let kept = PropertyList.Dictionary(new.lazy.filter { old[$0.key] != nil }.map { ($0.key, $0.value) })
        guard keepsKeys(change.position, from: old, to: kept) else { return try replace(value: change) }
        for child in layout.children[change.position] {
            guard let former = old[key(child)], let value = new[key(child)], former != value else { continue }
            let path = change.path + [EntryPath.Component(key(child))]
            pending.append(Change(position: child, old: former, new: value, path: path))
        }
        guard !added.isEmpty else { return }
        let inside = change.position + 1..<layout.endsOfEntries[change.position]
        let place = inside.map { layout.map.entries[$0].value.upperBound }.max() ?? 0
        for entry in added {
            let path = change.path + [EntryPath.Component(entry.key)]
            let value = try FragmentWriter.text(of: entry.value, style, indent: nil, at: path)
            replace(
                place..<place, with: ",".utf8 + style.space + (try keyText(entry.key, path)) + style.between + value)
        }
    }

    /// Whether a dictionary in braces keeps its keys, those of several parts too.
    private func keepsKeys(
        _ position: Int, from old: PropertyList.Dictionary, to new: PropertyList.Dictionary
    ) -> Bool {
        guard old.count == new.count else { return false }
        return layout.children[position].allSatisfy { child in
            guard let former = old[key(child)], let value = new[key(child)] else { return false }
            guard layout.map.sections?.kinds[child] == .dotted else { return true }
            guard case .dictionary(let old) = former, case .dictionary(let new) = value else { return false }
            return keepsKeys(child, from: old, to: new)
        }
    }
}

// MARK: New entries

extension EditPlan {
    /// Adds entries to a dictionary whose entries are lines.
    private mutating func add(
        _ entries: [PropertyList.Dictionary.Entry], to position: Int, at path: [EntryPath.Component]
    ) throws(EncodingFailure) {
        guard !entries.isEmpty else { return }
        let kind = layout.map.sections?.kinds[position]
        let hasHeaders = kind != .dotted
        let lines = entries.filter { !hasHeaders || !getsHeaders($0, at: path) }
        if !lines.isEmpty {
            switch kind {
            case .dotted: try add(lines, toDotted: position, at: path)
            case .implicit:
                guard let place = layout.lines(of: position).first.map({ layout.start(ofLine: $0) }) else { break }
                insertHeader(of: position, at: place, path)
                for entry in lines.sorted(by: { $0.name < $1.name }) {
                    insertLines(try line(entry, indent: [], at: path), at: place, rank: rank(path) + 1)
                }
            default: try add(lines, toBodyOf: position, at: path)
            }
        }
        let header = position == 0 ? [] : layout.header(of: position)
        for entry in entries where hasHeaders && getsHeaders(entry, at: path) {
            try add(
                section: entry, header: header + (header.isEmpty ? [] : [UInt8(ascii: ".")]), to: position, at: path)
        }
    }

    /// The text of a new line.
    ///
    /// - Parameter prefix: The text before the key of the entry.
    private mutating func line(
        _ entry: PropertyList.Dictionary.Entry, indent: [UInt8], prefix: [UInt8] = [], at path: [EntryPath.Component]
    ) throws(EncodingFailure) -> [UInt8] {
        let path = path + [EntryPath.Component(entry.key)]
        let key = prefix + (try keyText(entry.key, path)) + style.between
        guard let position = movedPosition(entry, path) else {
            return indent + key + (try FragmentWriter.text(of: entry.value, style, indent: nil, at: path))
        }
        let value: [UInt8]
        if let text = layout.text(ofMoved: position, indent: indent) {
            carry(layout.map.entries[position].value)
            value = text
        } else {
            var style = style
            style.bareTexts = layout.localTexts(in: position)
            value = try FragmentWriter.text(of: entry.value, style, indent: nil, at: path)
        }
        // The comments go with the entry.
        var (before, after): ([UInt8], [UInt8]) = ([], [])
        if let index = layout.lines(of: position).first, let former = layout.line(index), former.position == position {
            let lines = layout.start(ofLine: index)..<layout.end(ofLine: index)
            for comment in layout.allComments where lines.contains(comment.lowerBound) {
                guard !former.range.contains(comment.lowerBound) else { continue }
                carry(comment)
                if comment.lowerBound < former.range.lowerBound {
                    before += indent + text[comment] + style.newline
                } else {
                    after += [0x20] + text[comment]
                }
            }
        }
        return before + indent + key + value + after
    }

    /// The position of the entry that the verb moves to `path`, if it is this one.
    private func movedPosition(
        _ entry: PropertyList.Dictionary.Entry, _ path: [EntryPath.Component]
    ) -> Int? {
        guard let moved, moved.value == entry.value, path == step?.movedTo?.components else { return nil }
        return moved.position
    }

    /// Whether a new entry is written with headers: one that is moved out of brackets keeps them.
    private func getsHeaders(_ entry: PropertyList.Dictionary.Entry, at path: [EntryPath.Component]) -> Bool {
        guard entry.value.hasTOMLHeaders else { return false }
        return movedPosition(entry, path + [EntryPath.Component(entry.key)]).map { layout.hasLines($0) } ?? true
    }

    private mutating func add(
        _ entries: [PropertyList.Dictionary.Entry], toDotted position: Int, at path: [EntryPath.Component]
    ) throws(EncodingFailure) {
        guard let last = layout.keyLines(of: position).last, let former = layout.line(last),
            let prefix = prefix(of: position, inLine: last)
        else { return }
        let indent = layout.indent(ofLineAt: former.range.lowerBound)
        for entry in entries {
            let text = try line(entry, indent: indent, prefix: Array(prefix[indent.count...]) + ".".utf8, at: path)
            insertLines(text, at: layout.end(ofLine: last))
        }
    }

    /// Adds lines below a header, or before the first header.
    private mutating func add(
        _ entries: [PropertyList.Dictionary.Entry], toBodyOf position: Int, at path: [EntryPath.Component]
    ) throws(EncodingFailure) {
        guard let lines = layout.map.sections?.lines else { return }
        let header = layout.lines(of: position).first { lines[$0].kind != .entry && lines[$0].position == position }
        let start = header.map { $0 + 1 } ?? 0
        let body = Array(lines[start...].prefix { $0.kind == .entry })
        let indent = (body.first ?? header.map { lines[$0] }).map { layout.indent(ofLineAt: $0.range.lowerBound) } ?? []
        let keys = body.map { $0.path.first.flatMap { layout.map.entries[$0].component?.text } ?? "" }
        // One key shows no order.
        let insertions = insertions(of: entries, into: keys.count > 1 ? keys : [])
        for insertion in insertions {
            let entry = PropertyList.Dictionary.Entry(key: insertion.key ?? "", value: insertion.value)
            let text = try line(entry, indent: indent, at: path)
            guard !body.isEmpty || header != nil else {
                addFirstLine(text)
                continue
            }
            let index = keys.count > 1 ? insertion.index : body.count - 1
            if index < 0, let header {
                insertLines(text, at: layout.end(ofLine: header))
            } else if index < 0, layout.start(ofLine: start) == 0 || layout.allComments.isEmpty {
                insertLines(text, at: layout.start(ofLine: start))
            } else {
                // Before the first key of the root, a new one would be taken for the one that the comments are about.
                insertLines(text, at: layout.end(ofLine: start + max(index, 0)))
            }
        }
    }

    /// Adds a line to a text that begins with a header, or has no lines.
    private mutating func addFirstLine(_ line: [UInt8]) {
        guard layout.line(0) != nil else { return insertLines(line, at: text.count) }
        insertLines(line, at: layout.start(ofLine: 0))
    }

    /// Adds a table with its header, or an array of tables.
    private mutating func add(
        section entry: PropertyList.Dictionary.Entry, header: [UInt8], to position: Int, at path: [EntryPath.Component]
    ) throws(EncodingFailure) {
        let path = path + [EntryPath.Component(entry.key)]
        let header = header + (try keyText(entry.key, path))
        let last = position == 0 ? nil : layout.lines(of: position).last
        let place = last.map { layout.endOfSection(of: $0) } ?? text.count
        var writer = writer(movedPosition(entry, path).map { layout.localTexts(in: $0) } ?? [])
        switch entry.value {
        case .dictionary(let values): try writer.add(section: values, header: header, isElement: false, at: path)
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                guard case .dictionary(let values) = element else { continue }
                try writer.add(
                    section: values, header: header, isElement: true, at: path + [EntryPath.Component(index)])
            }
        default: return
        }
        insertSection(Array(writer.finished()), at: place, rank: rank(path))
    }

    private func writer(_ bareTexts: Set<Name> = []) -> TOMLWriter {
        TOMLWriter(
            style.options, newline: style.newline, between: style.between,
            prefersLiterals: style.stringQuotes == .single, bareTexts: bareTexts.union(style.bareTexts))
    }

    /// Inserts a section with blank lines around it.
    private mutating func insertSection(_ section: [UInt8], at place: Int, rank: Int) {
        if lacksNewline(place) {
            let section = section.dropLast(style.newline.count)
            return replace(place..<place, with: style.newline + style.newline + section, rank: rank + 3)
        }
        let isAfterSections = insertedPlaces.contains(place)
        var before: [UInt8] = []
        if place > 0, !isAfterSections {
            if !text[..<place].hasBlankEnd { before += style.newline }
        } else if isAfterSections, place == text.count {
            before = style.newline
        }
        replace(place..<place, with: before + section + (place == text.count ? [] : style.newline), rank: rank + 3)
    }
}

extension ArraySlice<UInt8> {
    /// Whether the last line, which has ended, is blank.
    fileprivate var hasBlankEnd: Bool {
        let line = dropLast(last == 0x0A ? 1 : 0)
        return line.last == 0x0A || line.suffix(2).elementsEqual([0x0A, 0x0D])
    }
}

// MARK: Arrays

extension EditPlan {
    /// Plans the edit of an array whose elements are sections.
    mutating func edit(
        sections change: Change, from old: [PropertyList], to new: [PropertyList]
    ) throws(EncodingFailure) {
        let children = layout.children[change.position]
        guard PropertyList.array(new).hasTOMLHeaders, children.count == old.count else {
            return try replace(section: change)
        }
        let (removed, insertions) = elementChanges(change, from: old, to: new)
        for index in removed { removeLines(of: children[index]) }
        let header = layout.header(of: change.position)
        for insertion in insertions {
            let place =
                insertion.index < 0
                ? layout.lines(of: children[0]).first.map { layout.start(ofLine: $0) } ?? text.count
                : layout.lines(of: children[insertion.index]).last.map { layout.endOfSection(of: $0) } ?? text.count
            guard case .dictionary(let values) = insertion.value else { continue }
            if let source = insertion.source, layout.map.entries[source].container == change.position,
                let range = rangeOfLines(of: source)
            {
                carry(range)
                var section = Array(text[range])
                if section.last != 0x0A { section += style.newline }
                insertSection(section, at: place, rank: rank(change.path))
                continue
            }
            var writer = writer()
            try writer.add(section: values, header: header, isElement: true, at: change.path + [.end])
            insertSection(Array(writer.finished()), at: place, rank: rank(change.path))
        }
    }

    /// The range of an entry's lines with their comments, if no other line is among them.
    private func rangeOfLines(of position: Int) -> Range<Int>? {
        let lines = layout.lines(of: position)
        guard let first = lines.first, let last = lines.last, last - first + 1 == lines.count else { return nil }
        return layout.start(ofLine: first)..<layout.end(ofLine: last)
    }
}
