/// All that a store must not lose of its part in a mirror. It changes by records only, so that the records replayed
/// give it back.
package struct LocalState: Hashable, Sendable {
    package internal(set) var mirror: MirrorID
    /// Who we are at present.
    package internal(set) var writer: WriterID
    /// Who we were before a clone or a restored copy of us was met.
    package internal(set) var formerWriters: Set<WriterID>
    /// Our last transaction.
    package internal(set) var sequence: UInt64 = 0
    package internal(set) var clock = HybridClock()
    package internal(set) var atoms: AtomStore
    /// Of each writer, ourselves among them, the last transaction without a gap before it.
    package internal(set) var knowledge = VersionVector()
    package internal(set) var peers: [WriterID: Peer] = [:]
    /// What is still to be published.
    package internal(set) var outbox: [Transaction] = []
    /// The file that is to be created next, kept before it is, so that a crash cannot make another one of it.
    package internal(set) var intent: PackIntent?
    package internal(set) var folder = OwnFolder()
    /// By the domain's path, because two names may be equal as text and still be two.
    package internal(set) var shadows: [Path: Shadow] = [:]
    /// What is being written into preference files.
    package internal(set) var application: Application?
    package internal(set) var conflicts = ConflictJournal()
    /// Writes of others that stand for ours: they have the same value.
    package internal(set) var adopted: Set<WriteID> = []
    /// Writes under our number that a copy of this store made.
    package internal(set) var foreign: Set<WriteID> = []
    /// The former numbers of other writers.
    package internal(set) var lineage = Lineage()
    package internal(set) var storeMarks = StoreMarks()
    /// Writers whose atoms stand in our bases, because their own folders are gone.
    package internal(set) var carried: Set<WriterID> = []
    /// Writers that no list shows any more.
    package internal(set) var retired: Set<WriterID> = []
    package internal(set) var participation = Participation.full
    var rules: Rules

    package init(
        mirror: MirrorID, writer: WriterID, formerWriters: Set<WriterID> = [], rules: Rules = .sound
    ) {
        self.mirror = mirror
        self.writer = writer
        self.formerWriters = formerWriters
        self.rules = rules
        atoms = AtomStore(rules: rules)
    }

    /// Takes over the rules of the program that goes on with the state.
    mutating func adopt(_ rules: Rules) {
        self.rules = rules
        atoms.rules = rules
    }

    /// What a crash does to a store in which an outbox is cleared too early.
    mutating func restart() {
        if !rules.clearsOutboxAfterCreation { intent = nil }
    }
}

/// What the mirror leaves beside the preference files, so that it notices when a backup of them, or of its own state,
/// comes back.
package struct StoreMarks: Hashable, Sendable {
    /// The marks that were left, the latest first.
    package internal(set) var marks: [UInt64] = []
    /// Whether the latest one is known to be there.
    package internal(set) var isWritten = false
    /// Whether preference files were read or written since.
    package internal(set) var isDue = false

    static let most = 128

    /// Whether a mark is still to be left.
    package var isOpen: Bool { isDue || !isWritten && !marks.isEmpty }
}

/// A file that is to be created in our own folder.
package struct PackIntent: Hashable, Sendable {
    package let pack: EncodedPack
    /// The last transaction that it holds or, a base, stands for.
    package let last: UInt64
    /// What it says that we know of others.
    package let knowledge: VersionVector
    /// Whether it says that we leave.
    package let isFarewell: Bool
    /// The long values to which it refers; `pack` holds those that are not there yet.
    package let references: [BlobReference]
}

