/// The replacements in a text that change its value to another.
struct EditPlan {
    /// A part of the edited text.
    enum Piece {
        case old(Range<Int>)
        case new([UInt8])
    }

    var style: TextStyle
    let layout: SourceLayout
    private let options: PropertyList.ReadingOptions
    /// The change that the verb states, or nil.
    let step: EntryStep?
    /// The elements that the step removes from each array, if it removes several entries.
    private var removals: [Int: Set<EntryPath.Component>] = [:]
    /// The value and the position of the entry that the step moves.
    private(set) var moved: (value: PropertyList, position: Int)?
    /// The text that is written in another place.
    private var carried: [Range<Int>] = []
    /// Of insertions at the same offset, that of the lowest rank comes first.
    private var replacements: [(range: Range<Int>, text: [UInt8], rank: Int)] = []
    /// The offsets at which text is inserted.
    private(set) var insertedPlaces: Set<Int> = []
    /// The dictionaries that were only in the headers of others and have got one of their own.
    var headed: Set<Int> = []
    /// The containers and values that differ and are not replaced yet.
    var pending: [Change] = []

    struct Change {
        let position: Int
        let old: PropertyList
        let new: PropertyList
        let path: [EntryPath.Component]
    }

    /// The change to an entry of a container.
    enum EntryChange: Equatable {
        case kept, removed
        case renamed(String)
    }

    /// A new entry after the entry at an index, or after the opening bracket if the index is −1.
    struct Insertion {
        var index: Int
        let key: String?
        let value: PropertyList
        /// The position of the entry that is moved here with its comments, or nil for a new one.
        var source: Int?
    }

    init(
        _ layout: SourceLayout, _ style: TextStyle, _ options: PropertyList.ReadingOptions, _ step: EntryStep? = nil
    ) {
        (self.layout, self.style, self.options, self.step) = (layout, style, options, step)
        guard case .removals(let paths) = step else { return }
        for path in paths {
            guard let last = path.components.last, let position = layout.map.position(of: path.components.dropLast())
            else { continue }
            removals[position, default: []].insert(last)
        }
    }

    var text: [UInt8] { layout.text }

    /// Whether nothing but white space is read as an empty dictionary.
    var acceptsBlank: Bool { options.acceptsBlank }

    /// Plans the edit.
    mutating func edit(from old: PropertyList, to new: PropertyList) throws(EncodingFailure) {
        guard !layout.map.entries.isEmpty else { return try editEmptyText(to: new) }
        if let source = step?.moved, let position = layout.map.position(of: source.components[...]),
            let value = old[source]
        {
            moved = (value, position)
        }
        pending = [Change(position: 0, old: old, new: new, path: [])]
        while let change = pending.popLast() {
            guard change.old != change.new else { continue }
            let hasLines = layout.hasLines(change.position)
            switch (change.old, change.new) {
            case (.dictionary(let old), .dictionary(let new)) where hasLines:
                try edit(section: change, from: old, to: new)
            case (.array(let old), .array(let new)) where hasLines:
                try edit(sections: change, from: old, to: new)
            case _ where hasLines: try replace(section: change)
            case (.dictionary(let old), .dictionary(let new)):
                if let kind = style.mistakenKind(of: new) {
                    throw EncodingFailure(.looksLike(kind), path: EntryPath(change.path), format: style.format)
                }
                try edit(dictionary: change, from: old, to: new)
            case (.array(let old), .array(let new)): try edit(array: change, from: old, to: new)
            default: try replace(value: change)
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
            let (first, second) = (replacements[a].rank, replacements[b].rank)
            return first == second ? a < b : first < second
        }
        var pieces: [Piece] = []
        var copied = 0
        for index in order {
            let (range, text) = (replacements[index].range, replacements[index].text)
            // Removals may overlap.
            if range.lowerBound > copied { pieces.append(.old(copied..<range.lowerBound)) }
            if !text.isEmpty { pieces.append(.new(text)) }
            copied = max(copied, range.upperBound)
        }
        if copied < text.count { pieces.append(.old(copied..<text.count)) }
        return pieces
    }

    mutating func replace(_ range: Range<Int>, with text: [UInt8], rank: Int = 0) {
        replacements.append((range, text, rank))
        if range.isEmpty, !text.isEmpty { insertedPlaces.insert(range.lowerBound) }
    }

    /// Notes that a part of the text is written in another place.
    mutating func carry(_ range: Range<Int>) { carried.append(range) }

    /// The comments that the edited text lacks.
    func removedComments(_ pieces: [Piece]) -> [String] {
        guard replacements.contains(where: { !$0.range.isEmpty }) else { return [] }
        let kept = pieces.compactMap { if case .old(let range) = $0 { range } else { nil } }
        var index = 0
        let removed = layout.allComments.filter { comment in
            while index < kept.count, kept[index].upperBound <= comment.lowerBound { index += 1 }
            let isKept = index < kept.count && kept[index].lowerBound <= comment.lowerBound
            return !isKept && !carried.contains { $0.contains(comment.lowerBound) }
        }
        return layout.texts(of: removed)
    }
}

// MARK: What the verb states

extension EditPlan {
    /// The component of the removed or moved entry, if it is in this container.
    func source(in change: Change) -> EntryPath.Component? {
        component(step?.isNested == true ? nil : step?.source, in: change)
    }

