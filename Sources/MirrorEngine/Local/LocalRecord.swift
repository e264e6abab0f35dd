/// One durable change of the local state.
package enum LocalRecord: Hashable, Sendable {
    /// Preference files were read: their changes and their new contents.
    case captured(Capture)
    /// A file of another writer, or of a former number of ours, was joined.
    case joined(Pack, at: Int64)
    /// A base was joined. The file lacks its values; these are the ones that changed, without places if removed.
    case joinedBase(Pack, changed: [Atom], at: Int64)
    /// This file is about to be created.
    case intended(PackIntent)
    /// The intended file was created.
    case created(PackName, at: Int64)
    /// Superseded files of ours were removed.
    case removed([PackName])
    /// Blobs of ours were removed or are missing.
    case removedBlobs([BlobName])
    /// Another store writes under our number, so we take this one.
    case tookNewNumber(WriterID)
    /// Preference files are about to be written.
    case intendedApplication(Application)
    /// The application is complete, or was abandoned.
    case applied([AppliedDomain])
    case abandonedApplication
    /// The folder of a writer went out of view, or came back.
    case vanished(WriterID, at: Int64)
    case returned(WriterID)
    /// Files of a writer are gone, so their hashes are no longer needed.
    case forgot(WriterID, Set<UInt64>)
    /// A base of ours has everything of a writer whose folder is gone, or a base is due that will.
    case kept(WriterID)
    /// Files of ours are missing.
    case lostFiles(at: Int64)
    /// A domain begins or ceases to be mirrored.
    case configured(domain: String, isMirrored: Bool)
    /// Values were removed from the state without changing a preference file.
    case decided(Decision)
    /// A writer is no longer shown, and its folder is to be removed.
    case retired(WriterID, at: Int64)
    case participation(Participation)
    /// The state was rebuilt from these files.
    case rebuilt([Pack])
    /// A mark is about to be written beside the preference files, and was found there.
    case marked(UInt64)
    case foundMark
    /// Preference files, or this state, came back from a backup.
    case suspected(TrackedFile.Suspicion)
}

/// Changes that were made without a preference file: conflicts were accepted, values were withdrawn, or deletions were
/// forgotten.
package struct Decision: Hashable, Sendable {
    package let transaction: Transaction
    /// The last stamp of the clock after the changes.
    package let clock: Stamp
    package let when: Int64
}

/// Whether and how a store exchanges with its mirror.
package enum Participation: UInt8, Hashable, Sendable {
    case full
    /// Nothing is exchanged until a user resumes.
    case paused
    /// The outbox is published, and then a note that we have left.
    case leaving
    /// The mirror is forgotten.
    case detached
}

extension LocalState {
    /// Applies a record. The state changes in no other way.
    package mutating func apply(_ record: LocalRecord) {
        switch record {
        case .captured(let capture): apply(capture)
        case .joined(let pack, let now): join(pack, at: now)
        case .joinedBase(let pack, let changed, let now): join(pack, changed: changed, at: now)
        case .intended(let intent): apply(intent)
        case .created(let name, let now): markCreated(name, at: now)
        case .removed(let names): folder.remove(names)
        case .removedBlobs(let names): for name in names { folder.blobs[name] = nil }
        case .tookNewNumber(let writer): takeNewNumber(as: writer)
        case .intendedApplication(let application): self.application = application
        case .applied(let domains): apply(domains)
        case .abandonedApplication: application = nil
        case .vanished(let writer, let now): peers[writer, default: Peer()].vanishedAt = now
        case .returned(let writer):
            peers[writer, default: Peer()].vanishedAt = nil
            peers[writer]?.isKept = false
        case .forgot(let writer, let hashes): peers[writer]?.joined.subtract(hashes)
        case .kept(let writer):
            peers[writer, default: Peer()].isKept = true
            folder.owesBase = true
        case .lostFiles(let now):
            (folder.owesBase, folder.owesNote) = (true, true)
            folder.lastHealing = now
        case .configured(let domain, let isMirrored):
            trackedFiles[Path(domain: domain), default: TrackedFile()].isMirrored = isMirrored
            trackedFiles[Path(domain: domain)]?.retryFormats()
        case .marked(let mark): self.mark(mark)
        case .foundMark: restoreMarkers.unwritten = 0
        case .suspected(let suspicion): suspect(suspicion)
        case .retired(let writer, let now): retired[writer] = now
        case .decided(let decision): apply(decision)
        case .participation(let participation): self.participation = participation
        case .rebuilt(let packs): rebuild(from: packs)
        }
    }
}

// MARK: Our own changes

