package import MirrorEngine
package import Platform
internal import Preferences
package import PropertyLists

/// The status of a mirror, as facts to be presented.
package struct MirrorStatus: Sendable {
    package let id: MirrorID
    package let directory: FilePath
    package let label: String
    package let writer: WriterID
    package let directoryStatus: DirectoryStatus
    /// The reason the directory cannot be used, or nil if it can.
    package let obstacle: SharedDirectory.Obstacle?
    package fileprivate(set) var condition: MirrorCondition
    /// Whether this host is leaving and could not announce it yet.
    package let isLeaving: Bool
    /// Whether the directory is evidently not writable for this host.
    package let isReadOnly: Bool
    /// Whether a running program keeps the mirror up to date.
    package let isWatched: Bool
    package let patterns: [String]
    /// The mirrored domains that are known here.
    package let domains: [String]
    package let hosts: [Host]
    /// The number of changes that are still to be published.
    package let pending: Int
    /// The number of files of others that were not joined yet.
    package let unread: Int
    /// The number of files that were read and wait for others, or for the rest of their own bytes.
    package let awaiting: Int
    /// The number of reported files, which are damaged, incomplete or require a newer version.
    package let stuck: Int
    /// The number of files of this host that are missing or damaged in the directory.
    package let lost: Int
    /// Keys that differ between this host and the others until their values change.
    package let unmirrored: [Unmirrored]
    /// The domains whose files must still be written.
    package let unwritten: [String]
    package let held: [(domain: String, reason: HoldReason)]
    /// The selected domains that are not mirrored at present.
    package let leftOut: [Name: LeftOut]
    /// The places of the open conflicts in the mirrored domains.
    package let conflicts: [Path]
    /// The number of recorded deletions.
    package let deletes: Int
    package let entries: Int
    /// The number of new hosts that are ignored, because there are too many.
    package let ignoredHosts: Int
    /// The bytes of this host in the directory, and their limit.
    package let bytes: Int
    package let mostBytes: Int
    /// The signatures of the files; nil in a mirror without them.
    package let signing: MirrorSession.Signing?
    /// Descriptions of failures.
    package internal(set) var troubles: [String]

    /// The reason that a selected domain is not mirrored.
    package enum LeftOut: Hashable, Sendable {
        /// It shares its file with another domain through a link.
        case fileOf(String)
        /// It is the file of a program, and was not selected by its name.
        case adopted
        /// It is another file of a program than the one that was selected.
        case otherFile
        /// The schema by which its keys were selected is missing.
        case withoutSchema
        /// It is the file of a program, and in the folder of the system's settings.
        case ofSystem
        /// It is the file of a program on other hosts, and not on this one.
        case notAdopted
        /// Its schema, which may declare secrets, cannot be read.
        case unreadableSchema(String)
    }

    /// A key that remains different, because a file or the mirror cannot hold its value.
    package struct Unmirrored: Hashable, Sendable {
        package let key: Path
        /// The host that has the value.
        package let host: String
        /// Whether the value exceeds a limit of the mirror. Otherwise, a file of this host cannot hold it.
        package let isBeyondLimit: Bool
        /// The reason the value stays here, if it is of a program's file.
        package let stays: StayReason?
        /// Whether the file here is a text with comments, which another format would not keep.
        package let hasComments: Bool
    }

    /// The reason a value of a program's file stays on its host.
    package enum StayReason: Hashable, Sendable {
        case null(at: EntryPath)
        /// An integer beyond 64 bits.
        case integer
        /// An entry in it has the name of a secret or a program.
        case name(of: EntryPath)
        /// It is longer or deeper than the mirror's limits.
        case size
    }

    /// Another host of the mirror.
    package struct Host: Hashable, Sendable {
        package let label: String
        package let writer: WriterID
        /// The time of the last change in its folder, or nil if the folder is not in view.
        package let lastChange: Timestamp?
        /// Whether this host has published everything that the other one wrote, so that its folder is not needed.
        package let isKept: Bool
        package let hasLeft: Bool
        package let isRetired: Bool
        /// Whether a host with the same label is present, so that this is probably a former number of it. Only the
        /// latest of several is listed.
        package let isFormer: Bool
        /// Whether its folder cannot be listed.
        package let isClosed: Bool
        /// Whether files of it are missing, so that some of its changes are unknown.
        package let lacksChanges: Bool
        /// The time by which its newest change is in the future, or nil if that is within the tolerance.
        package let clockIsAhead: Duration?
        /// Whether its files are no longer accepted.
        package let isExpelled: Bool

        /// Whether its folder is gone, and no user has decided about the host.
        package var isGone: Bool { lastChange == nil && !hasLeft && !isRetired && !isClosed }
        /// Whether its values may be missing too.
        var isMissing: Bool { isGone && !isKept }
    }
}

