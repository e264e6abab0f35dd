internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PropertyLists

/// The times at which the keys of a file were written, as far as the history has them.
///
/// A file has one time for all of its keys. Several changes between two exchanges would all have the time of the last.
struct WriteTimes: Hashable, Sendable {
    /// The times by key, in milliseconds since 1970. A key that is in no version is missing.
    var ofKeys: [String: Int64] = [:]
    /// The time at which the domain was deleted, or nil if it was not deleted or no version records it.
    var ofRemoval: Int64?
}

extension History {
    /// Returns the time since which each key has had its present value.
    ///
    /// A key is dated by the oldest version of the trailing run in which it already had that value. A deleted key is
    /// dated likewise, by the versions without it.
    ///
    /// - Parameters:
    ///   - values: The present values, which are empty if there is no file.
    ///   - lastRead: The file as it was last read, or nil if there was none. Older versions are ignored.
    func writeTimes(of values: PropertyList.Dictionary, since lastRead: MirrorEngine.FileIdentity?) -> WriteTimes {
        let versions = versions
        let limit = lastRead.map { max($0.modified, $0.changed) / 1_000_000 } ?? .min
        let start = versions.lastIndex { $0.time.milliseconds <= limit }.map { $0 + 1 } ?? 0
        let newer = versions[start...]
        var times = WriteTimes()
        guard let newest = newer.last else { return times }
        if values.isEmpty, state(of: newest) == .absent { times.ofRemoval = newest.time.milliseconds }
        // For a single change, the time of the file is sufficient.
        guard newer.count > 1 else { return times }
        var running = Set(values.keys)
        var removed: Set<String> = []
        // The version before `newer` is used only to find the keys that the first version in `newer` deleted.
        for index in versions.indices[max(0, start - 1)...].reversed() {
            // Unreadable versions are never crossed, because their values are unknown.
            guard let former = state(of: versions[index])?.values else { return times }
            if index >= start {
                running = running.filter { former[$0] == values[$0] }
                for key in running { times.ofKeys[key] = versions[index].time.milliseconds }
            }
            for key in former.keys where values[key] == nil && removed.insert(key).inserted {
                // A key that the newest version still has was removed by a program that records no versions.
                if index + 1 < versions.count { times.ofKeys[key] = versions[index + 1].time.milliseconds }
            }
        }
        return times
    }
}
