extension PropertyList {
    static func readTOML(
        _ bytes: [UInt8], limits: Limits, options: ReadingOptions, sources: inout SourceMap?
    ) throws(DecodingFailure) -> PropertyList {
        let (encoding, start) = TextEncoding.byteOrderMark(in: bytes) ?? (.utf8, 0)
        guard encoding == .utf8 else {
            throw DecodingFailure(.invalidText(encoding: TextEncoding.utf8.name), offset: 0, format: .toml)
        }
        let decoded = DecodedText(bytes, as: .utf8, from: start)
        return try decoded.read(bytes, as: .toml, sources: &sources) { text, isASCII in
            TOMLReader(text, isASCII: isASCII, limits: limits, options: options)
        }
    }

    static func tomlNotes(on bytes: [UInt8]) -> [(message: String, offset: Int)] {
        let decoded = DecodedText(bytes, as: .utf8, from: TextEncoding.byteOrderMark(in: bytes)?.length ?? 0)
        var reader = TOMLReader(
            decoded.text(of: bytes), isASCII: false, limits: .default, options: .default)
        guard (try? reader.read()) != nil else { return [] }
        return reader.newer.map { ($0.message, decoded.originalOffset($0.offset, in: bytes)) }
    }
}

/// Reads TOML 1.0 and 1.1. The text is valid UTF-8.
///
/// A later header can add to a table that began earlier, so the tables are collected first, and then passed to the
/// builder in the order of their first keys.
struct TOMLReader: TextReader, ~Copyable {
    let base: [UInt8]
    let end: Int
    var position = 0
    var builder: TreeBuilder
    /// Whether every byte of the text is ASCII.
    let isASCII: Bool
    /// The buffer in which a string with escapes, or a number with underscores, is decoded.
    var scratch: [UInt8] = []
    /// The path to the entry that is being read.
    private var components: [EntryPath.Component] = []
    private let nesting: Int
    /// The first use of each syntax that TOML 1.0 does not have.
    private(set) var newer: [(message: String, offset: Int)] = []

    /// The tables of the document. The first one is the root.
    private var tables = [Table(.header, at: 0..<0)]
    private var lists: [List] = []
    /// The table to which the lines after the last header belong, and the length of its path.
    private var section = (table: 0, depth: 0)
    /// The parts of the key or header that is being read.
    private var parts: [Part] = []
    /// The lines and comments, recorded for edits.
    private var lines: [Line] = []
    private var comments: [Range<Int>] = []

    init(_ text: [UInt8], isASCII: Bool, limits: PropertyList.Limits, options: PropertyList.ReadingOptions) {
        base = text
        end = text.count
        builder = TreeBuilder(limits: limits, options: options)
        nesting = limits.nesting
        self.isASCII = isASCII
    }

    var path: EntryPath { EntryPath(components) }

    /// Notes a syntax of TOML 1.1.
    mutating func note(_ syntax: String, at offset: Int) {
        let message = "\(syntax) is TOML 1.1, which other readers may refuse"
        if !newer.contains(where: { $0.message == message }) { newer.append((message, offset)) }
    }

    private var isRecording: Bool { builder.sources != nil }

    mutating func read() throws(Fault) -> PropertyList {
        while true {
            skipSpace()
            guard position < end else { break }
            switch base[position] {
            case UInt8(ascii: "["): try readHeader()
            case UInt8(ascii: "#"), 0x0A, 0x0D: break
            default: try readEntry()
            }
            try endLine()
        }
        components = []
        let positions = try emit()
        if isRecording {
            let sections = sections(positions)
            builder.sources?.sections = sections
        }
        return builder.finish()
    }

    /// The lines with the positions of their entries.
    private func sections(_ positions: Positions) -> TextSections {
        TextSections(
            lines: lines.map { line in
                let path = line.parts.map { positions.entries[$0.table][$0.index] }
                return TextSections.Line(
                    kind: line.kind, keys: line.parts.map(\.place), range: line.range, path: path,
                    position: line.table.map { positions.tables[$0] } ?? path.last ?? 0)
            },
            comments: comments,
            kinds: Dictionary(uniqueKeysWithValues: tables.indices.map { (positions.tables[$0], tables[$0].kind) }))
    }
}