// MARK: The state of the mirror

extension MirrorSession {
    package var writer: WriterID { engine.status.writer }
    package var directoryStatus: DirectoryStatus { engine.status.directory }
    /// The values in force and the open conflicts, in all domains.
    package var mergeState: MergeState { engine.status.mergeState }
    /// Whether the other hosts were notified that this one has left.
    package var hasLeft: Bool { engine.status.hasLeft }
    /// The number of transactions that are still to be published.
    var unpublishedCount: Int { engine.status.outbox.count }
    /// Whether a key is left to each host, because a schema declares so, or by its name.
    func isDeclaredLocal(_ path: Path) -> Bool { engine.policy.stay(path.domain)(path.key ?? "")?.isDeclared ?? false }

    /// Whether a key is not mirrored.
    package func staysLocal(_ path: Path) -> Bool { engine.policy.staysLocal(path.domain, path.key ?? "") }
    /// Whether our files contain values of a domain.
    package func publishesValues(of domain: String) -> Bool { !engine.status.published(in: domain).isEmpty }
    /// Whether our files still contain values that are no longer in force.
    package var publishesFormerValues: Bool { engine.status.publishesFormerValues }
}

extension MirrorSession {
    /// Returns the status of the mirror. Nothing is exchanged.
    package mutating func status() throws(MirrorFailure) -> MirrorStatus {
        try preferences.checkRecords()
        try begin(patience: .seconds(5))
        defer { end() }
        let look = directory.look(for: id, isChosen: configuration.isChosen)
        try send(.directory(look))
        schemas.reload()
        findLeftOut()
        let isLeft = directoryStatus == .left
        // The files of another mirror are not fetched.
        let isOurs = directoryStatus != .swapped && directoryStatus != .split
        let listing = isOurs ? (try? directory.listing(own: writer, chosen: chosenID)).map { screened($0) } : nil
        if let listing { recordClosedFolders(of: listing) }
        let pending = isLeft ? 0 : pendingCount
        let unread = isLeft ? [] : listing.map { engine.status.unjoinedFiles(in: $0) } ?? []
        let waiting = unread.isEmpty ? nil : journal.pendingWaits?.files
        let waits = unread.compactMap { waiting?[$0] }
        let lost = directoryStatus == .present ? listing.map { engine.status.lossCount(in: $0) } : nil
        var status = MirrorStatus(
            id: id, directory: directory.path, label: configuration.label, writer: writer,
            directoryStatus: directoryStatus, obstacle: obstacle, condition: condition(after: takeReports()),
            isLeaving: engine.status.isLeaving, isReadOnly: isReadOnly, isWatched: isWatched,
            patterns: configuration.selection.patterns, domains: domains,
            hosts: hosts, pending: pending, unread: unread.count,
            awaiting: waits.count { !$0.isReported }, stuck: waits.count(where: \.isReported),
            lost: lost ?? 0, unmirrored: unmirrored, unwritten: pendingDomains.sorted().map(\.domain),
            held: engine.status.heldDomains, leftOut: leftOut,
            conflicts: openConflicts.map(\.place), deletes: deleteCount,
            entries: mergeState.count, ignoredHosts: listing.map { engine.status.ignoredWriters(in: $0).count } ?? 0,
            bytes: engine.status.publishedBytes, mostBytes: engine.limits.bytesOfWriter, signing: signing,
            troubles: troubles)
        status.condition = max(status.condition, conditionOfNext(status))
        if status.ignoredHosts > 0 { status.condition = max(status.condition, .overQuota) }
        if status.condition != .inSync {
            status.troubles += journal.troubles.filter { !status.troubles.contains($0) }
        }
        return status
    }

