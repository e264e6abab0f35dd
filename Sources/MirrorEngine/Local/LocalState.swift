/// The state of a store's mirror that must not be lost. It changes only by records, so replaying the records restores
/// it.
package struct LocalState: Hashable, Sendable {
    package internal(set) var mirror: MirrorID
    /// Our present number.
    package internal(set) var writer: WriterID
    /// Our numbers before a clone or a restored copy of us was detected.
    package internal(set) var formerWriters: Set<WriterID>
    /// The number of our last published transaction.
    package internal(set) var sequence: UInt64 = 0
    var clock = HybridClock()
    /// What all hosts agree on, and our own changes that wait to be published.
    package internal(set) var shared = SharedState()
    /// Whether the values may differ from what the known transactions lead to, so that bases are read and published as
    /// a whole.
    var needsWholeBases = false
    package internal(set) var peers: [WriterID: Peer] = [:]
    /// The transactions that are still to be published.
    package internal(set) var outbox: [Transaction] = []
    /// The next file to be created. It is recorded first, so that after a crash the same file is created.
    package internal(set) var intent: PackIntent?
    package internal(set) var folder = OwnFolder()
    /// The preference files by the path of their domain.
    package internal(set) var trackedFiles: [Path: TrackedFile] = [:]
    /// The changes that are being written into preference files.
    package internal(set) var application: Application?
    /// Conflicts that were resolved, oldest first. They can still be restored.
    package internal(set) var resolved: [ResolvedConflict] = []
    package internal(set) var restoreMarkers = RestoreMarkers()
    /// Writers that are no longer shown in any list, and the time since which. Their folders are removed a day later.
    package internal(set) var retired: [WriterID: Int64] = [:]
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

/// A conflict that was resolved on this host, or a value that a user decided to replace.
package struct ResolvedConflict: Hashable, Sendable {
    package let place: Path
    package let value: WrittenValue
    /// The host that wrote the value, or nil for a value that was only in a file.
    package let loser: WriterID?
    package let stamp: Stamp
    package let resolvedAt: Int64

    /// The time that a resolved conflict is kept, in milliseconds.
    static let keptFor: Int64 = 90 * 86_400_000
    static let most = 10_000
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
    /// The number of transactions in the outbox that the file contains.
    package let published: Int
    /// The known transactions in the file.
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
    /// All logs that we created under this number.
    package internal(set) var tags = FileTags()
    /// The known transactions that we published last.
    package internal(set) var publishedKnowledge = VersionVector()
    /// The time at which we published our note.
    package internal(set) var acknowledgedAt: Int64?
    /// The transactions in our note, whose values our preference files show.
    package internal(set) var noteKnowledge = VersionVector()
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
    /// The logs of the writer that are known, whether they were read or not.
    package internal(set) var tags = FileTags()
    /// The last transactions of all writers that this one knew when it last published.
    package internal(set) var knowledge = VersionVector()
    /// Logs that were joined although logs before them are missing.
    package internal(set) var beyond: [FileTags.Span] = []
    package internal(set) var note: WriterNote?
    /// The name of the host, from its note or from a base of another host.
    package internal(set) var label: String?
    /// The greatest stamp in the writer's latest log that its clock gave, which shows when the clock is wrong.
    package internal(set) var lastStamp = Stamp.zero
    /// The time at which the folder went out of view, or nil.
    package internal(set) var vanishedAt: Int64?
    /// Whether a base of ours has everything of the writer, so that its folder is not needed.
    package internal(set) var isKept = false

    /// Whether a file of the writer was read. Of other writers, only the files of others tell something.
    var wasInView: Bool { !joined.isEmpty || note != nil }
}

// The files in our own folder, and which of them are superseded.
extension LocalState {
    mutating func apply(_ intent: PackIntent) {
        self.intent = intent
        if !Rule.clearsOutboxAfterCreation.isKept { publish(intent) }
    }

    mutating func markCreated(_ name: PackName, at now: Int64) {
        guard let intent, intent.pack.name == name else { return }
        self.intent = nil
        folder.created[name] = CreatedFile(size: intent.pack.bytes.count, last: intent.last)
        for reference in intent.references { folder.blobs[reference.name] = CreatedBlob(size: reference.size) }
        if Rule.clearsOutboxAfterCreation.isKept { publish(intent) }
        folder.publishedKnowledge = intent.knowledge
        switch name.kind {
        case .log:
            folder.logBytes += intent.pack.size
            folder.logCount += 1
        case .base: supersede(with: intent, at: now)
        case .note:
            (folder.noteNumber, folder.hasLeft) = (name.number, intent.isFarewell)
            (folder.noteKnowledge, folder.acknowledgedAt) = (intent.knowledge, now)
            folder.owesNote = false
            for (other, file) in folder.created where other.kind == .note && other != name && file.supersededAt == nil {
                folder.created[other]?.supersededAt = now
            }
        }
    }

    /// Gives the transactions that a file contains their numbers, and removes them from the outbox.
    mutating func publish(_ intent: PackIntent) {
        guard intent.published > 0, intent.last == sequence + UInt64(intent.published) else { return }
        publish(intent.published, tag: FileTag(intent.pack.hash))
        folder.tip = intent.pack.hash
    }

    /// Gives the first transactions that wait their numbers.
    mutating func publish(_ count: Int, tag: FileTag) {
        let first = sequence + 1
        var published: [(change: Change, name: AtomName)] = []
        for transaction in outbox.prefix(count) {
            sequence += 1
            let dot = TransactionID(writer: writer, sequence: sequence)
            shared.vector.raise(writer, to: VersionVector.Entry(sequence: sequence, tag: tag))
            published += transaction.changes.map { ($0, AtomName($0.id, dot)) }
        }
        outbox.removeFirst(min(count, outbox.count))
        rename(published)
        folder.tags.insert(FileTags.Span(first: first, last: sequence, tag: tag))
        shared.forgetProven()
    }

    /// Gives changes that waited their names, wherever these occur.
    mutating func rename(_ published: [(change: Change, name: AtomName)]) {
        for (change, name) in published {
            let waiting = AtomName(change.id, nil)
            guard let atom = shared.live.atom(waiting, at: change.path) else { continue }
            shared.live.cover(waiting, atom.region)
            // Another host can have replaced what a copy of this store published.
            let region = shared.gone[name].map { atom.region.subtracting($0) } ?? atom.region
            if region.isEmpty { continue }
            shared.live.insert(
                Atom(name, at: atom.path, atom.value, stamp: atom.stamp, reason: atom.reason, in: region))
        }
        let names = Dictionary(published.map { (AtomName($0.change.id, nil), $0.name) }) { first, _ in first }
        for index in outbox.indices { outbox[index].rename(names) }
        for domain in Set(published.map { $0.change.path.prefix(components: 1) }) {
            guard let exceptions = trackedFiles[domain]?.exceptions else { continue }
            for (key, exception) in exceptions where exception.shown.contains(where: { names[$0.name] != nil }) {
                trackedFiles[domain]?.exceptions[key]?.shown = exception.shown.renamed(names)
            }
            trackedFiles[domain]?.past.rename(names)
        }
    }

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

    /// The known transactions of the other writers.
    var knowledgeOfOthers: VersionVector {
        VersionVector(shared.vector.sorted.filter { $0.writer != writer }.map { ($0.writer, $0.entry) })
    }

    /// The known transactions of the other writers, without the writers of values that our preference files must still
    /// receive.
    var appliedKnowledge: VersionVector {
        let pending = writersOfPending
        return VersionVector(
            knowledgeOfOthers.sorted.filter { !pending.contains($0.writer) }.map { ($0.writer, $0.entry) })
    }

    /// The writers of values that our preference files must still receive.
    var writersOfPending: Set<WriterID> {
        guard Rule.forgetsOnlyApplied.isKept else { return [] }
        return mirroredFiles.reduce(into: []) { writers, tracked in
            let (domain, file) = tracked
            let keys = file.exceptions.filter(\.value.isPending).map(\.key)
            for path in file.isCaptured ? keys : [domain] {
                writers.formUnion(shared.live.overlapping(path).compactMap(\.name.dot?.writer))
            }
        }
    }
}

extension Transaction {
    /// Replaces names in what the changes replace.
    fileprivate mutating func rename(_ names: [AtomName: AtomName]) {
        for index in changes.indices where changes[index].covers.contains(where: { names[$0.name] != nil }) {
            changes[index].covers = changes[index].covers.map { Cover(names[$0.name] ?? $0.name, $0.region) }.joined
        }
    }
}

extension [Shown] {
    func renamed(_ names: [AtomName: AtomName]) -> Self {
        map { Shown(names[$0.name] ?? $0.name, $0.region, $0.stamp) }
    }
}

// Deletions that are no longer needed.
extension LocalState {
    /// The deletions that no host needs: none has another value at, above or below the place, and the preference files
    /// of all hosts have been changed accordingly.
    var forgettable: [Atom] {
        let (least, pending) = (leastApplied, writersOfPending)
        var deletions: [Atom] = []
        shared.live.visit { atom in
            guard atom.value == .deleted, let dot = atom.name.dot, shared.forks[dot.writer] == nil else { return }
            guard dot.sequence <= least[dot.writer] ?? 0, !pending.contains(dot.writer) else { return }
            if shared.live.overlapping(atom.path).count == 1 { deletions.append(atom) }
        }
        return deletions
    }

    /// For each writer, the last of its transactions that the preference files of all other hosts show, as far as
    /// these hosts have not left, and were neither retired nor purged.
    private var leastApplied: [WriterID: UInt64] {
        let others = shared.vector.writers.union(peers.keys).subtracting(formerWriters).subtracting([writer])
        let present = others.filter { other in
            let peer = peers[other] ?? Peer()
            let isPurged = peer.isKept && peer.vanishedAt != nil
            return retired[other] == nil && !(peer.note?.hasLeft ?? false) && !isPurged
        }
        return shared.vector.writers.reduce(into: [:]) { least, author in
            let applied = present.filter { $0 != author }.map { peers[$0]?.note?.knowledge[author] ?? 0 }
            // Hosts that join may not have published anything yet, so a host that knows no other forgets nothing.
            least[author] = Rule.forgetsOnlyApplied.isKept ? applied.min() ?? 0 : .max
        }
    }
}

// The keys at which preference files differ from the view.
extension LocalState {
    /// Records that the views of keys have changed while their files have not.
    mutating func updateExceptions(at keys: Set<Path>, since before: MergeState) {
        for key in keys where trackedFiles[key.prefix(components: 1)]?.isCaptured ?? false {
            updateException(key, since: before)
        }
    }

    private mutating func updateException(_ key: Path, since before: MergeState) {
        let domain = key.prefix(components: 1)
        let exception = trackedFiles[domain]?.exceptions[key]
        let (former, value) = (before.value(at: key), shared.live.value(at: key))
        let isLeft = value == nil && shared.live.isLeft(key)
        let wasLeft = exception?.reason == .left || exception?.reason == .local && before.isLeft(key)
        guard former != value || wasLeft && !isLeft, exception?.reason != .limit else { return }
        // The file is unchanged: it holds the value of the exception, or else the previous view.
        let inFile = exception.map(\.value) ?? former
        if inFile == value {
            trackedFiles[domain]?.exceptions[key] = nil
        } else {
            // After an interrupted write, it is unknown which of two values the file shows.
            let isUnknown = trackedFiles[domain]?.interrupted[key] != nil
            let reason: TrackedFile.Exception.Reason =
                switch exception?.reason {
                case .kept, .unselected: exception?.reason ?? .kept
                case _ where isLeft: .left
                case .left, .returned: .returned
                case .local where wasLeft: .returned
                case .local: .kept
                // A part of the value was left to each host, and the file's is not replaced unseen.
                case _ where shared.live.hasLeft(key) && !before.hasLeft(key): .returned
                default: .pending
                }
            trackedFiles[domain]?.exceptions[key] = TrackedFile.Exception(
                value: inFile, reason: reason,
                shown: exception?.shown ?? (isUnknown ? [] : before.shown(at: key)))
        }
    }

    /// Returns what the preference file shows at a key, or nothing if that is unknown.
    func shown(at key: Path) -> [Shown] {
        guard let trackedFile = trackedFiles[key.prefix(components: 1)], trackedFile.isCaptured else { return [] }
        if Rule.followsFile.isKept, let exception = trackedFile.exceptions[key] { return exception.shown }
        return shared.live.shown(at: key)
    }
}
