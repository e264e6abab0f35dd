/// The last changed keys, with a version for each change.
struct ChangeLog: Sendable {
    private(set) var version: UInt64 = 1
    private var recent: [Change] = []

    struct Change: Sendable {
        let key: String
        /// Whether this process made the change.
        let isOwn: Bool
    }

    private static let most = 512

    /// Records a change. Returns its version.
    @discardableResult
    mutating func note(_ key: String, isOwn: Bool) -> UInt64 {
        // Removes half of the entries at a time, so that the average cost of a change is constant.
        if recent.count == Self.most { recent.removeFirst(Self.most / 2) }
        recent.append(Change(key: key, isOwn: isOwn))
        version += 1
        return version
    }

    /// Returns the changes since a version, or nil if they are no longer known.
    func changes(since former: UInt64) -> [Change]? {
        let count = version - former
        return count <= recent.count ? Array(recent.suffix(Int(count))) : nil
    }
}