    /// The component of the inserted or moved entry, if it is in this container.
    func target(in change: Change) -> EntryPath.Component? {
        component(step?.isNested == true ? nil : step?.target, in: change)
    }

    private func component(
        _ place: (container: ArraySlice<EntryPath.Component>, component: EntryPath.Component)?, in change: Change
    ) -> EntryPath.Component? {
        guard let place, layout.map.position(of: place.container) == change.position else { return nil }
        return place.component
    }

    /// Returns the removed elements and the insertion that the step states, or nil if it is not what has changed in
    /// this array.
    func stated(
        _ change: Change, from old: [PropertyList], to new: [PropertyList]
    ) -> (removed: [Int], insertion: Insertion?)? {
        func index(_ component: EntryPath.Component, _ count: Int) -> Int? {
            if component == .end { return count }
            return component.index.map { $0 < 0 ? $0 + count : $0 }.flatMap { (0...count).contains($0) ? $0 : nil }
        }
        var (removed, insertion, place) = ([Int](), Insertion?.none, old.count + 1)
        if let source = source(in: change) {
            guard let index = index(source, old.count), index < old.count else { return nil }
            removed.append(index)
        }
        removed += (removals[change.position] ?? []).compactMap { index($0, old.count) }.filter { $0 < old.count }
        if let target = target(in: change) {
            if case .insertion? = step {
                guard let index = index(target, new.count), index < new.count else { return nil }
                place = index
                insertion = Insertion(index: index - 1, key: nil, value: new[index])
            } else if let moved {
                guard let index = index(target, old.count) else { return nil }
                insertion = Insertion(
                    index: min(index, old.count - 1), key: nil, value: moved.value, source: moved.position)
                if case .exchange? = step {
                    place = index + 1
                } else {
                    place = index
                    if index < old.count { removed.append(index) }
                }
            }
        }
        guard !removed.isEmpty || insertion != nil else { return nil }
        var result: [PropertyList] = []
        let absent = Set(removed)
        for index in 0...old.count {
            if index == place, let insertion { result.append(insertion.value) }
            if index < old.count, !absent.contains(index) { result.append(old[index]) }
        }
        return result == new ? (removed, insertion) : nil
    }
}

// MARK: Dictionaries and arrays

extension EditPlan {
    func key(_ position: Int) -> String { layout.map.entries[position].component?.text ?? "" }

    private mutating func edit(
        dictionary change: Change, from old: PropertyList.Dictionary, to new: PropertyList.Dictionary
    ) throws(EncodingFailure) {
        let children = layout.children[change.position]
        // Of a duplicate key the last entry is used.
        var positions: [EntryPath.Component: Int] = [:]
        for (index, child) in children.enumerated() { positions[EntryPath.Component(key(child))] = index }
        let isPlain = positions.count == old.count && old.keys.allSatisfy { positions[EntryPath.Component($0)] != nil }
        guard isPlain, !isWrapping(old), !isWrapping(new) else { return try replace(value: change) }
        if layout.hasDottedKeys(change.position) { return try edit(dotted: change, from: old, to: new) }

        let (source, target) = (source(in: change), target(in: change))
        let isRenamed = source.map { old[$0.text] != nil && new[$0.text] == nil } ?? false
        let name = isRenamed ? target.flatMap { new[$0.text] == nil ? nil : $0 } : nil
        var entryChanges: [EntryChange] = []
        var replaced: Insertion?
        for (index, child) in children.enumerated() {
            let key = EntryPath.Component(key(child))
            if let name, key == source, positions[key] == index, let former = old[key.text] {
                entryChanges.append(.renamed(name.text))
                if let value = new[name.text], value != former {
                    pending.append(Change(position: child, old: former, new: value, path: change.path + [name]))
                }
                continue
            }
            guard let value = new[key.text], key != name else {
                entryChanges.append(.removed)
                continue
            }
            if key == target, positions[key] == index, let moved, moved.value == value {
                // The moved entry replaces this one with its comments.
                entryChanges.append(.removed)
                replaced = Insertion(index: index, key: key.text, value: value, source: moved.position)
                continue
            }
            entryChanges.append(.kept)
            if positions[key] == index, let former = old[key.text], former != value {
                pending.append(Change(position: child, old: former, new: value, path: change.path + [key]))
            }
        }
        let added = new.filter { old[$0.key] == nil && EntryPath.Component($0.key) != name }
        var insertions = insertions(of: added, into: children.map(key))
        for index in insertions.indices {
            guard let target, let moved, insertions[index].key.map({ EntryPath.Component($0) }) == target,
                insertions[index].value == moved.value
            else { continue }
            insertions[index].source = moved.position
        }
        if let replaced {
            insertions.insert(replaced, at: insertions.firstIndex { $0.index > replaced.index } ?? insertions.count)
        }
        try arrange(change, entryChanges, insertions)
    }

