internal import PropertyLists

/// The state of a mirror: the writes that no other write dominates, in the order of their paths.
///
/// They are stored in sorted runs of at most 512, so that a lookup is a binary search and an insertion moves few
/// writes.
package struct MergeState: Sendable {
    private var runs: [[VersionedWrite]] = []
    package private(set) var count = 0
    /// The number of writes by path depth. A lookup skips depths at which there are none.
    private var countByDepth: [Int] = []

    private static let longestRun = 512

    package init() {}

    /// The result of joining a write.
    package enum Outcome: Hashable, Sendable {
        /// The state holds the write already.
        case known
        /// The write is dominated by each of these, shortest path first.
        case dominated(by: [VersionedWrite])
        /// The write was added, and these were removed.
        case joined(displaced: [VersionedWrite])
    }

    /// Adds a write according to the merge rule.
    @discardableResult
    package mutating func join(_ write: VersionedWrite) -> Outcome {
        let place = place(of: write.path)
        let former = self.write(at: place).flatMap { $0.path == write.path ? $0 : nil }
        if let former, former.isSameWrite(as: write) { return .known }
        let winners = (above(write.path, withItself: false) + [former].compactMap(\.self))
            .filter { $0.isAfter(write) }
        if !winners.isEmpty { return .dominated(by: winners) }
        let displaced = under(write.path, from: place).filter { write.isAfter($0) }
        if displaced.isEmpty {
            insert(write, at: place)
        } else if displaced.count == 1, displaced[0].path == write.path {
            runs[place.run][place.index] = write
        } else {
            for other in displaced { remove(at: other.path) }
            insert(write, at: self.place(of: write.path))
        }
        return .joined(displaced: displaced)
    }
}

// MARK: Lookup

extension MergeState {
    package func write(at path: Path) -> VersionedWrite? {
        guard let write = write(at: place(of: path)), write.path == path else { return nil }
        return write
    }

    private func write(at place: Place) -> VersionedWrite? {
        guard place.run < runs.count, place.index < runs[place.run].count else { return nil }
        return runs[place.run][place.index]
    }

    /// Whether there are writes whose paths have this number of components.
    func hasWrites(ofDepth depth: Int) -> Bool { depth < countByDepth.count && countByDepth[depth] > 0 }

    /// Whether no write's path has more components than this.
    func isAtMost(deep depth: Int) -> Bool { !countByDepth.dropFirst(depth + 1).contains { $0 > 0 } }

    /// Returns the writes above the path, and by default at it, shortest path first.
    package func above(_ path: Path, withItself: Bool = true) -> [VersionedWrite] {
        var found: [VersionedWrite] = []
        for (depth, end) in zip(1..., path.ends) where hasWrites(ofDepth: depth) {
            guard withItself || end < path.bytes.count else { break }
            if let write = write(at: end < path.bytes.count ? path.prefix(bytes: end) : path) { found.append(write) }
        }
        return found
    }

    /// Returns the writes at the path and below it, each after those above it.
    package func under(_ path: Path) -> [VersionedWrite] { under(path, from: place(of: path)) }

    private func under(_ path: Path, from place: Place) -> [VersionedWrite] {
        var (found, place) = ([VersionedWrite](), place)
        while place.run < runs.count {
            let run = runs[place.run]
            while place.index < run.count {
                guard path.isPrefix(of: run[place.index].path) else { return found }
                found.append(run[place.index])
                place.index += 1
            }
            place = (place.run + 1, 0)
        }
        return found
    }

    /// Returns the writes above the path, at it and below it.
    package func overlapping(_ path: Path) -> [VersionedWrite] { above(path, withItself: false) + under(path) }

    /// Calls `body` with every write, in the order of paths.
    package func visit(_ body: (VersionedWrite) -> Void) {
        for run in runs { for write in run { body(write) } }
    }

    package var writes: [VersionedWrite] { runs.flatMap { $0 } }