    /// Returns the status that the next exchange would report, as far as it is evident.
    private func conditionOfNext(_ status: MirrorStatus) -> MirrorCondition {
        guard status.directoryStatus == .present else { return .inSync }
        if engine.status.exceedsQuota(at: moment) { return .overQuota }
        if status.isReadOnly, status.pending > 0 || !engine.status.isFullyPublished { return .readOnly }
        let waits =
            status.unread > 0 || status.pending > 0 || status.isLeaving || status.lost > 0
            || status.hosts.contains(where: \.isMissing)
        return waits ? .waiting : .inSync
    }

    private var isReadOnly: Bool {
        guard directoryStatus == .present else { return false }
        return directory.isReadOnly(for: writer, with: engine.status.requiredFile)
    }

    /// The keys that differ between this host and the others, with the host that has the value.
    private var unmirrored: [MirrorStatus.Unmirrored] {
        engine.status.mirroredFiles.sorted { $0.key < $1.key }.flatMap { _, trackedFile in
            trackedFile.unmirrored.sorted { $0.key < $1.key }.map { key, exception in
                let latest = mergeState.overlapping(key).max { $1.isAfter($0) }
                let isOwn = exception.reason == .limit
                let file = preferences.file(of: key.domain)
                let value = isOwn ? nil : try? mergeState.value(at: key)?.decoded()
                return MirrorStatus.Unmirrored(
                    key: key, host: isOwn ? configuration.label : latest.map { host(of: $0) } ?? "",
                    isBeyondLimit: isOwn,
                    stays: file.flatMap { $0.isAdopted ? stayReason(of: key, in: $0, value, isOwn: isOwn) : nil },
                    hasComments: !isOwn && file?.hasComments(on: system) ?? false)
            }
        }
    }

    /// Returns the reason a key of a program's file stays here, or nil if its value waits for the file.
    ///
    /// - Parameters:
    ///   - value: The value in the mirror.
    ///   - isOwn: Whether the mirror cannot hold the value of this host.
    private func stayReason(
        of key: Path, in file: DomainFile, _ value: PropertyList?, isOwn: Bool
    ) -> MirrorStatus.StayReason? {
        guard let domain = try? DomainName(key.domain), let name = key.key else { return nil }
        func read(_ integers: PropertyList.ReadingOptions.InexactIntegers) -> PropertyList? {
            var file = file
            file.inexactIntegers = integers
            return try? file.contents(on: system).values[name]
        }
        let own = isOwn ? read(.text) : nil
        if let path = (own ?? value).flatMap({ schemas.secrecy(of: domain).firstSuspect(in: $0, under: name) }) {
            return .name(of: path)
        }
        guard isOwn else { return nil }
        if let path = own?.pathToNull { return .null(at: EntryPath([.init(name)] + path.components)) }
        return read(.null)?.hasNulls ?? false ? .integer : .size
    }

    /// The mirrored domains that are known here.
    package var domains: [String] {
        engine.status.mirroredFiles.keys.map { Name($0.domain) }.sorted().map(\.text)
    }

    private var pendingCount: Int {
        let changed = engine.status.mirroredFiles.contains { path, trackedFile in
            let presence = preferences.presence(of: path.domain)
            return trackedFile.held == nil && presence != .unknown
                && isChanged(path, trackedFile, presence.identity)
        }
        return unpublishedCount + (changed ? 1 : 0) + domainsToWithdraw.count
    }