// MARK: Tables

extension TOMLReader {
    private struct Table {
        var kind: TextSections.Kind
        /// The range of the text that began the table: a header, a key, or braces.
        let place: Range<Int>
        var entries: ContiguousArray<Entry> = []
        /// The positions of the keys, if there are many.
        var index: [Name: Int] = [:]

        init(_ kind: TextSections.Kind, at place: Range<Int>) { (self.kind, self.place) = (kind, place) }
    }

    private struct Entry {
        let key: String
        let keyPlace: Range<Int>
        var item: Item
    }

    private struct Item {
        var content: Content
        /// The range of the value; for a table or its array, the range of what began it.
        var place: Range<Int>
    }

    private enum Content {
        case scalar(PropertyList)
        case table(Int)
        case list(Int)
    }

    private struct List {
        var items: [Item] = []
        /// Whether its elements are tables with headers.
        var hasHeaders = false
    }

    /// A part of a key, and the entry that it denotes.
    private struct Part {
        let text: String
        let place: Range<Int>
        var table = 0
        var index = 0
    }

    private struct Line {
        let kind: TextSections.Line.Kind
        let parts: [Part]
        let range: Range<Int>
        /// The table that a header opens.
        var table: Int?
    }

    private func find(_ key: String, in table: Int) -> Int? {
        if tables[table].entries.count > PropertyList.Dictionary.mostWithoutIndex {
            return tables[table].index[Name(key)]
        }
        return tables[table].entries.firstIndex { $0.key.hasSameBytes(as: key) }
    }

    private mutating func append(_ item: Item, under part: Int, to table: Int) {
        let key = parts[part]
        (parts[part].table, parts[part].index) = (table, tables[table].entries.count)
        tables[table].entries.append(Entry(key: key.text, keyPlace: key.place, item: item))
        let (count, most) = (tables[table].entries.count, PropertyList.Dictionary.mostWithoutIndex)
        if count == most + 1 {
            for (index, entry) in tables[table].entries.enumerated() { tables[table].index[Name(entry.key)] = index }
        } else if count > most {
            tables[table].index[Name(key.text)] = count - 1
        }
    }

    /// Adds an empty table, and returns its number.
    private mutating func addTable(
        _ kind: TextSections.Kind, at place: Range<Int>, under part: Int, to table: Int
    ) -> Int {
        tables.append(Table(kind, at: place))
        append(Item(content: .table(tables.count - 1), place: place), under: part, to: table)
        return tables.count - 1
    }

    private func isDefined(_ part: Int, by entry: Entry) -> Fault {
        let line = base[..<min(entry.keyPlace.lowerBound, end)].count { $0 == 0x0A } + 1
        return Fault(.duplicateKeyInLines(entry.key, first: line), at: parts[part].place.lowerBound)
    }

    private mutating func readHeader() throws(Fault) {
        let start = position
        let isElement = position + 1 < end && base[position + 1] == UInt8(ascii: "[")
        position += isElement ? 2 : 1
        components = []
        skipSpace()
        try readKeys()
        guard skip(UInt8(ascii: "]")), !isElement || skip(UInt8(ascii: "]")) else {
            throw Fault(
                position < end ? .expected(isElement ? "“]]”" : "“]”") : .unexpectedEnd(inside: "a header"),
                at: position)
        }
        let place = start..<position
        var table = 0
        components = []
        for part in parts.indices.dropLast() {
            components.append(EntryPath.Component(parts[part].text))
            guard let index = find(parts[part].text, in: table) else {
                table = addTable(.implicit, at: place, under: part, to: table)
                continue
            }
            (parts[part].table, parts[part].index) = (table, index)
            let entry = tables[table].entries[index]
            switch entry.item.content {
            case .table(let known) where tables[known].kind != .inline: table = known
            case .list(let list) where lists[list].hasHeaders:
                let last = lists[list].items.count - 1
                guard case .table(let element) = lists[list].items[last].content else { return }
                components.append(EntryPath.Component(last))
                table = element
            default: throw isDefined(part, by: entry)
            }
        }
        let part = parts.count - 1
        components.append(EntryPath.Component(parts[part].text))
        let index = find(parts[part].text, in: table)
        table =
            isElement
            ? try openElement(part, index, of: table, at: place) : try openTable(part, index, of: table, at: place)
        section = (table, components.count)
        if isRecording {
            lines.append(Line(kind: isElement ? .element : .header, parts: parts, range: place, table: table))
        }
    }

