/// A file of another writer that cannot be joined as it is: incomplete, damaged, unreadable, or too new.
package struct FaultyFile: Hashable, Sendable {
    /// The time at which the file was first found faulty.
    let since: Int64
    private var lastRead: Int64
    /// The size of the file, or 0 if it is unknown.
    private var size: Int
    let kind: Kind

    enum Kind: Hashable, Sendable {
        case damaged
        /// Valid, but requires a newer version.
        case tooNew
        /// Valid, but blobs are missing. Their arrival does not change this file.
        case lacksBlobs
    }

    /// The longest interval between two attempts to read the file, in milliseconds. It is shorter for missing blobs,
    /// which can arrive at any time.
    private static let longest: Int64 = 600_000
    private static let longestWithoutBlobs: Int64 = 60_000

    init(_ former: FaultyFile?, _ kind: Kind, size: Int, at now: Int64) {
        since = former?.since ?? now
        lastRead = now
        self.size = size
        self.kind = kind
    }

    /// Whether the file may have changed: its size differs, or half of the time that it was known when last read
    /// has passed since. A file that becomes complete is read soon, and one that does not is read ever less often.
    func isWorthReading(size: Int, at now: Int64) -> Bool {
        if size != self.size { return true }
        let longest = kind == .lacksBlobs ? Self.longestWithoutBlobs : Self.longest
        return kind != .tooNew && (now < lastRead || now - lastRead >= min((lastRead - since) / 2, longest))
    }
}
