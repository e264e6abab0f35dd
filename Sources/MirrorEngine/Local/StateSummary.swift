package import PropertyLists

/// The part of the local state from which an exchange can conclude that there is nothing to do. It is small and can be
/// read without the writes.
package struct StateSummary: Hashable, Sendable {
    /// The length of the journal to which the summary belongs. With any other length it is invalid.
    package let journalLength: Int
    package let mirror: MirrorID
    package let writer: WriterID
    /// Whether nothing is incomplete, unpublished or due.
    package let isAtRest: Bool
    /// Our own files that must exist, with their sizes, and when others were superseded.
    let created: [PackName: Int]
    let superseded: [PackName: Int64]
    /// Notes that we removed, and remove again if they come back.
    let removedNotes: Set<PackName>
    /// Our own blobs that must exist, with their sizes, and when others became unneeded.
    let blobs: [BlobName: Int]
    let unneeded: [Int64]
    /// For each other writer, the hash prefixes of the files that were joined.
    let joined: [WriterID: Set<UInt64>]
    let vanished: Set<WriterID>
    /// The times since which hosts are retired whose folders are to be removed.
    let retired: [Int64]
    /// The preference files that are mirrored, as they were last read or written.
    package let files: [Path: FileIdentity?]
    /// The time since which others were not told what this host has read, or nil.
    let unacknowledgedSince: Int64?
}

extension Engine {
    /// Returns the summary of the current state, for a journal of this length.
    package func summary(journalLength: Int) -> StateSummary {
        let mirrored = local.mirroredFiles
        let isCaptured = mirrored.allSatisfy { domain, file in
            file.isCaptured && file.held == nil && !file.isPending && file.suspicion == nil && file.interrupted.isEmpty
                && local.keysToMirror(of: domain, policy).isEmpty
        }
        // A writer whose folder is gone and not needed is ignored, and so is one of whom only a name is known.
        let others = local.peers.filter { writer, peer in
            writer != local.writer && peer.wasInView && (peer.vanishedAt == nil || !peer.isKept)
        }
        return StateSummary(
            journalLength: journalLength, mirror: local.mirror, writer: local.writer, isAtRest: isAtRest && isCaptured,
            created: local.folder.created.filter { local.folder.needs($0.key) }.mapValues(\.size),
            superseded: local.folder.created.compactMapValues(\.supersededAt),
            removedNotes: Set(local.folder.removed.filter { $0.kind == .note }),
            blobs: local.folder.blobs.filter { $0.value.unneededSince == nil }.mapValues(\.size),
            unneeded: local.folder.blobs.compactMap(\.value.unneededSince).sorted(), joined: others.mapValues(\.joined),
            vanished: Set(others.filter { $0.value.vanishedAt != nil }.keys),
            retired: others.keys.compactMap { local.retired[$0] }.sorted(), files: mirrored.mapValues(\.file),
            unacknowledgedSince: local.folder.noteKnowledge == local.appliedKnowledge
                ? nil : local.folder.acknowledgedAt)
    }
}

extension StateSummary {
    /// Whether files of a writer were joined.
    package func knows(_ writer: WriterID) -> Bool { writer == self.writer || joined[writer] != nil }

    /// Whether there may be something to do, so that the state must be loaded.
    package func needsState(
        _ listing: Listing, files current: [Name: FileIdentity?], at now: Int64, limits: EngineLimits
    ) -> Bool {
        if let since = unacknowledgedSince, !now.isWithin(limits.acknowledgesEvery, of: since) { return true }
        if retired.contains(where: { !now.isWithin(limits.retiredFor, of: $0) }) { return true }
        guard isAtRest, listing.closed.isEmpty, !hasNewFile(current), !isOwnFolderOther(listing, at: now, limits) else {
            return true
        }
        guard vanished.isEmpty, joined.keys.allSatisfy({ listing.folders[$0] != nil }) else { return true }
        return listing.folders.contains { writer, names in writer != self.writer && hasNews(writer, names) }
    }

    private func hasNewFile(_ current: [Name: FileIdentity?]) -> Bool {
        files.contains { domain, file in current[Name(domain.domain)] ?? nil != file }
    }

    private func isOwnFolderOther(_ listing: Listing, at now: Int64, _ limits: EngineLimits) -> Bool {
        let sizes = listing.folders[writer] ?? [:]
        let names = Set(sizes.keys.compactMap { PackName($0) })
        let isDue =
            superseded.values.contains { !now.isWithin(limits.supersededFor, of: $0) }
            || unneeded.contains { !now.isWithin(limits.unneededFor, of: $0) }
        let known = Set(created.keys).union(superseded.keys)
        return isDue || !created.allSatisfy { sizes[$0.key.description] == $0.value }
            || !blobs.allSatisfy { sizes[$0.key.description] == $0.value }
            || !names.filter { $0.kind != .note }.isSubset(of: known) || !names.isDisjoint(with: removedNotes)
    }

    private func hasNews(_ writer: WriterID, _ names: [String: Int]) -> Bool {
        guard let joined = joined[writer] else { return true }
        let hashes = Set(names.keys.compactMap { PackName($0)?.hash })
        return hashes != joined
    }
}

extension StateSummary: FieldwiseCodable {
    static let fields = JournalFields(
        Self.init, \.journalLength, \.mirror, \.writer, \.isAtRest, \.created, \.superseded, \.removedNotes, \.blobs,
        \.unneeded, \.joined, \.vanished, \.retired, \.files, \.unacknowledgedSince)
}