    /// The domains that have writes, in the order of paths.
    package var domains: [String] {
        var (domains, place) = ([String](), (run: 0, index: 0))
        while place.run < runs.count {
            let domain = runs[place.run][place.index].path.prefix(components: 1)
            domains.append(domain.domain)
            place = self.place { $0 < domain || domain.isPrefix(of: $0) }
        }
        return domains
    }

    private typealias Place = (run: Int, index: Int)

    /// Returns the place at which `path` is or would be inserted. The first line is a fast path for bulk loading, in
    /// which paths arrive in ascending order.
    private func place(of path: Path) -> Place {
        if let last = runs.last?.last, last.path < path { return (runs.count, 0) }
        return place { $0 < path }
    }

    /// Returns the place of the first path for which `isBefore` is false.
    private func place(where isBefore: (Path) -> Bool) -> Place {
        let run = Self.firstIndex(in: runs.count) { runs[$0].last.map { isBefore($0.path) } ?? true }
        guard run < runs.count else { return (run, 0) }
        return (run, Self.firstIndex(in: runs[run].count) { isBefore(runs[run][$0].path) })
    }

    /// Returns the first of `count` indices for which `isBefore` is false, by binary search.
    private static func firstIndex(in count: Int, isBefore: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

// MARK: Changes

extension MergeState {
    /// Inserts a write at a path that has none.
    private mutating func insert(_ write: VersionedWrite, at place: Place) {
        note(write.path, 1)
        var place = place
        if place.run == runs.count {
            guard let last = runs.last, last.count < Self.longestRun else {
                runs.append([write])
                return
            }
            place = (runs.count - 1, last.count)
        }
        runs[place.run].insert(write, at: place.index)
        if runs[place.run].count > Self.longestRun { split(place.run) }
    }

    private mutating func note(_ path: Path, _ change: Int) {
        count += change
        let depth = path.depth
        while countByDepth.count <= depth { countByDepth.append(0) }
        countByDepth[depth] += change
    }

    private mutating func split(_ run: Int) {
        let half = runs[run].count / 2
        let upper = Array(runs[run][half...])
        // The lower half is copied so that it does not keep the capacity of the whole run.
        runs[run] = Array(runs[run][..<half])
        runs.insert(upper, at: run + 1)
    }

    /// Removes the write at a path. The merge never removes writes; a writer uses this to withdraw a write that no
    /// other host has seen.
    @discardableResult
    package mutating func remove(at path: Path) -> VersionedWrite? {
        let place = place(of: path)
        guard place.run < runs.count, place.index < runs[place.run].count else { return nil }
        guard runs[place.run][place.index].path == path else { return nil }
        note(path, -1)
        let write = runs[place.run].remove(at: place.index)
        if runs[place.run].isEmpty { runs.remove(at: place.run) }
        return write
    }
}

extension MergeState: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && left.runs.joined().elementsEqual(right.runs.joined())
    }

    package func hash(into hasher: inout Hasher) { visit { hasher.combine($0) } }
}

/// The view of the state: the value of the write with the shortest path, changed by each newer write below it.
extension MergeState {
    /// Returns the value at a path, or nil if there is none.
    package func value(at path: Path) -> CanonicalValue? {
        if path.depth == 2, !hasWrites(ofDepth: 1), isAtMost(deep: 2) { return write(at: path)?.value.value }
        let (under, above) = (under(path), above(path, withItself: false))
        if above.isEmpty, under.isEmpty { return nil }
        if under.count == 1, let write = under.first, write.path == path { return write.value.value }
        return merged(path, above: above, under: under)
    }

    /// Returns the value at a path, from the writes above it and those at or below it.
    private func merged(_ path: Path, above: [VersionedWrite], under: [VersionedWrite]) -> CanonicalValue? {
        guard let value = patched(path, above: above, under: under) else { return nil }
        // All parts are within the limits, so only the size of the whole can exceed one.
        return (try? CanonicalValue(value)) ?? fitting(path, above: above, under: under)
    }