    private mutating func openTable(
        _ part: Int, _ index: Int?, of table: Int, at place: Range<Int>
    ) throws(Fault) -> Int {
        guard let index else { return addTable(.header, at: place, under: part, to: table) }
        let entry = tables[table].entries[index]
        guard case .table(let known) = entry.item.content, tables[known].kind == .implicit else {
            throw isDefined(part, by: entry)
        }
        (parts[part].table, parts[part].index) = (table, index)
        tables[known].kind = .header
        return known
    }

    private mutating func openElement(
        _ part: Int, _ index: Int?, of table: Int, at place: Range<Int>
    ) throws(Fault) -> Int {
        let list: Int
        if let index {
            let entry = tables[table].entries[index]
            guard case .list(let known) = entry.item.content, lists[known].hasHeaders else {
                throw isDefined(part, by: entry)
            }
            (parts[part].table, parts[part].index, list) = (table, index, known)
        } else {
            list = lists.count
            lists.append(List(hasHeaders: true))
            append(Item(content: .list(list), place: place), under: part, to: table)
        }
        tables.append(Table(.header, at: place))
        components.append(EntryPath.Component(lists[list].items.count))
        lists[list].items.append(Item(content: .table(tables.count - 1), place: place))
        return tables.count - 1
    }

    private mutating func readEntry() throws(Fault) {
        components.removeLast(components.count - section.depth)
        let start = position
        let place = try openEntry(of: section.table)
        let line = isRecording ? parts : []
        try readValue(of: place)
        if isRecording { lines.append(Line(kind: .entry, parts: line, range: start..<position)) }
    }

    /// Reads a key and its mark, and adds its entry, which takes the key before its value is read.
    private mutating func openEntry(of owner: Int) throws(Fault) -> Place {
        try readKeys()
        guard skip(UInt8(ascii: "=")) else {
            throw Fault(position < end ? .expected("“=”") : .unexpectedEnd(inside: "an entry"), at: position)
        }
        skipSpace()
        var table = owner
        for part in parts.indices.dropLast() {
            components.append(EntryPath.Component(parts[part].text))
            guard let index = find(parts[part].text, in: table) else {
                table = addTable(.dotted, at: parts[part].place, under: part, to: table)
                continue
            }
            (parts[part].table, parts[part].index) = (table, index)
            let entry = tables[table].entries[index]
            guard case .table(let known) = entry.item.content, tables[known].kind == .dotted else {
                throw isDefined(part, by: entry)
            }
            table = known
        }
        let part = parts.count - 1
        components.append(EntryPath.Component(parts[part].text))
        if let index = find(parts[part].text, in: table) { throw isDefined(part, by: tables[table].entries[index]) }
        append(Item(content: .scalar(.null), place: position..<position), under: part, to: table)
        return .entry(tables[table].entries.count - 1, ofTable: table)
    }

    /// Reads the parts of a key and the space after it.
    private mutating func readKeys() throws(Fault) {
        parts.removeAll(keepingCapacity: true)
        while true {
            let start = position
            guard parts.count < nesting else { throw Fault(.nestedTooDeeply(limit: nesting), at: start) }
            let text = try readKey()
            parts.append(Part(text: text, place: start..<position))
            skipSpace()
            guard skip(UInt8(ascii: ".")) else { return }
            skipSpace()
        }
    }

