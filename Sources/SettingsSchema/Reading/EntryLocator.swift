package import PropertyLists

/// Finds the locations of entries in a text, in one pass.
///
/// The text has already been parsed successfully, so this only counts keys and brackets, and gives up at anything
/// unexpected.
package struct EntryLocator {
    private let locations: [EntryPath: TextLocation]

    /// Creates a locator, or returns nil if the bytes are not UTF-8 text.
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

    /// Returns the line and column of the entry at `path`, or of its nearest existing ancestor.
    package func location(of path: EntryPath) -> TextLocation? {
        var path = path
        while true {
            if let location = locations[path] { return location }
            guard path.components.popLast() != nil else { return nil }
        }
    }
}
