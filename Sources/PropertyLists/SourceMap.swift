/// The ranges of the bytes of a text from which its entries were read.
package struct SourceMap: Sendable {
    /// The source ranges of an entry.
    package struct Entry: Hashable, Sendable {
        /// The key with its quotes or tags, or nil for an element of an array and for the root.
        package let key: Range<Int>?
        /// The value with its quotes, brackets or tags.
        package fileprivate(set) var value: Range<Int>
        /// The position in `entries` of the enclosing container, or nil for the root.
        package let container: Int?
        /// The key or the index in the container, or nil for the root.
        package let component: EntryPath.Component?

        /// The offset at which the entry begins.
        package var start: Int { key?.lowerBound ?? value.lowerBound }
    }

    /// The entries in the order in which their values begin, including all entries of a duplicate key.
    package private(set) var entries: [Entry] = []
    /// The lines of a text that has sections, or nil.
    var sections: TextSections?
    private var children: [Child: Int] = [:]
    /// The containers whose ends have not been read, and the range of the key that was read last.
    private var open: [Int] = []
    private var key: Range<Int>?

    private struct Child: Hashable {
        let container: Int
        let component: EntryPath.Component
    }

    /// Reads a text, and detects its format unless one is given. Returns nil for a binary file or an unreadable text.
    package init?(
        _ bytes: [UInt8], as format: PropertyList.Format? = nil,
        options: PropertyList.ReadingOptions = .ofFiles
    ) {
        var sources: SourceMap? = SourceMap()
        let value = try? PropertyList.read(bytes, as: format, limits: .default, options: options, sources: &sources)
        guard value != nil, let sources else { return nil }
        self = sources
    }

    init() {}

    /// The positions of the entries of each container, in the order of the text.
    var positionsOfChildren: [[Int]] {
        var positions = [[Int]](repeating: [], count: entries.count)
        for (position, entry) in entries.enumerated() {
            if let container = entry.container { positions[container].append(position) }
        }
        return positions
    }
}

// MARK: Looking up

extension SourceMap {
    /// The entry at `path`, or nil if there is none. Of a duplicate key, it is the last one.
    package subscript(path: EntryPath) -> Entry? { position(of: path.components[...]).map { entries[$0] } }

    /// The entry at `path`, or the nearest enclosing one that exists.
    package func nearest(to path: EntryPath) -> Entry? {
        var components = path.components[...]
        while true {
            if let position = position(of: components) { return entries[position] }
            guard components.popLast() != nil else { return nil }
        }
    }

    func position(of path: ArraySlice<EntryPath.Component>) -> Int? {
        guard !entries.isEmpty else { return nil }
        var position = 0
        for component in path {
            guard let child = children[Child(container: position, component: component)] else { return nil }
            position = child
        }
        return position
    }

    /// The lines and columns at which the entries at `paths` begin, or the nearest enclosing ones that exist.
    ///
    /// - Parameter bytes: The text from which the map was made.
    package func locations(of paths: some Sequence<EntryPath>, in bytes: [UInt8]) -> [EntryPath: TextLocation] {
        let starts = Dictionary(paths.map { ($0, nearest(to: $0)?.start) }, uniquingKeysWith: { first, _ in first })
        let locations = TextLocation.locations(of: starts.values.compactMap(\.self), inText: bytes)
        return starts.compactMapValues { start in start.flatMap { locations[$0] } }
    }
}

// MARK: Recording

extension SourceMap {
    mutating func recordKey(_ range: Range<Int>) { key = range }

    mutating func recordValue(_ range: Range<Int>, as component: EntryPath.Component?) {
        if let container = open.last, let component {
            children[Child(container: container, component: component)] = entries.count
        }
        entries.append(Entry(key: key, value: range, container: open.last, component: component))
        key = nil
    }

    mutating func recordBegin(at offset: Int, as component: EntryPath.Component?) {
        recordValue(offset..<offset, as: component)
        open.append(entries.count - 1)
    }

    mutating func recordEnd(at offset: Int) {
        guard let container = open.popLast() else { return }
        entries[container].value = entries[container].value.lowerBound..<offset
    }

    /// The map with every offset replaced by what `offset` returns for it.
    func mapped(_ offset: (Int) -> Int) -> SourceMap {
        func range(_ range: Range<Int>) -> Range<Int> { offset(range.lowerBound)..<offset(range.upperBound) }
        var result = self
        result.entries = entries.map { entry in
            Entry(
                key: entry.key.map(range), value: range(entry.value), container: entry.container,
                component: entry.component)
        }
        result.sections = sections?.mapped(range)
        return result
    }
}