extension LocalState {
    private mutating func apply(_ capture: Capture) {
        clock = HybridClock(local: max(clock.local, capture.clock))
        for transaction in capture.transactions { make(transaction, at: capture.when) }
        if capture.settlesApplication {
            for change in application?.domains ?? [] {
                let changes = interruptedChanges(in: change.domain)
                trackedFiles[change.domain]?.interrupted = changes
                // The file may have been changed. Programs that read it before may have a cache.
                let past = trackedFiles[change.domain]?.past(after: change.changes)
                trackedFiles[change.domain]?.past = past ?? Past()
            }
            application = nil
        }
        for domain in capture.domains { apply(domain, at: capture.when) }
        restoreMarkers.isDue = true
    }

    /// Applies changes that wait to be published.
    private mutating func make(_ transaction: Transaction, at now: Int64) {
        let (before, inDoubt, keys) = (shared.live, shared.inDoubt, transaction.keys)
        shared.apply(transaction.changes, nil)
        publishDoubts(since: inDoubt)
        outbox.append(transaction)
        keepResolved(at: keys, since: before, at: now)
    }

    private mutating func apply(_ decision: Decision) {
        clock = HybridClock(local: max(clock.local, decision.clock))
        let before = shared.live
        make(decision.transaction, at: decision.when)
        // The preference files do not show the changes yet.
        updateExceptions(at: decision.transaction.keys, since: before)
    }

    /// Keeps the values of conflicts that are no longer open.
    mutating func keepResolved(at keys: Set<Path>, since before: MergeState, at now: Int64) {
        for key in keys.sorted() {
            let former = before.conflicts(under: key)
            guard !former.isEmpty else { continue }
            let open = shared.live.conflicts(under: key)
            for conflict in former where !conflict.isOfOlder {
                guard !open.contains(where: { $0.place == conflict.place && $0.value == conflict.value }) else {
                    continue
                }
                resolved.append(
                    ResolvedConflict(
                        place: conflict.place, value: conflict.value, loser: conflict.loser.name.dot?.writer ?? writer,
                        stamp: conflict.loser.stamp, resolvedAt: now))
            }
        }
        forgetResolved(at: now)
    }

    private mutating func forgetResolved(at now: Int64) {
        guard
            resolved.count > ResolvedConflict.most
                || resolved.first.map({ now - $0.resolvedAt > ResolvedConflict.keptFor }) ?? false
        else { return }
        resolved.removeAll { now - $0.resolvedAt > ResolvedConflict.keptFor }
        resolved.removeFirst(max(0, resolved.count - ResolvedConflict.most))
    }

    private mutating func apply(_ captured: CapturedDomain, at now: Int64) {
        for (path, value) in captured.replaced.sorted(by: { $0.key < $1.key }) {
            resolved.append(
                ResolvedConflict(place: path, value: .value(value), loser: nil, stamp: .zero, resolvedAt: now))
        }
        forgetResolved(at: now)
        var trackedFile = trackedFiles[captured.domain] ?? TrackedFile()
        trackedFile.isCaptured = trackedFile.isCaptured || captured.held == nil
        trackedFile.held = captured.held
        if captured.held == nil {
            trackedFile.setFile(captured.file, captured.hash)
            trackedFile.exceptions = captured.exceptions
            trackedFile.suspicion = nil
            trackedFile.interrupted = [:]
        }
        trackedFiles[captured.domain] = trackedFile
    }

    private mutating func apply(_ applied: [AppliedDomain]) {
        application = nil
        for domain in applied {
            trackedFiles[domain.domain, default: TrackedFile()].setFile(domain.file, domain.hash)
            trackedFiles[domain.domain]?.exceptions = domain.exceptions
            trackedFiles[domain.domain]?.past = domain.past
            trackedFiles[domain.domain]?.interrupted = [:]
        }
        restoreMarkers.isDue = true
    }
}

// MARK: Restored backups

extension LocalState {
    /// Records that changes in the files may not be edits, until the files were checked.
    private mutating func suspect(_ suspicion: TrackedFile.Suspicion) {
        for (domain, trackedFile) in trackedFiles where trackedFile.isCaptured || trackedFile.suspicion != nil {
            trackedFiles[domain]?.suspicion = suspicion
            guard suspicion == .stateIsOlder else { continue }
            // The previous contents of the file are unknown, so it is read like the file of a newly mirrored domain.
            trackedFiles[domain]?.isCaptured = false
            trackedFiles[domain]?.held = nil
            trackedFiles[domain]?.exceptions = [:]
            trackedFiles[domain]?.interrupted = [:]
        }
        if suspicion == .stateIsOlder { application = nil }
        restoreMarkers.isDue = true
    }