    private var hosts: [MirrorStatus.Host] {
        let others = engine.status.otherWriters.map { other in
            let ahead = Int64(other.lastStamp.milliseconds) - system.clock.wall.milliseconds
            return (
                other: other, label: Name(host(other.writer)), lastChange: directory.lastChange(of: other.writer),
                clockIsAhead: ahead > Self.clockTolerance ? Duration.milliseconds(ahead) : nil
            )
        }
        // This store's former numbers are not among the other writers.
        let present = Set(others.filter { $0.lastChange != nil && !$0.other.hasLeft }.map(\.label))
        var formers: [Name: WriterID] = [:]
        for (other, label, lastChange, _) in others.sorted(by: { $0.other.lastStamp < $1.other.lastStamp })
        where (lastChange == nil || other.hasLeft) && present.contains(label) && !other.isRetired {
            formers[label] = other.writer
        }
        return others.compactMap { other, label, lastChange, clockIsAhead in
            let isFormer = (lastChange == nil || other.hasLeft) && present.contains(label)
            if isFormer, !other.isRetired, formers[label] != other.writer { return nil }
            return MirrorStatus.Host(
                label: label.text, writer: other.writer, lastChange: lastChange, isKept: other.isKept,
                hasLeft: other.hasLeft, isRetired: other.isRetired, isFormer: isFormer,
                isClosed: closedFolders.contains(other.writer), lacksChanges: other.lacksChanges,
                clockIsAhead: clockIsAhead,
                isExpelled: directory.signatures?.isExpelled(other.writer) ?? false)
        }
    }

    /// The time by which the clock of another host may be ahead before it is reported, in milliseconds.
    private static let clockTolerance: Int64 = 600_000

    private var deleteCount: Int {
        var count = 0
        mergeState.visit { if $0.value == .deleted { count += 1 } }
        return count
    }

    /// Whether a process holds the lock of the service.
    private var isWatched: Bool {
        let path = folder.appending("watch")
        guard case .busy? = try? files.openLocked(path, .writing, .exclusive) else { return false }
        return true
    }
}

/// The status of a mirror in one word. If several apply, the greatest is reported.
package enum MirrorCondition: Int, Hashable, Sendable, Comparable, CaseIterable {
    case inSync, conflicts, waiting, paused, left, readOnly, overQuota, halted, unavailable

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension MirrorSession {
    /// Returns the status of the mirror as of the last exchange.
    package func condition(after reports: [Report]) -> MirrorCondition {
        var condition = MirrorCondition.inSync
        func raise(_ other: MirrorCondition) { condition = max(condition, other) }
        switch directoryStatus {
        case .unavailable, .unknown: raise(.unavailable)
        case .split, .swapped: raise(.halted)
        case .paused, .detached: raise(.paused)
        case .left: raise(.left)
        case .present: break
        }
        if engine.status.mirroredFiles.values.contains(where: { $0.held != nil }) { raise(.halted) }
        for report in reports {
            switch report {
            case .waiting(.quota), .waiting(.writers): raise(.overQuota)
            case .waiting(.permission): raise(.readOnly)
            case .waiting: raise(.waiting)
            default: break
            }
        }
        let status = engine.status
        let lacksFiles = status.isIncomplete || status.lacksWriters || !closedFolders.isEmpty
        let hasUnmirrored = unmirrored.contains { $0.stays == nil }
        if let signing, !signing.awaited.isEmpty || !signing.isAdmitted { raise(.waiting) }
        let lacksDomains = leftOut.values.contains { $0 != .adopted }
        if lacksFiles || hasUnmirrored || lacksDomains || hasUnfinished || !pendingDomains.isEmpty {
            raise(.waiting)
        }
        if hasOpenConflicts { raise(.conflicts) }
        return condition
    }
}
