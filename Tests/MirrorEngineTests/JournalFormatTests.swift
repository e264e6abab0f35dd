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
    private static let known = PackSamples.known
    private static let reference = BlobReference(name: BlobName(hash: hash), size: 70_000)
    private static let visible = Shown(
        AtomName(WriteID(number: 8), id), Region(key, except: [key.appending("x")]), Stamp(number: 7))
    private static let tags = FileTags([FileTags.Span(first: 1, last: 42, tag: FileTag(number: 5))])

    private static var value: CanonicalValue { get throws { try CanonicalValue(["x": 1]) } }

    private static var past: Past {
        get throws {
            let view = Past.View(
                change: 3, before: Past.ValueHash(number: 0), brought: Past.ValueHash(try value), shown: [visible])
            return Past(last: 4, views: [key: [view]], forgotten: 2)
        }
    }

    private static var file: TrackedFile {
        get throws {
            let exception = TrackedFile.Exception(value: try value, reason: .limit, shown: [visible])
            let replacement = TrackedFile.Replacement(old: try value, new: nil)
            var file = TrackedFile()
            (file.file, file.hash, file.generations, file.held) = (identity, hash, [hash, hash], .emptied)
            (file.exceptions, file.past) = ([key: exception], try past)
            (file.isMirrored, file.isCaptured, file.suspicion) = (false, true, .markIsGone)
            file.interrupted = [Path(domain: "d", key: "long"): replacement, key: replacement]
            return file
        }
    }

    private static var folder: OwnFolder {
        var folder = OwnFolder()
        folder.created = [name: CreatedFile(size: 10, last: 42, supersededAt: 6)]
        (folder.tip, folder.tags, folder.publishedKnowledge, folder.baseSequence) = (hash, tags, known, 40)
        (folder.acknowledgedAt, folder.noteKnowledge) = (7, known)
        (folder.baseBytes, folder.logBytes, folder.logCount) = (1, 2, 3)
        (folder.owesBase, folder.owesNote, folder.lastHealing) = (true, false, -1)
        (folder.noteNumber, folder.hasLeft, folder.removed) = (4, true, [name])
        folder.blobs = [reference.name: CreatedBlob(size: 70_000, unneededSince: 5)]
        return folder
    }

    private static var peer: Peer {
        var peer = Peer()
        (peer.joined, peer.tags, peer.knowledge) = ([5, 300], tags, known)
        peer.beyond = [FileTags.Span(first: 44, last: 45, tag: FileTag(number: 6))]
        (peer.note, peer.label, peer.vanishedAt, peer.isKept) = (PackSamples.note, "l", 8, true)
        peer.lastStamp = Stamp(number: 7)
        return peer
    }

    private static var intent: PackIntent {
        PackIntent(
            pack: PackSamples.log.encoded(), last: 42, published: 2, knowledge: known, isFarewell: true,
            references: [reference])
    }

    private static var capture: Capture {
        get throws {
            let captured = CapturedDomain(
                domain: domain, file: identity, hash: hash, exceptions: try file.exceptions, held: .empty,
                replaced: [key: try value])
            return Capture(
                transactions: PackSamples.log.transactions, clock: Stamp(number: 7), when: 3, domains: [captured],
                settlesApplication: true)
        }
    }

    private static var application: Application {
        get throws {
            Application(
                domains: [DomainChange(domain: domain, file: identity, changes: try file.interrupted)],
                isChecked: false)
        }
    }

    private static var state: LocalState {
        get throws {
            var state = LocalState(
                mirror: PackSamples.mirror, writer: PackSamples.writer, formerWriters: [WriterID(number: 3)])
            (state.sequence, state.clock) = (42, HybridClock(local: Stamp(number: 7)))
            (state.peers, state.folder) = ([PackSamples.other: peer], folder)
            (state.outbox, state.intent) = (PackSamples.log.transactions, intent)
            (state.trackedFiles, state.application) = ([domain: try file], try application)
            state.resolved = [
                ResolvedConflict(
                    place: key, value: .value(try value), loser: PackSamples.other, stamp: Stamp(number: 2),
                    resolvedAt: 3)
            ]
            state.restoreMarkers.marks = [5]
            (state.restoreMarkers.unwritten, state.restoreMarkers.isDue) = (1, true)
            (state.retired, state.participation) = ([WriterID(number: 3): 4], .leaving)
            state.shared = PackSamples.base(values: 5).state
            return state
        }
    }

    private static var records: [LocalRecord] {
        get throws {
            let applied = AppliedDomain(
                domain: domain, file: identity, hash: hash, exceptions: try file.exceptions, past: try past)
            let pack = try Pack(decoding: PackSamples.log.encoded().bytes)
            let base = try Pack(decoding: PackSamples.base(values: 5).encoded().bytes)
            let decision = Decision(
                transaction: PackSamples.log.transactions[0], clock: Stamp(number: 7), when: 3)
            let writer = PackSamples.other
            return [
                .captured(try capture), .joined(pack, at: 1), .joined(base, at: 1), .intended(intent),
                .created(name, at: 2), .removed([name]), .removedBlobs([reference.name]), .tookNewNumber(writer),
                .intendedApplication(try application), .applied([applied]), .abandonedApplication,
                .vanished(writer, at: 3), .returned(writer), .forgot(writer, [5, 300]), .kept(writer),
                .lostFiles(at: 4), .configured(domain: "d", isMirrored: true), .decided(decision),
                .retired(writer, at: 5),
                .participation(.paused), .rebuilt([pack]), .marked(7), .foundMark, .suspected(.fileIsOlder),
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

    @Test func `of a state lacks the last field in earlier versions`() throws {
        let state = try Self.state
        var reader = ByteReader(Array(state.recorded.dropLast()))
        #expect(try reader.read(LocalState.self) == state)
    }

    @Test func `is encoded as before`() throws {
        let state = try Self.state
        var waits = PendingWaits()
        waits.files = [PackAddress(writer: PackSamples.other, name: Self.name): .init(since: 5, isReported: true)]
        (waits.lastCheck, waits.lastChecked) = (6, Self.name)
        let summary = Engine(state, profile: Engine.Profile(label: "l", platform: "p", software: "s"))
            .summary(journalLength: 99)
        let files = try [hash(of: state), hash(of: waits), hash(of: summary)]
        #expect(files == ["995bd1b4", "826b2a92", "9125ca42"])
        let records = try Self.records.map { try hash(of: $0) }
        #expect(
            records == [
                "3a717001", "4c463e34", "9ccb80f9", "83cacb52", "bea197f6", "9809b221", "45f42f01", "abceac07",
                "5d45f917", "bf1220a5", "01ba4719", "e33eab94", "a65a9e8b", "76fc29a0", "32b67657", "5573f05f",
                "10354821", "d0437d80", "c6d688c3", "3bcd568b", "93fb0069", "b9e6ec51", "7cb7c454", "009bcd40",
            ])
    }
}
