package import MirrorEngine
package import Platform
internal import Preferences

/// How a mirror stands: the facts, for whoever shows them.
package struct MirrorStatus: Sendable {
    package let id: MirrorID
    package let directory: FilePath
    package let label: String
    package let writer: WriterID
    package let standing: Standing
    /// Why the directory cannot be used; nil if it can.
    package let obstacle: SharedDirectory.Obstacle?
    package fileprivate(set) var condition: MirrorCondition
    /// Whether this host is going to leave and could not say so yet.
    package let isLeaving: Bool
    /// Whether nothing of this host can be created in the directory, as far as that shows.
    package let isReadOnly: Bool
    /// Whether a program keeps the mirror up to date right now.
    package let isWatched: Bool
    package let patterns: [String]
    /// The domains that take part and are known here.
    package let domains: [String]
    package let hosts: [Host]
    /// Changes that are still to be published.
    package let pending: Int
    /// Files that this host has published and that are missing in the directory.
    package let missing: Int
    /// Files of others that were not read yet.
    package let unread: Int
    /// The domains whose files are still to be written.
    package let unwritten: [String]
    package let held: [(domain: String, reason: Held)]
    package let conflicts: Int
    /// Conflicts that had to be given up for others.
    package let evictedConflicts: Int
    /// Deletes that are remembered, so that nothing comes back.
    package let deletes: Int
    package let entries: Int
    /// What this host has in the directory, and may have.
    package let bytes: Int
    package let mostBytes: Int
    /// What could not be done.
    package let troubles: [String]

    /// Another host that takes part.
    package struct Host: Hashable, Sendable {
        package let label: String
        package let writer: WriterID
        /// When something last changed in its folder; nil where the folder is not in view.
        package let lastChange: Timestamp?
        package let hasLeft: Bool
        package let isRetired: Bool
        /// Whether its folder cannot be looked into.
        package let isClosed: Bool
        /// How far the newest of its changes lies in the future, where that is more than a slip.
        package let clockIsAhead: Duration?
    }
}

extension MirrorSession {
    /// How the mirror stands. Nothing is exchanged.
    package mutating func status() throws(MirrorFailure) -> MirrorStatus {
        try begin(patience: .seconds(5))
        defer { end() }
        let look = directory.look(for: id, isChosen: configuration.isChosen)
        try send(.directory(look))
        let hasLeft = engine.standing == .left
        let listing = try? directory.listing(own: engine.local.writer)
        if let listing { note(closed: listing) }
        let pending = hasLeft ? 0 : pendingCount
        let unread = hasLeft ? 0 : listing.map { unreadFiles($0).count } ?? 0
        let missing = engine.standing == .present ? listing.map { engine.missingFiles(in: $0) } ?? 0 : 0
        var status = MirrorStatus(
            id: id, directory: directory.path, label: configuration.label, writer: engine.local.writer,
            standing: engine.standing, obstacle: obstacle, condition: condition(after: takeReports()),
            isLeaving: isLeaving,
            isReadOnly: isReadOnly, isWatched: isWatched, patterns: configuration.selection.patterns, domains: domains,
            hosts: hosts, pending: pending, missing: missing, unread: unread, unwritten: pendingDomains.sorted(),
            held: held,
            conflicts: openConflicts.count, evictedConflicts: engine.local.conflicts.evicted, deletes: deleteCount,
            entries: engine.local.atoms.count, bytes: engine.local.folder.size,
            mostBytes: engine.limits.bytesOfWriter, troubles: troubles)
        status.condition = max(status.condition, conditionOfNext(status))
        if let listing, !engine.ignoredWriters(listing).isEmpty { status.condition = max(status.condition, .overQuota) }
        return status
    }

    /// How the next exchange would find things, as far as that shows.
    private func conditionOfNext(_ status: MirrorStatus) -> MirrorCondition {
        guard status.standing == .present else { return .inSync }
        if isOverQuota { return .overQuota }
        if status.isReadOnly, status.pending > 0 || !engine.hasSaidAll { return .readOnly }
        return status.unread + status.pending + status.missing > 0 || status.isLeaving ? .waiting : .inSync
    }

    /// Whether what is to be said is over a limit: what an engine says that is told to publish, and then let go.
    private var isOverQuota: Bool {
        guard !engine.hasSaidAll else { return false }
        var trial = engine
        return trial.handle(.publish, at: moment).contains(.report(.waiting(.quota)))
    }

    private var isLeaving: Bool { engine.local.participation == .leaving && !engine.local.folder.hasLeft }

    private var isReadOnly: Bool {
        guard engine.standing == .present else { return false }
        let own = engine.local.folder.created.filter { $0.value.supersededAt == nil }.keys.min()
        return directory.isReadOnly(for: engine.local.writer, with: own, as: machine.environment.user)
    }

    /// The conflicts that nobody has decided, with the numbers by which they are called.
    package var openConflicts: [(number: Int, conflict: ConflictJournal.Conflict)] {
        zip(1..., engine.local.conflicts.conflicts).filter { $0.1.resolvedAt == nil }.map { ($0.0, $0.1) }
    }

    /// The domains that take part and are known here.
    package var domains: [String] {
        engine.local.shadows.filter(\.value.isMirrored).keys.sorted().map(\.domain)
    }

    private var held: [(domain: String, reason: Held)] {
        engine.local.shadows.sorted { $0.key < $1.key }.compactMap { path, shadow in
            shadow.isMirrored ? shadow.held.map { (path.domain, $0) } : nil
        }
    }

    private var pendingCount: Int {
        let changed = engine.local.shadows.contains { path, shadow in
            let presence = preferences.presence(of: path.domain)
            return shadow.isMirrored && shadow.held == nil && presence != .unknown
                && (!shadow.isCaptured || presence.identity != shadow.file)
        }
        return engine.local.outbox.count + (changed ? 1 : 0)
    }

    private func unreadFiles(_ listing: Listing) -> [PackAddress] {
        listing.folders.filter { $0.key != engine.local.writer }.flatMap { writer, names in
            let joined = engine.local.peers[writer]?.joined ?? []
            return names.keys.compactMap { PackName($0) }.filter { !joined.contains($0.hash) }
                .map { PackAddress(writer: writer, name: $0) }
        }
    }

    private var hosts: [MirrorStatus.Host] {
        let former = engine.local.formerWriters
        return engine.local.peers.filter { $0.key != engine.local.writer && !former.contains($0.key) }
            .sorted { $0.key < $1.key }.map { writer, peer in
                let ahead = Int64(peer.lastStamp.milliseconds) - machine.clock.wall.milliseconds
                return MirrorStatus.Host(
                    label: host(writer), writer: writer, lastChange: directory.lastChange(of: writer),
                    hasLeft: peer.note?.hasLeft ?? false, isRetired: engine.local.retired.contains(writer),
                    isClosed: closedFolders.contains(writer),
                    clockIsAhead: ahead > Self.clockTolerance ? .milliseconds(ahead) : nil)
            }
    }

    /// How far ahead the clock of another host may be before people are told, in milliseconds.
    private static let clockTolerance: Int64 = 600_000

    private var deleteCount: Int {
        var count = 0
        engine.local.atoms.visit { if $0.value == .deleted { count += 1 } }
        return count
    }

    /// Whether some process has the lock of those who watch.
    private var isWatched: Bool {
        let path = folder.appending("watch")
        guard case .busy? = try? files.openLocked(path, .writing, .exclusive) else { return false }
        return true
    }
}
