/// Which keys have changed, counted by versions. Only the last ones are known by name.
struct ChangeLog: Sendable {
    private(set) var version: UInt64 = 1
    private var recent: [Change] = []

    struct Change: Sendable {
        let key: String
        /// Whether this process made it.
        let isOwn: Bool
    }

    private static let most = 512

    /// Notes a change and returns the version that it makes.
    @discardableResult
    mutating func note(_ key: String, isOwn: Bool) -> UInt64 {
        // Half of them at a time, so that a change costs the same whenever it comes.
        if recent.count == Self.most { recent.removeFirst(Self.most / 2) }
        recent.append(Change(key: key, isOwn: isOwn))
        version += 1
        return version
    }

    /// The changes since the version; nil if there were too many to tell.
    func changes(since former: UInt64) -> [Change]? {
        let count = version - former
        return count <= recent.count ? Array(recent.suffix(Int(count))) : nil
    }
}
