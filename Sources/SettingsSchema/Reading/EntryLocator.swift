package import PropertyLists

/// Finds where in a text entries stand, all of them in one walk.
///
/// The text has been read before, so that what it means is known: the walk only counts keys and brackets, and gives up
/// where it meets what it does not know.
package struct EntryLocator {
    private let locations: [EntryPath: TextLocation]

    /// Nil for bytes that are no text in UTF-8.
    package init?(_ bytes: [UInt8], for paths: some Sequence<EntryPath>) {
        guard !PropertyList.isBinary(bytes), !bytes.contains(0) else { return nil }
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var search = EntrySearch(for: paths)
        if bytes[start...].first(where: { $0 > 0x20 }) == UInt8(ascii: "<") {
            var walk = XMLWalk(bytes, from: start)
            walk.walk(&search)
        } else {
            var walk = BracketWalk(bytes, from: start)
            walk.walk(&search)
        }
        locations = search.locations(in: bytes, from: start)
    }

    /// Line and column of the entry at `path`, or of the last on the way to it that is there.
    package func location(of path: EntryPath) -> TextLocation? {
        var path = path
        while true {
            if let location = locations[path] { return location }
            guard path.components.popLast() != nil else { return nil }
        }
    }
}
