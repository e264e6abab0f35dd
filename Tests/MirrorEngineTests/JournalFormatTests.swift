import PropertyLists
import Testing

@testable import MirrorEngine

/// Every later version reads the files of this one, so the encoding of each type in a journal never changes.
@Suite struct `Each type in a journal` {
    private static let (domain, key) = (Path(domain: "d"), Path(domain: "d", key: "k"))
    private static let hash = ContentHash(of: [1])
    private static let id = TransactionID(writer: PackSamples.other, sequence: 9)
    private static let name = PackName(kind: .log, number: 41, hash: hash)
    private static let identity = FileIdentity(device: 1, inode: 2, size: 3, modified: -4, changed: 5)
    private static let known = VersionVector([id])
    private static let reference = BlobReference(name: BlobName(hash: hash), size: 70_000)
    private static let replaced = ReplacedWrite(path: key, transactionID: id, id: WriteID(number: 8))
    private static let visible = VisibleWrite(write: replaced, stamp: Stamp(number: 7), seen: [replaced], hidden: [key])

    private static var value: CanonicalValue { get throws { try CanonicalValue(["x": 1]) } }

    private static var file: TrackedFile {
        get throws {
            let exception = TrackedFile.Exception(value: try value, reason: .limit, shown: [visible])
            let replacement = TrackedFile.Replacement(old: try value, new: nil)
            var file = TrackedFile()
            (file.file, file.hash, file.generations, file.held) = (identity, hash, [hash, hash], .emptied)
            (file.exceptions, file.replaced) = ([key: exception], [key: replacement])
            (file.isMirrored, file.isCaptured, file.suspicion) = (false, true, .markIsGone)
            file.interrupted = [Path(domain: "d", key: "long"): replacement, key: replacement]
            return file
        }
    }

    private static var folder: OwnFolder {
        var folder = OwnFolder()
        folder.created = [name: CreatedFile(size: 10, last: 42, supersededAt: 6)]
        (folder.tip, folder.publishedKnowledge, folder.baseSequence) = (hash, known, 40)
        (folder.baseBytes, folder.logBytes, folder.logCount) = (1, 2, 3)
        (folder.owesBase, folder.owesNote, folder.lastHealing) = (true, false, -1)
        (folder.noteNumber, folder.hasLeft, folder.removed) = (4, true, [name])
        folder.blobs = [reference.name: CreatedBlob(size: 70_000, unneededSince: 5)]
        return folder
    }

    private static var peer: Peer {
        var peer = Peer()
        (peer.joined, peer.tip, peer.baseSequence) = ([5, 300], hash, 40)
        peer.beyond = [ChainLink(first: 41, last: 42, hash: hash, previous: nil)]
        (peer.note, peer.vanishedAt, peer.carries) = (PackSamples.note, 8, [PackSamples.writer])
        peer.lastStamp = Stamp(number: 7)
        return peer
    }

    private static var intent: PackIntent {
        PackIntent(
            pack: PackSamples.log.encoded(), last: 42, knowledge: known, isFarewell: true, references: [reference])
    }

    private static var capture: Capture {
        get throws {
            let captured = CapturedDomain(
                domain: domain, file: identity, hash: hash, exceptions: try file.exceptions, held: .empty,
                reverted: [key], adopted: [WriteID(number: 8)], replaced: [key: try value])
            return Capture(
                transactions: PackSamples.log.numberedTransactions, clock: Stamp(number: 7), when: 3,
                domains: [captured], settlesApplication: true)
        }
    }

    private static var application: Application {
        get throws {
            Application(
                domains: [DomainChange(domain: domain, file: identity, changes: try file.interrupted)],
                isChecked: false)
        }
    }

    private static var conflicts: ConflictJournal {
        get throws {
            let conflict = ConflictJournal.Conflict(
                id: WriteID(number: 8), path: key, value: .value(try value), loser: id, winner: nil, kind: .reverted,
                when: 2, resolvedAt: 3)
            return ConflictJournal([conflict], evicted: 4)
        }
    }

