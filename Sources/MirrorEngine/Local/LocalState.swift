/// The state of a store's mirror that must not be lost. It changes only by records, so replaying the records restores
/// it.
package struct LocalState: Hashable, Sendable {
    package internal(set) var mirror: MirrorID
    /// Our present number.
    package internal(set) var writer: WriterID
    /// Our numbers before a clone or a restored copy of us was detected.
    package internal(set) var formerWriters: Set<WriterID>
    /// The number of our last transaction.
    package internal(set) var sequence: UInt64 = 0
    var clock = HybridClock()
    package internal(set) var mergeState = MergeState()
    /// For each writer including us, the last transaction up to which all are known.
    package internal(set) var knowledge = VersionVector()
    package internal(set) var peers: [WriterID: Peer] = [:]
    /// The transactions that are still to be published.
    package internal(set) var outbox: [Transaction] = []
    /// The next file to be created. It is recorded first, so that after a crash the same file is created.
    package internal(set) var intent: PackIntent?
    package internal(set) var folder = OwnFolder()
    /// The preference files by the path of their domain. Paths compare bytes, while two different names can be equal as
    /// strings.
    package internal(set) var trackedFiles: [Path: TrackedFile] = [:]
    /// The changes that are being written into preference files.
    package internal(set) var application: Application?
    package internal(set) var conflicts = ConflictJournal()
    /// Writes of other writers that took the place of ours because they have the same value.
    var adopted: Set<WriteID> = []
    /// Writes under our number that were made by a copy of this store.
    var foreign: Set<WriteID> = []
    /// The former numbers of other writers.
    var lineage = Lineage()
    package internal(set) var restoreMarkers = RestoreMarkers()
    /// Writers whose writes our bases carry because their folders are gone.
    var carried: Set<WriterID> = []
    /// Writers that are no longer shown in any list.
    package internal(set) var retired: Set<WriterID> = []
    package internal(set) var participation = Participation.full

    /// The preference files of the mirrored domains.
    var mirroredFiles: [Path: TrackedFile] { trackedFiles.filter(\.value.isMirrored) }

    /// The held domains, in order.
    package var heldDomains: [(domain: String, reason: HoldReason)] {
        mirroredFiles.sorted { $0.key < $1.key }.compactMap { path, trackedFile in
            trackedFile.held.map { (path.domain, $0) }
        }
    }

    package init(mirror: MirrorID, writer: WriterID, formerWriters: Set<WriterID> = []) {
        self.mirror = mirror
        self.writer = writer
        self.formerWriters = formerWriters
    }

    /// Simulates a crash of a store that clears its outbox too early.
    mutating func restart() {
        if !Rule.clearsOutboxAfterCreation.isKept { intent = nil }
    }
}

/// The marks that the mirror writes beside the preference files, to detect when a backup of them or of its own state
/// comes back.
package struct RestoreMarkers: Hashable, Sendable {
    /// The marks that were written, latest first.
    package internal(set) var marks: [UInt64] = []
    /// The number of the latest marks that are not known to be written.
    package internal(set) var unwritten = 0
    /// Whether preference files were read or written since the latest mark.
    package internal(set) var isDue = false

    static let most = 128

    /// Whether a mark must still be written.
    package var isOpen: Bool { isDue || unwritten > 0 }
}

/// A file that is about to be created in our own folder.
package struct PackIntent: Hashable, Sendable {
    package let pack: EncodedPack
    /// The last transaction that a log contains or a base includes.
    package let last: UInt64
    /// The knowledge vector in the file.
    package let knowledge: VersionVector
    /// Whether the file announces that we leave.
    package let isFarewell: Bool
    /// The blobs to which the file refers. `pack` holds only those that do not exist yet.
    package let references: [BlobReference]
}

