internal import PropertyLists

/// The wanted entries, and their offsets once found.
struct EntrySearch {
    /// The wanted paths and all their ancestors.
    private var wanted: Set<EntryPath> = [EntryPath()]
    private var offsets: [EntryPath: Int] = [:]
    private(set) var path = EntryPath()

    init(for paths: some Sequence<EntryPath>) {
        for var path in paths {
            while wanted.insert(path).inserted { path.components.removeLast() }
        }
    }

    /// Records the offset of the root value.
    mutating func begin(at offset: Int) { offsets[path] = offset }

    /// Handles an entry. If it is on the path to a wanted one, records its offset, calls `inside` and returns true.
    mutating func meet(
        _ component: EntryPath.Component, at offset: Int, inside: (inout EntrySearch) -> Void
    ) -> Bool {
        path.components.append(component)
        defer { path.components.removeLast() }
        guard wanted.contains(path) else { return false }
        // The last value of a duplicate key is used.
        offsets[path] = offset
        inside(&self)
        return true
    }

    /// Converts the offsets to lines and columns in one pass over the text.
    func locations(in bytes: [UInt8], from start: Int) -> [EntryPath: TextLocation] {
        var locations: [EntryPath: TextLocation] = [:]
        var (line, column, at) = (1, 1, start)
        for (path, offset) in offsets.sorted(by: { $0.value < $1.value }) {
            while at < min(offset, bytes.count) {
                let byte = bytes[at]
                let isSecondOfTwo = byte == 0x0A && at > 0 && bytes[at - 1] == 0x0D
                if byte == 0x0D || (byte == 0x0A && !isSecondOfTwo) {
                    (line, column) = (line + 1, 1)
                } else if byte != 0x0A, byte & 0xC0 != 0x80 {
                    column += 1
                }
                at += 1
            }
            locations[path] = TextLocation(line: line, column: column)
        }
        return locations
    }
}