    private mutating func readKey() throws(Fault) -> String {
        let start = position
        guard start < end else { throw Fault(.unexpectedEnd(inside: "a key"), at: end) }
        switch base[start] {
        case UInt8(ascii: "\"") where !isTripled(at: start): return try readBasicString()
        case UInt8(ascii: "'") where !isTripled(at: start): return try readLiteralString()
        default:
            while position < end, TOMLText.isBare(base[position]) { position += 1 }
            guard position > start else { throw Fault(.expected("a key"), at: start) }
            return base.text(start..<position, isASCII: true)
        }
    }
}

// MARK: Lines

extension TOMLReader {
    private mutating func skip(_ byte: UInt8) -> Bool {
        guard position < end, base[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while position < end, base[position] == 0x20 || base[position] == 0x09 { position += 1 }
    }

    /// Skips the line break at the position. Returns false if there is none.
    mutating func skipNewline() -> Bool {
        if skip(0x0A) { return true }
        guard position + 1 < end, base[position] == 0x0D, base[position + 1] == 0x0A else { return false }
        position += 2
        return true
    }

    /// Skips the space and the comment at the end of a line, and its line break.
    private mutating func endLine() throws(Fault) {
        skipSpace()
        try skipComment()
        guard position == end || skipNewline() else {
            throw Fault(
                base[position] == 0x0D ? .invalidCharacter(0x0D) : .expected("the end of the line"), at: position)
        }
    }

    private mutating func skipComment() throws(Fault) {
        guard position < end, base[position] == UInt8(ascii: "#") else { return }
        let start = position
        while position < end, base[position] != 0x0A {
            let byte = base[position]
            if byte == 0x0D, position + 1 < end, base[position + 1] == 0x0A { break }
            guard byte == 0x09 || byte >= 0x20 && byte != 0x7F else {
                throw Fault(.invalidCharacter(UInt32(byte)), at: position)
            }
            position += 1
        }
        if isRecording { comments.append(start..<position) }
    }

    /// Skips space, line breaks and comments between the entries of brackets.
    private mutating func skipBlank(ofTable isOfTable: Bool = false) throws(Fault) {
        repeat {
            skipSpace()
            try skipComment()
            if isOfTable, position < end, base[position] == 0x0A {
                note("a line break in an inline table", at: position)
            }
        } while skipNewline()
    }
}

// MARK: Values

extension TOMLReader {
    /// Where a value that is being read belongs.
    private enum Place {
        case entry(Int, ofTable: Int)
        case element(ofList: Int)
    }

    /// An array or a table in brackets that is being read.
    private struct Open {
        let content: Content
        let place: Place
        let start: Int
        /// The length of the path to it.
        let level: Int

        var isTable: Bool { if case .table = content { true } else { false } }
    }

    private mutating func put(_ content: Content, from start: Int, at place: Place) {
        let item = Item(content: content, place: start..<position)
        switch place {
        case .entry(let index, let table): tables[table].entries[index].item = item
        case .element(let list): lists[list].items.append(item)
        }
    }

    /// Reads a value with everything inside it. The open brackets are on a stack, so that deeply nested input cannot
    /// exhaust the thread's stack.
    private mutating func readValue(of first: Place) throws(Fault) {
        var (open, place) = ([Open](), first)
        while true {
            guard position < end else { throw Fault(.unexpectedEnd(inside: "an entry"), at: end) }
            let start = position
            var isOpening = false
            switch base[start] {
            case UInt8(ascii: "\""):
                let text = isTripled(at: start) ? try readLongString(UInt8(ascii: "\"")) : try readBasicString()
                put(.scalar(.string(text)), from: start, at: place)
            case UInt8(ascii: "'"):
                let text = isTripled(at: start) ? try readLongString(UInt8(ascii: "'")) : try readLiteralString()
                put(.scalar(.string(text)), from: start, at: place)
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                guard components.count < nesting else { throw Fault(.nestedTooDeeply(limit: nesting), at: start) }
                let content: Content
                if base[start] == UInt8(ascii: "[") {
                    content = .list(lists.count)
                    lists.append(List())
                } else {
                    content = .table(tables.count)
                    tables.append(Table(.inline, at: start..<start))
                }
                open.append(Open(content: content, place: place, start: start, level: components.count))
                position += 1
                isOpening = true
            default: put(.scalar(try readScalar()), from: start, at: place)
            }
            guard let next = try readNext(&open, isOpening) else { return }
            place = next
        }
    }

