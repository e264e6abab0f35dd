/// A file of another writer that cannot be joined as it is: not whole yet, damaged, out of reach, or too new.
package struct FaultyFile: Hashable, Sendable {
    /// When it was first found so.
    let since: Int64
    private var lastRead: Int64
    /// How long it was; 0 where nobody has looked.
    private var size: Int
    let kind: Kind

    enum Kind: Hashable, Sendable {
        case damaged
        /// Whole, but of use to a newer program only.
        case tooNew
        /// Whole, but for long values, whose coming does not show in it.
        case lacksBlobs
    }

    /// The longest that it is left alone, in milliseconds: damaged, or without the values that may come at any time.
    private static let longest: Int64 = 600_000
    private static let longestWithoutBlobs: Int64 = 60_000

    init(_ former: FaultyFile?, _ kind: Kind, size: Int, at now: Int64) {
        since = former?.since ?? now
        lastRead = now
        self.size = size
        self.kind = kind
    }

    /// Whether it may be another one by now: it is longer, or it was left alone half as long as it was known when it
    /// was last read. A file that comes whole in the end is so read soon, and one that never does ever more seldom.
    func isWorthReading(size: Int, at now: Int64) -> Bool {
        if size != self.size { return true }
        let longest = kind == .lacksBlobs ? Self.longestWithoutBlobs : Self.longest
        return kind != .tooNew && (now < lastRead || now - lastRead >= min((lastRead - since) / 2, longest))
    }
}
