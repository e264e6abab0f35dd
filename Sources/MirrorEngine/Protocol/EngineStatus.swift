/// The status of an engine, as its caller reads it: what to do next, and what to present to users.
///
/// It shares the storage of the engine's state, so that reading one fact does not copy the others.
package struct EngineStatus: Sendable {
    private let engine: Engine
    private var local: LocalState { engine.context.local }

    init(_ engine: Engine) { self.engine = engine }

    // MARK: This store

    package var directory: DirectoryStatus { engine.context.directoryStatus }
    package var writer: WriterID { local.writer }
    /// This store's number, followed by the former ones.
    package var numbers: [WriterID] { [writer] + local.formerWriters.sorted() }
    /// Whether the other hosts were notified that this one has left.
    package var hasLeft: Bool { local.folder.hasLeft }
    /// Whether this host is leaving and has not announced it yet.
    package var isLeaving: Bool { local.participation == .leaving && !hasLeft }
    /// The values in force and the open conflicts, in all domains.
    package var mergeState: MergeState { local.shared.live }
    /// What all hosts agree on.
    package var shared: SharedState { local.shared }
    /// Conflicts that were resolved, oldest first.
    package var resolved: [ResolvedConflict] { local.resolved }

    /// For each writer including us, the last transaction up to which all are known.
    package var knowledge: VersionVector { local.shared.vector }

    /// Whether the engine has the state to which a journal leads.
    package func matches(_ state: LocalState) -> Bool { local == state }

    /// Whether another host has read everything that this store published under its numbers, and nothing waits to be
    /// published.
    package var isAcknowledged: Bool {
        let others = local.peers.filter { $0.key != writer && !local.formerWriters.contains($0.key) }.values
        return local.outbox.isEmpty
            && numbers.allSatisfy { number in
                let last = local.shared.vector[number]
                return last == 0 || others.contains { $0.knowledge[number] >= last }
            }
    }

    // MARK: Preference files

    /// The preference files of the mirrored domains.
    package var mirroredFiles: [Path: TrackedFile] { local.mirroredFiles }
    /// The mirrored domains whose files must still be changed, in order.
    package var pendingDomains: [Path] { local.pendingDomains }
    /// The held domains, in order.
    package var heldDomains: [(domain: String, reason: HoldReason)] { local.heldDomains }
    /// The domains whose files are being written, or were being written when the last program ended.
    package var openDomains: Set<Path> { local.openDomains }

    /// Returns the state of a domain's file, whether it is mirrored at present or not.
    package func trackedFile(of domain: Path) -> TrackedFile? { local.trackedFiles[domain] }

    // MARK: Our own folder

    /// The transactions that are still to be published.
    package var outbox: [Transaction] { local.outbox }
    /// The last of our transactions that other hosts can have read.
    package var lastPublished: UInt64 { local.sequence }
    /// Whether none of our own files is due.
    package var isFullyPublished: Bool { engine.isFullyPublished }
    /// Whether our files still contain values that are no longer in force.
    package var publishesFormerValues: Bool { engine.publisher.isCompacting || local.folder.hasSuperseded }
    /// The bytes of all our files and blobs.
    package var publishedBytes: Int { local.folder.size }
    /// One of our files that must exist, or nil if there is none.
    package var requiredFile: PackName? { local.folder.created.filter { $0.value.supersededAt == nil }.keys.min() }

    /// Returns the values of a domain that this host wrote and that its files contain.
    package func published(in domain: String) -> [Atom] { local.published(in: domain) }

    /// Returns the number of our required files and blobs that are missing or have the wrong size.
    package func lossCount(in listing: Listing) -> Int {
        let losses = local.folder.losses(listing.folders[writer] ?? [:])
        return losses.files.count + losses.blobs.count
    }

    /// Whether publishing would exceed a limit.
    package func exceedsQuota(at moment: Moment) -> Bool { engine.exceedsQuota(at: moment) }

    // MARK: Other writers

    /// The state of another writer.
    package struct OtherWriter: Hashable, Sendable {
        package let writer: WriterID
        /// The greatest stamp in its logs, which shows when its clock is wrong.
        package let lastStamp: Stamp
        package let hasLeft: Bool
        package let isRetired: Bool
        /// Whether bases of this host have everything that the writer wrote, so that its folder is not needed.
        package let isKept: Bool
        /// Whether files of it are missing, so that some of its changes are unknown.
        package let lacksChanges: Bool
    }

    /// The other writers in order, without this store's former numbers.
    package var otherWriters: [OtherWriter] {
        local.peers.filter { $0.key != writer && !local.formerWriters.contains($0.key) }
            .sorted { $0.key < $1.key }.map { writer, peer in
                OtherWriter(
                    writer: writer, lastStamp: peer.lastStamp, hasLeft: peer.note?.hasLeft ?? false,
                    isRetired: local.retired[writer] != nil, isKept: peer.isKept,
                    lacksChanges: local.lacksChanges(of: writer))
            }
    }

    /// Whether the folder of a writer is gone, or some of its changes are unknown, and no user has decided about it.
    package var lacksWriters: Bool {
        local.peers.keys.contains { local.isMissing($0) || local.lacksChanges(of: $0) }
    }

    /// Returns the label of another writer, or nil if it is unknown.
    package func label(of writer: WriterID) -> String? { local.peers[writer]?.label }

    /// Whether files of another writer were joined, or other hosts know it.
    package func knows(_ writer: WriterID) -> Bool { writer == local.writer || local.peers[writer] != nil }

    // MARK: Files in the directory

    /// Files that could not be joined as they were.
    package var faulty: [PackAddress: FaultyFile] { engine.inbox.faulty }
    /// The writers whose folders were in view when the directory was last listed.
    package var writersInView: [WriterID] { engine.inbox.folders.keys.sorted() }
    /// Whether files of other writers are faulty or wait for missing ones, or files of ours were lost and are not
    /// replaced yet.
    package var isIncomplete: Bool { !faulty.isEmpty || !engine.inbox.isAtRest || engine.publisher.hasLosses }

    /// Returns the new writers beyond the limit.
    package func ignoredWriters(in listing: Listing) -> Set<WriterID> { engine.context.ignoredWriters(listing) }

    /// Returns the files of other writers that were not joined yet.
    package func unjoinedFiles(in listing: Listing) -> [PackAddress] {
        listing.packs.filter { address in
            address.writer != writer && !(local.peers[address.writer]?.joined.contains(address.name.hash) ?? false)
        }
    }

    /// Returns the files that this store neither joined nor created.
    package func unknownFiles(in listing: Listing) -> [PackAddress] {
        let own = listing.packs.filter { $0.writer == writer && local.isForeign($0.name) }
        return unjoinedFiles(in: listing) + own
    }

    /// Whether joining a base changes no value, so that its values need not be read.
    package func hasAll(of base: BasePack, hash: ContentHash) -> Bool { local.hasAll(of: base, hash: hash) }

    /// Whether our own folder shows that this state is a copy or an old one. Then files of other writers must be joined
    /// before changes in preference files are captured, because some of these may be theirs.
    package func shouldPullFirst(_ listing: Listing) -> Bool {
        (listing.folders[writer] ?? [:]).keys.contains { PackName($0).map(local.isForeign) ?? false }
            || local.trackedFiles.values.contains { $0.suspicion == .stateIsOlder }
    }

    /// Returns a check of all files in a listing against the state.
    package func check(of listing: Listing) -> FolderCheck { FolderCheck(local, listing) }
}