    /// Whether the dictionary is, or could be mistaken for, the wrapping of another value in JSON.
    private func isWrapping(_ dictionary: PropertyList.Dictionary) -> Bool {
        options.unwrapsJSON && style.syntax.hasWrappings && dictionary.count <= 1
            && dictionary.first?.key.utf8.first == UInt8(ascii: "$")
    }

    /// Returns the insertions of new entries, in sorted order if the existing keys are sorted, otherwise at the end.
    func insertions(of added: [PropertyList.Dictionary.Entry], into keys: [String]) -> [Insertion] {
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
        guard children.count == old.count else { return try replace(value: change) }
        let (removed, insertions) = elementChanges(change, from: old, to: new)
        var entryChanges = [EntryChange](repeating: .kept, count: old.count)
        for index in removed { entryChanges[index] = .removed }
        try arrange(change, entryChanges, insertions)
    }

    /// Plans the edits of the elements that change into others, and returns which are removed, and the new ones.
    mutating func elementChanges(
        _ change: Change, from old: [PropertyList], to new: [PropertyList]
    ) -> (removed: [Int], insertions: [Insertion]) {
        if let stated = stated(change, from: old, to: new) {
            return (stated.removed, stated.insertion.map { [$0] } ?? [])
        }
        var removed: [Int] = []
        var insertions: [Insertion] = []
        for (range, replaced) in Self.differences(from: old, to: new) {
            // If there are more or fewer elements than before, none of them is known to have changed into another.
            let common = range.count == replaced.count ? range.count : 0
            for (index, place) in zip(range.prefix(common), replaced) {
                pending.append(
                    Change(
                        position: layout.children[change.position][index], old: old[index], new: new[place],
                        path: change.path + [EntryPath.Component(place)]))
            }
            removed += range.dropFirst(common)
            insertions += replaced.dropFirst(common).map {
                Insertion(index: range.upperBound - 1, key: nil, value: new[$0])
            }
        }
        return (removed, insertions)
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

// MARK: Values

extension EditPlan {
    /// Replaces a value as a whole.
    mutating func replace(value change: Change) throws(EncodingFailure) {
        let entry = layout.map.entries[change.position]
        let range = entry.value
        guard !range.isEmpty else {
            // The entry is `key;`, whose value is its key. The value now needs a text of its own.
            let value = try FragmentWriter.text(of: change.new, style, indent: nil, at: change.path)
            return replace((entry.key?.upperBound ?? range.lowerBound)..<range.lowerBound, with: " = ".utf8 + value)
        }
        if let text = layout.syntax.scalarLike(change.new, Array(text[range])) { return replace(range, with: text) }
        var style = style
        style.bareTexts = layout.localTexts(in: change.position)
        if !layout.syntax.hasTags { style.stringQuotes = quotes(of: range) ?? style.stringQuotes }
        let hasLines = text[range].contains { $0 == 0x0A || $0 == 0x0D }
        let isOnLines = change.old.isContainer && hasLines || isOnLines(change.position)
        var indent: [UInt8]? = isOnLines ? layout.indent(ofLineAt: range.lowerBound) : nil
        if case .data = change.old, case .data = change.new, !hasLines { indent = nil }
        if change.path.isEmpty, layout.syntax.bareCharacters != nil, case .string = change.new {
            // The root must not look like JSON.
            style.stringQuotes = .double
        }
        let value = try FragmentWriter.text(of: change.new, style, indent: indent, at: change.path)
        guard layout.syntax.hasTags, let interior = layout.interior(ofElement: range),
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
