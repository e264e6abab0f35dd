/// One durable change of the local state.
package enum LocalRecord: Hashable, Sendable {
    /// Preference files were read: their changes and their new contents.
    case captured(Capture)
    /// A file of another writer, or of a former number of ours, was joined.
    case joined(Pack, at: Int64)
    /// This file is about to be created.
    case intended(PackIntent)
    /// The intended file was created.
    case created(PackName, at: Int64)
    /// Superseded files of ours were removed.
    case removed([PackName])
    /// Blobs of ours were removed or are missing.
    case removedBlobs([BlobName])
    /// Another store writes under our number, so we take this one.
    case tookNewNumber(WriterID, intentIsInView: Bool)
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
    /// Writers whose folders are gone and whose writes are carried are no longer named in our files.
    case forgotWriters(Set<WriterID>)
    /// From now on our bases carry the writes of this writer.
    case carries(WriterID)
    /// Files of ours are missing.
    case lostFiles(at: Int64)
    /// A domain begins or ceases to be mirrored.
    case configured(domain: String, isMirrored: Bool)
    case resolvedConflicts([WriteID], at: Int64)
    /// All conflicts of one transaction are resolved, in a journal of the first version.
    case resolvedTransaction(TransactionID, at: Int64)
    /// The value of a conflict was written again.
    case restored(Restoration)
    case retired(WriterID)
    case participation(Participation)
    /// The state was rebuilt from these files.
    case rebuilt([Pack])
    /// A mark is about to be written beside the preference files, and was found there.
    case marked(UInt64)
    case foundMark
    /// Preference files, or this state, came back from a backup.
    case suspected(TrackedFile.Suspicion)
}

/// A change that was made without a preference file, such as a value restored from a conflict.
package struct Restoration: Hashable, Sendable {
    package var conflicts: [WriteID] = []
    /// The transaction of all restored values, in a journal of the first version.
    package var loser: TransactionID?
    /// The new writes, or nil if all values are in force already.
    package let transaction: Transaction?
    /// The last stamp of the clock after the change.
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
        case .intended(let intent): apply(intent)
        case .created(let name, let now): markCreated(name, at: now)
        case .removed(let names): folder.remove(names)
        case .removedBlobs(let names): for name in names { folder.blobs[name] = nil }
        case .tookNewNumber(let writer, let intentIsInView): takeNewNumber(as: writer, intentIsInView: intentIsInView)
        case .intendedApplication(let application): self.application = application
        case .applied(let domains): apply(domains)
        case .abandonedApplication: application = nil
        case .vanished(let writer, let now): peers[writer, default: Peer()].vanishedAt = now
        case .returned(let writer):
            peers[writer, default: Peer()].vanishedAt = nil
            // A writer that we carried, and that was hidden from lists, exists after all.
            if carried.remove(writer) != nil { retired.remove(writer) }
        case .forgot(let writer, let hashes): peers[writer]?.joined.subtract(hashes)
        case .forgotWriters(let writers):
            for writer in writers {
                peers[writer] = nil
                knowledge[writer] = 0
            }
        case .carries(let writer): carried.insert(writer)
        case .lostFiles(let now):
            (folder.owesBase, folder.owesNote) = (true, true)
            folder.lastHealing = now
        case .configured(let domain, let isMirrored):
            trackedFiles[Path(domain: domain), default: TrackedFile()].isMirrored = isMirrored
            trackedFiles[Path(domain: domain)]?.retryFormats()
        case .resolvedConflicts(let ids, let now): conflicts.resolve(ids, at: now)
        case .resolvedTransaction(let loser, let now): conflicts.resolve(transaction: loser, at: now)
        case .marked(let mark): self.mark(mark)
        case .foundMark: restoreMarkers.unwritten = 0
        case .suspected(let suspicion): suspect(suspicion)
        case .retired(let writer): retired.insert(writer)
        case .restored(let restoration): apply(restoration)
        case .participation(let participation): self.participation = participation
        case .rebuilt(let packs): rebuild(from: packs)
        }
    }
}

// MARK: Our own changes

extension LocalState {
    private mutating func apply(_ capture: Capture) {
        clock = HybridClock(local: max(clock.local, capture.clock))
        recordReverted(capture)
        for domain in capture.domains { for id in domain.adopted where Rule.adoptsEqual.isKept { adopted.insert(id) } }
        for transaction in capture.transactions {
            sequence = transaction.id.sequence
            knowledge[writer] = sequence
            for write in transaction.versionedWrites {
                listOrAdopt(mergeState.join(write), ofMade: write, at: capture.when)
            }
            outbox.append(transaction)
        }
        if capture.settlesApplication {
            for change in application?.domains ?? [] {
                let changes = interruptedChanges(in: change.domain)
                trackedFiles[change.domain]?.interrupted = changes
            }
            application = nil
        }
        for domain in capture.domains { apply(domain, at: capture.when) }
        restoreMarkers.isDue = true
    }

    /// Applies restored values. The preference files do not have them yet, so writes in the files until then have not
    /// seen them.
    private mutating func apply(_ restoration: Restoration) {
        clock = HybridClock(local: max(clock.local, restoration.clock))
        conflicts.resolve(restoration.conflicts, at: restoration.when)
        if let loser = restoration.loser { conflicts.resolve(transaction: loser, at: restoration.when) }
        guard let transaction = restoration.transaction else { return }
        for write in transaction.versionedWrites { listOrAdopt(joinAtFile(write), ofMade: write, at: restoration.when) }
        sequence = transaction.id.sequence
        knowledge[writer] = sequence
        outbox.append(transaction)
    }