/// Our own folder in the mirror, as we left it.
package struct OwnFolder: Hashable, Sendable {
    /// The files that we created, of which nothing else may stand there.
    package internal(set) var created: [PackName: CreatedFile] = [:]
    /// The last files that we removed: they can come back with a service that copies files.
    package internal(set) var removed: [PackName] = []
    /// The hash of our last log.
    package internal(set) var tip: Fingerprint?
    /// What we said that we knew, at our last log.
    package internal(set) var saidKnowledge = VersionVector()
    /// The last transaction in our last base.
    package internal(set) var baseSequence: UInt64 = 0
    package internal(set) var baseBytes = 0
    /// What was added since our last base, long values too.
    package internal(set) var logBytes = 0
    package internal(set) var logCount = 0
    /// Whether a fresh base is owed, because files of ours were lost or we have none of our own yet.
    package internal(set) var owesBase = false
    /// Whether our note is to be written anew, because it may be lost.
    package internal(set) var owesNote = false
    package internal(set) var lastHealing: Int64?
    package internal(set) var noteNumber: UInt64 = 0
    /// Whether our last note says that we left.
    package internal(set) var hasLeft = false
    /// The long values of our packs, each in a file of its own.
    package internal(set) var blobs: [BlobName: CreatedBlob] = [:]

    private static let mostRemoved = 1024

    mutating func remove(_ names: [PackName]) {
        for name in names where created.removeValue(forKey: name) != nil { removed.append(name) }
        removed.removeFirst(max(0, removed.count - Self.mostRemoved))
    }

    /// Whether a file of ours must still be there.
    func needs(_ name: PackName) -> Bool {
        guard let file = created[name], file.supersededAt == nil else { return false }
        return name.kind != .note || name.number == noteNumber
    }

    /// The files and long values of ours that must be there and are not whole by their sizes, or not there at all.
    package func losses(_ sizes: [String: Int]) -> (files: [PackName], blobs: [BlobName]) {
        let files = created.filter { needs($0.key) && sizes[$0.key.description] != $0.value.size }
        let blobs = blobs.filter { $0.value.unneededSince == nil && sizes[$0.key.description] != $0.value.size }
        return (files.keys.sorted(), blobs.keys.sorted())
    }

    /// Whether files are there that a newer one replaces.
    package var hasSuperseded: Bool {
        created.values.contains { $0.supersededAt != nil } || blobs.values.contains { $0.unneededSince != nil }
    }

    /// How many bytes all of that takes.
    package var size: Int { created.values.reduce(0) { $0 + $1.size } + blobs.values.reduce(0) { $0 + $1.size } }

    /// How many of them are needed still.
    var neededSize: Int {
        created.values.reduce(0) { $0 + ($1.supersededAt == nil ? $1.size : 0) }
            + blobs.values.reduce(0) { $0 + ($1.unneededSince == nil ? $1.size : 0) }
    }
}

/// A blob that we created.
package struct CreatedBlob: Hashable, Sendable {
    package let size: Int
    /// Since when no pack of ours that is needed refers to it.
    package internal(set) var unneededSince: Int64?
}

/// A file that we created.
package struct CreatedFile: Hashable, Sendable {
    package let size: Int
    package let last: UInt64
    /// Since when a base of ours says all that it says.
    package internal(set) var supersededAt: Int64?
}

/// What is known of another writer.
package struct Peer: Hashable, Sendable {
    /// The beginnings of the hashes of the files that were joined, as far as they may still be seen.
    package internal(set) var joined: Set<UInt64> = []
    /// The hash of the last log without a gap before it.
    package internal(set) var tip: Fingerprint?
    /// The last transaction of the writer's bases that were joined.
    package internal(set) var baseSequence: UInt64 = 0
    /// Logs that were joined although others before them are missing.
    package internal(set) var beyond: [ChainLink] = []
    package internal(set) var note: WriterNote?
    /// The greatest stamp in its logs: what tells whose clock is off.
    package internal(set) var lastStamp = Stamp.zero
    /// Since when its folder is out of view.
    package internal(set) var vanishedAt: Int64?
    /// The other writers whose atoms its last base carries.
    package internal(set) var carries: Set<WriterID> = []
}

/// A log as a part of its writer's chain, without what it says.
package struct ChainLink: Hashable, Sendable {
    /// The sequence numbers of its first and its last transaction.
    package let first: UInt64
    package let last: UInt64
    package let hash: Fingerprint
    /// The hash of the writer's log before it.
    package let previous: Fingerprint?
}

extension ChainLink {
    init(_ log: LogPack, hash: Fingerprint) {
        self.init(first: log.first, last: log.last, hash: hash, previous: log.previous)
    }
}
