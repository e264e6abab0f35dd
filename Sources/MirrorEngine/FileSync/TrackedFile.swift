/// The state of a domain's preference file in the mirror: the file has the values of the view, except for some keys.
package struct TrackedFile: Hashable, Sendable {
    /// The file as it was last read or written, or nil if there was none.
    package internal(set) var file: FileIdentity?
    package internal(set) var hash: ContentHash?
    /// The hashes of the file's former generations, latest first.
    package internal(set) var generations: [ContentHash] = []
    /// The keys whose value in the file differs from the view.
    package internal(set) var exceptions: [Path: Exception] = [:]
    /// The reason the file is left alone until a user decides.
    package internal(set) var held: HoldReason?
    package internal(set) var isMirrored = true
    /// Whether the file was read since the domain began to be mirrored.
    package internal(set) var isCaptured = false
    /// The reason that changes in the file may not be edits by its user.
    package internal(set) var suspicion: Suspicion?
    /// What the file showed before the mirror changed it.
    package internal(set) var past = Past()
    /// The changes of a write that a crash may have prevented. The file has not been captured since.
    package internal(set) var interrupted: [Path: Replacement] = [:]

    static let mostGenerations = 64

    package init() {}

    /// A key whose value in the file differs from the view.
    package struct Exception: Hashable, Sendable {
        /// The value in the file, or nil if there is none.
        package let value: CanonicalValue?
        package let reason: Reason
        /// The written values that the file shows, or none if that is unknown.
        package var shown: [Shown] = []

        /// Whether the value in the mirror must still reach the file.
        package var isPending: Bool { reason == .pending || reason == .returned }

        package enum Reason: UInt8, Hashable, Sendable {
            /// The file must still be changed.
            case pending
            /// The format of the file cannot hold the mirror's value.
            case format
            /// The value exceeds a limit of the mirror.
            case limit
            /// The key stays on this host or is left to each host. Earlier versions did not say which.
            case local
            /// The key is left to each host.
            case left
            /// The key was left to each host, and is mirrored again.
            case returned
            /// The key stays on this host by a declaration.
            case kept
            /// The key stays on this host because its user did not select it.
            case unselected
        }
    }

    package struct Replacement: Hashable, Sendable {
        package let old: CanonicalValue?
        package let new: CanonicalValue?
    }

    package enum Suspicion: UInt8, Hashable, Sendable {
        /// The file came back from a backup.
        case fileIsOlder
        /// The mark beside the file is gone, so the file may have come back from a backup.
        case markIsGone
        /// The state of the mirror was lost, or came back from a backup.
        case stateIsOlder
    }

    /// Makes the next write try again the values that the format of the file could not hold.
    mutating func retryFormats() {
        for (key, exception) in exceptions where exception.reason == .format {
            exceptions[key] = Exception(value: exception.value, reason: .pending, shown: exception.shown)
        }
    }

    /// The keys that differ between this host and the others until their values change.
    package var unmirrored: [Path: Exception] {
        exceptions.filter { $0.value.reason == .format || $0.value.reason == .limit }
    }

    /// Returns what the file showed before these changes and before earlier ones.
    func past(after changes: [Path: Replacement], kind: (Path) -> MergeKind = { _ in .entries }) -> Past {
        var past = past
        past.add(changes, kind: kind) { exceptions[$0]?.shown ?? [] }
        return past
    }

    /// Whether the file must still be changed.
    package var isPending: Bool { exceptions.values.contains(where: \.isPending) }
}