    private static var state: LocalState {
        get throws {
            var state = LocalState(
                mirror: PackSamples.mirror, writer: PackSamples.writer, formerWriters: [WriterID(number: 3)])
            (state.sequence, state.clock, state.knowledge) = (42, HybridClock(local: Stamp(number: 7)), known)
            (state.peers, state.folder) = ([PackSamples.other: peer], folder)
            (state.outbox, state.intent) = (PackSamples.log.numberedTransactions, intent)
            (state.trackedFiles, state.application) = ([domain: try file], try application)
            (state.conflicts, state.lineage) = (try conflicts, PackSamples.log.lineage)
            (state.adopted, state.foreign) = ([WriteID(number: 8)], [WriteID(number: 9)])
            state.restoreMarkers.marks = [5]
            (state.restoreMarkers.unwritten, state.restoreMarkers.isDue) = (1, true)
            (state.carried, state.retired) = ([PackSamples.other], [WriterID(number: 3)])
            state.participation = .leaving
            for write in PackSamples.base(writes: 3).writes { state.mergeState.join(write) }
            return state
        }
    }

    private static var records: [LocalRecord] {
        get throws {
            let applied = AppliedDomain(
                domain: domain, file: identity, hash: hash, exceptions: try file.exceptions,
                replaced: try file.replaced)
            let pack = try Pack(decoding: PackSamples.log.encoded().bytes)
            let restoration = Restoration(
                conflicts: [WriteID(number: 8)], loser: id, transaction: PackSamples.log.numberedTransactions[0],
                clock: Stamp(number: 7), when: 3)
            let writer = PackSamples.other
            return [
                .captured(try capture), .joined(pack, at: 1), .intended(intent), .created(name, at: 2),
                .removed([name]), .removedBlobs([reference.name]), .tookNewNumber(writer, intentIsInView: true),
                .intendedApplication(try application), .applied([applied]), .abandonedApplication,
                .vanished(writer, at: 3), .returned(writer), .forgot(writer, [5, 300]), .forgotWriters([writer]),
                .carries(writer), .lostFiles(at: 4), .configured(domain: "d", isMirrored: true),
                .resolvedConflicts([WriteID(number: 8)], at: 5), .resolvedTransaction(id, at: 6),
                .restored(restoration), .retired(writer), .participation(.paused), .rebuilt([pack]), .marked(7),
                .foundMark, .suspected(.fileIsOlder),
            ]
        }
    }

    /// Returns the beginning of the hash of a value's encoding, after a check that the value can be decoded.
    private func hash<Value: JournalCodable & Equatable>(of value: Value) throws -> String {
        var reader = ByteReader(value.recorded)
        let decoded = try reader.read(Value.self)
        #expect(decoded == value && reader.isAtEnd)
        return String("\(ContentHash(of: value.recorded))".prefix(8))
    }

    @Test func `is encoded as before`() throws {
        let state = try Self.state
        var waits = PendingWaits()
        waits.files = [PackAddress(writer: PackSamples.other, name: Self.name): .init(since: 5, isReported: true)]
        (waits.lastCheck, waits.lastChecked) = (6, Self.name)
        let summary = Engine(state, profile: Engine.Profile(label: "l", platform: "p", software: "s"))
            .summary(journalLength: 99)
        let files = try [hash(of: state), hash(of: waits), hash(of: summary)]
        #expect(files == ["0bb212e5", "826b2a92", "9358f6a2"])
        let records = try Self.records.map { try hash(of: $0) }
        #expect(
            records == [
                "76252535", "8e478b7c", "a44de521", "bea197f6", "9809b221", "2bd7a05b", "af41366a", "0e1a3482",
                "0dd03475", "2b4c342f", "8ae29205", "84241083", "996a6ebf", "bd7a9833", "f125d44f", "c58224f4",
                "086f825d", "28fc5d75", "d8b9f4ee", "60d0c6f0", "46f7930f", "29fc7949", "75e911b9", "5386252d",
                "452ba1dd", "4cab73ce",
            ])
    }
}