    private mutating func mark(_ mark: UInt64) {
        restoreMarkers.marks.insert(mark, at: 0)
        if restoreMarkers.marks.count > RestoreMarkers.most { restoreMarkers.marks.removeLast() }
        restoreMarkers.unwritten = min(restoreMarkers.unwritten + 1, RestoreMarkers.most)
        restoreMarkers.isDue = false
    }
}

extension TrackedFile {
    fileprivate mutating func setFile(_ file: FileIdentity?, _ hash: ContentHash?) {
        self.file = file
        if let former = self.hash, former != hash {
            generations.insert(former, at: 0)
            if generations.count > Self.mostGenerations { generations.removeLast() }
        }
        self.hash = hash
    }
}

extension LocalRecord: JournalCodable {
    /// The kind of a record, in the first byte of its body.
    private enum Kind: UInt8, JournalCodable {
        case captured = 1
        case joined, intended, created, removed, removedBlobs, tookNewNumber, intendedApplication, applied
        case abandonedApplication, vanished, returned, forgot, kept, lostFiles, configured, decided, retired
        case participation, rebuilt, marked, foundMark, suspected, joinedBase
    }

    func write(to bytes: inout JournalBytes) {
        switch self {
        case .captured(let capture): bytes.write(Kind.captured, capture)
        case .joined(let pack, let now): bytes.write(Kind.joined, pack, now)
        case .joinedBase(let pack, let changed, let now):
            bytes.write(Kind.joinedBase, pack, now)
            bytes.append(changed.count) { changed.forEach($0) }
        case .intended(let intent): bytes.write(Kind.intended, intent)
        case .created(let name, let now): bytes.write(Kind.created, name, now)
        case .removed(let names): bytes.write(Kind.removed, names)
        case .removedBlobs(let names): bytes.write(Kind.removedBlobs, names)
        case .tookNewNumber(let writer): bytes.write(Kind.tookNewNumber, writer)
        case .intendedApplication(let application): bytes.write(Kind.intendedApplication, application)
        case .applied(let domains): bytes.write(Kind.applied, domains)
        case .abandonedApplication: bytes.write(Kind.abandonedApplication)
        case .vanished(let writer, let now): bytes.write(Kind.vanished, writer, now)
        case .returned(let writer): bytes.write(Kind.returned, writer)
        case .forgot(let writer, let hashes): bytes.write(Kind.forgot, writer, hashes)
        case .kept(let writer): bytes.write(Kind.kept, writer)
        case .lostFiles(let now): bytes.write(Kind.lostFiles, now)
        case .configured(let domain, let isMirrored): bytes.write(Kind.configured, domain, isMirrored)
        case .decided(let decision): bytes.write(Kind.decided, decision)
        case .retired(let writer, let now): bytes.write(Kind.retired, writer, now)
        case .participation(let participation): bytes.write(Kind.participation, participation)
        case .rebuilt(let packs): bytes.write(Kind.rebuilt, packs)
        case .marked(let mark): bytes.write(Kind.marked, WriteID(number: mark))
        case .foundMark: bytes.write(Kind.foundMark)
        case .suspected(let suspicion): bytes.write(Kind.suspected, suspicion)
        }
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        switch try reader.read(Kind.self) {
        case .captured: self = .captured(try reader.read())
        case .joined: self = .joined(try reader.read(), at: try reader.read())
        case .intended: self = .intended(try reader.read())
        case .created: self = .created(try reader.read(), at: try reader.read())
        case .removed: self = .removed(try reader.read())
        case .removedBlobs: self = .removedBlobs(try reader.read())
        case .tookNewNumber: self = .tookNewNumber(try reader.read())
        case .intendedApplication: self = .intendedApplication(try reader.read())
        case .applied: self = .applied(try reader.read())
        case .abandonedApplication: self = .abandonedApplication
        case .vanished: self = .vanished(try reader.read(), at: try reader.read())
        case .returned: self = .returned(try reader.read())
        case .forgot: self = .forgot(try reader.read(), try reader.read())
        case .kept: self = .kept(try reader.read())
        case .lostFiles: self = .lostFiles(at: try reader.read())
        case .configured: self = .configured(domain: try reader.read(), isMirrored: try reader.read())
        case .decided: self = .decided(try reader.read())
        case .retired: self = .retired(try reader.read(), at: try reader.read())
        case .participation: self = .participation(try reader.read())
        case .rebuilt: self = .rebuilt(try reader.read())
        case .marked: self = .marked(try reader.read(WriteID.self).number)
        case .foundMark: self = .foundMark
        case .suspected: self = .suspected(try reader.read())
        case .joinedBase:
            let (pack, now): (Pack, Int64) = (try reader.read(), try reader.read())
            self = .joinedBase(pack, changed: try reader.read(), at: now)
        }
    }
}