    /// Reads the text after a value or an opening bracket: commas and closing brackets, and the next key. Returns the
    /// place of the next value, or nil after the last bracket.
    private mutating func readNext(_ open: inout [Open], _ isOpening: Bool) throws(Fault) -> Place? {
        var isFirst = isOpening
        while let top = open.last {
            let close = top.isTable ? UInt8(ascii: "}") : UInt8(ascii: "]")
            components.removeLast(components.count - top.level)
            try skipBlank(ofTable: top.isTable)
            let comma = position
            let hasComma = !isFirst && skip(UInt8(ascii: ","))
            if hasComma { try skipBlank(ofTable: top.isTable) }
            if skip(close) {
                if hasComma, top.isTable { note("a comma before the end of an inline table", at: comma) }
                open.removeLast()
                put(top.content, from: top.start, at: top.place)
                isFirst = false
                continue
            }
            guard position < end else {
                throw Fault(.unexpectedEnd(inside: top.isTable ? "an inline table" : "an array"), at: end)
            }
            guard isFirst || hasComma else {
                throw Fault(.expected(top.isTable ? "“,” or “}”" : "“,” or “]”"), at: position)
            }
            switch top.content {
            case .table(let table): return try openEntry(of: table)
            case .list(let list):
                components.append(EntryPath.Component(lists[list].items.count))
                return .element(ofList: list)
            case .scalar: return nil
            }
        }
        return nil
    }
}

// MARK: The value

extension TOMLReader {
    /// A container whose children are being passed to the builder.
    private struct Emitted {
        let content: Content
        let end: Int
        var next = 0
    }

    /// The positions of the entries and tables in the map of sources.
    private struct Positions {
        var entries: [[Int]]
        var tables: [Int]
    }

    /// Passes the tables to the builder.
    private mutating func emit() throws(Fault) -> Positions {
        var positions = Positions(
            entries: [[Int]](repeating: [], count: isRecording ? tables.count : 0),
            tables: [Int](repeating: 0, count: isRecording ? tables.count : 0))
        var open: [Emitted] = []
        try begin(Item(content: .table(0), place: 0..<end), &open, &positions)
        while let top = open.last {
            open[open.count - 1].next += 1
            switch top.content {
            case .table(let table) where top.next < tables[table].entries.count:
                let entry = tables[table].entries[top.next]
                builder.addKey(entry.key, at: entry.keyPlace.lowerBound)
                if let position = builder.sources?.entries.count {
                    builder.sources?.recordKey(entry.keyPlace)
                    positions.entries[table].append(position)
                }
                try begin(entry.item, &open, &positions)
            case .list(let list) where top.next < lists[list].items.count:
                try begin(lists[list].items[top.next], &open, &positions)
            case .table:
                builder.sources?.recordEnd(at: top.end)
                try builder.endDictionary()
                open.removeLast()
            case .list:
                builder.sources?.recordEnd(at: top.end)
                builder.endArray()
                open.removeLast()
            case .scalar: open.removeLast()
            }
        }
        return positions
    }

    private mutating func begin(
        _ item: Item, _ open: inout [Emitted], _ positions: inout Positions
    ) throws(Fault) {
        if case .scalar(let value) = item.content {
            builder.add(value)
            return builder.record(item.place)
        }
        var isTable = false
        if case .table(let table) = item.content {
            isTable = true
            if let position = builder.sources?.entries.count { positions.tables[table] = position }
        }
        do throws(Fault) {
            try builder.begin(dictionary: isTable, at: item.place.lowerBound)
        } catch {
            components = builder.path.components
            throw error
        }
        open.append(Emitted(content: item.content, end: item.place.upperBound))
    }
}