    /// Applies only as many writes, in the order of paths, as the limit of a value allows. All hosts leave out the same
    /// ones, and show them again when there is room.
    private func fitting(_ path: Path, above: [VersionedWrite], under: [VersionedWrite]) -> CanonicalValue? {
        var (fitting, beyond) = (0, under.count)
        var found = patched(path, above: above, under: []).flatMap { try? CanonicalValue($0) }
        while beyond - fitting > 1 {
            let count = (fitting + beyond) / 2
            let value = patched(path, above: above, under: Array(under.prefix(count)))
            if let value, (try? CanonicalValue(value)) == nil {
                beyond = count
            } else {
                (fitting, found) = (count, value.flatMap { try? CanonicalValue($0) })
            }
        }
        return found
    }

    private func patched(_ path: Path, above: [VersionedWrite], under: [VersionedWrite]) -> PropertyList? {
        var value: PropertyList?
        if let nearest = above.last {
            let rest = path.components.dropFirst(nearest.path.depth)
            value = rest.reduce(nearest.value.value?.propertyList) { $0?[$1] }
        }
        let depth = path.depth
        for write in Rule.patchesViews.isKept ? under[...] : under.prefix(1) {
            let rest = write.path.components.dropFirst(depth)
            value.write(write.value.value?.propertyList, at: rest)
        }
        return value
    }

    /// Returns the keys of a domain and their values, in the order of paths.
    package func keys(of domain: String) -> [(key: String, value: CanonicalValue)] {
        keys(under: Path(domain: domain)).map { ($0.path.key ?? "", $0.value) }
    }

    /// Returns the paths of a domain's keys and their values, in order. A path is that of a write where a single write
    /// sets the key.
    func keys(under domain: Path) -> [(path: Path, value: CanonicalValue)] {
        var writes = under(domain)[...]
        if let first = writes.first, first.path == domain {
            if first.value.value != nil { return keysOfWholeValue(domain) }
            writes.removeFirst()
        }
        var (keys, start) = ([(path: Path, value: CanonicalValue)](), writes.startIndex)
        keys.reserveCapacity(writes.count)
        while start < writes.endIndex {
            let keyPath = writes[start].path.prefix(components: 2)
            let end = writes[start...].firstIndex { !keyPath.isPrefix(of: $0.path) } ?? writes.endIndex
            if let value = value(at: keyPath, from: writes[start..<end]) { keys.append((keyPath, value)) }
            start = end
        }
        return keys
    }

    /// Returns the value of a key that no write above it sets, from the writes at and below it.
    private func value(at path: Path, from writes: ArraySlice<VersionedWrite>) -> CanonicalValue? {
        if writes.count == 1, let write = writes.first, write.path == path { return write.value.value }
        return merged(path, above: [], under: Array(writes))
    }

    /// Returns the keys of a domain that was written as one value. No host writes these, but a file can contain one.
    private func keysOfWholeValue(_ path: Path) -> [(path: Path, value: CanonicalValue)] {
        guard let entries = value(at: path)?.propertyList.dictionaryValue else { return [] }
        return entries.compactMap { entry in
            (try? CanonicalValue(entry.value)).map { (path.appending(entry.key), $0) }
        }
    }
}

extension PropertyList? {
    /// Writes a value at a path of dictionary keys; nil removes the value there. A value on the path that is not a
    /// dictionary is replaced by one.
    mutating func write(_ value: PropertyList?, at path: ArraySlice<String>) {
        guard let first = path.first else {
            self = value
            return
        }
        var entries = self?.dictionaryValue ?? PropertyList.Dictionary()
        if value == nil, self?.dictionaryValue == nil { return }
        var entry = entries[first]
        entry.write(value, at: path.dropFirst())
        entries[first] = entry
        self = .dictionary(entries)
    }
}