    private mutating func recordReverted(_ capture: Capture) {
        for path in capture.domains.flatMap(\.reverted) {
            guard let write = mergeState.write(at: path) else { continue }
            guard let winner = capture.transactions.lazy.flatMap(\.versionedWrites).first(where: { $0.path == path })
            else {
                continue
            }
            conflicts.add(lost: write, to: winner, kind: .reverted, at: Int64(winner.stamp.milliseconds))
        }
    }

    private mutating func apply(_ captured: CapturedDomain, at now: Int64) {
        for (path, value) in captured.replaced.sorted(by: { $0.key < $1.key }) {
            conflicts.add(replaced: value, at: path, by: mergeState.overlapping(path).last, when: now)
        }
        var trackedFile = trackedFiles[captured.domain] ?? TrackedFile()
        trackedFile.isCaptured = trackedFile.isCaptured || captured.held == nil
        trackedFile.held = captured.held
        if captured.held == nil {
            trackedFile.setFile(captured.file, captured.hash)
            trackedFile.exceptions = captured.exceptions
            trackedFile.suspicion = nil
            (trackedFile.replaced, trackedFile.interrupted) = ([:], [:])
        }
        trackedFiles[captured.domain] = trackedFile
    }

    private mutating func apply(_ applied: [AppliedDomain]) {
        application = nil
        for domain in applied {
            trackedFiles[domain.domain, default: TrackedFile()].setFile(domain.file, domain.hash)
            trackedFiles[domain.domain]?.exceptions = domain.exceptions
            trackedFiles[domain.domain]?.replaced = domain.replaced
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
        case joined, intended, created, removed, tookNewNumber, intendedApplication, applied, abandonedApplication
        case vanished, returned, forgot, carries, lostFiles, configured, resolvedConflict, retired, rebuilt
        case restored, participation, removedBlobs, resolvedConflicts, marked, foundMark, suspected
        case forgotWriters
    }

    func write(to bytes: inout JournalBytes) {
        switch self {
        case .captured(let capture): bytes.write(Kind.captured, capture)
        case .joined(let pack, let now): bytes.write(Kind.joined, pack, now)
        case .intended(let intent): bytes.write(Kind.intended, intent)
        case .created(let name, let now): bytes.write(Kind.created, name, now)
        case .removed(let names): bytes.write(Kind.removed, names)
        case .tookNewNumber(let writer, let isInView): bytes.write(Kind.tookNewNumber, writer, isInView)
        case .intendedApplication(let application): bytes.write(Kind.intendedApplication, application)
        case .applied(let domains): bytes.write(Kind.applied, domains)
        case .abandonedApplication: bytes.write(Kind.abandonedApplication)
        case .vanished(let writer, let now): bytes.write(Kind.vanished, writer, now)
        case .returned(let writer): bytes.write(Kind.returned, writer)
        case .forgot(let writer, let hashes): bytes.write(Kind.forgot, writer, hashes)
        case .forgotWriters(let writers): bytes.write(Kind.forgotWriters, writers)
        case .carries(let writer): bytes.write(Kind.carries, writer)
        case .lostFiles(let now): bytes.write(Kind.lostFiles, now)
        case .configured(let domain, let isMirrored): bytes.write(Kind.configured, domain, isMirrored)
        case .resolvedTransaction(let loser, let now): bytes.write(Kind.resolvedConflict, loser, now)
        case .resolvedConflicts(let ids, let now): bytes.write(Kind.resolvedConflicts, ids, now)
        case .marked(let mark): bytes.write(Kind.marked, WriteID(number: mark))
        case .foundMark: bytes.write(Kind.foundMark)
        case .suspected(let suspicion): bytes.write(Kind.suspected, suspicion)
        case .retired(let writer): bytes.write(Kind.retired, writer)
        case .rebuilt(let packs): bytes.write(Kind.rebuilt, packs)
        case .restored(let restoration): bytes.write(Kind.restored, restoration)
        case .participation(let participation): bytes.write(Kind.participation, participation)
        case .removedBlobs(let names): bytes.write(Kind.removedBlobs, names)
        }
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        switch try reader.read(Kind.self) {
        case .captured: self = .captured(try reader.read())
        case .joined: self = .joined(try reader.read(), at: try reader.read())
        case .intended: self = .intended(try reader.read())
        case .created: self = .created(try reader.read(), at: try reader.read())
        case .removed: self = .removed(try reader.read())
        case .tookNewNumber: self = .tookNewNumber(try reader.read(), intentIsInView: try reader.read())
        case .intendedApplication: self = .intendedApplication(try reader.read())
        case .applied: self = .applied(try reader.read())
        case .abandonedApplication: self = .abandonedApplication
        case .vanished: self = .vanished(try reader.read(), at: try reader.read())
        case .returned: self = .returned(try reader.read())
        case .forgot: self = .forgot(try reader.read(), try reader.read())
        case .forgotWriters: self = .forgotWriters(try reader.read())
        case .carries: self = .carries(try reader.read())
        case .lostFiles: self = .lostFiles(at: try reader.read())
        case .configured: self = .configured(domain: try reader.read(), isMirrored: try reader.read())
        case .resolvedConflict: self = .resolvedTransaction(try reader.read(), at: try reader.read())
        case .resolvedConflicts: self = .resolvedConflicts(try reader.read(), at: try reader.read())
        case .marked: self = .marked(try reader.read(WriteID.self).number)
        case .foundMark: self = .foundMark
        case .suspected: self = .suspected(try reader.read())
        case .retired: self = .retired(try reader.read())
        case .rebuilt: self = .rebuilt(try reader.read())
        case .restored: self = .restored(try reader.read())
        case .participation: self = .participation(try reader.read())
        case .removedBlobs: self = .removedBlobs(try reader.read())
        }
    }
}