/// What a preference file showed before each change that the mirror made in it.
///
/// A program can have read the file before, and write the former values back. Its user has then not seen the values
/// that the mirror brought since.
package struct Past: Hashable, Sendable {
    /// The number of the last change that the mirror made in the file.
    private(set) var last: UInt64 = 0
    /// For each path, what the file showed there, oldest first.
    fileprivate(set) var views: [Path: [View]] = [:]
    /// The last change about which something was forgotten.
    private(set) var forgotten: UInt64 = 0

    struct View: Hashable, Sendable {
        /// The change that ended it.
        let change: UInt64
        /// The value that the file showed, and the one that the mirror brought.
        let before: ValueHash
        let brought: ValueHash
        let shown: [Shown]
    }

    /// The beginning of the hash of a value, or 0 for no value.
    struct ValueHash: Hashable, Sendable {
        let number: UInt64

        init(number: UInt64) { self.number = number }
        init(_ value: CanonicalValue?) { number = value.map { max(1, $0.contentHash.prefix) } ?? 0 }
    }

    private static let mostOfPath = 64
    private static let mostViews = 8192

    init() {}

    init(last: UInt64, views: [Path: [View]], forgotten: UInt64) {
        (self.last, self.views, self.forgotten) = (last, views, forgotten)
    }

    /// Records that the mirror changed the file.
    mutating func add(
        _ changes: [Path: TrackedFile.Replacement], kind: (Path) -> MergeKind = { _ in .entries },
        shown: (Path) -> [Shown]
    ) {
        guard !changes.isEmpty else { return }
        last += 1
        // Of more views than are kept, none is kept.
        let count = changes.values.count { $0.old != $0.new && !($0.new?.isFilledDictionary ?? false) }
        guard count <= Self.mostViews else {
            (views, forgotten) = ([:], last)
            return
        }
        for (key, change) in changes {
            let all = shown(key)
            // The entries of a dictionary, the elements of a set and the records of a list can be written back one by
            // one.
            let rule: MergeKind =
                switch kind(key) {
                case .set, .list: kind(key)
                case .value, .entries, .counter, .maximum, .minimum: .entries
                }
            let parts = Difference.writes(from: change.old, to: change.new, at: key, kind: rule)
            let former = IndexedValues(change.old.map { [key: $0] } ?? [:])
            for write in parts {
                let before = former.value(at: write.path)
                views[write.path, default: []].append(
                    View(
                        change: last, before: ValueHash(before), brought: ValueHash(write.value.value),
                        shown: all.within(Region(write.path))))
                if let former = views[write.path], former.count > Self.mostOfPath {
                    forgotten = max(forgotten, former[0].change)
                    views[write.path]?.removeFirst()
                }
            }
        }
        forgetOldest()
    }

    /// Removes the oldest views if there are too many.
    private mutating func forgetOldest() {
        let count = views.values.reduce(0) { $0 + $1.count }
        guard count > Self.mostViews else { return }
        let changes = views.values.joined().map(\.change).sorted()
        let oldest = changes[count - Self.mostViews - 1]
        for (path, former) in views {
            let kept = former.filter { $0.change > oldest }
            views[path] = kept.isEmpty ? nil : kept
        }
        forgotten = max(forgotten, oldest)
    }

    /// Returns the last change that a program had certainly read when it wrote these values: it kept a value that the
    /// change had brought, and that the file had not shown before.
    func lastSeen(in values: IndexedValues) -> UInt64 {
        var seen: UInt64 = 0
        for (path, views) in views {
            guard let newest = views.last, newest.change > seen else { continue }
            let hash = ValueHash(values.value(at: path))
            let first = views.first { $0.before == hash || $0.brought == hash }
            if let first, first.before != hash { seen = max(seen, first.change) }
        }
        return seen
    }

    /// Returns the places where a write brings back what the file showed before a change that its program had not read,
    /// and what the file certainly showed there when the program read it.
    func reverted(byWriteAt path: Path, in values: IndexedValues, after seen: UInt64) -> [(Region, [Shown])] {
        views.filter { path.overlaps($0.key) }.sorted { $0.key < $1.key }.compactMap { place, views in
            let hash = ValueHash(values.value(at: place))
            // The program has read the file before one of these changes.
            let ended = views.filter { $0.change > seen && $0.before == hash && $0.brought != hash }
            guard let first = ended.first else { return nil }
            return (Region(place), ended.dropFirst().reduce(first.shown) { $0.inBoth($1.shown) })
        }
    }
}

extension Past {
    mutating func rename(_ names: [AtomName: AtomName]) {
        for (path, views) in views where views.contains(where: { $0.shown.contains { names[$0.name] != nil } }) {
            self.views[path] = views.map { view in
                View(
                    change: view.change, before: view.before, brought: view.brought,
                    shown: view.shown.renamed(names))
            }
        }
    }
}

/// The attributes that distinguish one generation of a file from all others.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    package let size: Int64
    package let modified: Int64
    package let changed: Int64

    package init(device: UInt64, inode: UInt64, size: Int64, modified: Int64, changed: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }
}

/// The reason a domain is left alone until a user decides.
package enum HoldReason: UInt8, Hashable, Sendable {
    case missing
    case empty
    case unreadable
    /// More than half of the keys are gone at once.
    case emptied
    /// The file has the contents of a former generation.
    case rolledBack
    /// The mirror has settings of a later version than this host supports.
    case newerVersion
}