/// The expected contents of our own folder in the mirror.
package struct OwnFolder: Hashable, Sendable {
    /// The files that we created. Any other file in the folder was made by a copy of us.
    package internal(set) var created: [PackName: CreatedFile] = [:]
    /// The last files that we removed. A service that copies files can bring them back.
    package internal(set) var removed: [PackName] = []
    /// The hash of our last log.
    package internal(set) var tip: ContentHash?
    /// The knowledge vector that we published with our last log.
    package internal(set) var publishedKnowledge = VersionVector()
    /// The last transaction that our last base includes.
    package internal(set) var baseSequence: UInt64 = 0
    package internal(set) var baseBytes = 0
    /// The bytes of logs and blobs since our last base.
    package internal(set) var logBytes = 0
    package internal(set) var logCount = 0
    /// Whether a new base is due, because files of ours were lost or this number has none yet.
    package internal(set) var owesBase = false
    /// Whether our note must be written again because it may be lost.
    package internal(set) var owesNote = false
    package internal(set) var lastHealing: Int64?
    package internal(set) var noteNumber: UInt64 = 0
    /// Whether our last note announces that we left.
    package internal(set) var hasLeft = false
    /// The blobs of our packs.
    package internal(set) var blobs: [BlobName: CreatedBlob] = [:]

    private static let mostRemoved = 1024

    mutating func remove(_ names: [PackName]) {
        for name in names where created.removeValue(forKey: name) != nil { removed.append(name) }
        removed.removeFirst(max(0, removed.count - Self.mostRemoved))
    }

    /// Whether a file of ours must still exist.
    func needs(_ name: PackName) -> Bool {
        guard let file = created[name], file.supersededAt == nil else { return false }
        return name.kind != .note || name.number == noteNumber
    }

    /// Returns our required files and blobs that are missing or have the wrong size.
    package func losses(_ sizes: [String: Int]) -> (files: [PackName], blobs: [BlobName]) {
        let files = created.filter { needs($0.key) && sizes[$0.key.description] != $0.value.size }
        let blobs = blobs.filter { $0.value.unneededSince == nil && sizes[$0.key.description] != $0.value.size }
        return (files.keys.sorted(), blobs.keys.sorted())
    }

    /// Whether there are files that newer ones supersede.
    package var hasSuperseded: Bool {
        created.values.contains { $0.supersededAt != nil } || blobs.values.contains { $0.unneededSince != nil }
    }

    /// The bytes of all our files and blobs.
    package var size: Int { created.values.reduce(0) { $0 + $1.size } + blobs.values.reduce(0) { $0 + $1.size } }

    /// The bytes of the files and blobs that are still needed.
    var neededSize: Int {
        created.values.reduce(0) { $0 + ($1.supersededAt == nil ? $1.size : 0) }
            + blobs.values.reduce(0) { $0 + ($1.unneededSince == nil ? $1.size : 0) }
    }
}

/// A blob that we created.
package struct CreatedBlob: Hashable, Sendable {
    package let size: Int
    /// The time at which the last of our packs that refers to the blob was superseded, or nil.
    package internal(set) var unneededSince: Int64?
}

/// A file that we created.
package struct CreatedFile: Hashable, Sendable {
    package let size: Int
    package let last: UInt64
    /// The time at which a base of ours superseded the file, or nil.
    package internal(set) var supersededAt: Int64?
}

/// The state of another writer.
package struct Peer: Hashable, Sendable {
    /// The hash prefixes of the files that were joined and may still be in view.
    package internal(set) var joined: Set<UInt64> = []
    /// The hash of the last log up to which there is no gap.
    package internal(set) var tip: ContentHash?
    /// The last transaction that the joined bases of the writer include.
    package internal(set) var baseSequence: UInt64 = 0
    /// Logs that were joined although logs before them are missing.
    package internal(set) var beyond: [ChainLink] = []
    package internal(set) var note: WriterNote?
    /// The greatest stamp in the writer's logs, which shows when its clock is wrong.
    package internal(set) var lastStamp = Stamp.zero
    /// The time at which the folder went out of view, or nil.
    package internal(set) var vanishedAt: Int64?
    /// The other writers whose writes its last base carries.
    package internal(set) var carries: Set<WriterID> = []
}

/// A log as a link of its writer's chain, without its transactions.
package struct ChainLink: Hashable, Sendable {
    /// The sequence numbers of the first and the last transaction.
    package let first: UInt64
    package let last: UInt64
    package let hash: ContentHash
    /// The hash of the writer's log before this one.
    package let previous: ContentHash?
}

extension ChainLink {
    init(_ log: LogPack, hash: ContentHash) {
        self.init(first: log.first, last: log.last, hash: hash, previous: log.previous)
    }
}

// The files in our own folder, and which of them are superseded.
extension LocalState {
    mutating func apply(_ intent: PackIntent) {
        self.intent = intent
        if !Rule.clearsOutboxAfterCreation.isKept { clearOutbox(of: intent) }
    }

    mutating func markCreated(_ name: PackName, at now: Int64) {
        guard let intent, intent.pack.name == name else { return }
        self.intent = nil
        folder.created[name] = CreatedFile(size: intent.pack.bytes.count, last: intent.last)
        for reference in intent.references { folder.blobs[reference.name] = CreatedBlob(size: reference.size) }
        clearOutbox(of: intent)
        switch name.kind {
        case .log:
            folder.tip = intent.pack.hash
            folder.publishedKnowledge = intent.knowledge
            folder.logBytes += intent.pack.size
            folder.logCount += 1
        case .base: supersede(with: intent, at: now)
        case .note:
            (folder.noteNumber, folder.hasLeft) = (name.number, intent.isFarewell)
            folder.owesNote = false
            for (other, file) in folder.created where other.kind == .note && other != name && file.supersededAt == nil {
                folder.created[other]?.supersededAt = now
            }
        }
    }

    /// Removes the transactions that a file of ours contains from the outbox. For a note there are none.
    mutating func clearOutbox(of intent: PackIntent) { outbox.removeAll { $0.id.sequence <= intent.last } }

    private mutating func supersede(with intent: PackIntent, at now: Int64) {
        folder.baseSequence = intent.last
        folder.baseBytes = intent.pack.bytes.count
        (folder.logBytes, folder.logCount, folder.owesBase) = (0, 0, false)
        for (name, file) in folder.created where name != intent.pack.name && name.kind != .note {
            guard file.last <= intent.last, file.supersededAt == nil else { continue }
            folder.created[name]?.supersededAt = now
        }
        let needed = Set(intent.references.map(\.name))
        for (name, blob) in folder.blobs where blob.unneededSince == nil && !needed.contains(name) {
            folder.blobs[name]?.unneededSince = now
        }
    }

    /// The knowledge vector as published in our files, which excludes ourselves.
    var knowledgeOfOthers: VersionVector {
        var others = knowledge
        others[writer] = 0
        return others
    }
}

// The keys at which preference files differ from the view.
extension LocalState {
    /// The view of a key before the state changed.
    struct KeyView {
        let key: Path
        let value: CanonicalValue?
        /// The writes that produced the value; empty if an exception records them already.
        let writes: [VersionedWrite]
    }

    func view(of key: Path) -> KeyView {
        // An exception already records what the file shows.
        let isKnown = trackedFiles[key.prefix(components: 1)]?.exceptions[key] != nil
        return KeyView(key: key, value: mergeState.value(at: key), writes: isKnown ? [] : mergeState.overlapping(key))
    }

    /// Records that the view of a key has changed while its file has not.
    mutating func updateException(since view: KeyView) {
        updateException(view.key, before: view.value, after: mergeState.value(at: view.key), shown: view.writes)
    }

    /// - Parameter shown: The writes that produced the previous view.
    mutating func updateException(_ key: Path, before: CanonicalValue?, after: CanonicalValue?, shown: [VersionedWrite])
    {
        let domain = key.prefix(components: 1)
        let exception = trackedFiles[domain]?.exceptions[key]
        guard before != after, exception?.reason != .limit else { return }
        // The file is unchanged: it holds the value of the exception, or else the previous view.
        let inFile = exception.map(\.value) ?? before
        if inFile == after {
            trackedFiles[domain]?.exceptions[key] = nil
        } else {
            let isLeft = after == nil && mergeState.write(at: key)?.value == .left
            // After an interrupted write, it is unknown which of two values the file shows.
            let isUnknown = trackedFiles[domain]?.interrupted[key] != nil
            trackedFiles[domain]?.exceptions[key] = TrackedFile.Exception(
                value: inFile, reason: isLeft ? .local : .pending,
                shown: exception?.shown ?? (isUnknown ? [] : [VisibleWrite](shown)))
        }
    }

    /// Returns the writes that the preference file shows at, below and above a key, or none if that is unknown.
    func shownWrites(at key: Path) -> [VisibleWrite] {
        guard let trackedFile = trackedFiles[key.prefix(components: 1)], trackedFile.isCaptured else { return [] }
        if Rule.followsFile.isKept, let exception = trackedFile.exceptions[key] { return exception.shown }
        return [VisibleWrite](mergeState.overlapping(key))
    }
}

extension LocalState {
    /// Replaces the writes, and records the changes that preference files need.
    mutating func replaceMergeState(by rebuilt: MergeState) {
        let before = mergeState
        mergeState = rebuilt
        for (domain, trackedFile) in trackedFiles where trackedFile.isCaptured {
            let keys = before.keys(under: domain) + rebuilt.keys(under: domain)
            for key in Set(keys.map(\.path)) {
                updateException(
                    key, before: before.value(at: key), after: rebuilt.value(at: key), shown: before.overlapping(key))
            }
        }
    }
}
